import { declareKeys } from '../shape.js';
import type { ExportRow } from './table.js';

/** The path of the content of an export; null unless it is there. */
export const contentPathOf = ({ id, status }: Pick<ExportRow, 'id' | 'status'>): string | null =>
  status === 'completed' ? `/v1/exports/${id}/content` : null;

/** Formats an export for /v1. Silent: all fields. */
export function exportV1(e: ExportRow) {
  return {
    id: e.id,
    object: 'export',
    created: e.created,
    livemode: e.livemode,
    account_id: e.accountId,
    list: e.list,
    filters: e.filters,
    format: e.format,
    status: e.status,
    rows: e.rows,
    bytes: e.bytes,
    sha256: e.sha256,
    content_path: contentPathOf(e),
    error: e.error,
    snapshot_at: e.snapshotAt,
    completed_at: e.completedAt,
    expires_at: e.expiresAt,
  };
}

declareKeys(exportV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  account_id: 'value',
  list: 'value',
  filters: 'value',
  format: 'value',
  status: 'value',
  rows: 'value',
  bytes: 'value',
  sha256: 'value or null',
  content_path: 'value or null',
  error: 'value or null',
  snapshot_at: 'value or null',
  completed_at: 'value or null',
  expires_at: 'value or null',
});
