import { describe, expect, it } from 'vitest';
import { changed, type Difference, differences, storedIn } from '../fixtures/landed/0.1.0/differences.js';
import { forEach, useLanded } from '../fixtures/landed/landed.js';
import { eventually } from '../support/world.js';
import { verifySeals } from '../../src/operator/money/audit.js';
import { taxCardNumber, verificationOf } from '../../src/operator/account/accounts.js';
import { endPayout } from '../../src/operator/money/payouts.js';

type Json = any;

const { landed, speaker, startWorker, world } = useLanded('0.1.0');

const { known } = landed;

const violations = () => world.sql`select tenant_id, livemode, rule, what from violations`;
const receivable = async (as: string, id: string) => {
  const { body } = await speaker(as).get(`/v1/receivables/${id}`);
  return [body.amount_locked, body.amount_settled_payouts];
};
const payoutsOf = (accountId: string) => world.sql`
  select id, status, source_currency as source, amount::int as amount from payout
  where account_id = ${accountId} order by created, id`;
/** The locks of an account and the columns of their batches, in the order of the locks. */
const locksOf = (accountId: string) => world.sql`
  select k.amount::int as amount, b.held_in, b.payout_id from receivable_lock k
    join lock_batch b on b.tenant_id = k.tenant_id and b.livemode = k.livemode and b.id = k.batch_id
  where k.account_id = ${accountId} order by k.id`;

/** Users of the fixture, by their names in it. */
const users = Object.fromEntries(
  Object.entries({ ...known.harbour, aggregator: { user: 'aggregator test' } }).map(([name, { user }]: Json) => [
    name,
    { as: user as string, id: landed.keys[user]!.id },
  ]),
) as Record<'underWay' | 'failed' | 'shrunk' | 'disputed' | 'aggregator', { as: string; id: string }>;

