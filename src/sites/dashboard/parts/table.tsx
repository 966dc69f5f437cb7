import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { Link } from 'wouter';
import type { Selection } from './selection';

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
  /** The rows that are ticked, where rows can be. */
  selection?: Selection | undefined;
}

/** What of a row the keys go to: its choice, or its link. */
const stops = 'input[data-payment]:enabled, td:first-child > a';

/**
 * On a page that was just opened, j goes to the first row of its list: the page has the focus, and no key of a field or
 * of a button is taken.
 */
function useFirstRow() {
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    const main = body.current?.closest('main');
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.target !== main || !['j', 'ArrowDown'].includes(event.key) || isModified(event)) return;
      event.preventDefault();
      body.current?.querySelector<HTMLElement>(stops)?.focus();
    };
    main?.addEventListener('keydown', onKey);
    return () => main?.removeEventListener('keydown', onKey);
  }, []);
  return body;
}

const isModified = (event: { ctrlKey: boolean; metaKey: boolean; altKey: boolean }) =>
  event.ctrlKey || event.metaKey || event.altKey;

/** Moves the focus to the row above or below with the arrow keys, or with j and k, and ticks a row with x. */
function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, x: 0 }[event.key];
  if (step === undefined || isModified(event)) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('td:first-child > a')];
  // From its box a row is left like from its link.
  const at = links.findIndex((link) => link.parentElement?.contains(document.activeElement));
  if (at < 0) return;
  if (step === 0) links[at]?.parentElement?.querySelector<HTMLElement>('.tick > input')?.click();
  event.preventDefault();
  if (step !== 0) links[at + step]?.focus();
}

/**
 * A table of objects. The arrow keys move from row to row. Below 768 px a row is a sheet, which has all cells: the
 * first beside the last, then amounts, and below them the others with the names of their columns.
 */
export function Table<Row extends { id: string }>({ label, columns, rows, href, selection }: TableProps<Row>) {
  const id = useId();
  const body = useFirstRow();
  return (
    <div className={selection ? 'table-frame ticked' : 'table-frame'}>
      <table className="table sheets" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ head, end }, i) => (
              <th scope="col" key={head} className={end ? 'end' : undefined}>
                {selection && i === 0 && <TickAll rows={rows} selection={selection} />}
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={onKeyDown} ref={body}>
          {rows.map((row) => (
            // A root has one id in both modes, and an address in each.
            <tr key={`${row.id} ${href?.(row)}`} className={href && 'linked'}>
              {columns.map(({ head, cell, end, plain, line }, i) => (
                <td
                  key={head}
                  className={[end && 'end', line && 'line'].filter(Boolean).join(' ') || undefined}
                  data-name={plain ? undefined : head}
                >
                  {selection && i === 0 && <Tick row={row} labelId={`${id}${row.id}`} selection={selection} />}
                  {href && i === 0 ? (
                    <Link href={href(row)} id={selection && `${id}${row.id}`}>
                      {cell(row)}
                    </Link>
                  ) : (
                    cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface TickProps {
  row: { id: string };
  /** The element that says which row it is. */
  labelId: string;
  selection: Selection;
}

/** The box that selects a row. */
function Tick({ row: { id }, labelId, selection }: TickProps) {
  return (
    <label className="tick">
      <input
        type="checkbox"
        id={`${labelId}-tick`}
        aria-label="Select"
        aria-labelledby={`${labelId}-tick ${labelId}`}
        checked={selection.has(id)}
        onChange={(event) => selection.tick([id], event.target.checked)}
      />
    </label>
  );
}

/** The box that selects all rows of the page. */
function TickAll({ rows, selection }: { rows: readonly { id: string }[]; selection: Selection }) {
  const ids = rows.map(({ id }) => id);
  const count = ids.filter((id) => selection.has(id)).length;
  return (
    <label className="tick">
      <input
        type="checkbox"
        aria-label="Select all rows of the page"
        checked={count === ids.length}
        ref={(input) => {
          if (input) input.indeterminate = count > 0 && count < ids.length;
        }}
        onChange={(event) => selection.tick(ids, event.target.checked)}
      />
    </label>
  );
}
