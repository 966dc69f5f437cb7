import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { GraphQLSchema } from 'graphql';
import { accountProblems, addressKeyOf, businessDetailsOf, initialSetting, nicknameOf } from '../account/creation.js';
import type { BusinessDetailsInput, TosAcceptanceInput } from '../account/inputs.js';
import { type AccountRow, type AccountStatus, type AccountSubType, account } from '../account/table.js';
import { type AccountSettingRow, accountSetting } from '../account-setting/table.js';
import { lastFour } from '../address/resolver.js';
import { type AddressRow, address, type BankAccountHash } from '../address/table.js';
import { type Caller, type NewKey, newKey } from '../caller.js';
import { checkoutTermsDefault } from '../checkout/terms.js';
import { testClock } from '../clock/table.js';
import { Context } from '../context.js';
import type { Call, Database } from '../db/database.js';
import type { Standing } from '../db/reach.js';
import { Scope } from '../db/scope.js';
import { bankNotice, type DepositRow, deposit } from '../deposit/table.js';
import { editions } from '../editions/editions.js';
import { checkFiles } from '../file/reference.js';
import { type FileRow, file } from '../file/table.js';
import { job } from '../job/table.js';
import { type ApiKeyRow, apiKey } from '../key/table.js';
import { posting } from '../ledger/table.js';
import { type PayoutRow, payout, rate } from '../payout/table.js';
import { type PersonRow, person } from '../person/table.js';
import { type Problem, Refusal } from '../problems.js';
import { newRequestId } from '../request-id.js';

/** What the operator asks for that cannot be; told on the command line. */
export class OperatorError extends Error {}

/** What a bank tells about a transfer, by its own reference. */
export interface BankNotice {
  reference: string;
  event: 'received' | 'reversed';
  addressId: string;
  amount: bigint;
  currency: string;
  fromAccountId?: string | undefined;
  paymentMethod?: string | undefined;
  statementDescriptor?: string | undefined;
}

/** A promise of the ledger that does not hold. */
export interface Violation {
  tenant: string | null;
  livemode: boolean | null;
  rule: string;
  what: string;
}

/** A root to be created, in both modes. */
export interface NewRoot {
  type: 'platform' | 'user';
  edition: 1 | 2;
  subType?: AccountSubType | undefined;
  nickname?: string | undefined;
  businessDetails: BusinessDetailsInput;
  /** Given by the demo, whose tenants and keys derive from the pepper. */
  tenantId?: string;
  key?: (livemode: boolean) => NewKey;
}

/** An account with what a verification looks at. */
export interface Verification {
  account: AccountRow;
  persons: PersonRow[];
  files: FileRow[];
}

const jobsMax = 200;
const rootKinds: readonly string[] = ['platform', 'direct_user'];

/** What the operator of the service may do: create roots, decide about accounts, record what banks have issued. */
export class Operator {
  constructor(
    private readonly database: Database,
    private readonly schema: GraphQLSchema,
    private readonly pepper: string,
  ) {}

