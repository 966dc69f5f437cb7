import fs from 'node:fs';
import path from 'node:path';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isLeafType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  print,
  validate,
  visit,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { examples } from '../../src/api/graphql/explorer-examples.js';
import { NodeCounter } from '../../src/api/graphql/query-cost.js';
import { isPageType } from '../../src/api/graphql/query-parts.js';
import { buildGraph, publicSizes } from '../../src/api/graphql/server.js';
import { demos } from '../../src/server/demo/demo.js';
import { ReceivableStatus } from '../../src/resources/receivable/table.js';
import { weights } from '../../src/types/weights.js';
import { receivableBody } from '../support/bodies.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { covering } from '../support/scale.js';
import { givenIn, must, Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false, demo: true });
const given = givenIn(world);
const schema = buildGraph();
const counter = new NodeCounter(schema, publicSizes);
const estimated = (document: DocumentNode, variables: Record<string, unknown> = {}) =>
  counter.of(document, undefined)!(variables);

let speakers: Speaker[];
beforeAll(async () => {
  speakers = (await demos(world.operator, world.pepper)).map(
    ({ accountId, testKey, edition }) => new Speaker(world, accountId, testKey, edition),
  );
});

const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** What a query cost, by the resolvers and by its statement, if it has one; nothing where the edition refuses it. */
async function costs(speaker: Speaker, query: string, variables: object = {}) {
  const found = [];
  for (let ask = 0; ask < 3; ask++) {
    const { body, cost } = await speaker.graph(query, variables);
    if (body.data) found.push(cost!);
  }
  return found;
}

describe('a page of which only the number of its list is selected', () => {
  it('costs its count, and reads none of its rows', async () => {
    const [speaker] = speakers;
    const counted = await speaker!.graph('{ accounts(first: 100) { nodes { id } totalCount } }');
    const { nodes, totalCount } = counted.body.data.accounts;
    expect(nodes.length).toBeGreaterThan(2);
    const total = Math.max(Math.ceil(totalCount / 100), 1);
    for (const query of [
      '{ accounts(first: 100) { totalCount } }',
      '{ accounts(last: 100) { n: totalCount __typename } }',
      '{ accounts { ...Count } } fragment Count on AccountConnection { totalCount }',
      'query ($no: Boolean = false) { accounts(first: 50) { totalCount nodes @include(if: $no) { id } } }',
    ]) {
      const [first, ...later] = await costs(speaker!, query, { no: false });
      expect({ query, ...first }).toMatchObject({ requested: 10 + weights.total, actual: 10 + total });
      for (const cost of later) expect(cost).toMatchObject({ requested: first!.requested, actual: first!.actual });
      const read = await speaker!.graph(query, { no: false });
      expect(Object.values<any>(read.body.data.accounts)[0]).toBe(totalCount);
    }
    const inside = '{ accounts(first: 20) { nodes { depositsIn(first: 100) { totalCount } } } }';
    const { requested, actual } = (await costs(speaker!, inside))[0]!;
    expect(requested).toBe(10 + 20 + 20 * weights.total);
    const rows = Math.min(totalCount, 20);
    expect(actual).toBeLessThan(10 + rows + rows * 10);
  });

  it('costs its rows where anything else of it is selected', async () => {
    const price = (query: string) => estimated(parse(query)).points;
    for (const more of ['pageInfo { endCursor }', 'nodes { id }', 'edges { cursor }'])
      expect(price(`{ accounts(first: 30) { totalCount ${more} } }`)).toBe(weights.total + 30);
    expect(price('{ accounts(first: 30) { __typename } }')).toBe(30);
  });

  it('is refused for the same arguments as the page', async () => {
    const [speaker] = speakers;
    for (const given of ['first: 0', 'first: 101', 'last: -1', 'first: 1, last: 1', 'after: "account_x"']) {
      const codes = async (selected: string) => (await speaker!.graph(`{ accounts(${given}) { ${selected} } }`)).codes;
      expect([given, await codes('totalCount')]).toEqual([given, await codes('nodes { id } totalCount')]);
    }
  });
});

