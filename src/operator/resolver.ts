import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type AccountRow, account } from '../resources/account/table.js';
import { accountSetting } from '../resources/account-setting/table.js';
import { address } from '../resources/address/table.js';
import type { BankNoticeRow } from './table.js';
import { payloadOf } from '../types/payload.js';
import type { PayoutRow } from '../resources/payout/table.js';
import type { PersonRow } from '../resources/person/table.js';
import { Identification, Relationship } from '../resources/person/type.js';
import { identificationOf, relationshipOf } from '../resources/person/v1.js';
import { problem, DomainError } from '../request/problems.js';
import type { TransactionRow } from '../resources/transaction/table.js';
import type { OperatorContext } from './context.js';
import {
  AccountArgs,
  AccountInput,
  AccountsArgs,
  DepositArgs,
  IssueAddressInput,
  PayoutInput,
  PayoutsArgs,
  pageSizeDefault,
  pageSizeMax,
  RecordBankNoticeInput,
  WithdrawBankNoticeInput,
  ReconcileDepositInput,
  ServiceHoldInput,
  SetRateInput,
  VerifyAccountInput,
} from './inputs.js';
import type { ListPage, ListFilter } from './paging.js';
import {
  AccountPage,
  LedgerAudit,
  LedgerChain,
  OperatorAccount,
  OperatorAddress,
  OperatorBankNotice,
  OperatorDeposit,
  OperatorFile,
  OperatorMismatch,
  OperatorPayout,
  OperatorPerson,
  OperatorRate,
  OperatorSetting,
  PayoutPage,
} from './type.js';

const VerifyAccountPayload = payloadOf('VerifyAccount', 'account', OperatorAccount);
const HoldAccountPayload = payloadOf('HoldAccount', 'account', OperatorAccount);
const DeactivateAccountPayload = payloadOf('DeactivateAccount', 'account', OperatorAccount);
const IssueAddressPayload = payloadOf('IssueAddress', 'address', OperatorAddress);
const RecordBankNoticePayload = payloadOf('RecordBankNotice', 'notice', OperatorBankNotice);
const WithdrawBankNoticePayload = payloadOf('WithdrawBankNotice', 'notice', OperatorBankNotice);
const ReconcileDepositPayload = payloadOf('ReconcileDeposit', 'deposit', OperatorDeposit);
const SettlePayoutPayload = payloadOf('SettlePayout', 'payout', OperatorPayout);
const FailPayoutPayload = payloadOf('FailPayout', 'payout', OperatorPayout);
const PlaceServiceHoldPayload = payloadOf('PlaceServiceHold', 'accountSetting', OperatorSetting);
const LiftServiceHoldPayload = payloadOf('LiftServiceHold', 'accountSetting', OperatorSetting);
const SetRatePayload = payloadOf('SetRate', 'rate', OperatorRate);

/**
 * What the operator reads and does. Each field calls one method of the Operator, as each command does.
 * Silent: all of it.
 */
