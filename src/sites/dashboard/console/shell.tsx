import {
  ArrowUpFromLine,
  BookCheck,
  Building2,
  CircleHelp,
  Cog,
  FilePen,
  FileOutput,
  FileSpreadsheet,
  Gavel,
  HandCoins,
  Hourglass,
  House,
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
  Webhook,
} from 'lucide-react';
import { type ComponentType, type ReactNode, useCallback, useEffect, useState } from 'react';
import { useFindKey } from '../find/key';
import { useLive } from '../graph/live';
import { Frame, type Place, PlaceLink } from '../parts/frame';
import { countOf, queuesOf, ReturningQuery, type Waiting, WaitingQuery } from './pages/queues';
import { useSession } from './session';

/**
 * The box that finds objects. It is loaded after the first page, before it is opened: it then takes what is typed right
 * after its key.
 */
function useFindBox() {
  const [Find, setFind] = useState<ComponentType<{ onClose: () => void }>>();
  useEffect(() => {
    void import('./find').then((module) => setFind(() => module.Find));
  }, []);
  return Find;
}

/** The frame of every page: who is signed in, and the pages with what waits on each. */
export function Shell({ announcement, children }: { announcement: string; children: ReactNode }) {
  const { operator, signOut } = useSession();
  const [finding, setFinding] = useState(false);
  const find = useCallback(() => setFinding(true), []);
  useFindKey(find);
  const Find = useFindBox();
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
      {finding && Find && <Find onClose={() => setFinding(false)} />}
    </Frame>
  );
}

/** The icons of the queues, by the addresses of their pages. */
const icons: Readonly<Record<string, Place['icon']>> = {
  '/verification': UserCheck,
  '/change-requests': FilePen,
  '/payouts': ArrowUpFromLine,
  '/payment-orders': FileOutput,
  '/bank': Landmark,
  '/bank-files': FileSpreadsheet,
  '/adjustments': Scale,
  '/refunds': Undo2,
  '/disputes': Gavel,
  '/attempts': Hourglass,
  '/unexplained': CircleHelp,
  '/mismatches': HandCoins,
  '/work': Cog,
  '/webhooks': Webhook,
};

/** The pages in groups, with what waits on each. */
function groupsOf(data: Waiting) {
  const queues = queuesOf(data).map((queue) => ({
    ...{ path: queue.path, name: queue.name, icon: icons[queue.path] ?? Cog, waiting: countOf(queue) },
  }));
  return [
    { places: [{ path: '/', name: 'Home', icon: House }] },
    { name: 'Waiting', places: queues },
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
