import { queryCanceled } from './outage.js';
import type { RequestBudget } from '../../limits/budget.js';

/** Properties that the driver's queries have, and that the driver's types do not declare. */
interface DriverQuery {
  /** Whether PostgreSQL is executing the query: it is the first one on its connection that has no answer yet. */
  active: boolean;
  state: { pid: number; secret: number } | null;
  canceller: ((query: unknown) => Promise<void>) | null;
}

type Run = <T>(query: Promise<any>) => Promise<T>;

/** How often a read is repeated after a cancellation that was meant for another query on the same connection. */
const repeatsMax = 3;
const pollMilliseconds = 20;
/** The pauses between cancellations of one query, which are sent until it has an answer. */
const againMilliseconds = { first: 100, most: 1_000 };

/**
 * The cancellations of one pool of pipelined connections. PostgreSQL cancels the statement that a connection is
 * executing when the cancellation arrives, which may be the one after the intended statement. So a read that is
 * cancelled while its own request continues is repeated. Writes are never cancelled, because their outcome would be
 * unknown. The time limit of a statement bounds them, and a client that disconnected finds the outcome by its
 * Idempotency-Key.
 */
export class Cancellations {
  #sent = 0;

  /**
   * Runs a read of a request. When the request ends first, requests its cancellation and throws the request's reason.
   */
  async guard<T>(budget: RequestBudget | undefined, read: (run: Run) => Promise<T>): Promise<T> {
    const run: Run = (query) => (budget ? this.#cancelledWith(budget, query) : query);
    for (let repeat = 0; ; repeat++) {
      if (budget?.ended) throw budget.ended;
      const before = this.#sent;
      try {
        return await read(run);
      } catch (error) {
        if ((error as { code?: string }).code !== queryCanceled) throw error;
        if (budget?.ended) throw budget.ended;
        // If this pool sent no cancellation, the time limit of the statement ended it.
        if (this.#sent === before || repeat >= repeatsMax) throw error;
      }
    }
  }

  async #cancelledWith<T>(budget: RequestBudget, query: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const forget = budget.onEnd(() => {
      let again = againMilliseconds.first;
      const poll = () => {
        const sent = this.#cancel(query as Promise<T> & DriverQuery);
        timer = setTimeout(poll, sent ? again : pollMilliseconds);
        if (sent) again = Math.min(again * 2, againMilliseconds.most);
      };
      poll();
    });
    try {
      return await query;
    } finally {
      forget();
      clearTimeout(timer);
    }
  }

  /**
   * Cancels a query that PostgreSQL is executing. Returns false when PostgreSQL does not execute it yet. The code must
   * not call the driver's own `cancel` for a query that waits behind another on its connection: the driver would remove
   * the query from its list although PostgreSQL has it already, and each later query would get the rows of the one
   * before.
   */
  #cancel(query: DriverQuery): boolean {
    if (!query.active || !query.state || !query.canceller) return false;
    this.#sent++;
    // A cancellation that arrives before PostgreSQL has begun the statement is lost, so it is sent again; and the time
    // limit of the statement ends it in any case.
    query.canceller(query).catch(() => {});
    return true;
  }
}
