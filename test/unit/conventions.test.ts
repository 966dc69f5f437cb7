import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import drizzle from '../../drizzle.config.js';
import { settings } from '../../src/config/config.js';
import { first } from '../../src/editions/first.js';
import { second } from '../../src/editions/second.js';
import { functionFiles } from '../../src/db/schema/schema-version.js';
import { found, testMilliseconds } from '../support/scale.js';
import { seededFiles } from '../tools/seeded-files.mjs';

/** The sources in TypeScript, with those of the dashboard. */
const sources = fs
  .readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({ name: name.replaceAll(path.sep, '/'), text: fs.readFileSync(path.join('src', name), 'utf8') }));
// The dashboard and the explorer are programs for browsers: knip finds what they do not use, and the linter what they
// may not import.
const files = sources.filter(({ name }) => !/^sites\/(dashboard|explorer)\//.test(name));
const code = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');

/** Whether a command writes the file. */
const isGenerated = (name: string) => name.endsWith('.d.ts') || name === 'db/write/write-functions.ts';
const linesOf = (file: string) => fs.readFileSync(file, 'utf8').split('\n').length - 1;
const functionTexts = functionFiles().map((name) => ({ name, text: fs.readFileSync(`drizzle/${name}`, 'utf8') }));

/** The places of a pattern in the code of src, without comments and without the files that may contain it. */
const offenders = (pattern: RegExp, allowed: (name: string) => boolean = () => false) =>
  files.filter(({ name, text }) => !allowed(name) && pattern.test(code(text))).map(({ name }) => name);

describe('the conventions of the code', () => {
  it('calls no method that opens an interactive transaction outside migrations and backups', () => {
    const interactive = /\.begin\(|\.transaction\(|\.reserve\(|\.savepoint\(/;
    // A backup reads all tables in one snapshot, on a connection of its own.
    const allowed = ['db/schema/advisory-lock.ts', 'db/schema/migration-steps.ts', 'db/backup/backup.ts'];
    expect(offenders(interactive, (name) => allowed.includes(name))).toEqual([]);
  });

  it('has one API to the database: the driver is imported in src/db alone', () => {
    expect(offenders(/from 'postgres'/, (name) => name.startsWith('db/'))).toEqual([]);
    // Its results are complete only through `openClient`.
    expect(offenders(/(=|=>|return|await) postgres\(/, (name) => name === 'db/connect/driver/connection.ts')).toEqual(
      [],
    );
    expect(offenders(/new Database\(/, (name) => name === 'db/connect/open.ts')).toEqual([]);
    expect(offenders(/\/db\/database\.js'/)).toEqual([]);
    // These serve all tenants, or make scopes. Resolvers have a scope alone: of the resources, what encrypts anew.
    const allowed = /^(db|auth|hosted|jobs|operator|server|api\/rest\/bulk)\/|^resources\/\S+\/encryption\.ts$/;
    expect(offenders(/\/db\/doors\.js'/, (name) => allowed.test(name))).toEqual([]);
  });

  it('has few entries in the folders that a reader enters first', () => {
    const entriesMax = { src: 18, 'src/db': 12, 'src/server': 14 };
    for (const [folder, max] of Object.entries(entriesMax)) {
      const entries = fs.readdirSync(folder).filter((name) => name !== 'node_modules');
      expect(entries.length, folder).toBeLessThanOrEqual(max);
    }
  });

  it('explains its words in sixty rows: those of the code, and those of payments', () => {
    const rows = (page: string) => fs.readFileSync(`docs/${page}`, 'utf8').match(/^\| (?!Word)[^-|]+ \|/gm) ?? [];
    expect(rows('glossary.md').length).toBeLessThanOrEqual(40);
    expect(rows('glossary.md').length + rows('concepts.md').length).toBeLessThanOrEqual(60);
  });

  it('keeps the last snapshot of the tables alone, and inserts deposits in one function', () => {
    const snapshots = fs.readdirSync('drizzle/meta').filter((name) => name.endsWith('_snapshot.json'));
    expect(snapshots).toHaveLength(1);
    const inserting = fs
      .readdirSync('drizzle/functions', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.sql'))
      .flatMap((name) =>
        [...fs.readFileSync(path.join('drizzle/functions', name), 'utf8').matchAll(/^\s*insert into deposit\b/gm)].map(
          () => name,
        ),
      );
    expect(inserting).toEqual(['deposit/deposit.sql']);
  });

  it('says a decision in at most 80 lines: its tables are among the measurements', () => {
    const records = fs.readdirSync('docs/decisions').map((name) => `docs/decisions/${name}`);
    expect(records.length).toBeGreaterThan(40);
    const long = records.filter((name) => fs.readFileSync(name, 'utf8').split('\n').length > 81);
    expect(long).toEqual([]);
  });

  // A test that is slow on a busy machine would fail.
  it('gives no test a time-out that is shorter than the usual one', () => {
    const texts = fs
      .readdirSync('test', { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.test\.tsx?$/.test(name));
    const shorter = texts.flatMap((name) =>
      [
        ...fs
          .readFileSync(path.join('test', name), 'utf8')
          .matchAll(/^(?: {2})*\}, (\d[\d_]*)\);$|\{\s*timeout: (\d[\d_]*),?\s*\}, (?:async )?\(/gm),
      ]
        .map(([, last, option]) => Number((last ?? option)!.replaceAll('_', '')))
        .filter((milliseconds) => milliseconds >= 10_000 && milliseconds < testMilliseconds)
        .map((milliseconds) => `${name}: ${milliseconds}`),
    );
    const polls = texts
      .filter((name) => !name.startsWith('faults/'))
      .flatMap((name) =>
        [...fs.readFileSync(path.join('test', name), 'utf8').matchAll(/expect\.poll\([^\n]*timeout: ([\d_]+)/g)]
          .map(([, timeout]) => Number(timeout!.replaceAll('_', '')))
          .filter((milliseconds) => milliseconds < 300_000)
          .map((milliseconds) => `${name}: ${milliseconds}`),
      );
    expect(polls).toEqual([]);
    expect(shorter).toEqual([]);
  });

  // Without a file, `npm run generate` would write a migration that drops its tables, beside what was changed.
  it('compares all files of tables with the database that the migrations make', () => {
    const { schema } = drizzle as { schema: string[] };
    const found = schema.map((glob) => new RegExp(`^${glob.replace('./src/', '').replaceAll('*', '[^/]+')}$`));
    const declaring = files.filter(({ name }) => name.endsWith('/table.ts')).map(({ name }) => name);
    expect(declaring.length).toBeGreaterThan(20);
    expect(declaring.filter((name) => !found.some((pattern) => pattern.test(name)))).toEqual([]);
  });

  // What is set later is missing for whoever asks before, and the order of lines becomes a contract.
  it('knows the fields of contexts and of the database at their construction', () => {
    const made = ['operation/context.ts', 'operator/context.ts', 'server/identity.ts', 'db/database.ts', 'db/scope.ts'];
    const classes = files
      .filter(({ name }) => made.includes(name))
      .flatMap(({ text }) => code(text).match(/^export class [\s\S]*?^}/gm) ?? []);
    expect(classes).toHaveLength(made.length);
    const settable = /^ {2}(?!readonly |private )\w+[!?]?(:| =).*$/gm;
    expect(classes.flatMap((text) => text.match(settable) ?? [])).toEqual([]);
  });

  // A gateway that serves during the migration would have to prepare its reads again, and two reads on one connection
  // could get each other's rows.
  it('changes no type of a column by a migration', () => {
    const migrations = fs.readdirSync('drizzle').filter((name) => name.endsWith('.sql'));
    expect(migrations.length).toBeGreaterThan(8);
    const changing = (name: string) =>
      /ALTER\s+(COLUMN\s+)?"?\w+"?\s+(SET\s+DATA\s+)?TYPE\b/i.test(fs.readFileSync(path.join('drizzle', name), 'utf8'));
    expect(migrations.filter(changing)).toEqual([]);
  });

  it('reads process.env in the configuration and where PostgreSQL is started, and nowhere else', () => {
    const places = ['config/config.ts', 'db/embedded/folder.ts'];
    expect(offenders(/process\.env/, (name) => places.includes(name))).toEqual([]);
  });

  // A gateway whose clock was three days ahead deleted every idempotency key, so that a retry made a second deposit.
  it('uses no clock of a gateway to decide about stored data', () => {
    /**
     * The files that may read the wall clock of the process, and their reasons. Decisions about stored data use
     * PostgreSQL's clock. Durations use `performance.now()`, which starts with the process and so cannot be compared
     * with stored times.
     */
    const reasons: Record<string, string> = {
      'operator/commands/terminal.ts': 'the ages of times in a table on a terminal',
      'operator/commands/events.ts': 'the time in the signature of an event that the command forwards',
      'db/connect/driver/servers.ts': 'the difference between the clocks of a server and of this machine, for people',
      'operator/health/certificate-check.ts': 'how long a certificate is still valid, for people',
      'errors/log.ts': 'the time of a line in the log',
      'request/id.ts': 'the order of the request ids of one second',
      'server/dashboard/links.ts': 'when a one-time link to the dashboard of the demo expires',
      'api/graphql/compiler/compiler.ts': 'the age of entries in a cache',
    };
    const readings =
      /\bDate\.now\b|\bnew Date\(\s*\)|(?<!new )\bDate\(\s*\)|\bperformance\.timeOrigin\b|\bTemporal\.Now\b/;
    expect(offenders(readings, (name) => name in reasons)).toEqual([]);
    expect(Object.keys(reasons).filter((name) => !offenders(readings).includes(name))).toEqual([]);
  });

  // A cast rounds: half a second before midnight would be the next day, and what happened then not yet to be seen.
  it('rounds no reading of the database clock to whole seconds, but takes the second that has begun', () => {
    const texts = functionTexts.map(({ text }) => text);
    const readings = [...texts, ...files.map(({ text }) => text)].flatMap((text) =>
      [
        ...text.matchAll(/(\w*)\((?:date_part\('epoch', |extract\(epoch\s+from )\w+_timestamp\(\)\)\)?::(?:big)?int/g),
      ].map(([reading, before]) => ({ reading, before })),
    );
    const rounded = [...texts, ...files.map(({ text }) => text)].flatMap((text) => [
      ...text.matchAll(/[^(](?:date_part\('epoch', |extract\(epoch\s+from )\w+_timestamp\(\)\)::(?:big)?int/g),
    ]);
    expect(readings.length).toBeGreaterThan(5);
    expect(readings.filter(({ before }) => before !== 'floor')).toEqual([]);
    expect(rounded.map(([text]) => text)).toEqual([]);
  });

  // A function reads its clock before it waits for a row, and the clock of another server may be behind.
  it('sets the time of a change of a row back nowhere', () => {
    const changes = functionTexts.flatMap(({ name, text }) =>
      [...text.matchAll(/^ +updated_at = (.*(?:\n {6}.*)*)/gm)].map(([, value]) => ({
        name,
        value: value!.replaceAll(/\s+/g, ' '),
      })),
    );
    expect(changes.length).toBeGreaterThan(40);
    const keeps = /greatest\( ?\w+\.updated_at, |coalesce\( \w+\.updated_at, /;
    expect(changes.filter(({ value }) => !keeps.test(value))).toEqual([]);
  });

  it('parses no floating-point number, and formats and rounds no amount as one', () => {
    expect(offenders(/parseFloat|toFixed|Math\.round\([^)]*amount/i)).toEqual([]);
  });

  it('compares no edition with a value and has no switch on editions, but uses a table', () => {
    // The demo, the command line and the operator name editions; the product's rules do not.
    const mayCompare = ['server/demo/demo.ts', 'server/demo/history.ts', 'operator/commands/account.ts'];
    expect(offenders(/edition(\.number)?\s*[!=]==|switch \(.*edition/, (name) => mayCompare.includes(name))).toEqual(
      [],
    );
  });

  // Each of these casts makes the compiler believe what it could not check.
  it('gives the reason of each cast to never, and of each through unknown, in a comment on the lines above it', () => {
    const casts = files.flatMap(({ name, text }) => {
      const lines = text.split('\n');
      return lines.flatMap((line, i) => {
        if (!/\bas never\b|\bas unknown as\b/.test(line)) return [];
        // A comment above the statement counts for all its lines.
        const above = lines.slice(Math.max(0, i - 2), i).some((each) => /^\s*\/\//.test(each));
        return [{ place: `${name}:${i + 1}`, explained: above }];
      });
    });
    expect(casts.length).toBeGreaterThan(0);
    expect(casts.filter(({ explained }) => !explained).map(({ place }) => place)).toEqual([]);
  });

  it('has at most 120 columns, also where the formatter breaks nothing: in strings, templates and comments', () => {
    const below = (folder: string): string[] =>
      fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const place = path.join(folder, entry.name);
        if (entry.isDirectory()) return ['node_modules', 'generated', 'dist'].includes(entry.name) ? [] : below(place);
        return isGenerated(path.relative('src', place).replaceAll(path.sep, '/')) ? [] : [place];
      });
    const roots = fs.readdirSync('.', { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
    // Generated migrations are as long as Drizzle makes them, and never change.
    const folders = ['src', 'test', 'clients', 'drizzle/functions', 'docs/operations/deploy'];
    const written = [...folders.flatMap(below), ...roots].filter((name) => /\.(tsx?|mjs|js|css|sql|html)$/.test(name));
    for (const ending of ['.ts', '.tsx', '.mjs', '.js', '.css', '.sql'])
      expect(written.filter((name) => name.endsWith(ending))).not.toEqual([]);
    const longest = written.flatMap((name) =>
      fs
        .readFileSync(name, 'utf8')
        .split('\n')
        .flatMap((line, i) => (line.length > 120 ? [`${name}:${i + 1}`] : [])),
    );
    expect(longest).toEqual([]);
  });

  it('has declarations of arguments that the formatter breaks between arguments', async () => {
    const { formatted } = await import('../tools/sql-layout.js');
    const names = ['aaaa', 'bbbb', 'cccc', 'dddd'].map((name) => name.repeat(8));
    const of = (text: string) => `select\n  check_args(\n    p_args,\n    args_of(\n      '${text}'\n    )\n  );\n`;
    const [first, second, third, fourth] = names.map((name) => `${name} text null`) as [string, string, string, string];
    const whole = of(`${first}, ${second},\n        ${third}, ${fourth}`);
    expect(await formatted(of(`${first}, ${second}, ${third}, ${fourth}`))).toBe(whole);
    expect(await formatted(whole)).toBe(whole);
  });

  // The linter counts the lines of TypeScript, and does not read the styles and scripts of pages.
  it('has at most 300 lines in a style, a script of a page, a page of the dashboard and a build', () => {
    const written = fs
      .readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(css|js|mjs|tsx)$/.test(name))
      .map((name) => [name, linesOf(path.join('src', name))] as const);
    expect(written.length).toBeGreaterThan(100);
    expect(written.filter(([, count]) => count > 300)).toEqual([]);
  });

  // docs/decisions/compiled-queries.md
  it('has less than 1,000 lines in the compiler of queries', () => {
    const compiler = files.filter(({ name }) => name.startsWith('api/graphql/compiler/'));
    expect(compiler.length).toBeGreaterThan(3);
    const lines = compiler.map(({ name }) => linesOf(path.join('src', name)));
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThan(1_000);
  });

  it('has at most 300 lines in a file of SQL functions', () => {
    const named = functionTexts.map(({ name, text }) => [name, text.split('\n').length - 1] as const);
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(([, count]) => count > 300)).toEqual([]);
  });

  // A file of tests is about one subject, and a failure of it can be read.
  it('has at most 700 lines in a file of the tests', () => {
    const written = fs
      .readdirSync('test', { recursive: true, encoding: 'utf8' })
      .map((name) => name.replaceAll(path.sep, '/'))
      .filter((name) => name.endsWith('.ts') && !/^bench\/|node_modules|^clients\/generated\//.test(name))
      .map((name) => [name, linesOf(path.join('test', name))] as const);
    expect(written.length).toBeGreaterThan(250);
    expect(written.filter(([, count]) => count > 700)).toEqual([]);
  });

  it('leaves no choice of the tests to chance or to the time', () => {
    const tests = fs
      .readdirSync('test', { recursive: true, encoding: 'utf8' })
      .map((name) => name.replaceAll(path.sep, '/'))
      .filter((name) => /\.(ts|mjs)$/.test(name) && !/^bench\/|node_modules|^clients\/generated\//.test(name))
      // New seeds are what it is for.
      .filter((name) => name !== 'tools/fuzz.mjs' && name !== 'unit/conventions.test.ts');
    expect(tests.length).toBeGreaterThan(200);
    const chance =
      /Math\.random|randomInt\(|[sS]eed\w* = .*Date\.now|SEED \?\?=? .*Date|Date\.now\(\) %|seed >>(?!>)|seed: Date/;
    const textOf = (name: string) => fs.readFileSync(path.join('test', name), 'utf8');
    expect(tests.filter((name) => chance.test(textOf(name)))).toEqual([]);
    // Properties are tried with the seed that all tests have.
    expect(fs.readFileSync('test/support/setup.ts', 'utf8')).toContain('fc.configureGlobal({ seed: scale.seed })');
    // All others ask for their seeds in a file that `npm run fuzz` runs, so that those that found a fault are tried.
    const drawing = tests.filter((name) => /\bscale\.seed\b|\brandom\((?!\))|\bfc\.assert\(/.test(textOf(name)));
    const seeded = seededFiles();
    const files = seeded.map(({ file }) => file.replace('test/', ''));
    expect(seeded.length).toBeGreaterThan(25);
    const shared = ['support/scale.ts', 'support/setup.ts', 'tools/seeded-files.mjs'];
    expect(drawing.filter((name) => !shared.includes(name) && !files.includes(name))).toEqual([]);
    expect(files.filter((name) => /\bscale\.seed\b/.test(textOf(name)))).toEqual([]);
    const asked = seeded.flatMap(({ file, asksFor }) => asksFor.map((name) => ({ file, name })));
    expect(asked.filter(({ file, name }) => file !== `test/${name}.test.ts`)).toEqual([]);
    expect(Object.keys(found).filter((name) => !asked.some((each) => each.name === name))).toEqual([]);
  });

  it('has no folder for miscellaneous files', () => {
    const miscellaneous = /(^|\/)(utils?|helpers?|common|services?|manager|base|index)(\/|\.tsx?$)/;
    expect(sources.filter(({ name }) => miscellaneous.test(name)).map(({ name }) => name)).toEqual([]);
  });

  // An importer names the file that it reads: a list of files makes each importer depend on all of them.
  it('exports nothing by a star', () => {
    const exporting = sources.filter(({ text }) => /\bexport\s+(type\s+)?\*/.test(code(text)));
    expect(exporting.map(({ name }) => name)).toEqual([]);
  });

  it('has no file that no other file imports', () => {
    const entries = [
      ...['main.ts', 'cli.ts', 'db/write/print-write-functions.ts'],
      ...['server/build/print-schema.ts', 'sites/docs/maker/main.ts'],
    ];
    // These are found by their place.
    const isFound = (name: string) => /^(resources\/[^/]+\/resource|operator\/modules\/[^/]+)\.ts$/.test(name);
    const imported = new Set(
      files.flatMap(({ name, text }) =>
        [...text.matchAll(/(?:from |import |import\()'(\.[^']+)\.js'/g)].map((match) =>
          path.posix.join(path.posix.dirname(name), `${match[1]}.ts`),
        ),
      ),
    );
    expect(
      files
        .map(({ name }) => name)
        .filter((name) => !imported.has(name) && !entries.includes(name) && !isFound(name))
        .filter((name) => !name.endsWith('table.ts')),
    ).toEqual([]);
  });

  it('has none of the words that mark reminders', () => {
    expect(
      files
        .filter(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text.replaceAll("'XXX'", '')))
        .map(({ name }) => name),
    ).toEqual([]);
  });

  it('has a docstring on each exported function and class', () => {
    const bare = files.flatMap(({ name, text }) =>
      [...text.matchAll(/(^|\n)([^\n]*)\nexport (?:async )?(?:function|class|abstract class) (\w+)/g)]
        .filter((match) => !/\*\/$|^@|^\}?\)$|^ {2}\w.*\}\)$/.test(match[2]!.trim()) && match[2]!.trim() === '')
        .map((match) => `${name} ${match[3]}`),
    );
    // GraphQL classes have a description for clients instead.
    expect(bare.filter((entry) => !/(type|inputs|resolver)\.ts /.test(entry))).toEqual([]);
  });
});

describe('the editions', () => {
  it('are tables with the same keys in the same order, so that their diff is the list of differences', () => {
    expect(Object.keys(first)).toEqual(Object.keys(second));
    for (const key of ['shown', 'withheld', 'required', 'values'] as const) {
      const [a, b] = [Object.keys(first[key]), Object.keys(second[key])];
      expect([key, a]).toEqual([key, b]);
    }
  });
});

describe('the documentation', () => {
  // Gateways know by their version that another release runs beside them, so a commit after a release has none's.
  it('begins its changelog with the version of the package, which until its release ends with -dev', () => {
    const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
    const locked = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
    expect([locked.version, locked.packages[''].version]).toEqual([version, version]);
    const [, newest, state] = /^## (\S+) \((unreleased|\d{4}-\d{2}-\d{2})\)$/m.exec(
      fs.readFileSync('docs/changelog.md', 'utf8'),
    )!;
    expect(version).toBe(state === 'unreleased' ? `${newest}-dev` : newest);
  });

  const configure = fs.readFileSync('docs/operations/configure.md', 'utf8');
  const dependencies = fs.readFileSync('docs/dependencies.md', 'utf8');

  it('lists every setting with its default and meaning', () => {
    const rows = Object.entries(settings.shape).map(([name, schema]) => {
      const preset = schema.safeParse(undefined);
      const text = preset.success ? String(preset.data ?? '') : '';
      const value = text === '' ? '' : `\`${text}\``;
      return `| \`${name}\` | ${value === '' ? '' : `${value} `}| ${schema.description} |`;
    });
    for (const row of rows) expect(configure).toContain(row);
  });

  it('names every package that the product depends on', () => {
    const manifest = JSON.parse(fs.readFileSync('package.json', 'utf8'));
    const missing = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)].filter(
      (name) => !dependencies.includes(`\`${name}\``) && !name.startsWith('@types/') && name !== 'oxlint-tsgolint',
    );
    expect(missing).toEqual([]);
  });
});
