import { getTableColumns } from 'drizzle-orm';
import { DateTime } from '../types/scalars.js';
import { type Fields, type NodeRow, value } from './edges.js';

interface Changed {
  created: number;
  updatedAt: number | null;
  version?: number;
}

/**
 * The field `updatedAt` of an object whose table records its changes. A row that counts its changes and has none was
 * last changed when it was created. Silent: the field.
 */
export function changesOf({ rows }: NodeRow): Fields[] {
  const columns = getTableColumns(rows);
  if (!columns.updatedAt) return [];
  const counted = columns.version !== undefined;
  const updatedAt = value(
    () => DateTime,
    (row: Changed) => row.updatedAt ?? (row.version === 0 ? row.created : null),
    {
      nullable: true,
      description:
        'When it was last changed, or else created. Null for an object that was ' +
        'last changed before the service recorded this.',
      json: (column) => {
        const at = counted
          ? `coalesce(${column('updatedAt')}, case when ${column('version')} = 0 then ${column('created')} end)`
          : column('updatedAt');
        return (
          `coalesce('"' || to_char(to_timestamp(${at}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '"', ` +
          `'null')`
        );
      },
    },
  );
  return [{ of: rows, edges: { updatedAt } }];
}
