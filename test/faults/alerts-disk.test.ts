import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { until, useChildren } from '../support/child.js';
import { prometheusProgram } from '../support/prometheus.js';
import { patience } from '../support/scale.js';
import { SmallDisk } from '../support/small-disk.js';
import { type Server, Servers } from '../support/standby.js';
import type { Speaker } from '../support/world.js';
import { doctorOn, fires, unwatched, type Watched, watched } from './alert-fixture.js';

vi.setConfig(patience);

const children = useChildren();
const folder = children.folder();
const servers = new Servers(folder);
const missing = [
  ...(prometheusProgram ? [] : ['no prometheus is installed']),
  ...(SmallDisk.possible ? [] : ['this user may not mount a file system']),
];
const disks: SmallDisk[] = [];
let one: Watched | undefined;

/** Mounts a disk of so many MB. */
function smallDisk(name: string, megabytes: number): SmallDisk {
  const disk = new SmallDisk(path.join(folder, name), megabytes);
  disks.push(disk);
  return disk;
}

/** Keeps the log of a server that does not run in another folder. */
function moveLog(data: string, to: string): void {
  const log = path.join(data, 'pg_wal');
  expect(spawnSync('cp', ['-a', log, to]).status).toBe(0);
  fs.rmSync(log, { recursive: true });
  fs.symlinkSync(to, log);
}

/** A client that creates deposits and lists them, and repeats a 503 with the same key. */
class Trader {
  readonly writes = new Set<string>();
  readonly reads = new Set<string>();
  readonly acknowledged: string[] = [];
  #over = false;
  readonly #running: Promise<void>;

  constructor(private readonly me: Speaker) {
    this.#running = this.#run();
    // Where the test has failed, nobody waits for the end.
    this.#running.catch(() => {});
  }

  /** Ends once everything that it began is acknowledged. */
  async stop(): Promise<void> {
    this.#over = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (; !this.#over; await sleep(200)) {
      const key = { 'idempotency-key': randomUUID() };
      for (let status = 503; status === 503; ) {
        const reply = await this.me.post('/v1/deposits', { amount: '1.00', currency: 'USD' }, key);
        this.writes.add(wordsOf(reply));
        this.reads.add(wordsOf(await this.me.get('/v1/deposits')));
        ({ status } = reply);
        if (status === 503) await sleep(1_000 * Number(reply.headers.get('retry-after')));
        else this.acknowledged.push(reply.body.id);
      }
    }
  }
}

const wordsOf = ({ status, codes, headers }: Awaited<ReturnType<Speaker['get']>>) =>
  [status, ...codes, headers.get('retry-after') ?? []].flat().join(' ');
const refused = '503 service_unavailable 1';

/** Everything that was acknowledged is stored and nothing else, the worker completes it, and the ledger is right. */
async function stored({ sql }: Server, { environment, root }: Watched, trader: Trader): Promise<void> {
  const ids = (await sql`select id from deposit`).map(({ id }) => id as string);
  expect(ids.toSorted()).toEqual(trader.acknowledged.toSorted());
  await until(async () => (await sql`select from deposit where status <> 'completed'`).length === 0, 250);
  expect((await children.command(environment, 'ledger', 'check', root.account.id)).code).toBe(0);
}

/** Waits until requests are served, without a word from anyone, and the alert is over. */
async function mended({ gateway, prometheus }: Watched, alert: string): Promise<void> {
  await until(async () => (await fetch(`${gateway.origin}/readyz`)).status === 200, 200);
  await until(async () => !(await prometheus.firing()).has(alert), 250);
}

const readiness = async ({ gateway }: Watched) => (await fetch(`${gateway.origin}/readyz`)).json();

describe.skipIf(missing.length > 0)(
  `the alert rules about a full disk${missing.length > 0 ? ` (skipped: ${missing.join(', ')})` : ''}`,
  () => {
    afterEach(() => unwatched(one));
    afterAll(async () => {
      await servers.endAll();
      for (const disk of disks) disk.end();
    });

    it('page when the data have no room, although the small commits of the gateway go on', async () => {
      const disk = smallDisk('data-disk', 256);
      const data = await servers.copy('data-disk/data');
      moveLog(data, path.join(folder, 'log-elsewhere'));
      // Vacuum would change catalogs at a time of its own, and so remove the file that is removed below.
      const server = await servers.start(data, ['autovacuum=off']);
      one = await watched(children, server, 'user');
      const trader = new Trader(one.me);
      await until(() => trader.acknowledged.length > 2);

      disk.fill();
      expect(await fires(one.prometheus, 'the disk of the data is full', 'TidegateHealth')).toBeLessThan(90);
      expect(await one.prometheus.query('max(tidegate_health{check="disk",level="now"})')).toBe(1);
      expect(await one.prometheus.query('max(tidegate_last_commit_age_seconds)')).toBeLessThan(15);
      expect(await readiness(one)).toEqual({ status: 'disk full' });
      const line = ['now', 'disk', 'The disk of the database is full: writes are refused.'];
      for (const alert of ['TidegateHealth', 'TidegateUnavailable'])
        expect(await doctorOn(children, one.environment, alert)).toContainEqual(line);

      // Each change of a catalog removes this file. The next new connection writes it, and is refused without room.
      const [{ oid }] = await server.sql<[{ oid: number }]>`select oid from pg_database where datname = 'tidegate'`;
      const doctor = () => children.command(one!.environment, 'doctor', '--alert', 'TidegateHealth');
      await until(async () => {
        fs.rmSync(path.join(data, 'base', String(oid), 'pg_internal.init'), { force: true });
        disk.fill();
        return (await doctor()).code === 2;
      });
      expect((await doctor()).errors).toMatch(/^While connecting to PostgreSQL: .*No space left on device \(53100\)$/m);
      expect(await readiness(one)).toEqual({ status: 'disk full' });
      expect([...(await one.prometheus.firing())]).toEqual(['TidegateHealth']);

      disk.free();
      await mended(one, 'TidegateHealth');
      await trader.stop();
      expect([...trader.writes].toSorted()).toEqual(['200', refused]);
      // A read that needs a new connection is refused, too.
      expect(['200', refused]).toEqual(expect.arrayContaining([...trader.reads]));
      await stored(server, one, trader);
    });

    it('page when the log has no room, and PostgreSQL has stopped', async () => {
      const disk = smallDisk('log-disk', 64);
      const data = await servers.copy('data');
      moveLog(data, path.join(disk.folder, 'log'));
      let server = await servers.start(data);
      one = await watched(children, server, 'user');
      const trader = new Trader(one.me);
      await until(() => trader.acknowledged.length > 2);

      disk.fill();
      // The segments that are there already have room for some seconds of the trader.
      const write = () => server.sql`select pg_logical_emit_message(false, 'other', repeat('x', 1000000))`;
      await until(async () => {
        if (server.process.exitCode === null) await write().catch(() => {});
        return server.process.exitCode !== null;
      });
      expect(await fires(one.prometheus, 'the disk of the log is full', 'TidegateNoCommits')).toBeLessThan(60);
      expect(await readiness(one)).toEqual({ status: 'no database' });
      expect(await children.command(one.environment, 'doctor', '--alert', 'TidegateNoCommits')).toMatchObject({
        code: 2,
        errors: expect.stringMatching(/^While connecting to PostgreSQL: /),
      });

      disk.free();
      server = await servers.start(data, [], undefined, server.port);
      await mended(one, 'TidegateNoCommits');
      await trader.stop();
      for (const answers of [trader.writes, trader.reads]) expect([...answers].toSorted()).toEqual(['200', refused]);
      await stored(server, one, trader);
    });
  },
);
