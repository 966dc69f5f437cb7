import { initGraphQLTada, type ResultOf } from 'gql.tada';
import type { introspection, scalars } from 'tidegate-client/graph';

/** Results and variables are typed from the schema. */
const graphql = initGraphQLTada<{ introspection: introspection; scalars: scalars; disableMasking: true }>();

/** The users for which a platform can act. */
export const UsersQuery = graphql(`
  query Users {
    accounts(first: 100, filter: { type: [USER], status: [ACTIVATED] }) { nodes { id nickname } }
  }
`);

/** The last event before a page is read: the subscription says what happens from then on. */
export const PositionQuery = graphql(`
  query Position {
    events(first: 1) { nodes { id number } }
  }
`);

const PaymentFragment = graphql(`
  fragment Payment on Deposit {
    __typename
    id
    created
    status
    amount
    currency
    pendingRest
    toAccount { id nickname }
    fromAccount {
      id
      nickname
      billedReceivables(first: 10, filter: { status: [OPEN] }) {
        nodes { id currency amountReconcilable invoice { referenceNumber } }
      }
    }
  }
`);

export const PaymentsQuery = graphql(
  `
    query Payments($after: ID) {
      deposits(first: 20, after: $after) {
        edges { cursor node { ...Payment } }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [PaymentFragment],
);

export const ReconcileMutation = graphql(
  `
    mutation Reconcile($deposit: ID!, $receivable: ID!, $amount: Amount!) {
      reconcileDeposit(input: { id: $deposit, receivables: [{ id: $receivable, amount: $amount }] }) {
        __typename
        deposit { ...Payment }
      }
    }
  `,
  [PaymentFragment],
);

export const ChangesSubscription = graphql(
  `
    subscription Changes($after: SafeInt) {
      events(afterNumber: $after, types: ["deposit.*"]) { id number type subject { __typename ...Payment } }
    }
  `,
  [PaymentFragment],
);

export type Payment = ResultOf<typeof PaymentFragment>;
export type User = NonNullable<ResultOf<typeof UsersQuery>['accounts']>['nodes'][number];
export type Change = ResultOf<typeof ChangesSubscription>['events'];
export type Invoice = NonNullable<NonNullable<Payment['fromAccount']>['billedReceivables']>['nodes'][number];
