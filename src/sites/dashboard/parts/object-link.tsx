import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** The page of an object, by the beginning of its id. Objects without a page are plain text. */
const pages: Record<string, string> = {
  account: '/accounts',
  checkout: '/checkouts',
  deposit: '/payments',
  import: '/imports',
  payout: '/payouts',
  receivable: '/receivables',
  webhook: '/developers/webhooks',
};

/** The address of the page of an object; undefined when it has none. */
export function addressOf(id: string): string | undefined {
  const page = pages[id.split('_')[0]!];
  return page && `${page}/${id}`;
}

/** A link to the page of an object, or its text where there is no such page. */
export function ObjectLink({ id, children }: { id: string; children: ReactNode }) {
  const address = addressOf(id);
  return address ? <Link href={address}>{children}</Link> : <span>{children}</span>;
}