  /** Creates a platform or direct user in both modes, with one key in each. Spec: What the service does, 5. */
  async createRoot({ type, edition: number, subType, nickname, businessDetails, tenantId, key }: NewRoot) {
    const edition = editions[number];
    if (subType && !(type === 'platform' && edition.subTypes.includes(subType)))
      throw new OperatorError(`--sub-type ${subType} is for platforms of Edition 2.`);
    refuse(accountProblems({ nickname }));
    const kind = type === 'platform' ? 'platform' : 'direct_user';
    const tenant = tenantId ?? (await this.#newTenant());
    const make = key ?? ((livemode: boolean) => newKey(this.pepper, tenant, livemode));
    const keys = { test: make(false), live: make(true) };
    const [row] = await this.database.write(
      'create_root',
      tenant,
      false,
      call('operator.createRoot'),
      {
        kind,
        edition: number,
        subType: subType ?? null,
        addressKey: addressKeyOf(kind, null, edition),
        onRootList: true,
        nickname: nickname ?? null,
        businessDetails,
        setting: initialSetting(kind, subType ?? null, edition),
        keys: [
          { livemode: false, permission: 'full', digest: keys.test.digest, prefix: keys.test.prefix },
          { livemode: true, permission: 'full', digest: keys.live.digest, prefix: keys.live.prefix },
        ],
      },
      account,
    );
    return { account: row!, keys: { test: keys.test.secret, live: keys.live.secret } };
  }

  /** A mutation of the public graph, done as the account itself would: what the product can do is not written twice. */
  async as<T>(row: AccountRow, mutation: string, input: object, key?: () => NewKey): Promise<T> {
    const field = this.schema.getMutationType()?.getFields()[mutation];
    if (!field?.resolve) throw new Error(`no mutation ${mutation}`);
    const caller: Caller = {
      ...operatorOf(row),
      kind: row.kind,
      accountId: row.id,
      contextId: row.id,
      contextKind: row.kind,
    };
    const context = new Context(
      caller,
      new Scope(caller, this.database),
      editions[row.edition],
      newRequestId(),
      undefined,
      key ?? ((tenant, live) => newKey(this.pepper, tenant, live)),
      { terms: checkoutTermsDefault, urlOf: () => '' },
    );
    return (await field.resolve(undefined, { input }, context, undefined as never)) as T;
  }

  /** Settles a verification, or lifts a hold. A root in live mode is a draft until then. */
  verify(row: AccountRow, outcome: 'activated' | 'hold') {
    const drafts: AccountStatus[] = rootKinds.includes(row.kind) ? ['draft'] : [];
    return this.#move(row, outcome === 'hold' ? [...drafts, 'verifying'] : [...drafts, 'verifying', 'hold'], outcome);
  }

  hold(row: AccountRow) {
    return this.#move(row, ['verifying', 'activated'], 'hold');
  }

  deactivate(row: AccountRow) {
    return this.#move(row, ['draft', 'verifying', 'activated', 'hold'], 'deactivated');
  }

  /** Changes a root's details, in both modes. */
  async updateRoot(
    row: AccountRow,
    changes: {
      nickname?: string;
      businessDetails?: BusinessDetailsInput;
      logoId?: string;
      tosAcceptance?: TosAcceptanceInput;
      liveFx?: boolean;
    },
  ) {
    if (!rootKinds.includes(row.kind))
      throw new OperatorError(
        'Only a platform or a direct user is updated by the operator; a connected user by its platform.',
      );
    if (changes.liveFx !== undefined && (row.kind !== 'platform' || row.edition !== 1))
      throw new OperatorError('--live-fx is for platforms of Edition 1.');
    refuse(accountProblems(changes));
    await checkFiles(new Scope(operatorOf(row), this.database), [
      { id: changes.logoId, field: 'account.logo_id', purposes: ['logo'] },
    ]);
    const stored = {
      ...changes,
      businessDetails: businessDetailsOf(changes.businessDetails),
      nickname: nicknameOf(changes.nickname),
    };
    const [updated] = await this.database.write(
      'update_root',
      row.tenantId,
      row.livemode,
      call('operator.updateRoot'),
      stored,
      account,
    );
    return updated!;
  }

  /** Records an address that the bank has issued in live mode. Spec: Address, service_receive. */
  async issueAddress(
    row: AccountRow,
    given: { category: 'service_receive' | 'service_fee_advance'; currency: string; bankAccount: BankAccountHash },
  ): Promise<AddressRow> {
    if (!row.livemode)
      throw new OperatorError('In test mode the sandbox bank issues addresses; this records those of live mode.');
    const bank = {
      ...given.bankAccount,
      last4: lastFour(given.bankAccount.number ?? given.bankAccount.iban),
      type: 'all',
    };
    const args = {
      ...given,
      type: 'bank_account',
      linkedId: row.id,
      name: row.businessDetails.legalName ?? null,
      bankAccount: bank,
    };
    const [issued] = await this.database.write(
      'record_issued_address',
      row.tenantId,
      true,
      call('operator.issueAddress'),
      args,
      address,
    );
    return issued!;
  }

  /** The account with this id, in this mode where it exists in both. Operators know no tenants, so this asks all of them. */
  async account(id: string, livemode?: boolean): Promise<AccountRow> {
    const rows = await this.#accounts(id);
    const row = rows.find((r) => r.livemode === (livemode ?? (rows.length > 1 ? true : r.livemode)));
    if (!row)
      throw new OperatorError(
        `There is no account ${id}${livemode === undefined ? '' : ` in ${livemode ? 'live' : 'test'} mode`}.`,
      );
    return row;
  }

  /** Lets time pass in a tenant's test mode, and does what becomes due by it. Negative seconds set the clock back before anything is there. */
  async passTime(root: Pick<AccountRow, 'tenantId'>, seconds: number): Promise<void> {
    await this.database.write(
      'advance_clock',
      root.tenantId,
      false,
      call('operator.passTime'),
      { advanceSeconds: seconds },
      testClock,
    );
    // Work may cause work that is due at once, and another worker may be at it: until nothing is due any more.
    for (let left = 1; left > 0; ) {
      const [row] = await this.database.call('run_jobs', [root.tenantId, false, jobsMax]);
      if (Number(row?.run_jobs) > 0) continue;
      const due = sql`${job.due} <= extract(epoch from clock_timestamp())::bigint`;
      const [count] = await this.database.read<{ left: number }>(
        'operator_due',
        (db) =>
          db
            .select({ left: sql<number>`count(*)::int` })
            .from(job)
            .where(and(eq(job.tenantId, sql.placeholder('tenant')), eq(job.livemode, false), due)),
        { tenant: root.tenantId },
      );
      left = count?.left ?? 0;
      if (left > 0) await sleep(10);
    }
  }

  /** Brings a tenant's test clock, once set back, to the present. */
  async catchUp(root: AccountRow): Promise<void> {
    const [clock] = await this.database.read<{ offset: number }>(
      'operator_clock',
      (db) =>
        db
          .select({ offset: testClock.offsetSeconds })
          .from(testClock)
          .where(and(eq(testClock.tenantId, sql.placeholder('tenant')), eq(testClock.livemode, false))),
      { tenant: root.tenantId },
    );
    if (clock && clock.offset < 0) await this.passTime(root, -clock.offset);
  }

  /** Holds an account's payouts back, or lifts that. Nobody else can. Spec: AccountSetting, service_hold. */
  async serviceHold(row: AccountRow, hold: boolean): Promise<AccountSettingRow> {
    const [setting] = await this.database.write(
      'set_service_hold',
      row.tenantId,
      row.livemode,
      call('operator.serviceHold'),
      { accountId: row.id, hold },
      accountSetting,
    );
    return setting!;
  }

  /** Records what a bank has told about a transfer; the same notice again is harmless, in any order. */
  async bankNotice(given: BankNotice): Promise<{ reference: string; event: string; deposit: DepositRow | null }> {
    const [to] = await this.#byId('operator_address', address, given.addressId);
    if (!to) throw new OperatorError(`There is no address ${given.addressId}.`);
    if (!to.livemode)
      throw new OperatorError('In test mode the sandbox bank makes deposits; this records those of live mode.');
    const content = {
      toAccountId: to.linkedId,
      toAddressId: to.id,
      amount: given.amount,
      currency: given.currency,
      fromAccountId: given.fromAccountId ?? null,
      paymentMethod: given.paymentMethod ?? 'domestic_credit',
      statementDescriptor: given.statementDescriptor ?? null,
    };
    const args = { reference: given.reference, event: given.event, content };
    const [notice] = await this.database.write(
      'record_bank_notice',
      to.tenantId,
      true,
      call('operator.bankNotice'),
      args,
      bankNotice,
    );
    const row =
      notice!.depositId === null ? undefined : (await this.#byId('operator_deposit', deposit, notice!.depositId))[0];
    return { reference: notice!.reference, event: notice!.event, deposit: row ?? null };
  }

  /** The end of a payout, as the bank reports it. */
  async endPayout(id: string, to: 'completed' | 'failed'): Promise<PayoutRow> {
    const [row] = await this.#byId('operator_payout', payout, id);
    if (!row) throw new OperatorError(`There is no payout ${id}.`);
    const [ended] = await this.database.write(
      'move_payout',
      row.tenantId,
      row.livemode,
      call(`operator.payout_${to}`),
      { id, to },
      payout,
    );
    return ended!;
  }

  /** What one unit of a currency buys of another, for the live payouts of a tenant. */
  async setRate(root: AccountRow, source: string, target: string, value: string): Promise<void> {
    await this.database.write(
      'set_rate',
      root.tenantId,
      true,
      call('operator.setRate'),
      { source, target, rate: value },
      rate,
    );
  }

  /** The deposit with this id. */
  async deposit(id: string): Promise<DepositRow> {
    const [row] = await this.#byId('operator_deposit', deposit, id);
    if (!row) throw new OperatorError(`There is no deposit ${id}.`);
    return row;
  }

  /** What is wrong with the books, over all tenants; nothing, when they are right. */
  async audit(): Promise<{ violations: Violation[]; accounts: number; postings: number }> {
    const violations = await this.database.read<Violation>(
      'operator_violations',
      (db) =>
        db
          .select({
            tenant: sql<string>`v.tenant_id`,
            livemode: sql<boolean>`v.livemode`,
            rule: sql<string>`v.rule`,
            what: sql<string>`v.what`,
          })
          .from(sql`violations v`),
      {},
    );
    const [counts] = await this.database.read<{ accounts: number; postings: number }>(
      'operator_ledger_size',
      (db) =>
        db
          .select({
            accounts: sql<number>`(select count(distinct (tenant_id, livemode, account_id)) from balance)::int`,
            postings: sql<number>`count(*)::int`,
          })
          .from(posting),
      {},
    );
    return { violations, accounts: counts!.accounts, postings: counts!.postings };
  }

  /** Checks the hash chain of every tenant and mode; for each, the first block that does not match. */
  async verifySeals(): Promise<{ tenant: string; livemode: boolean; blocks: number; firstBroken: number | null }[]> {
    const realms = await this.database.read<{ tenant: string; livemode: boolean; blocks: number }>(
      'operator_seals',
      (db) =>
        db
          .select({
            tenant: posting.tenantId,
            livemode: posting.livemode,
            blocks: sql<number>`(select count(*) from seal_block b where b.tenant_id = posting.tenant_id and b.livemode = posting.livemode)::int`,
          })
          .from(posting)
          .groupBy(posting.tenantId, posting.livemode),
      {},
    );
    return Promise.all(
      realms.map(async (realm) => {
        const [row] = await this.database.call('first_broken_block', [realm.tenant, realm.livemode]);
        const broken = row?.first_broken_block ?? null;
        return { ...realm, firstBroken: broken === null ? null : Number(broken) };
      }),
    );
  }

  async #byId<T extends PgTable & Standing>(name: string, table: T, id: string): Promise<T['$inferSelect'][]> {
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

  async exists(id: string): Promise<boolean> {
    return (await this.#accounts(id)).length > 0;
  }

  #accounts(id: string): Promise<AccountRow[]> {
    return this.#across<AccountRow>('operator_account', account, eq(account.id, sql.placeholder('id')), { id });
  }

  /** The keys of an account of one mode, newest first. */
  keys(row: AccountRow): Promise<ApiKeyRow[]> {
    return new Scope(operatorOf(row), this.database).all(apiKey, apiKey.accountId, row.id);
  }

  /** The key with this id. */
  async key(id: string): Promise<ApiKeyRow> {
    const [row] = await this.database.read<ApiKeyRow>(
      'operator_key',
      (db) =>
        db
          .select()
          .from(apiKey)
          .where(eq(apiKey.id, sql.placeholder('id'))),
      { id },
    );
    if (!row) throw new OperatorError(`There is no key ${id}.`);
    return row;
  }

  /** Accounts by status over all tenants, oldest first, with the persons and files that a verification looks at. */
  async verifications(filter: {
    status?: string | undefined;
    livemode?: boolean | undefined;
  }): Promise<Verification[]> {
    const where = and(
      filter.status === undefined ? undefined : eq(account.status, sql.placeholder('status')),
      filter.livemode === undefined ? undefined : eq(account.livemode, sql.placeholder('live')),
    );
    const name = `operator_accounts:${filter.status === undefined ? '' : 'status'}:${filter.livemode === undefined ? '' : 'live'}`;
    const accounts = await this.#across<AccountRow>(name, account, where, {
      status: filter.status,
      live: filter.livemode,
    });
    return Promise.all(accounts.map((row) => this.verification(row)));
  }

