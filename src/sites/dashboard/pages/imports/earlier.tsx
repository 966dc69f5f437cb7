import { useTimes } from '../../format/time';
import { useLive } from '../../graph/live';
import { statusColumn } from '../../parts/cells';
import { Card } from '../../parts/page';
import { Table } from '../../parts/table';
import { useSession } from '../../session';
import { type ImportKind, kinds } from './members';
import { ImportsQuery } from './query';

/** The latest imports of a kind, without trials; nothing where there are none. */
export function Earlier({ kind }: { kind: ImportKind }) {
  const time = useTimes();
  const { viewer } = useSession();
  const { data } = useLive(ImportsQuery, { accountId: viewer.account.id });
  const rows = data?.imports?.nodes.filter((each) => each.kind === kind && !each.dryRun) ?? [];
  if (rows.length === 0) return null;
  return (
    <Card title={`Imports of ${kinds[kind].list.name.toLowerCase()}`}>
      <Table
        label="Imports"
        rows={rows}
        href={({ id }) => `/imports/${id}`}
        columns={[
          { head: 'Begun', cell: ({ created }) => time(created) },
          { head: 'Rows', cell: ({ rows: count }) => count.toLocaleString(), end: true },
          {
            head: 'Left out',
            cell: ({ rowsFailed, rowsSeenBefore }) => (rowsFailed + rowsSeenBefore).toLocaleString(),
            end: true,
          },
          statusColumn(true),
        ]}
      />
    </Card>
  );
}
