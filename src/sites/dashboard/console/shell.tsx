import {
  ArrowUpFromLine,
  BookCheck,
  Building2,
  CircleHelp,
  Cog,
  FileOutput,
  FileSpreadsheet,
  Gavel,
  HandCoins,
  Hourglass,
  Landmark,
  LogOut,
  OctagonPause,
  Percent,
  Scale,
  ScrollText,
  Settings,
  Undo2,
  UserCheck,
  Users,
} from 'lucide-react';
import { type ReactNode, useCallback, useState } from 'react';
import { useFindKey } from '../find/box';
import type { ResultOf } from '../graph/graphql';
import { useLive } from '../graph/live';
import { Frame, PlaceLink } from '../parts/frame';
import { Find } from './find';
import { graphql } from './graphql';
import { useSession } from './session';

/** At most as many are counted. */
const countedMax = 50;

const WaitingQuery = graphql(`
  query Waiting {
    accounts(status: VERIFYING, first: 50) { nodes { id } }
    payouts(status: PROCESSING, mode: LIVE, first: 50) { nodes { id } }
    paymentOrders(status: PROPOSED, first: 50) { nodes { id } }
    waitingBankNotices { reference }
    bankLines(state: UNMATCHED, first: 50) { nodes { id } }
    adjustments(status: PROPOSED, first: 50) { nodes { id } }
    transactionMismatches { transactionId }
    stuckWork(first: 50) { nodes { tenantId } }
  }
`);

/** A request has at most ten fields at its root. */
const ReturningQuery = graphql(`
  query Returning {
    refunds(status: PENDING, mode: LIVE, first: 50) { nodes { id } }
    disputes(status: UNDER_REVIEW, mode: LIVE, first: 50) { nodes { id } }
    unexplained(status: OPEN, mode: LIVE, first: 50) { nodes { id } }
    pendingTransactions(first: 50) { nodes { id } }
  }
`);

type Waiting = Partial<ResultOf<typeof WaitingQuery> & ResultOf<typeof ReturningQuery>>;

/** The frame of every page: who is signed in, and the pages with what waits on each. */
export function Shell({ announcement, children }: { announcement: string; children: ReactNode }) {
  const { operator, signOut } = useSession();
  const [finding, setFinding] = useState(false);
  const find = useCallback(() => setFinding(true), []);
  useFindKey(find);
  const { data } = useLive(WaitingQuery, {}, { seconds: 30 });
  const { data: returning } = useLive(ReturningQuery, {}, { seconds: 30 });
  return (
    <Frame
      brand="Operator"
      account={
        <div className="account">
          <p className="account-name">{operator.name}</p>
          <p className="account-facts">
            <span>{operator.role.toUpperCase() === 'READ' ? 'Reads only' : 'Operator'}</span>
            <span>All tenants</span>
          </p>
        </div>
      }
      groups={groupsOf({ ...data, ...returning })}
      onFind={find}
      end={
        <>
          <PlaceLink path="/settings" name="Settings" icon={Settings} />
          <button type="button" onClick={() => void signOut()}>
            <LogOut aria-hidden /> Sign out
          </button>
        </>
      }
    >
      {children}
      <p className="announcement" role="status">
        {announcement}
      </p>
      {finding && <Find onClose={() => setFinding(false)} />}
    </Frame>
  );
}

/** The pages in groups, with what waits on each. */
function groupsOf(data: Waiting) {
  const count = (...lists: ({ nodes: unknown[] } | unknown[] | undefined)[]) => {
    const total = lists.reduce<number>(
      (sum, list) => sum + (Array.isArray(list) ? list : (list?.nodes ?? [])).length,
      0,
    );
    return total < countedMax ? String(total) : `${countedMax}+`;
  };
  return [
    {
      name: 'Waiting',
      places: [
        { path: '/', name: 'Verification', icon: UserCheck, waiting: count(data.accounts) },
        { path: '/payouts', name: 'Payouts', icon: ArrowUpFromLine, waiting: count(data.payouts) },
        { path: '/payment-orders', name: 'Payment orders', icon: FileOutput, waiting: count(data.paymentOrders) },
        { path: '/bank', name: 'Bank notices', icon: Landmark, waiting: count(data.waitingBankNotices) },
        { path: '/bank-files', name: 'Bank files', icon: FileSpreadsheet, waiting: count(data.bankLines) },
        { path: '/adjustments', name: 'Adjustments', icon: Scale, waiting: count(data.adjustments) },
        { path: '/refunds', name: 'Refunds', icon: Undo2, waiting: count(data.refunds) },
        { path: '/disputes', name: 'Disputes', icon: Gavel, waiting: count(data.disputes) },
        { path: '/attempts', name: 'Attempts', icon: Hourglass, waiting: count(data.pendingTransactions) },
        { path: '/unexplained', name: 'Unexplained', icon: CircleHelp, waiting: count(data.unexplained) },
        { path: '/mismatches', name: 'Mismatches', icon: HandCoins, waiting: count(data.transactionMismatches) },
        { path: '/work', name: 'Work', icon: Cog, waiting: count(data.stuckWork) },
      ],
    },
    {
      name: 'Tenants',
      places: [
        { path: '/accounts', name: 'Accounts', icon: Building2 },
        { path: '/holds', name: 'Holds', icon: OctagonPause },
        { path: '/rates', name: 'Rates', icon: Percent },
      ],
    },
    {
      name: 'Control',
      places: [
        { path: '/ledger', name: 'Ledger', icon: BookCheck },
        { path: '/audit', name: 'Audit log', icon: ScrollText },
        { path: '/operators', name: 'Operators', icon: Users },
      ],
    },
  ];
}
