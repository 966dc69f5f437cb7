import type { Hit } from './box';
import { addressOf } from '../parts/object-link';
import { disputeReason } from '../format/disputes';
import { hundredths, typedAmount } from '../format/money';
import { words } from '../format/words';
import { graphql, type ResultOf } from '../graph/graphql';
import { PayerFragment, payerOf } from '../graph/payer';
import { NameFragment, nameOf } from '../session';

// The statuses are of several types, so one document that asks for all of them needs names of its own.
const DepositFound = graphql(
  `
    fragment DepositFound on Deposit {
      __typename id created amount currency depositStatus: status ...Payer
    }
  `,
  [PayerFragment],
);
const ReceivableFound = graphql(
  `
    fragment ReceivableFound on Receivable {
      __typename id created currency receivableStatus: status
      invoice { amount referenceNumber }
      customer { ...Name }
    }
  `,
  [NameFragment],
);
const PayoutFound = graphql(
  `
    fragment PayoutFound on Payout {
      __typename id created amount currency payoutStatus: status bankReference
      account { ...Name }
    }
  `,
  [NameFragment],
);
const CheckoutFound = graphql(`
  fragment CheckoutFound on Checkout { __typename id created amount currency checkoutStatus: status }
`);
const AccountFound = graphql(
  `
    fragment AccountFound on Account { __typename ...Name created type accountStatus: status }
  `,
  [NameFragment],
);

const RequestFound = graphql(`
  fragment RequestFound on RequestLog { __typename id created operation requestOutcome: outcome codes }
`);

const RefundFound = graphql(`
  fragment RefundFound on Refund { __typename id created amount currency refundStatus: status reason depositId }
`);
const DisputeFound = graphql(`
  fragment DisputeFound on Dispute { __typename id created amount currency disputeStatus: status reasonCode depositId }
`);
const PaymentFound = graphql(`
  fragment PaymentFound on Payment {
    __typename id created amount currency paymentStatus: status paymentType: type
    source {
      ... on Checkout { id }
      ... on Deposit { id }
      ... on Dispute { depositId }
      ... on Payout { id }
      ... on Refund { depositId }
    }
  }
`);
const WebhookFound = graphql(`
  fragment WebhookFound on WebhookEndpoint { __typename id created url description }
`);

/** An object by its id, whatever its type. */
export const NodeQuery = graphql(
  `
    query FoundById($id: ID!) {
      node(id: $id) {
        __typename
        ... on Deposit { ...DepositFound }
        ... on Receivable { ...ReceivableFound }
        ... on Payout { ...PayoutFound }
        ... on Checkout { ...CheckoutFound }
        ... on Account { ...AccountFound }
        ... on RequestLog { ...RequestFound }
        ... on Refund { ...RefundFound }
        ... on Dispute { ...DisputeFound }
        ... on Payment { ...PaymentFound }
        ... on WebhookEndpoint { ...WebhookFound }
      }
    }
  `,
  [
    DepositFound,
    ReceivableFound,
    PayoutFound,
    CheckoutFound,
    AccountFound,
    RequestFound,
    RefundFound,
    DisputeFound,
    PaymentFound,
    WebhookFound,
  ],
);

/** What has a text: the lists that can be searched, in the order in which they are shown. */
export const TextQuery = graphql(
  `
    query FoundByText($search: String!, $references: [String!]!, $scope: AccountScope!) {
      deposits(search: $search, scope: $scope, first: 5) {
        nodes { ...DepositFound }
        pageInfo { hasNextPage }
      }
      receivables(search: $search, scope: $scope, first: 5) {
        nodes { ...ReceivableFound }
        pageInfo { hasNextPage }
      }
      payouts(scope: $scope, first: 5, filter: { bankReference: $references }) {
        nodes { ...PayoutFound }
        pageInfo { hasNextPage }
      }
      accounts(search: $search, scope: $scope, first: 5) {
        nodes { ...AccountFound }
        pageInfo { hasNextPage }
      }
    }
  `,
  [DepositFound, ReceivableFound, PayoutFound, AccountFound],
);

