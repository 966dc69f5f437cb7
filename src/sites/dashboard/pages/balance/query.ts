import { graphql, type ResultOf, type VariablesOf } from '../../graph/graphql';
import type { RowOf } from '../../graph/pages';
import { PayerFragment } from '../../graph/payer';
import { NameFragment } from '../../session';

const FundsFragment = graphql(`
  fragment FundsThen on BalanceOfStatement {
    total { amount }
    available { amount }
    pending { amount }
    processing { amount }
    payoutProcessing { amount }
    feeAdvance { amount }
  }
`);

/** The statement of a month without its movements, and the currencies in which the account has one. */
export const StatementQuery = graphql(
  `
    query Statement($from: DateTime!, $to: DateTime!, $currency: Currency!) {
      viewer {
        account {
          id
          balance { available { currency } }
          businessDetails { legalName physicalAddress { line1 line2 city state postalCode country } ids { taxGst } }
          balanceStatement(from: $from, to: $to, currency: $currency) {
            asOf from to currency
            opening { ...FundsThen }
            closing { ...FundsThen }
            totals { type count in { amount } out { amount } }
          }
        }
      }
    }
  `,
  [FundsFragment],
);

/** A page of the movements of a month, the oldest first. */
export const MovementsQuery = graphql(
  `
    query Movements($from: DateTime!, $to: DateTime!, $currency: Currency!, $first: Int!, $after: ID) {
      viewer {
        account {
          id
          balanceStatement(from: $from, to: $to, currency: $currency) {
            from to currency
            movements(first: $first, after: $after) {
              nodes {
                created type
                amount { amount currency }
                balanceAfter { amount currency }
                payment {
                  id
                  counterpart { ...Name }
                  account { ...Name }
                  source {
                    __typename
                    ... on Deposit { id ...Payer }
                    ... on Checkout { id payer: fromAccount { ...Name } }
                    ... on Payout { id created sourceCurrency currency bankReference }
                    ... on Refund { id refundReason: reason }
                    ... on Dispute { id depositId }
                    ... on Adjustment { reason }
                  }
                }
              }
              pageInfo { hasNextPage endCursor }
            }
          }
        }
      }
    }
  `,
  [NameFragment, PayerFragment],
);

export type AccountOfStatement = ResultOf<typeof StatementQuery>['viewer']['account'];
export type Statement = NonNullable<AccountOfStatement['balanceStatement']>;
export type Funds = Statement['opening'];
export type Total = NonNullable<Statement['totals']>[number];
export type Range = VariablesOf<typeof StatementQuery>;

/** The statement, if it is of this range: while another month is loaded, the answer is still that of the one before. */
export function ofRange<S extends Range>(statement: S | null | undefined, range: Range): S | null | undefined {
  if (!statement) return statement;
  const times = (each: Range) => [each.from, each.to].map((time) => Date.parse(time)).join();
  return times(statement) === times(range) && statement.currency === range.currency ? statement : undefined;
}
export type Movement = RowOf<
  NonNullable<ResultOf<typeof MovementsQuery>['viewer']['account']['balanceStatement']>['movements']
>;
