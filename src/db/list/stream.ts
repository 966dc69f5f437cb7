import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import type { Connections } from '../connect/connections.js';
import { busy } from '../connect/deadline.js';
import type { Failures } from '../connect/failures.js';
import { observed, type StatementObserver } from '../connect/observer.js';
import { causeOf, outageOf, queryCanceled } from '../connect/outage.js';
import type { Statements } from '../read/statements.js';
import { DomainError, problem } from '../../errors/problems.js';
import type { Preparable } from '../read/row-mapper.js';

/** How many rows are in memory at once. */
const rowsAtOnce = 500;
/** The pause between two cancellations of a read. */
const cancelMilliseconds = 50;

/** Properties that the driver's queries have, and that the driver's types do not declare. */
interface DriverQuery {
  /** Whether a connection has the query. */
  active: boolean;
  state: object | null;
  canceller: (query: unknown) => Promise<void>;
}

/** The statement that reads a whole list of a caller, in its order: the one of its pages, without their limit. */
export interface ListStatement {
  name: string;
  build: (db: PostgresJsDatabase) => Preparable;
  values: Record<string, unknown>;
}

/**
 * Reads whole lists, some rows at a time. A list is one statement, so that all its rows are of one moment, and it runs
 * on connections of their own for minutes at most. It is not repeated: what is interrupted begins again from the
 * beginning.
 */
export class ListStreams {
  constructor(
    private readonly connections: Connections,
    private readonly statements: () => Statements,
    private readonly failures: Failures,
    private readonly observers: readonly StatementObserver[],
  ) {}

  /**
   * Calls `take` with the rows, and waits for it before the next ones are read. An error that it throws ends the read.
   * When the signal is aborted, PostgreSQL cancels the statement, and the signal's reason is thrown.
   */
  read(
    { name, build, values }: ListStatement,
    take: (rows: Record<string, unknown>[]) => Promise<void>,
    signal = new AbortController().signal,
  ) {
    const { bulk, availability } = this.connections;
    if (availability.away) throw busy();
    const statement = this.statements().of(name, build);
    // The driver's types know no `unknown` values.
    const parameters = statement.valuesOf(values) as never[];
    const query = bulk.client.unsafe(statement.text, parameters, { prepare: false }).values();
    // The driver's types declare no cursor of rows that are arrays.
    const cursor = (query as unknown as postgres.PendingQuery<never>).cursor(rowsAtOnce) as AsyncIterable<unknown[][]>;
    const cancellable = query as unknown as DriverQuery;
    return observed(this.observers, { name: 'whole_list', pool: 'bulk' }, async () => {
      let taken: unknown;
      try {
        for await (const rows of rowsUntil(signal, cancellable, cursor)) {
          await take(rows.map((row) => statement.rowOf(row))).catch((error: unknown) => {
            taken = error;
            throw error;
          });
        }
      } catch (error) {
        if (taken !== undefined) throw taken;
        signal.throwIfAborted();
        if (causeOf(error).code === queryCanceled) throw tookTooLong();
        if (outageOf(error) === 'lost') void availability.check();
        throw this.failures.reported(causeOf(error));
      }
    });
  }
}

/** The rows of a cursor, until its signal is aborted. */
async function* rowsUntil(signal: AbortSignal, query: DriverQuery, cursor: AsyncIterable<unknown[][]>) {
  const rows = cursor[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await cancelledWith(signal, query, async () => rows.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await rows.return?.();
  }
}

/**
 * Waits for rows, and cancels their query when the signal is aborted, until the wait has ended: a cancellation that
 * arrives before the statement begins has no effect. The connection is not used again before the last cancellation has
 * arrived, which would otherwise end the next statement.
 */
async function cancelledWith<T>(signal: AbortSignal, query: DriverQuery, wait: () => Promise<T>): Promise<T> {
  let over = false;
  let cancelling: Promise<void> | undefined;
  const cancel = async () => {
    for (; !over; await sleep(cancelMilliseconds))
      if (query.active && query.state) await query.canceller(query).catch(() => {});
  };
  const onAbort = () => (cancelling = cancel());
  signal.addEventListener('abort', onAbort);
  try {
    return await wait();
  } finally {
    over = true;
    signal.removeEventListener('abort', onAbort);
    await cancelling;
  }
}

const tookTooLong = (): DomainError =>
  new DomainError(
    problem(
      'answer_too_large',
      undefined,
      'The list could not be read in 10 minutes. Export a part of it at a time, such as a range of `created`.',
    ),
  );
