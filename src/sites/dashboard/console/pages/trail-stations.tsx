import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { formatMoney, hundredths, type Money as Amount, sum } from '../../format/money';
import { obstacleWords, reasonWords } from '../../format/obstacles';
import { counted, words } from '../../format/words';
import { Money } from '../../parts/money';
import type { Station } from '../../parts/trail';
import { AccountLink, bankOf, nameOf, paymentAddress, Time } from '../parts';
import type { OwnPayout, PaymentOfTrail, PaymentTrail, PayoutOfTrail, PayoutTrail } from './trail-query';

/** How many objects a station names; the tables below have the others. */
const namedMax = 3;

const moneyText = ({ amount, currency }: Amount) => `${formatMoney({ amount, currency })} ${currency}`;

/** The objects of a list, each once. */
const each = <Row extends { id: string }>(rows: readonly (Row | null)[]): Row[] => [
  ...new Map(rows.flatMap((row) => (row ? [[row.id, row] as const] : []))).values(),
];

/** What stands before a number or a sum of the allocations, of which a trail has the newest alone. */
const leastOf = ({ hasMoreAllocations }: Pick<PaymentTrail, 'hasMoreAllocations'>) =>
  hasMoreAllocations ? 'at least ' : '';

/** The first rows in words, and how many others there are. */
const named = <Row,>(rows: readonly Row[], noun: string, of: (row: Row) => ReactNode, least = ''): ReactNode[] => [
  ...rows.slice(0, namedMax).map(of),
  ...(rows.length > namedMax ? [`and ${least}${counted(rows.length - namedMax, `other ${noun}`)}`] : []),
];

/** The stations of a payment, from its payer to the bank account of who is paid. */
export function paymentStations(trail: PaymentTrail, payment: PaymentOfTrail): Station[] {
  const payouts = each(trail.allocations.map(({ payout }) => payout));
  return [
    payerOf(payment),
    noticeOf(trail, payment),
    arrivalOf(payment),
    invoicesOf(trail, payment),
    payoutStation(trail, payouts),
    bankStation(payouts),
  ];
}

function payerOf({ fromAccount, payerName, statementDescriptor }: PaymentOfTrail): Station {
  const name = fromAccount ? nameOf(fromAccount) : payerName;
  return {
    name: 'Payer',
    state: 'passed',
    title: fromAccount ? <AccountLink {...fromAccount}>{name}</AccountLink> : (name ?? 'Not known'),
    facts: [statementDescriptor],
  };
}

/** The bank's notice; a payment without one was reported by another way. */
function noticeOf({ bankNotices }: PaymentTrail, { paymentMethod, livemode }: PaymentOfTrail): Station {
  const [first] = bankNotices;
  return {
    name: 'Bank notice',
    state: 'passed',
    title: first?.reference ?? words(paymentMethod),
    facts: first
      ? bankNotices.map(({ event, created }) => [words(event), ' ', <Time key={created} at={created} />])
      : [livemode ? 'No notice of a bank' : 'The sandbox is the bank'],
  };
}

function arrivalOf(payment: PaymentOfTrail): Station {
  const { status, created, reasonCode } = payment;
  const state = status === 'COMPLETED' ? 'passed' : ['INITIALIZED', 'PROCESSING'].includes(status) ? 'waits' : 'failed';
  const reason = reasonCode ? ` ${words(reasonCode)}.` : '';
  const why = {
    INITIALIZED: 'It is announced, and its money has not moved yet.',
    PROCESSING: 'Its money is on the way and has not arrived yet.',
    REVERSED: `The bank has taken its money back.${reason}`,
    FAILED: `It was declined and moved no money.${reason}`,
    CANCELLED: 'It was withdrawn before it was processed.',
  }[status as string];
  return { name: 'Payment', state, title: <Money {...payment} />, facts: [<Time key="at" at={created} />], why };
}

function invoicesOf(trail: PaymentTrail, payment: PaymentOfTrail): Station {
  const { allocations } = trail;
  const least = leastOf(trail);
  const { status, pendingRest, currency } = payment;
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
    why: waits ? `${rest} waits for an invoice that it counts towards.` : all.length === 0 && whyNoInvoice(payment),
  };
}

/** Why a payment counts towards no invoice and waits for none; nothing where that is plain. */
function whyNoInvoice({ status, disputedDeposit, toAddress, refunds, takenBack }: PaymentOfTrail): string | undefined {
  if (status !== 'COMPLETED') return undefined;
  if (disputedDeposit) return 'It takes back money of a payment.';
  if (toAddress?.category === 'SERVICE_FEE_ADVANCE') return 'It is kept in advance for fees.';
  const isGone = takenBack.length > 0 || refunds.some((refund) => refund.status !== 'FAILED');
  return isGone ? 'All of it was refunded or taken back.' : undefined;
}

