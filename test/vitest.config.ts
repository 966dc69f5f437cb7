import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { builtProgram } from './built-program.js';

const require = createRequire(import.meta.url);
const folder = import.meta.dirname;

/**
 * Temporary files go to memory where Linux offers enough of it: the tests make about a hundred PostgreSQL data folders
 * of 125 MB, and a copy there takes a fifth of the time. At most about 4 GB are in use at once.
 */
const memory = '/dev/shm';
if (!process.env.TMPDIR && fs.existsSync(memory)) {
  const { bavail, bsize } = fs.statfsSync(memory);
  if (bavail * bsize >= 8 * 1024 ** 3) process.env.TMPDIR = memory;
}

// The same commit runs the same tests with the same choices. Another seed makes others.
process.env.SEED ||= '1';

/**
 * The slowest files start first: one that started late would still run alone at the end. In each row two compute and
 * one waits, for a time limit, a worker or a server. Those that start many processes (process, cli, migration, crash)
 * do not start together.
 */
const slowest = [
  ['process', 'dashboard-pages', 'outage'],
  ['plan', 'hosted', 'hosted-safety'],
  ['cli', 'dashboard-trade', 'webhook'],
  ['compiler', 'explorer', 'replica'],
  ['isolation', 'permission', 'sandbox'],
  ['migration', 'attack', 'slow-questions'],
  ['deploy', 'idempotency', 'embedded'],
  ['docs', 'console', 'key'],
  ['crash', 'payout', 'trigger'],
  ['model', 'backup', 'query-cost'],
  ['equality', 'deposit', 'rate-limit'],
  ['job-runner', 'cluster', 'admission'],
  ['race', 'checkout', 'telemetry'],
  ['graph', 'migration-writes', 'subscription'],
  ['activation', 'operator', 'clients', 'faults/combined'],
  ['bad-input', 'statements', 'tenant-work'],
  ['deposit-totals', 'operator-audit', 'request-budget'],
  ['list', 'states', 'stream'],
  ['import', 'site', 'failover'],
  ['export', 'event', 'pooler', 'cli-output'],
  ['session', 'bank', 'silent-connections'],
  ['person', 'ledger', 'timeline'],
].flat();

/**
 * Files of long tests that take turns: a run of `npm test` takes the files of one place in each row, the next the next.
 * Files about idempotency, the ledger, deposits, payouts and checkouts, about who may see what, about an upgrade, and
 * those that compare the APIs and the ways of execution run each time.
 */
const turns = [
  ['process', 'crash rate-limit-crash', 'outage'],
  ['dashboard-pages', 'dashboard-trade', 'hosted explorer'],
  ['deploy', 'cli', 'docs'],
  ['replica', 'backup', 'clients'],
  ['migration-writes', 'embedded', 'migration'],
  ['subscription stream', 'webhook', 'trigger'],
  ['graph', 'plan', 'statements search request-budget'],
  ['request-memory', 'attack', 'query-cost'],
  ['console', 'site', 'import'],
  ['cluster', 'telemetry', 'pooler failover'],
  ['admission', 'slow-questions', 'rate-limit'],
  ['write-combiner', 'read-combiner', 'faults/combined'],
  ['operator', 'operator-audit bank'],
  ['activation', 'person file'],
  ['list list-order', 'event export'],
  ['job-runner', 'sandbox'],
  ['refusals', 'state-refusals decoder'],
  ['persisted-documents document-cache', 'database http'],
];

const filesOf = (places: string[]) => places.flatMap((names) => names.split(' '));

/** Whether the command of this run names files or tests. It then runs them whether or not they have their turn. */
const named = process.argv
  .slice(2)
  .some((word) => !word.startsWith('-') && word !== 'run' && word !== 'test/vitest.config.ts');

/**
 * The files that this run leaves out. The turn depends on other digits of the seed than what the tests themselves try
 * of their combinations, so that each combination has its turn.
 */
