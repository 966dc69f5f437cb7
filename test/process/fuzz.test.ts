import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { useChildren } from '../support/child.js';

const children = useChildren();
const page = 'docs/measurements/evidence.md';
const minute = { alone: { p99: 4 }, beside: { p99: 9.25 }, gateway: 300 };

/** What the benchmark prints after a soak. */
const soak = {
  generator: 'autocannon',
  minutes: [minute, { ...minute, gateway: 310 }, minute, { ...minute, gateway: 320 }],
  loadAverages: [2, 3.5],
  drained: 0.3,
  violations: [] as object[],
};
const violated = { ...soak, violations: [{ rule: 'sum', what: 'a balance' }] };

describe('npm run fuzz -- --evidence', () => {
  const folder = children.folder();
  const at = (name: string) => path.join(folder, name);
  const columns = fs
    .readFileSync(page, 'utf8')
    .match(/^\| Commit .*$/m)![0]
    .split(' | ').length;

  // A project with one file of tests that draws by a seed, and a benchmark that prints what a soak has found.
  beforeAll(() => {
    for (const name of ['test/process', path.dirname(page)]) fs.mkdirSync(at(name), { recursive: true });
    for (const name of ['node_modules', 'test/support', 'test/tools']) fs.symlinkSync(path.resolve(name), at(name));
    fs.copyFileSync(page, at(page));
    fs.copyFileSync('test/fixtures/seeded-run.ts', at('test/process/seeded.test.ts'));
    fs.writeFileSync(at('test/vitest.config.ts'), 'export default {};\n');
    fs.writeFileSync(at('package.json'), JSON.stringify({ scripts: { bench: 'cat "$SOAK"; exit "$CODE" #' } }));
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
    git('init');
    git('add', '-A');
    git('-c', 'user.name=Test', '-c', 'user.email=test@example.com', 'commit', '-m', 'A project');
  });

  const fuzzed = (printed: object | undefined, more: Record<string, string> = {}) => {
    // Beside the project, which no run changes.
    const file = path.join(children.folder(), 'soak.json');
    fs.writeFileSync(file, printed ? JSON.stringify(printed) : '');
    const before = fs.readFileSync(at(page), 'utf8');
    const { EVIDENCE: _, SEED: __, ...outer } = process.env;
    const env = { ...outer, SOAK: file, CODE: '0', ...more };
    const words = [path.resolve('test/tools/fuzz.mjs'), '--minutes', '0.001', '--evidence'];
    const { status, stdout } = spawnSync(process.execPath, words, { cwd: folder, env, encoding: 'utf8' });
    const [added, ...others] = fs
      .readFileSync(at(page), 'utf8')
      .split('\n')
      .filter((line) => !before.split('\n').includes(line));
    expect(others).toEqual([]);
    const cells = added!.split('|').slice(1, -1);
    expect(cells).toHaveLength(columns);
    return { status, stdout, cells: cells.map((cell) => cell.trim()), seed: /^SEED=(\d+)$/m.exec(stdout)![1]! };
  };

  it('adds a row with what the tests have counted and what the soak has found', () => {
    const { status, stdout, cells } = fuzzed(soak);
    const head = execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim();
    expect([status, stdout]).toEqual([0, expect.stringContaining('No seed failed.')]);
    expect([cells[0], ...cells.slice(4)]).toEqual([
      ...[head, '1', '0', '1,200', '1', '3', '0'],
      ...['4.0, 9.3 ms by autocannon', '310, 320 MB', '2.0 to 3.5'],
    ]);
  });

  it('prints a seed that fails, names it in the row, and exits with 1', () => {
    const { status, stdout, cells, seed } = fuzzed(soak, { BROKEN: 'yes' });
    expect([status, cells[5]]).toEqual([1, seed]);
    expect(stdout).toContain(`Failed with SEED=${seed}.`);
  });

  it.each<[string, object | undefined, string[]]>([
    ['a violation', violated, ['1', '4.0, 9.3 ms by autocannon']],
    ['work that was never done', { ...soak, drained: null }, ['0, and work left', '4.0, 9.3 ms by autocannon']],
    ['nothing, as it could not run', undefined, ['', 'not measured']],
  ])('exits with 1 after a soak that has found %s', (_, printed, found) => {
    const { status, stdout, cells } = fuzzed(printed, { CODE: '1' });
    expect([status, stdout, cells.slice(9, 11)]).toEqual([1, expect.stringContaining('No seed failed.'), found]);
  });
});