@Resolver(() => OperatorAccount)
export class OperatorAccounts {
  @Query(() => OperatorAccount, { nullable: true, description: 'An account of any tenant.' })
  account(
    @Args(() => AccountArgs) { id, mode }: AccountArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorAccount> {
    return operator.account(id, liveOf(mode));
  }

  @Query(() => AccountPage, { description: 'The accounts of all tenants, or of one, oldest first.' })
  accounts(
    @Args(() => AccountsArgs) args: AccountsArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorAccount>> {
    return operator.accounts(filterOf('account', args));
  }

  @Mutation(() => VerifyAccountPayload, {
    description: 'Settles a verification, or lifts a hold. A root in live mode is a DRAFT until then.',
  })
  async verifyAccount(
    @Arg('input', () => VerifyAccountInput) { id, mode, outcome }: VerifyAccountInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { account: await operator.verify(await operator.account(id, liveOf(mode)), outcome) };
  }

  @Mutation(() => HoldAccountPayload, { description: 'Puts an account on hold.' })
  async holdAccount(
    @Arg('input', () => AccountInput) { id, mode }: AccountInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { account: await operator.hold(await operator.account(id, liveOf(mode))) };
  }

  @Mutation(() => DeactivateAccountPayload, { description: 'Deactivates an account of any type.' })
  async deactivateAccount(
    @Arg('input', () => AccountInput) { id, mode }: AccountInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { account: await operator.deactivate(await operator.account(id, liveOf(mode))) };
  }

  @Mutation(() => IssueAddressPayload, { description: 'Records a live receiving address that a bank has issued.' })
  async issueAddress(
    @Arg('input', () => IssueAddressInput) { accountId, category, currency, bankAccount }: IssueAddressInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const owner = await operator.account(accountId, true, 'address.account_id');
    const given = { category: category ?? ('service_receive' as const), currency, bankAccount };
    return { address: await operator.issueAddress(owner, given) };
  }

  @FieldResolver(() => [OperatorPerson], { description: 'The persons of the business, for its verification.' })
  async persons(@Root() row: AccountRow, @Ctx() context: OperatorContext): Promise<OperatorPerson[]> {
    return (await context.operator.verification(row, context.related)).persons;
  }

  @FieldResolver(() => [OperatorFile], { description: 'The documents that it and its persons refer to.' })
  async files(@Root() row: AccountRow, @Ctx() context: OperatorContext): Promise<OperatorFile[]> {
    return (await context.operator.verification(row, context.related)).files;
  }

  @FieldResolver(() => [OperatorAddress], { description: 'Its addresses, newest first.' })
  addresses(@Root() row: AccountRow, @Ctx() context: OperatorContext): Promise<OperatorAddress[]> {
    return context.related.all(address, address.linkedId, row, row.id);
  }

  @FieldResolver(() => OperatorSetting, { nullable: true, description: 'Its payout setting.' })
  setting(@Root() row: AccountRow, @Ctx() context: OperatorContext): Promise<OperatorSetting | null> {
    return context.related.one(accountSetting, accountSetting.accountId, row, row.id);
  }
}

@Resolver(() => OperatorPerson)
export class OperatorPersons {
  @FieldResolver(() => Relationship, { description: 'Its roles in the business.' })
  relationship(@Root() row: PersonRow): Relationship {
    return relationshipOf(row);
  }

  @FieldResolver(() => Identification, {
    description: 'How the person is identified; the number is masked for the operator too.',
  })
  identification(@Root() row: PersonRow): Identification {
    return identificationOf(row);
  }
}

@Resolver(() => OperatorPayout)
export class OperatorMoney {
  @Query(() => OperatorDeposit, { nullable: true, description: 'A deposit of any tenant.' })
  deposit(
    @Args(() => DepositArgs) { id, tenantId }: DepositArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorDeposit> {
    return operator.deposit(id, tenantId ?? undefined);
  }

  @Query(() => OperatorPayout, { nullable: true, description: 'A payout of any tenant.' })
  payout(@Arg('id', () => ID) id: string, @Ctx() { operator }: OperatorContext): Promise<OperatorPayout> {
    return operator.payout(id);
  }

  @Query(() => PayoutPage, {
    description:
      'The payouts of all tenants, or of one, oldest first; in live mode, PROCESSING payouts wait for the operator.',
  })
  payouts(
    @Args(() => PayoutsArgs) args: PayoutsArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorPayout>> {
    return operator.payouts(filterOf('payout', args));
  }

  @Query(() => [OperatorMismatch], {
    description: 'Successes that an acquirer reported and that do not match their attempts, newest first: 200 at most.',
  })
  async transactionMismatches(@Ctx() { operator }: OperatorContext): Promise<OperatorMismatch[]> {
    return (await operator.mismatches()).map(mismatchOf);
  }

  @Query(() => [OperatorRate], { description: "The exchange rates for a tenant's live payouts." })
  rates(
    @Arg('tenantId', () => ID, { description: 'The id of the root account, with or without `account_`.' })
    tenantId: string,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorRate[]> {
    return operator.rates({ tenantId });
  }

  @Mutation(() => RecordBankNoticePayload, {
    description:
      'Records what a bank has reported about a transfer. Recording the same notice again changes nothing, in any order; different content under its reference is a conflict.',
  })
  async recordBankNotice(
    @Arg('input', () => RecordBankNoticeInput) input: RecordBankNoticeInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const { event, fromAccountId, paymentMethod, statementDescriptor, allowCurrency, ...transfer } = input;
    const { notice, deposit } = await operator.bankNotice({
      ...transfer,
      event: event ?? 'received',
      fromAccountId: fromAccountId || undefined,
      paymentMethod: paymentMethod ?? undefined,
      statementDescriptor: statementDescriptor ?? undefined,
      allowCurrency: allowCurrency ?? undefined,
    });
    return { notice: noticeOf(notice, deposit) };
  }

  @Query(() => [OperatorBankNotice], {
    description: 'The reversals that wait for their deposits, of all tenants, oldest first: 200 at most.',
  })
  async waitingBankNotices(@Ctx() { operator }: OperatorContext): Promise<OperatorBankNotice[]> {
    return (await operator.waitingNotices()).map((notice) => noticeOf(notice, null));
  }

  @Mutation(() => WithdrawBankNoticePayload, {
    description: 'Withdraws a reversal that waits for its deposit, for example when its reference was wrong.',
  })
  async withdrawBankNotice(
    @Arg('input', () => WithdrawBankNoticeInput) { addressId, reference }: WithdrawBankNoticeInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { notice: noticeOf(await operator.withdrawNotice(addressId, reference), null) };
  }

  @Mutation(() => ReconcileDepositPayload, {
    description: 'Counts a completed deposit towards receivables, as the receiving user can.',
  })
  async reconcileDeposit(
    @Arg('input', () => ReconcileDepositInput) { id, tenantId, receivables }: ReconcileDepositInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { deposit: await operator.reconcile(id, receivables, tenantId ?? undefined) };
  }

  @Mutation(() => SettlePayoutPayload, { description: 'Records that a payout has arrived.' })
  async settlePayout(@Arg('input', () => PayoutInput) { id }: PayoutInput, @Ctx() { operator }: OperatorContext) {
    return { payout: await operator.endPayout(id, 'completed') };
  }

  @Mutation(() => FailPayoutPayload, { description: 'Records that a payout has failed; its money is available again.' })
  async failPayout(@Arg('input', () => PayoutInput) { id }: PayoutInput, @Ctx() { operator }: OperatorContext) {
    return { payout: await operator.endPayout(id, 'failed') };
  }

  @Mutation(() => PlaceServiceHoldPayload, { description: "Places a service hold on an account's payouts." })
  async placeServiceHold(
    @Arg('input', () => ServiceHoldInput) { accountId, mode }: ServiceHoldInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const row = await operator.account(accountId, liveOf(mode), 'account_setting.account_id');
    return { accountSetting: await operator.serviceHold(row, true) };
  }

  @Mutation(() => LiftServiceHoldPayload, { description: "Lifts the service hold on an account's payouts." })
  async liftServiceHold(
    @Arg('input', () => ServiceHoldInput) { accountId, mode }: ServiceHoldInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const row = await operator.account(accountId, liveOf(mode), 'account_setting.account_id');
    return { accountSetting: await operator.serviceHold(row, false) };
  }

  @Mutation(() => SetRatePayload, {
    description: 'Sets an exchange rate for the live payouts of a tenant, from now on.',
  })
  async setRate(
    @Arg('input', () => SetRateInput) { accountId, source, target, rate }: SetRateInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const row = await operator.account(accountId, true, 'rate.account_id');
    return { rate: await operator.setRate(row, source, target, rate) };
  }

  @FieldResolver(() => OperatorAccount, { nullable: true, description: 'The account that is paid out.' })
  account(@Root() row: PayoutRow, @Ctx() context: OperatorContext): Promise<OperatorAccount | null> {
    return context.related.one(account, account.id, row, row.accountId);
  }

  @FieldResolver(() => OperatorAddress, { nullable: true, description: 'Where it is sent.' })
  address(@Root() row: PayoutRow, @Ctx() context: OperatorContext): Promise<OperatorAddress | null> {
    return context.related.one(address, address.id, row, row.addressId);
  }
}

@Resolver()
export class OperatorLedger {
  @Query(() => LedgerAudit, { description: 'Checks the invariants of the ledger for all tenants.' })
  ledgerAudit(@Ctx() { operator }: OperatorContext): Promise<LedgerAudit> {
    return operator.audit();
  }

  @Query(() => [LedgerChain], { description: 'Checks the seal of the ledger, for every tenant and mode.' })
  ledgerSeal(@Ctx() { operator }: OperatorContext): Promise<LedgerChain[]> {
    return operator.verifySeals();
  }
}

function noticeOf(
  { tenantId, created, reference, event, content }: BankNoticeRow,
  deposit: OperatorDeposit | null,
): OperatorBankNotice {
  const { toAddressId, amount, currency } = content;
  return { tenantId, created, reference, event, addressId: toAddressId, amount: BigInt(amount), currency, deposit };
}

function mismatchOf(row: TransactionRow): OperatorMismatch {
  const { id: transactionId, paymentMethodDetails: submitted, mismatch } = row;
  return { ...row, transactionId, submitted, credited: mismatch!.credited, reported: mismatch!.details };
}

function liveOf(mode: 'test' | 'live' | null | undefined): boolean | undefined {
  return mode == null ? undefined : mode === 'live';
}

/** The filter of a list, from its arguments; null means no filter. */
function filterOf<S>(object: string, { status, mode, tenantId, first, after }: ListArgs<S>): ListFilter<S> {
  const limit = first ?? pageSizeDefault;
  if (limit < 1 || limit > pageSizeMax)
    throw new DomainError({
      ...problem('parameter_invalid', `${object}.limit`, `must be from 1 to ${pageSizeMax}`),
      path: ['first'],
    });
  return {
    status: status ?? undefined,
    livemode: liveOf(mode),
    tenantId: tenantId ?? undefined,
    after: after ?? undefined,
    limit,
  };
}

type ListArgs<S> = Pick<AccountsArgs, 'mode' | 'tenantId' | 'first' | 'after'> & { status?: S | null };
