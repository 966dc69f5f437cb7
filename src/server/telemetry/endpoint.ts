import http from 'node:http';
import { Registry } from 'prom-client';

/** Where metrics are served. */
export interface MetricsAddress {
  METRICS_PORT: number;
  METRICS_HOST: string;
}

/** Serves `GET /metrics` on a port of its own. Throws the error of the system if the port is taken. */
export async function serveMetrics(
  { METRICS_PORT, METRICS_HOST }: MetricsAddress,
  text: () => Promise<string>,
): Promise<http.Server> {
  const server = http.createServer((request, response) => void answer(request, response, text));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(METRICS_PORT, METRICS_HOST, resolve);
  });
  // The process ends although somebody could still ask.
  return server.unref();
}

async function answer(request: http.IncomingMessage, response: http.ServerResponse, text: () => Promise<string>) {
  const [path] = (request.url ?? '').split('?', 1);
  if (path !== '/metrics') return response.writeHead(404).end();
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return response.writeHead(405, { allow: 'GET, HEAD' }).end();
  try {
    const body = await text();
    return response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(body);
  } catch {
    return response.writeHead(503).end();
  }
}
