import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { words } from '../../format/words';
import { Money } from '../../parts/money';
import {
  arrivalStation,
  bankStation,
  each,
  invoicesStation,
  leastOf,
  ownPayoutStation,
  paidInvoicesStation,
  paidPaymentsStation,
  payoutStation,
  withFee,
} from '../../parts/stations';
import { Time } from '../../parts/time';
import type { Station } from '../../parts/trail';
import { AccountLink, bankOf, nameOf, paymentAddress } from '../parts';
import type { OwnPayout, PaymentOfTrail, PaymentTrail, PayoutTrail } from './trail-query';

/** The stations of a payment, from its payer to the bank account of who is paid. */
export function paymentStations(trail: PaymentTrail, payment: PaymentOfTrail): Station[] {
  const payouts = each(trail.allocations.map(({ payout }) => payout));
  return [
    payerOf(trail, payment),
    noticeOf(trail, payment),
    arrivalStation(payment),
    invoicesStation(trail, payment, whyNoInvoice(payment)),
    payoutStation(trail, payouts),
    bankStation(payouts, bankOf, whyUnderWay),
  ];
}

function payerOf({ checkout }: PaymentTrail, { fromAccount, payerName, statementDescriptor }: PaymentOfTrail): Station {
  const name = fromAccount ? nameOf(fromAccount) : payerName;
  return {
    name: 'Payer',
    state: 'passed',
    title: fromAccount ? <AccountLink {...fromAccount}>{name}</AccountLink> : (name ?? 'Not known'),
    facts: [statementDescriptor, withFee(checkout)],
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

/** Why a payment counts towards no invoice and waits for none; nothing where that is plain. */
function whyNoInvoice({ status, disputedDeposit, toAddress, refunds, takenBack }: PaymentOfTrail): string | undefined {
  if (status !== 'COMPLETED') return undefined;
  if (disputedDeposit) return 'It takes back money of a payment.';
  if (toAddress?.category === 'SERVICE_FEE_ADVANCE') return 'It is kept in advance for fees.';
  const isGone = takenBack.length > 0 || refunds.some((refund) => refund.status !== 'FAILED');
  return isGone ? 'All of it was refunded or taken back.' : undefined;
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
      It is in a <Link href={`/payment-orders?order=${orderId}`}>payment order</Link>, and waits until operators have
      approved and sent that, and the bank has answered.
    </>
  );
}

/** The stations of a payout: the payments and invoices that it pays, and where it goes. */
export function payoutStations(trail: PayoutTrail, payout: OwnPayout): Station[] {
  const payments = each(trail.allocations.map(({ deposit }) => deposit));
  return [
    paidPaymentsStation(
      payments,
      payout,
      (payment) => (
        <Link href={paymentAddress(payment.id, payment.tenantId)}>
          {payment.fromAccount ? nameOf(payment.fromAccount) : (payment.payerName ?? 'Payment')} <Money {...payment} />
        </Link>
      ),
      leastOf(trail),
    ),
    paidInvoicesStation(trail),
    ownPayoutStation(payout),
    bankStation([payout], bankOf, whyUnderWay),
  ];
}
