import { openServer, connect } from './server.ts';
import { seed, seedNeighbour } from './seed.ts';
import { start, headersFor, cpuOf, cpuOfServer, parentOf } from './processes.ts';
import { workloads, requestsOf } from './workloads.ts';
import { load } from './load.ts';
const server = await openServer('/work/tmp/admission/data');
const sql = connect(server.login);
try {
  const greedy = await seed(server, 1, () => {});
  const honest = await seedNeighbour(server, () => {});
  const [{ pid }] = (await sql`select pg_backend_pid() as pid`) as any;
  const pg = parentOf(pid);
  const all = workloads(greedy, '');
  const mix = ['REST by id', 'REST list', 'first page', 'Q3'];
  for (const [label, env, connections] of [
    ['default 16', {}, 16],
    ['refusing 64', { REQUEST_SLOTS: '1', REQUESTS_OF_TENANT_MAX: '1' }, 64],
  ] as const) {
    for (const [k, v] of Object.entries({ REQUEST_SLOTS: '', REQUESTS_OF_TENANT_MAX: '', ...env })) process.env[k] = v;
    const one = await start('tidegate', server.login, greedy);
    try {
      for (const name of [...mix]) {
        const requests = requestsOf(all.find((w) => w.name === name)!.asks.tidegate!);
        await load({ origin: one.origin, headers: headersFor(greedy), requests, seconds: 1, connections });
        const before = [cpuOf(one.pid)!, cpuOfServer(pg)!];
        const r = await load({ origin: one.origin, headers: headersFor(greedy), requests, seconds: 4, connections });
        const after = [cpuOf(one.pid)!, cpuOfServer(pg)!];
        console.log(label, name, r.requests, 'refused', r.refused, 'p99', r.p99, 'cpu ms/req', (after[0]! - before[0]!) * 1000 / r.requests, 'pg', (after[1]! - before[1]!) * 1000 / r.requests);
      }
    } finally { await one.stop(); }
  }
  // 401
} finally { await sql.end(); await server.close(); }
