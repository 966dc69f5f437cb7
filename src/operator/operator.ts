import type { Database } from '../db/database.js';
import type { ArgumentsOf, NoOthers, TableOf, WriteEnvelope, WriteFunction } from '../db/write-arguments.js';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { and, asc, desc, eq, getTableName, inArray, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm';
import { type PgColumn, type PgTable, unionAll } from 'drizzle-orm/pg-core';
import type { GraphQLSchema } from 'graphql';
import {
  accountProblems,
  addressKeyOf,
  businessDetailsOf,
  initialSetting,
  nicknameOf,
} from '../resources/account/creation.js';
import type { BusinessDetailsInput, TosAcceptanceInput } from '../resources/account/inputs.js';
import { type AccountRow, AccountStatus, type AccountSubType, account } from '../resources/account/table.js';
import { accountMoves } from '../resources/account/transitions.js';
import { type AccountSettingRow, accountSetting } from '../resources/account-setting/table.js';
import { bankAccountProblems, lastFour } from '../resources/address/resolver.js';
import { type AddressRow, address, type BankAccountObject } from '../resources/address/table.js';
import { type NewKey, newKey } from '../auth/api-keys.js';
import { type CheckoutTerms, checkoutTermsDefault } from '../resources/checkout/terms.js';
import { testClock } from '../resources/clock/table.js';
import { Context } from '../operation/context.js';

import type { VisibilityColumns } from '../db/visibility.js';
import { Scope } from '../db/scope.js';
import type { ReconciledReceivableInput } from '../resources/deposit/inputs.js';
import { depositProblems, payerProblems } from '../resources/deposit/resolver.js';
import { receiverOf } from '../resources/deposit/receiver.js';
import { type DepositRow, deposit } from '../resources/deposit/table.js';
import { editions } from '../editions/editions.js';
import { checkFiles } from '../resources/file/reference.js';
import { type FileRow, file } from '../resources/file/table.js';
import { editionProblems, textProblems } from '../operation/guard.js';
import { acquirerOf, acquirers } from '../hosted/acquirer.js';
import { answeredBefore, fingerprints } from '../operation/idempotency.js';
import { statusPollKind, type JobRow, job } from '../jobs/table.js';
import { type ApiKeyRow, apiKey } from '../resources/key/table.js';
import { posting } from '../resources/ledger/table.js';
import { type PayoutRow, PayoutStatus, payout } from '../resources/payout/table.js';
import { taxCardNumberOf } from '../resources/person/encryption.js';
import { type PersonRow, person } from '../resources/person/table.js';
import { type Problem, type ProblemCode, problem, DomainError } from '../request/problems.js';
import { newRequestId } from '../request/id.js';
import { Secrets } from '../db/secrets.js';
import { currencyDigits } from '../types/scalars.js';
import { type TransactionRow, transaction } from '../resources/transaction/table.js';
import { Related } from './related.js';
import { type RateRow, rate } from '../resources/exchange-rate/table.js';
import { type BankNoticeRow, bankNotice } from './table.js';
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
  /** Whether the transfer may be in another currency than its address. */
  allowCurrency?: boolean | undefined;
}

/** What the bank's notice came to; no deposit yet where a reversal waits for it. */
export interface BankNoticeTaken {
  notice: BankNoticeRow;
  deposit: DepositRow | null;
}

/** Which objects to list over all tenants, oldest first; `after` is where the page before ended. */
export interface Sought<S> {
  status?: S | undefined;
  livemode?: boolean | undefined;
  tenantId?: string | undefined;
  after?: string | undefined;
  limit?: number | undefined;
}

/** A page of a list, and what to ask for the next one with; null at the end. */
export interface Found<T> {
  nodes: T[];
  next: string | null;
}

/** The state of one tenant's hash chain in one mode. */
export interface Chain {
  tenant: string;
  livemode: boolean;
  blocks: number;
  firstBroken: number | null;
}

/** A promise of the ledger that does not hold. */
export interface Violation {
  tenant: string | null;
  livemode: boolean | null;
  rule: string;
  what: string;
}

