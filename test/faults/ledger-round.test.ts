import { inject, describe, expect, it } from 'vitest';
import pino from 'pino';
import { Database } from '../../src/db/database.js';
import { LedgerChecks } from '../../src/jobs/ledger-checks.js';
import type { WorkObserver } from '../../src/jobs/work-queue.js';
import { auditLedger } from '../support/audit.js';
import { scale } from '../support/scale.js';
import { givenIn, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
auditLedger(world);

const { tenants, postings } = scale.ledgerRound;

/** The checks of a gateway, which stops after some of them. */
function gateway(after = Number.MAX_SAFE_INTEGER) {
  const database = new Database({
    ...inject('admin'),
    username: 'tidegate',
    database: String(world.sql.options.database),
  });
  const stop = new AbortController();
  const checked: string[] = [];
  const seconds: number[] = [];
  const observer = {
    checked: (status: string, took: number) => {
      checked.push(status);
      seconds.push(took);
      if (checked.length >= after) stop.abort();
    },
    ledger: () => {},
  } as Partial<WorkObserver> as WorkObserver;
  const checks = new LedgerChecks(database, pino({ level: 'silent' }), 86_400, observer, stop.signal);
  return { checks, checked, seconds, close: () => database.close() };
}

/** Each ledger has so many postings, made by the function that makes them, and sealed. */
async function ledgers(): Promise<void> {
  for (let i = 0; i < tenants; i++) {
    const root = await given.directUser(1);
    const credit = { accountId: root.id, credit: { amount: '100', currency: 'USD' }, debit: null, reason: 'A test' };
    await world.sql`
      select count(*) from generate_series(1, ${postings}) n
        cross join lateral create_test_adjustment(
          ${tenantOf(root)}, false, '{}', ${JSON.stringify(credit)}::text::jsonb) x`;
    for (;;) {
      await world.database.call('seal_postings', [tenantOf(root), false, 1_000]);
      const [left] = await world.sql`select from unsealed where tenant_id = ${tenantOf(root)} limit 1`;
      if (!left) break;
    }
  }
  await world.sql`analyze`;
}

describe('a round of the checks of the ledger', () => {
  it('goes on with another gateway where one has stopped, and checks each ledger once', async () => {
    await ledgers();
    const [first, second] = [gateway(Math.floor(tenants / 2)), gateway()];
    await first.checks.round();
    const began = performance.now();
    await second.checks.round();
    const took = Math.round((performance.now() - began) / 100) / 10;
    const rows =
      await world.sql`select tenant_id, count(*)::int as n from ledger_check where status = 'passed' group by 1`;
    expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: tenants }, () => 1));
    expect([first.checked, second.checked].map((each) => each.length)).toEqual([
      ...[Math.floor(tenants / 2), tenants - Math.floor(tenants / 2)],
    ]);
    const sorted = [...first.seconds, ...second.seconds].toSorted((a, b) => a - b);
    const milliseconds = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)]! * 1_000);
    console.info(
      `${tenants} ledgers of ${postings} postings: a check takes ${milliseconds(0.5)} ms (p90 ${milliseconds(0.9)}), ` +
        `${second.checked.length} with their pauses took ${took} s.`,
    );
    await Promise.all([first.close(), second.close()]);
  });
});
