import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { childrenOf, type Gateway, until, useChildren } from '../support/child.js';
import { Prometheus, prometheusProgram } from '../support/prometheus.js';
import { patience } from '../support/scale.js';
import { type Server, Servers } from '../support/standby.js';
import type { Speaker } from '../support/world.js';
import {
  checkedBy,
  doctorOn,
  fires as firesIn,
  partner as newPartner,
  unwatched,
  type Watched,
  watched,
} from './alert-fixture.js';

vi.setConfig(patience);

const children = useChildren();
const servers = new Servers(children.folder());
const missing = prometheusProgram ? '' : ' (skipped: no prometheus is installed)';

let primary: Server;
let standby: Server;
let one: Watched | undefined;
let gateway: Gateway;
let me: Speaker;
let prometheus: Prometheus;
let environment: Record<string, string>;

const partner = () => newPartner(me);
const readiness = async () => (await (await fetch(`${gateway.origin}/readyz`)).json()) as { status: string };

const fires = (fault: string, alert: string) => firesIn(prometheus, fault, alert);

/** Waits until writes go on, and no alert says that they do not. */
async function mended(): Promise<void> {
  await until(async () => (await readiness()).status === 'ok', 200);
  await until(async () => !(await prometheus.firing()).has('TidegateNoCommits'), 250);
  expect((await partner()).status).toBe(200);
}

