import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vitest/config';

const root = path.resolve(import.meta.dirname, '../..');
const built = path.join(root, 'dist');
/** A copy stands where dist does, because the program finds the other files of the project by their place. */
const copyName = '.test-program-';
const stamp = '.built';
/** How many copies of other builds stay, since runs of tests may still load them. */
const kept = 8;

const stateOf = (folder: string) => fs.readFileSync(path.join(folder, stamp), 'utf8');

/**
 * Builds the program and copies it without the packages that are gathered beside it, so that program and tests have one
 * instance of each package. Each build has a copy of its own, which is complete once it has its name: so several runs
 * of tests may begin at once, and go on while another one builds. Returns the folder of the copy.
 */
function prepare(): string {
  execFileSync(process.execPath, ['src/server/build/build.mjs'], { cwd: root, stdio: 'inherit' });
  const state = stateOf(built);
  const copy = path.join(root, copyName + createHash('sha256').update(state).digest('hex').slice(0, 16));
  if (fs.existsSync(copy)) return copy;
  const draft = `${copy}.${process.pid}`;
  const left = [path.join(built, 'node_modules'), path.join(built, 'dashboard')];
  fs.cpSync(built, draft, { recursive: true, filter: (file) => !left.includes(file), preserveTimestamps: true });
  // Another build may have changed the program meanwhile.
  if (stateOf(draft) !== state) {
    fs.rmSync(draft, { recursive: true });
    return prepare();
  }
  const madeAt = (folder: string) => fs.statSync(folder, { throwIfNoEntry: false })?.birthtimeMs ?? 0;
  const others = fs.readdirSync(root).filter((name) => name.startsWith(copyName));
  const newestFirst = others.map((name) => path.join(root, name)).toSorted((x, y) => madeAt(y) - madeAt(x));
  for (const folder of newestFirst.slice(kept)) fs.rmSync(folder, { recursive: true, force: true });
  try {
    fs.renameSync(draft, copy);
  } catch (error) {
    // Another run has made the same copy.
    if (!fs.existsSync(copy)) throw error;
    fs.rmSync(draft, { recursive: true });
  }
  return copy;
}

/**
 * Tests load the program as TypeScript emits it, by Node itself: for each worker that takes 1 s instead of the 3 s in
 * which Vite would transform it. An import of a file in src gets its copy.
 */
export function builtProgram(): Plugin {
  const copy = prepare();
  return {
    name: 'built-program',
    enforce: 'pre',
    resolveId(source, importer) {
      if (!source.startsWith('.') || !importer) return null;
      const file = path.relative(path.join(root, 'src'), path.resolve(path.dirname(importer), source));
      const id = path.join(copy, file);
      return file.startsWith('..') || !fs.existsSync(id) ? null : id;
    },
  };
}
