import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { receivableBody } from '../support/bodies.js';
import { runJobs } from '../support/jobs.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { figures, patience, scale, secondsSince } from '../support/scale.js';
import {
  completeDeposit,
  givenIn,
  must,
  payoutAddressBody,
  type Reply,
  Speaker,
  tenantOf,
  useWorld,
} from '../support/world.js';

vi.setConfig(patience);

// No worker runs: a payout stays in progress until a request ends it.
const world = useWorld({ worker: false });
const given = givenIn(world);
const { rounds, racers } = scale.races;
const runners = 4;

let other: string;
beforeAll(async () => {
  other = await world.another();
});

// PostgreSQL breaks a deadlock and the gateway tries again, so a deadlock would not be visible in the responses.
afterAll(async () => {
  expect(await world.sql`select rule, what from violations`).toEqual([]);
  const [row] = await world.sql`select deadlocks::int as n from pg_stat_database where datname = current_database()`;
  expect(row!.n).toBe(0);
});

/** Starts all requests at the same time, over two gateways; `outcomes` is the status and code of each response. */
async function race(start: (me: Speaker, i: number) => Promise<Reply>, me: Speaker) {
  const replies = await Promise.all(Array.from({ length: racers }, (_, i) => start(i % 2 ? me.at(other) : me, i)));
  const outcomes = replies.map((r) =>
    [r.body.errors?.[0]?.extensions?.httpStatus ?? r.status, r.codes[0]].filter(Boolean).join(' '),
  );
  return { replies, outcomes, winners: replies.filter((_, i) => outcomes[i] === '200') };
}

/** Runs all rounds by parallel runners, each with the objects that `prepare` creates for it. */
async function run<T>(name: string, prepare: () => Promise<T>, round: (own: T, n: number) => Promise<number>) {
  const began = Date.now();
  let winners = 0;
  const each = Array.from({ length: runners }, async (_, runner) => {
    const mine = await prepare();
    for (let n = runner; n < rounds; n += runners) {
      const won = await round(mine, n);
      winners += won;
    }
  });
  const failed = (await Promise.allSettled(each)).find((runner) => runner.status === 'rejected');
  if (failed) throw failed.reason;
  expect(winners).toBe(rounds);
  figures(`race: ${name}`, { rounds, racers, requests: rounds * racers, winners, took: secondsSince(began) });
}

const completed = async (user: Speaker, amount: string) => {
  const { id } = await must(user.post('/v1/deposits', { amount, currency: 'USD' }));
  await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
  return id as string;
};
const receivable = async (user: Speaker, amount: string, currency = 'USD') =>
  (await must(user.post('/v1/receivables', receivableBody({ amount, currency })))).id as string;
const inFunds = async (user: Speaker, compartment: string) =>
  (await must(user.get('/v1/balance')))[compartment].map((m: any) => `${m.amount} ${m.currency}`);

