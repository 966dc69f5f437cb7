import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Column } from '../parts/table';

/** The mode, in which live mode stands out: there real money moves. */
export function Mode({ livemode }: { livemode: boolean }) {
  return <span className={`mode ${livemode ? 'live' : 'test'}`}>{livemode ? 'Live' : 'Test'}</span>;
}

/** A tenant by the end of its id, which differs most; the whole id is the title. */
function Tenant({ id }: { id: string }) {
  return (
    <code className="tenant" title={id}>
      …{id.slice(-8)}
    </code>
  );
}

interface Place {
  /** Null where the mode is not known. */
  livemode: boolean | null;
  tenantId: string;
  /** The root account of the tenant, where it is known. */
  root?: Parameters<typeof nameOf>[0] | null;
}

/** The mode and the tenant of an object: by the name of its root account, whose id is the title. */
export function OfTenant({ livemode, tenantId, root }: Place) {
  return (
    <span className="of-tenant">
      {livemode !== null && <Mode livemode={livemode} />}{' '}
      {root ? <span title={root.id}>{nameOf(root)}</span> : <Tenant id={tenantId} />}
    </span>
  );
}

/** The mode and the tenant of a row: the console shows all of them. */
export const placeColumn: Column<Place & { id: string }> = {
  head: 'Mode and tenant',
  plain: true,
  cell: (place) => <OfTenant {...place} />,
};

/** A page of a list of the operator's graph, in the shape of the shared list. */
export function pageOf<Row>(page: { nodes: Row[]; next: string | null } | undefined) {
  return page && { nodes: page.nodes, pageInfo: { hasNextPage: page.next !== null, endCursor: page.next } };
}

export const modes = ['LIVE', 'TEST'] as const;

/** What an account is called. */
export function nameOf(account: {
  id: string;
  nickname: string | null;
  businessDetails: { legalName: string | null };
}): string {
  return account.businessDetails.legalName ?? account.nickname ?? account.id;
}

/** The address of an account's page. A root has one id in both modes, so the mode is part of it. */
export const accountAddress = ({ id, livemode }: { id: string; livemode: boolean }) =>
  `/accounts/${id}?mode=${livemode ? 'LIVE' : 'TEST'}`;

/** A link to the page of an account. */
export function AccountLink({ children, ...account }: { id: string; livemode: boolean; children: ReactNode }) {
  return <Link href={accountAddress(account)}>{children}</Link>;
}

/** The address of the page of a payment. With the tenant it is one look-up. */
export const paymentAddress = (id: string, tenantId: string) => `/payments/${id}?tenant=${tenantId}`;

interface PaidAccount {
  accountId: string;
  livemode: boolean;
  account: Parameters<typeof nameOf>[0] | null;
  address: { name: string | null; bankAccount: { bankName: string | null; last4: string | null } | null } | null;
}

/** Who is paid by a payout. */
export const payeeOf = ({ account, accountId }: Pick<PaidAccount, 'account' | 'accountId'>): string =>
  account ? nameOf(account) : accountId;

/** The bank account to which a payout goes, by its last digits. */
export function bankOf({ address }: Pick<PaidAccount, 'address'>): string | null {
  const bank = address?.bankAccount;
  return bank ? [bank.bankName, bank.last4 && `•••• ${bank.last4}`].filter(Boolean).join(' ') : (address?.name ?? null);
}

/** Who is paid by a payout, and where. */
export function Payee({ payout }: { payout: PaidAccount }) {
  return (
    <span className="two-lines">
      <AccountLink id={payout.accountId} livemode={payout.livemode}>
        {payeeOf(payout)}
      </AccountLink>
      <span className="hint">{bankOf(payout)}</span>
    </span>
  );
}
