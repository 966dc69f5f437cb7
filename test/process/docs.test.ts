import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { buildSchema, type GraphQLInputObjectType, getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { poolNames } from '../../src/db/connect/observer.js';
import { type Gateway, startGateway } from '../support/child.js';
import { expectPrinted, stepsOf } from '../support/page-commands.js';

/** The pages of the documentation by their paths. */
const pages = new Map(
  [
    'README.md',
    ...fs.readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((name) => path.posix.join('docs', name)),
  ]
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => [name, fs.readFileSync(name, 'utf8')]),
);
const page = (name: string) => pages.get(name)!;

/** A page without its blocks of code, which are not Markdown. */
const prose = (text: string) => text.replaceAll(/^```[\s\S]*?^```/gm, '');

/** The rows of the table that begins with this line, by their cells. */
const rowsOf = (text: string, firstLine: string) =>
  text
    .split(firstLine)[1]!
    .split('\n\n')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );

/** The texts in backticks. */
const quoted = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);

const withCommands = [...pages].filter(([, text]) => stepsOf(text).length > 0);

const OPERATOR_KEY = randomBytes(32).toString('hex');

describe('the commands of the documentation', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ OPERATOR_KEY });
  });
  afterAll(() => gateway.stop());

  it('are on these pages, with these numbers of blocks', () => {
    expect(withCommands.map(([name, text]) => [name, stepsOf(text).length])).toEqual([
      ['README.md', 1],
      ['docs/dashboards.md', 3],
      ['docs/getting-started.md', 13],
      ['docs/operations/commands.md', 1],
      ['docs/rest.md', 3],
    ]);
  });

  it('follow an exporter through the same outcomes in both editions', () => {
    const tour = page('docs/getting-started.md');
    for (const command of ['demos[0]', 'demos[1]', 'exporter 1', 'exporter 2', 'ledger audit'])
      expect(tour).toContain(command);
    const editions = tour.split('demos[1]') as [string, string];
    const outcomes = ['"pendingRest":"20.00"', ' completed', '"amount":"-30.00"', '-10.00 ', '"violations":[]'];
    for (const edition of editions) for (const outcome of outcomes) expect(edition).toContain(outcome);
  });

  it.each(withCommands.map(([name]) => name))(
    'print the output that the page shows, block by block: %s',
    async (name) => {
      await expectPrinted(page(name), { TIDEGATE: gateway.origin, DATA_DIR: gateway.dataDir, OPERATOR_KEY });
    },
    // Each command of the operator first checks whether a build is needed.
  );
});

