import { declareKeys } from '../shape.js';
import type { ImportRow } from './table.js';

/** Formats an import for /v1. Silent: all fields. */
export function importV1(i: ImportRow) {
  return {
    id: i.id,
    object: 'import',
    created: i.created,
    livemode: i.livemode,
    account_id: i.accountId,
    kind: i.kind,
    file_id: i.fileId,
    dry_run: i.dryRun,
    allow_duplicates: i.allowDuplicates,
    status: i.status,
    rows: i.rows,
    rows_done: i.rowsDone,
    rows_failed: i.rowsFailed,
    rows_seen_before: i.rowsSeenBefore,
    error: i.error,
    completed_at: i.completedAt,
    expires_at: i.expiresAt,
  };
}

declareKeys(importV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  account_id: 'value',
  kind: 'value',
  file_id: 'value',
  dry_run: 'value',
  allow_duplicates: 'value',
  status: 'value',
  rows: 'value',
  rows_done: 'value',
  rows_failed: 'value',
  rows_seen_before: 'value',
  error: 'value or null',
  completed_at: 'value or null',
  expires_at: 'value or null',
});
