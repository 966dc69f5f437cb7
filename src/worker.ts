import { isNull, sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import type { Database } from './db/database.js';
import { event, idempotency } from './event/table.js';
import { inquire } from './hosted/inquiry.js';
import { payerScope } from './hosted/session.js';
import { inquiryKind, job } from './job/table.js';
import { unsealed } from './ledger/table.js';
import { faultLine } from './log.js';
import { Refusal } from './problems.js';
import { transaction } from './transaction/table.js';

const pollMilliseconds = 250;
const batchMax = 50;
const inquiriesMax = 50;
const realmsMax = 100;
const numberedMax = 500;
const sealedMax = 1_000;
const sealMillisecondsMax = 500;
const sealEveryMilliseconds = 2_000;
const retentionSeconds = 48 * 3600;
const forgetEveryMilliseconds = 3_600_000;

interface Realm {
  tenant: string;
  live: boolean;
}

/** A tenant and mode with work that is due: for the database, for an acquirer, or for both. */
interface Due extends Realm {
  runs: boolean;
  asks: boolean;
}

/**
 * Does the work that is due: the sandbox's verifications, addresses to issue, answers to forget.
 * Any number of gateways may run one: a job is claimed with SKIP LOCKED and deleted by the statement
 * that does it. First it asks which tenants have work, then it works for one tenant and mode at a time.
 */
export class Worker {
  #running: Promise<void> | undefined;
  #stopping = false;
  #forgottenAt = 0;
  #sealedAt = 0;
  /** The questions under way, by tenant and mode. */
  readonly #asking = new Map<string, Promise<void>>();
  #wake: () => void = () => {};

  constructor(
    private readonly database: Database,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.#running = this.#run();
  }

  /** Ends after the job under way. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake();
    await this.#running;
    await Promise.all(this.#asking.values());
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      let more = false;
      try {
        more = await this.#work();
        await this.#forget();
      } catch (error) {
        // An outage is in the log once, and not once for each try.
        const away = error instanceof Refusal && error.status === 503;
        this.log[away ? 'debug' : 'warn'](faultLine(error), 'the worker will try again');
      }
      if (!more && !this.#stopping)
        await new Promise<void>((resume) => {
          const timer = setTimeout(resume, pollMilliseconds * (0.75 + Math.random() / 2));
          this.#wake = () => {
            clearTimeout(timer);
            resume();
          };
        });
    }
  }

  /**
   * One round over all tenants with work; whether any of them has more than a batch. The time is the statement's, since a
   * clock that moves under it could not bound the walk of an index: what is due later would all be read.
   */
  async #work(): Promise<boolean> {
    let more = false;
    const realms = await this.database.read<Due>(
      'realms_with_jobs',
      (db) =>
        db
          .select({
            tenant: job.tenantId,
            live: job.livemode,
            runs: sql<boolean>`bool_or(${job.kind} <> ${sql.raw(`'${inquiryKind}'`)})`,
            asks: sql<boolean>`bool_or(${job.kind} = ${sql.raw(`'${inquiryKind}'`)})`,
          })
          .from(job)
          .where(sql`${job.due} <= extract(epoch from statement_timestamp())::bigint`)
          .groupBy(job.tenantId, job.livemode)
          .limit(realmsMax),
      {},
    );
    for (const { tenant, live, runs, asks } of realms) {
      if (this.#stopping) return false;
      if (asks) this.#ask({ tenant, live });
      if (!runs) continue;
      const [row] = await this.database.call('run_jobs', [tenant, live, batchMax]);
      more ||= Number(row?.run_jobs) === batchMax;
    }
    more = (await this.#number()) || more;
    await this.#seal();
    return more;
  }

  /** Asks an acquirer, which may be slow: the work of the database does not wait for it. */
  #ask(realm: Realm): void {
    const key = `${realm.tenant} ${realm.live}`;
    if (this.#asking.has(key)) return;
    const onFault = (error: unknown) => this.log.warn(faultLine(error), 'an attempt will be asked about again');
    const asked = this.#inquire(realm, onFault)
      .catch(onFault)
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
  }

  async #inquire({ tenant, live }: Realm, onFault: (error: unknown) => void): Promise<void> {
    const args = { limit: inquiriesMax };
    const due = await this.database.write('claim_inquiries', tenant, live, null, args, transaction);
    await inquire(payerScope(this.database, { tenantId: tenant, livemode: live }), due, onFault);
  }

  /** Every few seconds, seals the postings that have no seal yet. */
  async #seal(): Promise<void> {
    if (Date.now() - this.#sealedAt < sealEveryMilliseconds) return;
    this.#sealedAt = Date.now();
    const realms = await this.database.read<Realm>(
      'realms_with_unsealed',
      (db) => db.selectDistinct({ tenant: unsealed.tenantId, live: unsealed.livemode }).from(unsealed).limit(realmsMax),
      {},
    );
    const until = Date.now() + sealMillisecondsMax;
    for (const realm of realms) {
      // Whoever cannot be sealed now holds up nobody else.
      await this.#sealAll(realm, until).catch((error) =>
        this.log.warn(faultLine(error), 'postings will be sealed later'),
      );
    }
  }

  /** A block at least, and more as long as there is time: jobs wait meanwhile. */
  async #sealAll({ tenant, live }: Realm, until: number): Promise<void> {
    do {
      const [row] = await this.database.call('seal_postings', [tenant, live, sealedMax]);
      if (Number(row?.seal_postings) < sealedMax) return;
    } while (Date.now() < until && !this.#stopping);
  }

  /** Numbers the events that have none; whether there may be more. */
  async #number(): Promise<boolean> {
    const realms = await this.database.read<Realm>(
      'realms_with_events',
      (db) =>
        db
          .selectDistinct({ tenant: event.tenantId, live: event.livemode })
          .from(event)
          .where(isNull(event.number))
          .limit(realmsMax),
      {},
    );
    let more = false;
    for (const { tenant, live } of realms) {
      const [row] = await this.database.call('number_events', [tenant, live, numberedMax]);
      more ||= Number(row?.number_events) === numberedMax;
    }
    return more;
  }

  /** Once an hour, forgets the idempotency keys that are older than what was promised. */
  async #forget(): Promise<void> {
    if (Date.now() - this.#forgottenAt < forgetEveryMilliseconds) return;
    this.#forgottenAt = Date.now();
    const before = sql.placeholder('before');
    const values = { before: Math.floor(Date.now() / 1000) - retentionSeconds };
    const realms = await this.database.read<Realm>(
      'realms_with_old_answers',
      (db) =>
        db
          .select({ tenant: idempotency.tenantId, live: idempotency.livemode })
          .from(idempotency)
          .where(sql`${idempotency.created} < ${before}`)
          .groupBy(idempotency.tenantId, idempotency.livemode),
      values,
    );
    for (const { tenant, live } of realms) await this.database.call('forget_answers', [tenant, live, values.before]);
  }
}
