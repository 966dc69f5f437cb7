import { describe, expect, it } from 'vitest';
import { changed } from '../fixtures/landed/0.3.0/differences.js';
import { forEach, useLanded } from '../fixtures/landed/landed.js';
import { compared, databaseVersion, MigrationError } from '../../src/db/schema/schema-version.js';
import { eventually } from '../support/world.js';
import { verifySeals } from '../../src/operator/money/audit.js';
import { endPayout } from '../../src/operator/money/payouts.js';

const { landed, released, speaker, startWorker, world } = useLanded('0.3.0');

const { known } = landed;

const violations = () => world.sql`select tenant_id, livemode, rule, what from violations`;
const firstBroken = async () => (await verifySeals(world.operator)).map((chain) => chain.firstBroken);

// The tests of this file are one story: the first ones only read, no job runs until `startWorker`, and the last ones
// audit the result.
// Two steps: 0.2 and 0.3.0 run side by side on a database of 0.3.0, and 0.3.0 and this program on one of this program.
describe('a rolling upgrade from 0.2', () => {
  const program = (version: number) => ({ version, servesFrom: 1, sha256: '' });

  it('goes through 0.3.0, whose database both serve', () => {
    expect(released).toMatchObject({ version: 138, servesFrom: 1 });
    expect(compared(released, program(16))).toBe('newer');
    expect(compared(released, program(138))).not.toBe('newer');
  });

  it('ends with a database that 0.3.0 still serves, and on which 0.2 refuses to start', async () => {
    const now = await databaseVersion(world.sql);
    expect(compared(now)).toBe('current');
    expect(compared(now, program(138))).toBe('newer');
    expect(() => compared(now, program(16))).toThrow(MigrationError);
    expect(() => compared(now, program(16))).toThrow(/Only programs from version 138 on can serve it/);
  });
});

describe('a database of the last release that was migrated', () => {
  it('keeps every invariant of the ledger, and the seals', async () => {
    expect(await violations()).toEqual([]);
    const chains = await verifySeals(world.operator);
    expect(chains.sort((a, b) => (a.tenant + a.livemode < b.tenant + b.livemode ? -1 : 1))).toEqual(landed.chains);
  });

  it('returns the same responses as before on both APIs, except for the listed differences', async () => {
    const replies = await forEach(landed.answers, async ({ as, path, query }) => {
      const { status, body } = path ? await speaker(as).get(path) : await speaker(as).graph(query!);
      return { as, asked: path ?? query, status, body: path || body.errors ? body : body.data };
    });
    expect(replies.length).toBeGreaterThan(250);
    // One after the other, so that a failure shows its response.
    for (const [n, reply] of replies.entries()) {
      const { as, path, query, status, body } = landed.answers[n]!;
      expect(reply).toEqual({ as, asked: path ?? query, status, body: changed(body) });
    }
  });

  it('accepts its API keys and the addresses of its payment pages', async () => {
    const replies = await forEach(Object.keys(landed.keys), (as) => speaker(as).get('/v1/account_settings'));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const revoked = speaker('harbour test').using(known.revokedKey);
    expect((await revoked.get('/v1/accounts')).codes).toEqual(['api_key_invalid']);
    const page = await fetch(`${world.origin}${known.openPage}`);
    expect([page.status, (await page.text()).includes('250.00')]).toEqual([200, true]);
  });

  it('returns the stored response for a repeated write, and stores nothing', async () => {
    const count = async () => (await world.sql`select count(*)::int from event`)[0]!.count;
    const before = await count();
    const replies = await forEach(landed.replays, async ({ as, path, body, key }) => {
      const reply = await speaker(as).post(path, body, { 'idempotency-key': key });
      return [path, reply.status, reply.headers.get('idempotent-replayed'), reply.body];
    });
    expect(replies.length).toBeGreaterThan(15);
    expect(replies).toEqual(landed.replays.map(({ path, answer }) => [path, 200, 'true', changed(answer)]));
    expect(await count()).toBe(before);
  });

  it('goes on with the jobs, the import and the export that the last release left', async () => {
    const due = () => world.sql`select kind, error from job where due <= extract(epoch from now())`;
    const kinds = (await due()).map(({ kind }) => kind);
    for (const kind of ['inquire_transaction', 'pay_out', 'process_deposit', 'settle_payout'])
      expect(kinds).toContain(kind);
    startWorker();
    await eventually(due, (left) => left.length === 0);
    expect(await world.sql`select kind, error from job where error is not null`).toEqual([]);
    const studio = speaker('studio test');
    for (const path of [`/v1/imports/${known.import}`, `/v1/exports/${known.export}`])
      await eventually(
        async () => (await studio.get(path)).body.status,
        (status) => status === 'completed',
      );
    expect((await studio.get(`/v1/imports/${known.import}`)).body).toMatchObject({ rows: 2, rows_failed: 0 });
  });

  it('pays out and settles what it holds, and still keeps every invariant, and the seals', async () => {
    const { user, receivable, payout } = known.live.travelling;
    await endPayout(world.operator, payout, 'completed');
    const { body } = await speaker(user).get(`/v1/receivables/${receivable}`);
    expect([body.amount_locked, body.amount_settled_payouts]).toEqual(['0.00', '700.00']);
    const aggregated = `/v1/payouts/${known.aggregatorProcessing}`;
    await speaker('aggregator test').post(`/v1/test_helpers${aggregated.slice(3)}/settle`);
    expect((await speaker('aggregator test').get(aggregated)).body.status).toBe('completed');
    await eventually(
      () => world.sql`select posting_id from unsealed`,
      (left) => left.length === 0,
    );
    expect(await violations()).toEqual([]);
    expect((await firstBroken()).filter((block) => block !== null)).toEqual([]);
  });
});
