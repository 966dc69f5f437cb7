import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { describe, expect, it, beforeAll } from 'vitest';
import { type ListStatement } from '../../src/db/list/stream.js';
import { BulkWork, paid, type Piece } from '../../src/jobs/bulk.js';
import { PollTimer } from '../../src/jobs/poll-timer.js';
import { Worker } from '../../src/jobs/runner.js';
import { Charge } from '../../src/limits/charge.js';
import { Lease } from '../../src/limits/lease.js';
import { account } from '../../src/resources/account/table.js';
import { dataExport } from '../../src/resources/export/table.js';
import { eventually, givenIn, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const create = async (speaker: Speaker) => {
  const reply = await speaker.post('/v1/exports', { list: '/v1/deposits', format: 'csv' });
  expect(reply.status).toBe(200);
};

describe('the worker of exports and imports', () => {
  it('does one piece of a tenant at a time, of whichever mode, so that there is room for others', async () => {
    const [busy, other] = [await given.platformBoth(1), await given.platform(1)];
    for (const speaker of [busy.test, busy.live, other]) await create(speaker);
    await world.sql`update data_export set due = due - 5 where tenant_id = ${tenantOf(busy.test)}`;
    const claimed: string[] = [];
    const stop = new AbortController();
    let end = () => {};
    const over = new Promise<void>((resolve) => (end = resolve));
    const kind = {
      table: dataExport,
      keep: 'extend_export_claim',
      expire: async () => false,
      claim: async ({ tenantId }: Piece) => {
        claimed.push(tenantId);
        await over;
        return undefined;
      },
      run: async () => {},
    };
    const { database, app } = world;
    const timer = new PollTimer(500);
    const work = new BulkWork(database, pino({ level: 'silent' }), 'exports', kind, app.bulk, timer, stop.signal).run();
    await eventually(
      async () => claimed.length,
      (count) => count === 2,
    );
    expect(claimed.toSorted()).toEqual([tenantOf(busy.test), tenantOf(other)].toSorted());
    stop.abort();
    timer.end();
    end();
    await work;
  });

  it('pays for more than an allowance holds, in parts', async () => {
    const size = { burst: 1_000, perSecond: 20_000, enforced: true };
    let [shared, taken] = [size.burst, 0];
    const lease = new Lease(size, async ({ back, need, want }) => {
      shared = Math.min(shared + back + 200, size.burst);
      const granted = shared >= need ? Math.min(want, shared) : 0;
      [shared, taken] = [shared - granted, taken + granted - back];
      return { granted, remaining: shared };
    });
    await paid(() => new Charge(lease, 1, 'worker'), 2_500, new AbortController().signal);
    expect(taken).toBeGreaterThanOrEqual(2_500);
  });
});

/** The statements of exports that PostgreSQL runs. */
const running = async () =>
  (
    await world.sql`select from pg_stat_activity where application_name = 'tidegate bulk' and state = 'active'
      and datname = current_database()`
  ).length;

/** Ten minutes for each row. */
const endless: ListStatement = {
  name: 'endless',
  build: (db) => db.select({ id: account.id, slept: sql<string>`pg_sleep(600)::text` }).from(account),
  values: {},
};
const ids: ListStatement = { name: 'ids', build: (db) => db.select({ id: account.id }).from(account), values: {} };

let platform: Speaker;
beforeAll(async () => {
  platform = await given.platform(1);
});

it('cancels the read of a list with its signal, and the connection serves the next one', async () => {
  for (let n = 0; n < 3; n++) {
    const stop = new AbortController();
    const read = world.database.lists.read(endless, async () => {}, stop.signal);
    const outcome = read.then(
      () => 'read',
      (error: unknown) => error,
    );
    // The first one is cancelled before it has a connection.
    if (n > 0) await eventually(running, (count) => count === 1);
    stop.abort('stopped');
    expect(await outcome).toBe('stopped');
    expect(await running()).toBe(0);
    const found: unknown[] = [];
    await world.database.lists.read(ids, async (rows) => void found.push(...rows));
    expect(found.length).toBeGreaterThan(0);
  }
});

it('leaves an export to another gateway when a worker stops while PostgreSQL reads the list', async () => {
  const deposit = { toAccountId: `account_${tenantOf(platform)}`, toAddressId: 'address_none', amount: '1' };
  const more = { fromAccountId: null, fromAddressId: null, currency: 'USD', paymentMethod: 'domestic_credit' };
  const args = JSON.stringify({ ...deposit, ...more });
  await world.database.call('create_deposit', [tenantOf(platform), false, '{}', args]);
  await world.sql`delete from job`;
  await world.sql.unsafe(`alter table deposit rename to deposit_quick;
    create view deposit as select d.* from deposit_quick d, (select pg_sleep(600)) slow`);
  const made = await platform.post('/v1/exports', { list: '/v1/deposits', format: 'csv' });
  expect(made.status).toBe(200);
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const begun = () => {
    const parts = [undefined, undefined, undefined, undefined, world.app.bulk] as const;
    const worker = new Worker(world.database, log, ...parts);
    worker.start();
    return worker;
  };
  const status = async () => {
    const [row] = await world.sql`select status, error, attempts from data_export where id = ${made.body.id}`;
    return row;
  };
  const worker = begun();
  // Another statement of these connections may run for a moment before the claim.
  await eventually(status, (row) => row?.status === 'running');
  await eventually(running, (count) => count === 1);
  await worker.stop();
  expect(await running()).toBe(0);
  expect(await status()).toEqual({ status: 'running', error: null, attempts: 1 });
  expect(lines).toEqual([]);
  await world.sql.unsafe('drop view deposit; alter table deposit_quick rename to deposit');
  // As after the time of the claim.
  await world.sql`update data_export set due = 0`;
  const other = begun();
  try {
    await eventually(status, (row) => row?.status === 'completed');
  } finally {
    await other.stop();
  }
});
