import { noun, value, valueOrNull } from '../shape.js';
import type { ImportRow } from './table.js';

/** Formats an import for /v1. Silent: all fields. */
export function importV1(i: ImportRow) {
  return {
    id: value(i.id),
    object: noun('import'),
    created: value(i.created),
    livemode: value(i.livemode),
    account_id: value(i.accountId),
    kind: value(i.kind),
    file_id: value(i.fileId),
    dry_run: value(i.dryRun),
    allow_duplicates: value(i.allowDuplicates),
    status: value(i.status),
    rows: value(i.rows),
    rows_done: value(i.rowsDone),
    rows_failed: value(i.rowsFailed),
    rows_seen_before: value(i.rowsSeenBefore),
    error: valueOrNull(i.error),
    completed_at: valueOrNull(i.completedAt),
    expires_at: valueOrNull(i.expiresAt),
  };
}
