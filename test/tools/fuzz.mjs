/*
 * Runs every file of tests that draws by a seed with one new seed after the other, for some minutes, and prints each
 * seed with which a test failed. `SEED=… npx vitest run --config test/vitest.config.ts FILE` repeats one. A seed that
 * found a fault is added to `found` in test/support/scale.ts with the mend.
 *
 * With `--evidence`, a sixth of the time is a soak of tenants beside a greedy one, and what all of it counted is a new
 * row of docs/measurements/evidence.md.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { addEvidence, soakMinutes } from './evidence.mjs';
import { seededFiles } from './seeded-files.mjs';

const files = seededFiles().map(({ file }) => file);

/** Longer than in the tests of a change: each seed is tried once, so it is worth more. */
const longer = { GATEWAY_KILLS: '6', DATABASE_KILLS: '3', WRITES: '2000', HISTORIES: '10' };

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, evidence: { type: 'boolean', default: false } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error('--minutes must be a number above 0.');

const began = Date.now();
const soaked = values.evidence ? soakMinutes(minutes) : 0;
const end = began + (minutes - soaked) * 60_000;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-evidence-'));
const counts = path.join(folder, 'counts');
fs.writeFileSync(counts, '');
const [tried, failing] = [[], []];
do {
  const SEED = String(randomInt(1, 1_000_000_000));
  tried.push(SEED);
  console.log(`SEED=${SEED}`);
  const run = spawnSync('npx', ['vitest', 'run', '--config', 'test/vitest.config.ts', ...files], {
    stdio: 'inherit',
    env: { ...longer, ...process.env, SEED, EVIDENCE: counts },
  });
  if (run.status !== 0) failing.push(SEED);
} while (Date.now() < end);
console.log(failing.length === 0 ? 'No seed failed.' : `Failed with SEED=${failing.join(', SEED=')}.`);
const measured = values.evidence ? addEvidence({ began, tried, failing, counts, soaked }) : true;
fs.rmSync(folder, { recursive: true });
process.exitCode = failing.length === 0 && measured ? 0 : 1;
