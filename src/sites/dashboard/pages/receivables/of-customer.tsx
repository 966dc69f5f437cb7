import { Link } from 'wouter';
import { dayOf } from '../../format/days';
import { hundredths } from '../../format/money';
import { useTimeZone } from '../../format/preferences';
import { stateOf } from '../../format/receivables';
import { formatDay } from '../../format/time';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { sent } from '../../graph/sent';
import { stateColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Choice, FilterBar, isDay, Range, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Loaded } from '../../parts/loaded';
import { Money } from '../../parts/money';
import { Page } from '../../parts/page';
import type { Column } from '../../parts/table';
import { nameOf, NameFragment } from '../../session';

const CustomerReceivablesQuery = graphql(
  `
    query CustomerReceivables(
      $id: ID!, $after: ID, $orderBy: ReceivableOrder!, $status: [ReceivableStatus!]
      $dueDate: DateFilter
    ) {
      viewer { now }
      account(id: $id) {
        ...Name
        billedReceivables(
          first: 25, after: $after, orderBy: $orderBy, filter: { status: $status, dueDate: $dueDate }
        ) {
          nodes { id currency status amountReconcilable invoice { amount referenceNumber creationDate dueDate } }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  `,
  [NameFragment],
);

type Answer = ResultOf<typeof CustomerReceivablesQuery>['account'];
type Receivable = RowOf<NonNullable<Answer>['billedReceivables']>;

const statuses = ['OPEN', 'LOCKED', 'SETTLED', 'VOID'] as const;
const orders = { due: 'DUE_DATE_ASC', 'due-last': 'DUE_DATE_DESC' } as const;

/** All receivables that bill a customer, by their due dates. */
export function CustomerReceivables({ customerId }: { customerId: string }) {
  const { params, one, range } = useFilters();
  const [status, dueDate] = [one('status', statuses), range('due', isDay)];
  const timeZone = useTimeZone();
  const result = useLive(CustomerReceivablesQuery, {
    ...{ id: customerId, after: params.get('after') },
    orderBy: orders[one('sort', ['due-last']) ?? 'due'],
    ...sent({ status: status && [status], dueDate }),
  });
  return (
    <Loaded result={result} of={({ account }) => account}>
      {(account) => (
        <Page
          title={`Receivables of ${nameOf(account)}`}
          back={{ href: `/accounts/${customerId}`, name: nameOf(account) }}
        >
          <FilterBar>
            <Choice
              label="Sort"
              name="sort"
              values={['due-last']}
              names={{ 'due-last': 'Due last' }}
              none="Due first"
            />
            <Choice label="Status" name="status" values={statuses} />
            <Range label="Due" name="due" type="date" />
          </FilterBar>
          <List
            label="Receivables"
            result={result}
            page={account.billedReceivables}
            columns={columnsOf(dayOf(result.data!.viewer.now, timeZone))}
            href={({ id }) => `/receivables/${id}`}
            empty={
              <Empty title={status || dueDate ? 'No receivable matches' : 'No receivable bills this customer'}>
                {(status || dueDate) && (
                  <Link href={`/receivables?customer=${customerId}`} className="button">
                    Clear filters
                  </Link>
                )}
              </Empty>
            }
          />
        </Page>
      )}
    </Loaded>
  );
}

const columnsOf = (today: string): Column<Receivable>[] => [
  {
    head: 'Invoice',
    cell: ({ invoice }) => <Two hint={`of ${formatDay(invoice.creationDate)}`}>{invoice.referenceNumber}</Two>,
  },
  stateColumn((each) => stateOf(each, today)),
  { head: 'Due', cell: ({ invoice }) => formatDay(invoice.dueDate), line: true },
  {
    head: 'Amount',
    cell: ({ invoice: { amount }, currency }) => <Money {...{ amount, currency }} />,
    end: true,
  },
  { head: 'Open', cell: (each) => <Open {...each} />, end: true },
];

function Open({ status, amountReconcilable: amount, currency }: Receivable) {
  if (status === 'VOID' || hundredths(amount) === 0n) return <span className="hint none">–</span>;
  return <Money {...{ amount, currency }} />;
}
