/** Queries that pages of dashboards ask, and whether one statement answers them. */
export const typicalQueries: readonly (readonly [query: string, compiled: boolean])[] = [
  ['{deposits(first:50){nodes{id amount fromAccount{id nickname}}}}', true],
  ['{deposits(first:10){nodes{id amount fromAccount{id nickname} toAccount{id} toAddress{id}}}}', true],
  ['{deposits(first:10){nodes{id amount receivables{id}}}}', true],
  [
    '{deposits(first:1,status:[COMPLETED]){nodes{amount currency fromAccount{nickname} ' +
      'receivables{status invoice{referenceNumber}}}}}',
    true,
  ],
  ['{accounts(first:10){nodes{id addresses(first:5){nodes{id}}}}}', true],
  ['{accounts(first:10){nodes{id depositsIn(first:5){nodes{id fromAccount{nickname}}}}}}', true],
  ['{accounts(first:10){nodes{id setting{id} balance{available{amount currency}}}}}', true],
  ['{receivables(first:10){nodes{id status amountReconcilable allocations(first:5){nodes{amount}}}}}', true],
  ['{payouts(first:10){nodes{id account{nickname} address{id}}}}', true],
  ['{deposits(first:10){nodes{id} pageInfo{hasNextPage endCursor}}}', true],
  ['{deposits(first:10){edges{cursor node{id}}}}', true],
  // Of the caller alone no statement is needed.
  ['{viewer{mode}}', false],
  ['{viewer{account{id nickname}}}', true],
  ['{events(first:10){nodes{type created}}}', true],
  ['{deposits(first:10){nodes{id} totalCount}}', true],
  ['{payments(first:10){nodes{id deposit{id}}}}', true],
  ['{deposits(first:10){nodes{id metadata paymentMethodDetails}}}', true],
];
