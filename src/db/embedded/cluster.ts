import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Place, Progress } from './place.js';
import { ownFolder, environment, ELSEWHERE } from './folder.js';
import { close } from './fifo.js';

const { O_RDONLY } = fs.constants;

/**
 * Makes the cluster in `run`, and moves it to its place when it is complete, so that a killed start leaves no
 * incomplete one.
 */
export function initialise(place: Place, bin: string, durable: boolean, progress: Progress): void {
  progress('Making the database');
  for (const name of fs.readdirSync(place.run).filter((entry) => entry.startsWith('cluster-')))
    fs.rmSync(path.join(place.run, name), { recursive: true, force: true, maxRetries: 5 });
  const draft = fs.mkdtempSync(path.join(place.run, 'cluster-'));
  ownFolder(draft, place.user, 0o700);
  const run = (program: string, given: string[], input = '') => {
    const setting = { ...place.user, cwd: '/', env: environment(), input, encoding: 'utf8' as const };
    const { status, error, stderr } = spawnSync(path.join(bin, program), given, setting);
    if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}\n${ELSEWHERE}`);
  };
  // PostgreSQL's built-in locale, so that neither the order of rows nor the data depends on the machine's locale.
  const locale = ['-E', 'UTF8', '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  run('initdb', ['-D', draft, '-U', 'postgres', '-A', 'trust', ...locale, ...(durable ? [] : ['--no-sync'])]);
  const sync = `fsync=${durable ? 'on' : 'off'}`;
  const roles = 'create role tidegate login\ncreate database tidegate owner tidegate\n';
  run('postgres', ['--single', '-D', draft, '-c', 'exit_on_error=on', '-c', sync, 'postgres'], roles);
  fs.renameSync(draft, place.cluster);
  const home = fs.openSync(place.home, O_RDONLY);
  if (durable) fs.fsyncSync(home);
  close(home);
}
