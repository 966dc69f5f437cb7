/**
 * What an error of PostgreSQL, or of the way to it, means for a request:
 * - `lost`: the connection failed. A write may have been done; its key tells, so the statement is repeated.
 * - `contended`: other statements were in the way and the statement was undone; it is repeated.
 * - `readOnly`: the server takes no writes. The statement is repeated if there is another server that does.
 * - `refused`: the server or its operator cannot serve the statement now; the statement was undone, and is not repeated.
 * Everything else is the client's fault or a bug, and has no row here.
 * Every class here is answered 503 with Retry-After in the end.
 */
export type Outage = 'lost' | 'contended' | 'readOnly' | 'refused';

/** The first row whose pattern matches the SQLSTATE, or the code of Node or of the driver, decides. */
const outages: readonly (readonly [pattern: RegExp, meaning: Outage])[] = [
  // Connection exceptions. Poolers report their own limits as 08P01.
  [/^08...$/, 'lost'],
  // Too many connections: nothing was begun, and a connection may become free within the deadline.
  [/^53300$/, 'contended'],
  // Serialization failure, deadlock; statement completion unknown.
  [/^(40001|40P01)$/, 'contended'],
  [/^40003$/, 'lost'],
  // The server shuts down, crashed, starts up; the database was dropped; the session was ended for idling.
  [/^57P0.$/, 'lost'],
  [/^(25P03|25P04)$/, 'lost'],
  [/^25006$/, 'readOnly'],
  // Disk full, out of memory, limits of the server's configuration.
  [/^53...$/, 'refused'],
  // A statement that was cancelled, by its time limit or by an operator.
  [/^57...$/, 'refused'],
  // A lock that was not free in time, an object in use. A row's lock is told apart before.
  [/^(55P03|55006)$/, 'refused'],
  // The server does not know our role, its password or our database: its operator must act.
  [/^(28...|3D000)$/, 'refused'],
  // Errors of the server's system, of its configuration, of its own code and of its stored data.
  [/^(58...|F0...|XX...|72000)$/, 'refused'],
  // The driver's own: a connection that was not made in time, that ended, or that we ended; a false server.
  [/^(CONNECT_TIMEOUT|CONNECTION_.*)$/, 'lost'],
  [/^SASL_SIGNATURE_MISMATCH$/, 'refused'],
  // TLS: a certificate that does not hold, a server that does not speak it.
  [/^(ERR_TLS_.*|ERR_SSL_.*|EPROTO|.*CERT.*|UNABLE_TO_.*|HOSTNAME_MISMATCH)$/, 'refused'],
  // Of the operating system: refused, reset, unreachable, not found, no descriptors left.
  [
    /^(ECONN.*|ENOENT|EPIPE|ETIMEDOUT|EHOST.*|ENET.*|ENOTFOUND|EAI_.*|EAGAIN|EACCES|EMFILE|ENFILE|EADDRNOTAVAIL|ENOBUFS)$/,
    'lost',
  ],
];

/** Codes that say that no server runs at a place, so that starting one does no harm. */
export const nobodyListens = /^(ECONNREFUSED|ENOENT)$/;

/** A code of PostgreSQL's, and none of the operating system's: no class of its codes begins with E. */
export const sqlstate = /^[0-9A-DF-Z][0-9A-Z]{4}$/;

/** What is known of a failed statement: PostgreSQL's own fields, or those of an error of the system. */
export interface Failed {
  code?: string;
  message: string;
  detail?: string;
  constraint_name?: string;
  /** The function of PostgreSQL's source that reported the error. */
  routine?: string;
  /** PostgreSQL's CONTEXT lines. */
  where?: string;
}

/** PostgreSQL's own error: Drizzle wraps it into one that has the statement and its parameters. */
export const causeOf = (error: unknown): Failed => ((error as Error).cause ?? error) as Failed;

/** What an error means for a request, or undefined where it is no outage. */
export function outageOf(error: unknown): Outage | undefined {
  const { code = '' } = causeOf(error);
  return outages.find(([pattern]) => pattern.test(code))?.[1];
}

/**
 * Whether a statement may have failed because a migration has changed its tables: while it waited for them, its result was
 * still expected in their old shape (42804); or it was prepared before. The driver prepares such a statement again and
 * repeats it once, but when the repetition is refused, it throws the first error and not the refusal. In each case the
 * statement was undone, and repeating it gives its answer; an error that stays is a bug.
 */
export function mayBeOutdated(error: unknown): boolean {
  const { code, routine = '' } = causeOf(error);
  return code === '42804' || /^(RevalidateCachedQuery|FetchPreparedStatement)$/.test(routine);
}
