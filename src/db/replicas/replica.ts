import { setTimeout as sleep } from 'node:timers/promises';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import { Cancellations } from '../connect/cancellation.js';
import { type Connection, movedRows, openClient, single } from '../connect/driver/connection.js';
import { optionsOf } from '../connect/driver/connection-options.js';
import { Pool, type TrackQuery } from '../connect/connections.js';
import type { PoolSettings, SlowLimits } from '../connect/database-settings.js';
import { causeOf, outageOf } from '../connect/outage.js';
import { QuickReads } from '../read/quick-reads.js';
import { type Found, type RawRows, type Read, sent } from '../read/read-combiner.js';
import { inTime } from '../connect/driver/servers.js';
import { type ReadClass, tooSlow } from '../read/read-class.js';
import type { Statements } from '../read/statements.js';
import { lsnOf, type PrimaryPositions, timelineOf, type WalPosition, walPositionOf } from './wal-positions.js';

/**
 * How often a server is asked how far it is, and how long its answer may take. Together they are less than an
 * expensive read waits for its turn, which is held while a replica hangs.
 */
export const pollMilliseconds = 500;
export const answerMilliseconds = 750;
/** The longest pause before a replica that did not answer is asked again. */
const pauseMillisecondsMax = 5_000;
/**
 * The limits of a quick statement: what takes longer here, such as behind a migration that is replayed, is the
 * primary's.
 */
const quickLimits = { statement_timeout: 1_000, lock_timeout: 500 };
const queryCanceled = '57014';

/**
 * Asks a replica. Any role may ask this, and it reads no row of a tenant. A standby does not say on which timeline it
 * is, so this is the newest that it is known to follow: of its last restart point, of what it has on its disk, and, for
 * a role that may see statistics, of what it receives. It requests a timeline only while all that it has belongs to it.
 */
const readClass = `
  select pg_is_in_recovery() as standby, pg_last_wal_replay_lsn()::text as replayed,
    greatest((select timeline_id from pg_control_checkpoint()),
      (select min_recovery_end_timeline from pg_control_recovery()),
      (select received_tli from pg_stat_wal_receiver)) as timeline,
    (select system_identifier::text from pg_control_system()) as system,
    extract(epoch from clock_timestamp())::float8 as clock`;

interface Answer {
  standby: boolean;
  replayed: string | null;
  timeline: number;
  system: string;
  clock: number;
}

/** What the primary says that a replica is compared with. */
export interface Primary {
  positions: PrimaryPositions;
  /** The identifier of its cluster, which its replicas share; undefined before its first answer. */
  system: string | undefined;
  /** Its clock, in epoch seconds, less `performance.now()` in seconds. */
  clock: number;
}

export interface ReplicaSettings {
  slow: SlowLimits;
  pools: PoolSettings;
  lagSeconds: number;
  statements: () => Statements;
  primary: Primary;
  /** Called when the replica is used from now on, or, with the reason, no longer. */
  onChange: (name: string, reason: string | undefined) => void;
}

/**
 * One standby for reads. It is asked twice a second how far it has replayed the primary's log, on a connection of its
 * own and never on behalf of a request, and is used while what it has is not older than the limit. Its statements are
 * not repeated here: what fails is asked again on the primary.
 */
export class Replica {
  readonly #quick: QuickReads;
  readonly #pools: Record<'read' | 'slow' | 'audit', Pool>;
  readonly #cancellations = new Cancellations();
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>;
  #probe: postgres.Sql | undefined;
  /** When a statement was answered here last, by `performance.now()`. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** Whether the server said last that it is a standby, or has not said anything yet. */
  isStandby = true;
  /** Why it is not used; undefined while it is. */
  #reason: string | undefined = 'it has not answered yet';
  #reported: string | undefined = this.#reason;
  replayed: WalPosition = 0n;
  /** When it answered a poll last, by `performance.now()`. */
  #polledAt = Number.POSITIVE_INFINITY;
  /** The time up to which it has everything that the primary had then, by `performance.now()`. */
  #upTo = Number.NEGATIVE_INFINITY;
  /** The last such time that was known; at first the start. */
  #knownUpTo = performance.now();
  /** How its statements ended: answered here, or asked again on the primary, as nothing was found or it failed. */
  readonly counts = { answered: 0, missing: 0, failed: 0 };

