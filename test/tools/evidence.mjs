/* The page of evidence: a row for each long run of `npm run fuzz -- --evidence`. */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';

const page = 'docs/measurements/evidence.md';
const rule = /^\|(---\|)+\n/m;

/** The minutes of a run that are a soak: a sixth, and at least one beside each kind of greedy tenant. */
export const soakMinutes = (minutes) => Math.max(4, Math.round(minutes / 6));

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const number = (n) => n.toLocaleString('en-GB');
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** The sums of what the tests have counted. */
function sumOf(counts) {
  const sum = { kills: 0, writes: 0, audits: 0 };
  for (const line of fs.readFileSync(counts, 'utf8').split('\n').filter(Boolean))
    for (const [what, n] of Object.entries(JSON.parse(line))) sum[what] += n;
  return sum;
}

/** The soak; undefined where it could not be measured. */
function soak(minutes) {
  const args = ['run', '--silent', 'bench', '--', '--soak', String(minutes), '--neighbours', '--scale', '0.05'];
  const run = spawnSync('npm', [...args, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  // A soak that has found something exits with 1, too, and prints it.
  return run.stdout === '' ? undefined : JSON.parse(run.stdout);
}

/** The p99 of the honest tenants that waited longest alone and beside the greedy one: medians of the minutes. */
function neighbours({ generator, minutes }) {
  const of = (which) => minutes.map((minute) => minute[which].p99);
  if ([...of('alone'), ...of('beside')].includes(null)) return 'no answer in a minute';
  return `${median(of('alone')).toFixed(1)}, ${median(of('beside')).toFixed(1)} ms by ${generator}`;
}

/** The memory of the gateway in the second quarter of the soak, by which all caches are filled, and in the last. */
function memory({ minutes }) {
  const quarter = Math.max(1, Math.floor(minutes.length / 4));
  const of = (some) => median(some.map(({ gateway }) => gateway));
  return `${of(minutes.slice(quarter, 2 * quarter))}, ${of(minutes.slice(-quarter))} MB`;
}

const violations = ({ violations, drained }) => `${violations.length}${drained === null ? ', and work left' : ''}`;

/** Soaks the gateway, and adds the row of a run to the page. False if the soak failed or found something. */
export function addEvidence({ began, tried, failing, counts, soaked }) {
  const found = soak(soaked);
  const { kills, writes, audits } = sumOf(counts);
  const changed = git('status', '--porcelain', '--', ':!docs') === '' ? '' : ' and changes';
  const cells = [
    `${git('rev-parse', '--short=10', 'HEAD')}${changed}`,
    new Date(began).toISOString().slice(0, 10),
    `${Math.round((Date.now() - began) / 60_000)}`,
    `${os.cpus().length} × ${os.cpus()[0].model}`.replaceAll('|', ' '),
    number(tried.length),
    failing.length === 0 ? '0' : failing.join(', '),
    ...[writes, kills, audits + (found ? 1 : 0)].map(number),
    ...(found ? [violations(found), neighbours(found), memory(found)] : ['', 'not measured', '']),
    found ? `${Math.min(...found.loadAverages).toFixed(1)} to ${Math.max(...found.loadAverages).toFixed(1)}` : '',
  ];
  const text = fs.readFileSync(page, 'utf8');
  if (!rule.test(text)) throw new Error(`${page} has no table.`);
  fs.writeFileSync(
    page,
    text.replace(rule, (line) => `${line}| ${cells.join(' | ')} |\n`),
  );
  console.log(`Added to ${page}: ${cells.join(' | ')}`);
  return found !== undefined && violations(found) === '0';
}
