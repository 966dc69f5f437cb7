import { graphql, type ResultOf } from '../../graph/graphql';
import { PayerFragment } from '../../graph/payer';
import { NameFragment } from '../../session';

/** One receivable, for its page. */
export const ReceivableQuery = graphql(
  `
    query Receivable($id: ID!) {
      viewer { now }
      receivable(id: $id) {
        id
        customer { ...Name }
        created currency status description amountMaximumReconcilable amountReconcilable amountLocked
        amountSettledPayouts purposeCode purposeCodeDescription transactionType
        account { type ...Name owner { id } }
        invoice { amount creationDate dueDate referenceNumber }
        document { id filename }
        systemMessages { message created }
        allocations(first: 50) {
          nodes {
            created amount currency status
            deposit { id ...Payer }
            payout { id created }
          }
        }
      }
    }
  `,
  [NameFragment, PayerFragment],
);

/** The receivable of the page, which its dialogs read too. */
export type ReceivableDetail = NonNullable<ResultOf<typeof ReceivableQuery>['receivable']>;
