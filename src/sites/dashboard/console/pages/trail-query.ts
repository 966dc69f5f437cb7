import type { ResultOf } from '../../graph/graphql';
import { graphql } from '../graphql';

const Named = graphql(`
  fragment Named on Account { id livemode type status nickname businessDetails { legalName } }
`);

const OfTrail = graphql(
  `
    fragment OfTrail on Trail {
      bankNotices { reference event created }
      allocations {
        created amount currency status
        receivable { id referenceNumber dueDate amount currency status accountId }
        deposit {
          id tenantId created amount currency status bankReference payerName
          fromAccount { ...Named }
        }
        payout {
          id created livemode amount currency sourceAmount sourceCurrency rate status reasonCode bankReference endedAt
          orderId address { id name bankAccount { bankName last4 } }
        }
      }
      hasMoreAllocations
      postings { id kind created entries { accountId compartment contra amount currency account { ...Named } } }
      paidAccount { ...Named statusSince root { ...Named } }
      nextPayoutAt
      payoutsBlockedBy { reasonCode currency }
    }
  `,
  [Named],
);

/** The way of the money of a deposit. */
export const PaymentTrailQuery = graphql(
  `
    query PaymentTrail($id: ID!, $tenantId: ID) {
      trail(id: $id, tenantId: $tenantId) {
        ...OfTrail
        checkout { amount grossAmount currency }
        deposit {
          id created livemode tenantId amount currency paymentMethod statementDescriptor status reasonCode pendingRest
          bankReference payerName
          fromAccount { ...Named }
          toAccount { ...Named }
          toAddress { id category currency bankAccount { bankName number iban } }
          disputedDeposit { id amount currency }
          takenBack { id created amount currency status reasonCode }
          refunds { id created amount currency status reason failureReason endedAt }
          disputes { id created amount currency status reasonCode }
        }
      }
    }
  `,
  [OfTrail, Named],
);

/** The way of the money of a payout. */
export const PayoutTrailQuery = graphql(
  `
    query PayoutTrail($id: ID!) {
      trail(id: $id) {
        ...OfTrail
        payout {
          id created livemode tenantId accountId amount currency sourceAmount sourceCurrency rate status reasonCode
          bankReference endedAt orderId
          account { id nickname businessDetails { legalName } }
          address { id name bankAccount { bankName last4 } }
        }
      }
    }
  `,
  [OfTrail, Named],
);

export type PaymentTrail = NonNullable<ResultOf<typeof PaymentTrailQuery>['trail']>;
export type PaymentOfTrail = NonNullable<PaymentTrail['deposit']>;
export type PayoutTrail = NonNullable<ResultOf<typeof PayoutTrailQuery>['trail']>;
export type OwnPayout = NonNullable<PayoutTrail['payout']>;
export type TrailParts = ResultOf<typeof OfTrail>;
export type Allocation = TrailParts['allocations'][number];
