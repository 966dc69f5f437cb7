import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vitest/config';

const root = path.resolve(import.meta.dirname, '..');
const built = path.join(root, 'dist');
const copy = path.join(root, '.test-program');

/**
 * Builds the program and copies it without the packages that are gathered beside it, so that program and tests have one
 * instance of each package. A copy of the last build stays as it is.
 */
function prepare(): void {
  execFileSync(process.execPath, ['src/server/build.mjs'], { cwd: root, stdio: 'inherit' });
  const stamp = '.built';
  const state = (folder: string) => fs.readFileSync(path.join(folder, stamp), 'utf8');
  if (fs.existsSync(path.join(copy, stamp)) && state(copy) === state(built)) return;
  fs.rmSync(copy, { recursive: true, force: true });
  const left = [path.join(built, 'node_modules'), path.join(built, 'dashboard'), path.join(built, stamp)];
  fs.cpSync(built, copy, { recursive: true, filter: (file) => !left.includes(file), preserveTimestamps: true });
  // Last, so that a copy that was interrupted is made again.
  fs.copyFileSync(path.join(built, stamp), path.join(copy, stamp));
}

/**
 * Tests load the program as TypeScript emits it, by Node itself: for each worker that takes 1 s instead of the 3 s in
 * which Vite would transform it. An import of a file in src gets its copy.
 */
export function builtProgram(): Plugin {
  prepare();
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
