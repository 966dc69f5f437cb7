import { words } from '../../format/words';
import { payerOf } from '../../graph/payer';
import { ObjectLink } from '../../parts/object-link';
import {
  arrivalStation,
  bankStation,
  each,
  invoicesStation,
  type Planned,
  payoutStation,
  type Way,
  withFee,
} from '../../parts/stations';
import { Trail } from '../../parts/trail';
import { bankOf } from '../payouts/list';
import { onWay, whyUnderWay } from '../payouts/way';
import type { PaymentDetail } from './query';

/** The way of a payment from its payer to a bank account. A payment that takes money back goes no such way. */
export function PaymentWay({ payment }: { payment: PaymentDetail }) {
  const { fromAccount, bankDetails, statementDescriptor, method, allocations, disputedDeposit, checkout } = payment;
  if (disputedDeposit || !allocations) return null;
  const rows = allocations.nodes.map(({ receivable, payout, ...money }) => ({
    ...money,
    receivable: receivable && { id: receivable.id, referenceNumber: receivable.invoice.referenceNumber },
    payout: payout && onWay(payout),
  }));
  const way: Way & Planned = {
    allocations: rows,
    hasMoreAllocations: allocations.pageInfo.hasNextPage,
    ...plannedFor(payment),
  };
  const payouts = each(rows.map(({ payout }) => payout));
  return (
    <Trail
      stations={[
        {
          name: 'Payer',
          state: 'passed',
          title: fromAccount ? (
            <ObjectLink id={fromAccount.id}>{payerOf(payment)}</ObjectLink>
          ) : (
            payerOf(payment, 'Not known')
          ),
          facts: [words(method), bankDetails?.reference ?? statementDescriptor, withFee(checkout)],
        },
        arrivalStation(payment),
        invoicesStation(way, payment, whyNoInvoice(payment)),
        payoutStation(way, payouts),
        bankStation(payouts, ({ address }) => bankOf(address), whyUnderWay),
      ]}
    />
  );
}

/** When the account is paid out that owns the invoices, as far as the viewer sees it. */
function plannedFor({ toAccount }: PaymentDetail): Planned {
  const paidAccount = toAccount?.type === 'PARTNER' ? toAccount.owner : toAccount;
  return {
    paidAccount: { status: paidAccount?.status ?? 'ACTIVATED', statusSince: paidAccount?.statusSince ?? null },
    nextPayoutAt: paidAccount?.nextPayoutAt ?? null,
    payoutsBlockedBy: paidAccount?.payoutsBlockedBy ?? [],
  };
}

/** Why a payment counts towards no invoice and waits for none; nothing where that is plain. */
function whyNoInvoice({ status, toAddress, refunds, disputedBy }: PaymentDetail): string | undefined {
  if (status !== 'COMPLETED') return undefined;
  if (toAddress?.category === 'SERVICE_FEE_ADVANCE') return 'It is kept in advance for fees.';
  const gone = (disputedBy?.nodes.length ?? 0) > 0 || refunds?.nodes.some((refund) => refund.status !== 'FAILED');
  return gone ? 'All of it was refunded or taken back.' : undefined;
}
