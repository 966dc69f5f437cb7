import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { BulkWork, paid, type Piece } from '../../src/jobs/bulk.js';
import { PollTimer } from '../../src/jobs/poll-timer.js';
import { Charge } from '../../src/limits/charge.js';
import { Lease } from '../../src/limits/lease.js';
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
    const cue = new PollTimer(500);
    const work = new BulkWork(database, pino({ level: 'silent' }), 'exports', kind, app.bulk, cue, stop.signal).run();
    await eventually(
      async () => claimed.length,
      (count) => count === 2,
    );
    expect(claimed.toSorted()).toEqual([tenantOf(busy.test), tenantOf(other)].toSorted());
    stop.abort();
    cue.end();
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