type Planned = Pick<
  PaymentTrail,
  'allocations' | 'hasMoreAllocations' | 'paidAccount' | 'nextPayoutAt' | 'payoutsBlockedBy'
>;

/** The payouts of a payment; what is in none yet waits here, with the reason. */
function payoutStation(trail: Planned, payouts: readonly PayoutOfTrail[]): Station {
  const locked = trail.allocations.filter(({ status }) => status === 'LOCKED');
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
      why: whyNotPaid(trail, { amount: sum(locked.map(({ amount }) => amount)), ...currencyOf(locked) }),
    }),
  };
}

const currencyOf = ([first]: readonly { currency: string }[]) => ({ currency: first!.currency });

/** What was converted into a payout, and at which rate. */
const converted = ({ sourceAmount, sourceCurrency, currency, rate }: PayoutOfTrail | OwnPayout) =>
  sourceCurrency === currency
    ? ''
    : ` from ${moneyText({ amount: sourceAmount, currency: sourceCurrency })} at ${rate},`;

/** Why money that counts towards invoices is in no payout. */
function whyNotPaid(trail: Planned, money: Amount): ReactNode {
  const { paidAccount, nextPayoutAt, payoutsBlockedBy } = trail;
  const { status } = paidAccount;
  const some = `${trail.hasMoreAllocations ? 'At least ' : ''}${moneyText(money)}`;
  const reasons = payoutsBlockedBy
    .filter(({ currency }) => currency === null || currency === money.currency)
    .map((obstacle) => obstacleWords(obstacle, { status }));
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

/** Where the payouts arrive. */
function bankStation(payouts: readonly (PayoutOfTrail | OwnPayout)[]): Station {
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

function whyUnderWay({ livemode, orderId }: { livemode: boolean; orderId: string | null }): ReactNode {
  if (!livemode) return 'The sandbox completes it within a minute.';
  return orderId === null ? (
    <>
      It waits to be put into a <Link href="/payment-orders">payment order</Link>, or for the word of an operator that
      it has arrived.
    </>
  ) : (
    <>
      It is in a <Link href="/payment-orders">payment order</Link>, and waits for the answer of the bank.
    </>
  );
}

const whyFailed = ({ reasonCode }: { reasonCode: string | null }) =>
  `${reasonCode ? `${reasonWords(reasonCode)}. ` : ''}Its money is available to the account again.`;

/** The stations of a payout: the payments and invoices that it pays, and where it goes. */
export function payoutStations(trail: PayoutTrail, payout: OwnPayout): Station[] {
  const payments = each(trail.allocations.map(({ deposit }) => deposit));
  const invoices = each(trail.allocations.map(({ receivable }) => receivable));
  const freed = ['FAILED', 'RETURNED'].includes(payout.status);
  const least = leastOf(trail);
  return [
    {
      name: 'Payments',
      state: payments.length > 0 ? 'passed' : 'ahead',
      title: payments.length > 0 ? least + counted(payments.length, 'payment') : undefined,
      facts: named(
        payments,
        'payment',
        (each) => (
          <Link href={paymentAddress(each.id, each.tenantId)}>
            {each.fromAccount ? nameOf(each.fromAccount) : (each.payerName ?? 'Payment')} <Money {...each} />
          </Link>
        ),
        least,
      ),
      why: payments.length > 0 ? undefined : freed ? 'Its payments wait for another payout.' : 'It pays other money.',
    },
    {
      name: 'Invoices',
      state: invoices.length > 0 ? 'passed' : 'ahead',
      title: invoices.length > 0 ? least + counted(invoices.length, 'invoice') : undefined,
      facts: named(
        trail.allocations,
        'amount',
        ({ receivable, ...money }) => [receivable?.referenceNumber, moneyText(money)].filter(Boolean).join(' · '),
        least,
      ),
    },
    {
      name: 'Payout',
      state: 'passed',
      title: <Money {...payout} />,
      facts: [
        payout.sourceCurrency !== payout.currency &&
          `${moneyText({ amount: payout.sourceAmount, currency: payout.sourceCurrency })} at ${payout.rate}`,
        <Time key="at" at={payout.created} />,
      ],
    },
    bankStation([payout]),
  ];
}
