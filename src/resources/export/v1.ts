import { noun, value, valueOrNull } from '../shape.js';
import type { ExportRow } from './table.js';

/** The path of the content of an export; null unless it is there. */
export const contentPathOf = ({ id, status }: Pick<ExportRow, 'id' | 'status'>): string | null =>
  status === 'completed' ? `/v1/exports/${id}/content` : null;

/** Formats an export for /v1. Silent: all fields. */
export function exportV1(e: ExportRow) {
  return {
    id: value(e.id),
    object: noun('export'),
    created: value(e.created),
    livemode: value(e.livemode),
    account_id: value(e.accountId),
    list: value(e.list),
    filters: value(e.filters),
    format: value(e.format),
    status: value(e.status),
    rows: value(e.rows),
    bytes: value(e.bytes),
    sha256: valueOrNull(e.sha256),
    content_path: valueOrNull(contentPathOf(e)),
    error: valueOrNull(e.error),
    snapshot_at: valueOrNull(e.snapshotAt),
    completed_at: valueOrNull(e.completedAt),
    expires_at: valueOrNull(e.expiresAt),
  };
}
