import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { config } from '../../src/config/config.js';
import { connectionOf, replicasOf } from '../../src/db/connect/driver/address.js';
import type { Connection } from '../../src/db/connect/driver/connection.js';
import { Database } from '../../src/db/database.js';
import { Worker } from '../../src/jobs/runner.js';
import { retentionDefault } from '../../src/jobs/retention.js';
import { health } from '../../src/operator/health/doctor.js';
import { Operator } from '../../src/operator/operator.js';
import { gateway } from '../../src/server/app.js';
import { Metrics } from '../../src/server/telemetry/metrics.js';
import { type Children, until } from '../support/child.js';
import { patient } from '../support/patient.js';
import { type Server, Servers } from '../support/standby.js';
import { givenIn, type Reply, type Speaker, type World } from '../support/world.js';

export const pepper = 'a pepper that is long enough for a test';
const schema = buildGraph();

/** A gateway of this process, with its own database object, as in another process. */
export interface Opened {
  world: World;
  database: Database;
  lines: Record<string, unknown>[];
  metrics: Metrics;
  close(): Promise<void>;
}

export async function opened(
  connection: Connection,
  {
    replicas,
    lagSeconds = 60,
    worker = false,
  }: { replicas?: readonly Connection[]; lagSeconds?: number; worker?: boolean },
): Promise<Opened> {
  const settings = config(
    { serves: true },
    { PORT: '0', RATE_LIMIT: 'measure', RATE_LIMIT_PER_SECOND: '9999999', REQUEST_LOG_DAYS: '0', ...patient },
  );
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const given = replicas && { replicas: { connections: replicas, lagSeconds, reads: true } };
  const database = new Database(connection, undefined, { ...given });
  const metrics = new Metrics();
  const app: FastifyInstance = await gateway({ config: settings, database, schema, pepper, log, metrics });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const running = worker ? new Worker(database, log, retentionDefault) : undefined;
  running?.start();
  const operator = new Operator(database, schema, pepper);
  const close = async () => {
    await running?.stop();
    await app.close();
    await database.close();
  };
  return { world: { origin, operator, database, app } as World, database, lines, metrics, close };
}

export const at = (...ports: number[]) => ports.map((port) => `127.0.0.1:${port}`).join(',');
export const primaryOf = (...ports: number[]) => connectionOf(`postgres://tidegate@${at(...ports)}/tidegate`);
export const standbysOf = (...ports: number[]) => replicasOf(`postgres://tidegate@${at(...ports)}/tidegate`);
export const answeredBy = ({ database }: Opened) =>
  database.replicas!.states.reduce((sum, { counts }) => sum + counts.answered, 0);

/** What `/metrics` says of the age of the one replica of a gateway. */
export async function lagOf({ metrics }: Opened, unit: 'seconds' | 'bytes' = 'seconds'): Promise<number> {
  const line = new RegExp(`^tidegate_replica_lag_${unit}\\{replica="[^"]+"\\} (\\S+)$`, 'm');
  return Number(line.exec(await metrics.registry.metrics())![1]);
}

/** What the doctor says of the replicas of a gateway. */
export const doctorOf = async ({ world }: Opened) =>
  (await health(world.operator, 'TidegateReplicaLag')).map(({ level, finding }) => `${level} ${finding}`).join('\n');
export const saysThatItLags = /^look The replica \S+ is \d+ seconds behind, and may be at most 1 second\.$/;

export const inUse = (of: Opened) => until(() => of.database.replicas!.choose(0n) !== undefined);
export const ids = ({ body }: Reply): string[] => body.data.map(({ id }: { id: string }) => id);

export const camelled = {
  legalName: 'Acme Exports',
  email: 'ap@acme.example',
  type: 'COMPANY',
  physicalAddress: { line1: '1 Wharf', city: 'Pune', state: 'MH', postalCode: '411001', country: 'IN' },
};

/** A primary and a standby, and three gateways that read from the standby. */
export function standbysIn(children: Children) {
  const servers = new Servers(children.folder());
  const topology = {} as {
    primary: Server;
    standby: Server;
    /** Two gateways that use the standby, up to an age of a minute, and one up to an age of a second. */
    one: Opened;
    two: Opened;
    strict: Opened;
  };
  /** The same account at another gateway. */
  const through = ({ world }: Opened, { id, key, edition }: Speaker): Speaker =>
    new (Object.getPrototypeOf(someone).constructor)(world, id, key, edition);

  let someone: Speaker;

  /** Does something while the standby replays nothing. */
  const paused = async (work: () => Promise<void>) => {
    await topology.standby.sql`select pg_wal_replay_pause()`;
    await until(async () => {
      const [row] = await topology.standby.sql`select pg_get_wal_replay_pause_state() as state`;
      return row!.state === 'paused';
    });
    try {
      await work();
    } finally {
      await topology.standby.sql`select pg_wal_replay_resume()`;
    }
  };

  beforeAll(async () => {
    const [first, second] = [await servers.copy('first'), await servers.copy('second')];
    topology.primary = await servers.start(first);
    topology.standby = await servers.start(second, [], topology.primary);
    const replicas = standbysOf(topology.standby.port);
    topology.one = await opened(primaryOf(topology.primary.port), { replicas });
    topology.two = await opened(primaryOf(topology.primary.port), { replicas });
    topology.strict = await opened(primaryOf(topology.primary.port), { replicas, lagSeconds: 1 });
    someone = await givenIn(topology.one.world).platform(1);
    for (const each of [topology.one, topology.two, topology.strict]) await inUse(each);
  });

  afterAll(async () => {
    for (const each of [topology.one, topology.two, topology.strict]) await each?.close();
    await servers.endAll();
  });
  return { servers, topology, through, paused };
}
