import type { Caller } from '../../request/caller.js';
import { declareKeys, named } from '../shape.js';
import type { RequestLogRow } from './table.js';

/**
 * The key or session of a request, as the caller may see it: a session does not learn which keys and sessions exist.
 */
export const shownTo = ({ session }: Pick<Caller, 'session'>, id: string | null): string | null =>
  session ? null : id;

/** Formats a request of the log for /v1. Silent: all fields. */
export function requestLogV1(r: RequestLogRow, caller: Pick<Caller, 'session'>) {
  return {
    id: r.id,
    object: 'request_log',
    created: r.created,
    livemode: r.livemode,
    account_id: r.actingAccountId,
    api: r.api,
    operation: r.operation,
    status: r.status,
    outcome: r.outcome,
    codes: r.codes,
    milliseconds: r.durationMilliseconds,
    api_key_id: shownTo(caller, r.apiKeyId),
    session_id: shownTo(caller, r.sessionId),
    on_behalf_of: r.onBehalfOf,
  };
}

declareKeys(requestLogV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  account_id: 'value',
  api: 'value',
  operation: 'value',
  status: 'value',
  outcome: 'value',
  codes: 'value',
  milliseconds: named('durationMilliseconds', 'value'),
  api_key_id: 'value or null',
  session_id: 'value or null',
  on_behalf_of: 'value or null',
});
