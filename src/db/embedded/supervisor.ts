import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type Place, type Progress, socketFolder } from './place.js';
import { listened, makeFifo, openFifo, close } from './fifo.js';
import { postmaster, ask } from './postmaster.js';
import { initialise } from './cluster.js';
import { environment } from './folder.js';

const { O_RDONLY, O_WRONLY, O_NOFOLLOW, O_APPEND, O_CREAT } = fs.constants;
// No TCP, and no parameters of statements in the log: the log would keep personal data after their deletion. Twelve
// processes (WORKERS) with all their pools open need 264 connections. The rest is for probes, commands and settings of
// larger pools; each takes some 50 KB of memory.
const SETTINGS = ['listen_addresses=', 'shared_buffers=128MB', 'max_connections=400', 'log_checkpoints=off'];
// Before PostgreSQL has statistics, it may choose a bad index, and keeps that plan. With the default naptime, a write
// read a hundred times as many pages as needed during the first minute of a busy database.
SETTINGS.push('autovacuum_naptime=5s');
SETTINGS.push('log_parameter_max_length=0', 'log_parameter_max_length_on_error=0');
// Tests have many databases, and small ones: each `analyze` makes every connection plan its statements anew.
const NOT_DURABLE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum_naptime=30s'];

/** Whether a supervisor runs. While it checks for the last lease and stops the server, its FIFO has the second name. */
export function supervised(place: Place): boolean {
  return listened(place.leases) || listened(`${place.leases}.closed`);
}

/**
 * Starts a server with its supervisor, or a new supervisor for a server that has lost its own. Returns the lease's
 * FIFO.
 */
export async function supervise(
  place: Place,
  bin: string,
  durable: boolean,
  progress: Progress,
): Promise<number | undefined> {
  if (supervised(place)) return undefined;
  const orphan = postmaster(place);
  if (orphan && (await ask(orphan.socket)) !== 'yes') return undefined;
  const socket = orphan?.socket ?? socketFolder(place);
  // A server whose data were deleted would, when it stops, still write files by path into the new data.
  if (!orphan && (await ask(socket)) !== 'silence')
    throw new Error(`A server still uses data that were deleted from ${place.home}. End the processes that use it.`);
  if (!orphan && !fs.existsSync(place.cluster)) initialise(place, bin, durable, progress);
  if (!orphan) progress('Starting PostgreSQL');
  const settings = [...SETTINGS, `unix_socket_directories=${socket}`, ...(durable ? [] : NOT_DURABLE)];
  const server = [path.join(bin, 'postgres'), '-D', place.cluster, ...settings.flatMap((each) => ['-c', each])];
  for (const fifo of [place.leases, place.present]) if (!fs.existsSync(fifo)) makeFifo(fifo, place.user);
  // Open a reader first, so that no other open waits. The shell needs its own descriptor, whose reads wait for data.
  const first = openFifo(place.leases, O_RDONLY);
  const lease = openFifo(place.leases, O_WRONLY);
  const end = fs.openSync(place.leases, O_RDONLY | O_NOFOLLOW);
  // The log is a file and not a pipe, because the starter may end before the server. Each start begins a new log, so
  // that it stays small.
  if (!orphan) fs.rmSync(place.log, { force: true });
  const log = fs.openSync(place.log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  const given = ['-c', SUPERVISOR, 'supervisor', place.leases, socket, String(orphan?.pid ?? ''), ...server];
  const setting = { ...place.user, cwd: '/', env: environment(), detached: true };
  const child = spawn('/bin/sh', given, { ...setting, stdio: ['ignore', log, log, end] });
  child.on('error', () => {}).unref();
  [first, end, log].forEach(close);
  return lease;
}

/*
 * The main shell waits for PostgreSQL, and the shell in brackets for the end of the lease holders. If one of them is
 * killed, the other still does its part. No other process may have the FIFO open (3<&-), or the server would look
 * supervised after the death of both shells. The signal is repeated because PostgreSQL was seen to miss one. `wait`
 * cannot wait for a server that another supervisor started, so `kill -0` checks it, too.
 */
const SUPERVISOR = `
fifo=$1 socket=$2 p=$3; shift 3
trap '' INT TERM HUP
[ -n "$p" ] || { "$@" 3<&- & p=$!; }
(
  while :; do
    while read -r _ <&3; do :; done
    mv -f "$fifo" "$fifo.closed" 3<&-
    read -r _ <&3 || break
    mv -f "$fifo.closed" "$fifo" 3<&-
  done
  n=0
  while [ $n -lt 240 ] && kill -0 "$p"; do
    if [ $n -lt 40 ]; then kill -INT "$p"; else kill -QUIT "$p"; fi
    n=$((n + 1)); sleep 0.25 3<&-
  done
) 2>/dev/null & watcher=$!
exec 3<&-
while kill -0 "$p" 2>/dev/null; do wait "$p" 2>/dev/null || sleep 0.1; done
rmdir "$socket" 2>/dev/null
kill -KILL $watcher 2>/dev/null
`;
