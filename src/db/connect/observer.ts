import type { TenantAndMode } from '../schema/tenant-and-mode.js';

/** The connections that a statement uses. */
export const poolNames = ['read', 'slow', 'write', 'worker', 'heartbeat', 'poll', 'audit', 'bulk'] as const;
export type PoolName = (typeof poolNames)[number];

/** A statement that was given to the database. It never contains a value. */
export interface ObservedStatement {
  /** Its name in the registry of statements, or the name of the SQL function that it calls. */
  name: string;
  pool: PoolName;
}

/** Learns of statements, for metrics, traces and the log. It must not throw. */
export interface StatementObserver {
  /**
   * Called when a statement is given to the database; returns a function to call at its end, with its error if it
   * failed.
   */
  began(statement: ObservedStatement): (error?: unknown) => void;
  /** Called when a statement is repeated after an outage or a conflict. */
  repeated?(pool: PoolName): void;
}

/** What a database says while it serves. */
export interface Signals {
  /** PostgreSQL could not serve a statement, for which the client gets 503. */
  outage: [error: unknown];
  /** A client has written something: the worker of this process numbers its events soon. */
  write: [];
  /** A gateway notifies the others that a tenant and mode has new events. */
  hint: [of: TenantAndMode];
  /** A replica is used from now on, or, with the reason, no longer. */
  replica: [name: string, reason: string | undefined];
}

/** Runs a statement and reports it. The time includes the wait for a connection and all attempts. */
export function observed<T>(
  observers: readonly StatementObserver[],
  statement: ObservedStatement,
  run: () => Promise<T>,
): Promise<T> {
  if (observers.length === 0) return run();
  const ends = observers.map((observer) => observer.began(statement));
  return run().then(
    (result) => {
      for (const end of ends) end();
      return result;
    },
    (error: unknown) => {
      for (const end of ends) end(error);
      throw error;
    },
  );
}
