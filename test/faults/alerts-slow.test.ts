import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it, vi, type ExpectStatic } from 'vitest';
import { until, useChildren } from '../support/child.js';
import { prometheusProgram } from '../support/prometheus.js';
import { patience } from '../support/scale.js';
import { caughtUp, type Server, Servers } from '../support/standby.js';
import { doctorOn, fires, partner, unwatched, type Watched, watched } from './alert-fixture.js';

vi.setConfig(patience);

const children = useChildren();
const servers = new Servers(children.folder());
const missing = prometheusProgram ? '' : ' (skipped: no prometheus is installed)';
const deployments: Watched[] = [];
const data: Record<string, string> = {};

/** The longest time until a rule fires: its bound, its wait, a measurement of every 30 seconds, and a minute. */
const secondsMax = (bound: number, wait: number) => bound + wait + 30 + 60;

async function deployed(server: Server, more: Record<string, string> = {}): Promise<Watched> {
  const one = await watched(children, server, 'platform', more);
  deployments.push(one);
  return one;
}

/** The levels and checks of what the doctor says about an alert. */
const checksOn = async ({ environment }: Watched, alert: string) =>
  (await doctorOn(children, environment, alert)).map(([level, check]) => [level, check]);

type Drill = (context: { expect: ExpectStatic }) => Promise<void>;

/** A payout of live mode fails, and a receiver of webhooks of live mode is gone. */
const latePayout: Drill = async ({ expect }) => {
  const server = await servers.start(data.late!);
  const one = await deployed(server);
  const live = one.gateway.speaker(one.root.keys.live, { 'x-forwarded-proto': 'https' });
  const hook = { url: 'https://receiver.invalid/', event_types: ['*'] };
  expect((await live.post('/v1/webhook_endpoints', hook)).status).toBe(200);
  expect((await partner(live)).status).toBe(200);
  const failed = 'sum(tidegate_webhook_attempt_seconds_count{outcome="failed"})';
  await until(async () => ((await one.prometheus.query(failed)) ?? 0) > 0, 250);
  await server.sql.unsafe(`create function breaks() returns trigger language plpgsql as
    $$ begin raise exception 'broken' using errcode = 'P0001'; end $$;
    create trigger breaks before delete on job for each row when (old.kind = 'pay_out') execute function breaks()`);
  await server.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
    select tenant_id, true, 'job_late', 1, 'pay_out', id, '{}', extract(epoch from clock_timestamp())::bigint
    from account where livemode limit 1`;
  // The receiver is the account's matter, and its deliveries are tried again: no rule fires for it.
  expect(await fires(one.prometheus, 'a payout of live mode fails', 'TidegateLate')).toBeLessThan(secondsMax(120, 180));
  expect(await checksOn(one, 'TidegateLate')).toContainEqual(['now', 'late work']);
};

/** A replica receives the log of its primary and replays nothing. */
const lateReplica: Drill = async ({ expect }) => {
  const primary = await servers.start(data.primary!);
  const replica = await servers.start(data.replica!, [], primary);
  await caughtUp(primary, replica);
  const one = await deployed(primary, {
    DATABASE_REPLICA_URL: `postgres://tidegate@127.0.0.1:${replica.port}/tidegate`,
  });
  await until(async () => ((await one.prometheus.query('max(tidegate_replica_lag_seconds)')) ?? Infinity) < 5, 250);
  await replica.sql`select pg_wal_replay_pause()`;
  expect(await fires(one.prometheus, 'a replica replays nothing', 'TidegateReplicaLag')).toBeLessThan(
    secondsMax(30, 300),
  );
  const environment = {
    ...one.environment,
    DATABASE_REPLICA_URL: `postgres://tidegate@127.0.0.1:${replica.port}/tidegate`,
  };
  expect(await checksOn({ ...one, environment }, 'TidegateReplicaLag')).toEqual([['look', 'replicas']]);
  expect((await one.me.get('/v1/accounts')).status).toBe(200);
};

/** A person has locked a table that every request needs, and a client goes on to write, through the graph alone. */
const lockedTable: Drill = async ({ expect }) => {
  const server = await servers.start(data.locked!);
  const one = await deployed(server);
  expect((await partner(one.me)).status).toBe(200);
  const person = await server.sql.reserve();
  await person.unsafe('begin; lock table account in access exclusive mode');
  let over = false;
  const codes = new Set<string>();
  const document = 'mutation ($input: UpdateAccountInput!) { updateAccount(input: $input) { account { id } } }';
  const write = () => one.me.graph(document, { input: { id: one.root.account.id, metadata: { a: 'b' } } });
  const client = (async () => {
    for (; !over; await sleep(1_000)) for (const code of (await write()).codes) codes.add(code);
  })();
  try {
    const seconds = await fires(one.prometheus, 'a table is locked', 'TidegateUnavailable');
    expect(seconds).toBeLessThan(secondsMax(0, 300));
    expect(await (await fetch(`${one.gateway.origin}/readyz`)).json()).toEqual({ status: 'locked' });
    // Each write waits for two seconds. That is slow, too, after ten minutes.
    expect([...(await one.prometheus.pending())]).toContain('TidegateSlow');
  } finally {
    over = true;
    await client;
    await person.unsafe('rollback');
    person.release();
  }
  expect([...codes]).toEqual(['service_unavailable']);
  expect((await partner(one.me)).status).toBe(200);
};

/** A process computes for a third of a second, again and again. */
const busyLoop: Drill = async ({ expect }) => {
  const computes = 'setInterval(()=>Atomics.wait(new%20Int32Array(new%20SharedArrayBuffer(4)),0,0,350),10)';
  const begins = `process.once('SIGUSR2',()=>${computes})`;
  const one = await deployed(await servers.start(data.busy!), {
    NODE_OPTIONS: `--import=data:text/javascript,${begins}`,
  });
  one.gateway.signal('SIGUSR2');
  const seconds = await fires(one.prometheus, 'a process computes too much', 'TidegateEventLoop');
  expect(seconds).toBeLessThan(secondsMax(0, 300));
  expect((await partner(one.me)).status).toBe(200);
};

/*
 * Each drill has servers, a gateway and a Prometheus of its own, so that they wait for minutes at the same time.
 */
describe.skipIf(!prometheusProgram)(`alert rules that wait for minutes${missing}`, () => {
  beforeAll(async () => {
    for (const name of ['busy', 'late', 'locked', 'primary', 'replica']) data[name] = await servers.copy(name);
  });
  afterAll(async () => {
    for (const one of deployments) await unwatched(one);
    await servers.endAll();
  });

  it.concurrent('page for a payout of live mode that fails, and not for a dead receiver of webhooks', latePayout);
  it.concurrent('say that a replica replays nothing', lateReplica);
  it.concurrent('page when a locked table refuses requests, and /readyz says why', lockedTable);
  it.concurrent('say that a process has too much to compute', busyLoop);
});
