import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';

export const ELSEWHERE = 'Set DATABASE_URL to use another PostgreSQL server.';

/** The user that the server runs as, if this process is root; undefined means the user of this process. */
export type User = { uid: number; gid: number } | undefined;

/** Makes a folder for the server's user, or uses an existing one that belongs to that user or to this process. */
export function ownFolder(folder: string, user: User, mode: number): void {
  fs.mkdirSync(folder, { recursive: true, mode });
  refuseForeign(folder, user);
  if (user) fs.chownSync(folder, user.uid, user.gid);
  fs.chmodSync(folder, mode);
}

/** Refuses a folder of another user, who could have put a false database or false binaries into it. */
export function refuseForeign(folder: string, user: User): void {
  const found = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (!found || (found.isDirectory() && [process.getuid?.(), user?.uid].includes(found.uid))) return;
  throw new Error(`${folder} belongs to another user (${found.uid}), so it is not used. ${ELSEWHERE}`);
}

/**
 * Whether the user can enter a folder or run a program. A shell of that user tests it, because every parent folder
 * matters.
 */
export function reaches(user: User, file: string): boolean {
  return !user || spawnSync('/bin/sh', ['-c', 'test -x "$0"', file], { ...user, cwd: '/' }).status === 0;
}

/**
 * The environment without the variables PG* and of the locale, which would change the server. TZ is UTC, because initdb
 * stores the time zone.
 */
export function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' };
}

/** Moves a folder to its place, unless a folder that is not empty already exists there; that one is kept. */
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
