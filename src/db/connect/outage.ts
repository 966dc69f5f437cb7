/**
 * What an error of PostgreSQL, or of the connection to it, means for a request:
 * - `lost`: the connection failed. A write may have taken effect; its key prevents a second effect, so the gateway
 *   repeats the statement.
 * - `contended`: other statements blocked the statement, and it was rolled back; the gateway repeats it.
 * - `readOnly`: the server accepts no writes. The gateway repeats the statement if it has another server.
 * - `refused`: the server or its operator cannot serve the statement now; it was rolled back, and is not repeated.
 * Every other error is the client's fault or a bug, and has no row here.
 * If repeating does not help, the client gets 503 with Retry-After for each of these classes.
 */
export type Outage = 'lost' | 'contended' | 'readOnly' | 'refused';

/** The first row whose pattern matches decides. The pattern is for an SQLSTATE, or for a code of Node or the driver. */
const outages: readonly (readonly [pattern: RegExp, meaning: Outage])[] = [
  // Connection exceptions. Poolers report their own limits as 08P01.
  [/^08...$/, 'lost'],
  // Too many connections: the statement did not start, and a connection may become free before the deadline.
  [/^53300$/, 'contended'],
  // Serialization failure, deadlock; statement completion unknown.
  [/^(40001|40P01)$/, 'contended'],
  [/^40003$/, 'lost'],
  // The server shuts down, has crashed or starts up; the database was dropped; the server ended an idle session.
  [/^57P0.$/, 'lost'],
  [/^(25P03|25P04)$/, 'lost'],
  [/^25006$/, 'readOnly'],
  // Disk full, out of memory, limits of the server's configuration.
  [/^53...$/, 'refused'],
  // A statement that was cancelled, by its time limit or by an operator.
  [/^57...$/, 'refused'],
  // A lock that was not free in time, or an object in use. `Failures` handles the lock of a row before this table.
  [/^(55P03|55006)$/, 'refused'],
  // The server does not know our role, its password or our database: its operator must act.
  [/^(28...|3D000)$/, 'refused'],
  // Errors of the server's operating system, its configuration, its own code and its stored data.
  [/^(58...|F0...|XX...|72000)$/, 'refused'],
  // The driver's own codes: a connection that did not open in time, that ended, or that we ended; a false server.
  [/^(CONNECT_TIMEOUT|CONNECTION_.*)$/, 'lost'],
  [/^SASL_SIGNATURE_MISMATCH$/, 'refused'],
  // TLS: an invalid certificate, or a server without TLS.
  [/^(ERR_TLS_.*|ERR_SSL_.*|EPROTO|UNABLE_TO_.*|HOSTNAME_MISMATCH)$|CERT/, 'refused'],
  // Codes of the operating system: refused, reset, unreachable, not found, no descriptors left.
  [
    /^(ECONN.*|EPIPE|ETIMEDOUT|EHOST.*|ENET.*|ENOTFOUND|EAI_.*|EAGAIN|EACCES|EMFILE|ENFILE|EADDRNOTAVAIL|ENOBUFS)$/,
    'lost',
  ],
  // No socket at the path.
  [/^ENOENT$/, 'lost'],
];

/** The codes that mean that no server runs at an address, so that it is safe to start one. */
export const refusesConnections = /^(ECONNREFUSED|ENOENT)$/;

/** Matches PostgreSQL's codes and not the operating system's: no class of PostgreSQL's codes begins with E. */
export const sqlstate = /^[0-9A-DF-Z][0-9A-Z]{4}$/;

/** The known fields of a failed statement: PostgreSQL's own, or those of an error of the operating system. */
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

/** The SQLSTATE of a statement that was cancelled, mostly by its time limit. */
export const queryCanceled = '57014';

/** PostgreSQL's own error. Drizzle wraps it in an error that contains the statement and its parameters. */
export const causeOf = (error: unknown): Failed => ((error as Error).cause ?? error) as Failed;

/**
 * Errors about another node of a cluster: the server that we are connected to is well, and the tenants of other nodes
 * are served. Repeating the statement for seconds would take the connections from them. A write may have taken effect,
 * which the client finds out with its key.
 */
const lostNode = /^(08...|57P0.|XX000)$/;
const ofNode = /remote node|to the node|connection marked as essential|node \S+:\d/;

/** A shard was moved or split between the planning and the execution of a statement, which was rolled back. */
const movedShard = /^could not find valid entry for shard \d+/;

/** What an error means for a request; undefined if it is not an outage. */
export function outageOf(error: unknown): Outage | undefined {
  const { code = '', message } = causeOf(error);
  if (lostNode.test(code) && ofNode.test(message)) return 'refused';
  if (code === 'XX000' && movedShard.test(message)) return 'contended';
  return outages.find(([pattern]) => pattern.test(code))?.[1];
}

/**
 * Whether a statement may have failed because a migration has changed its tables. Either the statement waited for the
 * tables, and expected its result in their old shape (42804); or it was prepared before the migration. The driver
 * prepares such a statement again and repeats it once, but when the repetition fails, the driver throws the first error
 * and not the second. In each case the statement was rolled back, and repeating it succeeds; an error that persists is
 * a bug.
 */
export function mayBeOutdated(error: unknown): boolean {
  const { code, routine = '' } = causeOf(error);
  return code === '42804' || /^(RevalidateCachedQuery|FetchPreparedStatement)$/.test(routine);
}

/** Why the database serves no write now, for people and alerts. */
export type Unready = 'no database' | 'disk full' | 'read only' | 'locked' | 'commits hang';

/** What an error says about the whole database. */
export function unreadyBy(error: unknown): Unready {
  const { code = '' } = causeOf(error);
  // The second is the server's own limit for temporary files.
  if (/^53[14]00$/.test(code)) return 'disk full';
  if (code === '25006') return 'read only';
  return code === '55P03' ? 'locked' : 'no database';
}
