import http from 'node:http';
import https from 'node:https';
import { graphErrors } from '../../api/graphql/errors.js';
import { ConfigError, type Config } from '../../config/config.js';
import { errorV1, problem, retryAfter } from '../../errors/problems.js';
import { newRequestId } from '../../request/id.js';
import { secureContext } from './certificates.js';
import { clientErrorHandler, slowClients } from './unreadable.js';

/** Listens; when that fails, throws a ConfigError that names the setting at fault. */
export async function listening(
  app: { listen(at: { port: number; host: string }): Promise<unknown> },
  { PORT, HOST }: Config,
): Promise<void> {
  try {
    await app.listen({ port: PORT, host: HOST });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new ConfigError(`PORT: another program listens on port ${PORT} of ${HOST} (${code}).`);
    if (code === 'EACCES') throw new ConfigError(`PORT: this user may not listen on port ${PORT} (${code}).`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new ConfigError(`HOST: this machine has no address ${HOST} (${code}).`);
    throw error;
  }
}

/**
 * Answers while the gateway starts, which may wait long for a migration: the process is alive, and nothing else is
 * served yet. Returns how it ends, which has to be before the gateway listens. Of several processes only the first
 * answers: those that start later would get requests that it could serve.
 */
export async function answerWhileStarting(settings: Config, first: boolean): Promise<() => Promise<void>> {
  // Nobody knows a port that the system will choose.
  if (!first || settings.PORT === 0) return async () => {};
  const { tls, HEADER_SECONDS, BODY_SECONDS } = settings;
  const limits = { ...slowClients, headersTimeout: HEADER_SECONDS * 1_000, requestTimeout: BODY_SECONDS * 1_000 };
  const server = tls
    ? https.createServer({ ...secureContext(tls), ...limits }, answer)
    : http.createServer(limits, answer);
  server.on('clientError', clientErrorHandler);
  const listen = (at: { port: number; host: string }) =>
    new Promise<void>((resolve, reject) => void server.once('error', reject).listen(at, resolve));
  await listening({ listen }, settings);
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
  const [path] = (request.url ?? '').split('?', 1);
  const alive = path === '/healthz';
  const refused = [problem('service_unavailable')];
  const requestId = newRequestId();
  const body = () => {
    if (alive) return { status: 'ok' };
    if (path === '/servez' || path === '/readyz') return { status: 'starting' };
    return path === '/graphql' ? graphErrors(refused, requestId) : errorV1(refused);
  };
  response.writeHead(alive ? 200 : 503, {
    'content-type': 'application/json; charset=utf-8',
    'request-id': requestId,
    connection: 'close',
    ...(!alive && { 'retry-after': String(retryAfter(refused)) }),
  });
  response.end(`${JSON.stringify(body())}\n`);
}
