import { Link } from 'wouter';
import { words } from '../format/words';
import { AccountLink, nameOf, paymentAddress } from './parts';

/** What is called otherwise than its id begins. */
const nouns: Readonly<Record<string, string>> = {
  change_request: 'Change',
  deposit: 'Payment',
  opk: 'Operator',
  receivable: 'Invoice',
  transaction: 'Attempt',
};

/** What an id is of, in a word. */
export function nounOf(id: string): string {
  const noun = id.replace(/_[^_]*$/, '');
  return nouns[noun] ?? words(noun);
}

interface NamedObject {
  id: string;
  /** Null where it is not known. */
  tenantId: string | null;
  /** The account that it is about, where it is about one. */
  account: (Parameters<typeof nameOf>[0] & { livemode: boolean }) | null;
}

/** An object by what it is and whose, with links to both; its id is small below them. */
export function ObjectOf({ id, tenantId, account }: NamedObject) {
  const isAccount = account?.id === id;
  return (
    <span className="two-lines">
      <span>
        {!isAccount && <ObjectPage id={id} tenantId={tenantId} />}
        {account && !isAccount && ' · '}
        {account && <AccountLink {...account}>{nameOf(account)}</AccountLink>}
      </span>
      <code className="hint">{id}</code>
    </span>
  );
}

function ObjectPage({ id, tenantId }: Pick<NamedObject, 'id' | 'tenantId'>) {
  const noun = nounOf(id);
  if (id.startsWith('payout_')) return <Link href={`/payouts/${id}`}>{noun}</Link>;
  if (id.startsWith('payment_order_')) return <Link href={`/payment-orders?order=${id}`}>{noun}</Link>;
  if (id.startsWith('deposit_') && tenantId !== null) return <Link href={paymentAddress(id, tenantId)}>{noun}</Link>;
  return noun;
}

/** A tenant by the name of its root account, with a link. */
export const tenantFact = (root: NamedObject['account']) =>
  ['Tenant', root && <AccountLink {...root}>{nameOf(root)}</AccountLink>] as const;
