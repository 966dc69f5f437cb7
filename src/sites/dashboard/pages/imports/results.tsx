import { type ReactNode, useState } from 'react';
import { formatDay } from '../../format/time';
import { refusalWords } from '../../format/refusals';
import type { ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { stateColumn } from '../../parts/cells';
import { Money } from '../../parts/money';
import { addressOf, ObjectLink } from '../../parts/object-link';
import { Pending } from '../../parts/problem';
import { type Column, Table } from '../../parts/table';
import { nameOf } from '../../session';
import { type ImportKind, labelOf } from './members';
import { ResultsQuery } from './query';

type Row = NonNullable<NonNullable<NonNullable<ResultOf<typeof ResultsQuery>['import']>['results']>['nodes']>[number];

const groups = {
  left: { label: 'Rows that are left out', status: ['FAILED', 'SEEN_BEFORE'] },
  created: { label: 'Rows that were imported', status: ['CREATED'] },
} as const;

interface ResultsProps {
  id: string;
  kind: ImportKind;
  group: keyof typeof groups;
  /** How a row is called: its place in the sheet. */
  rowName: (row: number) => string;
  /** A sentence of its own about a fault of a row; undefined where the gateway's is said. */
  faultOf?: (row: number, column: string | null) => string | undefined;
}

/** What became of the rows of an import, 25 at a time, in the order of the file. */
export function Results({ id, kind, group, rowName, faultOf = () => undefined }: ResultsProps) {
  const { label, status } = groups[group];
  // The pages before this one, by what they begin after.
  const [pages, setPages] = useState<(string | null)[]>([null]);
  const result = useLive(ResultsQuery, { id, after: pages.at(-1)!, status: [...status] }, { seconds: 60 });
  const page = result.data?.import?.results;
  if (!page) return <Pending result={result} lines={4} />;
  const place: Column<Row> = { head: 'In the sheet', cell: ({ row }) => `Row ${rowName(row)}`, line: true };
  const columns: Column<Row>[] =
    group === 'left'
      ? [
          place,
          { head: 'Why', cell: (row) => <Faults {...{ row, kind, faultOf }} /> },
          stateColumn<Row>(({ status: state }) => state, true),
        ]
      : [{ head: kind === 'RECEIVABLES' ? 'Invoice' : 'Customer', cell: nameOfObject }, place, ...amountsOf(kind)];
  const href = group === 'left' ? undefined : ({ objectId }: Row) => addressOf(objectId ?? '') ?? '';
  return (
    <>
      <Table label={label} columns={columns} rows={page.nodes} href={href} />
      {(pages.length > 1 || page.pageInfo.hasNextPage) && (
        <nav className="pager" aria-label={`Pages of ${label.toLowerCase()}`}>
          <button
            type="button"
            className="button small"
            disabled={pages.length === 1}
            onClick={() => setPages(pages.slice(0, -1))}
          >
            Previous
          </button>
          <button
            type="button"
            className="button small"
            disabled={!page.pageInfo.hasNextPage}
            onClick={() => setPages([...pages, page.pageInfo.endCursor])}
          >
            Next
          </button>
        </nav>
      )}
    </>
  );
}

/** The faults of a row, each with its column, or that its object exists. */
function Faults({ row: { row, status, objectId, problems }, kind, faultOf }: FaultsProps) {
  if (status === 'SEEN_BEFORE')
    return (
      <span>{objectId ? <ObjectLink id={objectId}>It exists already.</ObjectLink> : 'An earlier row has it.'}</span>
    );
  return (
    <ul className="faults">
      {problems.map(({ code, column, message }) => (
        <li key={`${column} ${code} ${message}`}>
          {column && <strong>{labelOf(kind, column)}: </strong>}
          {faultOf(row, column) ?? refusalWords(code?.toLowerCase(), message)}
        </li>
      ))}
    </ul>
  );
}

interface FaultsProps {
  row: Row;
  kind: ImportKind;
  faultOf: NonNullable<ResultsProps['faultOf']>;
}

/** The name of the object of a row. */
function nameOfObject({ object, objectId }: Row): ReactNode {
  if (!object) return objectId;
  return 'invoice' in object ? object.invoice.referenceNumber : 'nickname' in object ? nameOf(object) : objectId;
}

function amountsOf(kind: ImportKind): Column<Row>[] {
  if (kind !== 'RECEIVABLES') return [];
  return [
    {
      head: 'Due',
      cell: ({ object }) => object && 'invoice' in object && formatDay(object.invoice.dueDate),
      line: true,
    },
    {
      head: 'Amount',
      cell: ({ object }) =>
        object && 'invoice' in object && <Money amount={object.invoice.amount} currency={object.currency} />,
      end: true,
    },
  ];
}
