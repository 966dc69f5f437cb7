import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { Pager, type PageInfo } from './pager';
import { Pending, Problem } from './problem';
import { type Summed, useSelection } from './selection';
import { type Column, Table } from './table';

interface ListProps<Row> {
  label: string;
  /** The answer to the query of the list. */
  result: { data?: unknown; error?: CombinedError | undefined; ask: () => void };
  /** The page of the list; undefined until it has arrived, and null where it is refused. */
  page: { nodes: readonly Row[]; pageInfo: PageInfo; totalCount?: number | null } | null | undefined;
  /** The columns of a table; a list that is no table draws itself. */
  columns?: readonly Column<Row>[];
  draw?: (rows: readonly Row[]) => ReactNode;
  href?: (row: Row) => string;
  /** The money of a row, where rows can be ticked to see what they come to. */
  summed?: (row: Row) => Summed;
  /** What the list shows when it has no rows. */
  empty: ReactNode;
}

/** A page of a list in each of its states: loading, failed, empty, and with rows, also where parts of rows failed. */
export function List<Row extends { id: string }>(props: ListProps<Row>) {
  const { label, result, page, columns = [], draw, href, summed, empty } = props;
  const { selection, foot } = useSelection(page?.nodes, summed);
  if (!page) return <Pending result={result} lines={10} />;
  return (
    <>
      {result.error && <Problem error={result.error} onRetry={result.ask} />}
      {page.nodes.length === 0 && empty}
      {page.nodes.length > 0 &&
        (draw?.(page.nodes) ?? (
          <Table label={label} columns={columns} rows={page.nodes} href={href} selection={selection} />
        ))}
      <Pager pageInfo={page.pageInfo} rows={page.nodes.length} total={page.totalCount} />
      {foot}
    </>
  );
}