function filesWithoutTurn(): string[] {
  const { TURNS, FAULTS, TESTS, PICTURES, CITUS_URL, SEED } = process.env;
  if (named || TURNS === 'all' || FAULTS === 'whole' || TESTS || PICTURES || CITUS_URL) return [];
  const turn = Number(SEED) >> 12;
  return turns.flatMap((row) => filesOf(row.filter((_, place) => place !== turn % row.length)));
}
const waiting = filesWithoutTurn();

for (const name of [...slowest, ...turns.flatMap(filesOf)])
  if (!fs.existsSync(path.join(folder, `${name}.test.ts`))) throw new Error(`There is no test/${name}.test.ts.`);

const fast = process.env.TESTS === 'fast';

/** What `npm run test:fast` runs beside the SQL functions and the files of the resources. */
const quick = ['conventions', 'distribution', 'graphql-http', 'limits', 'once'];

/** The files of `npm run test:fast`. The file of a resource has the name of its folder. */
function fastFiles(): string[] {
  const resources = fs.readdirSync(new URL('../src/resources', import.meta.url), { withFileTypes: true });
  const folders = resources.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const functions = fs.readdirSync(path.join(folder, 'functions')).filter((name) => name.endsWith('.test.ts'));
  const others = folders.filter((name) => !functions.includes(`${name}.test.ts`) && !slowest.includes(name));
  return [...functions.map((name) => `functions/${name}`), ...[...quick, ...others].map((name) => `${name}.test.ts`)]
    .map((name) => `test/${name}`)
    .filter((name) => fs.existsSync(path.join(folder, '..', name)));
}

/** The files that `TESTS` names, or all. */
function included(): string[] {
  // `PICTURES` names a folder for pictures of all pages, for people to judge: see test/looks/camera.ts.
  if (process.env.PICTURES) return ['test/looks/*.look.ts'];
  if (fast) return fastFiles();
  // What needs a cluster is no part of the other runs.
  return ['test/**/*.test.ts', ...(process.env.CITUS_URL ? ['test/*.cluster.ts'] : [])];
}

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    if (waiting.length > 0) console.log(`Left out (npm run test:all runs everything): ${waiting.join(', ')}.`);
    const others = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const place = slowest.indexOf(path.relative(folder, moduleId).replace('.test.ts', ''));
      return place < 0 ? slowest.length : place;
    };
    return others.toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  plugins: [builtProgram()],
  root: fileURLToPath(new URL('..', import.meta.url)),
  // Load one instance of graphql: Vite would resolve index.mjs for the tests, and Node loads index.js for the program.
  resolve: { alias: [{ find: /^graphql$/, replacement: require.resolve('graphql/index.js') }] },
  test: {
    // Node loads the program itself, without Vite.
    server: { deps: { external: [/\/\.test-program-\w+\//] } },
    include: included(),
    provide: { fastFiles: fastFiles() },
    exclude: [...configDefaults.exclude, ...waiting.map((name) => `test/${name}.test.ts`)],
    globalSetup: ['test/global.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'forks',
    // A worker loads the program once for all its test files.
    isolate: false,
    // As `npm start` has it: less of the processor time goes to garbage collection. Stacks show the sources.
    execArgv: ['--max-semi-space-size=64', '--enable-source-maps'],
    // A file computes for about half of its time and waits for PostgreSQL, a browser or a process for the other half.
    // Five files at once keep two cores busy for 98 % of a run, and four for 83 %.
    // A short run has little to wait for, and each worker takes 3 s of processor time until it is warm.
    maxWorkers: fast ? 2 : 5,
    sequence: { sequencer: SlowestFirst },
    // Bounds for what hangs, and not for what is slow on a busy machine. A cluster is several servers, often on one.
    testTimeout: 300_000,
    hookTimeout: 600_000,
    // What a test waits for has half of the test's time, and not Vitest's second.
    expect: { poll: { timeout: 150_000 } },
  },
});
