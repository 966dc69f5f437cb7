import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Page } from './page';

/** What a list shows when it is empty: what would be here, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** The page of an address that no page has, or of an object that does not exist. */
export function NotFound() {
  return (
    <Page title="Not found">
      <Empty title="There is nothing at this address">
        <p>The object may belong to another account or mode.</p>
        <Link href="/" className="button">
          Go to the home page
        </Link>
      </Empty>
    </Page>
  );
}
