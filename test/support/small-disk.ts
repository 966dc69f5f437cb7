import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const mounted = (folder: string, megabytes: number): boolean => {
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', folder];
  return spawnSync('mount', options, { stdio: 'ignore' }).status === 0;
};
const unmount = (folder: string) => spawnSync('umount', ['--lazy', folder], { stdio: 'ignore' });

/** A small file system that a file can fill. It is in memory; a write without room fails on it as on a disk. */
export class SmallDisk {
  readonly #filler: string;

  /** Mounts it on a new folder. */
  constructor(
    readonly folder: string,
    megabytes: number,
  ) {
    this.#filler = path.join(folder, 'filler');
    fs.mkdirSync(folder);
    if (!mounted(folder, megabytes)) throw new Error(`Nothing can be mounted on ${folder}.`);
  }

  /** Whether this process may mount file systems: as root, and not in every container. */
  static get possible(): boolean {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-mount-'));
    const possible = mounted(folder, 1);
    if (possible) unmount(folder);
    fs.rmdirSync(folder);
    return possible;
  }

  /** Takes all the room that is left. */
  fill(): void {
    const file = fs.openSync(this.#filler, 'a');
    for (const bytes of [1_048_576, 4_096, 1]) writeUntilFull(file, Buffer.alloc(bytes));
    fs.closeSync(file);
  }

  /** Gives the room back. */
  free(): void {
    fs.rmSync(this.#filler);
  }

  /** Removes the file system with all that is on it. */
  end(): void {
    unmount(this.folder);
  }
}

function writeUntilFull(file: number, block: Buffer): void {
  try {
    while (fs.writeSync(file, block) === block.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
