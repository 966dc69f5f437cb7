import type { FastifyRequest } from 'fastify';
import { modeOf } from '../../request/mode.js';

/**
 * The log line of one request, built from an allow-list: of the client's data only the method and the route, of the key
 * and session only their ids, and of an operator the name. It never contains a header, a query string, a body or a path
 * with ids.
 */
export function requestLine(request: FastifyRequest, status: number, milliseconds: number) {
  const caller = request.context?.caller;
  return {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'none',
    operation: request.context?.envelope?.operation ?? (request.operator?.operations.join(' ') || undefined),
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    tenant: caller?.tenantId,
    account: caller?.actingAccountId ?? (request.operator ? 'operator' : undefined),
    operator: request.operator?.viewer.name,
    key: caller?.keyId ?? undefined,
    session: caller?.session?.id,
    mode: caller && modeOf(caller.livemode),
    replayed: request.context?.replayed || request.operator?.replayed || undefined,
  };
}
