import type { Connection } from './driver/connection.js';

/** The sizes of the pools of one process, and the time limits of their statements. */
export interface PoolSettings {
  read: number;
  write: number;
  worker: number;
  /** The limit of a statement, and of all attempts at it with the wait for a connection and for the server's return. */
  statementMilliseconds: number;
  lockMilliseconds: number;
}
export const poolsDefault: PoolSettings = {
  ...{ read: 2, write: 5, worker: 4 },
  ...{ statementMilliseconds: 5_000, lockMilliseconds: 2_000 },
};

/** The connections for expensive reads, and the time limit of their statements. */
export interface SlowLimits {
  connections: number;
  seconds: number;
}

/** The settings of a database; each has a default. */
export interface DatabaseSettings {
  /** False: a server crash may lose the last commits. For seeding a demo, never for client writes. */
  durable?: boolean;
  /** Milliseconds since any moment. A clock that is set back would keep the statements of an hour for longer. */
  now?: () => number;
  slow?: SlowLimits;
  pools?: PoolSettings;
  /** How to connect for LISTEN and for long audit queries, where the connections of the pools lead through a pooler. */
  listens?: Connection;
  /** The standbys for reads, how old their data may be, and whether this process reads there. */
  replicas?: { connections: readonly Connection[]; lagSeconds: number; reads: boolean } | undefined;
}
