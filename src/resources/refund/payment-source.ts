import { createUnionType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { prefixOf } from '../../types/relay-node.js';
import { adjustment } from '../adjustment/table.js';
import { Adjustment, shown } from '../adjustment/type.js';
import { checkoutNow } from '../checkout/now.js';
import { Checkout } from '../checkout/type.js';
import { deposit } from '../deposit/table.js';
import { Deposit } from '../deposit/type.js';
import { dispute } from '../dispute/table.js';
import { Dispute } from '../dispute/type.js';
import { payout } from '../payout/table.js';
import { Payout } from '../payout/type.js';
import { refund } from './table.js';
import { Refund } from './type.js';
import type { PaymentRow, PaymentType } from '../payment/table.js';

/** The types of what payments are of, by the prefixes of their ids. */
const types: Record<string, string> = {
  adjustment: 'Adjustment',
  checkout: 'Checkout',
  deposit: 'Deposit',
  dispute: 'Dispute',
  payout: 'Payout',
  refund: 'Refund',
};

/** What payments are of. Silent: all of it. */
export const PaymentSource = createUnionType({
  name: 'PaymentSource',
  description:
    'What a payment is of. A recall of a bank, and a dispute from before version 0.4, is a deposit with a negative ' +
    'amount.',
  types: () => [Adjustment, Checkout, Deposit, Dispute, Payout, Refund] as const,
  resolveType: ({ id }) => types[prefixOf(id)],
});

type Find = (row: PaymentRow, context: Pick<Context, 'scope'>) => Promise<object | null>;
const depositOf: Find = ({ depositId }, { scope }) => scope.find(deposit, depositId);

/** How the object of a payment is found, by the type of the payment. */
const finds: Record<PaymentType, Find> = {
  deposit: depositOf,
  // The recall of a bank, and what was disputed before there were disputes as objects, is a deposit alone.
  dispute: async (row, context) =>
    (await context.scope.findBy(dispute, dispute.debitDepositId, row.depositId ?? '')) ?? depositOf(row, context),
  checkout: ({ checkoutId }, { scope }) => scope.find(checkoutNow, checkoutId),
  payout: ({ id }, { scope }) => scope.findBy(payout, payout.paymentId, id),
  refund: ({ id }, { scope }) => scope.findBy(refund, refund.paymentId, id),
  adjustment: async ({ id }, { scope }) => {
    const row = await scope.findBy(adjustment, adjustment.paymentId, id);
    return row && shown(row);
  },
  transfer: () => Promise.resolve(null),
};

/** The object that a payment is of; null for a transfer. */
export const sourceOf: Find = (row, context) => finds[row.type](row, context);
