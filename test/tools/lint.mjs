/**
 * `npm run lint`: lints each part of the project of which something has changed since it last passed. The rules that
 * need types take 10 to 13 s for all parts, and oxlint keeps nothing between its runs.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { stateOf } from '../../src/server/build/state.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const cache = path.join(root, 'node_modules/.cache/lint');
fs.mkdirSync(cache, { recursive: true });

const gateway = fs.readdirSync(path.join(root, 'src'), { encoding: 'utf8' }).filter((name) => name !== 'sites');
const program = [...gateway, 'sites/docs'].map((name) => `src/${name}`);

/** The files of each part, and what their types come from. */
const parts = [
  { name: 'program', files: program, types: [] },
  { name: 'dashboard', files: ['src/sites/dashboard'], types: [] },
  { name: 'test', files: ['test'], types: program },
  { name: 'client', files: ['clients/typescript/src'], types: [] },
];
const settings = ['.oxlintrc.json', 'package-lock.json', 'tsconfig.json', 'test/tools/lint.mjs'];

const changed = parts
  .map((part) => ({
    files: part.files,
    stamp: path.join(cache, part.name),
    state: stateOf(root, [...settings, ...part.files, ...part.types]),
  }))
  .filter(({ stamp, state }) => !fs.existsSync(stamp) || fs.readFileSync(stamp, 'utf8') !== state);

if (changed.length > 0) {
  const files = changed.flatMap((part) => part.files);
  // Go's garbage collector runs less often: a linter ends before memory is short.
  const env = { ...process.env, GOGC: '400' };
  const { status } = spawnSync('oxlint', ['--deny-warnings', ...files], { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  // What has changed meanwhile is not in these states, so that the next run lints it.
  for (const { stamp, state } of changed) fs.writeFileSync(stamp, state);
}
