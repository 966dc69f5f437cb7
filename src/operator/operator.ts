import type { CrossTenantReads, ScopeSource } from '../db/doors.js';
import type { ArgumentsOf, NoOthers, TableOf, WriteEnvelope, WriteFunction } from '../db/write/write-arguments.js';
import { randomUUID } from 'node:crypto';
import { eq, getTableName, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { GraphQLSchema } from 'graphql';
import { type AccountRow, account } from '../resources/account/table.js';
import { type NewToken, newKey } from '../auth/tokens.js';
import { checkoutTermsDefault } from '../config/defaults.js';
import type { CheckoutTerms } from '../resources/checkout/terms.js';
import { Context } from '../operation/context.js';
import { Scope } from '../db/scope.js';
import { editions } from '../editions/editions.js';
import { acquirerOf, acquirers } from '../hosted/acquirer.js';
import { submitsRefunds } from '../hosted/status-poll.js';
import { run } from '../operation/guard.js';
import { fingerprints, replayOf } from '../operation/idempotency.js';
import type { ProblemCode } from '../errors/catalogue.js';
import { type Problem, problem, DomainError } from '../errors/problems.js';
import { newRequestId } from '../request/id.js';
import { Secrets } from '../config/secrets.js';
import { Related } from './graph/related.js';
import type { Caller } from '../request/caller.js';
import type { TenantAndMode } from '../db/schema/tenant-and-mode.js';
import { modeOf } from '../request/mode.js';

/** A request of the operator that is refused: one sentence for the command line, one problem for the graph. */
export class OperatorError extends DomainError {
  constructor(message: string, code: ProblemCode = 'parameter_invalid', field?: string) {
    super(problem(code, field, message));
  }
}

/**
 * The request that the operator's writes belong to. Events carry its id, and its idempotency key makes the writes safe
 * to repeat.
 */
export interface OperatorRequest {
  requestId: string;
  idempotencyKey: string | undefined;
}

/**
 * The operations that all functions of the operator use: reads over all tenants, writes under the request's idempotency
 * key, and the mutations of an account.
 */
export class Operator {
  /** How many responses were replayed for an idempotency key. */
  replays = 0;
  /** The tenant and mode of the last write, for the audit log. */
  place: TenantAndMode | undefined;
  readonly secrets: Secrets;
  /** The id of the request, which events and the audit log have. */
  readonly requestId: string;

  constructor(
    private readonly database: CrossTenantReads & ScopeSource,
    /** The public schema, or what loads it: most commands run no mutation of it. */
    private readonly schema: GraphQLSchema | (() => Promise<GraphQLSchema>),
    pepper: string | Secrets,
    private readonly asking?: OperatorRequest,
    /** The terms of checkouts that `as` creates for an account. */
    private readonly checkoutTerms: CheckoutTerms = checkoutTermsDefault,
    /** The certificate of TLS_CERT_FILE, in PEM. */
    readonly certificate: () => Buffer | undefined = () => undefined,
  ) {
    this.secrets = Secrets.of(pepper);
    this.requestId = asking?.requestId ?? newRequestId();
  }

  /** The key under which the request may be repeated, if it has one. */
  get idempotencyKey(): string | undefined {
    return this.asking?.idempotencyKey;
  }

  /**
   * The same operator, whose writes are under another idempotency key. One that begins with § is never of a client.
   */
  under(idempotencyKey: `§${string}`): Operator {
    const asking = { requestId: this.requestId, idempotencyKey };
    return new Operator(this.database, this.schema, this.secrets, asking, this.checkoutTerms, this.certificate);
  }

  /** Reads over all tenants. The tests list these reads by name. */
  read<T>(...given: Parameters<CrossTenantReads['read']>): Promise<T[]> {
    return this.database.read<T>(...given);
  }

  /** Runs a long read over the whole ledger. */
  auditQuery<T>(...given: Parameters<CrossTenantReads['auditQuery']>): Promise<T[]> {
    return this.database.auditQuery<T>(...given);
  }

  /** What each host of the address of the database says of itself. */
  servers(): ReturnType<CrossTenantReads['readiness']['servers']> {
    return this.database.readiness.servers();
  }

  /** The standbys of DATABASE_REPLICA_URL, and how old their data may be. */
  get replicas(): CrossTenantReads['readiness']['replicas'] {
    return this.database.readiness.replicas;
  }

  /** The database, for the audit of a tenant and for what the worker measures. */
  get audited(): CrossTenantReads {
    return this.database;
  }

  /** Whether the tenants are distributed to nodes. */
  distributed(): Promise<boolean> {
    return this.database.crossTenant.distributed();
  }

  /** Calls a database function that is not a write of the API. */
  call(...given: Parameters<ScopeSource['call']>): ReturnType<ScopeSource['call']> {
    return this.database.call(...given);
  }

  /**
   * Runs a mutation of the public graph on behalf of an account, so that the operator needs no code of its own for it.
   */
  async as<T>(row: AccountRow, mutation: string, input: object, key?: () => NewToken): Promise<T> {
    const schema = typeof this.schema === 'function' ? await this.schema() : this.schema;
    const field = schema.getMutationType()?.getFields()[mutation];
    if (!field) throw new Error(`the graph has no mutation ${mutation}`);
    this.place = { tenantId: row.tenantId, livemode: row.livemode };
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
      this.requestId,
      // No client can send a key with this prefix, so it never collides with the idempotency keys of the account.
      this.asking?.idempotencyKey && `§${this.asking.idempotencyKey}`,
      key ?? ((tenantId, livemode) => newKey(this.secrets, tenantId, livemode)),
      {
        terms: this.checkoutTerms,
        payable: (livemode) => acquirerOf(livemode, acquirers) !== undefined,
        refundable: (livemode) => submitsRefunds(livemode, acquirers),
        urlOf: () => '',
      },
      this.secrets,
    );
    const answer = (await run(field, { input }, context)) as T;
    if (context.replayed) this.replays++;
    return answer;
  }

  /**
   * The account with this id, in this mode where it exists in both. Without a mode, a root is returned in live mode.
   * The operator does not know the tenant, so this searches all tenants.
   */
  async account(id: string, livemode?: boolean, field = 'account.id'): Promise<AccountRow> {
    const rows = await this.byId('operator_account', account, id);
    const row = rows.find((r) => r.livemode === (livemode ?? (rows.length > 1 ? true : r.livemode)));
    if (!row) {
      const where = livemode === undefined ? '' : ` in ${modeOf(livemode)} mode`;
      throw new OperatorError(`There is no such account${where}. Check the id.`, 'resource_missing', field);
    }
    return row;
  }

  /** A scope that reads every object of a tenant and mode. */
  scope(tenantAndMode: TenantAndMode): Scope {
    return new Scope(operatorOf(tenantAndMode), this.database);
  }

  /** Loaders for the related objects of objects of any tenants, which batch their reads. */
  related(): Related {
    return new Related(this.database.read.bind(this.database));
  }

  /** The rows with this id, of all tenants and modes. */
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

  /** Does one write under the request's idempotency key, or under a random one. Replays the response of a known key. */
  async write<F extends WriteFunction, T extends PgTable & TableOf<F>, A extends ArgumentsOf<F>>(
    fn: F,
    place: TenantAndMode,
    operation: string,
    args: A & NoOthers<A, F>,
    table: T,
  ): Promise<T['$inferSelect']> {
    const row = await this.writeOrNone(fn, place, operation, args, table);
    if (!row) throw new Error(`${fn} returned no row`);
    return row;
  }

  /** Like `write`, for a function that may return no row. A repeated call then runs again. */
  async writeOrNone<F extends WriteFunction, T extends PgTable & TableOf<F>, A extends ArgumentsOf<F>>(
    fn: F,
    { tenantId, livemode }: TenantAndMode,
    operation: string,
    args: A & NoOthers<A, F>,
    table: T,
  ): Promise<T['$inferSelect'] | undefined> {
    this.place = { tenantId, livemode };
    const { requestId } = this;
    const { idempotencyKey } = this.asking ?? {};
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
      return row;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      // With a random key too, a stored response shows that an earlier attempt of this call was committed and its
      // response was lost.
      const before = await this.database.storedResponse(
        tenantId,
        livemode,
        envelope.account,
        envelope.key,
        table,
        name,
      );
      const { requestId: firstRequestId, row } = replayOf(before, envelope, error);
      if (firstRequestId !== requestId) this.replays++;
      return row;
    }
  }
}

/** Refuses when there are problems. */
export function refuse(problems: Problem[]): void {
  if (problems.length > 0) throw new DomainError(...problems);
}

/**
 * The operator as a caller in one tenant and mode, who sees every object there. The edition decides about operations,
 * never about what is visible.
 */
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