  async verification(row: AccountRow): Promise<Verification> {
    const scope = new Scope(operatorOf(row), this.database);
    const persons = await scope.all(person, person.accountId, row.id);
    const { idDocument, ownershipStructureDocument, physicalAddressDocument } = row.supportingDocumentation;
    const ids = [
      idDocument,
      ownershipStructureDocument,
      physicalAddressDocument,
      ...persons.flatMap((p) => [p.identification.taxCardImage, p.identification.passportImage]),
    ];
    const files = await Promise.all(ids.filter((id) => id != null).map((id) => scope.find(file, id)));
    return { account: row, persons, files: files.filter((f): f is FileRow => f !== null) };
  }

  /** Whether there is nothing at all yet: only then is a demo seeded. */
  async empty(): Promise<boolean> {
    return (await this.#across('operator_any', account, undefined, {}, 1)).length === 0;
  }

  async #move(row: AccountRow, from: readonly AccountStatus[], to: AccountStatus): Promise<AccountRow> {
    const [moved] = await this.database.write(
      'move_account',
      row.tenantId,
      row.livemode,
      call(`operator.${to}`),
      { id: row.id, from, to },
      account,
    );
    return moved!;
  }

  async #newTenant(): Promise<string> {
    const [row] = await this.database.call('new_id', ['account']);
    return String(row!.new_id).replace('account_', '');
  }

  #across<T>(name: string, table: typeof account, where: SQL | undefined, values: object, limit = 200): Promise<T[]> {
    return this.database.read<T>(
      name,
      (db) => db.select().from(table).where(where).orderBy(table.created, table.id).limit(limit),
      { ...values },
    );
  }
}

function refuse(problems: Problem[]): void {
  if (problems.length > 0) throw new Refusal(...problems);
}

/** The operator as a caller of one tenant and mode: everything there is in reach. */
function operatorOf(row: AccountRow): Caller {
  const { tenantId, livemode, edition } = row;
  return {
    tenantId,
    livemode,
    edition,
    kind: 'operator',
    permission: 'full',
    keyId: null,
    accountId: 'operator',
    contextId: 'operator',
    contextKind: 'platform',
  };
}

function call(operation: string): Call {
  return { account: 'operator', key: randomUUID(), sent: false, operation, request: {}, requestId: newRequestId() };
}
