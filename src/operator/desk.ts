import type { Database } from '../db/database.js';
import type { ArgumentsOf, NoOthers, TableOf, WriteEnvelope, WriteFunction } from '../db/write-arguments.js';
import { randomUUID } from 'node:crypto';
import { eq, getTableName, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { GraphQLSchema } from 'graphql';
import { type AccountRow, account } from '../resources/account/table.js';
import { type NewKey, newKey } from '../auth/api-keys.js';
import { type CheckoutTerms, checkoutTermsDefault } from '../resources/checkout/terms.js';
import { Context } from '../operation/context.js';
import { Scope } from '../db/scope.js';
import { editions } from '../editions/editions.js';
import { acquirerOf, acquirers } from '../hosted/acquirer.js';
import { answeredBefore, fingerprints } from '../operation/idempotency.js';
import { type Problem, type ProblemCode, problem, DomainError } from '../request/problems.js';
import { newRequestId } from '../request/id.js';
import { Secrets } from '../db/secrets.js';
import { Related } from './related.js';
import type { Caller } from '../request/caller.js';
import type { TenantAndMode } from '../db/tenant-and-mode.js';

/** What the operator asks for that cannot be: one sentence for the command line, one problem for the graph. */
export class OperatorError extends DomainError {
  constructor(message: string, code: ProblemCode = 'parameter_invalid', field?: string) {
    super(problem(code, field, message));
  }
}

/** The request that the operator's writes belong to: its id stands in their events, and its key makes them safe to repeat. */
export interface Asking {
  requestId: string;
  idempotencyKey: string | undefined;
}

/**
 * What everything that the operator does stands on: reads over all tenants, writes under the request's key, and the
 * account's own operations.
 */
export class OperatorDesk {
  /** Whether an answer was given again from an idempotency key. */
  replayed = false;
  readonly secrets: Secrets;

  constructor(
    private readonly database: Database,
    private readonly schema: GraphQLSchema,
    pepper: string | Secrets,
    private readonly asking?: Asking,
    /** The terms of checkouts that an account makes by `as`. */
    private readonly checkoutTerms: CheckoutTerms = checkoutTermsDefault,
  ) {
    this.secrets = Secrets.of(pepper);
  }

  /** A read over tenants; the tests list these by name. */
  read<T>(...given: Parameters<Database['read']>): Promise<T[]> {
    return this.database.read<T>(...given);
  }

  /** A long read over all of the ledger. */
  auditQuery<T>(...given: Parameters<Database['auditQuery']>): Promise<T[]> {
    return this.database.auditQuery<T>(...given);
  }

  /** A function of the database that is no write of the API. */
  call(...given: Parameters<Database['call']>): ReturnType<Database['call']> {
    return this.database.call(...given);
  }

  /** A mutation of the public graph, done as the account itself would: what the product can do is not written twice. */
  async as<T>(row: AccountRow, mutation: string, input: object, key?: () => NewKey): Promise<T> {
    const field = this.schema.getMutationType()?.getFields()[mutation];
    if (!field?.resolve) throw new Error(`no mutation ${mutation}`);
    const caller: Caller = {
      ...operatorOf(row),
      kind: row.kind,
      accountId: row.id,
      actingAccountId: row.id,
      actingAccountKind: row.kind,
    };
    const context = new Context(
      caller,
      new Scope(caller, this.database),
      editions[row.edition],
      this.asking?.requestId ?? newRequestId(),
      // A name that no client can send: the account's own keys are another's.
      this.asking?.idempotencyKey && `§${this.asking.idempotencyKey}`,
      key ?? ((tenant, live) => newKey(this.secrets, tenant, live)),
      {
        terms: this.checkoutTerms,
        payable: (livemode) => acquirerOf(livemode, acquirers) !== undefined,
        urlOf: () => '',
      },
      this.secrets,
    );
    const answer = (await field.resolve(undefined, { input }, context, undefined as never)) as T;
    this.replayed = context.replayed;
    return answer;
  }

  /** The account with this id, in this mode where it exists in both. Operators know no tenants, so this asks all of them. */
  async account(id: string, livemode?: boolean, field = 'account.id'): Promise<AccountRow> {
    const rows = await this.byId('operator_account', account, id);
    const row = rows.find((r) => r.livemode === (livemode ?? (rows.length > 1 ? true : r.livemode)));
    if (!row) {
      const where = livemode === undefined ? '' : ` in ${livemode ? 'live' : 'test'} mode`;
      throw new OperatorError(`There is no such account${where}.`, 'resource_missing', field);
    }
    return row;
  }

  /** Everything there is in a tenant and mode, to be read. */
  scope(tenantAndMode: TenantAndMode): Scope {
    return new Scope(operatorOf(tenantAndMode), this.database);
  }

  /** What belongs to objects of whatever tenants, read together. */
  related(): Related {
    return new Related(this.database.read.bind(this.database));
  }

  /** The rows with this id, of whatever tenants and modes. */
  async byId<T extends PgTable & { id: PgColumn }>(name: string, table: T, id: string): Promise<T['$inferSelect'][]> {
    return this.database.read(
      name,
      (db) =>
        db
          .select()
          .from(table as PgTable)
          .where(eq(table.id, sql.placeholder('id'))),
      { id },
    );
  }

  /** One write, under the request's key or one of ours. A key that was answered before is answered again. */
  async write<F extends WriteFunction, T extends PgTable & TableOf<F>, A extends ArgumentsOf<F>>(
    fn: F,
    { tenantId, livemode }: TenantAndMode,
    operation: string,
    args: A & NoOthers<A, F>,
    table: T,
  ): Promise<T['$inferSelect']> {
    const { requestId = newRequestId(), idempotencyKey } = this.asking ?? {};
    const name = getTableName(table);
    const envelope: WriteEnvelope = {
      account: 'operator',
      key: idempotencyKey ?? randomUUID(),
      sent: idempotencyKey !== undefined,
      operation: `operator.${operation}`,
      ...fingerprints(this.secrets, name, args),
      requestId,
    };
    try {
      const [row] = await this.database.write(fn, tenantId, livemode, envelope, args, table);
      return row!;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      // A key of ours tells as well as a client's whether an earlier attempt of this very call was committed and its answer lost.
      const before = await this.database.answered(tenantId, livemode, envelope.account, envelope.key, table, name);
      const { requestId: answered, row } = answeredBefore(before, envelope, error);
      this.replayed = answered !== requestId;
      return row;
    }
  }
}

/** Refuses when there are problems. */
export function refuse(problems: Problem[]): void {
  if (problems.length > 0) throw new DomainError(...problems);
}

/** The operator as a caller of one tenant and mode: everything there is in reach. Its edition decides about operations, never about what is read. */
function operatorOf({ tenantId, livemode, edition = 1 }: TenantAndMode & { edition?: 1 | 2 }): Caller {
  return {
    tenantId,
    livemode,
    edition,
    kind: 'operator',
    permission: 'full',
    keyId: null,
    accountId: 'operator',
    actingAccountId: 'operator',
    actingAccountKind: 'platform',
  };
}
