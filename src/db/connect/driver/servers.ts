import type net from 'node:net';
import type postgres from 'postgres';
import { type Connection, openClient } from './connection.js';
import { causeOf, type Failed, outageOf, sqlstate } from '../outage.js';
import { failed, socketTo, type Target } from './socket.js';

/**
 * Which one of several servers the gateway uses: any, or one that accepts writes. As `target_session_attrs` of libpq.
 */
export type ServerTarget = 'any' | 'primary' | 'read-write';

/** What a new connection to the servers found. */
export interface ServerCheck {
  /** A server of the wanted kind answered. A refusal, such as for too many connections, counts as an answer. */
  answers: boolean;
  /** The server accepts writes, and all further checks succeeded. */
  serves: boolean;
  /** The gateway uses another server than before. */
  moved: boolean;
  /** No answer came in time. A busy machine on the gateway's side may also cause this. */
  silent: boolean;
  /** Why the server does not serve. */
  error?: Failed;
}

/** What a server says of itself over a new connection. */
export interface ServerState {
  /** Its host and port, or the path of its socket. */
  name: string;
  /** Why it did not answer; all that follows is missing then. */
  error?: string;
  standby?: boolean;
  readOnly?: boolean;
  timeline?: number;
  /** The identifier of its cluster and the start of its process: two addresses of one server have the same. */
  identity?: string;
  /** Its clock less that of this process, in seconds. */
  clockDifference?: number;
  /** The end of the log that it has: of a standby, what it has replayed. */
  position?: number;
  /** The seconds since the last commit that a standby has replayed; null when it has replayed none. */
  replayedSeconds?: number | null;
}

/**
 * How long a new connection may take to answer, and then the further checks: their wait for a lock is half of it, so
 * that a connection that took long, to a distant or busy server, does not hide a lock as no answer.
 */
const sightMilliseconds = 1_000;
/** The same for the look at the locks that decides what is said of a write, which has waited for seconds already. */
const lookMilliseconds = 3_000;

const identity = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as read_only`;

const selfDescription = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as read_only,
  case when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
    else ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int end as timeline,
  (select system_identifier::text from pg_control_system()) || ' ' || pg_postmaster_start_time()::text as identity,
  extract(epoch from clock_timestamp())::float8 as clock,
  (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end
    - '0/0'::pg_lsn)::float8 as position,
  extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as replayed_seconds`;

// Checks what else a write needs. Room on the disk: the query sorts 128 kB into a temporary file. A table of the server
// itself can be read. And the tables that every request needs are there, without a lock that blocks even readers: to
// explain a query takes its lock and reads no row. On a cluster that asks no node, because each node has the rows of
// some tenants alone, and all others are served without it.
const thorough = `
  set local lock_timeout = '500ms'; set local work_mem = '64kB'; set local citus.explain_distributed_queries = off;
  select count(*) from generate_series(1, 8000);
  select from gateway_process limit 1;
  ${['account', 'api_key', 'balance', 'event', 'idempotency', 'job']
    .map((table) => `explain select from ${table} where tenant_id = '' and livemode limit 1`)
    .join('; ')}`;

const strongLocks = `
  select case when exists (select from pg_locks l join pg_class c on c.oid = l.relation
    where l.locktype = 'relation' and l.database = (select oid from pg_database where datname = current_database())
      and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      and c.relkind in ('r', 'p') and c.relpersistence <> 't') then 'table'
    -- Citus' own advisory locks: a group of shards is being moved or split.
    when exists (
      select from pg_locks l where l.locktype = 'advisory' and l.objsubid > 2 and l.mode = 'ExclusiveLock') then 'shard'
    end as locked`;

/**
 * The servers that hold one database. The gateway uses the first one of the wanted kind, and keeps it until it is no
 * longer of that kind. A new connection to each server shows its kind. The driver's own support for several hosts is
 * not usable: while no host listens, it retries forever without a pause, and it treats a standby as a server that
 * accepts writes.
 */
export class Servers {
  #used: Connection | undefined;

  constructor(
    private readonly candidates: readonly Connection[],
    private readonly target: ServerTarget,
    /** The TLS options of a connection to any of the servers. */
    private readonly ssl?: Connection['ssl'],
  ) {
    if (target === 'any') this.#used = candidates[0];
  }

  /** The servers behind a connection's options. */
  static of(connection: Connection): Servers {
    return (connection as { servers?: Servers }).servers ?? new Servers([connection], 'any');
  }

  /** Whether there are several, so that another one may accept writes soon when the one in use does not. */
  get several(): boolean {
    return this.candidates.length > 1;
  }

  /** The driver's options for a connection to the server that is in use when the connection is made. */
  get connection(): Connection {
    const socket = () => this.#socket();
    // The driver takes a function for the socket and keeps other members, and its types do neither.
    return { ...this.candidates[0], path: undefined, ssl: this.ssl, socket, servers: this } as unknown as Connection;
  }

