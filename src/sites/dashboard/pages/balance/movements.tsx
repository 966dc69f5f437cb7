import { Link } from 'wouter';
import { useTimes } from '../../format/time';
import { Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { movementColumns } from '../../parts/movement-columns';
import { type Column, Table } from '../../parts/table';
import type { Movement } from './query';
import { movementWords } from './words';

type Row = Movement & { id: string };

/** Movements of a balance, each with what there was after it. */
export function Movements({ rows }: { rows: readonly Movement[] }) {
  const time = useTimes();
  if (rows.length === 0) {
    return (
      <Empty title="Nothing moved">
        <p>No money came in or went out in this month, in this currency.</p>
      </Empty>
    );
  }
  const columns: Column<Row>[] = [
    { head: 'Movement', cell: (row) => <What movement={row} /> },
    ...movementColumns(time),
  ];
  // A payment can move money more than once, so its id alone does not name a row.
  const named = rows.map((row, i) => ({ ...row, id: `${row.payment?.id ?? ''} ${row.created} ${i}` }));
  return <Table label="Movements" columns={columns} rows={named} />;
}

function What({ movement }: { movement: Movement }) {
  const { text, hint, reference, href } = movementWords(movement);
  return (
    <Two hint={[reference, hint].filter(Boolean).join(' · ')}>{href ? <Link href={href}>{text}</Link> : text}</Two>
  );
}
