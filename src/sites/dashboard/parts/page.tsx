import { type ReactNode, useContext, useEffect } from 'react';
import { Link } from 'wouter';
import type { Money as Amount } from '../format/money';
import { BelongsTo } from './frame';
import { Money } from './money';
import { Status } from './status';

interface PageProps {
  title: string;
  /** What stands below the title. */
  subtitle?: ReactNode;
  actions?: ReactNode;
  /** The list to which the page belongs. */
  back?: { href: string; name: string } | undefined;
  children: ReactNode;
}

/** A page with its heading, which is also the title of the browser's tab. */
export function Page({ title, subtitle, actions, back, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Tidegate`;
  }, [title]);
  const belongTo = useContext(BelongsTo);
  const place = back?.href.split('?')[0];
  useEffect(() => {
    belongTo(place);
    return () => belongTo(undefined);
  }, [belongTo, place]);
  return (
    <div className="page">
      {back && (
        <Link href={back.href} className="back">
          ← {back.name}
        </Link>
      )}
      <header className="page-head">
        <div>
          <h1>{title}</h1>
          {subtitle}
        </div>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface DetailPageProps extends Omit<PageProps, 'subtitle'> {
  /** Below the title: how much, and in which state. */
  money?: Amount;
  status: string;
  /** What stands beside the rest: facts and tools. */
  side: ReactNode;
  /** What is said above both columns. */
  notes?: ReactNode;
}

/** The page of one object: what happened to it and what can be done, and its facts beside that. */
export function DetailPage({ money, status, side, notes, children, ...page }: DetailPageProps) {
  const subtitle = (
    <p className="amount-line" role="status">
      {money && <Money amount={money.amount} currency={money.currency} />}
      <Status value={status} />
    </p>
  );
  return (
    <Page {...page} subtitle={subtitle}>
      {notes}
      <div className="detail">
        <div>{children}</div>
        <div>{side}</div>
      </div>
    </Page>
  );
}

/** A part of a page with a heading of its own. */
export function Card({
  title,
  action,
  children,
  className = '',
}: {
  title?: string;
  action?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={`card ${className}`} aria-label={title}>
      {title !== undefined && (
        <header className="card-head">
          <h2>{title}</h2>
          {action}
        </header>
      )}
      {children}
    </section>
  );
}