async function end(as: string, payout: string, verb: 'fail' | 'settle'): Promise<void> {
  expect((await speaker(as).post(`/v1/test_helpers/payouts/${payout}/${verb}`)).status).toBe(200);
}
async function advance(as: string, seconds: number): Promise<void> {
  expect((await speaker(as).post('/v1/test_helpers/clock', { advance_seconds: seconds })).status).toBe(200);
}
// The tests of this file are one story: the first ones only read, no job runs until `startWorker`, and the last ones
// audit the result. Migrations are applied in one order, so this database had on its way the tables and functions of
// 0.2, and that of 0.3.0 has rows in the tables that 0.2 added; rows that 0.2 itself wrote are in neither.
describe('a database of version 0.1.0 that was migrated', () => {
  it('keeps every invariant of the ledger, and the seals', async () => {
    expect(await violations()).toEqual([]);
    const chains = await verifySeals(world.operator);
    expect(chains.sort((a, b) => (a.tenant + a.livemode < b.tenant + b.livemode ? -1 : 1))).toEqual(landed.chains);
    expect(chains.map(({ firstBroken }) => firstBroken)).toEqual(chains.map(() => null));
  });

  it('returns the same responses as before on both APIs, except for the listed differences', async () => {
    const stored = await storedIn(world.sql);
    const replies = await forEach(landed.answers, async ({ as, path, query }) => {
      const { status, body } = path ? await speaker(as).get(path) : await speaker(as).graph(query!);
      return { as, asked: path ?? query, status, body: path || body.errors ? body : body.data };
    });
    const expected = landed.answers.map(({ as, path, query, status, body }) => {
      return { as, asked: path ?? query, status, body: changed(body, stored) };
    });
    expect(replies.length).toBeGreaterThan(200);
    // One after the other, so that a failure shows its response.
    for (const [n, reply] of replies.entries()) expect(reply).toEqual(expected[n]);
  });

  it('has each listed difference in some response', async () => {
    const stored = await storedIn(world.sql);
    const different = (answer: Json, difference: Difference): boolean => {
      if (answer === null || typeof answer !== 'object') return false;
      const here = !Array.isArray(answer) && JSON.stringify(difference(answer, stored)) !== JSON.stringify(answer);
      return here || Object.values(answer).some((value) => different(value, difference));
    };
    for (const [name, difference] of Object.entries(differences))
      expect([name, landed.answers.some(({ body }) => different(body, difference))]).toEqual([name, true]);
  });

  it('accepts its API keys and the addresses of its payment pages', async () => {
    const replies = await forEach(Object.keys(landed.keys), (as) => speaker(as).get('/v1/account_settings'));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const platform = speaker('harbour test');
    expect((await platform.using(known.revokedKey).get('/v1/accounts')).codes).toEqual(['api_key_invalid']);
    const reading = await speaker('harbour reading').post('/v1/test_helpers/clock', { advance_seconds: 1 });
    expect([reading.status, reading.codes]).toEqual([403, ['permission_denied']]);
    const page = await fetch(`${world.origin}${known.openPage}`);
    expect([page.status, (await page.text()).includes('250.00')]).toEqual([200, true]);
  });

  it('returns the stored response for a repeated write, and refuses another write with its key', async () => {
    const count = async () => (await world.sql`select count(*)::int from event`)[0]!.count;
    const before = await count();
    const replies = await forEach(landed.replays, async ({ as, path, body, key }) => {
      const reply = await speaker(as).post(path, body, { 'idempotency-key': key });
      return [path, reply.status, reply.headers.get('idempotent-replayed'), reply.body];
    });
    const stored = await storedIn(world.sql);
    expect(replies).toEqual(landed.replays.map(({ path, answer }) => [path, 200, 'true', changed(answer, stored)]));
    const others = [
      ['/v1/persons', 'ABCPE1234F', 'ABCPE1234G', 'person.identification.tax_card_number'],
      ['/v1/deposits', '"100.00"', '"100.01"', 'deposit.amount'],
      ['/v1/accounts', '"in"', '"sg"', 'account.business_details.physical_address.country'],
    ] as const;
    for (const [path, was, is, field] of others) {
      const { as, body, key } = landed.replays.find((replay) => replay.path === path)!;
      const reply = await speaker(as).post(path, JSON.stringify(body).replace(was, is), { 'idempotency-key': key });
      expect([reply.codes, reply.fieldNames]).toEqual([['idempotency_key_reused'], [field]]);
    }
    expect(await count()).toBe(before);
  });

  it('reads the numbers of tax cards that are not encrypted yet', async () => {
    const { operator } = world;
    const account = await operator.account(landed.keys['aggregated draft']!.id);
    const { persons } = await verificationOf(operator, account);
    const numbers = (rows: typeof persons) => rows.map((row) => taxCardNumber(operator, row)).sort();
    expect(numbers(persons)).toEqual(['ABCPE1234F', 'QWEPR9876Z']);
    const stored = persons.map(({ identification }) => identification.taxCardNumber);
    expect(stored.sort()).toEqual(['ABCPE1234F', 'QWEPR9876Z']);
  });

  it('has each lock in exactly one batch, that of its payer, currency and payout', async () => {
    // The values of the columns of 0.1.0, which the migration leaves.
    const old = await world.sql`
      select k.tenant_id, k.livemode, coalesce(y.account_id, o.id, k.account_id) as account_id, k.held_in, k.payout_id,
        array_agg(distinct k.batch_id) as batches, count(*)::int as locks
      from receivable_lock k
        join account a on a.tenant_id = k.tenant_id and a.livemode = k.livemode and a.id = k.account_id
        left join account o on o.tenant_id = k.tenant_id and o.livemode = k.livemode and o.id = a.owner_id
          and o.sub_type = 'aggregator'
        left join payout y on y.tenant_id = k.tenant_id and y.livemode = k.livemode and y.id = k.payout_id
      group by 1, 2, 3, 4, 5`;
    expect(old.reduce((sum, { locks }) => sum + locks, 0)).toBe(
      (await world.sql`select count(*)::int from receivable_lock`)[0]!.count,
    );
    const expected = old.map(({ batches, locks, ...batch }) => ({ ...batch, id: batches[0] }));
    expect(old.map(({ batches }) => batches.length)).toEqual(old.map(() => 1));
    const batches = await world.sql`select tenant_id, livemode, account_id, held_in, payout_id, id from lock_batch`;
    const byId = (rows: readonly Json[]) => [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(byId(batches)).toEqual(byId(expected));
    const inPayouts = await world.sql`
      select b.account_id = y.account_id and b.held_in = y.source_currency as fits, y.status, count(*)::int
      from lock_batch b join payout y on y.tenant_id = b.tenant_id and y.livemode = b.livemode and y.id = b.payout_id
      group by 1, 2 order by 2`;
    expect(inPayouts.map(({ fits, status }) => [fits, status])).toEqual([
      [true, 'completed'],
      [true, 'processing'],
    ]);
  });

  it('frees the locks of payouts that fail after the migration', async () => {
    const { underWay, disputed, aggregator } = users;
    const locks = await locksOf(underWay.id);
    const [payout] = await payoutsOf(underWay.id);
    // One lock in a payout in dollars, and one that was made after it.
    expect(locks.map((lock) => [lock.amount, lock.held_in, lock.payout_id])).toEqual([
      [5000, 'USD', payout!.id],
      [2000, 'USD', payout!.id],
      [2500, 'USD', payout!.id],
      [3300, 'USD', null],
    ]);
    await end(underWay.as, payout!.id, 'fail');
    // The money has been returned in rupees.
    expect((await locksOf(underWay.id)).map((lock) => [lock.amount, lock.held_in, lock.payout_id])).toEqual([
      [5000, 'INR', null],
      [2000, 'INR', null],
      [2500, 'INR', null],
      [3300, 'USD', null],
    ]);
    // A dispute took back 30.00 of a deposit of 60.00 while its 50.00 were being paid out: 10.00 were not reconciled.
    const [first, second] = known.harbour.disputed.receivables;
    expect(await receivable(disputed.as, first)).toEqual(['70.00', '0.00']);
    await end(disputed.as, (await payoutsOf(disputed.id))[0]!.id, 'fail');
    expect(await receivable(disputed.as, first)).toEqual(['50.00', '0.00']);
    expect(await receivable(disputed.as, second)).toEqual(['25.00', '0.00']);

    await end(aggregator.as, known.aggregatorProcessing, 'fail');
    for (const { user } of known.aggregated)
      expect((await locksOf(landed.keys[user]!.id)).filter((lock) => lock.payout_id === null)).toEqual(
        [4000, 3000, 4000, 3000].map((amount) => ({ amount, held_in: 'INR', payout_id: null })),
      );
    expect(await violations()).toEqual([]);
  });

  it('runs the jobs that were due', async () => {
    const due = () => world.sql`select kind, subject_id, error from job where due <= extract(epoch from now())`;
    const kinds = (await due()).map(({ kind }) => kind);
    for (const kind of ['inquire_transaction', 'pay_out', 'process_deposit', 'settle_payout'])
      expect(kinds).toContain(kind);
    // The minute passes that the jobs of the migrations wait for calls of the old functions.
    await world.sql`
      update job set args = args || '{"notBefore": 1}', due = extract(epoch from now())::bigint
      where args ? 'notBefore'`;
    startWorker();
    await eventually(due, (left) => left.length === 0);
    expect(await world.sql`select kind, error from job where error is not null`).toEqual([]);
    await eventually(
      async () => (await speaker('states').get(`/v1/deposits/${known.initialized}`)).body.status,
      (status) => status === 'completed',
    );
    const unnumbered = () => world.sql`select id from event where number is null`;
    await eventually(unnumbered, (left) => left.length === 0);
    // 0.1.0 stored no job for amounts that are too small to be paid out; now they have a reason.
    const blocks = await speaker(known.penny).graph('{ viewer { account { payoutBlocks { currency reasonCode } } } }');
    expect(blocks.body.data.viewer.account.payoutBlocks).toEqual([{ currency: 'USD', reasonCode: 'AMOUNT_TOO_SMALL' }]);
  });

  it('pays out what was freed together with what was never paid, and settles it', async () => {
    const { underWay, failed, aggregator } = users;
    // The due jobs have paid out what failed before the migration and after it, in both currencies.
    for (const { id } of [underWay, failed]) {
      const [old, ...payouts] = await payoutsOf(id);
      expect([old!.status, payouts.map(({ source }) => source)]).toEqual(['failed', ['INR', 'USD']]);
      const byCurrency = new Map(payouts.map((payout) => [payout.source, payout.id]));
      for (const lock of await locksOf(id)) expect(lock.payout_id).toBe(byCurrency.get(lock.held_in));
    }
    await advance('harbour test', 120);
    await eventually(
      () => payoutsOf(underWay.id),
      (payouts) => payouts.every(({ status }) => status !== 'processing'),
    );
    const settled = async (user: 'underWay' | 'failed') =>
      Promise.all(known.harbour[user].receivables.map((id: string) => receivable(users[user].as, id)));
    expect(await settled('underWay')).toEqual([
      ['0.00', '103.00'],
      ['0.00', '25.00'],
    ]);
    expect(await settled('failed')).toEqual([
      ['0.00', '70.00'],
      ['0.00', '40.00'],
    ]);
    // A debt in dollars from a dispute keeps the rupees from being paid out.
    expect((await payoutsOf(users.shrunk.id)).map(({ status }) => status)).toEqual(['failed']);

    // The next payout of an aggregator includes the locks of its users, freed ones and others.
    await advance('aggregator test', 2 * 86_400);
    const payouts = () => payoutsOf(aggregator.id);
    const [, , , next] = await eventually(payouts, (all) => all.length === 4);
    expect([next!.status, next!.amount]).toEqual(['processing', 28_000]);
    for (const { user } of known.aggregated)
      expect((await locksOf(landed.keys[user]!.id)).slice(-4).map((lock) => lock.payout_id)).toEqual(
        Array(4).fill(next!.id),
      );
    await end(aggregator.as, next!.id, 'settle');
    for (const { user, receivables } of known.aggregated)
      expect(await Promise.all(receivables.map((id: string) => receivable(user, id)))).toEqual([
        ['0.00', '120.00'],
        ['0.00', '90.00'],
      ]);
  });

  it('settles the payouts in progress in live mode', async () => {
    const { user, receivable: id, payout } = known.live.travelling;
    expect(await receivable(user, id)).toEqual(['700.00', '0.00']);
    await endPayout(world.operator, payout, 'completed');
    expect(await receivable(user, id)).toEqual(['0.00', '700.00']);
    expect(await receivable(known.live.settled.user, known.live.settled.receivable)).toEqual(['0.00', '700.00']);
    expect(await receivable(known.live.returned.user, known.live.returned.receivable)).toEqual(['700.00', '0.00']);
  });

  it('still keeps every invariant afterwards, and the seals', async () => {
    await eventually(
      () => world.sql`select posting_id from unsealed`,
      (left) => left.length === 0,
    );
    expect(await violations()).toEqual([]);
    const chains = await verifySeals(world.operator);
    expect(chains.map(({ firstBroken }) => firstBroken)).toEqual(chains.map(() => null));
    const blocks = (all: typeof chains) => all.reduce((sum, chain) => sum + chain.blocks, 0);
    expect(blocks(chains)).toBeGreaterThan(blocks(landed.chains));
  });
});
