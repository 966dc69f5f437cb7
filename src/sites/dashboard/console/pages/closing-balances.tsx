import { useId } from 'react';
import { dayBefore } from '../../format/days';
import { decimal, formatMoney, hundredths } from '../../format/money';
import { formatDay, gatewayNow } from '../../format/time';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Empty } from '../../parts/empty';
import { isDay, useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Money } from '../../parts/money';
import { Two } from '../../parts/cells';
import type { Column } from '../../parts/table';
import { graphql } from '../graphql';

const ReportQuery = graphql(`
  query BankReport($day: LocalDate!) {
    bankReport(day: $day) {
      hasMore
      statements {
        fileId file account currency opening closing previousDay gap ledger waiting unmatched returned difference
      }
    }
  }
`);

type Row = ResultOf<typeof ReportQuery>['bankReport']['statements'][number];
const figure = (name: 'closing' | 'ledger', head: string): Column<Row> => ({
  head,
  cell: (row) => <Money amount={row[name]} currency={row.currency} />,
  end: true,
});

const isSome = (amount: string) => /[1-9]/.test(amount);

/** The opening balance, and by how much it differs from the last closing balance before it. */
function Opening({ opening, gap, previousDay, currency }: Row) {
  return (
    <span className="two-lines">
      <Money amount={opening} currency={currency} />
      {gap !== null && previousDay !== null && isSome(gap) && (
        <span className="hint">
          {formatMoney({ amount: gap, currency })} since the closing of {formatDay(previousDay)}
        </span>
      )}
    </span>
  );
}

/**
 * What is in the balance of the bank and not in the ledger, with the lines that say why. What none of them says is
 * missing in the files, or was booked with another amount.
 */
function Difference({ difference, waiting, unmatched, returned, currency }: Row) {
  const said = [waiting, unmatched, returned].reduce((sum, amount) => sum + hundredths(amount), 0n);
  const unexplained = decimal(hundredths(difference) - said);
  const why = Object.entries({ waiting, unmatched, 'sent back': returned, 'in no line': unexplained }).filter(
    ([, amount]) => isSome(amount),
  );
  if (!isSome(difference) && why.length === 0) return 'None';
  return (
    <span className="two-lines">
      <strong>
        <Money amount={difference} currency={currency} />
      </strong>
      <span className="hint only-narrow">difference</span>
      {why.map(([name, amount]) => (
        <span key={name} className="hint">
          {formatMoney({ amount, currency })} {name}
        </span>
      ))}
    </span>
  );
}

const columns: Column<Row>[] = [
  { head: 'Account', cell: ({ account, file }) => <Two hint={file}>{account ?? 'None'}</Two> },
  { head: 'Opening', cell: (row) => <Opening {...row} />, end: true },
  figure('closing', 'Closing'),
  figure('ledger', 'In the ledger'),
  { head: 'Difference', cell: (row) => <Difference {...row} />, end: true },
];

/** Where the closing balance of a bank and the ledger differ, for one day. */
export function ClosingBalances() {
  const id = useId();
  const { params, set } = useFilters();
  const text = params.get('day') ?? '';
  const day = isDay(text) ? text : dayBefore(gatewayNow(), 'UTC', 1);
  const result = useLive(ReportQuery, { day }, { seconds: 30 });
  const rows = result.data?.bankReport.statements.map((row) => ({
    ...row,
    id: `${row.fileId} ${row.account} ${row.currency}`,
  }));
  return (
    <>
      <div className="filters">
        <div className="filter">
          <label htmlFor={id}>Day</label>
          <input id={id} type="date" value={day} onChange={({ target }) => set({ day: target.value })} />
        </div>
        <p className="hint">
          The difference is what the balance has moved by in the day, less what the ledger has of it.
        </p>
      </div>
      {result.data?.bankReport.hasMore && (
        <p className="hint">The day has more statements. These are the first 200, by account.</p>
      )}
      <List
        label="Closing balances"
        result={result}
        page={rows && { nodes: rows, pageInfo: { hasNextPage: false, endCursor: null } }}
        columns={columns}
        empty={
          <Empty title="No statement of this day">
            <p>Import a camt.053 file with the balances of the day.</p>
          </Empty>
        }
      />
    </>
  );
}
