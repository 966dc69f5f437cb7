import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { builtProgram } from './support/built-program.js';
import { testMilliseconds } from './support/scale.js';

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

/**
 * The slowest files start first: one that started late would still run alone at the end. In each row two compute and
 * one waits, for a time limit, a worker or a server. Those that start many processes (process, cli, migration, crash)
 * do not start together.
 */
const slowest = [
  ['process/process', 'browser/dashboard-pages', 'faults/outage', 'faults/alerts-slow'],
  ['process/process-serving', 'process/cli-operation', 'faults/hosted-answer', 'faults/alerts-work'],
  ['api/plan', 'browser/hosted', 'faults/hosted-safety', 'faults/alerts'],
  ['browser/hosted-page', 'browser/dashboard-money', 'api/webhook-delivery'],
  ['process/cli', 'browser/dashboard-trade', 'api/webhook'],
  ['api/compiler', 'browser/explorer', 'process/replica'],
  ['api/isolation', 'api/permission', 'api/sandbox'],
  ['process/migration', 'faults/attack', 'api/expensive-reads'],
  ['process/deploy', 'api/idempotency', 'process/embedded'],
  ['api/idempotency-replay', 'api/payout-end', 'api/subscription-socket'],
  ['process/docs', 'browser/console', 'api/key'],
  ['faults/crash', 'api/payout', 'api/trigger'],
  ['faults/model', 'process/backup', 'api/query-cost', 'process/fuzz'],
  ['api/equality', 'api/deposit', 'api/rate-limit'],
  ['process/job-runner', 'process/cluster', 'api/admission'],
  ['faults/race', 'api/checkout', 'process/telemetry', 'process/bank-file-size'],
  ['api/graph', 'process/migration-writes', 'api/subscription'],
  ['api/activation', 'api/operator', 'process/client-python', 'faults/deposits'],
  ['api/bad-input', 'api/statements', 'api/tenant-work', 'api/acquirer-history'],
  ['api/deposit-totals', 'api/operator-audit', 'api/request-budget'],
  ['faults/list', 'api/states', 'process/stream'],
  ['api/import', 'browser/site', 'faults/failover'],
  ['api/export', 'api/event', 'process/pooler', 'process/cli-output', 'faults/alerts-primary'],
  ['api/session', 'api/bank', 'faults/silent-connections', 'faults/alerts-disk'],
  ['api/person', 'api/ledger', 'api/nearest-list', 'process/timeline'],
  ['api/checkout-payment', 'api/checkout-creation', 'api/deposit-state'],
].flat();

/**
 * The layers that `npm test` runs whole, and what it runs of the others. `npm run test:all` runs everything. A command
 * that names files or tests runs those.
 */
const layers = ['unit', 'functions', 'api'];
const also = [
  ...['browser/card-fields', 'browser/client', 'browser/cors', 'browser/dashboard', 'browser/start-page'],
  ...[
    'process/alert-rules',
    'process/cli-output',
    'process/config',
    'process/doctor',
    'process/encryption-key',
    'process/job-runner',
    'process/rate-limit-crash',
    'process/stream',
  ],
  ...[
    'process/upgrade',
    'process/upgrade-release',
    'faults/amount',
    'faults/attack',
    'faults/deposits',
    'faults/list',
    'faults/model',
  ],
  ...['faults/money-race', 'faults/race', 'faults/silent-connections'],
  ...['process/acquirer-adapter', 'process/live-story', 'faults/bank-file', 'faults/payment-order'],
];

const { TESTS, FAULTS, PICTURES, CITUS_URL } = process.env;

/** Whether the command of this run names files or tests. */
const named = process.argv
  .slice(2)
  .some((word) => !word.startsWith('-') && word !== 'run' && word !== 'test/vitest.config.ts');

/** All test files, without `.test.ts`, below `test`. */
const files = fs
  .readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .flatMap((name) => (/^(?!.*node_modules).*\.test\.ts$/.test(name) ? [name.replace('.test.ts', '')] : []));

for (const name of [...slowest, ...also])
  if (!files.includes(name)) throw new Error(`There is no test/${name}.test.ts.`);

/** The files that this run leaves out, of those that it includes. */
function leftOut(): string[] {
  if (named || TESTS === 'all' || FAULTS === 'whole' || PICTURES || CITUS_URL) return [];
  const wanted = TESTS === 'fast' ? ['unit', 'functions'] : layers;
  const others = files.filter((name) => !wanted.includes(name.split('/')[0]!));
  return TESTS === 'fast' ? others : others.filter((name) => !also.includes(name));
}
const waiting = leftOut();

function included(): string[] {
  // `PICTURES` names a folder for pictures of all pages, for people to judge: see test/browser/looks/camera.ts.
  if (PICTURES) return ['test/browser/looks/*.look.ts'];
  // What needs a cluster is no part of the other runs.
  return ['test/**/*.test.ts', ...(CITUS_URL ? ['test/cluster/*.cluster.ts'] : [])];
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
    exclude: [...configDefaults.exclude, ...waiting.map((name) => `test/${name}.test.ts`)],
    globalSetup: ['test/support/global.ts'],
    setupFiles: ['test/support/setup.ts'],
    pool: 'forks',
    // A worker loads the program once for all its test files.
    isolate: false,
    // As `npm start` has it: less of the processor time goes to garbage collection. Stacks show the sources.
    execArgv: ['--max-semi-space-size=64', '--enable-source-maps'],
    // A file computes for about half of its time and waits for PostgreSQL, a browser or a process for the other half.
    // Five files at once keep two cores busy for 98 % of a run, and four for 83 %.
    // A short run has little to wait for, and each worker takes 3 s of processor time until it is warm.
    maxWorkers: TESTS === 'fast' ? 2 : 5,
    sequence: { sequencer: SlowestFirst },
    // Bounds for what hangs, and not for what is slow on a busy machine. A cluster is several servers, often on one.
    testTimeout: testMilliseconds,
    hookTimeout: 600_000,
    // What a test waits for has half of the test's time, and not Vitest's second.
    expect: { poll: { timeout: 300_000 } },
  },
});
