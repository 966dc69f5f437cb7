import type { Caller } from '../../request/caller.js';
import { named, noun, value, valueOrNull } from '../shape.js';
import type { RequestLogRow } from './table.js';

/**
 * The key or session of a request, as the caller may see it: a session does not learn which keys and sessions exist.
 */
export const shownTo = ({ session }: Pick<Caller, 'session'>, id: string | null): string | null =>
  session ? null : id;

/** Formats a request of the log for /v1. Silent: all fields. */
export function requestLogV1(r: RequestLogRow, caller: Pick<Caller, 'session'>) {
  return {
    id: value(r.id),
    object: noun('request_log'),
    created: value(r.created),
    livemode: value(r.livemode),
    account_id: value(r.actingAccountId),
    api: value(r.api),
    operation: value(r.operation),
    status: value(r.status),
    outcome: value(r.outcome),
    codes: value(r.codes),
    milliseconds: named('durationMilliseconds', value(r.durationMilliseconds)),
    api_key_id: valueOrNull(shownTo(caller, r.apiKeyId)),
    session_id: valueOrNull(shownTo(caller, r.sessionId)),
    on_behalf_of: valueOrNull(r.onBehalfOf),
  };
}
