import type { FastifyInstance } from 'fastify';
import type { DatabaseState } from '../../db/doors.js';

/**
 * Registers the probes for a supervisor: whether the process is alive, and whether it can serve a request now. A node
 * of a cluster that is away makes the process no less ready, because the tenants of the others are served; the answer
 * of /readyz has the number of such nodes.
 */
export function probes(app: FastifyInstance, database: DatabaseState, server: { draining: boolean }): void {
  app.get('/healthz', { config: { probe: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { probe: true } }, async (_, reply) => {
    if (server.draining) return reply.code(503).send({ status: 'draining' });
    try {
      await database.ready();
      const nodesAway = database.crossTenant.nodes.filter(({ answers }) => !answers).length;
      return { status: 'ok', ...(nodesAway > 0 && { nodes_away: nodesAway }) };
    } catch {
      return reply.code(503).send({ status: 'no database' });
    }
  });
}
