import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WorkerCalls } from '../../db/doors.js';
import { apiOf, operationOf } from './requests.js';

/** How often the entries are written. A gateway that is killed loses those that it has not written. */
const writeMilliseconds = 1_000;
/** The most entries that wait, of one tenant and mode and of all: what one gateway writes in a second at most. */
const waitingDefault = { ofTenant: 200, all: 2_000 };
const codesMax = 10;

/** A request that was answered, as it waits in memory. */
interface Waiting {
  id: string;
  /** When it arrived, by `performance.now()`. */
  at: number;
  api: string;
  operation: string;
  status: number;
  codes: string[];
  milliseconds: number;
  accountId: string;
  apiKeyId: string | null;
  sessionId: string | null;
  onBehalfOf: string | null;
}

/** The waiting entries of a tenant in one mode. */
interface Batch {
  tenantId: string;
  livemode: boolean;
  entries: Waiting[];
}

/**
 * Collects the requests of accounts in memory and writes them in batches, one call for a tenant and mode, on the
 * connections of the worker. No request waits for it. Entries beyond the bounds, and those that cannot be written, are
 * dropped and counted.
 */
export class RequestLogWriter {
  #batches = new Map<string, Batch>();
  #count = 0;
  #writing: Promise<void> | undefined;
  /** How many entries were dropped since the start. */
  dropped = 0;

  constructor(
    private readonly database: Pick<WorkerCalls, 'work'>,
    private readonly waiting = waitingDefault,
  ) {}

  /** Logs the answered requests of both APIs until the application closes. */
  addTo(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      this.#addAnswered(request, reply.statusCode, reply.elapsedTime);
      done();
    });
    const timer = setInterval(() => void this.write(), writeMilliseconds);
    timer.unref();
    app.addHook('onClose', async () => {
      clearInterval(timer);
      await this.#writing;
      await this.write();
    });
  }

  #addAnswered(request: FastifyRequest, status: number, took: number): void {
    const { context, budget } = request;
    if (!context || !budget) return;
    const api = apiOf(request);
    if (api !== 'graphql' && api !== 'rest') return;
    const { codes } = budget.report;
    const { tenantId, livemode, session, keyId, accountId, actingAccountId } = context.caller;
    // The pages of the dashboard ask every few seconds: their reads would hide what the account does.
    const ofDashboard = session && request.headers.authorization === undefined;
    if (ofDashboard && context.envelope === null && status < 400 && codes.length === 0) return;
    this.add(tenantId, livemode, {
      id: request.id,
      at: performance.now() - took,
      api,
      operation: operationOf(request),
      status,
      codes,
      milliseconds: Math.round(took),
      accountId,
      apiKeyId: keyId,
      sessionId: session?.id ?? null,
      onBehalfOf: actingAccountId === accountId ? null : actingAccountId,
    });
  }

  /** Adds an answered request of a tenant and mode, or drops it. */
  add(tenantId: string, livemode: boolean, entry: Waiting): void {
    const name = livemode ? `${tenantId} live` : tenantId;
    let batch = this.#batches.get(name);
    if (!batch) this.#batches.set(name, (batch = { tenantId, livemode, entries: [] }));
    if (batch.entries.length >= this.waiting.ofTenant || this.#count >= this.waiting.all) {
      this.dropped++;
      return;
    }
    this.#count++;
    batch.entries.push(entry);
  }

  /** Writes the waiting entries, unless the previous ones are still being written. */
  write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const batches = this.#batches;
    this.#batches = new Map();
    this.#count = 0;
    for (const { tenantId, livemode, entries } of batches.values()) {
      if (entries.length === 0) continue;
      const now = performance.now();
      const stored = entries.map(({ at, codes, ...entry }) => ({
        age: Math.round(now - at) / 1_000,
        codes: [...new Set(codes)].slice(0, codesMax),
        outcome: outcomeOf(entry.status, codes),
        ...entry,
      }));
      await this.database.work('store_requests', [tenantId, livemode, JSON.stringify(stored)]).catch(() => {
        this.dropped += entries.length;
      });
    }
  }
}

/** Whether a request failed because of the service, or was refused, at least in part. */
function outcomeOf(status: number, codes: readonly string[]): string {
  if (status >= 500 || codes.includes('service_fault') || codes.includes('service_unavailable')) return 'failed';
  return status >= 400 || codes.length > 0 ? 'refused' : 'succeeded';
}
