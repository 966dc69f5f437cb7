import { pino, type Logger } from 'pino';
import pretty from 'pino-pretty';
import type { FastifyRequest } from 'fastify';

/** One JSON line per entry on standard output; readable lines where that is a terminal. */
export function logger(level: string): Logger {
  const base = { level, base: null, timestamp: time };
  // Many lines are written at once, or what there is ten times a second; what is left at the end of the process is written
  // then. A pipe takes 4 KiB in one piece, so the lines of several processes do not mix.
  const pieces = { sync: false, minLength: 3_840, maxWrite: 4_096, periodicFlush: 100 };
  if (!process.stdout.isTTY) return pino(base, pino.destination({ dest: 1, ...pieces }));
  return pino(base, pretty({ colorize: true, ignore: 'hostname,pid', singleLine: true, messageFormat: '{msg}' }));
}

let [moment, spelled] = [0, ''];

/** The time of a line, as ISO 8601; of many lines in one millisecond, made once. */
function time(): string {
  const now = Date.now();
  if (now !== moment) [moment, spelled] = [now, `,"time":"${new Date(now).toISOString()}"`];
  return spelled;
}

/**
 * The line of one request, by allow-list: nothing that a client sent but the method and the route,
 * and of the key only its id. Never a header, a query string, a body or a path with ids.
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
    key: caller?.keyId ?? undefined,
    mode: caller && (caller.livemode ? 'live' : 'test'),
    replayed: request.context?.replayed || request.operator?.replayed || undefined,
  };
}

/** What of an error may be logged: never a statement's parameters, which are in Drizzle's own message. */
export function faultLine(error: unknown) {
  const { name, message, code, stack } = ((error as Error).cause ?? error) as Error & { code?: string };
  return {
    name,
    message,
    code,
    stack: stack
      ?.split('\n')
      .slice(1, 8)
      .map((line) => line.trim()),
  };
}
