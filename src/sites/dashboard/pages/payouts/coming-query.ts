import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { pagesOf } from '../../graph/pages';
import { NameFragment } from '../../session';

const PlanFragment = graphql(
  `
    fragment PlannedAccounts on AccountConnection {
      nodes {
        id type status statusSince ...Name nextPayoutAt
        nextPayouts { sourceAmount { currency } amount { amount currency } }
        payoutsBlockedBy { reasonCode currency }
        setting { id payouts { interval } }
        balance { available { amount currency } }
      }
      pageInfo { hasNextPage endCursor }
    }
  `,
  [NameFragment],
);

const StoppedFragment = graphql(
  `
    fragment StoppedAccounts on AccountConnection {
      nodes {
        id type status statusSince ...Name
        payoutsBlockedBy { reasonCode currency }
        balance { available { amount currency } pending { amount currency } }
      }
      pageInfo { hasNextPage }
    }
  `,
  [NameFragment],
);

// Drafts are many, and few have money: those that hold the money of users have a page of their own.
const ComingQuery = graphql(
  `
    query ComingPayouts {
      viewer { now }
      accounts(filter: { type: [USER, PLATFORM], status: [ACTIVATED] }, first: 100) { ...PlannedAccounts }
      stopped: accounts(filter: { type: [USER, PLATFORM], status: [VERIFYING, HOLD, DEACTIVATED] }, first: 100) {
        ...StoppedAccounts
      }
      drafts: accounts(filter: { type: [USER, PLATFORM], status: [DRAFT] }, first: 25) { ...StoppedAccounts }
      payouts(filter: { status: [PROCESSING] }, first: 100) {
        nodes {
          id amount currency expectedArrivalAt
          account { ...Name }
        }
        pageInfo { hasNextPage }
      }
    }
  `,
  [PlanFragment, StoppedFragment, NameFragment],
);

const MoreQuery = graphql(
  `
    query MoreComingPayouts($first: Int!, $after: ID) {
      accounts(filter: { type: [USER, PLATFORM], status: [ACTIVATED] }, first: $first, after: $after) {
        ...PlannedAccounts
      }
    }
  `,
  [PlanFragment],
);

type Answer = ResultOf<typeof ComingQuery>;
/** An account with its next payout. */
export type Planned = ResultOf<typeof PlanFragment>['nodes'][number];

/** The lists from which the week is made. */
export interface Lists {
  accounts: readonly Planned[];
  payouts: NonNullable<Answer['payouts']>['nodes'];
  /** Accounts that are paid nothing because of their status. */
  stopped: ResultOf<typeof StoppedFragment>['nodes'];
  /** Whether there are accounts or payouts under way that are not among these. */
  incomplete: boolean;
  /** Whether there are stopped accounts that are not among these. */
  moreStopped: boolean;
}

/** How many accounts the week is made of at most: pages of 100 after the first one. */
const pagesMax = 9;

/**
 * What is coming, of all accounts: most callers have those on one page, and the others are read once for each answer
 * about the first page.
 */
export function useComing() {
  const result = useLive(ComingQuery, {});
  const client = useClient();
  const first = result.data?.accounts;
  const [more, setMore] = useState<{ of: typeof first; nodes: Planned[]; incomplete: boolean }>();
  useEffect(() => {
    if (!first?.pageInfo.hasNextPage) return undefined;
    let stopped = false;
    const read = async () => {
      const nodes: Planned[] = [];
      let pages = 0;
      for await (const page of pagesOf(client, MoreQuery, {}, ({ accounts }) => accounts, first.pageInfo.endCursor)) {
        if (stopped) return;
        nodes.push(...page.nodes);
        const incomplete = page.pageInfo.hasNextPage && ++pages === pagesMax;
        if (incomplete || !page.pageInfo.hasNextPage) setMore({ of: first, nodes, incomplete });
        if (incomplete) return;
      }
    };
    // A page that could not be read leaves those that were, and the next answer has it asked for again.
    read().catch(() => {});
    return () => {
      stopped = true;
    };
  }, [client, first]);
  return { result, more: first?.pageInfo.hasNextPage ? more : { nodes: [], incomplete: false } };
}
