import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { gateway } from '../../src/server/app.js';
import { Worker } from '../../src/jobs/runner.js';
import { useChildren } from '../support/child.js';
import { scale } from '../support/scale.js';
import {
  cardForm,
  cards,
  type CheckoutFixture,
  submit,
  submitAccepted,
  payeesIn,
  upiCode,
} from '../support/checkout-fixture.js';
import { runDueJobs } from '../support/jobs.js';
import { eventually, must, useWorld, withLiveAcquirer } from '../support/world.js';
import { payersIn, stateAt } from './hosted-safety-fixture.js';

// No worker runs, so that an attempt stays with the acquirer until a test advances the clock.
const world = useWorld({ worker: false });
const payees = payeesIn(world);
const children = useChildren();
const { opened, gatewayWith, count, withoutRecording } = payersIn(world);

afterEach(() => payees.agree());

/** Makes the storing of a decision wait: it records the acquirer's answer, and blocks when the answer is final. */
async function heldRecording(what: () => Promise<void>): Promise<void> {
  await world.sql`alter function decide_transaction rename to decide_transaction_away`;
  await world.sql.unsafe(`create function decide_transaction(text, boolean, jsonb, p_args jsonb) returns setof
    transaction language plpgsql as $$
    begin
      if p_args ->> 'status' <> 'processing' then perform pg_sleep(60); end if;
      return query select * from decide_transaction_away($1, $2, $3, $4);
    end $$`);
  try {
    await what();
  } finally {
    await world.sql`drop function decide_transaction`;
    await world.sql`alter function decide_transaction_away rename to decide_transaction`;
  }
}

const statusPolls = async (checkoutFixture: CheckoutFixture) =>
  (
    await world.sql`select due - extract(epoch from clock_timestamp())::bigint as seconds from job
      where kind = 'inquire_transaction' and subject_id in (select id from transaction
      where checkout_id = ${checkoutFixture.id})`
  ).map(({ seconds }) => Number(seconds));

const endsOf = async (checkoutFixture: CheckoutFixture) =>
  (await opened.payee.attempts(checkoutFixture)).map((a) => [a.status, a.reason_code]);

