import type postgres from 'postgres';
import type { RequestBudget } from '../request/budget.js';

/** What the driver knows of a query, and does not declare. */
interface DriverQuery {
  /** Whether PostgreSQL is executing it: of the queries on a connection, the first that has no answer yet. */
  active: boolean;
  state: { pid: number; secret: number } | null;
  canceller: ((query: unknown) => Promise<void>) | null;
}

type Pending = postgres.PendingQuery<any>;
type Run = <T>(query: Pending) => Promise<T>;

const queryCanceled = '57014';
/** How often a read is repeated whose connection was busy with it when a cancellation arrived that was meant for another. */
const repeatsMax = 3;
const lookMilliseconds = 20;

/**
 * The cancellations of one pool of pipelined connections. PostgreSQL cancels whatever a connection is executing when the
 * request arrives, which may be the statement after the one that is meant: a read that is cancelled while its own request
 * goes on is repeated. Writes are never cancelled: their outcome would be unknown, and they are bounded by the time limit
 * of a statement; a client that disconnected finds the outcome by its Idempotency-Key.
 */
export class Cancellations {
  #sent = 0;

  /** Runs a read of a request. When the request ends first, PostgreSQL is asked to cancel it, and the reason is thrown. */
  async guard<T>(budget: RequestBudget | undefined, read: (run: Run) => Promise<T>): Promise<T> {
    const run: Run = (query) => (budget ? this.#cancelledWith(budget, query) : (query as never));
    for (let repeat = 0; ; repeat++) {
      if (budget?.ended) throw budget.ended;
      const before = this.#sent;
      try {
        return await read(run);
      } catch (error) {
        if ((error as { code?: string }).code !== queryCanceled) throw error;
        if (budget?.ended) throw budget.ended;
        // Without a cancellation of ours it was the time limit of the statement.
        if (this.#sent === before || repeat >= repeatsMax) throw error;
      }
    }
  }

  async #cancelledWith<T>(budget: RequestBudget, query: Pending): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const forget = budget.onEnd(() => {
      const look = () => {
        if (!this.#cancel(query as never)) timer = setTimeout(look, lookMilliseconds);
      };
      look();
    });
    try {
      return (await query) as T;
    } finally {
      forget();
      clearTimeout(timer);
    }
  }

  /**
   * Cancels a query that PostgreSQL is executing; false when it is not, yet. The driver's own `cancel` must not be called
   * for a query that waits behind another on its connection: it then takes that query off its list without taking back
   * what was sent, and the rows of each query go to the one after it.
   */
  #cancel(query: DriverQuery): boolean {
    if (!query.active || !query.state || !query.canceller) return false;
    const { canceller } = query;
    query.canceller = null;
    this.#sent++;
    // A cancellation that does not arrive changes nothing: the time limit of the statement ends it.
    canceller(query).catch(() => {});
    return true;
  }
}
