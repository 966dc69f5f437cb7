import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../connect/driver/connection.js';
import type { Pool } from '../connect/connections.js';
import type { PoolSettings, SlowLimits } from '../connect/database-settings.js';
import { within } from '../connect/deadline.js';
import { OwnWrites } from './own-writes.js';
import { answerMilliseconds, pollMilliseconds, type Primary, Replica } from './replica.js';
import { inTime } from '../connect/driver/servers.js';
import type { Statements } from '../read/statements.js';
import { PrimaryPositions, timelineOfFile, type WalPosition, walPositionOf } from './wal-positions.js';

/** How long the answer of a write waits for the position of its commit. */
const positionMilliseconds = 250;
/** How long no second search for the primary begins because of a token that the first one did not explain. */
const searchMilliseconds = 250;

const readClass = `
  select pg_current_wal_flush_lsn()::text as flushed, pg_current_wal_insert_lsn()::text as inserted,
    pg_walfile_name(pg_current_wal_insert_lsn()) as file,
    (select system_identifier::text from pg_control_system()) as system,
    extract(epoch from clock_timestamp())::float8 as clock,
    exists (select from pg_extension where extname = 'citus') as distributed,
    current_setting('transaction_read_only') = 'on' as read_only`;

// The commits of asynchronous sessions are inserted before they are flushed, so the position of a commit is this one.
const present = `
  select pg_current_wal_insert_lsn()::text as inserted, pg_walfile_name(pg_current_wal_insert_lsn()) as file`;

interface PrimaryRow {
  flushed: string;
  inserted: string;
  /** The name of a file of its log, which begins with its timeline. */
  file: string;
  system: string;
  clock: number;
  distributed: boolean;
  read_only: boolean;
}

/** The state of a replica, for metrics. */
export interface ReplicaState {
  name: string;
  /** Undefined for a server that is no standby, such as the primary itself. */
  lag: Record<'seconds' | 'bytes', number> | undefined;
  counts: Readonly<Record<'answered' | 'missing' | 'failed', number>>;
}

/** The standbys that answer reads which may be some seconds old, and what the primary says about its log. */
export class Replicas {
  readonly ownWrites: OwnWrites;
  readonly #replicas: Replica[];
  readonly #primary: Primary;
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>;
  #distributed = false;
  #turn = 0;
  #searching: Promise<unknown> | undefined;
  #searchedAt = Number.NEGATIVE_INFINITY;
  /** Statements that a replica may answer, and that none had the data for. */
  onPrimary = 0;

  constructor(
    connections: readonly Connection[],
    /** The connections to the primary for quick reads. */
    private readonly reader: Pool,
    private readonly on: {
      /** Looks which server is the primary now. */
      search(): Promise<unknown>;
      /** Called when the primary has answered a poll: it is available, also while replicas answer all reads. */
      answer(): void;
      /** Called when a replica is used from now on, or, with the reason, no longer. */
      change(name: string, reason: string | undefined): void;
    },
    {
      lagSeconds,
      ...settings
    }: { lagSeconds: number; slow: SlowLimits; pools: PoolSettings; statements: () => Statements },
  ) {
    const positions = new PrimaryPositions(lagSeconds * 2_000);
    this.#primary = { positions, system: undefined, clock: 0 };
    this.ownWrites = new OwnWrites(positions, () => this.#present());
    this.#replicas = connections.map(
      (connection) =>
        new Replica(connection, nameOf(connection), {
          ...settings,
          lagSeconds,
          primary: this.#primary,
          onChange: (name, reason) => on.change(name, reason),
        }),
    );
    this.#watching = this.#watch();
  }

  /** A replica that has replayed a position and is not too old: one after the other. */
  choose(required: WalPosition): Replica | undefined {
    // The position of a coordinator says nothing about the writes on its workers.
    if (this.#distributed) return undefined;
    for (let i = 0; i < this.#replicas.length; i++) {
      const replica = this.#replicas[this.#turn++ % this.#replicas.length]!;
      if (replica.serves(required)) return replica;
    }
    return undefined;
  }

  /**
   * Makes sure that the primary which this process uses has a position that a client has seen. If it does not, another
   * server was promoted, and a write through another gateway was acknowledged there.
   */
  async reach(position: WalPosition): Promise<void> {
    const { latest } = this.#primary.positions;
    if (latest && latest.inserted >= position) return;
    const present = await this.ownWrites.present();
    if (present !== undefined && present >= position) return;
    if (performance.now() < this.#searchedAt + searchMilliseconds) return;
    this.#searching ??= this.on.search().finally(() => {
      this.#searching = undefined;
      this.#searchedAt = performance.now();
    });
    await this.#searching.catch(() => {});
  }

  get states(): ReplicaState[] {
    return this.#replicas.map(({ name, isStandby, lagSeconds, lagBytes, counts }) => ({
      name,
      lag: isStandby ? { seconds: lagSeconds, bytes: lagBytes } : undefined,
      counts,
    }));
  }

  renew(): void {
    for (const replica of this.#replicas) replica.renew();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#watching, ...this.#replicas.map((replica) => replica.close())]);
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      // Without answers of the primary the replicas grow old, and are not used.
      await this.#poll().catch(() => {});
      await sleep(pollMilliseconds, undefined, { signal }).catch(() => {});
    }
  }

  async #poll(): Promise<void> {
    const at = performance.now();
    const [row] = await inTime(this.reader.client.unsafe<PrimaryRow[]>(readClass), answerMilliseconds);
    this.on.answer();
    const { flushed, inserted, file, system, clock, distributed, read_only: readOnly } = row!;
    // A primary that is being replaced: reads must not stay there when another server accepts writes.
    if (readOnly) await this.on.search();
    const timeline = timelineOfFile(file);
    this.#primary.positions.add({
      at,
      flushed: walPositionOf(timeline, flushed),
      inserted: walPositionOf(timeline, inserted),
    });
    Object.assign(this.#primary, { system, clock: clock - (at + performance.now()) / 2_000 });
    if (distributed && !this.#distributed) this.on.change('all replicas', 'the database is distributed');
    this.#distributed = distributed;
  }

  async #present(): Promise<WalPosition> {
    const asked = this.reader.client.unsafe<[Pick<PrimaryRow, 'inserted' | 'file'>]>(present, [], { prepare: true });
    const [{ inserted, file }] = await within(asked, performance.now() + positionMilliseconds, () => {});
    return walPositionOf(timelineOfFile(file), inserted);
  }
}

/** The host and port of a connection, as `replicasOf` makes them, or the path of its socket. */
function nameOf(connection: Connection): string {
  const { path, host, port } = connection as { path?: string; host?: unknown; port?: unknown };
  return path ?? `${String(host)}:${String(port)}`;
}
