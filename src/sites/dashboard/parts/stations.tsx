import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { formatMoney, hundredths, type Money as Amount, sum } from '../format/money';
import { type Obstacle, obstacleWords, reasonWords } from '../format/obstacles';
import { useTimes } from '../format/time';
import { counted, words } from '../format/words';
import { Money } from './money';
import { Time } from './time';
import type { Station } from './trail';

/** How many objects a station names; the tables below have the others. */
const namedMax = 3;

/** What of a payment counts towards an invoice, and the payout that has taken it along. */
interface Share extends Amount {
  status: string;
  receivable: { id: string; referenceNumber: string | null } | null;
}

/** A payout as a station shows it. */
export interface PayoutOnWay extends Amount {
  id: string;
  created: string;
  sourceAmount: string;
  sourceCurrency: string;
  rate: string | null;
  status: string;
  reasonCode: string | null;
  bankReference: string | null;
  endedAt: string | null;
}

/** The way of some money as far as it is known: the newest shares, and the account that is paid out. */
export interface Way<Each extends Share = Share> {
  allocations: readonly Each[];
  /** Whether there are more shares than `allocations` has. */
  hasMoreAllocations: boolean;
}

/** When an account is paid out, and why not. */
export interface Planned {
  paidAccount: { status: string; statusSince: string | null };
  nextPayoutAt: string | null;
  payoutsBlockedBy: readonly Obstacle[];
}

const moneyText = ({ amount, currency }: Amount) => `${formatMoney({ amount, currency })} ${currency}`;

/** The objects of a list, each once. */
export const each = <Row extends { id: string }>(rows: readonly (Row | null)[]): Row[] => [
  ...new Map(rows.flatMap((row) => (row ? [[row.id, row] as const] : []))).values(),
];

/** What stands before a number or a sum of the shares, of which a way has the newest alone. */
export const leastOf = ({ hasMoreAllocations }: Way) => (hasMoreAllocations ? 'at least ' : '');

/** The first rows in words, and how many others there are. */
const named = <Row,>(rows: readonly Row[], noun: string, of: (row: Row) => ReactNode, least = ''): ReactNode[] => [
  ...rows.slice(0, namedMax).map(of),
  ...(rows.length > namedMax ? [`and ${least}${counted(rows.length - namedMax, `other ${noun}`)}`] : []),
];

/** What the payer of a checkout has paid, where that is more than the payment. */
export const withFee = (checkout: { amount: string; grossAmount: string; currency: string } | null): ReactNode =>
  checkout &&
  checkout.grossAmount !== checkout.amount && (
    <>
      Paid <Money amount={checkout.grossAmount} currency={checkout.currency} /> with the fee
    </>
  );

interface Arrival extends Amount {
  status: string;
  created: string;
  reasonCode: string | null;
}

/** The payment itself, and why its money has not arrived. */
export function arrivalStation(payment: Arrival): Station {
  const { status, created, reasonCode } = payment;
  const state = status === 'COMPLETED' ? 'passed' : ['INITIALIZED', 'PROCESSING'].includes(status) ? 'waits' : 'failed';
  const reason = reasonCode ? ` ${words(reasonCode)}.` : '';
  const why = {
    INITIALIZED: 'It is announced, and its money has not moved yet.',
    PROCESSING: 'Its money is on the way and has not arrived yet.',
    REVERSED: `The bank has taken its money back.${reason}`,
    FAILED: `It was declined and moved no money.${reason}`,
    CANCELLED: 'It was withdrawn before it was processed.',
  }[status];
  return { name: 'Payment', state, title: <Money {...payment} />, facts: [<Time key="at" at={created} />], why };
}

/** The invoices that a payment counts towards, and what of it waits for one. */
export function invoicesStation(
  way: Way,
  { status, pendingRest, currency }: { status: string; pendingRest: string; currency: string },
  whyNone: string | undefined,
): Station {
  const { allocations } = way;
  const least = leastOf(way);
  const waits = status === 'COMPLETED' && hundredths(pendingRest) > 0n;
  const all = each(allocations.map(({ receivable }) => receivable));
  const rest = moneyText({ amount: pendingRest, currency });
  return {
    name: 'Invoices',
    state: waits ? 'waits' : all.length > 0 ? 'passed' : 'ahead',
    title: all.length > 1 ? least + counted(all.length, 'invoice') : all[0]?.referenceNumber,
    facts: named(
      allocations,
      'amount',
      ({ receivable, ...money }) =>
        [all.length > 1 && receivable?.referenceNumber, moneyText(money)].filter(Boolean).join(' · '),
      least,
    ),
    why: waits ? `${rest} waits for an invoice that it counts towards.` : all.length === 0 && whyNone,
  };
}

