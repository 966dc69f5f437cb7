import type { ReactNode } from 'react';
import { Money } from './money';
import { Status } from './status';
import type { Column } from './table';

/** A cell with a name, and what else is worth knowing below it. */
export function Two({ children, hint }: { children: ReactNode; hint?: ReactNode }) {
  return (
    <span className="two-lines">
      <strong className="clip">{children}</strong>
      {hint && <span className="hint clip">{hint}</span>}
    </span>
  );
}

/** The column of an amount. */
export function amountColumn<Row extends { amount: string; currency: string }>(): Column<Row> {
  const cell = ({ amount, currency }: Row) => <Money amount={amount} currency={currency} />;
  return { head: 'Amount', cell, end: true, plain: true };
}

/** The column of a status, which is the last one in a list without amounts. */
export function statusColumn<Row extends { status: string }>(end = false): Column<Row> {
  return stateColumn(({ status }) => status, end);
}

/** The column of a state that is more than the status of the row. */
export function stateColumn<Row>(stateOf: (row: Row) => string, end = false): Column<Row> {
  return { head: 'Status', cell: (row) => <Status value={stateOf(row)} />, end, plain: true };
}

/** The column of an amount, which on small screens has the status, too. */
export function amountAndStatus<Row>(
  moneyOf: (row: Row) => { amount: string; currency: string },
  statusOf: (row: Row) => string,
  more: (row: Row) => ReactNode = () => null,
): Column<Row> {
  return {
    head: 'Amount',
    cell: (row) => (
      <span className="two-lines">
        <Money {...moneyOf(row)} />
        {more(row)}
        <span className="only-narrow">
          <Status value={statusOf(row)} />
        </span>
      </span>
    ),
    end: true,
  };
}
