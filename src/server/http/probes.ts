import type { FastifyInstance } from 'fastify';
import type { DatabaseState } from '../../db/doors.js';

/**
 * Registers the probes: for a supervisor, whether the process is alive; for a balancer, whether it takes requests; and
 * for people and alerts, whether a request can be served now, with the reason. A balancer does not ask about the
 * database, which all gateways share: during an outage each of them answers as the APIs promise, and without them the
 * balancer would have to. A node of a cluster that is away makes the process no less ready, because the tenants of the
 * others are served; the answer of /readyz has the number of such nodes.
 */
export function probes(app: FastifyInstance, database: DatabaseState, server: { draining: boolean }): void {
  const draining = { status: 'draining' };
  app.get('/healthz', { config: { probe: true } }, async () => ({ status: 'ok' }));
  app.get('/servez', { config: { probe: true } }, async (_, reply) =>
    server.draining ? reply.code(503).send(draining) : { status: 'ok' },
  );
  app.get('/readyz', { config: { probe: true } }, async (_, reply) => {
    if (server.draining) return reply.code(503).send(draining);
    const status = await database.readiness.unready().catch(() => 'no database');
    if (status !== undefined) return reply.code(503).send({ status });
    const nodesAway = database.crossTenant.nodes.filter(({ answers }) => !answers).length;
    return { status: 'ok', ...(nodesAway > 0 && { nodes_away: nodesAway }) };
  });
}
