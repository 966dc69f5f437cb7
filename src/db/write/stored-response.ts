import type { Table } from 'drizzle-orm';
import { fromRow } from '../read/row-mapper.js';

/** The statement that reads the stored answer of an idempotency key, as a row of the named table. */
export function answeredStatement(tableName: string): string {
  return (
    'select i.operation as answered_operation, i.request as answered_request, i.request_id as ' +
    `answered_request_id, r.* from idempotency i, jsonb_populate_record(null::${tableName}, i.answer) r where ` +
    'i.tenant_id = $1 and i.livemode = $2 and i.account_id = $3 and i.key = $4'
  );
}

/** The stored answer that the statement has found. */
export function storedAnswer<T extends Table>(table: T, row: Record<string, unknown>) {
  return {
    operation: row.answered_operation as string,
    request: row.answered_request as Record<string, string>,
    /** The id of the request that got this answer. */
    requestId: row.answered_request_id as string | null,
    row: fromRow(table, row),
  };
}