describe('the cost of a query', () => {
  const range = { from: ago(360), to: ago(-1), interval: 'DAY', timeZone: 'UTC', currency: 'USD' };
  const required: Record<string, string> = {
    from: `"${range.from}"`,
    to: `"${range.to}"`,
    interval: range.interval,
    ids: '["account_x"]',
    currency: `"${range.currency}"`,
    id: '"account_x"',
  };
  const argumentsOf = (field: GraphQLField<unknown, unknown>) => {
    const given = field.args.flatMap(({ name, type }) => {
      if (isNonNullType(type) && name in required) return [`${name}: ${required[name]}`];
      if (name === 'first') return ['first: 4'];
      if (name === 'scope') return ['scope: DESCENDANTS'];
      return [];
    });
    return given.length > 0 ? `(${given.join(', ')})` : '';
  };
  const isAsked = (field: GraphQLField<unknown, unknown>) =>
    field.args.every(
      ({ name, type, defaultValue }) => !isNonNullType(type) || defaultValue !== undefined || required[name],
    );

  /** The leaves of a type, and those of its parts, so that every object of it is read. */
  function leaves(type: GraphQLObjectType, depth: number): string {
    const parts = Object.values(type.getFields()).flatMap((field) => {
      const inner = getNamedType(field.type);
      if (!isAsked(field)) return [];
      if (isLeafType(inner)) return [field.name];
      if (depth === 0 || !isObjectType(inner) || isPageType(inner) || field.args.length > 0) return [];
      return [`${field.name} { ${leaves(inner, depth - 1)} }`];
    });
    return ['__typename', ...parts].join(' ');
  }

  function selected(field: GraphQLField<unknown, unknown>): string | undefined {
    const type = getNamedType(field.type);
    const head = `${field.name}${argumentsOf(field)}`;
    if (isLeafType(type)) return head;
    if (isAbstractType(type)) return `${head} { __typename }`;
    if (!isObjectType(type)) return undefined;
    if (!isPageType(type)) return `${head} { ${leaves(type, 1)} }`;
    const node = getNamedType(type.getFields().nodes!.type) as GraphQLObjectType;
    const all = 'totalCount pageInfo { hasNextPage hasPreviousPage }';
    return `${head} { ${all} nodes { ${leaves(node, 1)} } edges { cursor node { __typename } } }`;
  }

  /** Queries of each field with objects or a price, below a path to its type; the paths are the shortest ones. */
  function queries(): string[] {
    const found: string[] = [];
    const ways = new Map<GraphQLObjectType, (inside: string) => string>([[schema.getQueryType()!, (inner) => inner]]);
    for (const [type, way] of ways)
      for (const field of Object.values(type.getFields())) {
        if (!isAsked(field)) continue;
        const inner = getNamedType(field.type);
        const weight = publicSizes.weights?.[`${type.name}.${field.name}`];
        const text = isLeafType(inner) && weight === undefined ? undefined : selected(field);
        if (text !== undefined) found.push(`{ ${way(text)} }`);
        if (!isObjectType(inner) || ways.has(inner)) continue;
        ways.set(inner, (inside) => way(`${field.name}${argumentsOf(field)} { ${inside} }`));
      }
    return found;
  }

  it('is never more than what it could cost, in both ways of execution: each field of each type', async () => {
    const all = queries().filter((query) => validate(schema, parse(query)).length === 0);
    expect(all.length).toBeGreaterThan(150);
    const named = [
      'depositTotals',
      'depositChart',
      'balanceChart',
      'balanceStatement',
      'movements',
      'topUsers',
      'balanceHistory',
      'receivableTotals',
      'receivableAgeing',
      'statusCounts',
    ];
    for (const name of named)
      expect(all.some((query) => query.includes(`${name}(`) || query.includes(name))).toBe(true);
    let answered = 0;
    const table = all.flatMap((query) => speakers.map((speaker, place) => ({ query, speaker, place })));
    const isNamed = (query: string) => named.some((name) => query.includes(name));
    // Where not everything is tried, a query is that of one of the speakers, but for those of figures.
    const chosen = [
      ...table.filter(({ query }) => isNamed(query)),
      ...covering(
        table.filter(({ query }) => !isNamed(query)),
        ({ query, place }) => [query, place],
        1,
      ),
    ];
    for (const { query, speaker } of chosen)
      for (const cost of await costs(speaker, query)) {
        const { requested, actual } = cost;
        // After the run `requested` includes what was beyond the estimate: only the estimate itself is a bound.
        const most = weights.request + estimated(parse(query)).points;
        const within = requested === most && actual <= most;
        expect({ query, requested, actual, most, within }).toMatchObject({ within: true });
        answered++;
      }
    expect(answered).toBeGreaterThan(chosen.length);
  }, 600_000);

  it('of a figure counts ten currencies as points and four as nodes; further ones are taken afterwards', async () => {
    const user = await (await given.platform(1)).connectedUser();
    const query = '{ viewer { account { receivableTotals { currencies { currency statuses { status } } } } } }';
    const asked = 'query ($it: DryRunInput) { rateLimit(dryRun: $it) { dryRun { requested nodes } } }';
    const { body } = await user.graph(asked, { it: { query } });
    const { requested: foretold, nodes } = body.data.rateLimit.dryRun;
    const statuses = Object.keys(ReceivableStatus).length;
    const figure = weights.request + weights.figure + weights.object;
    expect([foretold, nodes]).toEqual([figure + 10 * (1 + statuses), 1 + 4 * (1 + statuses)]);
    const currencies = ['USD', 'EUR', 'GBP', 'INR', 'JPY', 'AUD', 'CAD', 'CHF', 'SGD', 'HKD', 'AED'];
    for (const [already, currency] of currencies.entries()) {
      await must(user.post('/v1/receivables', receivableBody({ currency })));
      if (already < 9) continue;
      const actual = figure + (already + 1) * (1 + statuses);
      for (const cost of await costs(user, query))
        expect(cost).toMatchObject({ actual, requested: Math.max(actual, foretold) });
    }
  });

  it('of a list of links that is longer than usual is taken afterwards, as a part of what it could cost', async () => {
    const payee = await PayeeFixture.open(world);
    const { user } = payee;
    const made = await must(
      user.post('/v1/deposits', {
        ...{ amount: '20.00', currency: 'INR', to: { account_id: user.id }, payment_method: 'upi' },
      }),
    );
    const { id } = made;
    await must(user.post(`/v1/test_helpers/deposits/${id}/process`));
    await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
    const receivables = await Promise.all(Array.from({ length: 15 }, () => payee.receivable('1.00')));
    await must(
      user.post(`/v1/deposits/${id}/reconcile`, {
        receivables: receivables.map((each) => ({ id: each, amount: '1.00' })),
      }),
    );
    const found = await costs(user, `{ deposit(id: "${id}") { receivables { id } } }`);
    expect(found.map(({ requested, actual }) => [requested, actual])).toEqual(
      Array(3).fill([10 + 1 + 15, 10 + 1 + 15]),
    );
  });
});

