/*
 * Runs the tests whose choices come from a seed with one new seed after the other, for some minutes, and prints each
 * seed with which a test failed. `SEED=… npx vitest run --config test/vitest.config.ts FILE` repeats one. A seed that
 * found a fault is added to `found` in test/support/scale.ts with the mend.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

const files = [
  ...[
    'api/activation',
    'api/bad-input',
    'api/bank',
    'api/bank-file-history',
    'api/deposit-totals',
    'api/event-time',
    'api/figures',
  ],
  ...['api/query-cost', 'faults/amount', 'faults/attack', 'faults/crash', 'faults/list', 'faults/model'],
].map((name) => `test/${name}.test.ts`);

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error('--minutes must be a number above 0.');

const end = Date.now() + minutes * 60_000;
const failing = [];
do {
  const SEED = String(randomInt(1, 1_000_000_000));
  console.log(`SEED=${SEED}`);
  const run = spawnSync('npx', ['vitest', 'run', '--config', 'test/vitest.config.ts', ...files], {
    stdio: 'inherit',
    env: { ...process.env, SEED },
  });
  if (run.status !== 0) failing.push(SEED);
} while (Date.now() < end);
console.log(failing.length === 0 ? 'No seed failed.' : `Failed with SEED=${failing.join(', SEED=')}.`);
process.exitCode = failing.length === 0 ? 0 : 1;
