import type { KeyboardEvent, ReactNode } from 'react';
import { Link } from 'wouter';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ReactNode;
  /** Amounts stand at the end of the line. */
  end?: boolean;
  /** What its cells are is plain, so that a sheet does not say the name of the column. */
  plain?: boolean;
  /** Its cells stand in one line, as times do. */
  line?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** The address of a row's page; the first cell is its link, and the whole row can be clicked. */
  href?: ((row: Row) => string) | undefined;
}

/** Moves the focus to the row above or below with the arrow keys, or with j and k. */
function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('td:first-child > a')];
  const at = links.findIndex((link) => link === document.activeElement);
  if (at < 0) return;
  event.preventDefault();
  links[at + step]?.focus();
}

/**
 * A table of objects. The arrow keys move from row to row. Below 768 px a row is a sheet, which has all cells: the
 * first beside the last, then amounts, and below them the others with the names of their columns.
 */
export function Table<Row extends { id: string }>({ label, columns, rows, href }: TableProps<Row>) {
  return (
    <div className="table-frame">
      <table className="table sheets" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ head, end }) => (
              <th scope="col" key={head} className={end ? 'end' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={onKeyDown}>
          {rows.map((row) => (
            // A root has one id in both modes, and an address in each.
            <tr key={`${row.id} ${href?.(row)}`} className={href && 'linked'}>
              {columns.map(({ head, cell, end, plain, line }, i) => (
                <td
                  key={head}
                  className={[end && 'end', line && 'line'].filter(Boolean).join(' ') || undefined}
                  data-name={plain ? undefined : head}
                >
                  {href && i === 0 ? <Link href={href(row)}>{cell(row)}</Link> : cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
