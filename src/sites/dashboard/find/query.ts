import { hundredths, typedAmount } from '../format/money';
import { graphql } from '../graph/graphql';
import { PayerFragment } from '../graph/payer';
import { NameFragment } from '../session';

// The statuses are of several types, so one document that asks for all of them needs names of its own.
export const DepositFound = graphql(
  `
    fragment DepositFound on Deposit {
      __typename id created amount currency depositStatus: status ...Payer
    }
  `,
  [PayerFragment],
);
export const ReceivableFound = graphql(
  `
    fragment ReceivableFound on Receivable {
      __typename id created currency receivableStatus: status
      invoice { amount referenceNumber }
      customer { ...Name }
    }
  `,
  [NameFragment],
);
export const PayoutFound = graphql(
  `
    fragment PayoutFound on Payout {
      __typename id created amount currency payoutStatus: status bankReference
      account { ...Name }
    }
  `,
  [NameFragment],
);
export const CheckoutFound = graphql(`
  fragment CheckoutFound on Checkout { __typename id created amount currency checkoutStatus: status }
`);
export const AccountFound = graphql(
  `
    fragment AccountFound on Account { __typename ...Name created type accountStatus: status }
  `,
  [NameFragment],
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

/** The longest text to search for, as in lists. */
export const textLengthMax = 100;

/** The beginnings of the ids of what can be found by its id. */
const nouns = new Set([
  ...['account', 'address', 'change_request', 'checkout', 'deposit', 'dispute', 'export', 'file', 'import', 'payment'],
  ...['payout', 'person', 'receivable', 'refund', 'req', 'transaction', 'webhook'],
]);
/** An id of the gateway, of whatever kind: no number of an invoice and no reference of a bank is like it. */
const anyId = /^[a-z]+(?:_[a-z]+)*_[0-9a-f]{32}$/;

/** What a text may be: an id, also one of a kind that cannot be found by it, or else words, an amount, or both. */
export function readText(text: string): { id?: string; isOtherId?: boolean; amount?: string; words?: string } {
  if (text === '' || text.length > textLengthMax) return {};
  const [, noun = ''] = /^(\w+)_[^_\W]+$/.exec(text) ?? [];
  if (nouns.has(noun)) return { id: text };
  if (anyId.test(text)) return { isOtherId: true };
  if (!/[\p{L}\p{N}]/u.test(text)) return {};
  const amount = typedAmount(text);
  const isAmount = /^\d{1,13}\.\d\d$/.test(amount) && hundredths(amount) > 0n;
  return { words: text, ...(isAmount && { amount }) };
}
