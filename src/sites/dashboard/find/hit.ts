import type { Hit } from './box';
import { dayOf } from '../format/days';
import { disputeReason } from '../format/disputes';
import { listName } from '../format/exports';
import { words } from '../format/words';
import type { ResultOf } from '../graph/graphql';
import { payerOf } from '../graph/payer';
import { addressOf } from '../parts/object-link';
import { nameOf } from '../session';
import type { NodeQuery } from './by-id';

type Found = Extract<NonNullable<ResultOf<typeof NodeQuery>['node']>, { id: string }>;
type Beside = Extract<
  Found,
  { __typename: 'Address' | 'ChangeRequest' | 'Export' | 'File' | 'Import' | 'Person' | 'Transaction' }
>;

/** Who finds: the id of the viewer's account, and the time zone of its days. */
export interface Finder {
  accountId: string;
  timeZone: string;
}

/** A found object in words. */
export function hitOf(found: Found, finder: Finder): Hit {
  const { id, created } = found;
  return { id, created, href: hrefOf(found, finder), ...inWords(found) };
}

/**
 * The page of an object: of a request its entry in the log, and of what has no page of its own that of what it is of.
 * What moves money without one, such as an adjustment, is on the statement of account of its month and currency.
 */
function hrefOf(found: Found, { accountId, timeZone }: Finder): string {
  if (found.__typename === 'RequestLog') return `/developers?id=${found.id}`;
  // The list has the exports of the viewer alone.
  if (found.__typename === 'Export' && found.accountId === accountId) return '/settings/exports';
  const id = shownBy(found);
  const address = id === undefined ? undefined : addressOf(id);
  if (address || found.__typename !== 'Payment') return address ?? '/balance';
  const { paymentAccount: account, created, currency } = found;
  if (account.id !== accountId) return addressOf(account.id) ?? '/balance';
  return `/balance?month=${dayOf(created, timeZone).slice(0, 7)}&currency=${currency}`;
}

/** The id of the object whose page shows what was found. */
function shownBy(found: Found): string | undefined {
  switch (found.__typename) {
    case 'Refund':
    case 'Dispute':
      return found.depositId;
    case 'Payment': {
      const { source } = found;
      if (!source) return undefined;
      if ('depositId' in source) return source.depositId;
      return 'id' in source ? source.id : undefined;
    }
    case 'Address':
      return found.linkedId;
    case 'ChangeRequest':
    case 'Export':
    case 'Person':
      return found.accountId;
    case 'Transaction':
      return found.checkoutId;
    case 'File':
      return (found.usedByReceivables?.nodes[0] ?? found.imports?.nodes[0] ?? found.account).id;
    default:
      return found.id;
  }
}

type Words = Omit<Hit, 'id' | 'created' | 'href'>;

function inWords(found: Found): Words {
  switch (found.__typename) {
    case 'Deposit': {
      const hint = found.bankDetails?.reference ?? found.statementDescriptor;
      return { status: found.depositStatus, kind: 'Payment', name: payerOf(found), hint, money: found };
    }
    case 'Receivable': {
      const money = { amount: found.invoice.amount, currency: found.currency };
      const hint = found.customer && nameOf(found.customer);
      const status = found.receivableStatus;
      return { status, kind: 'Invoice', name: found.invoice.referenceNumber, hint, money };
    }
    case 'Payout':
      return {
        ...{ status: found.payoutStatus, kind: 'Payout', hint: found.bankReference, money: found },
        name: found.account ? nameOf(found.account) : 'Payout',
      };
    case 'Checkout':
      return {
        ...{ status: found.checkoutStatus, kind: 'Checkout' },
        ...{ name: 'Checkout', hint: null, money: found },
      };
    case 'Account': {
      const kinds: Record<string, string> = { PARTNER: 'Customer', USER: 'User' };
      const kind = kinds[found.type] ?? 'Account';
      return { status: found.accountStatus, kind, name: nameOf(found), hint: null };
    }
    case 'RequestLog': {
      const hint = found.codes.join(', ') || null;
      return { status: found.requestOutcome, kind: 'Request', name: found.operation, hint };
    }
    case 'Refund':
      return { status: found.refundStatus, kind: 'Refund', name: 'Refund', hint: found.reason, money: found };
    case 'Dispute':
      return {
        ...{ status: found.disputeStatus, kind: 'Dispute', name: 'Dispute' },
        ...{ hint: disputeReason(found.reasonCode), money: found },
      };
    case 'Payment':
      return {
        status: found.paymentStatus,
        kind: 'Movement',
        name: found.paymentType === 'ADJUSTMENT' ? 'Correction' : words(found.paymentType),
        hint: null,
        money: found,
      };
    case 'WebhookEndpoint':
      return { status: null, kind: 'Webhook', name: found.url, hint: found.description };
    default:
      return wordsBeside(found);
  }
}

/** The words of what has no money, and of an attempt. */
function wordsBeside(found: Beside): Words {
  switch (found.__typename) {
    case 'Address':
      return {
        ...{ status: found.addressStatus, kind: 'Address' },
        ...{ name: found.name ?? words(found.category), hint: found.currency },
      };
    case 'ChangeRequest':
      return { status: found.changeStatus, kind: 'Change', name: 'Requested change', hint: found.changeReason };
    case 'Export':
      return { status: found.exportStatus, kind: 'Export', name: listName(found.list), hint: null };
    case 'File':
      return { status: null, kind: 'File', name: found.filename, hint: words(found.purpose) };
    case 'Import':
      return {
        ...{ status: found.importStatus, kind: found.dryRun ? 'Check of an import' : 'Import' },
        ...{ name: words(found.importKind), hint: null },
      };
    case 'Person':
      return { status: null, kind: 'Person', name: found.fullName, hint: null };
    case 'Transaction':
      return {
        ...{ status: found.transactionStatus, kind: 'Attempt to pay' },
        ...{ name: words(found.method), hint: null, money: found },
      };
  }
}
