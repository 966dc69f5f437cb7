import type { DomainError } from '../request/problems.js';
import { Turns } from '../request/turns.js';
import { Cancellations } from './cancellation.js';
import type { Connections, TrackQuery } from './connections.js';
import type { SlowLimits } from './database-settings.js';
import type { Failures } from './failures.js';
import { type Found, type RawRows, type Read, sent } from './read-combiner.js';
import { causeOf } from './outage.js';
import type { TenantQuestion } from './read-source.js';
import { slowOfTenantMax, slowWaiting, tooSlow } from './slow-questions.js';

const queryCanceled = '57014';

/**
 * The slow questions of all tenants, on connections of their own. A tenant has at most two at a time; further ones wait
 * for a short time, and the free connection goes to the tenant that has the fewest.
 */
export class SlowReads {
  readonly #cancellations = new Cancellations();
  readonly #turns: Turns;

  constructor(
    private readonly connections: Connections,
    private readonly failures: Failures,
    private readonly limits: SlowLimits,
  ) {
    this.#turns = new Turns({
      slots: limits.connections,
      perKey: slowOfTenantMax,
      reserve: 0,
      ofKey: slowOfTenantMax + slowWaiting.ofTenant,
      all: limits.connections + slowWaiting.all,
      milliseconds: slowWaiting.milliseconds,
    });
  }

  /** The slow questions that run or wait now. */
  get visitors(): number {
    return this.#turns.visitors;
  }

  /** Runs the read of a slow question. Its request gives back the turn that it has among all requests. */
  async read(question: TenantQuestion, read: Read): Promise<Found> {
    const { budget } = read;
    if (budget?.ended) throw budget.ended;
    budget?.rest();
    const ended =
      budget && ((leave: (reason: DomainError) => void) => budget.onEnd(() => budget.ended && leave(budget.ended)));
    return this.#turns.during(question.tenant, () => this.#read(question, read), ended);
  }

  async #read(question: TenantQuestion, read: Read): Promise<Found> {
    const { slow } = this.connections;
    const attempt = (track: TrackQuery) =>
      this.#cancellations.guard<RawRows>(read.budget, (run) => run(track(sent(slow, read))));
    const elsewhere = await question.source?.find(read, (replica) => replica.slow(question, read));
    if (elsewhere) return elsewhere;
    try {
      const rows = await this.connections.retried(slow, attempt);
      return { rows, columns: rows.columns.map(({ name }) => name) };
    } catch (error) {
      if (causeOf(error).code === queryCanceled) throw tooSlow(this.limits.seconds, question);
      throw this.failures.reported(error);
    }
  }
}