describe(`${racers} concurrent requests, ${rounds} times`, () => {
  it('requests with the same idempotency key create one deposit, and all of them return it', async () => {
    await run(
      'same idempotency key',
      () => given.directUser(1),
      async (user, n) => {
        const key = randomUUID();
        const amount = `${n + 1}.07`;
        const { replies, outcomes } = await race(
          (me, i) =>
            i % 4 < 3
              ? me.post('/v1/deposits', { amount, currency: 'USD' }, { 'idempotency-key': key })
              : me.graph(
                  'mutation ($amount: Amount!) { createDeposit(input: { amount: $amount, currency: "USD" }) { ' +
                    'deposit { id amount status } } }',
                  { amount },
                  { 'idempotency-key': key },
                ),
          user,
        );
        // A request that arrives while the first one runs may get a 409; no other refusal is allowed.
        expect(outcomes.filter((text) => text !== '200' && text !== '409 idempotency_key_in_use')).toEqual([]);
        const answered = replies.filter((_, i) => outcomes[i] === '200');
        const ids = new Set(answered.map(({ body }) => body.data?.createDeposit?.deposit.id ?? body.id));
        expect(ids.size).toBe(1);
        const rows = await world.sql`
          select id from deposit where tenant_id = ${tenantOf(user)} and amount = ${(n + 1) * 100 + 7}`;
        expect(rows.map(({ id }) => id)).toEqual([...ids]);
        return answered.filter(({ headers }) => headers.get('idempotent-replayed') === null).length;
      },
    );
  });

  it('requests to settle a payout and to fail it end it once, and the money matches that end', async () => {
    await run(
      'payout settle against fail',
      async () => {
        const user = await given.directUser(1);
        await must(user.post('/v1/addresses', payoutAddressBody(user.id)));
        const { now } = await must(user.post('/v1/test_helpers/clock', { advance_seconds: 1 }));
        await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 + 43_200 - (now % 86_400) }));
        return user;
      },
      async (user, n) => {
        // Money of a payout that failed in the last round is still available, and is paid out again.
        if ((await inFunds(user, 'available')).every((held: string) => held.startsWith('0.00'))) {
          const deposit = await completed(user, '10.00');
          const receivables = [{ id: await receivable(user, '10.00'), amount: '10.00' }];
          await must(user.post(`/v1/deposits/${deposit}/reconcile`, { receivables }));
        }
        await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
        await runJobs(user);
        const { data } = await must(user.get('/v1/payouts?status=processing'));
        expect(data.map((payout: any) => payout.amount)).toEqual(['830.00']);
        const { id } = data[0];
        const { outcomes, winners } = await race((me, i) => {
          const verb = (i + n) % 4 < 2 ? 'settle' : 'fail';
          return i % 4 === 3
            ? me.graph(`mutation { ${verb}TestPayout(input: { id: "${id}" }) { payout { status } } }`)
            : me.post(`/v1/test_helpers/payouts/${id}/${verb}`);
        }, user);
        expect(outcomes.filter((text) => text !== '200' && text !== '400 status_invalid')).toEqual([]);
        const { status } = await must(user.get(`/v1/payouts/${id}`));
        const [{ body }] = winners as [Reply];
        const answered = (body.data ? Object.values<any>(body.data)[0].payout.status : body.status).toLowerCase();
        expect(answered).toBe(status);
        expect(await inFunds(user, 'available')).toEqual([status === 'failed' ? '830.00 INR' : '0.00 INR', '0.00 USD']);
        expect(await inFunds(user, 'payout_processing')).toEqual(['0.00 INR', '0.00 USD']);
        return winners.length;
      },
    );
  });

  it('money of users of an aggregator that is taken back, received and paid out at once is counted once', async () => {
    await run(
      'claw-backs of an aggregator',
      async () => {
        const platform = await given.platform(2, { subType: 'aggregator' });
        await must(platform.post('/v1/addresses', payoutAddressBody(platform.id)));
        const ids = [
          await assemble(platform, complete(2, 'company')),
          await assemble(platform, complete(2, 'company')),
        ];
        for (const id of ids) await must(platform.post(`/v1/accounts/${id}/activate`));
        for (let second = 0; second < 4; second++) {
          await must(platform.post('/v1/test_helpers/clock', { advance_seconds: 2 }));
          await runJobs(platform);
        }
        return { platform, users: ids.map((id) => ({ id, as: platform.actingFor(id) })), kept: 0 };
      },
      async (own) => {
        const { platform, users } = own;
        // Each request has a deposit of 10.00: half of them are reconciled already, and reversed or disputed.
        // They are made one after the other, because they would wait for the one balance of the platform.
        const each: { account: string; id: string; receivables: { id: string; amount: string }[] }[] = [];
        for (let i = 0; i < racers; i++) {
          const { id: account, as } = users[i % 2]!;
          const of = { amount: '10.00', currency: 'INR', to: { account_id: account }, payment_method: 'upi' };
          const { id } = await must(as.post('/v1/deposits', of));
          await completeDeposit(as, id);
          const receivables = [{ id: await receivable(as, '10.00', 'INR'), amount: '10.00' }];
          if (i % 4 < 2) await must(as.post(`/v1/deposits/${id}/reconcile`, { receivables }));
          each.push({ account, id, receivables });
        }
        await must(platform.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
        const [{ outcomes }] = await Promise.all([
          race(async (me, i) => {
            const { account, id, receivables } = each[i]!;
            const key = { 'idempotency-key': randomUUID() };
            const ask = () => {
              if (i % 4 >= 2) return me.actingFor(account).post(`/v1/deposits/${id}/reconcile`, { receivables }, key);
              return i % 8 < 4
                ? me.post(`/v1/test_helpers/deposits/${id}/reverse`, undefined, key)
                : me.post(`/v1/test_helpers/deposits/${id}/dispute`, { amount: '4.00' }, key);
            };
            // All wait for the balance of the platform, on a busy machine too long.
            let reply = await ask();
            while (reply.status === 503) reply = await ask();
            return reply;
          }, platform),
          ...Array.from({ length: 4 }, () => runJobs(platform)),
        ]);
        expect(outcomes).toEqual(outcomes.map(() => '200'));
        // A quarter is gone, and of another quarter 6.00 are left.
        own.kept += (racers * (10 + 10 + 6)) / 4;
        for (const { id } of users)
          expect((await must(platform.get(`/v1/balance?account_id=${id}`))).available[0].amount).toBe('0.00');
        const [row] = await world.sql`
          select (sum(e.amount) / 100)::int as kept from entry e where e.tenant_id = ${tenantOf(platform)}
          and e.account_id = ${platform.id} and e.category in ('available', 'payout_processing')
          and not exists (select from posting p where p.tenant_id = e.tenant_id and p.livemode = e.livemode
            and p.id = e.posting_id and p.kind = 'payout_end')`;
        expect(row!.kept).toBe(own.kept);
        return 1;
      },
    );
  });

  it('requests to reconcile the last amount of a receivable succeed once, and the others get an error', async () => {
    await run(
      'last reconcilable amount',
      async () => {
        const user = await given.directUser(1);
        const deposits = await Promise.all(Array.from({ length: racers }, () => completed(user, '1000000.00')));
        return { user, deposits, taken: 0 };
      },
      async (own, n) => {
        const { user, deposits } = own;
        const id = await receivable(user, '25.00');
        // A part of it is already reconciled, so that the last amount is not the complete amount.
        await must(user.post(`/v1/deposits/${deposits[0]}/reconcile`, { receivables: [{ id, amount: '15.00' }] }));
        // In every second round each request has its own deposit; in the others all use the same one.
        const { outcomes, winners } = await race(
          (me, i) =>
            me.post(`/v1/deposits/${deposits[n % 2 ? 1 : i]}/reconcile`, { receivables: [{ id, amount: '10.00' }] }),
          user,
        );
        expect(outcomes.filter((text) => text !== '200' && text !== '402 amount_exceeds_reconcilable')).toEqual([]);
        const { amount_locked, amount_reconcilable, status } = await must(user.get(`/v1/receivables/${id}`));
        expect([amount_locked, amount_reconcilable, status]).toEqual(['25.00', '0.00', 'locked']);
        own.taken += 25;
        expect(await inFunds(user, 'available')).toEqual([`${own.taken}.00 USD`]);
        return winners.length;
      },
    );
  });

  it('requests to activate a partner succeed once, and the others get an error', async () => {
    await run(
      'double activation',
      () => given.platform(1),
      async (platform) => {
        const { id } = await platform.partner();
        const { outcomes, winners } = await race(
          (me, i) =>
            i % 4 === 3
              ? me.graph('mutation ($id: ID!) { activateAccount(input: { id: $id }) { account { status } } }', { id })
              : me.post(`/v1/accounts/${id}/activate`),
          platform,
        );
        expect(outcomes.filter((text) => !['200', '400 status_invalid', '409 state_conflict'].includes(text))).toEqual(
          [],
        );
        const events = await world.sql`select type from event where object_id = ${id} order by id`;
        expect(events.map(({ type }) => type)).toEqual(['account.created', 'account.verifying']);
        expect(await world.sql`select id from job where subject_id = ${id}`).toHaveLength(1);
        return winners.length;
      },
    );
  });
});
