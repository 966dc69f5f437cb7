import fs from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { sendFile, StaticFile } from '../../../request/static-files.js';

/** The generated contract, next to the schemas of the graph. */
export const contractFile = new URL('../../../../schema/openapi.json', import.meta.url);

/** Serves the contract at /openapi.json to anyone, as it was generated. */
export function contractEndpoint(app: FastifyInstance): void {
  let file: StaticFile | undefined;
  app.get('/openapi.json', { config: { open: true } }, (request, reply) => {
    file ??= new StaticFile('.json', { identity: fs.readFileSync(contractFile) });
    return sendFile(request, reply, file, 'page');
  });
}
