import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { Pager } from './filters';
import { Pending, Problem } from './problem';
import { type Column, Table } from './table';

interface ListProps<Row> {
  label: string;
  /** The answer to the query of the list. */
  result: { data?: unknown; error?: CombinedError | undefined; ask: () => void };
  /** The page of the list; undefined until it has arrived, and null where it is refused. */
  page: { nodes: readonly Row[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } | null | undefined;
  /** The columns of a table; a list that is no table draws itself. */
  columns?: readonly Column<Row>[];
  draw?: (rows: readonly Row[]) => ReactNode;
  href?: (row: Row) => string;
  /** What the list shows when it has no rows. */
  empty: ReactNode;
}

/** A page of a list in each of its states: loading, failed, empty, and with rows, also where parts of rows failed. */
export function List<Row extends { id: string }>(props: ListProps<Row>) {
  const { label, result, page, columns = [], draw, href, empty } = props;
  if (!page) return <Pending result={result} lines={10} />;
  return (
    <>
      {result.error && <Problem error={result.error} onRetry={result.ask} />}
      {page.nodes.length === 0 && empty}
      {page.nodes.length > 0 &&
        (draw?.(page.nodes) ?? <Table label={label} columns={columns} rows={page.nodes} href={href} />)}
      <Pager pageInfo={page.pageInfo} />
    </>
  );
}
