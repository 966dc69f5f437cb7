import fs from 'node:fs';
import type { FastifyInstance } from 'fastify';

/** The generated contract, next to the schemas of the graph. */
export const contractFile = new URL('../../../../schema/openapi.json', import.meta.url);

/** Serves the contract at /openapi.json to anyone, as it was generated. */
export function contractEndpoint(app: FastifyInstance): void {
  let text: string | undefined;
  app.get('/openapi.json', { config: { open: true } }, (_, reply) => {
    text ??= fs.readFileSync(contractFile, 'utf8');
    return reply.type('application/json; charset=utf-8').send(text);
  });
}