// `.ci/run` installs Prometheus where it can; PROMETHEUS names another one.
describe.skipIf(!prometheusProgram)(`a real Prometheus with the alert rules${missing}`, () => {
  beforeAll(async () => {
    const [first, second] = [await servers.copy('first'), await servers.copy('second')];
    primary = await servers.start(first, ['synchronous_standby_names=*']);
    standby = await servers.start(second, [], primary);
    await until(() =>
      primary.sql`select from pg_stat_replication where sync_state = 'sync'`.then(
        (rows) => rows.length === 1,
        () => false,
      ),
    );
    one = await watched(children, primary, 'platform', { WORKERS: '2' });
    ({ environment, gateway, me } = one);
  });
  // What a drill refuses stays within the five minutes of a rule, and drills in a row would make it fire.
  beforeEach(async () => {
    await one!.prometheus.stop();
    prometheus = new Prometheus();
    one!.prometheus = prometheus;
    await prometheus.start([`127.0.0.1:${environment.METRICS_PORT}`]);
  });
  afterAll(async () => {
    await unwatched(one);
    await servers.endAll();
  });

  it('pages within a minute when the synchronous standby is lost and no write ends, and /readyz says why', async () => {
    expect((await partner()).status).toBe(200);
    standby.process.kill('SIGKILL');
    expect(await fires('synchronous standby lost', 'TidegateNoCommits')).toBeLessThan(60);
    expect(await readiness()).toEqual({ status: 'commits hang' });
    const lines = await doctorOn(children, environment, 'TidegateNoCommits');
    // After half a minute it also says that no gateway commits.
    expect(lines.filter(([level, check]) => level === 'now' && check !== 'gateways')).toEqual([
      [
        'now',
        'standbys',
        'No synchronous standby is attached, and writes wait for one (synchronous_standby_names = *).',
      ],
    ]);
    expect([(await partner()).status, (await me.get('/v1/accounts')).status]).toEqual([503, 200]);
    // Each process has one connection for this. After a minute it gives that up for another one, and the reason stays.
    const beats = async () => {
      const rows = await primary.sql<{ waits: boolean }[]>`
        select wait_event = 'SyncRep' as waits from pg_stat_activity where application_name = 'tidegate heartbeat'`;
      return [rows.length, rows.filter(({ waits }) => waits).length];
    };
    expect(await beats()).toEqual([2, 2]);
    await until(async () => (await beats())[0] === 4, 900);
    for (let i = 0; i < 20; i++) {
      expect(await readiness()).toEqual({ status: 'commits hang' });
      await sleep(250);
    }
    expect(await beats()).toEqual([4, 2]);
    standby = await servers.start(standby.data, [], primary);
    await mended();
  });

  it('pages when the primary accepts no writes', async () => {
    await primary.sql`alter system set default_transaction_read_only = on`;
    await primary.sql`select pg_reload_conf()`;
    expect(await fires('primary read only', 'TidegateNoCommits')).toBeLessThan(60);
    expect(await readiness()).toEqual({ status: 'read only' });
    expect([(await partner()).status, (await me.get('/v1/accounts')).status]).toEqual([503, 200]);
    await primary.sql`set default_transaction_read_only = off`;
    await primary.sql`alter system reset default_transaction_read_only`;
    await primary.sql`select pg_reload_conf()`;
    await mended();
  });

  it('pages when PostgreSQL is gone', async () => {
    const { data, port } = primary;
    primary.process.kill('SIGKILL');
    expect(await fires('PostgreSQL gone', 'TidegateNoCommits')).toBeLessThan(60);
    expect(await readiness()).toEqual({ status: 'no database' });
    const [write, read] = [await partner(), await me.get('/v1/accounts')];
    expect([write.status, read.status, read.headers.get('retry-after')]).toEqual([503, 503, '1']);
    primary = await servers.start(data, ['synchronous_standby_names=*'], undefined, port);
    await mended();
  });

  it('pages when PostgreSQL is there and does not answer', async () => {
    const { pid } = primary.process;
    const stopped = [pid!, ...childrenOf(pid!)];
    for (const each of stopped) process.kill(each, 'SIGSTOP');
    try {
      expect(await fires('PostgreSQL hangs', 'TidegateNoCommits')).toBeLessThan(60);
      expect(await readiness()).toEqual({ status: 'no database' });
      expect([(await partner()).status, (await me.get('/v1/accounts')).status]).toEqual([503, 503]);
    } finally {
      for (const each of stopped) process.kill(each, 'SIGCONT');
    }
    await mended();
  });

  it('pages nobody for a gateway that is started anew, again and again', async () => {
    const before = await prometheus.firing();
    const fired = new Set<string>();
    for (let round = 0; round < 3; round++) {
      expect(await gateway.stop()).toBe(0);
      gateway = await children.gateway({ ...environment, WORKERS: '2' });
      for (let i = 0; i < 60; i++) {
        for (const name of await prometheus.firing()) fired.add(name);
        await sleep(250);
      }
    }
    me = gateway.speaker(one!.root.keys.test, { 'x-forwarded-proto': 'https' });
    one!.gateway = gateway;
    expect([...fired].filter((name) => !before.has(name))).toEqual([]);
    expect((await partner()).status).toBe(200);
  });

  it('pages for the first internal error', async () => {
    await primary.sql.unsafe(`create function breaks() returns trigger language plpgsql as
      $$ begin raise exception 'broken' using errcode = 'P0001'; end $$;
      create trigger breaks before insert on account for each row execute function breaks()`);
    expect((await partner()).status).toBe(500);
    await primary.sql.unsafe('drop function breaks() cascade');
    expect(await fires('one internal error', 'TidegateFaults')).toBeLessThan(60);
  });

  it('says that a process of WORKERS was killed', async () => {
    process.kill(childrenOf(gateway.pid)[0]!, 'SIGKILL');
    expect(await fires('a process of WORKERS killed', 'TidegateProcessReplaced')).toBeLessThan(60);
    await until(() => childrenOf(gateway.pid).length === 2);
    await until(async () => (await me.get('/v1/accounts')).status === 200);
  });

  it('pages for a delivery that cannot be signed', async () => {
    const made = await me.post('/v1/webhook_endpoints', { url: 'https://receiver.example/hook', event_types: ['*'] });
    expect(made.status).toBe(200);
    // The process that took the place of the killed one is the third.
    await checkedBy(3, gateway);
    await primary.sql`update webhook_endpoint set secret_sealed = 'v1.00000000.AAAA'`;
    expect((await partner()).status).toBe(200);
    expect(await fires('the key of a webhook secret missing', 'TidegateUndecryptable')).toBeLessThan(60);
  });

  it('pages for a gateway that is gone', async () => {
    gateway.signal('SIGKILL');
    expect(await fires('a gateway killed', 'TidegateDown')).toBeLessThan(120);
  });
});