/** What has exactly an amount, in one currency: amounts of several have no common order. */
export const AmountQuery = graphql(
  `
    query FoundByAmount($amount: Amount!, $currency: Currency!, $scope: AccountScope!) {
      deposits(
        orderBy: AMOUNT_DESC, scope: $scope, first: 3, filter: { amount: { eq: $amount }, currency: [$currency] }
      ) {
        nodes { ...DepositFound }
        pageInfo { hasNextPage }
      }
      receivables(
        orderBy: AMOUNT_DESC, scope: $scope, first: 3, filter: { amount: { eq: $amount }, currency: [$currency] }
      ) {
        nodes { ...ReceivableFound }
        pageInfo { hasNextPage }
      }
      payouts(
        orderBy: AMOUNT_DESC, scope: $scope, first: 3, filter: { amount: { eq: $amount }, currency: [$currency] }
      ) {
        nodes { ...PayoutFound }
        pageInfo { hasNextPage }
      }
    }
  `,
  [DepositFound, ReceivableFound, PayoutFound],
);

type Found =
  | ResultOf<typeof DepositFound>
  | ResultOf<typeof ReceivableFound>
  | ResultOf<typeof PayoutFound>
  | ResultOf<typeof CheckoutFound>
  | ResultOf<typeof AccountFound>
  | ResultOf<typeof RequestFound>
  | ResultOf<typeof RefundFound>
  | ResultOf<typeof DisputeFound>
  | ResultOf<typeof PaymentFound>
  | ResultOf<typeof WebhookFound>;

/** A found object in words. */
export function hitOf(found: Found): Hit {
  const { id, created } = found;
  return { id, created, href: hrefOf(found), ...inWords(found) };
}

/**
 * The page of an object: of a request its entry in the log, and of what has no page of its own that of what it is of.
 * What moves money without one, such as an adjustment, is on the statement of account.
 */
function hrefOf(found: Found): string {
  const of = found.__typename === 'Payment' ? found.source : found;
  if (found.__typename === 'RequestLog') return `/developers?id=${found.id}`;
  const id = of && ('depositId' in of ? of.depositId : 'id' in of ? of.id : undefined);
  return (id && addressOf(id)) || '/balance';
}

function inWords(found: Found): Omit<Hit, 'id' | 'created' | 'href'> {
  switch (found.__typename) {
    case 'Deposit': {
      const hint = found.bankDetails?.reference ?? found.statementDescriptor;
      return { status: found.depositStatus, kind: 'Payment', name: payerOf(found), hint, money: found };
    }
    case 'Receivable': {
      const money = { amount: found.invoice.amount, currency: found.currency };
      const hint = found.customer && nameOf(found.customer);
      const status = found.receivableStatus;
      return { status, kind: 'Invoice', name: found.invoice.referenceNumber, hint, money };
    }
    case 'Payout':
      return {
        ...{ status: found.payoutStatus, kind: 'Payout', hint: found.bankReference, money: found },
        name: found.account ? nameOf(found.account) : 'Payout',
      };
    case 'Checkout':
      return {
        ...{ status: found.checkoutStatus, kind: 'Checkout' },
        ...{ name: 'Checkout', hint: null, money: found },
      };
    case 'Account': {
      const kinds: Record<string, string> = { PARTNER: 'Customer', USER: 'User' };
      const kind = kinds[found.type] ?? 'Account';
      return { status: found.accountStatus, kind, name: nameOf(found), hint: null };
    }
    case 'RequestLog': {
      const hint = found.codes.join(', ') || null;
      return { status: found.requestOutcome, kind: 'Request', name: found.operation, hint };
    }
    case 'Refund':
      return { status: found.refundStatus, kind: 'Refund', name: 'Refund', hint: found.reason, money: found };
    case 'Dispute':
      return {
        ...{ status: found.disputeStatus, kind: 'Dispute', name: 'Dispute' },
        ...{ hint: disputeReason(found.reasonCode), money: found },
      };
    case 'Payment':
      return {
        status: found.paymentStatus,
        kind: 'Movement',
        name: words(found.paymentType),
        hint: null,
        money: found,
      };
    case 'WebhookEndpoint':
      return { status: null, kind: 'Webhook', name: found.url, hint: found.description };
  }
}

/** The longest text to search for, as in lists. */
export const textLengthMax = 100;

/** The beginnings of the ids of what can be found by its id. */
const prefixes = /^(account|checkout|deposit|dispute|payment|payout|receivable|refund|req|webhook)_[^_\W]+$/;

/** What a text may be: the id of an object with a page, and otherwise words, an amount, or both. */
export function readText(text: string): { id?: string; amount?: string; words?: string } {
  if (text === '' || text.length > textLengthMax) return {};
  if (prefixes.test(text)) return { id: text };
  if (!/[\p{L}\p{N}]/u.test(text)) return {};
  const amount = typedAmount(text);
  const isAmount = /^\d{1,13}\.\d\d$/.test(amount) && hundredths(amount) > 0n;
  return { words: text, ...(isAmount && { amount }) };
}
