import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import type { Connections } from './connections.js';
import { busy } from './deadline.js';
import type { Failures } from './failures.js';
import { observed, type StatementObserver } from './observer.js';
import { causeOf, outageOf, queryCanceled } from './outage.js';
import type { Statements } from './statements.js';
import { DomainError, problem } from '../request/problems.js';
import type { Preparable } from './row-mapper.js';

/** How many rows are in memory at once. */
const rowsAtOnce = 500;

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
   */
  read({ name, build, values }: ListStatement, take: (rows: Record<string, unknown>[]) => Promise<void>) {
    const { bulk, availability } = this.connections;
    if (availability.away) throw busy();
    const statement = this.statements().of(name, build);
    // The driver's types know no `unknown` values.
    const parameters = statement.valuesOf(values) as never[];
    const query = bulk.client.unsafe(statement.text, parameters, { prepare: false }).values();
    // The driver's types declare no cursor of rows that are arrays.
    const cursor = (query as unknown as postgres.PendingQuery<never>).cursor(rowsAtOnce) as AsyncIterable<unknown[][]>;
    return observed(this.observers, { name: 'whole_list', pool: 'bulk' }, async () => {
      let taken: unknown;
      try {
        for await (const rows of cursor) {
          await take(rows.map((row) => statement.rowOf(row))).catch((error: unknown) => {
            taken = error;
            throw error;
          });
        }
      } catch (error) {
        if (taken !== undefined) throw taken;
        if (causeOf(error).code === queryCanceled) throw tookTooLong();
        if (outageOf(error) === 'lost') void availability.check();
        throw this.failures.reported(causeOf(error));
      }
    });
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
