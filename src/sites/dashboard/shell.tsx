import {
  ArrowDownToLine,
  ArrowUpFromLine,
  Code,
  FileText,
  House,
  LogOut,
  QrCode,
  Scale,
  Settings,
  Store,
  Users,
} from 'lucide-react';
import { type ReactNode, useCallback, useState } from 'react';
import { Link } from 'wouter';
import { ActAs } from './acting';
import { TestClock } from './clock';
import { useFindKey } from './find/key';
import { Find } from './find/find';
import { isStopped, stoppedWords } from './format/obstacles';
import { waitingAt } from './format/attention';
import { useTimes } from './format/time';
import { AttentionCountsQuery } from './graph/attention';
import { useLive } from './graph/live';
import { useExplorerLink } from './graph/shown';
import { Frame, type Place, PlaceLink } from './parts/frame';
import { Lines } from './parts/skeleton';
import { nameOf, useSession } from './session';

/** The pages of the navigation. A page of one edition, or of platforms, is shown to its accounts only. */
const places: (Place & { edition?: number; platforms?: true })[] = [
  { path: '/', name: 'Home', icon: House },
  { path: '/payments', name: 'Payments', icon: ArrowDownToLine },
  { path: '/receivables', name: 'Receivables', icon: FileText },
  { path: '/checkouts', name: 'Checkouts', icon: QrCode, edition: 2 },
  { path: '/payouts', name: 'Payouts', icon: ArrowUpFromLine },
  { path: '/balance', name: 'Balance', icon: Scale },
  { path: '/customers', name: 'Customers', icon: Store },
  { path: '/users', name: 'Users', icon: Users, platforms: true },
  { path: '/developers', name: 'Developers', icon: Code },
];

/** The frame of every page: the mode, the acting account, and the navigation. */
export function Shell({ children }: { children: ReactNode }) {
  const { viewer, signOut } = useSession();
  const [finding, setFinding] = useState(false);
  const find = useCallback(() => setFinding(true), []);
  useFindKey(find);
  const shown = places
    .filter(({ edition }) => edition === undefined || edition === viewer.edition)
    .filter(({ platforms }) => !platforms || viewer.account.type === 'PLATFORM');
  const { data } = useLive(AttentionCountsQuery, {}, { seconds: 30, ofFrame: true });
  const waiting = waitingAt(data?.viewer.account.attention?.counts ?? []);
  return (
    <Frame
      brand="Tidegate"
      account={<Account />}
      facts={<WhoseAccount />}
      groups={[{ places: shown.map((place) => ({ ...place, waiting: waiting.get(place.path) })) }]}
      onFind={find}
      banners={
        <>
          {viewer.mode === 'TEST' && (
            <section className="mode-banner" aria-label="Mode">
              <strong>Test mode</strong>
              <span> · no real money moves</span>
              <TestClock />
            </section>
          )}
          <ActingBar />
        </>
      }
      end={
        <>
          <PlaceLink path="/settings" name="Settings" icon={Settings} />
          <button type="button" onClick={() => void signOut()}>
            <LogOut aria-hidden /> Sign out
          </button>
        </>
      }
    >
      <StoppedBar />
      {children}
      <QueryLink />
      {finding && <Find onClose={() => setFinding(false)} />}
    </Frame>
  );
}

function Account() {
  const { viewer } = useSession();
  const { account } = viewer;
  return (
    <div className="account">
      <p className="account-name" title={account.id}>
        <Link href={`/accounts/${account.id}`}>{nameOf(account)}</Link>
      </p>
      <Facts />
      {account.type === 'PLATFORM' && <ActAs />}
    </div>
  );
}

/** The type of the account, its edition and the mode. */
function Facts() {
  const { account, edition, mode } = useSession().viewer;
  return (
    <p className="account-facts">
      <span>{account.type === 'PLATFORM' ? 'Platform' : 'User'}</span>
      <span>Edition {edition}</span>
      <span>{modes[mode]}</span>
    </p>
  );
}

/** What stays visible on a phone: whose account it is, and the mode. */
function WhoseAccount() {
  const { account, mode } = useSession().viewer;
  return (
    <p className="account-facts">
      <span className="account-name">{nameOf(account)}</span>
      <span>{modes[mode]}</span>
    </p>
  );
}

const modes = { TEST: 'Test', LIVE: 'Live' };

function ActingBar() {
  const { viewer, actAs } = useSession();
  if (!viewer.onBehalf) return null;
  return (
    <section className="acting-bar" aria-label="Acting account">
      <span>
        Acting as <strong>{nameOf(viewer.account)}</strong>
      </span>
      <button type="button" className="button small" onClick={() => actAs(null)}>
        Stop acting
      </button>
    </section>
  );
}

/** Says on every page that the account is stopped. */
function StoppedBar() {
  const { status, statusSince } = useSession().viewer.account;
  const time = useTimes();
  if (!isStopped(status)) return null;
  return (
    <section className="page stopped-bar" aria-label="Status of the account">
      {stoppedWords({ status, since: statusSince && time(statusSince, 'date') })} <Link href="/payouts">Payouts</Link>
    </section>
  );
}

/** The way to the explorer with the query of the page, to try it and to copy it. */
function QueryLink() {
  const address = useExplorerLink();
  if (!address || document.documentElement.dataset.explorer === 'off') return null;
  return (
    <p className="page query-link">
      <a href={address} target="_blank" rel="noopener">
        Show me the query
      </a>
    </p>
  );
}

/** The frame while the first answer is awaited. */
export function ShellSkeleton() {
  return (
    <div className="shell" aria-busy="true">
      <div className="side" />
      <main>
        <Lines count={6} />
      </main>
    </div>
  );
}
