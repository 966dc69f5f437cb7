import { Download } from 'lucide-react';
import { useState } from 'react';
import { filterWords, formatSize, listName } from '../../format/exports';
import { useTimeZone } from '../../format/preferences';
import { formatAge, useTimes } from '../../format/time';
import { download } from '../../graph/files';
import { graphql } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { Failure } from '../../graph/write';
import { statusColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { type Exported, ExportFragment, fileNameOf } from '../../parts/export';
import { useFilters } from '../../parts/filters';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import type { Column } from '../../parts/table';

const ExportsQuery = graphql(
  `
    query Exports($after: ID) {
      exports(first: 25, after: $after) {
        nodes { ...Exported }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [ExportFragment],
);

/** The exports of the account, newest first: how far each is, and until when it can be downloaded. */
export function Exports() {
  const { params } = useFilters();
  const result = useLive(ExportsQuery, { after: params.get('after') });
  return (
    <Page title="Exports">
      <p className="lead hint">
        An export is a whole list as a file, as it was at one moment. Make one with <em>Export CSV</em> above a list,
        with the filters of the list.
      </p>
      <List
        label="Exports"
        result={result}
        page={result.data?.exports}
        columns={useColumns()}
        empty={<Empty title="No exports yet" />}
      />
    </Page>
  );
}

function useColumns(): Column<Exported>[] {
  const time = useTimes();
  return [
    {
      head: 'List',
      cell: ({ list, filters }) => <Two hint={filterWords(filters, time).join(' · ')}>{listName(list)}</Two>,
    },
    { head: 'Made', cell: ({ created }) => time(created), line: true },
    statusColumn(),
    { head: 'Rows', cell: ({ rows }) => rows.toLocaleString(), end: true },
    { head: 'Size', cell: ({ bytes }) => formatSize(bytes), end: true, line: true },
    { head: 'Until', cell: ({ expiresAt }) => expiresAt && <Until at={expiresAt} />, line: true },
    { head: 'File', cell: (row) => <File row={row} />, end: true },
  ];
}

function Until({ at }: { at: string }) {
  const time = useTimes();
  return (
    <span className="two-lines">
      {time(at)}
      <span className="hint">{formatAge(at)}</span>
    </span>
  );
}

/** The button that downloads an export, or why there is none. */
function File({ row }: { row: Exported }) {
  const timeZone = useTimeZone();
  const [failure, setFailure] = useState<Failure>();
  if (row.status === 'FAILED') return <span className="hint">{row.error}</span>;
  const { contentPath } = row;
  if (contentPath === null) return null;
  const name = fileNameOf(row, timeZone);
  return (
    <span className="row-actions">
      <button
        type="button"
        className="button small"
        aria-label={`Download ${name}`}
        onClick={() => void download(contentPath, name).then(setFailure)}
      >
        <Download aria-hidden /> Download
      </button>
      {failure && <Problem error={failure} />}
    </span>
  );
}
