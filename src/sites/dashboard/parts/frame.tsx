import { type House, Menu, Search, X } from 'lucide-react';
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Mark } from './mark';
import { OutageBar } from './outage-bar';

/** A page of the navigation. */
export interface Place {
  path: string;
  name: string;
  icon: typeof House;
  /** How much waits there; shown when it is not zero. `50+` when more than 50 wait. */
  waiting?: string | undefined;
}

interface FrameProps {
  /** The name beside the sign of the product. */
  brand: string;
  /** Who is signed in, above the navigation. */
  account: ReactNode;
  /** What of it stays visible where the navigation is folded. */
  facts?: ReactNode;
  /** The pages, in groups; a group may have a name. */
  groups: readonly { name?: string; places: readonly Place[] }[];
  /** The links and buttons at the end of the navigation. */
  end: ReactNode;
  /** What stands above all, such as the mode. */
  banners?: ReactNode;
  /** Opens the dialog that finds objects; without it there is no button for it. */
  onFind?: () => void;
  children: ReactNode;
}

/** The frame of every page: banners, the navigation, and the page. */
export function Frame({ brand, banners, facts, children, onFind, ...side }: FrameProps) {
  const [location] = useLocation();
  const [open, setOpen] = useState(false);
  const [own, setOwn] = useState<string>();
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
      {banners}
      <OutageBar />
      <header className="top">
        <Link href="/" className="brand">
          <Mark /> {brand}
        </Link>
        {facts}
        {onFind && (
          <button type="button" className="icon-button" aria-label="Find" onClick={onFind}>
            <Search aria-hidden />
          </button>
        )}
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
      <OwnPath value={own}>
        <Side open={open} brand={brand} onFind={onFind} {...side} />
      </OwnPath>
      <main id="main" ref={main} tabIndex={-1}>
        <BelongsTo value={setOwn}>{children}</BelongsTo>
      </main>
    </div>
  );
}

function Side({
  open,
  brand,
  account,
  groups,
  end,
  onFind,
}: Omit<FrameProps, 'children' | 'banners' | 'facts' | 'onFind'> & {
  open: boolean;
  onFind: FrameProps['onFind'] | undefined;
}) {
  return (
    <aside className="side" id="navigation" data-open={open} aria-label="Account and pages">
      <Link href="/" className="brand">
        <Mark /> {brand}
      </Link>
      {account}
      {onFind && (
        <button type="button" className="find-button" onClick={onFind}>
          <Search aria-hidden /> Find <kbd>Ctrl K</kbd>
        </button>
      )}
      <nav aria-label="Pages">
        {groups.map(({ name, places }) => (
          <div key={name ?? ''} className="places">
            {name && <p className="places-name">{name}</p>}
            <ul>
              {places.map((place) => (
                <li key={place.path}>
                  <PlaceLink {...place} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="side-end">{end}</div>
    </aside>
  );
}

/** Tells the navigation to which of its pages the open one belongs, where its address does not say so. */
export const BelongsTo = createContext<(path: string | undefined) => void>(() => undefined);

const OwnPath = createContext<string | undefined>(undefined);

/** A link to a page of the navigation, which knows when the page is open. */
export function PlaceLink({ path, name, icon: Icon, waiting }: Place) {
  const [location] = useLocation();
  const own = useContext(OwnPath) ?? location;
  const here = path === '/' ? own === '/' : own === path || own.startsWith(`${path}/`);
  return (
    <Link href={path} aria-current={here ? 'page' : undefined}>
      <Icon aria-hidden /> {name}
      {waiting !== undefined && waiting !== '0' && (
        <span className="waiting-count">
          {waiting}
          <span className="unseen"> waiting</span>
        </span>
      )}
    </Link>
  );
}