/** The payouts of a payment; what is in none yet waits here, with the reason. */
export function payoutStation(way: Way & Planned, payouts: readonly PayoutOnWay[]): Station {
  const locked = way.allocations.filter(({ status }) => status === 'LOCKED');
  const waits = locked.length > 0;
  const state = waits ? 'waits' : payouts.length > 0 ? 'passed' : 'ahead';
  return {
    name: 'Payout',
    state,
    title: payouts.length > 1 ? counted(payouts.length, 'payout') : undefined,
    facts: named(payouts, 'payout', (payout) => (
      <>
        <Link href={`/payouts/${payout.id}`}>
          <Money {...payout} />
        </Link>
        {converted(payout)} <Time at={payout.created} />
      </>
    )),
    ...(waits && {
      why: <WhyNotPaid way={way} money={{ amount: sum(locked.map(({ amount }) => amount)), ...currencyOf(locked) }} />,
    }),
  };
}

const currencyOf = ([first]: readonly { currency: string }[]) => ({ currency: first!.currency });

/** What was converted into a payout, and at which rate. */
const converted = ({ sourceAmount, sourceCurrency, currency, rate }: PayoutOnWay) =>
  sourceCurrency === currency
    ? ''
    : ` from ${moneyText({ amount: sourceAmount, currency: sourceCurrency })} at ${rate},`;

/** Why money that counts towards invoices is in no payout. */
function WhyNotPaid({ way, money }: { way: Way & Planned; money: Amount }): ReactNode {
  const time = useTimes();
  const { paidAccount, nextPayoutAt, payoutsBlockedBy } = way;
  const { status, statusSince } = paidAccount;
  const of = { status, since: statusSince && time(statusSince, 'day') };
  const some = `${way.hasMoreAllocations ? 'At least ' : ''}${moneyText(money)}`;
  const reasons = payoutsBlockedBy
    .filter(({ currency }) => currency === null || currency === money.currency)
    .map((obstacle) => obstacleWords(obstacle, of));
  if (payoutsBlockedBy.some(({ reasonCode }) => reasonCode === 'NOT_APPLICABLE'))
    return `${some} is paid out to the platform of the account, which pays it on.`;
  if (reasons.length > 0) return `${some} waits. ${reasons.join(' ')}`;
  if (nextPayoutAt === null) return `${some} waits for the next payout.`;
  return (
    <>
      {some} waits for the next payout, <Time at={nextPayoutAt} />.
    </>
  );
}

/** The payout of its own page. */
export function ownPayoutStation(payout: PayoutOnWay): Station {
  const { sourceAmount, sourceCurrency, currency, rate, created } = payout;
  return {
    name: 'Payout',
    state: 'passed',
    title: <Money {...payout} />,
    facts: [
      sourceCurrency !== currency && `${moneyText({ amount: sourceAmount, currency: sourceCurrency })} at ${rate}`,
      <Time key="at" at={created} />,
    ],
  };
}

/** The invoices that a payout pays. */
export function paidInvoicesStation(way: Way): Station {
  const invoices = each(way.allocations.map(({ receivable }) => receivable));
  const least = leastOf(way);
  return {
    name: 'Invoices',
    state: invoices.length > 0 ? 'passed' : 'ahead',
    title: invoices.length > 0 ? least + counted(invoices.length, 'invoice') : undefined,
    facts: named(
      way.allocations,
      'amount',
      ({ receivable, ...money }) => [receivable?.referenceNumber, moneyText(money)].filter(Boolean).join(' · '),
      least,
    ),
  };
}

/** The payments that a payout pays. */
export function paidPaymentsStation<Payment extends { id: string }>(
  payments: readonly Payment[],
  { status }: { status: string },
  of: (payment: Payment) => ReactNode,
  least: string,
): Station {
  const freed = ['FAILED', 'RETURNED'].includes(status);
  return {
    name: 'Payments',
    state: payments.length > 0 ? 'passed' : 'ahead',
    title: payments.length > 0 ? least + counted(payments.length, 'payment') : undefined,
    facts: named(payments, 'payment', of, least),
    why: payments.length > 0 ? undefined : freed ? 'Its payments wait for another payout.' : 'It pays other money.',
  };
}

/** Where payouts arrive, and why one has not. */
export function bankStation<Payout extends PayoutOnWay>(
  payouts: readonly Payout[],
  bankOf: (payout: Payout) => ReactNode,
  whyUnderWay: (payout: Payout) => ReactNode,
): Station {
  const open = payouts.filter(({ status }) => status === 'PROCESSING');
  const failed = payouts.filter(({ status }) => ['FAILED', 'RETURNED'].includes(status));
  const state =
    open.length > 0 ? 'waits' : failed.length > 0 ? 'failed' : payouts.length > 0 ? 'passed' : ('ahead' as const);
  const [first] = payouts;
  return {
    name: 'Bank account',
    state,
    title: first && bankOf(first),
    facts: named(payouts, 'payout', ({ status, endedAt, bankReference }) => (
      <>
        {status === 'PROCESSING' ? 'Not confirmed yet' : words(status)} {endedAt && <Time at={endedAt} />}{' '}
        {bankReference && <strong>{bankReference}</strong>}
      </>
    )),
    why: open[0] ? whyUnderWay(open[0]) : failed[0] && whyFailed(failed[0]),
  };
}

const whyFailed = ({ reasonCode }: { reasonCode: string | null }) =>
  `${reasonCode ? `${reasonWords(reasonCode)}. ` : ''}Its money is available to the account again.`;
