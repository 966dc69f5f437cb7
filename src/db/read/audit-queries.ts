import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import type { Connections } from '../connect/connections.js';
import { busy } from '../connect/deadline.js';
import type { Failures } from '../connect/failures.js';
import { observed, type StatementObserver } from '../connect/observer.js';
import { causeOf, outageOf, queryCanceled } from '../connect/outage.js';
import { queueRefusal } from '../../limits/queue-refusal.js';
import type { Replicas } from '../replicas/replicas.js';
import type { Statements } from './statements.js';

/** A Drizzle statement that runs once. */
export type AuditStatement = { toSQL(): { sql: string }; execute(): Promise<unknown> };

/** The most audit queries that run or wait at once. They take long, so further ones get 503. */
const auditQueriesMax = 4;

/**
 * The queries that read the complete ledger. They run on a connection of their own, one query at a time, so that they
 * may take long without blocking requests: on a replica if there is one, and otherwise, or when they fail there, on the
 * primary.
 */
export class AuditQueries {
  /** The queries that run or wait now. */
  inFlight = 0;

  constructor(
    private readonly connections: Connections,
    private readonly statements: Statements,
    private readonly failures: Failures,
    private readonly replicas: Replicas | undefined,
    private readonly observers: readonly StatementObserver[],
  ) {}

  /** With `present`, a query sees what is committed now, which a replica may not have yet. */
  async run<T>(
    name: string,
    build: (db: PostgresJsDatabase) => AuditStatement,
    { present = false } = {},
  ): Promise<T[]> {
    const { audit, availability } = this.connections;
    const query = build(drizzle(audit.client));
    this.statements.texts.set(name, query.toSQL().sql);
    if (this.inFlight >= auditQueriesMax) throw queueRefusal('audit_reads');
    if (availability.away) throw busy();
    this.inFlight++;
    try {
      return await observed(
        this.observers,
        { name, pool: 'audit' },
        async () => (present ? undefined : await this.#onReplica<T>(build)) ?? ((await query.execute()) as T[]),
      );
    } catch (error) {
      if (outageOf(error) === 'lost') void availability.check();
      // Drizzle's error contains the statement and its parameters; its cause is PostgreSQL's error.
      throw this.failures.reported(causeOf(error));
    } finally {
      this.inFlight--;
    }
  }

  /**
   * The rows that a replica finds; undefined when the primary has to be asked, such as when it had to cancel the query.
   */
  async #onReplica<T>(build: (db: PostgresJsDatabase) => AuditStatement): Promise<T[] | undefined> {
    const replica = this.replicas?.choose(0n);
    if (!replica) return undefined;
    try {
      const rows = (await build(replica.audits).execute()) as T[];
      replica.answered(true);
      return rows;
    } catch (error) {
      // It took too long, and would do so on the primary.
      if (causeOf(error).code === queryCanceled) throw error;
      replica.failed(causeOf(error));
      return undefined;
    }
  }
}
