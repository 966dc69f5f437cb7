import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type User, reaches, tag, ownFolder, text, ELSEWHERE } from './folder.js';

const SOCKET_PATH_MAX = 103;

export type Place = {
  user: User;
  home: string;
  cluster: string;
  log: string;
  run: string;
  leases: string;
  present: string;
};

export type Progress = (step: string) => void;

/** Where the data, the log and the FIFOs of a data folder are, and which user the server runs as. Makes the folders. */
export function locate(dir: string, progress: Progress): Place {
  let home = path.resolve(dir);
  fs.mkdirSync(home, { recursive: true });
  let user = serverUser(home);
  if (!reaches(user, home)) {
    home = `/var/tmp/tidegate-data-${tag(home)}`;
    ownFolder(home, undefined, 0o755);
    user = serverUser(home);
    progress(`The user of the server cannot reach ${dir}, so the data is in ${home}`);
  }
  home = fs.realpathSync(home);
  const run = path.join(home, 'run');
  ownFolder(run, user, 0o700);
  const [cluster, log] = [path.join(home, 'cluster'), path.join(home, 'postgres.log')];
  return { user, home, cluster, log, run, leases: path.join(run, 'holders'), present: path.join(run, 'present') };
}

/** PostgreSQL refuses to run as root, or as a user that does not own the data; initdb also needs a name in passwd. */
function serverUser(home: string): User {
  if (process.getuid?.() !== 0) return undefined;
  const owner = fs.statSync(path.join(home, 'cluster'), { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const entry = (name: string) => text('/etc/passwd').match(new RegExp(`^${name}:[^:]*:(\\d+):(\\d+)`, 'm'));
  const found = entry('postgres') ?? entry('nobody');
  if (!found) throw new Error(`PostgreSQL refuses root, and there is no user "postgres" or "nobody". ${ELSEWHERE}`);
  return { uid: Number(found[1]), gid: Number(found[2]) };
}

/**
 * The socket's folder. Its name depends only on the data, so that no stale folders remain; its mode excludes other
 * users.
 */
export function socketFolder(place: Place): string {
  const name = `tidegate-${tag(place.home)}`;
  const preferred = path.resolve(os.tmpdir());
  const fits = Buffer.byteLength(path.join(preferred, name, '.s.PGSQL.5432')) <= SOCKET_PATH_MAX;
  // postgres.js splits a host at commas and colons.
  const good = fits && !/[,:]/.test(preferred) && reaches(place.user, preferred);
  const folder = path.join(good ? preferred : '/tmp', name);
  ownFolder(folder, place.user, 0o700);
  return folder;
}
