import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { until, useChildren } from '../support/child.js';
import { prometheusProgram } from '../support/prometheus.js';
import { figures, patience } from '../support/scale.js';
import { type Server, Servers } from '../support/standby.js';
import { doctorOn, fires, partner, unwatched, type Watched, watched } from './alert-fixture.js';

vi.setConfig(patience);

const children = useChildren();
const servers = new Servers(children.folder());
const missing = prometheusProgram ? '' : ' (skipped: no prometheus is installed)';

let primary: Server;
let standby: Server;
let one: Watched;
let environment: Record<string, string>;

const secondsSince = (began: number) => (performance.now() - began) / 1_000;

/** Waits until a standby has every write that its primary acknowledges. */
const synchronous = () =>
  until(() =>
    primary.sql`select from pg_stat_replication where sync_state = 'sync'`.then(
      (rows) => rows.length === 1,
      () => false,
    ),
  );

/** Waits until a write succeeds; returns the seconds from a time on. */
async function written(began: number): Promise<number> {
  await until(async () => (await partner(one.me)).status === 200, 50);
  return secondsSince(began);
}

/** The standby takes the place of a primary that has ended. */
async function promoted(): Promise<void> {
  await standby.sql`select pg_promote()`;
  [primary, standby] = [standby, primary];
}

describe.skipIf(!prometheusProgram)(`the alert rules, when the primary of two servers changes${missing}`, () => {
  beforeAll(async () => {
    const [first, second] = [await servers.copy('first'), await servers.copy('second')];
    primary = await servers.start(first, ['synchronous_standby_names=*']);
    standby = await servers.start(second, [], primary);
    await synchronous();
    const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
    const DATABASE_URL = `postgres://tidegate@${hosts}/tidegate?target_session_attrs=primary`;
    one = await watched(children, primary, 'user', { DATABASE_URL });
    environment = { ...one.environment, DATABASE_URL };
    expect((await partner(one.me)).status).toBe(200);
  });
  afterAll(async () => {
    await unwatched(one);
    await servers.endAll();
  });

  it('tell nobody when a standby is promoted at once', async () => {
    const { prometheus } = one;
    const began = performance.now();
    await servers.end(primary);
    await promoted();
    const seconds = await written(began);
    figures('alerts', { fault: 'the primary killed, a standby promoted at once', writes: `${seconds.toFixed(1)} s` });
    const fired = new Set<string>();
    for (let i = 0; i < 120; i++) {
      for (const name of await prometheus.firing()) fired.add(name);
      await sleep(250);
    }
    expect([...fired]).toEqual([]);
  });

  it('page when the old primary comes back as a second one, while writes go on', async () => {
    const { prometheus } = one;
    const old = await servers.start(standby.data, [], undefined, standby.port);
    try {
      expect(await fires(prometheus, 'two primaries in one address', 'TidegateHealth')).toBeLessThan(60);
      const urgent = await prometheus.query('sum(tidegate_health{level="now"})');
      expect([urgent, await prometheus.query('sum(tidegate_health{level="now",check="servers"})')]).toEqual([2, 2]);
      const finding = (port: number, timeline: number) =>
        `127.0.0.1:${port} takes itself for the primary, on timeline ${timeline}, and it is not the only one.`;
      const said = await doctorOn(children, environment, 'TidegateHealth');
      expect(said.filter(([, check]) => check === 'servers')).toEqual([
        ['now', 'servers', finding(old.port, 1)],
        ['now', 'servers', finding(primary.port, 2)],
      ]);
      const { status, body } = await partner(one.me);
      expect(status).toBe(200);
      const found = ({ sql }: Server) => sql`select from account where id = ${body.id}`;
      expect([(await found(primary)).length, (await found(old)).length]).toEqual([1, 0]);
    } finally {
      // Another one is made of its data.
      await servers.end(old);
    }
    const began = performance.now();
    await until(async () => (await prometheus.firing()).size === 0, 250);
    figures('alerts', { fault: 'two primaries in one address', ended: `${secondsSince(began).toFixed(0)} s` });
  });

  it('page when the primary is gone and no standby is promoted, until one is', async () => {
    const { prometheus } = one;
    await servers.backUp(primary, standby.data);
    standby = await servers.start(standby.data, [], primary, standby.port);
    await primary.sql`alter system set synchronous_standby_names = '*'`;
    await primary.sql`select pg_reload_conf()`;
    await synchronous();
    await servers.end(primary);
    expect(await fires(prometheus, 'the primary killed, no standby promoted', 'TidegateNoCommits')).toBeLessThan(60);
    expect([(await partner(one.me)).status, (await one.me.get('/v1/accounts')).status]).toEqual([503, 503]);
    const began = performance.now();
    await promoted();
    const seconds = await written(began);
    await until(async () => (await prometheus.firing()).size === 0, 250);
    const ended = `${secondsSince(began).toFixed(0)} s`;
    figures('alerts', { fault: 'a standby promoted late', writes: `${seconds.toFixed(1)} s`, ended });
  });
});
