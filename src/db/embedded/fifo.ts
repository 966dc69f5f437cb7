import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { type User, code } from './folder.js';

const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = fs.constants;

/** Makes a FIFO that only its user may open. */
export function makeFifo(file: string, user: User): void {
  const { status, error, stderr } = spawnSync('mkfifo', ['-m', '600', file], { ...user, cwd: '/', encoding: 'utf8' });
  if (status !== 0) throw new Error(`mkfifo failed: ${error?.message ?? stderr}`);
}

/** Opens a FIFO without waiting. Returns undefined when it does not exist, or when a writer finds no reader. */
export function openFifo(file: string, flags: number): number | undefined {
  try {
    return fs.openSync(file, flags | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if (code(error) === 'ENXIO' || code(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether a process has the FIFO open for reading. */
export function listened(fifo: string): boolean {
  const writer = openFifo(fifo, O_WRONLY);
  close(writer);
  return writer !== undefined;
}

/** Closes a descriptor, if there is one. */
export function close(descriptor: number | undefined): undefined {
  if (descriptor !== undefined) fs.closeSync(descriptor);
}
