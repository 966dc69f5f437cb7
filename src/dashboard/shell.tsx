import {
  ArrowDownToLine,
  ArrowUpFromLine,
  Code,
  FileText,
  House,
  LogOut,
  Menu,
  QrCode,
  Settings,
  Store,
  Users,
  X,
} from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ActAs } from './acting';
import { useExplorerLink } from './graph/shown';
import { Mark } from './parts/mark';
import { Lines } from './parts/skeleton';
import { nameOf, useSession } from './session';

/** The pages of the navigation. A page of one edition, or of platforms, is shown to its accounts only. */
const places: { path: string; name: string; icon: typeof House; edition?: number; platforms?: true }[] = [
  { path: '/', name: 'Home', icon: House },
  { path: '/payments', name: 'Payments', icon: ArrowDownToLine },
  { path: '/receivables', name: 'Receivables', icon: FileText },
  { path: '/checkouts', name: 'Checkouts', icon: QrCode, edition: 2 },
  { path: '/payouts', name: 'Payouts', icon: ArrowUpFromLine },
  { path: '/customers', name: 'Customers', icon: Store },
  { path: '/users', name: 'Users', icon: Users, platforms: true },
  { path: '/developers', name: 'Developers', icon: Code },
];

/** The frame of every page: the mode, the acting account, and the navigation. */
export function Shell({ children }: { children: ReactNode }) {
  const { viewer } = useSession();
  const [location] = useLocation();
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const last = useRef(location);
  useEffect(() => {
    // A new page begins at its top, and a screen reader reads its heading.
    if (last.current === location) return;
    last.current = location;
    setOpen(false);
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [location]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      {viewer.mode === 'TEST' && (
        <section className="mode-banner" aria-label="Mode">
          <strong>Test mode</strong>
          <span> · no real money moves</span>
        </section>
      )}
      <ActingBar />
      <header className="top">
        <Link href="/" className="brand">
          <Mark /> Tidegate
        </Link>
        <button
          type="button"
          className="icon-button"
          aria-expanded={open}
          aria-controls="navigation"
          aria-label={open ? 'Close the menu' : 'Open the menu'}
          onClick={() => setOpen(!open)}
        >
          {open ? <X aria-hidden /> : <Menu aria-hidden />}
        </button>
      </header>
      <Side open={open} />
      <main id="main" ref={main} tabIndex={-1}>
        {children}
        <QueryLink />
      </main>
    </div>
  );
}

function Side({ open }: { open: boolean }) {
  const { viewer, signOut } = useSession();
  const [location] = useLocation();
  return (
    <aside className="side" id="navigation" data-open={open} aria-label="Account and pages">
      <Link href="/" className="brand">
        <Mark /> Tidegate
      </Link>
      <Account />
      <nav aria-label="Pages">
        <ul>
          {places
            .filter(({ edition }) => edition === undefined || edition === viewer.edition)
            .filter(({ platforms }) => !platforms || viewer.account.type === 'PLATFORM')
            .map(({ path, name, icon: Icon }) => (
              <li key={path}>
                <Link href={path} aria-current={isAt(location, path) ? 'page' : undefined}>
                  <Icon aria-hidden /> {name}
                </Link>
              </li>
            ))}
        </ul>
      </nav>
      <div className="side-end">
        <Link href="/settings" aria-current={isAt(location, '/settings') ? 'page' : undefined}>
          <Settings aria-hidden /> Settings
        </Link>
        <button type="button" onClick={() => void signOut()}>
          <LogOut aria-hidden /> Sign out
        </button>
      </div>
    </aside>
  );
}

function isAt(location: string, path: string): boolean {
  return path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
}

function Account() {
  const { viewer } = useSession();
  const { account, edition, mode } = viewer;
  return (
    <div className="account">
      <p className="account-name" title={account.id}>
        {nameOf(account)}
      </p>
      <p className="account-facts">
        <span>{account.type === 'PLATFORM' ? 'Platform' : 'User'}</span>
        <span>Edition {edition}</span>
        <span>{mode === 'TEST' ? 'Test' : 'Live'}</span>
      </p>
      {account.type === 'PLATFORM' && <ActAs />}
    </div>
  );
}

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

/** The way to the explorer with the query of the page, to try it and to copy it. */
function QueryLink() {
  const address = useExplorerLink();
  if (!address) return null;
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
