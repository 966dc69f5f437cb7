import type { ReactNode } from 'react';
import { graphql, type ResultOf } from '../../graph/graphql';
import { payerOf } from '../../graph/payer';
import { ObjectLink } from '../../parts/object-link';
import {
  bankStation,
  each,
  leastOf,
  ownPayoutStation,
  paidInvoicesStation,
  paidPaymentsStation,
} from '../../parts/stations';
import { Time } from '../../parts/time';
import { Trail } from '../../parts/trail';
import { bankOf } from './list';
import type { PayoutDetail } from './query';
import type { Settlements } from './statement';

/** A payout as the way of its money shows it. */
export const PayoutOfWay = graphql(`
  fragment PayoutOfWay on Payout {
    id created amount currency sourceAmount sourceCurrency rate status reasonCode bankReference completedAt updatedAt
    expectedArrivalAt
    address { id name bankAccount { bankName last4 } }
  }
`);

type Fields = ResultOf<typeof PayoutOfWay>;

/** A payout with the time at which it ended. */
export const onWay = <Payout extends Pick<Fields, 'status' | 'completedAt' | 'updatedAt'>>(payout: Payout) => ({
  ...payout,
  endedAt: payout.completedAt ?? (['FAILED', 'RETURNED'].includes(payout.status) ? payout.updatedAt : null),
});

/** Why a payout has not arrived yet. */
export const whyUnderWay = ({ expectedArrivalAt: at }: Pick<Fields, 'expectedArrivalAt'>): ReactNode =>
  at ? (
    <>
      It is on the way, and expected <Time at={at} />.
    </>
  ) : (
    'It is on the way.'
  );

/** The way of the money of a payout: the payments and invoices that it pays, and the bank account. */
export function PayoutWay({ payout, settlements }: { payout: PayoutDetail; settlements: Settlements }) {
  const { rows, complete } = settlements;
  const way = {
    hasMoreAllocations: !complete,
    allocations: rows.map(({ receivable, ...money }) => ({
      ...money,
      status: payout.status,
      receivable: receivable && { id: receivable.id, referenceNumber: receivable.invoice.referenceNumber },
    })),
  };
  const own = onWay(payout);
  const payments = paidPaymentsStation(
    each(rows.map(({ deposit }) => deposit)),
    payout,
    (deposit) => <ObjectLink id={deposit.id}>{payerOf(deposit)}</ObjectLink>,
    leastOf(way),
  );
  return (
    <Trail
      stations={[
        // Until all have arrived, it is not known that there are none.
        complete ? payments : { ...payments, why: undefined },
        paidInvoicesStation(way),
        ownPayoutStation(own),
        bankStation([own], ({ address }) => bankOf(address), whyUnderWay),
      ]}
    />
  );
}
