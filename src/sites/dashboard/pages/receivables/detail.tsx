import { formatMoney, hundredths } from '../../format/money';
import { formatDay, useTimes } from '../../format/time';
import { dayOf } from '../../format/days';
import { useTimeZone } from '../../format/preferences';
import { stateOf } from '../../format/receivables';
import { words } from '../../format/words';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { payerOf } from '../../graph/payer';
import { amountColumn } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Copy, Facts } from '../../parts/facts';
import { FileLink } from '../../parts/file-link';
import { Loaded } from '../../parts/loaded';
import { ObjectLink } from '../../parts/object-link';
import { Card, DetailPage } from '../../parts/page';
import { Part } from '../../parts/part';
import { Shares } from '../../parts/shares';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { TestTools } from '../../parts/test-tools';
import { Timeline } from '../../parts/timeline';
import { nameOf } from '../../session';
import { TestPayment } from '../payments/test-payment';
import { EditReceivable, VoidReceivable } from './edit';
import { type ReceivableDetail, ReceivableQuery } from './query';

/** One receivable: how much of it is paid, by whom, and which payout settled it. */
export function Receivable({ params }: { params: { id: string } }) {
  const result = useLive(ReceivableQuery, { id: params.id });
  return (
    <Loaded result={result} of={({ receivable }) => receivable}>
      {(receivable) => <ReceivablePage receivable={receivable} now={result.data!.viewer.now} />}
    </Loaded>
  );
}

function ReceivablePage({ receivable, now }: { receivable: ReceivableDetail; now: string }) {
  const { invoice, currency, systemMessages } = receivable;
  const timeZone = useTimeZone();
  return (
    <DetailPage
      title={`Invoice ${invoice.referenceNumber}`}
      back={{ href: '/receivables', name: 'Receivables' }}
      money={{ amount: invoice.amount, currency }}
      status={stateOf(receivable, dayOf(now, timeZone))}
      actions={<Actions receivable={receivable} />}
      notes={systemMessages.map(({ message, created }) => (
        <p className="note" key={created}>
          {message}
        </p>
      ))}
      side={
        <>
          <About receivable={receivable} />
          <Tools receivable={receivable} />
        </>
      }
    >
      <Progress receivable={receivable} />
      <Part value={receivable.allocations} field="receivable.allocations" title="Payments">
        {({ nodes }) => <Allocations allocations={nodes} />}
      </Part>
      <Timeline objectId={receivable.id} account={receivable.account} />
    </DetailPage>
  );
}

/** What the viewer can do with a receivable. One that was paid can no longer be withdrawn. */
function Actions({ receivable }: { receivable: ReceivableDetail }) {
  const untouched = hundredths(receivable.amountLocked) + hundredths(receivable.amountSettledPayouts) === 0n;
  if (receivable.status === 'VOID') return null;
  return (
    <>
      <EditReceivable receivable={receivable} />
      {untouched && <VoidReceivable receivable={receivable} />}
    </>
  );
}

/** Plays that the customer pays what is open. */
function Tools({ receivable }: { receivable: ReceivableDetail }) {
  const { id, account, customer, status, currency, invoice, amountReconcilable: amount } = receivable;
  const open = status === 'OPEN' && hundredths(amount) > 0n;
  const none = status === 'VOID' ? 'A void receivable cannot be paid.' : 'Nothing is open that could be paid.';
  return (
    <TestTools id={id} tools={[]} none={open ? undefined : none}>
      {open && (
        <li>
          <TestPayment
            small
            name="Pay it"
            payeeId={account.id}
            customerId={customer?.id}
            receivable={{ id, amount, currency, reference: invoice.referenceNumber }}
          />
        </li>
      )}
    </TestTools>
  );
}

const parts = [
  { key: 'amountSettledPayouts', name: 'Paid out', colour: 'available' },
  { key: 'amountLocked', name: 'Paid, to be paid out', colour: 'payoutProcessing' },
  { key: 'amountReconcilable', name: 'Open', colour: 'pending' },
] as const;

function Progress({ receivable }: { receivable: ReceivableDetail }) {
  const { amountMaximumReconcilable: most, currency } = receivable;
  return (
    <Card title="Paid">
      <Shares shares={parts.map((part) => ({ ...part, amount: receivable[part.key] }))} currency={currency} />
      {hundredths(most) !== hundredths(receivable.invoice.amount) && (
        <p className="hint">At most {formatMoney({ amount: most, currency })} of the invoice is to be paid here.</p>
      )}
    </Card>
  );
}

function Allocations({ allocations }: { allocations: readonly RowOf<ReceivableDetail['allocations']>[] }) {
  const time = useTimes();
  const rows = allocations.map((allocation, i) => ({ ...allocation, id: String(i) }));
  return (
    <Card title="Payments">
      {rows.length === 0 ? (
        <Empty title="Nothing has been paid yet">
          <p>A payment appears here when it is reconciled with this receivable.</p>
        </Empty>
      ) : (
        <Table
          label="Payments"
          rows={rows}
          columns={[
            {
              head: 'From',
              cell: ({ deposit }) => deposit && <ObjectLink id={deposit.id}>{payerOf(deposit)}</ObjectLink>,
            },
            { head: 'Reconciled', cell: ({ created }) => time(created), line: true },
            {
              head: 'Payout',
              cell: ({ payout, status }) =>
                payout ? (
                  <ObjectLink id={payout.id}>{time(payout.created, 'day')}</ObjectLink>
                ) : status === 'LOCKED' ? (
                  <span className="hint">not yet</span>
                ) : (
                  <Status value={status} />
                ),
            },
            amountColumn(),
          ]}
        />
      )}
    </Card>
  );
}

function About({ receivable }: { receivable: ReceivableDetail }) {
  const time = useTimes();
  const { id, account, customer, created, description, document, invoice, purposeCode, transactionType } = receivable;
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['Owed to', <ObjectLink id={account.id}>{nameOf(account)}</ObjectLink>],
          ['Customer', customer && <ObjectLink id={customer.id}>{nameOf(customer)}</ObjectLink>],
          ['Description', description],
          ['Invoice date', formatDay(invoice.creationDate)],
          ['Due', formatDay(invoice.dueDate)],
          ['Document', document && <FileLink {...document} />],
          ['For', words(transactionType)],
          ['Purpose', `${purposeCode} · ${receivable.purposeCodeDescription ?? ''}`],
          ['Created', <time dateTime={created}>{time(created)}</time>],
          ['ID', <Copy text={id} label="the id" />],
        ]}
      />
    </Card>
  );
}
