import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { type Connection, single } from './driver/connection.js';
import type { TenantAndMode } from '../schema/tenant-and-mode.js';

/** The channel of PostgreSQL on which gateways notify each other that a tenant and mode has new numbered events. */
const channel = 'tidegate_events';

const probeMilliseconds = 5_000;
/** Beyond this time without a notification of its own probe, a gateway does not count on the connection. */
const silenceMilliseconds = 12_000;
const retryMilliseconds = 1_000;

/**
 * How gateways notify each other of new numbered events: by NOTIFY on the connections of the worker, and by one
 * connection that listens, which opens when the first stream needs it. A notification is a hint and no more: PgBouncer
 * and a distributed PostgreSQL may lose it, and the connection may die. So a gateway that listens sends itself a probe
 * every 5 s. When no probe arrives, `working` is false, and the connection is opened again.
 */
export class Hints {
  readonly #stop = new AbortController();
  readonly #own = `probe ${randomUUID()}`;
  #heardAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(
    private readonly connection: Connection,
    /** Calls `pg_notify` with a channel and a payload. */
    private readonly notify: (values: [string, string]) => Promise<unknown>,
    /** Called with the tenant and mode that has new events. */
    private readonly heard: (of: TenantAndMode) => void,
  ) {}

  /** Whether notifications arrive at present. */
  get working(): boolean {
    return performance.now() - this.#heardAt < silenceMilliseconds;
  }

  /** Notifies all gateways that a tenant and mode has new events. They find them without this hint, but later. */
  async send({ tenantId, livemode }: TenantAndMode): Promise<void> {
    await this.notify([channel, `${tenantId} ${livemode}`]);
  }

  /** Opens the connection; only the first call counts. */
  start(): void {
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#listen().catch(() => {});
      this.#heardAt = Number.NEGATIVE_INFINITY;
      await this.#pause(retryMilliseconds);
    }
  }

  /** Listens until the connection dies or is silent. */
  async #listen(): Promise<void> {
    const lost = new AbortController();
    const options = {
      ...this.connection,
      onnotify: (_: string, payload: string) => this.#receive(payload),
      onclose: () => lost.abort(),
    };
    const client: postgres.Sql = single(options, 'tidegate hints');
    const ended = AbortSignal.any([this.#stop.signal, lost.signal]);
    try {
      await client.unsafe(`listen ${channel}`);
      const since = performance.now();
      while (!ended.aborted) {
        await this.notify([channel, this.#own]).catch(() => {});
        await sleep(probeMilliseconds, undefined, { signal: ended });
        if (performance.now() - Math.max(this.#heardAt, since) > silenceMilliseconds) return;
      }
    } finally {
      await client.end({ timeout: 0 }).catch(() => {});
    }
  }

  #receive(payload: string): void {
    if (payload.startsWith('probe ')) {
      if (payload === this.#own) this.#heardAt = performance.now();
      return;
    }
    const [tenantId = '', livemode] = payload.split(' ');
    this.heard({ tenantId, livemode: livemode === 'true' });
  }

  #pause(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}