describe('the links of the documentation', () => {
  /** The anchors that GitHub gives to the headings of a page. */
  const anchorsOf = (text: string) =>
    [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );
  const linksOf = (text: string) =>
    [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => target!)
      .filter((target) => !/^https?:/.test(target));

  it('point to files and headings that exist', () => {
    const broken = [...pages].flatMap(([name, text]) =>
      linksOf(text)
        .filter((target) => {
          const [file = '', anchor] = target.split('#');
          const found = file === '' ? name : path.posix.join(path.posix.dirname(name), file);
          if (!fs.existsSync(found)) return true;
          return anchor !== undefined && !anchorsOf(pages.get(found) ?? '').includes(anchor);
        })
        .map((target) => `${name}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('reach every page from the index, and every page of a folder from the index of the folder', () => {
    const unlisted = (index: string, folder: string) => {
      const listed = linksOf(page(index)).map((target) =>
        path.posix.join(path.posix.dirname(index), target.split('#')[0]!),
      );
      return [...pages.keys()].filter(
        (name) => path.posix.dirname(name) === folder && name !== index && !listed.includes(name),
      );
    };
    expect(unlisted('docs/README.md', 'docs')).toEqual([]);
    expect(unlisted('docs/decisions/README.md', 'docs/decisions')).toEqual([]);
    expect(unlisted('docs/measurements/README.md', 'docs/measurements')).toEqual([]);
    expect(unlisted('docs/operations.md', 'docs/operations')).toEqual([]);
  });

  it('show every picture on some page', () => {
    const shown = [...pages.values()].flatMap(linksOf).map((target) => path.posix.basename(target));
    expect(fs.readdirSync('docs/images').filter((name) => !shown.includes(name))).toEqual([]);
  });

  it('name only existing files and folders of the project', () => {
    const top = /^(src|test|docs|drizzle|schema|examples|clients)\/[\w./-]*$/;
    const missing = [...pages].flatMap(([name, text]) =>
      quoted(prose(text))
        .filter((text) => top.test(text) && !fs.existsSync(text))
        .map((text) => `${name}: ${text}`),
    );
    // The drawings name folders in the first line of a box.
    const drawn = [...page('docs/architecture.md').matchAll(/"((?:src|drizzle)\/[\w/-]+)["<]/g)].map(
      ([, file]) => file!,
    );
    expect(drawn.length).toBeGreaterThan(0);
    expect([...missing, ...drawn.filter((file) => !fs.existsSync(file))]).toEqual([]);
  });

  it('keep the README at most 150 lines long', () => {
    expect(page('README.md').split('\n').length).toBeLessThanOrEqual(151);
  });

  it('keep each record at most 80 lines and 1,100 words long: what was measured is on other pages', () => {
    const long = [...pages].filter(
      ([name, text]) =>
        name.startsWith('docs/decisions/') && (text.split('\n').length > 81 || text.split(/\s+/).length > 1_100),
    );
    expect(long.map(([name]) => name)).toEqual([]);
  });
});

/** The operations with the paths of /v1 that answer them, as the committed matrix of permissions lists them. */
const row = new RegExp(
  String.raw`^(\w+) +(?:read|write) .*?((?:(?:GET|POST) \S+?(?:, )?)*)` +
    String.raw`(?:query|mutation)?(?:(?:, )?subscription(?: \w+)?)?$`,
);
const operations = fs
  .readFileSync('test/api/permission-matrix.txt', 'utf8')
  .split('\n')
  .map((line) => row.exec(line))
  .filter((match) => match !== null)
  .map(([, field, paths]) => ({ field: field!, endpoints: paths!.split(', ').filter((text) => text !== '') }));

describe('the tables of the documentation', () => {
  it('have a section for each alert rule, to which its runbook_url leads', () => {
    const rules = parse(fs.readFileSync('docs/operations/alerts.yml', 'utf8')).groups.flatMap(
      ({ rules: some }: { rules: { alert: string; annotations: { runbook_url: string } }[] }) => some,
    );
    const sections = [...page('docs/operations/respond.md').matchAll(/^### (Tidegate\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(rules.map(({ alert }: { alert: string }) => alert));
    const text = page('docs/operations/respond.md');
    for (const { alert } of rules) expect(text).toContain(`### ${alert}\n\n\`tidegate doctor --alert ${alert}\``);
    for (const { alert, annotations } of rules)
      expect(new URL(annotations.runbook_url).href).toMatch(
        new RegExp(`/docs/operations/respond#${alert.toLowerCase()}$`),
      );
  });

  it('list the connections of a gateway by their names in pg_stat_activity', () => {
    const rows = rowsOf(page('docs/operations/database.md'), '| Name | How many | For |');
    const names = [...poolNames, 'hints', 'probe'].map((name) => `\`tidegate ${name}\``);
    expect(rows.map(([name]) => name).toSorted()).toEqual(names.toSorted());
  });

  it('list every endpoint with the field that answers it', () => {
    const specification = page('docs/specification.md');
    const listed = specification
      .split('\n')
      .map((line) => /^\| `((?:GET|POST) \S+)` \| (?:`(\w+)`|none.*) \|$/.exec(line))
      .filter((match) => match !== null)
      .map(([, endpoint, field]) => `${endpoint} ${field ?? ''}`.trim());
    const there = operations
      .flatMap(({ field, endpoints }) => endpoints.map((endpoint) => ({ field, endpoint })))
      .filter(({ endpoint }) => !endpoint.includes('/v1/test_helpers/'))
      // These two are not GraphQL fields.
      .map(({ field, endpoint }) =>
        ['createFile', 'fileContent', 'exportContent', 'eventStream'].includes(field)
          ? endpoint
          : `${endpoint} ${field}`,
      );
    expect(listed.toSorted()).toEqual(there.toSorted());
    const graphAlone = operations.filter(({ endpoints }) => endpoints.length === 0).map(({ field }) => field);
    const [sentence] = /GraphQL alone has .*/.exec(specification)!;
    expect(quoted(sentence.split('. ')[0]!).toSorted()).toEqual(graphAlone.toSorted());
  });

  it('list the test helpers with their parameters', () => {
    const mutations = buildSchema(fs.readFileSync('schema/graph.graphql', 'utf8')).getMutationType()!.getFields();
    const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const there = operations
      .filter(({ endpoints }) => endpoints.some((endpoint) => endpoint.includes('/v1/test_helpers/')))
      .map(({ field, endpoints: [endpoint = ''] }) => {
        const input = getNamedType(mutations[field]!.args[0]!.type) as GraphQLInputObjectType;
        const parameters = Object.keys(input.getFields()).filter((name) => name !== 'id');
        return [endpoint.replace('POST /v1/test_helpers/', ''), parameters.map(snake).toSorted(), field];
      });
    const rows = rowsOf(page('docs/sandbox.md'), '| `POST /v1/test_helpers/…` |');
    const listed = rows.map(([helper, body, mutation]) => [
      quoted(helper!)[0],
      quoted(body!).toSorted(),
      quoted(mutation!)[0],
    ]);
    const byPath = (a: unknown[], b: unknown[]) => String(a[0]).localeCompare(String(b[0]));
    expect(listed.toSorted(byPath)).toEqual(there.toSorted(byPath));
  });
});
