import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';

export const ELSEWHERE = 'Set DATABASE_URL to use another PostgreSQL server.';

/** The user that the server runs as when we are root; otherwise it is our own. */
export type User = { uid: number; gid: number } | undefined;

/** Makes a folder of the user of the server, or takes the one that is there and belongs to that user or to us. */
export function ownFolder(folder: string, user: User, mode: number): void {
  fs.mkdirSync(folder, { recursive: true, mode });
  refuseForeign(folder, user);
  if (user) fs.chownSync(folder, user.uid, user.gid);
  fs.chmodSync(folder, mode);
}

/** A folder that a stranger made first could serve us a false database, or false binaries. */
export function refuseForeign(folder: string, user: User): void {
  const found = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (!found || (found.isDirectory() && [process.getuid?.(), user?.uid].includes(found.uid))) return;
  throw new Error(`${folder} belongs to another user (${found.uid}), so it is not used. ${ELSEWHERE}`);
}

/** Whether the user can enter a folder or run a program: asked as that user, because every folder above has a say. */
export function reaches(user: User, file: string): boolean {
  return !user || spawnSync('/bin/sh', ['-c', 'test -x "$0"', file], { ...user, cwd: '/' }).status === 0;
}

/** Without the caller's PG* and locale, which would change the server; initdb writes the time zone down. */
export function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' };
}

/** Moves a folder to its place, unless another with something in it came first and is kept. */
export function moved(draft: string, folder: string): boolean {
  try {
    fs.renameSync(draft, folder);
    return true;
  } catch (error) {
    fs.rmSync(draft, { recursive: true });
    if (code(error) !== 'ENOTEMPTY' && code(error) !== 'EEXIST') throw error;
    return false;
  }
}

/** The text of a file; empty when it cannot be read. */
export function text(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export const tag = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 10);
export const code = (error: unknown): unknown => (error as { code?: unknown }).code;
