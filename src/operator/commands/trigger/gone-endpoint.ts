import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestGateway, TriggerError } from './gateway.js';
import { until } from './trade.js';

/** An endpoint on this machine that answers 410, so that the gateway disables it. */
export async function goneEndpoint(gateway: TestGateway): Promise<string> {
  if (!gateway.local)
    throw new TriggerError(
      'The gateway must be on this machine: an endpoint of this command answers 410 to it. Elsewhere, let an ' +
        'endpoint of yours answer 410.',
    );
  const server = http.createServer((_, response) => void response.writeHead(410).end());
  await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume));
  try {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    const { id } = await gateway.post('/webhook_endpoints', { url, event_types: ['webhook_endpoint.tested'] });
    await gateway.post(`/webhook_endpoints/${id}/test`);
    await until(
      () => gateway.get(`/webhook_endpoints/${id}`),
      ({ enabled }) => enabled === false,
      'the end of the endpoint',
    );
    return id;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