describe('a lost answer of the acquirer', () => {
  it.each([
    ['a success', cards.good, 'succeeded', null],
    ['a decline', cards.declined, 'failed', 'declined'],
  ])('because of a database error is requested again, and recorded once: %s', async (_, number, status, reason) => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    const form = cardForm(number);
    await withoutRecording(async () => {
      expect((await submit(`${checkoutFixture.url}/card`, form)).status).toBe(500);
    });
    expect(await stateAt(checkoutFixture.url)).toMatch(/^confirming:/);
    // The worker asks the acquirer five seconds after the attempt, however long the steps here take.
    const [poll] = await world.sql`select j.id, j.due - wall_clock() as left,
      j.due - t.created + (clock(t.tenant_id, t.livemode) - wall_clock()) as pause from job j
      join transaction t on t.id = j.subject_id where kind = 'inquire_transaction'
      and t.checkout_id = ${checkoutFixture.id}`;
    expect(Number(poll!.pause)).toBeGreaterThanOrEqual(5);
    expect(Number(poll!.left)).toBeLessThanOrEqual(5);
    // Until the clock is advanced it is not due: this is more than the time that a test has.
    const more = 100;
    await world.sql`update job set due = due + ${more} where id = ${poll!.id}`;
    await opened.payee.work();
    expect(await endsOf(checkoutFixture)).toEqual([['processing', null]]);
    // An answer would have deleted the job, although the attempt ends only later.
    expect(await statusPolls(checkoutFixture)).toHaveLength(1);

    await opened.payee.pass(more + 6);
    await opened.payee.pass(2);
    expect(await endsOf(checkoutFixture)).toEqual([[status, reason]]);
    expect(await statusPolls(checkoutFixture)).toEqual([]);
    // The payer's browser may send the form once more.
    await submitAccepted(`${checkoutFixture.url}/card`, form);
    await opened.payee.pass(600);
    expect(await endsOf(checkoutFixture)).toEqual([[status, reason]]);
  });

  it('and a lost second answer are requested again, also after the attempt has expired', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    await withoutRecording(async () => {
      expect((await submit(`${checkoutFixture.url}/card`, cardForm(cards.good))).status).toBe(500);
      const reply = await opened.payee.user.post('/v1/test_helpers/clock', { advance_seconds: 481 });
      expect(reply.status).toBe(200);
      await expect(opened.payee.pollStatus()).rejects.toThrow();
    });
    await runDueJobs(world, opened.payee.tenantId);
    expect(await endsOf(checkoutFixture)).toEqual([['failed', 'expired']]);
    await opened.payee.pass(61);
    await opened.payee.pass(2);
    expect(await endsOf(checkoutFixture)).toEqual([['succeeded', null]]);
    expect((await opened.payee.seen(checkoutFixture)).status).toBe('completed');
  });

  it.each(['card', 'upi'] as const)(
    'and a killed gateway lead another gateway to poll the acquirer: %s',
    async (way) => {
      const [row] = await world.sql`select current_database() as name`;
      const { host } = inject('admin');
      const gateway = await children.gateway({
        DATABASE_URL: `postgres://tidegate@localhost/${row!.name}?host=${encodeURIComponent(host)}`,
        API_KEY_PEPPER: world.pepper,
        TRUSTED_PROXY: '127.0.0.1',
      });
      const checkoutFixture = await opened.payee.checkoutFixture();
      const id = way === 'upi' ? await upiCode(opened.payee, checkoutFixture) : undefined;
      await heldRecording(async () => {
        const url = `${gateway.origin}${checkoutFixture.path}/${id === undefined ? 'card' : `upi/${id}`}`;
        const fields = id === undefined ? cardForm(cards.good) : { vpa: 'success@test' };
        const lost = submit(url, fields, { headers: { 'x-forwarded-proto': 'https' } }).then(
          () => 'answered',
          () => 'lost',
        );
        // A statement that waits to store the answer shows that the gateway has polled the acquirer.
        await eventually(
          () => world.sql`select from pg_stat_activity where datname = ${row!.name} and wait_event = 'PgSleep'`,
          (waiting) => waiting.length === 1,
        );
        gateway.signal('SIGKILL');
        await gateway.ended;
        expect(await lost).toBe('lost');
        await world.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${row!.name}
          and wait_event = 'PgSleep'`;
      });
      expect(await stateAt(checkoutFixture.url)).toMatch(/^confirming:/);
      for (let i = 0; i < 3; i++) await opened.payee.pass(20);
      expect(await endsOf(checkoutFixture)).toEqual([['succeeded', null]]);
      expect((await opened.payee.seen(checkoutFixture)).status).toBe('completed');
    },
  );

  it('is recorded once when several gateways poll for it', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    await withoutRecording(async () => {
      expect((await submit(`${checkoutFixture.url}/card`, cardForm(cards.good))).status).toBe(500);
    });
    await must(opened.payee.user.post('/v1/test_helpers/clock', { advance_seconds: 6 }));
    await Promise.all(Array.from({ length: 8 }, () => opened.payee.pollStatus()));
    const [jobs] = await world.sql`select count(*)::int as n from job
      where kind = 'settle_transaction' and subject_id in (select id from transaction
      where checkout_id = ${checkoutFixture.id})`;
    expect(jobs!.n).toBe(1);
    await opened.payee.pass(2);
    expect(await endsOf(checkoutFixture)).toEqual([['succeeded', null]]);
  });

  it('is requested by the worker of any gateway', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    await withoutRecording(async () => {
      expect((await submit(`${checkoutFixture.url}/card`, cardForm(cards.good))).status).toBe(500);
    });
    await must(opened.payee.user.post('/v1/test_helpers/clock', { advance_seconds: 6 }));
    const workers = Array.from({ length: 2 }, () => new Worker(world.database, pino({ level: 'silent' })));
    for (const worker of workers) worker.start();
    await eventually(
      () => stateAt(checkoutFixture.url),
      (state) => state.startsWith('paid:'),
    );
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(await endsOf(checkoutFixture)).toEqual([['succeeded', null]]);
  });
});

describe('an attempt that the acquirer has not decided', () => {
  it('is polled again at growing intervals, at last daily, until 30 days after it has expired', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    await submitAccepted(`${checkoutFixture.url}/card`, cardForm(cards.pending));
    const pauses: number[] = [];
    for (let i = 0; i < 12; i++) {
      const [left] = await statusPolls(checkoutFixture);
      pauses.push(left!);
      await opened.payee.pass(left! + 1);
    }
    expect(pauses[0]).toBeLessThanOrEqual(5);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(30);
    expect(pauses.at(-1)).toBeGreaterThan(25);
    await opened.payee.pass(500);
    expect(await endsOf(checkoutFixture)).toEqual([['failed', 'expired']]);
    expect(await statusPolls(checkoutFixture)).toHaveLength(1);
    await opened.payee.pass(86_400 + 3_600);
    for (let day = 2; day < 29; day++) {
      const [pause] = await statusPolls(checkoutFixture);
      expect(pause).toBeGreaterThan(86_000);
      expect(pause).toBeLessThanOrEqual(86_400);
      await opened.payee.pass(86_400);
    }
    await opened.payee.pass(2 * 86_400);
    expect(await statusPolls(checkoutFixture)).toEqual([]);
  });

  it('is not polled while its code is not paid, and once more after it has expired', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    await upiCode(opened.payee, checkoutFixture);
    await opened.payee.pass(6);
    expect([await endsOf(checkoutFixture), (await statusPolls(checkoutFixture)).length]).toEqual([
      [['processing', null]],
      1,
    ]);
    await opened.payee.pass(481);
    expect([await endsOf(checkoutFixture), (await statusPolls(checkoutFixture)).length]).toEqual([
      [['failed', 'expired']],
      0,
    ]);
    // A code that is paid later is polled for again.
    const [{ id }] = (await opened.payee.attempts(checkoutFixture)) as [any];
    await submitAccepted(`${checkoutFixture.url}/upi/${id}`, { vpa: 'pending@test' });
    expect((await statusPolls(checkoutFixture)).length).toBe(1);
  });
});

describe('an attempt', () => {
  it('does not outlive its checkout', async () => {
    const checkoutFixture = await opened.payee.checkoutFixture();
    await opened.payee.pass(86_300);
    await upiCode(opened.payee, checkoutFixture);
    const [row] = await world.sql`select c.expires_at - t.expires_at as beyond, t.expires_at - t.created as seconds
      from transaction t join checkout c on c.id = t.checkout_id where c.id = ${checkoutFixture.id}`;
    expect(Number(row!.beyond)).toBe(0);
    expect(Number(row!.seconds)).toBeLessThanOrEqual(100);
    await opened.payee.pass(101);
    expect([await stateAt(checkoutFixture.url), await endsOf(checkoutFixture)]).toEqual([
      'expired',
      [['failed', 'expired']],
    ]);
  });
});

describe('a fee', () => {
  it('is shown next to the amount, and without one there is no such line', async () => {
    const { origin } = await gatewayWith({ CHECKOUT_FEE_BASIS_POINTS: '250' });
    const user = opened.payee.user.at(origin);
    const [free, checkoutFixture] = [
      await opened.payee.checkoutFixture(),
      await opened.payee.checkoutFixture({ speaker: user }),
    ];
    const linesOf = async (url: string) => {
      const text = await (await fetch(url)).text();
      return [...text.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, name, value]) => `${name} ${value}`);
    };
    expect(await linesOf(checkoutFixture.url)).toEqual([...['Amount ₹1,000.00', 'Fee ₹25.00', 'Total ₹1,025.00']]);
    expect(await linesOf(free.url)).toEqual(['Total ₹1,000.00']);
    expect(await (await fetch(checkoutFixture.url)).text()).not.toContain('Part payment');
  });
});

describe('live mode', () => {
  it('without an acquirer says so, and stores nothing', async () => {
    const checkoutFixture = await (await payees.open()).liveCheckoutFixture();
    const page = await fetch(checkoutFixture.url);
    const text = await page.text();
    expect(page.status).toBe(200);
    expect(text).toContain('cannot accept payments on this page yet. You have not been charged.');
    expect(text).not.toMatch(/<form|Test mode|success@test/);
    for (const [rest, fields] of [
      ['card', cardForm(cards.good)],
      ['upi', { attempt: `${randomUUID()}-upi` }],
    ] as const) {
      const answer = await submit(`${checkoutFixture.url}/${rest}`, fields);
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('cannot accept payments')]);
    }
    expect((await submit(`${checkoutFixture.url}/upi/transaction_0`, { vpa: 'success@test' })).status).toBe(404);
    expect(await stateAt(checkoutFixture.url)).toBe('summary');
    expect([
      await count(checkoutFixture),
      (await world.sql`select from job where livemode and kind like '%transaction%'`).length,
    ]).toEqual([0, 0]);
  });

  it('with an acquirer has a page that accepts payments', async () => {
    const checkoutFixture = await (await payees.open()).liveCheckoutFixture();
    const url = `${await world.another({ acquirers: withLiveAcquirer })}${checkoutFixture.path}`;
    expect(await (await fetch(url)).text()).toContain('<form');
    // The sandbox has no card fields, so a live page of it offers UPI alone, and no card of it is taken.
    expect(await (await fetch(url)).text()).not.toContain(`${checkoutFixture.path}/card`);
    expect((await submit(`${url}/card`, cardForm(cards.good))).status).toBe(400);
    expect(await count(checkoutFixture)).toBe(0);
    expect((await submit(`${url}/upi`, { attempt: `${randomUUID()}-upi` })).status).toBe(303);
    expect(await stateAt(url)).toMatch(/^awaiting:/);
    expect(await count(checkoutFixture)).toBe(1);
  });
});

describe('16 concurrent payments of one checkout', () => {
  const rounds = scale.races.rounds;
  it(`credit it once, in ${rounds} rounds`, async () => {
    const payers = 16;
    const mine = await payees.open();
    const other = await world.another();
    const begun = Date.now();
    let duplicates = 0;
    for (let round = 0; round < rounds; round++) {
      const checkoutFixture = await mine.checkoutFixture();
      const at = (i: number) => `${i % 2 ? other : world.origin}${checkoutFixture.path}`;
      const codes = Array.from({ length: payers }, () => ({ attempt: `${randomUUID()}-upi` }));
      await Promise.all(codes.map((code, i) => submit(`${at(i)}/upi`, code)));
      const ids = (await mine.attempts(checkoutFixture)).map(({ id }) => id as string);
      expect(ids).toHaveLength(payers);
      const answers = await Promise.all(ids.map((id, i) => submit(`${at(i)}/upi/${id}`, { vpa: 'success@test' })));
      expect(new Set(answers.map((a) => a.status))).toEqual(new Set([303]));
      // Four workers at the same time, and the acquirer reports some results twice.
      await must(mine.user.post('/v1/test_helpers/clock', { advance_seconds: 2 }));
      const endTransaction = (id: string) =>
        world.sql`select settle_transaction(${mine.tenantId}, false, '{}', ${id}, 'succeeded', null)`;
      const works = Array.from({ length: 4 }, () => world.database.call('run_jobs', [mine.tenantId, false, 5]));
      await Promise.all([...works, endTransaction(ids[0]!), endTransaction(ids[payers - 1]!)]);
      await mine.work();

      const [row] = await world.sql`select
        (select count(*) from transaction where checkout_id = ${checkoutFixture.id}
        and status = 'succeeded')::int as succeeded,
        (select count(*) from transaction where checkout_id = ${checkoutFixture.id}
        and reason_code = 'duplicate')::int as duplicates,
        (select count(*) from deposit d join payment p on p.deposit_id = d.id
        where p.checkout_id = ${checkoutFixture.id} and d.status = 'completed')::int as completed,
        (select amount_locked from receivable where id = ${checkoutFixture.receivableIds[0]!})::text as locked,
        (select status from checkout where id = ${checkoutFixture.id}) as status`;
      expect(row).toEqual({
        succeeded: 1,
        duplicates: payers - 1,
        completed: 1,
        locked: '100000',
        status: 'completed',
      });
      duplicates += row!.duplicates;
    }
    const [sums] = await world.sql`select available::text, pending::text from balance where account_id = ${mine.user.id}
        and not livemode`;
    expect(sums).toEqual({ available: String(100_000 * rounds), pending: '0' });
    if (scale.whole)
      console.info(
        `${rounds} rounds of ${payers}: ${rounds} credited, ${duplicates} duplicates, ${Date.now() - begun} ms`,
      );
  }, 1_800_000);
});
