import { useState } from 'react';
import { useQuery } from 'urql';
import { Link } from 'wouter';
import { isOpen } from '../../format/disputes';
import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { graphql } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { payerOf } from '../../graph/payer';
import { amountColumn, statusColumn } from '../../parts/cells';
import { Copy, Facts } from '../../parts/facts';
import { Loaded } from '../../parts/loaded';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card, DetailPage } from '../../parts/page';
import { Part } from '../../parts/part';
import { Table } from '../../parts/table';
import { TestTools } from '../../parts/test-tools';
import { Ledger } from '../../parts/ledger';
import { Timeline } from '../../parts/timeline';
import { nameOf, useMayWrite } from '../../session';
import { DisputeCards } from './dispute';
import { happeningsOf } from './happenings';
import { isUnreconciled, type PaymentDetail, PaymentQuery, stateOf } from './query';
import { Reconcile } from './reconcile';
import { RefundButton, Refunds } from './refunds';
import { toolsOf } from './tools';
import { PaymentWay } from './way';

/** One payment: where it came from, what it counts towards, and what happened to it. */
export function Payment({ params }: { params: { id: string } }) {
  const result = useLive(PaymentQuery, { id: params.id });
  return (
    <Loaded result={result} of={({ deposit }) => deposit}>
      {(payment) => <PaymentPage key={payment.id} payment={payment} />}
    </Loaded>
  );
}

function PaymentPage({ payment }: { payment: PaymentDetail }) {
  const mayWrite = useMayWrite();
  const [done, setDone] = useState<string>();
  const open = isUnreconciled(payment);
  const payer = payerOf(payment, 'an unknown payer');
  return (
    <DetailPage
      title={`${payment.disputedDeposit ? 'Money taken back by' : 'Payment from'} ${payer}`}
      back={{ href: '/payments', name: 'Payments' }}
      money={payment}
      status={stateOf(payment)}
      notes={<PaymentWay payment={payment} />}
      actions={payment.status === 'COMPLETED' && !payment.disputedDeposit && <RefundButton payment={payment} />}
      side={
        <>
          <About payment={payment} />
          <TestTools id={payment.id} {...toolsOf(payment)} />
        </>
      }
    >
      <Part value={payment.openedDisputes} field="deposit.openedDisputes" title="Dispute">
        {({ nodes }) => <DisputeCards disputes={nodes.filter(isOpen)} />}
      </Part>
      <div role="status">{done !== undefined && !open && <Reconciled id={payment.id} sentence={done} />}</div>
      {open && mayWrite && <Reconcile payment={payment} onDone={setDone} />}
      <Part value={payment.allocations} field="deposit.allocations" title="Counts towards">
        {({ nodes }) => <Allocations allocations={nodes} />}
      </Part>
      <DisputeCards disputes={payment.openedDisputes?.nodes.filter((each) => !isOpen(each)) ?? []} />
      <Part value={payment.refunds} field="deposit.refunds" title="Refunds">
        {({ nodes }) => <Refunds refunds={nodes} />}
      </Part>
      <Part value={payment.disputedBy} field="deposit.disputedBy" title="Taken back">
        {({ nodes }) => <TakenBack payment={payment} debits={nodes} />}
      </Part>
      <Timeline objectId={payment.id} account={payment.toAccount} more={happeningsOf(payment)} />
      <Ledger paymentId={payment.payment.id} />
    </DetailPage>
  );
}

const NextQuery = graphql(`
  query NextToReconcile {
    deposits(first: 2, scope: DESCENDANTS, filter: { unreconciled: true }) { nodes { id } }
  }
`);

/** What was done when a payment was reconciled in whole, and the way to the next one. */
function Reconciled({ id, sentence }: { id: string; sentence: string }) {
  const [{ data }] = useQuery({ query: NextQuery, requestPolicy: 'network-only' });
  const next = data?.deposits?.nodes.find((each) => each.id !== id);
  return (
    <p className="note">
      {sentence}{' '}
      {next ? (
        <Link href={`/payments/${next.id}`}>Next payment to reconcile →</Link>
      ) : (
        data?.deposits && 'Nothing else waits for an invoice.'
      )}
    </p>
  );
}

function About({ payment }: { payment: PaymentDetail }) {
  const time = useTimes();
  const { id, created, method, statementDescriptor, fromAccount, toAccount, currency, bankDetails } = payment;
  const payer = bankDetails?.payer;
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['From', fromAccount && <ObjectLink id={fromAccount.id}>{nameOf(fromAccount)}</ObjectLink>],
          ['To', toAccount && <ObjectLink id={toAccount.id}>{nameOf(toAccount)}</ObjectLink>],
          ['Method', words(method)],
          ['Statement descriptor', statementDescriptor],
          ["Bank's reference", bankDetails && <Copy text={bankDetails.reference} label="the bank's reference" />],
          ['Payer', payer && [payer.name, ...payer.addressLines, payer.country].filter(Boolean).join(', ')],
          ['Remittance text', bankDetails?.text],
          ['Received', <time dateTime={created}>{time(created)}</time>],
          ['Not reconciled', <Money amount={payment.pendingRest} currency={currency} />],
          ['Reason', payment.reasonCode && words(payment.reasonCode)],
          ['Disputes', payment.disputedDeposit && <ObjectLink id={payment.disputedDeposit.id}>a payment</ObjectLink>],
          ['ID', <Copy text={id} label="the id" />],
        ]}
      />
    </Card>
  );
}

function Allocations({ allocations }: { allocations: readonly RowOf<PaymentDetail['allocations']>[] }) {
  const rows = allocations.map((allocation, i) => ({ ...allocation, id: String(i) }));
  if (rows.length === 0) return null;
  return (
    <Card title="Counts towards">
      <Table
        label="Counts towards"
        rows={rows}
        columns={[
          {
            head: 'Receivable',
            cell: ({ receivable }) =>
              receivable && <ObjectLink id={receivable.id}>{receivable.invoice.referenceNumber}</ObjectLink>,
          },
          statusColumn(),
          {
            head: 'Payout',
            cell: ({ payout }) => payout && <ObjectLink id={payout.id}>Paid out</ObjectLink>,
          },
          amountColumn(),
        ]}
      />
    </Card>
  );
}

interface TakenBackProps {
  payment: PaymentDetail;
  debits: readonly RowOf<PaymentDetail['disputedBy']>[];
}

/** What was taken back without a dispute that can be answered, such as by the recall of a bank. */
function TakenBack({ payment, debits }: TakenBackProps) {
  const time = useTimes();
  const disputed = new Set(payment.openedDisputes?.nodes.map(({ debitDepositId }) => debitDepositId));
  const rows = debits.filter(({ id }) => !disputed.has(id));
  if (rows.length === 0) return null;
  return (
    <Card title="Taken back">
      <Table
        label="Taken back"
        rows={rows}
        href={({ id }) => `/payments/${id}`}
        columns={[{ head: 'Taken', cell: ({ created }) => time(created), line: true }, statusColumn(), amountColumn()]}
      />
    </Card>
  );
}