describe('no query that clients have copied is refused for its size', () => {
  /** The texts of a folder's files with this ending. */
  const textsOf = (folder: string, ending: RegExp): string[] =>
    fs
      .readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => ending.test(name))
      .map((name) => fs.readFileSync(path.join(folder, name), 'utf8'));
  const matches = (texts: string[], pattern: RegExp) =>
    texts.flatMap((text) => [...text.matchAll(pattern)].map(([, found]) => found!));

  /** The operations of documents, each with the fragments of all of them that it needs. */
  function operationsOf(texts: string[]): string[] {
    const definitions = texts.flatMap((text) => parse(text).definitions);
    const fragments = new Map(
      definitions.flatMap((d) => (d.kind === Kind.FRAGMENT_DEFINITION ? [[d.name.value, d] as const] : [])),
    );
    const withFragments = (needed: Set<FragmentDefinitionNode>, node: Parameters<typeof print>[0]) => {
      visit(node, {
        FragmentSpread: ({ name }) => {
          const fragment = fragments.get(name.value)!;
          if (needed.has(fragment)) return;
          needed.add(fragment);
          withFragments(needed, fragment);
        },
      });
      return needed;
    };
    return definitions.flatMap((d) =>
      d.kind === Kind.OPERATION_DEFINITION && d.operation !== 'subscription'
        ? [[d, ...withFragments(new Set(), d)].map(print).join('\n')]
        : [],
    );
  }
  const dashboard = () => matches(textsOf('src/sites/dashboard', /(?<!test)\.tsx?$/), /\bgraphql\(\s*`([^`]*)`/g);
  const docs = () => {
    const pages = [...textsOf('docs', /\.md$/), fs.readFileSync('README.md', 'utf8')];
    const sent = matches(pages, /"query": ?"((?:[^"\\]|\\.)*)"/g).map((text) => JSON.parse(`"${text}"`) as string);
    return [...matches(pages, /```graphql\n([\s\S]*?)```/g), ...sent].filter((text) => !text.includes('…'));
  };

  it.each([
    ['of the explorer', () => examples.map(({ query }) => query), 10],
    ['of the documentation', docs, 2],
    ['of the dashboard', dashboard, 30],
  ])('%s', (_, texts, least) => {
    const all = operationsOf(texts()).filter((query) => validate(schema, parse(query)).length === 0);
    expect(all.length).toBeGreaterThan(least);
    for (const query of all) {
      // Variables count as they do where they have no value: a range is the longest, and a page has its default size.
      const { nodes, points } = estimated(parse(query));
      expect({ query, nodes: nodes <= 10_000, points: points <= 10_000 }).toMatchObject({
        nodes: true,
        points: true,
      });
    }
  });
});
