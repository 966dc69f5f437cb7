import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { unexplainedMember } from '../graph/unexplained-type.js';
import { edgesOf, one, type OperatorModule, root } from '../graph/module.js';
import { account } from '../../resources/account/table.js';
import { address } from '../../resources/address/table.js';
import { deposit } from '../../resources/deposit/table.js';
import type { PayoutRow } from '../../resources/payout/table.js';
import { payloadOf } from '../../types/payload.js';
import { DateTime } from '../../types/scalars.js';
import type { TransactionRow } from '../../resources/transaction/table.js';
import type { OperatorContext } from '../context.js';
import { liveOf } from '../../request/mode.js';
import { filterOf } from '../graph/filters.js';
import {
  DepositArgs,
  FailPayoutInput,
  ReturnPayoutInput,
  LiftServiceHoldInput,
  PayoutsArgs,
  PlaceServiceHoldInput,
  ReconcileDepositInput,
  SetRateInput,
  SettlePayoutInput,
} from '../graph/inputs.js';
import { RecordBankNoticeInput, WithdrawBankNoticeInput } from '../graph/bank-inputs.js';
import type { ListPage } from '../paging.js';
import {
  OperatorAccount,
  OperatorAddress,
  OperatorDeposit,
  OperatorMismatch,
  OperatorPayout,
  OperatorRate,
  OperatorSetting,
  PayoutPage,
} from '../graph/type.js';
import { OperatorBankNotice } from '../graph/bank-type.js';
import { Input } from '../../types/input.js';
import {
  duplicateNotices,
  listMismatches,
  type NoticeOfDeposit,
  operatorDeposit,
  reconcileFor,
  recordBankNotice,
  waitingNotices,
  withdrawNotice,
} from '../money/bank.js';
import { endPayout, listPayouts, listRates, payoutOf, setRate, setServiceHold } from '../money/payouts.js';

const RecordBankNoticePayload = payloadOf('RecordBankNotice', 'notice', OperatorBankNotice, {
  others: unexplainedMember,
});
const WithdrawBankNoticePayload = payloadOf('WithdrawBankNotice', 'notice', OperatorBankNotice);
const ReconcileDepositPayload = payloadOf('ReconcileDeposit', 'deposit', OperatorDeposit);
const SettlePayoutPayload = payloadOf('SettlePayout', 'payout', OperatorPayout);
const FailPayoutPayload = payloadOf('FailPayout', 'payout', OperatorPayout);
const ReturnPayoutPayload = payloadOf('ReturnPayout', 'payout', OperatorPayout);
const PlaceServiceHoldPayload = payloadOf('PlaceServiceHold', 'accountSetting', OperatorSetting);
const LiftServiceHoldPayload = payloadOf('LiftServiceHold', 'accountSetting', OperatorSetting);
const SetRatePayload = payloadOf('SetRate', 'rate', OperatorRate);

