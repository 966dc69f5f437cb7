import net from 'node:net';
import postgres from 'postgres';
import type { Connection } from './connection.js';
import { causeOf, type Failed, outageOf, sqlstate } from './outage.js';

/** Which server of several is used: any, or one that accepts writes. Of libpq's `target_session_attrs`. */
export type Wanted = 'any' | 'primary' | 'read-write';

/** What a fresh connection found. */
export interface Sight {
  /** A server of the wanted kind answered. Where it refused us, such as for too many connections, it answered too. */
  answers: boolean;
  /** It accepts writes, and whatever else was asked for went well. */
  serves: boolean;
  /** Another server than the one used until now was found. */
  moved: boolean;
  /** There was no answer in time, which a busy machine of ours may also cause. */
  silent: boolean;
  /** Why it does not serve. */
  error?: Failed;
}

/** How long a fresh connection may take for its answer. */
const sightMilliseconds = 1_000;

const identity = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as read_only`;

// What a write needs besides: room on the disk, for which 128 kB are sorted into a temporary file; and the tables that every
// request needs, free of locks that keep even readers out. It touches no row of anybody.
const thorough = `
  set local lock_timeout = '700ms'; set local work_mem = '64kB';
  select count(*) from generate_series(1, 8000);
  ${['account', 'api_key', 'balance', 'event', 'idempotency', 'job']
    .map((table) => `select from ${table} where tenant_id = '' and livemode limit 1`)
    .join('; ')}`;

const strongLocks = `
  select exists (select from pg_locks l join pg_class c on c.oid = l.relation
    where l.locktype = 'relation' and l.database = (select oid from pg_database where datname = current_database())
      and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      and c.relkind in ('r', 'p') and c.relpersistence <> 't') as locked`;

/**
 * The servers that hold one database, of which one is used: the first of the wanted kind, and then the same one until it
 * is of that kind no more. A fresh connection to each tells which are. The driver's own way with several hosts does not
 * serve: while none of them listens it tries again without a pause and without an end, and it takes a standby for a
 * server that accepts writes.
 */
export class Servers {
  #used: Connection | undefined;

  constructor(
    private readonly candidates: Connection[],
    private readonly wanted: Wanted,
    /** How a connection to any of them is secured. */
    private readonly ssl?: Connection['ssl'],
  ) {
    if (wanted === 'any') this.#used = candidates[0];
  }

  /** The servers behind a connection's options. */
  static of(connection: Connection): Servers {
    return (connection as { servers?: Servers }).servers ?? new Servers([connection], 'any');
  }

  /** The driver's options for a connection to whichever server is used when it is made. */
  get connection(): Connection {
    const socket = () => this.#socket();
    return { ...this.candidates[0], path: undefined, ssl: this.ssl, socket, servers: this } as unknown as Connection;
  }

  /** Asks all servers by a fresh connection each, and uses the best. Takes `sightMilliseconds` and a little at most. */
  async look(whole = false): Promise<Sight> {
    const before = this.#used;
    const asked = this.candidates.map((candidate) => ({ candidate, seen: see(candidate, whole) }));
    asked.sort((a, b) => Number(b.candidate === before) - Number(a.candidate === before));
    let worst: Sight | undefined;
    for (const { candidate, seen } of asked) {
      const { is, ...sight } = await seen;
      if (is && (this.wanted === 'any' || !(this.wanted === 'primary' ? is.standby : is.readOnly))) {
        this.#used = candidate;
        return { ...sight, moved: before !== undefined && candidate !== before };
      }
      // The server that is used may refuse new connections, and go on serving those that there are.
      const answers = !is && sight.answers && candidate === before;
      const { error = { code: '25006', message: 'The server is a standby or accepts no writes.' } } = sight;
      worst ??= { answers, serves: false, moved: false, silent: false, error };
      // The one that is looked for may be the one that is slow to say so.
      worst.silent ||= sight.silent;
    }
    return worst!;
  }

  /** Whether a table is locked, or waited for, against writes: by a migration, or by an operator. */
  async tableIsLocked(): Promise<boolean> {
    const client = fresh(this.#used ?? this.candidates[0]!);
    try {
      const [row] = await inTime(client.unsafe<[{ locked: boolean }]>(strongLocks), sightMilliseconds);
      return row.locked;
    } finally {
      client.end({ timeout: 1 }).catch(() => {});
    }
  }

  /** A socket to the server that is used. It must not reject: the driver would never use that connection again. */
  async #socket(): Promise<net.Socket> {
    const sight = this.#used ? undefined : await this.look();
    if (!this.#used) return failed(sight!.error!);
    const { path, host, port } = this.#used as unknown as { path?: string; host: [string]; port: [number] };
    const socket = path ? net.connect(path) : net.connect(port[0], host[0]);
    // By these the driver verifies a certificate and names the server in errors.
    return Object.assign(socket, { host: host[0], port: port[0] });
  }
}

/** A socket that fails as soon as somebody listens. */
function failed({ message }: Failed): net.Socket {
  const socket = new net.Socket();
  const error = Object.assign(new Error(`No server of DATABASE_URL can be used. ${message}`), {
    code: 'CONNECTION_UNAVAILABLE',
  });
  setImmediate(() => socket.destroy(error));
  return socket;
}

interface Seen extends Omit<Sight, 'moved'> {
  /** What the server is, once it has said so. */
  is?: { standby: boolean; readOnly: boolean };
}

async function see(candidate: Connection, whole: boolean): Promise<Seen> {
  const client = fresh(candidate);
  const until = performance.now() + sightMilliseconds;
  let is: Seen['is'];
  try {
    const [row] = await inTime(client.unsafe<[{ standby: boolean; read_only: string }]>(identity), sightMilliseconds);
    is = { standby: row.standby, readOnly: row.standby || row.read_only === 'on' };
    const found = { is, answers: true, silent: false };
    if (is.readOnly) {
      return { ...found, serves: false, error: { code: '25006', message: 'The server accepts no writes.' } };
    }
    if (whole) await inTime(client.unsafe(thorough), until - performance.now());
    return { ...found, serves: true };
  } catch (thrown) {
    const error = causeOf(thrown);
    const { code = '' } = error;
    const meaning = outageOf(thrown);
    const answers = is !== undefined || meaning === 'refused' || (sqlstate.test(code) && meaning !== 'lost');
    return { ...(is && { is }), answers, serves: false, silent: !answers && code === 'CONNECT_TIMEOUT', error };
  } finally {
    client.end({ timeout: 1 }).catch(() => {});
  }
}

function fresh(candidate: Connection): postgres.Sql {
  return postgres({
    ...candidate,
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    connect_timeout: 2,
    connection: { application_name: 'tidegate probe' },
  });
}

/** What is answered in time. The answer may wait unread while this process is busy: it is read before the time is up. */
function inTime<T>(answer: PromiseLike<T>, milliseconds: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = Object.assign(new Error('PostgreSQL did not answer in time.'), { code: 'CONNECT_TIMEOUT' });
    const timer = setTimeout(() => setImmediate(() => reject(late)), milliseconds);
    answer.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
