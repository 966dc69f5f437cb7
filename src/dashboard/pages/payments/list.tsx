import { hundredths } from '../../format/money';
import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Empty } from '../../parts/empty';
import { Choice, Pager, useFilters } from '../../parts/filters';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { Status } from '../../parts/status';
import { type Column, Table } from '../../parts/table';
import { nameOf } from '../../session';

const PaymentsQuery = graphql(`
  query Payments(
    $first: Int!
    $after: ID
    $status: [DepositStatus!]
    $method: [DepositPaymentMethod!]
    $currency: [Currency!]
  ) {
    deposits(first: $first, after: $after, status: $status, paymentMethod: $method, currency: $currency) {
      nodes {
        id
        created
        amount
        currency
        status
        paymentMethod
        pendingRest
        statementDescriptor
        fromAccount {
          id
          nickname
        }
        toAccount {
          id
          nickname
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

type Payment = ResultOf<typeof PaymentsQuery>['deposits']['nodes'][number];

const statuses = ['INITIALIZED', 'PROCESSING', 'COMPLETED', 'CANCELLED', 'FAILED', 'REVERSED'] as const;
const methods = [
  'AFFIRM',
  'AFTERPAY',
  'CARD',
  'CHECK',
  'DOMESTIC_CREDIT',
  'DOMESTIC_DEBIT',
  'DOMESTIC_FAST_CREDIT',
  'DOMESTIC_WIRE',
  'GLOBAL_WIRE',
  'KLARNA',
  'UPI',
] as const;
const currencies = ['USD', 'INR', 'EUR', 'GBP'] as const;

/** Whether a payment has money that counts towards no receivable yet. */
export function isUnreconciled({ status, pendingRest }: Pick<Payment, 'status' | 'pendingRest'>): boolean {
  return status === 'COMPLETED' && hundredths(pendingRest) > 0n;
}

/** The payments that were received, newest first. */
export function Payments() {
  const { params, one, set } = useFilters();
  const open = params.get('show') === 'unreconciled';
  const [status, method, currency] = [one('status', statuses), one('method', methods), one('currency', currencies)];
  const { data, error, ask } = useLive(PaymentsQuery, {
    // The gateway does not select by what is open, so a page of the list is larger than what is shown of it.
    first: open ? 100 : 25,
    after: params.get('after'),
    status: open ? ['COMPLETED'] : status && [status],
    method: method && [method],
    currency: currency && [currency],
  });
  const rows = data?.deposits.nodes.filter((payment) => !open || isUnreconciled(payment));
  return (
    <Page title="Payments">
      <div className="filters">
        <div className="filter tabs" role="group" aria-label="Show">
          <button type="button" aria-pressed={!open} onClick={() => set({ show: null })}>
            All
          </button>
          <button type="button" aria-pressed={open} onClick={() => set({ show: 'unreconciled', status: null })}>
            To reconcile
          </button>
        </div>
        {!open && <Choice label="Status" name="status" values={statuses} />}
        <Choice label="Method" name="method" values={methods} />
        <Choice label="Currency" name="currency" values={currencies} />
      </div>
      {error && !data && <Problem error={error} onRetry={ask} />}
      {!rows && !error && <Lines count={10} />}
      {rows && rows.length > 0 && <List rows={rows} />}
      {rows?.length === 0 && <NoPayments filtered={[...params.keys()].length > 0} open={open} />}
      {data && <Pager pageInfo={data.deposits.pageInfo} />}
    </Page>
  );
}

function List({ rows }: { rows: Payment[] }) {
  const time = useTimes();
  const columns: Column<Payment>[] = [
    {
      head: 'From',
      cell: ({ fromAccount, statementDescriptor }) => (
        <span className="two-lines">
          <strong className="clip">{fromAccount ? nameOf(fromAccount) : 'Unknown payer'}</strong>
          <span className="hint clip">{statementDescriptor}</span>
        </span>
      ),
    },
    { head: 'To', cell: ({ toAccount }) => toAccount && nameOf(toAccount), only: 'wider' },
    { head: 'Method', cell: ({ paymentMethod }) => words(paymentMethod), only: 'wider' },
    {
      head: 'Status',
      cell: (payment) => <Status value={isUnreconciled(payment) ? 'UNRECONCILED' : payment.status} />,
      only: 'wide',
    },
    { head: 'Received', cell: ({ created }) => time(created), only: 'wide' },
    {
      head: 'Amount',
      cell: (payment) => (
        <span className="two-lines">
          <Money amount={payment.amount} currency={payment.currency} />
          <span className="only-narrow">
            <Status value={isUnreconciled(payment) ? 'UNRECONCILED' : payment.status} />
          </span>
        </span>
      ),
      end: true,
    },
  ];
  return <Table label="Payments" columns={columns} rows={rows} href={({ id }) => `/payments/${id}`} />;
}

function NoPayments({ filtered, open }: { filtered: boolean; open: boolean }) {
  if (open) return <Empty title="Everything on this page is reconciled" />;
  return filtered ? (
    <Empty title="No payment matches">
      <p>Choose other filters.</p>
    </Empty>
  ) : (
    <Empty title="No payments yet">
      <p>Give a customer the bank details of their receiving address, or create a test payment through the API.</p>
    </Empty>
  );
}
