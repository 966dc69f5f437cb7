/** What needs attention, as `Account.attention` has it. */
export interface Waiting {
  kind: string;
  severity: string;
  count: { value: number; precision: string };
  since: string | null;
  dueBy: string | null;
}

interface Kind {
  /** What waits, of one object and of several. */
  one: string;
  several: (count: string) => string;
  /** What the link to it says: what can be done there. */
  action: string;
  /** The page that lists all of it, at whose place in the navigation it is counted. */
  all: string;
}

const ofAccounts = { all: '/users', action: 'See account' };

const kinds: Record<string, Kind> = {
  ACCOUNT_DEACTIVATED: { ...ofAccounts, one: 'Deactivated', several: (count) => `${count} accounts are deactivated` },
  ACCOUNT_INCOMPLETE: {
    ...{ ...ofAccounts, action: 'Complete' },
    ...{ one: 'Details missing', several: (count) => `${count} accounts lack details` },
  },
  ACCOUNT_ON_HOLD: { ...ofAccounts, one: 'On hold', several: (count) => `${count} accounts are on hold` },
  ACCOUNT_VERIFYING: {
    ...ofAccounts,
    one: 'Being verified',
    several: (count) => `${count} accounts are being verified`,
  },
  CHECKOUT_EXPIRED: {
    ...{ one: 'Checkout expired without payment', several: (count) => `${count} checkouts expired without payment` },
    ...{ action: 'See checkout', all: '/checkouts?status=EXPIRED' },
  },
  DEPOSIT_UNRECONCILED: {
    ...{ one: '1 payment to reconcile', several: (count) => `${count} payments to reconcile` },
    ...{ action: 'Reconcile', all: '/payments?show=unreconciled' },
  },
  DISPUTE_OPEN: {
    ...{ one: 'Dispute to answer', several: (count) => `${count} disputes to answer` },
    ...{ action: 'Answer', all: '/payments?show=disputes&status=OPEN' },
  },
  PAYOUT_FAILED: {
    ...{ one: 'Payout failed', several: (count) => `${count} payouts did not arrive` },
    ...{ action: 'See why', all: '/payouts?status=NOT_ARRIVED' },
  },
  PAYOUTS_BLOCKED: {
    ...{ one: 'Payouts blocked', several: (count) => `${count} accounts with blocked payouts` },
    ...{ action: 'See payouts', all: '/payouts' },
  },
  RECEIVABLE_OVERDUE: {
    ...{ one: '1 invoice overdue', several: (count) => `${count} invoices overdue` },
    ...{ action: 'See invoices', all: '/receivables?show=overdue' },
  },
  WEBHOOK_FAILING: {
    ...{ one: 'Webhook failing', several: (count) => `${count} webhooks failing` },
    ...{ action: 'See webhook', all: '/developers/webhooks' },
  },
};

/** A kind that only a newer gateway knows is shown as well. */
const kindOf = (kind: string): Kind =>
  kinds[kind] ?? { one: kind, several: (count) => `${count} ${kind}`, action: 'See', all: '/' };

/** A number that may be counted up to a maximum only: `100+`. */
const countText = ({ value, precision }: Waiting['count']): string =>
  `${value.toLocaleString()}${precision === 'AT_LEAST' ? '+' : ''}`;

/** What waits, in words. */
export function attentionWords({ kind, count }: Pick<Waiting, 'kind' | 'count'>): string {
  const { one, several } = kindOf(kind);
  return count.value === 1 && count.precision === 'EXACT' ? one : several(countText(count));
}

/** What the link to it says. */
export const attentionAction = ({ kind }: Pick<Waiting, 'kind'>): string => kindOf(kind).action;

/** The page that lists all of a kind. */
export const attentionList = ({ kind }: Pick<Waiting, 'kind'>): string => kindOf(kind).all;

/** Whether it is about an account itself, which its platform sees on its own pages. */
export const isOfAccount = ({ kind }: Pick<Waiting, 'kind'>): boolean => kind.startsWith('ACCOUNT_');

/** How urgent it is, for those who do not see the colour. */
export const severityWords = (severity: string): string =>
  ({ CRITICAL: 'Urgent', WARNING: 'To do' })[severity] ?? 'Note';

/** How much waits at each place of the navigation, by its path. */
export function waitingAt(counts: readonly Pick<Waiting, 'kind' | 'count'>[]): Map<string, string> {
  const places = new Map<string, Waiting['count']>();
  for (const { kind, count } of counts) {
    const [path] = /^\/\w*/.exec(attentionList({ kind })) ?? ['/'];
    const before = places.get(path!);
    const precision = [before, count].some((each) => each?.precision === 'AT_LEAST') ? 'AT_LEAST' : 'EXACT';
    places.set(path!, { value: count.value + (before?.value ?? 0), precision });
  }
  return new Map([...places].map(([path, count]) => [path, countText(count)]));
}
