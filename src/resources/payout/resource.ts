import { everyone, testOnly } from '../../auth/permissions.js';
import { DateTime } from '../../types/scalars.js';
import { type AccountRow, account } from '../account/table.js';
import { address } from '../address/table.js';
import { payment } from '../payment/table.js';
import { momentOf } from '../ledger/completed.js';
import { defineResource, extension, stored } from '../define.js';
import { fields, link, many, node, one, page, value } from '../edges.js';
import { payoutProblemOf } from './address-problem.js';
import { expectedArrivalOf } from './arrival.js';
import { NextPayout, nextPayoutAt, nextPayouts, PayoutObstacle, payoutsBlockedBy } from './plan.js';
import { PayoutArgs, payoutListing, PayoutOfAccountArgs } from './listing.js';
import { PayoutResolver } from './resolver.js';
import { PayoutReasonCode, type PayoutRow, payout, payoutBlock } from './table.js';
import { Payout, PayoutBlock, PayoutConnection } from './type.js';
import { payoutBlockV1, payoutV1 } from './v1.js';
import { moneyOf } from '../balance/type.js';

export default defineResource({
  object: 'payout',
  node: node('payout', payout, Payout, { listing: payoutListing, connection: PayoutConnection, compiled: true }),
  stored: { payout: stored(payout, payoutV1), payout_block: stored(payoutBlock, payoutBlockV1) },
  resolvers: [PayoutResolver],
  operations: {
    payout: {
      reads: one('A payout that the caller can see, by its id.'),
      access: 'read',
      callers: everyone,
      routes: [extension.get('/v1/payouts/:id')],
    },
    payouts: {
      reads: many(PayoutArgs, "The payouts of the accounts on the caller's list."),
      access: 'read',
      callers: everyone,
      routes: [extension.list('/v1/payouts')],
    },
    settleTestPayout: {
      ...testOnly,
      textLengthMax: 255,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/test_helpers/payouts/:id/settle')],
    },
    failTestPayout: {
      ...testOnly,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/test_helpers/payouts/:id/fail')],
    },
    returnTestPayout: {
      ...testOnly,
      refusals: ['status_invalid'],
      routes: [extension.post('/v1/test_helpers/payouts/:id/return')],
    },
  },
  fields: [
    fields(payout, {
      completedAt: momentOf(
        ({ id, status }: PayoutRow) => (status === 'completed' ? ['payout_end', id] : null),
        'When the money left the balance for good. Null unless the payout is COMPLETED.',
      ),
      ...moneyOf({ amount: 'currency', sourceAmount: 'sourceCurrency' }),
      account: link(account, 'accountId', { description: 'The account that is paid out.' }),
      address: link(address, 'addressId', { description: 'The address to which the money is sent.' }),
      payment: link(payment, 'paymentId', { description: 'The payment of this payout.' }),
      retriedBy: link(payout, 'retriedById', {
        nullable: true,
        description:
          'The payout that took the money out again, after this one failed or was returned. Null while the money is ' +
          'still there: `account.nextPayoutAt` and `account.payoutsBlockedBy` say when it goes out, or why not.',
      }),
      expectedArrivalAt: value(() => DateTime, expectedArrivalOf, {
        nullable: true,
        description:
          'The time by which the money is expected to have arrived: a minute after the creation in test mode, ' +
          'the end of the next working day (Monday to Friday, UTC) in live mode. Null for a FAILED or RETURNED ' +
          'payout.',
      }),
    }),
    fields(account, {
      payouts: page(payout, payout.accountId, { args: PayoutOfAccountArgs, description: "The account's payouts." }),
      nextPayoutAt: value(() => DateTime, nextPayoutAt, {
        nullable: true,
        description:
          'When the next payout is due, by `viewer.now`: of the money that is available, or that will be by ' +
          'then. Null where `payoutsBlockedBy` concerns the account or all its available money, and while ' +
          'money is awaited that is paid out at once (`liveFx`).',
      }),
      nextPayouts: value(() => [NextPayout], nextPayouts, {
        description:
          'What the payouts at `nextPayoutAt` would be if they were made now, one for each currency of the available ' +
          'money: what would arrive, and at which rate. Empty while nothing would be paid out: `payoutsBlockedBy` ' +
          'says why. Money that becomes available until then goes out with it, at the rate of that time.',
      }),
      payoutsBlockedBy: value(() => [PayoutObstacle], payoutsBlockedBy, {
        description:
          'Why the account, or its available money in a currency, would not be paid out at present. Empty when ' +
          'nothing prevents payouts. `payoutBlocks` says what prevented the last one.',
      }),
      payoutBlocks: value(
        () => [PayoutBlock],
        (row: AccountRow, { scope }) => scope.all(payoutBlock, payoutBlock.accountId, row.id),
        {
          description:
            'Why available money was not paid out when it was last due, by currency. Empty when nothing ' +
            'prevents payouts, and when payouts are disabled: `setting.payouts` then has the reason.',
        },
      ),
    }),
    fields(address, {
      payouts: page(payout, payout.addressId, {
        args: PayoutOfAccountArgs,
        description: 'The payouts that were sent to this address.',
      }),
      payoutProblem: value(() => PayoutReasonCode, payoutProblemOf, {
        nullable: true,
        description:
          'Why the last payout to it failed or came back: look at the address, and replace it if it is wrong. Null ' +
          'if the last payout has arrived or is under way, or if there was none.',
      }),
    }),
    fields(payment, {
      payout: link(payout, 'id', {
        by: payout.paymentId,
        nullable: true,
        description: 'The payout that it is, if it is one.',
      }),
    }),
  ],
  // An account has at most one per currency.
  sizes: { 'Account.nextPayouts': 10, 'Account.payoutBlocks': 10, 'Account.payoutsBlockedBy': 10 },
  events: {
    'payout.processing': 'A payout was made, and its money is on its way.',
    'payout.completed': 'The money of a payout has arrived.',
    'payout.failed': 'A payout has failed, and its money is available again.',
    'payout.returned': 'The bank has sent a completed payout back, and its money is available again.',
    'payout.blocked': {
      when: 'Money that was due could not be paid out, for a new reason.',
      object: 'payout_block',
    },
  },
});