  constructor(
    private readonly connection: Connection,
    /** Its host and port. */
    readonly name: string,
    private readonly settings: ReplicaSettings,
  ) {
    const options = optionsOf(connection, { ...settings, durable: true, direct: connection });
    // Drizzle sets how a client converts values.
    const opened = (given: Connection) => {
      const client = openClient(given);
      drizzle(client);
      return client;
    };
    const read = { ...options.read, connection: { ...options.read.connection, ...quickLimits } };
    this.#pools = {
      read: new Pool('read', () => opened(read), quickLimits.statement_timeout),
      slow: new Pool('slow', () => opened(options.slow), settings.slow.seconds * 1_000),
      audit: new Pool('audit', () => opened(options.audit), settings.pools.statementMilliseconds),
    };
    this.#quick = new QuickReads(this.#pools.read, (attempt) => this.#attempted(attempt), settings.statements);
    this.#watching = this.#watch();
  }

  /** How old at most what it has is, in seconds. It grows while the replica or the primary does not answer. */
  get lagSeconds(): number {
    return (performance.now() - this.#knownUpTo) / 1_000;
  }

  /** The bytes of the log that the primary had at its last answer, and the replica had not replayed at its own. */
  get lagBytes(): number {
    const { latest } = this.settings.primary.positions;
    return latest ? Math.max(Number(lsnOf(latest.flushed) - lsnOf(this.replayed)), 0) : 0;
  }

  get #isOld(): boolean {
    return this.#upTo < performance.now() - this.settings.lagSeconds * 1_000;
  }

  /** Whether it may answer now, for a request that needs this position. */
  serves(required: WalPosition): boolean {
    if (this.#isOld && this.#reason === undefined) this.#reason = 'it lags';
    return this.#reason === undefined && this.replayed >= required;
  }

  /** Call this when a statement was answered here; says whether it found anything. */
  answered(any: boolean): void {
    this.#answeredAt = performance.now();
    if (any) this.counts.answered++;
    else this.counts.missing++;
  }

  quick(read: Read): Promise<Found> {
    return this.#quick.read(read);
  }

  /** Runs an expensive read. One that takes too long here would do so on the primary, too. */
  async slow(asked: ReadClass, read: Read): Promise<Found> {
    const { seconds } = this.settings.slow;
    const began = performance.now();
    try {
      const rows = await this.#cancellations.guard<RawRows>(read.budget, (run) => run(sent(this.#pools.slow, read)));
      return { rows, columns: rows.columns.map(({ name }) => name) };
    } catch (error) {
      const whole = performance.now() - began >= seconds * 1_000;
      if (whole && causeOf(error).code === queryCanceled) throw tooSlow(seconds, asked);
      throw error;
    }
  }

  /** The connection for audit queries. */
  get audits(): PostgresJsDatabase {
    return drizzle(this.#pools.audit.client);
  }

  /** Call this when a statement failed here. After a lost connection the replica is used again when it has answered. */
  failed(error: unknown): void {
    this.counts.failed++;
    if (outageOf(error) === 'lost' && this.#reason === undefined) this.#report('a connection was lost');
  }

  renew(): void {
    this.#quick.renew();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([
      this.#watching,
      this.#probe?.end({ timeout: 1 }),
      ...Object.values(this.#pools).map((pool) => pool.client.end({ timeout: 5 })),
    ]);
  }

  /** Runs a quick statement. One that waited while the replica was lost would wait for new connections to it. */
  async #attempted<T>(attempt: (track: TrackQuery) => Promise<T>): Promise<T> {
    if (this.#reason !== undefined)
      throw Object.assign(new Error(`The replica is not used: ${this.#reason}.`), { code: 'CONNECTION_UNAVAILABLE' });
    return movedRows(await attempt(untracked));
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    for (let pause = pollMilliseconds; !signal.aborted; ) {
      const began = performance.now();
      try {
        await this.#poll();
        pause = pollMilliseconds;
      } catch (error) {
        if (signal.aborted) return;
        this.#silent(causeOf(error).message, began);
        pause = Math.min(pause * 2, pauseMillisecondsMax);
      }
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  async #poll(): Promise<void> {
    this.#probe ??= single(this.connection, 'tidegate probe');
    const before = performance.now() / 1_000;
    const [row] = await inTime(this.#probe.unsafe<[Answer]>(readClass), answerMilliseconds);
    const after = performance.now() / 1_000;
    const { system, clock, positions } = this.settings.primary;
    // Nothing can be compared before the first answer of the primary.
    if (system === undefined) return;
    if (row.system !== system) return this.#report('it belongs to another cluster');
    this.isStandby = row.standby;
    if (!row.standby || row.replayed === null) return this.#report('it is no standby');
    const { latest } = positions;
    // A replica cannot have replayed what the primary does not have some time later.
    const ahead = latest !== undefined && latest.at > this.#polledAt && this.replayed > latest.flushed;
    // The difference of the two clocks, less what the answer took.
    const skew = Math.max(row.clock - after - clock, clock + before - row.clock);
    this.replayed = walPositionOf(row.timeline, row.replayed);
    this.#polledAt = after * 1_000;
    this.#upTo = positions.upTo(this.replayed);
    if (Number.isFinite(this.#upTo)) this.#knownUpTo = this.#upTo;
    // What it has of an older timeline may go beyond the promotion, where the primary has something else.
    if (latest !== undefined && timelineOf(this.replayed) !== timelineOf(latest.flushed))
      return this.#report('it is not known to follow the timeline of the primary');
    if (ahead) return this.#report('it has another history');
    if (skew > this.settings.lagSeconds) return this.#report('its clock differs');
    return this.#report(this.#isOld ? 'it lags' : undefined);
  }

  #silent(reason: string, began: number): void {
    this.#report(reason);
    this.#probe?.end({ timeout: 0 }).catch(() => {});
    this.#probe = undefined;
    // It answers other statements, so it is busy, and the poll alone was late.
    if (this.#answeredAt > began) return;
    // The requests whose statements run here ask the primary as soon as the connections are gone.
    for (const pool of Object.values(this.#pools)) pool.replace(0);
  }

  #report(reason: string | undefined): void {
    this.#reason = reason;
    if (reason === this.#reported) return;
    this.#reported = reason;
    this.settings.onChange(this.name, reason);
  }
}

const untracked: TrackQuery = (query) => query;
