import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkoutBody, partnerBody, receivableBody } from '../support/bodies.js';
import {
  givenIn,
  nickname,
  payoutAddressBody,
  payoutAddressInput,
  type Reply,
  Speaker,
  useWorld,
} from '../support/world.js';
import { scale } from '../support/scale.js';

// No worker runs, because the work of the sandbox a second later would hide how the race itself ended.
const world = useWorld({ worker: false });
const given = givenIn(world);

const rounds = scale.writeRaces;
const racers = 16;
// A payment takes many statements, so it has fewer rounds than the others, unless the full count is set.
const paidRounds = scale.races.rounds;

let other: string;
let platform: Speaker;
let live: Speaker;
beforeAll(async () => {
  other = await world.another();
  const both = await given.platformBoth(1);
  platform = both.test;
  live = both.live;
});

/** Starts requests at the same time over the two gateways, every second one through the graph. */
const race = <T>(start: (me: Speaker, i: number) => Promise<T>, me = platform, size = racers): Promise<T[]> =>
  Promise.all(Array.from({ length: size }, (_, i) => start(i % 2 ? me.at(other) : me, i)));
/** Runs the rounds of a race a few at a time, so that rounds affect each other as the requests of a busy day do. */
async function everyRound(run: (round: number) => Promise<void>, of = rounds): Promise<void> {
  for (let round = 0; round < of; round += 3)
    await Promise.all([round, round + 1, round + 2].filter((n) => n < of).map((n) => run(n)));
}

const inGraph = (i: number) => i % 4 > 1;
const statusOf = (reply: Reply): number => reply.body?.errors?.[0]?.extensions?.httpStatus ?? reply.status;
const outcomeOf = (reply: Reply) => [statusOf(reply), ...new Set(reply.codes)].join(' ');
/** Counts how often each response occurred. */
const tally = (replies: Reply[]) => {
  const counts: Record<string, number> = {};
  for (const reply of replies) counts[outcomeOf(reply)] = (counts[outcomeOf(reply)] ?? 0) + 1;
  return counts;
};
/** The responses that must not occur: internal errors, and all that are not expected. */
const unexpected = (replies: Reply[], ...expected: string[]) =>
  Object.keys(tally(replies)).filter((text) => !expected.includes(text));
const eventsOf = async (id: string) =>
  (await world.sql`select type from event where object_id = ${id} order by id`).map(({ type }) => type as string);

const createPartner = (me: Speaker, name: string, graph: boolean) =>
  graph
    ? me.graph(
        `mutation ($nickname: String!) { createAccount(input: { type: PARTNER, nickname: $nickname, businessDetails: {
           legalName: "Acme", email: "a@b.example", type: COMPANY, physicalAddress: { country: "IN", postalCode:
           "411001" } } }) { account { id } } }`,
        { nickname: name },
      )
    : me.post('/v1/accounts', partnerBody({ nickname: name }));
const activate = (me: Speaker, id: string, graph: boolean) =>
  graph
    ? me.graph('mutation ($id: ID!) { activateAccount(input: { id: $id }) { account { id } } }', { id })
    : me.post(`/v1/accounts/${id}/activate`);
const changed = (id: string, reply: Reply, member: string) =>
  reply.body.data ? Object.values<any>(reply.body.data)[0][member] : { ...reply.body, id };

