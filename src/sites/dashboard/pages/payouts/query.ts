import { graphql, type ResultOf } from '../../graph/graphql';
import { NameFragment } from '../../session';

/** One payout, for its page. */
export const PayoutQuery = graphql(
  `
    query Payout($id: ID!) {
      payout(id: $id) {
        id created amount currency sourceAmount sourceCurrency rate status expectedArrivalAt paymentId
        reasonCode bankReference completedAt updatedAt
        retriedBy { id created status }
        account {
          type status statusSince ...Name owner { id }
          nextPayoutAt
          payoutsBlockedBy { reasonCode currency }
          businessDetails {
            legalName
            ids { business tax taxGst taxTrade }
            physicalAddress { line1 line2 city state postalCode country }
          }
        }
        address { id name bankAccount { bankName last4 } }
      }
    }
  `,
  [NameFragment],
);

/** The payout of the page, which its statement reads too. */
export type PayoutDetail = NonNullable<ResultOf<typeof PayoutQuery>['payout']>;
