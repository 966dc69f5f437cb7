import type { FastifyInstance } from 'fastify';
import type { Database } from '../db/database.js';

/** Registers the probes for a supervisor: whether the process is alive, and whether it can serve a request now. */
export function probes(app: FastifyInstance, database: Database, server: { draining: boolean }): void {
  app.get('/healthz', { config: { probe: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { probe: true } }, async (_, reply) => {
    if (server.draining) return reply.code(503).send({ status: 'draining' });
    try {
      await database.ready();
      return { status: 'ok' };
    } catch {
      return reply.code(503).send({ status: 'no database' });
    }
  });
}