describe(`16 concurrent requests, ${rounds} times`, () => {
  it('to activate a partner: one succeeds, and the others get an error', async () => {
    await everyRound(async () => {
      const { id } = await platform.partner();
      const replies = await race((me, i) => activate(me, id, inGraph(i)));
      expect(tally(replies)['200']).toBe(1);
      expect(unexpected(replies, '200', '400 status_invalid', '409 state_conflict')).toEqual([]);
      expect((await platform.get(`/v1/accounts/${id}`)).body.status).toBe('verifying');
      expect(await eventsOf(id)).toEqual(['account.created', 'account.verifying']);
      expect(await world.sql`select id from job where subject_id = ${id}`).toHaveLength(1);
    });
  });

  it('to activate and deactivate a partner: every response has a state that the partner had', async () => {
    await everyRound(async () => {
      const { id } = await platform.partner();
      const replies = await race((me, i) =>
        i < 8 ? activate(me, id, inGraph(i)) : me.post(`/v1/accounts/${id}/deactivate`),
      );
      expect(unexpected(replies, '200', '400 status_invalid', '409 state_conflict')).toEqual([]);
      const moves = (await eventsOf(id)).slice(1);
      expect(moves).toHaveLength(tally(replies)['200']!);
      // A deactivated partner may be activated again, so activations and deactivations alternate.
      expect(moves.filter((move, i) => move === moves[i - 1])).toEqual([]);
      expect(`account.${(await platform.get(`/v1/accounts/${id}`)).body.status}`).toBe(moves.at(-1));
    });
  });

  it('to take a nickname, in any case: one succeeds, and the others get an error', async () => {
    await everyRound(async () => {
      const name = `${nickname()} Zoë`;
      const replies = await race((me, i) =>
        createPartner(me, i % 3 === 0 ? name.toUpperCase() : i % 3 === 1 ? name.toLowerCase() : name, inGraph(i)),
      );
      expect(tally(replies)).toEqual({ 200: 1, '409 nickname_taken': 15 });
      const rows = await world.sql`select id from account where lower(nickname) = lower(${name})
          and tenant_id = ${platform.id.slice(8)}`;
      expect(rows).toHaveLength(1);
      const refused = replies.filter((reply) => statusOf(reply) === 409);
      expect(refused.flatMap(({ fieldNames }) => fieldNames)).toEqual(refused.map(() => 'account.nickname'));
    });
  });

  it('to exchange nicknames by updates: no account loses its nickname, and no two have the same', async () => {
    const users = await Promise.all(Array.from({ length: racers }, () => platform.connectedUser()));
    for (let round = 0; round < rounds; round++) {
      const wanted = [`${nickname()} a`, `${nickname()} b`];
      const replies = await race((me, i) =>
        me.post(`/v1/accounts/${users[(i + round) % racers]!.id}`, { nickname: wanted[i % 4 < 2 ? 0 : 1] }),
      );
      expect(tally(replies)).toEqual({ 200: 2, '409 nickname_taken': 14 });
      const rows = await world.sql`select nickname from account where nickname = any(${wanted}) order by 1`;
      expect(rows.map(({ nickname: name }) => name)).toEqual([...wanted].sort());
    }
  });

  it("to merge metadata: no key is lost, and every response shows the request's own keys", async () => {
    const address = await platform.post('/v1/addresses', payoutAddressBody(platform.id));
    const setting = (await platform.graph('{ viewer { account { setting { id } } } }')).body.data.viewer.account.setting
      .id;
    const user = await platform.connectedUser();
    const objects = [
      { path: `/v1/accounts/${user.id}`, id: user.id, mutation: 'updateAccount', member: 'account' },
      {
        path: `/v1/account_settings/${setting}`,
        id: setting,
        mutation: 'updateAccountSetting',
        member: 'accountSetting',
      },
      { path: `/v1/addresses/${address.body.id}`, id: address.body.id, mutation: 'updateAddress', member: 'address' },
    ];
    await Promise.all(
      objects.map(async ({ path, id, mutation, member }, object) => {
        // The three kinds alternate, so that each object has a third of the rounds.
        for (let round = object; round < rounds; round += objects.length) {
          const before = await platform.post(path, { metadata: '' });
          expect(before.body.metadata).toBe(null);
          await platform.post(path, { metadata: { old0: 'x', old1: 'x', old2: 'x' } });
          // Seven set a key each, three unset the old ones, and six set one and the same key: never more than ten.
          const change = (i: number) =>
            i < 7
              ? { [`k${i}`]: `${round}` }
              : i < 10
                ? { [`old${i - 7}`]: i % 2 ? '' : null }
                : { [`k${i - 10}`]: `${round}` };
          const replies = await race((me, i) =>
            inGraph(i)
              ? me.graph(
                  `mutation ($id: ID!, $metadata: Metadata) { ${mutation}(input: { id: $id, metadata: ` +
                    `$metadata }) { ${member} { id metadata } } }`,
                  { id, metadata: change(i) },
                )
              : me.post(path, { metadata: change(i) }),
          );
          expect(tally(replies)).toEqual({ 200: 16 });
          for (const [i, reply] of replies.entries()) {
            const { metadata } = changed(id, reply, member);
            for (const [key, value] of Object.entries(change(i))) expect(metadata[key]).toBe(value || undefined);
          }
          const expected = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`k${i}`, `${round}`]));
          expect((await platform.get(path)).body.metadata).toEqual(expected);
        }
      }),
    );
  });

  it('to fill metadata to its limit: ten keys are stored, and the others are refused', async () => {
    const user = await platform.connectedUser();
    const path = `/v1/accounts/${user.id}`;
    for (let round = 0; round < rounds; round++) {
      await platform.post(path, { metadata: '' });
      const replies = await race((me, i) => me.post(path, { metadata: { [`k${i}`]: '1' } }));
      expect(tally(replies)).toEqual({ 200: 10, '400 parameter_invalid': 6 });
      const kept = replies.flatMap((reply, i) => (reply.status === 200 ? [`k${i}`] : []));
      expect(Object.keys((await platform.get(path)).body.metadata).sort()).toEqual(kept.sort());
    }
  });

  it('to merge details: every part of an object that was sent is stored', async () => {
    const user = await platform.connectedUser();
    const path = `/v1/accounts/${user.id}`;
    const parts = (round: number): object[] =>
      ['line1', 'line2', 'city', 'state', 'postal_code']
        .map((name): object => ({ physical_address: { [name]: `${name} ${round}` } }))
        .concat(
          ['business', 'tax', 'tax_deduction', 'tax_gst', 'tax_trade'].map((name) => ({
            ids: { [name]: `${name} ${round}` },
          })),
        )
        .concat(
          ['dba', 'website', 'legal_name', 'merchant_size', 'product_category', 'product_description'].map((name) => ({
            [name]: name === 'website' ? `https://acme.example/${round}` : `${name} ${round}`,
          })),
        );
    for (let round = 0; round < rounds; round++) {
      const replies = await race((me, i) => me.post(path, { business_details: parts(round)[i] }));
      expect(tally(replies)).toEqual({ 200: 16 });
      const shown = (await platform.get(path)).body.business_details;
      for (const part of parts(round)) expect(shown).toMatchObject(part);
    }
  });

  describe('to activate a connected user while its details change', () => {
    /** Everything that Edition 1 requires of a company, with the tax id as its only identification. */
    const ready = async () => {
      const user = await platform.connectedUser({
        businessDetails: { type: 'COMPANY', legalName: 'Acme', ids: { tax: 'AAACA1234A' } },
      });
      await Promise.all([
        platform.post('/v1/addresses', payoutAddressBody(user.id)),
        platform.post('/v1/persons', {
          account_id: user.id,
          full_name: 'Asha Rao',
          relationship: { director: true, owner: true, representative: true },
          identification: { tax_card_number: 'ABCDE1234F' },
        }),
      ]);
      return user;
    };
    const update = (me: Speaker, id: string, tax: string | null, graph: boolean) =>
      graph
        ? me.graph(
            'mutation ($id: ID!, $tax: String) { updateAccount(input: { id: $id, businessDetails: { ids: { ' +
              'tax: $tax } } }) { account { id } } }',
            { id, tax },
          )
        : me.post(`/v1/accounts/${id}`, { business_details: { ids: { tax } } });

    it('activate it with the details that were checked, or report what is missing', async () => {
      await everyRound(async () => {
        const { id } = await ready();
        // Alternate which of the two starts first.
        const replies = await race((me, i) =>
          i % 8 < 4 ? activate(me, id, inGraph(i)) : update(me, id, null, inGraph(i)),
        );
        expect(
          unexpected(
            replies,
            '200',
            '400 account_requirements_missing',
            '400 status_invalid',
            '400 account_not_updatable',
            '409 state_conflict',
          ),
        ).toEqual([]);
        const activations = replies.filter((_, i) => i % 8 < 4);
        const updates = replies.filter((_, i) => i % 8 >= 4);
        const { status, business_details: shown } = (await platform.get(`/v1/accounts/${id}`)).body;
        const done = activations.filter((reply) => statusOf(reply) === 200).length;
        // A request that cleared the tax id before the activation prevented it; afterwards none can.
        if (done > 0)
          expect([done, status, shown.ids.tax, updates.map(outcomeOf)]).toEqual([
            1,
            'verifying',
            'AAACA1234A',
            updates.map(() => '400 account_not_updatable'),
          ]);
        else expect([status, shown.ids.tax, updates.map(outcomeOf)]).toEqual(['draft', null, updates.map(() => '200')]);
        expect(await eventsOf(id)).toEqual(
          done > 0
            ? ['account.created', 'account.verifying']
            : ['account.created', ...updates.map(() => 'account.updated')],
        );
      });
    });

    it('never activate it without a detail that is set and cleared meanwhile', async () => {
      await everyRound(async (round) => {
        const { id } = await ready();
        if (round % 2) await update(platform, id, null, false);
        const replies = await race((me, i) =>
          i % 2 === 0 ? activate(me, id, inGraph(i)) : update(me, id, i % 4 === 1 ? null : `TAX${i}`, false),
        );
        expect(
          unexpected(
            replies,
            '200',
            '400 account_requirements_missing',
            '400 status_invalid',
            '400 account_not_updatable',
            '409 state_conflict',
          ),
        ).toEqual([]);
        const activations = replies.filter((reply, i) => i % 2 === 0 && statusOf(reply) === 200);
        const { status, business_details: shown } = (await platform.get(`/v1/accounts/${id}`)).body;
        expect(activations).toHaveLength(status === 'verifying' ? 1 : 0);
        if (status === 'verifying') expect(shown.ids.tax).toMatch(/^(AAACA1234A|TAX\d+)$/);
        else expect(status).toBe('draft');
        // Nothing changes after the activation, which is the last event.
        const events = await eventsOf(id);
        expect(events.filter((type) => type === 'account.verifying')).toHaveLength(activations.length);
        if (activations.length > 0) expect(events.at(-1)).toBe('account.verifying');
      });
    });
  });

  it('to create a payout address of one currency: all are created, and one is in use', async () => {
    const users = await Promise.all(Array.from({ length: rounds }, () => platform.connectedUser()));
    await everyRound(async (round) => {
      const { id } = users[round]!;
      const replies = await race((me, i) =>
        inGraph(i)
          ? me.graph(
              'mutation ($input: CreateAddressInput!) { createAddress(input: $input) { address { id status } } }',
              { input: payoutAddressInput(id) },
            )
          : me.post('/v1/addresses', payoutAddressBody(id)),
      );
      expect(tally(replies)).toEqual({ 200: 16 });
      const rows = await world.sql`
        select status, count(*)::int as n from address where linked_id = ${id} and category = 'user_payout' group by 1
        order by 1`;
      expect(rows).toEqual([
        { status: 'activated', n: 1 },
        { status: 'pending_deactivation', n: 15 },
      ]);
      // Each address was activated when it was created, and each but the last was replaced with an event.
      const statuses = replies.map((reply) => String(changed(id, reply, 'address').status).toLowerCase());
      expect(statuses).toEqual(replies.map(() => 'activated'));
      const events = await world.sql`
        select e.type, count(*)::int as n from event e join address d on d.id = e.object_id where d.linked_id = ${id}
        group by 1 order by 1`;
      expect(events).toEqual([
        { type: 'address.created', n: 16 },
        { type: 'address.pending_deactivation', n: 15 },
      ]);
    });
  });

  it('to create payout addresses of two currencies, in Edition 2: one of each is in use', async () => {
    const second = await given.platform(2);
    const users = await Promise.all(Array.from({ length: rounds }, () => second.connectedUser()));
    await everyRound(async (round) => {
      const { id } = users[round]!;
      const replies = await race(
        (me, i) => me.post('/v1/addresses', payoutAddressBody(id, { currency: i % 4 < 2 ? 'INR' : 'USD' })),
        second,
      );
      expect(replies.map(outcomeOf)).toEqual(replies.map(() => '200'));
      const rows = await world.sql`
        select currency, count(*)::int as n from address where linked_id = ${id} and status = 'activated' group by 1
        order by 1`;
      expect(rows).toEqual([
        { currency: 'INR', n: 1 },
        { currency: 'USD', n: 1 },
      ]);
    });
  });

  it('to rotate and revoke a key: it ends revoked, and only the returned keys exist', async () => {
    const keys = 'mutation { createApiKey(input: { permission: FULL }) { apiKey { id } } }';
    await everyRound(async () => {
      const user = await platform.connectedUser();
      const { id } = (await user.graph(keys)).body.data.createApiKey.apiKey;
      const replies = await race((me, i) =>
        i % 8 === 7
          ? me.graph('mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }', { id })
          : me.graph('mutation ($id: ID!) { rotateApiKey(input: { id: $id }) { secret apiKey { id } } }', { id }),
      );
      expect(unexpected(replies, '200', '400 status_invalid')).toEqual([]);
      const rotated = replies.filter((reply, i) => i % 8 !== 7 && statusOf(reply) === 200);
      const rows = await world.sql`select id, revoked_at from api_key where account_id = ${user.id}`;
      expect(rows).toHaveLength(2 + rotated.length);
      expect(rows.filter(({ revoked_at: at }) => at !== null).map((row) => row.id)).toEqual([id]);
      expect(new Set(rotated.map(({ body }) => body.data.rotateApiKey.secret)).size).toBe(rotated.length);
    });
  });

  it('to do the same in both modes: the modes do not affect each other', async () => {
    await everyRound(async () => {
      const name = nickname();
      const replies = await race((me, i) => createPartner(i % 4 < 2 ? me : me.using(live.key), name, false));
      expect(tally(replies)).toEqual({ 200: 2, '409 nickname_taken': 14 });
      const rows = await world.sql`select livemode from account where nickname = ${name} order by 1`;
      expect(rows).toEqual([{ livemode: false }, { livemode: true }]);
    });
  });
});

