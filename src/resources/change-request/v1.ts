import { snake } from '../../errors/problems.js';
import { noun, value, valueOrNull } from '../shape.js';
import { shownMember } from './rules.js';
import type { ChangeRequestRow } from './table.js';

/** Formats a change request for /v1. Silent: all fields. */
export function changeRequestV1(row: ChangeRequestRow) {
  return {
    id: value(row.id),
    object: noun('change_request'),
    created: value(row.created),
    livemode: value(row.livemode),
    account_id: value(row.accountId),
    changes: row.changes.map(({ path, from, to }) => ({
      path: value(path.split('.').map(snake).join('.')),
      from: valueOrNull(shownMember(from)),
      to: valueOrNull(shownMember(to)),
    })),
    status: value(row.status),
    reason: valueOrNull(row.reason),
    answer: valueOrNull(row.answer),
    answered_at: valueOrNull(row.answeredAt),
  };
}
