import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';

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