/** A pepper or encryption key by its public name. Without a setting it is not configured; without a name it is not known which one it is. */
export interface SecretInUse {
  setting: string | null;
  name: string | null;
  keys: number;
  tax_card_numbers: number;
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
const listedMax = 200;
/** The reference is part of a key, whose length PostgreSQL bounds. */
const waitingNoticesMax = 200;
const mismatchesMax = 200;
/** An answer of a broken deployment must not grow with it. */
const violationsMax = 1_000;
const referenceLengthMax = 255;
const rootKinds: readonly string[] = ['platform', 'direct_user'];

/**
 * What the operator of the service may do: create roots, decide about accounts, record what banks have issued and told.
 * The command line and the operator's graph both end here.
 */
export class Operator {
  /** Whether an answer was given again from an idempotency key. */
  replayed = false;
  readonly #secrets: Secrets;

  constructor(
    private readonly database: Database,
    private readonly schema: GraphQLSchema,
    pepper: string | Secrets,
    private readonly asking?: Asking,
    /** The terms of checkouts that an account makes by `as`. */
    private readonly checkoutTerms: CheckoutTerms = checkoutTermsDefault,
  ) {
    this.#secrets = Secrets.of(pepper);
  }

  /** Creates a platform or direct user in both modes, with one key in each. Spec: What the service does, 5. */
  async createRoot({ type, edition: number, subType, nickname, businessDetails, tenantId, key }: NewRoot) {
    const edition = editions[number];
    if (subType && !(type === 'platform' && edition.subTypes.includes(subType)))
      throw new OperatorError(`--sub-type ${subType} is for platforms of Edition 2.`);
    refuse([...textProblems({ nickname, businessDetails }, 'account'), ...accountProblems({ nickname })]);
    const kind = type === 'platform' ? 'platform' : 'direct_user';
    const tenant = tenantId ?? (await this.#newTenant());
    const make = key ?? ((livemode: boolean) => newKey(this.#secrets, tenant, livemode));
    const keys = { test: make(false), live: make(true) };
    const row = await this.#write(
      'create_root',
      { tenantId: tenant, livemode: false },
      'createRoot',
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
          { livemode: false, permission: 'full', ...stored(keys.test) },
          { livemode: true, permission: 'full', ...stored(keys.live) },
        ],
      },
      account,
    );
    return { account: row, keys: { test: keys.test.secret, live: keys.live.secret } };
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
      key ?? ((tenant, live) => newKey(this.#secrets, tenant, live)),
      {
        terms: this.checkoutTerms,
        payable: (livemode) => acquirerOf(livemode, acquirers) !== undefined,
        urlOf: () => '',
      },
      this.#secrets,
    );
    const answer = (await field.resolve(undefined, { input }, context, undefined as never)) as T;
    this.replayed = context.replayed;
    return answer;
  }

  /** The number of a person's tax card in the clear; null where there is none. Refuses when its encryption key is not configured. */
  taxCardNumber({ tenantId, livemode, id, identification }: PersonRow): string | null {
    const number = taxCardNumberOf(this.#secrets, { tenantId, livemode, id }, identification);
    if (number === undefined)
      throw new OperatorError('The number was encrypted under a key that is not in ENCRYPTION_KEY or API_KEY_PEPPER.');
    return number;
  }

  /** Settles a verification, or lifts a hold. A root in live mode is a draft until then. */
  verify(row: AccountRow, outcome: 'activated' | 'hold') {
    const drafts: AccountStatus[] = rootKinds.includes(row.kind) ? ['draft'] : [];
    return this.#move(row, [...drafts, ...accountMoves.verify[outcome]], outcome);
  }

  hold(row: AccountRow) {
    return this.#move(row, accountMoves.hold, 'hold');
  }

  deactivate(row: AccountRow) {
    return this.#move(row, accountMoves.close, 'deactivated');
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
    refuse([...textProblems(changes, 'account'), ...accountProblems(changes)]);
    await checkFiles(this.scope(row), [{ id: changes.logoId, field: 'account.logo_id', purposes: ['logo'] }]);
    const stored = {
      ...changes,
      businessDetails: businessDetailsOf(changes.businessDetails),
      nickname: nicknameOf(changes.nickname),
    };
    return this.#write('update_root', row, 'updateRoot', stored, account);
  }

  /** Records an address that the bank has issued in live mode. Spec: Address, service_receive. */
  async issueAddress(
    row: AccountRow,
    given: { category: 'service_receive' | 'service_fee_advance'; currency: string; bankAccount: BankAccountObject },
  ): Promise<AddressRow> {
    if (!row.livemode)
      throw new OperatorError('In test mode the sandbox bank issues addresses; this records those of live mode.');
    if (!given.bankAccount.number && !given.bankAccount.iban)
      throw new OperatorError('A number or an IBAN is required.', 'parameter_missing', 'address.bank_account.number');
    refuse([...textProblems(given, 'address'), ...bankAccountProblems(given.bankAccount)]);
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
    return this.#write('record_issued_address', row, 'issueAddress', args, address);
  }

  /** The account with this id, in this mode where it exists in both. Operators know no tenants, so this asks all of them. */
  async account(id: string, livemode?: boolean, field = 'account.id'): Promise<AccountRow> {
    const rows = await this.#byId('operator_account', account, id);
    const row = rows.find((r) => r.livemode === (livemode ?? (rows.length > 1 ? true : r.livemode)));
    if (!row) {
      const where = livemode === undefined ? '' : ` in ${livemode ? 'live' : 'test'} mode`;
      throw new OperatorError(`There is no such account${where}.`, 'resource_missing', field);
    }
    return row;
  }

  /** Lets time pass in a tenant's test mode, and does what becomes due by it. Negative seconds set the clock back before anything is there. */
  async passTime(root: Pick<AccountRow, 'tenantId'>, seconds: number): Promise<void> {
    const test = { tenantId: root.tenantId, livemode: false };
    await this.#write('advance_clock', test, 'passTime', { advanceSeconds: seconds }, testClock);
    // Work may cause work that is due at once, and another worker may be at it: until nothing is due any more. Acquirers are asked by workers alone.
    for (let left = 1; left > 0; ) {
      const [row] = await this.database.call('run_jobs', [root.tenantId, false, jobsMax]);
      if (Number(row?.run_jobs) > 0) continue;
      const due = sql`${job.due} <= extract(epoch from statement_timestamp())::bigint`;
      const [count] = await this.database.read<{ left: number }>(
        'operator_due',
        (db) =>
          db
            .select({ left: sql<number>`count(*)::int` })
            .from(job)
            .where(
              and(
                eq(job.tenantId, sql.placeholder('tenant')),
                eq(job.livemode, false),
                due,
                ne(job.kind, statusPollKind),
              ),
            ),
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
    return this.#write('set_service_hold', row, 'serviceHold', { accountId: row.id, hold }, accountSetting);
  }

  /**
   * Records what a bank has told about a transfer; the same notice again is harmless, in any order. A payment method of the
   * other edition is refused, and so is another currency than the address's that the operator has not allowed.
   */
  async bankNotice(given: BankNotice): Promise<BankNoticeTaken> {
    refuse([...textProblems(given, 'deposit'), ...noticeProblems(given)]);
    const to = await this.#told(given.addressId);
    if (!to.livemode)
      throw new OperatorError(
        'In test mode the sandbox bank makes deposits; this records those of live mode.',
        'parameter_invalid',
        'deposit.address_id',
      );
    // Money comes to where the service receives it. An address that is out of use may still get some.
    if (to.category !== 'service_receive' && to.category !== 'service_fee_advance')
      throw new DomainError(
        problem('address_unusable', 'deposit.address_id', 'No bank sends money to an address of this category.'),
      );
    const scope = this.scope(to);
    const receiver = await scope.one(account, to.linkedId);
    const edition = editions[receiver.edition];
    const { paymentMethod } = given;
    if (paymentMethod !== undefined) refuse(editionProblems('recordBankNotice', 'deposit', { paymentMethod }, edition));
    if (given.fromAccountId !== undefined) {
      // Whoever paid is of the same tenant, or unknown to it: the deposit would silently have no payer.
      const field = 'deposit.from_account_id';
      const payer = await scope.find(account, given.fromAccountId);
      if (!payer) throw new OperatorError('There is no such account.', 'resource_missing', field);
      refuse(payerProblems(payer, receiver, field));
    }
    const content = {
      toAccountId: to.linkedId,
      toAddressId: to.id,
      amount: given.amount,
      currency: given.currency,
      fromAccountId: given.fromAccountId ?? null,
      paymentMethod: paymentMethod ?? edition.bankMethod,
      statementDescriptor: given.statementDescriptor ?? null,
    };
    const args = {
      ...{ reference: given.reference, event: given.event, content },
      // What the notice leaves open says nothing against what was recorded under its reference before.
      ...(paymentMethod === undefined && { open: ['paymentMethod'] }),
      ...(given.allowCurrency === true && { allowCurrency: true }),
    };
    const notice = await this.#write('record_bank_notice', to, 'bankNotice', args, bankNotice);
    return { notice, deposit: await scope.find(deposit, notice.depositId) };
  }

  /** The reversals that wait for their deposits, of all tenants, oldest first: 200 at most. */
  waitingNotices(): Promise<BankNoticeRow[]> {
    return this.database.read<BankNoticeRow>(
      'operator_waiting_notices',
      (db) =>
        db
          .select()
          .from(bankNotice)
          .where(isNull(bankNotice.depositId))
          .orderBy(
            asc(bankNotice.created),
            asc(bankNotice.tenantId),
            asc(bankNotice.livemode),
            asc(bankNotice.reference),
          )
          .limit(waitingNoticesMax),
      {},
    );
  }

  /** Attempts whose acquirer told a success that does not fit them, of all tenants, newest first: 200 at most. */
  mismatches(): Promise<TransactionRow[]> {
    return this.database.read<TransactionRow>(
      'operator_mismatches',
      (db) =>
        db
          .select()
          .from(transaction)
          .where(isNotNull(transaction.mismatch))
          .orderBy(desc(transaction.created), desc(transaction.id))
          .limit(mismatchesMax),
      {},
    );
  }

  /** Takes back a reversal that waits for a deposit, as a wrong reference would have it do for ever. */
  async withdrawNotice(addressId: string, reference: string): Promise<BankNoticeRow> {
    return this.#write(
      'withdraw_bank_notice',
      await this.#told(addressId),
      'withdrawNotice',
      { reference, addressId },
      bankNotice,
    );
  }

  /** The address that a bank speaks of. */
  async #told(addressId: string): Promise<AddressRow> {
    const [row] = await this.#byId('operator_address', address, addressId);
    if (!row) throw new OperatorError('There is no such address.', 'resource_missing', 'deposit.address_id');
    return row;
  }

  /** Counts a deposit towards receivables, as the user does who receives it. Spec: decisions, Reconciliation. */
  async reconcile(id: string, receivables: ReconciledReceivableInput[], tenantId?: string): Promise<DepositRow> {
    const row = await this.deposit(id, tenantId);
    const holder = await this.account(row.toAccountId, row.livemode);
    const receiver = await this.account(receiverOf(holder), row.livemode);
    const answer = await this.as<{ deposit: DepositRow }>(receiver, 'reconcileDeposit', { id, receivables });
    return answer.deposit;
  }

  /** The end of a payout, as the bank reports it. */
  async endPayout(id: string, to: 'completed' | 'failed'): Promise<PayoutRow> {
    return this.#write('move_payout', await this.payout(id), `payout_${to}`, { id, to }, payout);
  }

  /** The payout with this id. */
  async payout(id: string): Promise<PayoutRow> {
    const [row] = await this.#byId('operator_payout', payout, id);
    if (!row) throw new OperatorError('There is no such payout.', 'resource_missing', 'payout.id');
    return row;
  }

  /** Payouts over all tenants; in live mode, those that are `processing` wait for the operator. */
  payouts(sought: Sought<PayoutStatus>): Promise<Found<PayoutRow>> {
    return this.#list('operator_payouts', payout, Object.values(PayoutStatus), sought);
  }

  /** What one unit of a currency buys of another, for the live payouts of a tenant. */
  async setRate(
    { tenantId }: Pick<TenantAndMode, 'tenantId'>,
    source: string,
    target: string,
    value: string,
  ): Promise<RateRow> {
    refuse(rateProblems(source, target, value));
    const live = { tenantId, livemode: true };
    return this.#write('set_rate', live, 'setRate', { source, target, rate: value }, rate);
  }

  /** The rates that a tenant has been given, by their currencies. */
  rates({ tenantId }: Pick<TenantAndMode, 'tenantId'>): Promise<RateRow[]> {
    return this.database.read<RateRow>(
      'operator_rates',
      (db) =>
        db
          .select()
          .from(rate)
          .where(and(eq(rate.tenantId, sql.placeholder('tenant')), eq(rate.livemode, true)))
          .orderBy(asc(rate.source), asc(rate.target)),
      { tenant: tenantOf(tenantId) },
    );
  }

  /**
   * The deposit with this id. No index has the ids of deposits over all tenants, since every deposit would pay for it:
   * with its tenant it is looked up, and without, looked for in the key of one tenant after the other.
   */
  async deposit(id: string, tenantId?: string): Promise<DepositRow> {
    const [row] =
      tenantId === undefined
        ? await this.#byId('operator_deposit', deposit, id)
        : await this.database.read<DepositRow>(
            'operator_deposit_of_tenant',
            (db) =>
              db
                .select()
                .from(deposit)
                .where(
                  and(
                    eq(deposit.tenantId, sql.placeholder('tenant')),
                    inArray(deposit.livemode, [false, true]),
                    eq(deposit.id, sql.placeholder('id')),
                  ),
                ),
            { tenant: tenantOf(tenantId), id },
          );
    if (!row) throw new OperatorError('There is no such deposit.', 'resource_missing', 'deposit.id');
    return row;
  }

  /**
   * What each pepper and encryption key stands for, by its public name: the keys that it hashes and that still work, and the tax
   * card numbers that it encrypts. One that is stored and not configured is listed without a setting.
   */
  async secretsInUse(): Promise<SecretInUse[]> {
    const keys = await this.database.auditQuery<{ id: string | null; n: number }>('operator_peppers', (db) =>
      db
        .select({ id: apiKey.pepperId, n: sql<number>`count(*)::int` })
        .from(apiKey)
        .where(
          sql`${apiKey.revokedAt} is null and (${apiKey.expiresAt} is null or ${apiKey.expiresAt} > extract(epoch from clock_timestamp()))`,
        )
        .groupBy(apiKey.pepperId),
    );
    const sealer = sql<string | null>`split_part(${person.identification} ->> 'taxCardSealed', '.', 2)`;
    const cards = await this.database.auditQuery<{ id: string | null; n: number }>('operator_tax_cards', (db) =>
      db
        .select({ id: sealer.as('sealer'), n: sql<number>`count(*)::int` })
        .from(person)
        .where(sql`coalesce(${person.identification} ->> 'taxCardNumber', '') <> ''`)
        .groupBy(sql`1`),
    );
    const of = (list: { id: string | null; n: number }[], id: string | null) =>
      list.find((one) => one.id === id)?.n ?? 0;
    const { pepperIds, encryptionIds } = this.#secrets;
    const derived = encryptionIds.slice(-pepperIds.length);
    const listed = [
      ...pepperIds.map((id, i) => ({
        setting: 'API_KEY_PEPPER',
        name: id,
        keys: of(keys, id),
        tax_card_numbers: of(cards, derived[i]!),
      })),
      ...encryptionIds
        .slice(0, -pepperIds.length)
        .map((id) => ({ setting: 'ENCRYPTION_KEY', name: id, keys: 0, tax_card_numbers: of(cards, id) })),
    ];
    const known = [...pepperIds, ...encryptionIds];
    const others = [...new Set([...keys, ...cards].map(({ id }) => id))].filter(
      (id) => id === null || !known.includes(id),
    );
    return [
      ...listed,
      ...others.map((id) => ({ setting: null, name: id, keys: of(keys, id), tax_card_numbers: of(cards, id) })),
    ];
  }

  /** What is wrong with the ledger, over all tenants: the first 1,000 violations, and how many there are. */
  async audit(): Promise<{ violations: Violation[]; violationCount: number; accounts: number; postings: number }> {
    const violations = await this.database.auditQuery<Violation & { count: number }>('operator_violations', (db) =>
      db
        .select({
          tenant: sql<string>`v.tenant_id`,
          livemode: sql<boolean>`v.livemode`,
          rule: sql<string>`v.rule`,
          what: sql<string>`v.what`,
          count: sql<number>`(count(*) over ())::int`,
        })
        .from(sql`violations v`)
        .limit(violationsMax),
    );
    const [counts] = await this.database.auditQuery<{ accounts: number; postings: number }>(
      'operator_ledger_size',
      (db) =>
        db
          .select({
            accounts: sql<number>`(select count(distinct (tenant_id, livemode, account_id)) from balance)::int`,
            postings: sql<number>`count(*)::int`,
          })
          .from(posting),
    );
    return {
      violations: violations.map(({ count: _, ...violation }) => violation),
      violationCount: violations[0]?.count ?? 0,
      accounts: counts!.accounts,
      postings: counts!.postings,
    };
  }

  /**
   * Checks the hash chain of every tenant and mode; for each, the first block that does not match. A chain is known by its
   * blocks and seals as well as by its postings: whoever deleted all of one kind would else have made it disappear.
   */
  async verifySeals(): Promise<Chain[]> {
    const tenantsAndModes = await this.database.auditQuery<{ tenant: string; livemode: boolean; blocks: number }>(
      'operator_seals',
      (db) =>
        db
          .select({
            tenant: sql<string>`r.tenant_id`,
            livemode: sql<boolean>`r.livemode`,
            blocks: sql<number>`(select count(*) from seal_block b where b.tenant_id = r.tenant_id and b.livemode = r.livemode)::int`,
          })
          .from(
            sql`(select tenant_id, livemode from posting union select tenant_id, livemode from seal_block union select tenant_id, livemode from posting_seal) r`,
          ),
    );
    const chains: Chain[] = [];
    // One after the other: whoever writes meanwhile needs the connections, too.
    for (const tenantAndMode of tenantsAndModes) {
      const [row] = await this.database.auditQuery<{ broken: string | null }>('operator_seal', (db) =>
        db
          .select({ broken: sql<string | null>`b.broken` })
          .from(sql`first_broken_block(${tenantAndMode.tenant}, ${tenantAndMode.livemode}) b(broken)`),
      );
      const broken = row?.broken ?? null;
      chains.push({ ...tenantAndMode, firstBroken: broken === null ? null : Number(broken) });
    }
    return chains;
  }

  /**
   * The jobs of all tenants, in the order of their ids; `stuck` are those alone that have failed and are tried again.
   * Questions to an acquirer count their attempts too, and have no error.
   */
  async jobs({ stuck = false, after }: { stuck?: boolean; after?: string | undefined }): Promise<Found<JobRow>> {
    const from = after === undefined ? undefined : jobCursorOf(after);
    const { placeholder } = sql;
    const given = [stuck ? 'stuck' : 'all', ...(from ? ['after'] : [])];
    const rows = await this.database.read<JobRow>(
      `operator_jobs:${given.join(':')}`,
      (db) =>
        db
          .select()
          .from(job)
          .where(
            and(
              stuck ? isNotNull(job.error) : undefined,
              from &&
                sql`(${job.tenantId}, ${job.livemode}, ${job.id}) > (${placeholder('tenant')}::text, ${placeholder('live')}::boolean, ${placeholder('id')}::text)`,
            ),
          )
          .orderBy(asc(job.tenantId), asc(job.livemode), asc(job.id))
          .limit(listedMax + 1),
      { ...from },
    );
    const nodes = rows.slice(0, listedMax);
    const last = rows.length > listedMax ? nodes.at(-1) : undefined;
    return { nodes, next: last ? `${last.tenantId}.${last.id}.${last.livemode ? 'live' : 'test'}` : null };
  }

  /** Makes a job due now. It keeps its attempts and its error until it is done. */
  async retryJob(id: string): Promise<JobRow> {
    const [row] = await this.#byId('operator_job', job, id);
    if (!row)
      throw new OperatorError('There is no such job: it may have been done meanwhile.', 'resource_missing', 'job.id');
    return this.#write('retry_job', row, 'retryJob', { id }, job);
  }

  async #byId<T extends PgTable & { id: PgColumn }>(name: string, table: T, id: string): Promise<T['$inferSelect'][]> {
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
    return (await this.#byId('operator_account', account, id)).length > 0;
  }

  /** The keys of an account of one mode, newest first. */
  keys(row: AccountRow): Promise<ApiKeyRow[]> {
    return this.scope(row).all(apiKey, apiKey.accountId, row.id);
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
    if (!row) throw new OperatorError('There is no such key.', 'resource_missing', 'api_key.id');
    return row;
  }

  /** Accounts over all tenants; those that are `verifying` wait for the operator. */
  accounts(sought: Sought<AccountStatus>): Promise<Found<AccountRow>> {
    return this.#list('operator_accounts', account, Object.values(AccountStatus), sought);
  }

  /** Everything there is in a tenant and mode, to be read. */
  scope(tenantAndMode: TenantAndMode): Scope {
    return new Scope(operatorOf(tenantAndMode), this.database);
  }

  /** What belongs to objects of whatever tenants, read together. */
  related(): Related {
    return new Related(this.database.read.bind(this.database));
  }

  /** An account with the persons and files that a verification looks at. */
  async verification(row: AccountRow, related = this.related()): Promise<Verification> {
    const persons = await related.all(person, person.accountId, row, row.id);
    const { idDocument, ownershipStructureDocument, physicalAddressDocument } = row.supportingDocumentation;
    const ids = [
      idDocument,
      ownershipStructureDocument,
      physicalAddressDocument,
      ...persons.flatMap((p) => [p.identification.taxCardImage, p.identification.passportImage]),
    ];
    const files = await Promise.all(ids.filter((id) => id != null).map((id) => related.one(file, file.id, row, id)));
    return { account: row, persons, files: files.filter((f): f is FileRow => f !== null) };
  }

  /** Whether there is nothing at all yet: only then is a demo seeded. */
  async empty(): Promise<boolean> {
    const rows = await this.database.read('operator_any', (db) => db.select().from(account).limit(1), {});
    return rows.length === 0;
  }

  #move(row: AccountRow, from: readonly AccountStatus[], to: AccountStatus): Promise<AccountRow> {
    return this.#write('move_account', row, to, { id: row.id, from, to }, account);
  }

  /** One write, under the request's key or one of ours. A key that was answered before is answered again. */
  async #write<F extends WriteFunction, T extends PgTable & TableOf<F>, A extends ArgumentsOf<F>>(
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
      ...fingerprints(this.#secrets, name, args),
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

  async #newTenant(): Promise<string> {
    const [row] = await this.database.call('new_id', ['account']);
    return String(row!.new_id).replace('account_', '');
  }

  /**
   * One page, oldest first; the id and the mode break ties, since a root has one id in both modes. Each status is a part
   * of one index, which has this order: those that are asked for are read side by side and merged.
   */
  async #list<T extends PgTable & VisibilityColumns & { status: PgColumn }>(
    name: string,
    table: T,
    statuses: readonly string[],
    { status, livemode, tenantId, after, limit = listedMax }: Sought<string>,
  ): Promise<Found<T['$inferSelect']>> {
    const { placeholder } = sql;
    const from = after === undefined ? undefined : cursorOf(after, getTableName(table));
    const conditions: Record<string, SQL | undefined> = {
      mode: livemode === undefined ? undefined : eq(table.livemode, placeholder('livemode')),
      tenant: tenantId === undefined ? undefined : eq(table.tenantId, placeholder('tenantId')),
      after:
        from &&
        sql`(${table.created}, ${table.id}, ${table.livemode}) > (${placeholder('created')}::bigint, ${placeholder('id')}::text, ${placeholder('live')}::boolean)`,
    };
    const values: Record<string, unknown> = {
      livemode,
      tenantId: tenantId && tenantOf(tenantId),
      ...from,
      limit: limit + 1,
    };
    const parts = status === undefined ? statuses : [status];
    for (const [i, part] of parts.entries()) values[`status${i}`] = part;
    // Of one mode the mode orders nothing, and PostgreSQL would sort the merged rows to have it so.
    const order = [table.created, table.id, ...(livemode === undefined ? [table.livemode] : [])];
    const given = Object.entries({ status, ...conditions }).flatMap(([name, one]) => (one === undefined ? [] : name));
    const rows = await this.database.read<TenantAndMode & { id: string; created: number }>(
      `${name}:${given.join(':')}`,
      (db) => {
        const [one, other, ...more] = parts.map((_, i) =>
          db
            .select()
            .from(table as PgTable)
            .where(and(eq(table.status, placeholder(`status${i}`)), ...Object.values(conditions)))
            .orderBy(...order)
            .limit(placeholder('limit') as never),
        );
        if (!other) return one!;
        return unionAll(one!, other, ...more)
          .orderBy(...order)
          .limit(placeholder('limit') as never);
      },
      values,
    );
    const nodes = rows.slice(0, limit);
    const last = rows.length > limit ? nodes.at(-1) : undefined;
    return {
      nodes: nodes as T['$inferSelect'][],
      next: last ? `${last.created}.${last.id}.${last.livemode ? 'live' : 'test'}` : null,
    };
  }
}

/** A tenant is named by the id of its root account, which whoever copies it has in full. */
const tenantOf = (id: string) => id.replace(/^account_/, '');

/** Where a page ended, as it was told. */
function cursorOf(text: string, object: string): { created: string; id: string; live: boolean } {
  const [, created, id, mode] = /^(\d{1,12})\.(\w{1,100})\.(live|test)$/.exec(text) ?? [];
  if (created === undefined || id === undefined)
    throw new DomainError(
      problem('parameter_invalid', `${object}.starting_after`, 'is not the end of a page of this list'),
    );
  return { created, id, live: mode === 'live' };
}

/** The same of jobs, whose order begins with their tenants. */
function jobCursorOf(text: string): { tenant: string; id: string; live: boolean } {
  const [, tenant, id, mode] = /^(\w{1,100})\.(\w{1,100})\.(live|test)$/.exec(text) ?? [];
  if (tenant === undefined || id === undefined)
    throw new DomainError(problem('parameter_invalid', 'job.starting_after', 'is not the end of a page of this list'));
  return { tenant, id, live: mode === 'live' };
}

/** What no bank can have told. */
function noticeProblems({ reference, amount, currency }: BankNotice): Problem[] {
  const problems = depositProblems({ amount });
  if (reference.trim() === '') problems.push(problem('parameter_invalid_empty', 'deposit.reference'));
  if ([...reference].length > referenceLengthMax)
    problems.push(problem('parameter_invalid', 'deposit.reference', `is longer than ${referenceLengthMax} characters`));
  if (currencyDigits(currency) === 0 && amount % 100n !== 0n)
    problems.push(
      problem('parameter_invalid', 'deposit.amount', 'must end in .00, since its currency has no minor unit'),
    );
  return problems;
}

/** What no rate can be. */
function rateProblems(source: string, target: string, value: string): Problem[] {
  const problems: Problem[] = [];
  if (source === target) problems.push(problem('parameter_invalid', 'rate.target', 'must be another currency'));
  if (!/^\d{1,7}(\.\d{1,16})?$/.test(value) || /^0+(\.0+)?$/.test(value))
    problems.push(
      problem('parameter_invalid', 'rate.rate', 'must be a positive decimal below 10,000,000, such as 83.25'),
    );
  return problems;
}

function refuse(problems: Problem[]): void {
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

/** What is stored of a new key. */
function stored({ digest, prefix, pepperId }: NewKey): Omit<NewKey, 'secret'> {
  return { digest, prefix, pepperId };
}