describe('16 concurrent requests on one checkout', () => {
  /** Users whose balances do not share a lock, each with a partner. */
  let shops: { user: Speaker; partner: string }[];
  beforeAll(async () => {
    shops = await Promise.all(
      [0, 1, 2].map(async () => {
        const user = await given.directUser(2);
        return { user, partner: (await user.partner()).id };
      }),
    );
  });
  const must = (reply: Reply) => {
    if (reply.status !== 200 || reply.body.errors) throw new Error(reply.text);
    return reply.body;
  };
  const receivableOf = async (user: Speaker, amount = '100.00') =>
    must(await user.post('/v1/receivables', receivableBody({ amount, currency: 'INR' }))).id as string;
  const open = async ({ user, partner }: { user: Speaker; partner: string }, receivables: string[], amount = '60.00') =>
    must(await user.post('/v1/checkouts', checkoutBody(partner, receivables, { amount }))).id as string;
  const pay = (me: Speaker, id: string, graph: boolean) =>
    graph
      ? me.graph('mutation ($id: ID!) { payTestCheckout(input: { id: $id }) { checkout { id status } } }', { id })
      : me.post(`/v1/test_helpers/checkouts/${id}/pay`);
  /** Every attempt and every deposit of a checkout, and how often it was credited. */
  const resultOf = async (id: string) => {
    const [attempts, deposits] = await Promise.all([
      world.sql`select t.status, t.reason_code as reason, count(*)::int as n from transaction t
        where t.checkout_id = ${id} group by 1, 2 order by 1, 2`,
      world.sql`select d.status, d.reason_code as reason, count(*)::int as n, sum(d.amount)::int as amount
        from payment p join deposit d on d.id = p.deposit_id where p.checkout_id = ${id} group by 1, 2 order by 1, 2`,
    ]);
    return { attempts, deposits };
  };
  const creditedOnce = (duplicates: number, amount = 6_000) => ({
    attempts: [
      ...(duplicates ? [{ status: 'failed', reason: 'duplicate', n: duplicates }] : []),
      { status: 'succeeded', reason: null, n: 1 },
    ],
    deposits: [
      { status: 'completed', reason: null, n: 1, amount },
      ...(duplicates ? [{ status: 'failed', reason: 'duplicate', n: duplicates, amount: amount * duplicates }] : []),
    ],
  });
  const moneyOf = async ({ user }: { user: Speaker }) => {
    const { available, pending } = must(await user.get('/v1/balance'));
    const paise = (entries: { amount: string }[]) => Math.round(Number(entries[0]?.amount ?? 0) * 100);
    return [paise(available), paise(pending)];
  };
  const audited = async () => expect(await world.sql`select rule, what from violations`).toEqual([]);

  it('to pay: one is credited, the others are duplicates, and all get the same response', async () => {
    const before = await Promise.all(shops.map(moneyOf));
    await everyRound(async (round) => {
      const shop = shops[round % 3]!;
      const receivable = await receivableOf(shop.user);
      const id = await open(shop, [receivable]);
      const replies = await race((me, i) => pay(me, id, inGraph(i)), shop.user);
      expect(tally(replies)).toEqual({ 200: 16 });
      const bodies = replies.filter((_, i) => !inGraph(i)).map(({ body }) => JSON.stringify(body));
      expect(new Set(bodies).size).toBe(1);
      expect(await resultOf(id)).toEqual(creditedOnce(15));
      const shown = must(await shop.user.get(`/v1/checkouts/${id}`));
      expect(JSON.stringify(shown)).toBe(bodies[0]);
      expect([shown.status, shown.effective_transaction.status]).toEqual(['completed', 'succeeded']);
      expect(must(await shop.user.get(`/v1/receivables/${receivable}`)).amount_locked).toBe('60.00');
    }, paidRounds);
    const credited = shops.map((_, i) => Array.from({ length: paidRounds }, (__, n) => n).filter((n) => n % 3 === i));
    expect(await Promise.all(shops.map(moneyOf))).toEqual(
      before.map(([available, pending], i) => [available! + 6_000 * credited[i]!.length, pending]),
    );
    await audited();
  }, 900_000);

  for (const [verb, path, ended] of [
    ['cancel', '/v1/checkouts/:id/cancel', 'cancelled'],
    ['expire', '/v1/test_helpers/checkouts/:id/expire', 'expired'],
  ] as const)
    it(`to pay and ${verb}: it is credited once in either order, and ${ended} only if a response says so`, async () => {
      await everyRound(async (round) => {
        const shop = shops[round % 3]!;
        const id = await open(shop, [await receivableOf(shop.user)]);
        // Alternate which of the two starts first.
        const pays = (i: number) => i % 2 === round % 2;
        const replies = await race(
          (me, i) => (pays(i) ? pay(me, id, inGraph(i)) : me.post(path.replace(':id', id))),
          shop.user,
        );
        const [paid, over] = [replies.filter((_, i) => pays(i)), replies.filter((_, i) => !pays(i))];
        expect(tally(paid)).toEqual({ 200: 8 });
        expect(unexpected(over, '200', '400 status_invalid')).toEqual([]);
        const n = tally(over)['200'] ?? 0;
        expect(n).toBeLessThan(2);
        expect(must(await shop.user.get(`/v1/checkouts/${id}`)).status).toBe(n === 1 ? ended : 'completed');
        expect(await resultOf(id)).toEqual(creditedOnce(7));
        expect((await eventsOf(id)).filter((type) => type !== 'checkout.created')).toEqual(
          n === 1 ? [`checkout.${ended}`, 'checkout.late_payment'] : ['checkout.completed'],
        );
      }, paidRounds);
      await audited();
    }, 900_000);

  it('to pay two checkouts of a receivable: both are credited once, and the receivable takes what it can', async () => {
    await everyRound(async (round) => {
      const shop = shops[round % 3]!;
      const receivable = await receivableOf(shop.user);
      const other = { user: shop.user, partner: (await shop.user.partner()).id };
      const [first, second] = [await open(shop, [receivable], '80.00'), await open(other, [receivable], '80.00')];
      const before = await moneyOf(shop);
      const replies = await race((me, i) => pay(me, i % 4 < 2 ? first : second, i % 8 > 3), shop.user);
      expect(tally(replies)).toEqual({ 200: 16 });
      for (const id of [first, second]) expect(await resultOf(id)).toEqual(creditedOnce(7, 8_000));
      expect(await moneyOf(shop)).toEqual([before[0]! + 10_000, before[1]! + 6_000]);
      const { amount_locked, status, deposit_ids_amount_locked } = must(
        await shop.user.get(`/v1/receivables/${receivable}`),
      );
      expect([amount_locked, status, deposit_ids_amount_locked.length]).toEqual(['100.00', 'locked', 2]);
    }, paidRounds);
    await audited();
  }, 900_000);

  it("with the acquirer's reports that attempts succeed, fail and expire: one success counts", async () => {
    await everyRound(async (round) => {
      const shop = shops[round % 3]!;
      const id = await open(shop, [await receivableOf(shop.user)]);
      const tenant = shop.user.id.replace('account_', '');
      const begun = await Promise.all(
        // The same form from several tabs is one attempt.
        Array.from({ length: racers }, async (_, i) => {
          const args = { checkoutId: id, attemptKey: `form ${i % 4}`, paymentMethod: 'card', seconds: 480 };
          return (await world.database.call('begin_transaction', [tenant, false, '{}', JSON.stringify(args)]))[0]!;
        }),
      );
      expect(new Set(begun.map((t) => t.id)).size).toBe(4);
      await Promise.all(
        begun.map((t, i) =>
          world.database.call('settle_transaction', [
            ...[tenant, false, '{}', t.id as string],
            ...(i < 8 ? ['succeeded', null] : ['failed', 'expired']),
          ]),
        ),
      );
      expect(await resultOf(id)).toEqual(creditedOnce(3));
    }, paidRounds);
    await audited();
  }, 900_000);

  it('to create checkouts for a new partner: all are created, and the partner has one address for them', async () => {
    await everyRound(async (round) => {
      const { user } = shops[round % 3]!;
      const [partner, receivable] = [(await user.partner()).id as string, await receivableOf(user)];
      const replies = await race((me) => me.post('/v1/checkouts', checkoutBody(partner, [receivable])), user);
      expect(tally(replies)).toEqual({ 200: 16 });
      const addresses = await world.sql`select category from address where linked_id = ${partner}`;
      expect(addresses).toEqual([{ category: 'service_checkout' }]);
    }, paidRounds);
  }, 900_000);

  it('to create and pay checkouts with the receivables in opposite orders: there is no deadlock', async () => {
    await everyRound(async (round) => {
      const shop = shops[round % 3]!;
      const other = { user: shop.user, partner: (await shop.user.partner()).id as string };
      const receivables = await Promise.all(Array.from({ length: 6 }, () => receivableOf(shop.user, '10.00')));
      const ids = await Promise.all(Array.from({ length: racers / 2 }, () => open(shop, receivables.toReversed())));
      const replies = await race(
        (me, i) =>
          i % 4 < 2
            ? pay(me, ids[Math.floor(i / 2)]!, i % 2 > 0)
            : me.post('/v1/checkouts', checkoutBody(other.partner, receivables, { amount: '1.00' })),
        shop.user,
      );
      // A request after a payment finds the receivables locked.
      expect(unexpected(replies, '200', '400 status_invalid')).toEqual([]);
      expect(tally(replies.filter((_, i) => i % 4 < 2))).toEqual({ 200: 8 });
    }, paidRounds);
    await audited();
  }, 900_000);
});

// PostgreSQL breaks a deadlock and the gateway tries again, so a deadlock would not be visible in the responses.
afterAll(async () => {
  // A backend reports its statistics at most once a second, with its next statement.
  await new Promise((resume) => setTimeout(resume, 1_100));
  await race((me) => me.post('/v1/accounts', partnerBody()));
  const [row] = await world.sql`select deadlocks::int as n from pg_stat_database where datname = current_database()`;
  expect(row!.n).toBe(0);
});
