import { graphql } from './graphql';

/** What needs attention at an account: an object of it, with what leads to its page. */
export const AttentionItemFragment = graphql(`
  fragment Attention on AttentionItem {
    kind severity since dueBy
    count { value precision }
    amounts { amount currency }
    account { id nickname businessDetails { legalName } }
    object {
      __typename id
      ... on Dispute { depositId }
      ... on Payout { status }
      ... on Receivable { invoice { referenceNumber } }
    }
  }
`);

export const AttentionCountsQuery = graphql(`
  query AttentionCounts {
    viewer { account { id attention(scope: DESCENDANTS) { counts { kind count { value precision } } } } }
  }
`);
