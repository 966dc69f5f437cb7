import { hundredths, sum } from '../../format/money';
import { formatDay } from '../../format/time';
import { counted } from '../../format/words';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { type Column, Table } from '../../parts/table';
import type { Customers } from './customers';
import { type ImportKind, kinds, labelOf } from './members';
import { type ImportRows, isRead } from './rows';

const rowsShown = 10;

interface PreviewProps {
  kind: ImportKind;
  rows: ImportRows;
  customers: Customers | undefined;
}

interface Shown {
  id: string;
  at: number;
}

/** The first rows as they would be imported, and the sums of all. */
export function Preview({ kind, rows, customers }: PreviewProps) {
  const shown = rows.from.slice(0, rowsShown).map(({ line }, at): Shown => ({ id: String(line), at }));
  const columns = rows.columns.slice(0, rows.own).map((column, i) => columnOf({ kind, rows, customers }, column, i));
  const title = rows.from.length > rowsShown ? `The first ${rowsShown} rows` : counted(rows.from.length, 'row');
  return (
    <Card title={title}>
      <div className="scrolled" role="region" aria-label="The first rows as they are read" tabIndex={0}>
        <Table
          label="The first rows"
          rows={shown}
          columns={[{ head: 'In the sheet', cell: ({ id }) => `Row ${id}`, line: true }, ...columns]}
        />
      </div>
      {kind === 'RECEIVABLES' && <Sums rows={rows} />}
    </Card>
  );
}

function columnOf({ kind, rows, customers }: PreviewProps, column: string, i: number): Column<Shown> {
  const member = kinds[kind].members.find((each) => each.column === column);
  const currency = rows.columns.indexOf('currency');
  return {
    head: labelOf(kind, column),
    end: member?.kind === 'amount',
    line: member?.kind === 'day',
    cell: (row) => {
      const cell = rows.rows[row.at]![i]!;
      if (cell === '') return <span className="hint none">–</span>;
      if (member?.kind === 'amount') {
        if (!isRead.amount(cell)) return <Unread text={cell} />;
        const of = rows.rows[row.at]![currency] ?? '';
        return /^[A-Z]{3}$/.test(of) ? <Money amount={cell} currency={of} /> : cell;
      }
      if (member?.kind === 'day') return isRead.day(cell) ? formatDay(cell) : <Unread text={cell} />;
      if (member?.kind === 'customer') {
        if (!customers) return cell;
        return cell.startsWith('account_') ? (customers.names.get(cell) ?? cell) : <Unread text={cell} />;
      }
      return cell;
    },
  };
}

/** A cell that cannot be read; the check says why. */
function Unread({ text }: { text: string }) {
  return (
    <span className="unread">
      {text} <span className="unseen">(cannot be read)</span>
    </span>
  );
}

/** What all rows add up to, by currency. */
function Sums({ rows: { columns, rows } }: { rows: ImportRows }) {
  const [amount, currency] = [columns.indexOf('invoice.amount'), columns.indexOf('currency')];
  if (amount < 0 || currency < 0) return null;
  const byCurrency = new Map<string, string[]>();
  for (const row of rows)
    if (/^\d+\.\d\d$/.test(row[amount]!) && /^[A-Z]{3}$/.test(row[currency]!))
      amountsIn(byCurrency, row[currency]!).push(row[amount]!);
  const sums = [...byCurrency].map(([of, amounts]) => ({ currency: of, amount: sum(amounts), count: amounts.length }));
  return (
    <p className="import-sums" role="status">
      {sums
        .filter((each) => hundredths(each.amount) > 0n)
        .map((each) => (
          <span key={each.currency}>
            {each.count === rows.length ? 'All' : `${each.count.toLocaleString()} of`} {counted(rows.length, 'row')}
            {' · '}
            <Money amount={each.amount} currency={each.currency} />
          </span>
        ))}
    </p>
  );
}

/** The amounts of a currency, to which more are added. */
function amountsIn(byCurrency: Map<string, string[]>, currency: string): string[] {
  const amounts = byCurrency.get(currency) ?? [];
  byCurrency.set(currency, amounts);
  return amounts;
}
