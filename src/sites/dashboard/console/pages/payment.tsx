import { Link } from 'wouter';
import { hundredths } from '../../format/money';
import { words } from '../../format/words';
import { useLive } from '../../graph/live';
import { amountColumn, statusColumn } from '../../parts/cells';
import { Copy, Facts } from '../../parts/facts';
import { useFilters } from '../../parts/filters';
import { Loaded } from '../../parts/loaded';
import { Money } from '../../parts/money';
import { Card, DetailPage } from '../../parts/page';
import { Table } from '../../parts/table';
import { Time } from '../../parts/time';
import { Trail } from '../../parts/trail';
import { tenantFact } from '../object-of';
import { AccountLink, Mode, nameOf, paymentAddress } from '../parts';
import { Postings } from './postings';
import { type Allocation, type PaymentOfTrail, type PaymentTrail, PaymentTrailQuery } from './trail-query';
import { paymentStations } from './trail-stations';

/** A payment of any tenant: the way of its money, and where it waits. */
export function Payment({ params }: { params: { id: string } }) {
  const { params: filters } = useFilters();
  const result = useLive(PaymentTrailQuery, { id: decodeURIComponent(params.id), tenantId: filters.get('tenant') });
  return (
    <Loaded result={result} of={({ trail }) => trail}>
      {(trail) => trail.deposit && <PaymentPage trail={trail} payment={trail.deposit} />}
    </Loaded>
  );
}

interface PaymentPageProps {
  trail: PaymentTrail;
  payment: PaymentOfTrail;
}

function PaymentPage({ trail, payment }: PaymentPageProps) {
  const payer = payment.fromAccount ? nameOf(payment.fromAccount) : payment.payerName;
  return (
    <DetailPage
      title={`Payment from ${payer ?? 'an unknown payer'}`}
      back={{ href: '/bank?show=all', name: 'Bank notices' }}
      money={payment}
      status={payment.status}
      notes={<Trail stations={paymentStations(trail, payment)} />}
      side={<About trail={trail} payment={payment} />}
    >
      <Counts trail={trail} of="payment" />
      <WaysBack payment={payment} />
      <Postings postings={trail.postings} />
    </DetailPage>
  );
}

/** What was refunded, disputed and taken back. */
function WaysBack({ payment: { refunds, disputes, takenBack, tenantId } }: { payment: PaymentOfTrail }) {
  return (
    <>
      {refunds.length > 0 && (
        <Card title="Refunds">
          <Table
            label="Refunds"
            rows={refunds}
            columns={[
              {
                head: 'Asked',
                cell: ({ created, reason, failureReason }) => (
                  <span className="two-lines">
                    <Time at={created} />
                    <span className="hint">{failureReason ?? reason}</span>
                  </span>
                ),
              },
              { head: 'Ended', cell: ({ endedAt }) => endedAt && <Time at={endedAt} /> },
              statusColumn(),
              amountColumn(),
            ]}
          />
        </Card>
      )}
      {disputes.length > 0 && (
        <Card title="Disputes">
          <Table
            label="Disputes"
            rows={disputes}
            columns={[
              { head: 'Opened', cell: ({ created }) => <Time at={created} /> },
              { head: 'Reason', cell: ({ reasonCode }) => words(reasonCode) },
              statusColumn(),
              amountColumn(),
            ]}
          />
        </Card>
      )}
      {takenBack.length > 0 && (
        <Card title="Taken back">
          <Table
            label="Taken back"
            rows={takenBack}
            href={({ id }) => paymentAddress(id, tenantId)}
            columns={[{ head: 'Taken', cell: ({ created }) => <Time at={created} /> }, statusColumn(), amountColumn()]}
          />
        </Card>
      )}
    </>
  );
}

interface CountsProps {
  trail: Pick<PaymentTrail, 'allocations' | 'hasMoreAllocations'>;
  /** Whose page it is on. */
  of: 'payment' | 'payout';
}

/** What the money counts towards, with the payouts that pay it, or the payments that it came from. */
export function Counts({ trail, of }: CountsProps) {
  const rows = trail.allocations.map((allocation, i) => ({ ...allocation, id: String(i) }));
  if (rows.length === 0) return null;
  return (
    <Card title="Counts towards">
      <Table
        label="Counts towards"
        rows={rows}
        columns={[
          {
            head: 'Invoice',
            cell: ({ receivable, created }) => (
              <span className="two-lines">
                <strong title={receivable?.id}>{receivable?.referenceNumber ?? 'Invoice'}</strong>
                <span className="hint">
                  <Time at={created} />
                </span>
              </span>
            ),
          },
          statusColumn(),
          of === 'payment'
            ? { head: 'Paid by', cell: ({ payout }) => payout && <Link href={`/payouts/${payout.id}`}>Payout</Link> }
            : {
                head: 'Came with',
                cell: ({ deposit }) =>
                  deposit && <Link href={paymentAddress(deposit.id, deposit.tenantId)}>{cameWith(deposit)}</Link>,
              },
          amountColumn(),
        ]}
      />
      {trail.hasMoreAllocations && <p className="hint">The newest 50 are shown.</p>}
    </Card>
  );
}

const cameWith = ({ bankReference, fromAccount }: NonNullable<Allocation['deposit']>) =>
  bankReference ?? (fromAccount ? nameOf(fromAccount) : 'Payment');

function About({ trail, payment }: PaymentPageProps) {
  const { id, created, livemode, tenantId, fromAccount, toAccount, toAddress, bankReference } = payment;
  const {
    paidAccount,
    paidAccount: { root },
  } = trail;
  const account = toAddress?.bankAccount;
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['Mode', <Mode livemode={livemode} />],
          ['To', toAccount && <AccountLink {...toAccount}>{nameOf(toAccount)}</AccountLink>],
          [
            'Paid out to',
            paidAccount.id !== toAccount?.id && <AccountLink {...paidAccount}>{nameOf(paidAccount)}</AccountLink>,
          ],
          tenantFact(root),
          ['From', fromAccount && <AccountLink {...fromAccount}>{nameOf(fromAccount)}</AccountLink>],
          ['Payer', payment.payerName],
          ['Method', words(payment.paymentMethod)],
          ["Bank's reference", bankReference && <Copy text={bankReference} label="the bank's reference" />],
          [
            'Receiving account',
            account && [account.bankName, account.iban ?? account.number].filter(Boolean).join(', '),
          ],
          ['Narration', payment.statementDescriptor],
          ['Received', <Time at={created} />],
          [
            'Not reconciled',
            hundredths(payment.pendingRest) > 0n && <Money amount={payment.pendingRest} currency={payment.currency} />,
          ],
          ['Reason', payment.reasonCode && words(payment.reasonCode)],
          [
            'Takes back',
            payment.disputedDeposit && (
              <Link href={paymentAddress(payment.disputedDeposit.id, tenantId)}>a payment</Link>
            ),
          ],
          ['ID', <Copy text={id} label="the id" />],
          ['Audit log', <Link href={`/audit?object=${id}`}>What operators did</Link>],
        ]}
      />
    </Card>
  );
}
