import { hundredths } from '../../format/money';
import { graphql, type ResultOf, type VariablesOf } from '../../graph/graphql';
import type { RowOf } from '../../graph/pages';
import { PayerFragment } from '../../graph/payer';
import { NameFragment } from '../../session';
import { PayoutOfWay } from '../payouts/way';

/** A page of the payments. */
export const PaymentsQuery = graphql(
  `
    query Payments(
      $first: Int, $after: ID, $last: Int, $before: ID, $search: String, $orderBy: DepositOrder, $amount: AmountFilter
      $created: TimeFilter, $status: [DepositStatus!], $method: [PaymentMethod!], $currency: [Currency!]
      $unreconciled: Boolean, $account: ID
    ) {
      deposits(
        first: $first, after: $after, last: $last, before: $before, search: $search, orderBy: $orderBy
        scope: DESCENDANTS, filter: {
          amount: $amount, created: $created, status: $status, method: $method, currency: $currency
          unreconciled: $unreconciled, accountId: $account
        }
      ) {
        totalCount
        nodes {
          id created amount currency status method pendingRest ...Payer
          toAccount { ...Name }
        }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  `,
  [NameFragment, PayerFragment],
);

/** A payment of the list. */
export type Payment = RowOf<ResultOf<typeof PaymentsQuery>['deposits']>;

/** Which payments the list shows. */
export type Filters = Omit<VariablesOf<typeof PaymentsQuery>, 'first' | 'after' | 'last' | 'before'>;

/** A page of the payments that count towards no invoice in whole, each with the invoices that it may pay. */
export const ToReconcileQuery = graphql(
  `
    query PaymentsToReconcile(
      $first: Int, $after: ID, $last: Int, $before: ID
      $created: TimeFilter, $method: [PaymentMethod!], $currency: [Currency!], $account: ID
    ) {
      deposits(
        first: $first, after: $after, last: $last, before: $before, scope: DESCENDANTS
        filter: {
          created: $created, method: $method, currency: $currency, accountId: $account, unreconciled: true
        }
      ) {
        totalCount
        nodes {
          id created amount currency pendingRest ...Payer
          toAccount { ...Name }
          receivableMatches {
            exact reasons
            amount { amount currency }
            receivable { id invoice { referenceNumber dueDate } }
          }
        }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  `,
  [NameFragment, PayerFragment],
);

/** A payment that is not reconciled in whole. */
export type OpenPayment = RowOf<ResultOf<typeof ToReconcileQuery>['deposits']>;
/** A receivable that a payment may pay. */
export type Match = NonNullable<OpenPayment['receivableMatches']>[number];

/** An account that may be paid out, and why it is not. */
const PaidOut = graphql(
  `
    fragment PaidOut on Account {
      ...Name status statusSince nextPayoutAt payoutsBlockedBy { reasonCode currency }
    }
  `,
  [NameFragment],
);

/** One payment, for its page. */
export const PaymentQuery = graphql(
  `
    query Payment($id: ID!) {
      deposit(id: $id) {
        id created amount currency status reasonCode method pendingRest disputed statementDescriptor
        payment { id }
        checkout { amount grossAmount currency }
        disputedDeposit { id }
        bankDetails { reference payer { name addressLines country } text }
        fromAccount { id type ...Name owner { id } }
        toAccount { type ...PaidOut owner { ...PaidOut } }
        toAddress { category }
        openedDisputes(first: 10) {
          nodes {
            id created amount currency status reasonCode acquirerReason respondBy evidenceText evidenceFileIds
            submittedAt decidedAt reference debitDepositId
          }
        }
        disputedBy(first: 10) { nodes { id created amount currency status } }
        refunds(first: 20) {
          nodes { id created completedAt failedAt amount currency status reason failureReason }
          pageInfo { hasNextPage }
        }
        allocations(first: 50) {
          nodes {
            amount currency status
            payout { ...PayoutOfWay }
            receivable { id invoice { referenceNumber } }
          }
          pageInfo { hasNextPage }
        }
      }
    }
  `,
  [NameFragment, PaidOut, PayoutOfWay],
);

/** The payment of the page, which the parts of the page read too. */
export type PaymentDetail = NonNullable<ResultOf<typeof PaymentQuery>['deposit']>;

/** A dispute of the payment. */
export type Dispute = RowOf<PaymentDetail['openedDisputes']>;

/** Whether a payment has money that counts towards no receivable yet. */
export function isUnreconciled({ status, pendingRest }: Pick<Payment, 'status' | 'pendingRest'>): boolean {
  return status === 'COMPLETED' && hundredths(pendingRest) > 0n;
}

/** The status of a payment, or that it waits for its reconciliation: all of it, or what a refund or invoice left. */
export function stateOf(payment: Pick<Payment, 'status' | 'amount' | 'pendingRest'>): string {
  if (!isUnreconciled(payment)) return payment.status;
  return payment.pendingRest === payment.amount ? 'UNRECONCILED' : 'REST_TO_RECONCILE';
}
