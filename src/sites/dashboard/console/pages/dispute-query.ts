import type { ResultOf } from '../../graph/graphql';
import { graphql } from '../graphql';

export const DisputesQuery = graphql(`
  query Disputes($status: DisputeStatus, $mode: Mode, $tenantId: ID, $after: String) {
    disputes(status: $status, mode: $mode, tenantId: $tenantId, first: 25, after: $after) {
      nodes {
        id created livemode tenantId accountId depositId amount currency status reasonCode acquirerReason respondBy
        root { id nickname businessDetails { legalName } }
        evidenceText submittedAt decidedAt reference
        evidenceFiles { id filename contentPath }
        account { id nickname businessDetails { legalName } }
        deposit { id created amount currency bankReference payerName }
      }
      next
    }
  }
`);

/** A dispute of the list, which its dialogs read too. */
export type Dispute = ResultOf<typeof DisputesQuery>['disputes']['nodes'][number];