/** What the operator reads and does with money: deposits, bank notices, payouts, service holds and rates. */
@Resolver()
class OperatorMoney {
  @Query(() => OperatorDeposit, { nullable: true, description: 'A deposit of any tenant.' })
  deposit(
    @Args(() => DepositArgs) { id, tenantId }: DepositArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorDeposit> {
    return operatorDeposit(operator, id, tenantId ?? undefined);
  }

  @Query(() => OperatorPayout, { nullable: true, description: 'A payout of any tenant.' })
  payout(
    @Arg('id', () => ID, { description: 'The id of the payout.' }) id: string,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorPayout> {
    return payoutOf(operator, id);
  }

  @Query(() => PayoutPage, {
    description:
      'The payouts of all tenants, or of one, newest first. PROCESSING payouts, which in live mode wait for the ' +
      'operator, are oldest first.',
  })
  payouts(
    @Args(() => PayoutsArgs) args: PayoutsArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorPayout>> {
    return listPayouts(operator, filterOf('payout', args));
  }

  @Query(() => [OperatorMismatch], {
    description: 'Successes that an acquirer reported and that do not match their attempts, newest first: 200 at most.',
  })
  async transactionMismatches(@Ctx() { operator }: OperatorContext): Promise<OperatorMismatch[]> {
    return (await listMismatches(operator)).map(mismatchOf);
  }

  @Query(() => [OperatorRate], { description: "The exchange rates for a tenant's live payouts." })
  rates(
    @Arg('tenantId', () => ID, { description: 'The id of the root account, with or without `account_`.' })
    tenantId: string,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorRate[]> {
    return listRates(operator, { tenantId });
  }

  @Mutation(() => RecordBankNoticePayload, {
    description:
      'Records what a bank has reported about a transfer. Recording the same notice again changes nothing, in ' +
      'any order; different content under its reference is a conflict. A recall takes a part of a received transfer ' +
      'back, and is recorded after its receipt; where nothing is left of the transfer, it is unexplained.',
  })
  async recordBankNotice(
    @Input(() => RecordBankNoticeInput) input: RecordBankNoticeInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const { notice, deposit, unexplained } = await recordBankNotice(operator, {
      ...input,
      event: input.event ?? 'received',
      fromAccountId: input.fromAccountId || undefined,
      paymentMethod: input.paymentMethod ?? undefined,
      statementDescriptor: input.statementDescriptor ?? undefined,
      allowCurrency: input.allowCurrency ?? undefined,
      originalReference: input.originalReference ?? undefined,
      reasonCode: input.reasonCode ?? undefined,
    });
    return { notice: noticeOf(notice, deposit), unexplained };
  }

  @Query(() => [OperatorBankNotice], {
    description: 'The reversals that wait for their deposits, of all tenants, oldest first: 200 at most.',
  })
  async waitingBankNotices(@Ctx() { operator }: OperatorContext): Promise<OperatorBankNotice[]> {
    return (await waitingNotices(operator)).map((notice) => noticeOf(notice, null));
  }

  @Query(() => [OperatorBankNotice], {
    description:
      'Notices of received money whose references differ in white space around them alone, of all tenants: those of ' +
      'one transfer one after the other, the oldest first, 200 at most. Earlier releases credited each of them. One ' +
      'that was reversed is left out. To take one back, record a reversal under its reference as it is here.',
  })
  async duplicateBankNotices(@Ctx() { operator, related }: OperatorContext): Promise<OperatorBankNotice[]> {
    const notices = await duplicateNotices(operator);
    const found = notices.map((notice) => related.one(deposit, deposit.id, notice, notice.depositId!));
    return Promise.all(notices.map(async (notice, i) => noticeOf(notice, await found[i]!)));
  }

  @Mutation(() => WithdrawBankNoticePayload, {
    description: 'Withdraws a reversal that waits for its deposit, for example when its reference was wrong.',
  })
  async withdrawBankNotice(
    @Input(() => WithdrawBankNoticeInput) { addressId, reference }: WithdrawBankNoticeInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { notice: noticeOf(await withdrawNotice(operator, addressId, reference), null) };
  }

  @Mutation(() => ReconcileDepositPayload, {
    description: 'Counts a completed deposit towards receivables, as the receiving user can.',
  })
  async reconcileDeposit(
    @Input(() => ReconcileDepositInput) { id, tenantId, receivables }: ReconcileDepositInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { deposit: await reconcileFor(operator, id, receivables, tenantId ?? undefined) };
  }

  @Mutation(() => SettlePayoutPayload, { description: 'Records that a payout has arrived.' })
  async settlePayout(@Input(() => SettlePayoutInput) input: SettlePayoutInput, @Ctx() { operator }: OperatorContext) {
    return { payout: await endPayout(operator, input.id, 'completed', { bankReference: input.bankReference }) };
  }

  @Mutation(() => FailPayoutPayload, { description: 'Records that a payout has failed; its money is available again.' })
  async failPayout(@Input(() => FailPayoutInput) input: FailPayoutInput, @Ctx() { operator }: OperatorContext) {
    return { payout: await endPayout(operator, input.id, 'failed', input) };
  }

  @Mutation(() => ReturnPayoutPayload, {
    description:
      'Records that the bank has sent a completed payout back: its money is available again, and its receivables are ' +
      'locked and no longer settled.',
  })
  async returnPayout(@Input(() => ReturnPayoutInput) input: ReturnPayoutInput, @Ctx() { operator }: OperatorContext) {
    return { payout: await endPayout(operator, input.id, 'returned', input) };
  }

  @Mutation(() => PlaceServiceHoldPayload, { description: "Places a service hold on an account's payouts." })
  async placeServiceHold(
    @Input(() => PlaceServiceHoldInput) { accountId, mode }: PlaceServiceHoldInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const row = await operator.account(accountId, liveOf(mode), 'account_setting.account_id');
    return { accountSetting: await setServiceHold(operator, row, true) };
  }

  @Mutation(() => LiftServiceHoldPayload, { description: "Lifts the service hold on an account's payouts." })
  async liftServiceHold(
    @Input(() => LiftServiceHoldInput) { accountId, mode }: LiftServiceHoldInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const row = await operator.account(accountId, liveOf(mode), 'account_setting.account_id');
    return { accountSetting: await setServiceHold(operator, row, false) };
  }

  @Mutation(() => SetRatePayload, {
    description: 'Sets an exchange rate for the live payouts of a tenant, from now on.',
  })
  async setRate(
    @Input(() => SetRateInput) { accountId, source, target, rate }: SetRateInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    const row = await operator.account(accountId, true, 'rate.account_id');
    return { rate: await setRate(operator, row, source, target, rate) };
  }
}

@Resolver(() => OperatorPayout)
class OperatorPayouts {
  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When it arrived or failed. Null while it is PROCESSING. One that came back later has this time, too.',
  })
  endedAt(@Root() row: PayoutRow, @Ctx() { related }: OperatorContext): Promise<number | null> | null {
    return row.status === 'processing' ? null : related.endedAt('payout_end', row, row.id);
  }
}

/** A notice with its deposit, as the graph shows it. */
export function noticeOf(
  { tenantId, livemode, created, reference, event, content }: NoticeOfDeposit,
  deposit: OperatorDeposit | null,
): OperatorBankNotice {
  const { toAccountId: accountId, toAddressId: addressId, currency } = content;
  const amount = BigInt(content.amount);
  return { tenantId, livemode, created, reference, event, accountId, addressId, amount, currency, deposit };
}

function mismatchOf(row: TransactionRow): OperatorMismatch {
  const { id: transactionId, paymentMethodDetails: submitted } = row;
  const { credited, details: reported, amount, currency = null } = row.mismatch!;
  const reportedAmount = amount === undefined ? null : BigInt(amount);
  return { ...row, transactionId, submitted, credited, reported, reportedAmount, reportedCurrency: currency };
}

export default {
  resolvers: [OperatorMoney, OperatorPayouts],
  fields: {
    deposit: 'deposit',
    payout: 'payout',
    payouts: 'payout',
    transactionMismatches: 'transaction',
    rates: 'rate',
    recordBankNotice: 'deposit',
    waitingBankNotices: 'deposit',
    duplicateBankNotices: 'deposit',
    withdrawBankNotice: 'deposit',
    reconcileDeposit: 'deposit',
    settlePayout: 'payout',
    failPayout: 'payout',
    returnPayout: 'payout',
    placeServiceHold: 'account_setting',
    liftServiceHold: 'account_setting',
    setRate: 'rate',
  },
  edges: [
    edgesOf(OperatorPayout, {
      root,
      account: one(OperatorAccount, account, account.id, 'accountId', 'The account that is paid out.'),
      address: one(OperatorAddress, address, address.id, 'addressId', 'Where it is sent.'),
    }),
    edgesOf(OperatorBankNotice, {
      root,
      account: one(OperatorAccount, account, account.id, 'accountId', 'The account that receives at the address.'),
    }),
    edgesOf(OperatorMismatch, {
      root,
      account: one(OperatorAccount, account, account.id, 'actingAccountId', 'The account whose checkout it is.'),
    }),
    edgesOf(OperatorRate, { root }),
  ],
  sizes: {
    'Query.rates': 200,
    'Query.waitingBankNotices': 200,
    'Query.duplicateBankNotices': 200,
    'Query.transactionMismatches': 200,
  },
} satisfies OperatorModule;
