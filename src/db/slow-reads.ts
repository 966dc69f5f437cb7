import type { RequestBudget } from '../request/budget.js';
import type { DomainError } from '../request/problems.js';
import { Turns } from '../request/turns.js';
import { Cancellations } from './cancellation.js';
import type { Connections, Note } from './connections.js';
import type { Failures } from './failures.js';
import { causeOf } from './outage.js';
import { slowOfTenantMax, slowWaiting, type TenantQuestion, tooSlow } from './slow-questions.js';

const queryCanceled = '57014';

/** Sends a query of a request, so that the query ends with the request. */
export type Run = Parameters<Parameters<Cancellations['guard']>[1]>[0];

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
    private readonly limits: { connections: number; seconds: number },
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

  /** Runs the statement of a slow question. Its request gives back the turn that it has among all requests. */
  async read<T>(
    question: TenantQuestion,
    budget: RequestBudget | undefined,
    execute: (run: Run) => Promise<T[]>,
  ): Promise<T[]> {
    if (budget?.ended) throw budget.ended;
    budget?.rest();
    const ended =
      budget && ((leave: (reason: DomainError) => void) => budget.onEnd(() => budget.ended && leave(budget.ended)));
    return this.#turns.during(question.tenant, () => this.#read(question, budget, execute), ended);
  }

  async #read<T>(
    question: TenantQuestion,
    budget: RequestBudget | undefined,
    execute: (run: Run) => Promise<T[]>,
  ): Promise<T[]> {
    const attempt = (note: Note) => this.#cancellations.guard(budget, (run) => execute((query) => run(note(query))));
    try {
      return await this.connections.retried(this.connections.slow, attempt);
    } catch (error) {
      if (causeOf(error).code === queryCanceled) throw tooSlow(this.limits.seconds, question);
      throw this.failures.told(error);
    }
  }
}
