import { useQuery } from 'urql';
import type { ResultOf } from '../graph/graphql';
import { type Answer, FindDialog, type Hit } from '../find/box';
import { graphql } from './graphql';
import { accountAddress, Mode, nameOf, paymentAddress } from './parts';

export const FindQuery = graphql(`
  query Find($text: String!) {
    find(text: $text) {
      objects {
        type id tenantId livemode created status amount currency reference accountId depositId payoutId
        account { id livemode nickname businessDetails { legalName } }
      }
      hasMore searched hint
    }
  }
`);

type Found = ResultOf<typeof FindQuery>['find'];
type FoundObject = Found['objects'][number];

/** What the gateway answered, with where it has looked. */
interface FoundAnswer extends Answer {
  searched: readonly string[];
  hint: string | null;
}

/** The box of the console, which finds the objects of all tenants. */
export function Find({ onClose }: { onClose: () => void }) {
  return (
    <FindDialog
      label="Id, bank reference, account number or name"
      textLengthMax={300}
      useAnswer={useFound}
      said={said}
      onClose={onClose}
    />
  );
}

const isText = (text: string) => /[\p{L}\p{N}]/u.test(text);

function useFound(text: string): FoundAnswer | undefined {
  const [{ data, error, fetching, operation }] = useQuery({
    query: FindQuery,
    variables: { text },
    pause: !isText(text),
    requestPolicy: 'network-only',
  });
  // The answer to the text before is not of this one.
  if (fetching || operation?.variables.text !== text || (!data && !error)) return undefined;
  const { objects = [], hasMore = false, searched = [], hint = null } = data?.find ?? {};
  return { text, hits: objects.map((found) => hitOf(found, text)), more: hasMore, searched, hint, error };
}

/** What each kind of object is called. */
export const kinds: Readonly<Record<FoundObject['type'], string>> = {
  ACCOUNT: 'Account',
  ACCOUNT_SETTING: 'Settings of an account',
  ADDRESS: 'Address',
  ADJUSTMENT: 'Adjustment',
  API_KEY: 'API key',
  BALANCE_TRANSACTION: 'Balance transaction',
  BANK_LINE: "Line of a bank's file",
  BANK_NOTICE: 'Bank notice',
  CHANGE_REQUEST: 'Change',
  CHECKOUT: 'Checkout',
  DEPOSIT: 'Payment',
  DISPUTE: 'Dispute',
  EVENT: 'Event',
  EXPORT: 'Export',
  FILE: 'File',
  IMPORT: 'Import',
  IMPORT_ROW: 'Row of an import',
  PAYMENT: 'Entry of a balance',
  PAYMENT_ORDER: 'Payment order',
  PAYOUT: 'Payout',
  PERSON: 'Person',
  RECEIVABLE: 'Invoice',
  REFUND: 'Refund',
  REQUEST: 'Request',
  SESSION: 'Session',
  TRANSACTION: 'Attempt',
  UNEXPLAINED: 'Unexplained money',
  WEBHOOK_DELIVERY: 'Delivery of a webhook',
  WEBHOOK_ENDPOINT: 'Webhook',
};

function hitOf(found: FoundObject, text: string): Hit {
  const { type, id, livemode, created, status, amount, currency, reference, account } = found;
  return {
    id: [type, id, livemode, status].join(' '),
    href: hrefOf(found, text),
    kind: kinds[type],
    name: account ? nameOf(account) : (reference ?? kinds[type]),
    hint: account ? reference : null,
    created,
    status: status && status.toUpperCase(),
    money: amount !== null && currency !== null ? { amount, currency } : undefined,
    mark: <Mode livemode={livemode} />,
  };
}

/** The page of an object: its own, that of the payment or payout that it is about, or its list of its tenant. */
function hrefOf({ type, id, livemode, tenantId, accountId, depositId, payoutId }: FoundObject, text: string): string {
  if (type === 'ADJUSTMENT' || type === 'CHANGE_REQUEST')
    return `${type === 'ADJUSTMENT' ? '/adjustments' : '/change-requests'}?status=ALL&tenant=account_${tenantId}`;
  if (payoutId !== null) return `/payouts/${payoutId}`;
  if (depositId !== null) return tenantId === null ? `/payments/${depositId}` : paymentAddress(depositId, tenantId);
  if (type === 'BANK_LINE') return `/bank-files?show=files&file=${id}`;
  if (type === 'BANK_NOTICE') return `/bank?show=all&reference=${encodeURIComponent(id)}`;
  if (type === 'UNEXPLAINED') return `/unexplained?status=ALL&tenant=account_${tenantId}`;
  if (type === 'PAYMENT_ORDER') return `/payment-orders?order=${id}`;
  const isOnPage = ['ACCOUNT', 'ACCOUNT_SETTING', 'ADDRESS', 'PERSON'].includes(type);
  if (isOnPage && accountId !== null) return accountAddress({ id: accountId, livemode });
  // A root account has one id in both modes: the object is found again beside the account that was typed.
  const within = /\baccount_\w{1,80}/.exec(text)?.[0] ?? accountId;
  return `/found/${id}${ofTenant.has(type) ? `?account=${within}` : ''}`;
}

/** What is found in the tenant of an account alone. */
const ofTenant = new Set<FoundObject['type']>([
  ...(['API_KEY', 'BALANCE_TRANSACTION', 'EVENT', 'EXPORT', 'FILE', 'IMPORT', 'IMPORT_ROW', 'PAYMENT'] as const),
  ...(['SESSION', 'WEBHOOK_DELIVERY', 'WEBHOOK_ENDPOINT'] as const),
]);

/** What the box says below its hits, and where it has looked when it has none. */
function said(text: string, answer: FoundAnswer | undefined): string {
  if (text === '') return 'Type for example UTR123456789, the id of a payment or a request, or the name of an account.';
  if (!isText(text)) return 'Type a letter or a digit.';
  if (!answer) return 'Looking …';
  if (answer.error) return '';
  if (answer.more) return 'There are more. Type more of what you look for.';
  if (answer.hits.length > 0) return '';
  return [`Nothing was found. Searched: ${placesOf(answer.searched)}.`, answer.hint].filter(Boolean).join(' ');
}

/** The places of an answer, those together that were searched by the same. */
function placesOf(searched: readonly string[]): string {
  const places = new Map<string, string[]>();
  for (const place of searched) {
    const [what, by = ''] = place.split(' by ') as [string, string?];
    places.set(by, [...(places.get(by) ?? []), what.toLowerCase()]);
  }
  return [...places].map(([by, all]) => `${all.join(', ')}${by && ` by ${by}`}`).join('; ');
}
