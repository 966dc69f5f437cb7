import type { Connection } from './connection.js';
import type { PoolSettings, SlowLimits } from '../database-settings.js';
import { json, texts } from './driver-types.js';

const auditQueryMillisecondsMax = 600_000;
/** How long the statement of an export may run. */
const exportMillisecondsMax = 600_000;
/**
 * How many polls for work run at once: some may wait for a locked table, or for a node of a cluster that is away.
 */
export const pollsAtOnce = 4;
/** How many exports one process makes at once. */
export const exportsAtOnce = 2;

/** What the options of the pools depend on. */
export interface PoolOptions {
  /** When false, a crash of the server may lose the last commits. */
  durable: boolean;
  pools: PoolSettings;
  /** How to connect for long audit queries, whose time limit a pooler in transaction mode would drop. */
  direct: Connection;
  slow: SlowLimits;
}

/** The driver's options for each pool. */
export function optionsOf(connection: Connection, { durable, slow, pools, direct }: PoolOptions) {
  // The driver's own pauses between attempts to connect grow to 20 s, which is longer than a request waits. Its query
  // for the types of arrays (fetch_types) is awaited by no code: losing the connection during it would crash the
  // process. All arrays here are arrays of text.
  const common = { onnotice: () => {}, connect_timeout: 2, backoff: () => 0.1, fetch_types: false };
  const session = {
    statement_timeout: pools.statementMilliseconds,
    lock_timeout: pools.lockMilliseconds,
    ...(durable ? {} : { synchronous_commit: 'off' }),
  };
  const named = (name: string) => ({ connection: { ...session, application_name: `tidegate ${name}` } });
  // The TypeScript type of the driver's options allows no column types except the driver's own.
  const types = { json, texts } as never;
  const all = { ...connection, ...common };
  // While one statement runs, the driver sends `max_pipeline` more on the same connection. With even one more, two
  // statements that are prepared again after a migration could get each other's rows; and a write behind one that waits
  // for a lock would wait, too.
  const unpipelined = { ...all, max_pipeline: 0, types };
  return {
    read: { ...all, ...named('read'), types, max: pools.read },
    write: { ...unpipelined, ...named('write'), max: pools.write },
    // The work of the worker has connections of its own, so that no write of a request waits for a batch.
    worker: { ...unpipelined, ...named('worker'), max: pools.worker },
    // One commit at a time, which waits for nothing else and is waited for by nothing.
    heartbeat: { ...unpipelined, ...named('heartbeat'), max: 1 },
    poll: { ...unpipelined, ...named('poll'), max: pollsAtOnce, idle_timeout: 60 },
    // A slow statement must not delay the next one, so no statement follows another on the same connection.
    slow: {
      ...all,
      connection: { ...named('slow').connection, statement_timeout: slow.seconds * 1_000 },
      types,
      max: slow.connections,
      max_pipeline: 0,
      idle_timeout: 60,
    },
    // This pool connects for the first audit query, and closes its connection soon after the last one.
    audit: {
      ...{ ...direct, ...common },
      connection: { ...named('audit').connection, statement_timeout: auditQueryMillisecondsMax },
      types,
      max: 1,
      idle_timeout: 5,
    },
    // As many as exports run at once; connected for the first one, and closed soon after the last one.
    bulk: {
      ...{ ...direct, ...common },
      connection: { ...named('bulk').connection, statement_timeout: exportMillisecondsMax },
      types,
      max: exportsAtOnce,
      max_pipeline: 0,
      idle_timeout: 5,
    },
  };
}
