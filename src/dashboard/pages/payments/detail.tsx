import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { NotFound } from '../../parts/empty';
import { Copy, Facts } from '../../parts/facts';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card, Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { PageSkeleton } from '../../parts/skeleton';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { TestTools } from '../../parts/test-tools';
import { Timeline } from '../../parts/timeline';
import { nameOf, useMayWrite } from '../../session';
import { isUnreconciled } from './query';
import { Reconcile } from './reconcile';
import { toolsFor } from './tools';

const PaymentQuery = graphql(`
  query Payment($id: ID!) {
    deposit(id: $id) {
      id
      created
      amount
      currency
      status
      reasonCode
      paymentMethod
      pendingRest
      disputed
      statementDescriptor
      disputedDeposit {
        id
      }
      fromAccount {
        id
        type
        nickname
        owner {
          id
        }
      }
      toAccount {
        id
        type
        nickname
        owner {
          id
        }
      }
      disputedBy(first: 10) {
        nodes {
          id
          created
          amount
          currency
          status
        }
      }
      allocations(first: 50) {
        nodes {
          amount
          currency
          status
          payout {
            id
          }
          receivable {
            id
            invoice {
              referenceNumber
            }
          }
        }
      }
    }
  }
`);

export type PaymentDetail = NonNullable<ResultOf<typeof PaymentQuery>['deposit']>;

/** One payment: where it came from, what it counts towards, and what happened to it. */
export function Payment({ params }: { params: { id: string } }) {
  const { data, error, ask } = useLive(PaymentQuery, { id: params.id });
  const mayWrite = useMayWrite();
  const payment = data?.deposit;
  if (!payment) {
    if (data) return <NotFound />;
    return error ? <Problem error={error} onRetry={ask} /> : <PageSkeleton />;
  }
  const { amount, currency, status, fromAccount } = payment;
  return (
    <Page
      title={`Payment from ${fromAccount ? nameOf(fromAccount) : 'an unknown payer'}`}
      back={{ href: '/payments', name: 'Payments' }}
      subtitle={
        <p className="amount-line">
          <Money amount={amount} currency={currency} />
          <Status value={isUnreconciled(payment) ? 'UNRECONCILED' : status} />
        </p>
      }
    >
      <div className="detail">
        <div>
          {isUnreconciled(payment) && mayWrite && <Reconcile payment={payment} />}
          <Allocations payment={payment} />
          <Disputes payment={payment} />
          <Timeline objectId={payment.id} />
        </div>
        <div>
          <About payment={payment} />
          <TestTools id={payment.id} tools={toolsFor(status)} />
        </div>
      </div>
    </Page>
  );
}

function About({ payment }: { payment: PaymentDetail }) {
  const time = useTimes();
  const { id, created, paymentMethod, statementDescriptor, fromAccount, toAccount, currency } = payment;
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['From', fromAccount && <ObjectLink id={fromAccount.id}>{nameOf(fromAccount)}</ObjectLink>],
          ['To', toAccount && nameOf(toAccount)],
          ['Method', words(paymentMethod)],
          ['Statement descriptor', statementDescriptor],
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

function Allocations({ payment }: { payment: PaymentDetail }) {
  const rows = payment.allocations.nodes.map((allocation, i) => ({ ...allocation, id: String(i) }));
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
          { head: 'Status', cell: ({ status }) => <Status value={status} /> },
          {
            head: 'Payout',
            cell: ({ payout }) => payout && <ObjectLink id={payout.id}>Paid out</ObjectLink>,
          },
          { head: 'Amount', cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />, end: true },
        ]}
      />
    </Card>
  );
}

function Disputes({ payment }: { payment: PaymentDetail }) {
  const time = useTimes();
  if (payment.disputedBy.nodes.length === 0) return null;
  return (
    <Card title="Disputes">
      <Table
        label="Disputes"
        rows={payment.disputedBy.nodes}
        href={({ id }) => `/payments/${id}`}
        columns={[
          { head: 'Received', cell: ({ created }) => time(created) },
          { head: 'Status', cell: ({ status }) => <Status value={status} /> },
          { head: 'Amount', cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />, end: true },
        ]}
      />
    </Card>
  );
}