  /**
   * Queries each server over a new connection, and uses the best one. Takes little more than `sightMilliseconds`, and
   * with `inspectsAll`, when it also checks the disk and the tables, twice as long.
   */
  async check(inspectsAll = false): Promise<ServerCheck> {
    const before = this.#used;
    const checks = this.candidates.map((candidate) => ({ candidate, seen: see(candidate, inspectsAll) }));
    checks.sort((a, b) => Number(b.candidate === before) - Number(a.candidate === before));
    let worst: ServerCheck | undefined;
    // A primary that accepts no writes is one that an operator is replacing: a promoted standby comes before it.
    let readOnly: { candidate: Connection; check: Omit<ServerCheck, 'moved'> } | undefined;
    const used = (candidate: Connection, check: Omit<ServerCheck, 'moved'>): ServerCheck => {
      this.#used = candidate;
      return { ...check, moved: before !== undefined && candidate !== before };
    };
    for (const { candidate, seen } of checks) {
      const { is, ...check } = await seen;
      if (is && (this.target === 'any' || !(this.target === 'primary' ? is.standby : is.readOnly))) {
        if (!is.readOnly) return used(candidate, check);
        readOnly ??= { candidate, check };
        continue;
      }
      // The server in use may refuse new connections and still serve the existing ones.
      const answers = !is && check.answers && candidate === before;
      const { error = { code: '25006', message: 'The server is a standby or accepts no writes.' } } = check;
      worst ??= { answers, serves: false, moved: false, silent: false, error };
      // The server that does not answer in time may be the wanted one.
      worst.silent ||= check.silent;
    }
    return readOnly ? used(readOnly.candidate, readOnly.check) : worst!;
  }

  /** What each server says of itself. */
  states(): Promise<ServerState[]> {
    return Promise.all(this.candidates.map(stateOf));
  }

  /**
   * Whether a migration or an operator has locked a table against writes, or waits for such a lock; or whether a
   * cluster moves shards.
   */
  async lockedNow(): Promise<'table' | 'shard' | null> {
    const client = fresh(this.#used ?? this.candidates[0]!);
    try {
      const [row] = await inTime(client.unsafe<[{ locked: 'table' | 'shard' | null }]>(strongLocks), lookMilliseconds);
      return row.locked;
    } finally {
      client.end({ timeout: 1 }).catch(() => {});
    }
  }

  /** A socket to the server in use. */
  async #socket(): Promise<net.Socket> {
    const check = this.#used ? undefined : await this.check();
    if (!this.#used) return failed(noneOf(check!.error!));
    // As connectionOf makes them: the driver's types have no lists of hosts and ports.
    return socketTo(this.#used as unknown as Target);
  }
}

const noneOf = ({ message }: Failed): Error =>
  Object.assign(new Error(`No server of DATABASE_URL can be used. ${message}`), { code: 'CONNECTION_UNAVAILABLE' });

async function stateOf(candidate: Connection): Promise<ServerState> {
  const { path, host, port } = candidate as { path?: string; host?: unknown; port?: unknown };
  const name = path ?? `${String(host)}:${String(port)}`;
  const client = fresh(candidate);
  try {
    const [row] = await inTime(client.unsafe<[ServerRow]>(selfDescription), sightMilliseconds);
    const { standby, read_only, timeline, identity: own, clock, position, replayed_seconds: replayedSeconds } = row;
    const clockDifference = clock - Date.now() / 1_000;
    const known = { timeline, identity: own, clockDifference, position, replayedSeconds };
    return { name, standby, readOnly: read_only === 'on', ...known };
  } catch (error) {
    return { name, error: causeOf(error).message };
  } finally {
    client.end({ timeout: 1 }).catch(() => {});
  }
}

interface ServerRow {
  standby: boolean;
  read_only: string;
  timeline: number;
  identity: string;
  clock: number;
  position: number;
  replayed_seconds: number | null;
}

/** The servers that take themselves for the primary, each once, if there are several. */
export function rivalPrimaries(states: readonly ServerState[]): ServerState[] {
  const primaries = states.filter(({ standby }) => standby === false);
  const each = [...new Map(primaries.map((state) => [state.identity, state])).values()];
  return each.length > 1 ? each : [];
}

interface Seen extends Omit<ServerCheck, 'moved'> {
  /** The kind of the server, once it has answered. */
  is?: { standby: boolean; readOnly: boolean };
}

async function see(candidate: Connection, inspectsAll: boolean): Promise<Seen> {
  const client = fresh(candidate);
  let is: Seen['is'];
  try {
    const [row] = await inTime(client.unsafe<[{ standby: boolean; read_only: string }]>(identity), sightMilliseconds);
    is = { standby: row.standby, readOnly: row.standby || row.read_only === 'on' };
    const found = { is, answers: true, silent: false };
    if (is.readOnly) {
      return { ...found, serves: false, error: { code: '25006', message: 'The server accepts no writes.' } };
    }
    if (inspectsAll) await inTime(client.unsafe(thorough), sightMilliseconds);
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
  return openClient({
    ...candidate,
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    connect_timeout: 2,
    connection: { application_name: 'tidegate probe' },
  });
}

/**
 * The answer, or an error after the time limit. While this process is busy, the answer may have arrived and not be read
 * yet; `setImmediate` reads it before the wait fails.
 */
export function inTime<T>(answer: PromiseLike<T>, milliseconds: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = Object.assign(new Error('PostgreSQL did not answer in time.'), { code: 'CONNECT_TIMEOUT' });
    const timer = setTimeout(() => setImmediate(() => reject(late)), milliseconds);
    answer.then(resolve, reject).then(() => clearTimeout(timer));
  });
}
