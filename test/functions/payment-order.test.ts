import { randomUUID } from 'node:crypto';
import type postgres from 'postgres';
import { expect, it } from 'vitest';
import { payeesOf } from './payee.js';
import { refusal, type Row, useFunctions } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, stored, write } = fixture;

/** How many payouts are claimed or given back. */
const counted = async (...given: Parameters<typeof call>): Promise<number> => (await call(...given)).length;
const payee = payeesOf(fixture);

/** A payout under way. */
async function underWay() {
  const root = await payee(100n);
  const payout = (await root.payOut())!;
  const move = (to: string, more = {}) => write(root, 'move_payout', { id: payout.id, to, ...more });
  return { root, payout, move };
}

let accounts = 0;
const account = async (more: object = {}, key: string | null = null): Promise<Row> =>
  (
    await call(
      'add_own_account',
      JSON.stringify({ holder: 'Tidegate Ltd', currency: 'USD', number: `N${++accounts}`, ...more }),
      ...['anna', key],
    )
  )[0]!;
const day = '2099-12-01';
const create = async (id: string, by: string | null = 'operator_a', on = day, key: string | null = null) =>
  (await call('create_payment_order', id, on, by ?? 'command line', by, key))[0]!;
const propose = async (id: string, payouts = 2, total = '300', leftOut: object[] = []): Promise<Row> =>
  (await call('propose_payment_order', id, payouts, total, JSON.stringify(leftOut)))[0]!;
const decide = (id: string, to: string, by: string | null) =>
  call('decide_payment_order', id, to, by ?? 'command line', by, to === 'rejected' ? 'a reason' : null);
/** An order that is proposed, by `operator_a` unless it says another one. */
async function proposed(by: string | null = 'operator_a'): Promise<Row> {
  return propose((await create((await account()).id, by)).id);
}
/** The entries of the audit log for an operator who asks for the file of an order. */
async function read(id: string, by: string, outcome?: 'refused' | 'succeeded'): Promise<void> {
  const append = async (more: object) =>
    (
      await call(
        'append_operator_action',
        by,
        JSON.stringify({
          ...{
            id: randomUUID(),
            operation: 'readPaymentOrder',
            operator_id: by,
            request_id: 'r',
            details: {},
            ...more,
          },
        }),
      )
    )[0]!.append_operator_action as string;
  const action = await append({ outcome: 'attempted', object_id: id });
  if (outcome) await append({ outcome, action: Number(action) });
}
async function approved(): Promise<Row> {
  return (await decide((await proposed()).id, 'approved', 'operator_b'))[0]!;
}

of('add_own_account', () => {
  it('adds an account once for a currency, until it is closed', async () => {
    const { id } = await account({ number: null, iban: 'DE89370400440532013000' });
    const again = () => account({ number: null, iban: 'DE89370400440532013000' });
    expect(await refusal(again())).toBe('state_conflict own_account.number');
    await call('close_own_account', id);
    expect((await again()).id).not.toBe(id);
  });
});

of('close_own_account', () => {
  it('closes an account once, and no order is made from it then', async () => {
    const { id } = await account();
    const [closed] = await call('close_own_account', id);
    expect(Number(closed!.closed_at)).toBeGreaterThan(1_700_000_000);
    expect(await call('close_own_account', id)).toEqual([closed]);
    expect(await refusal(create(id))).toBe('state_conflict own_account.id');
    expect(await call('close_own_account', 'own_account_0')).toEqual([]);
  });
});

of('own_account_of_key', () => {
  it('is the account that the same call has added, also of two at once', async () => {
    const content = { number: 'OF-KEY' };
    const made = await Promise.all([account(content, 'key 1'), account(content, 'key 1'), account(content, 'key 1')]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    const find = async (more: object, key: string | null) =>
      call('own_account_of_key', JSON.stringify({ ...made[0], ...more }), key);
    expect(await find({}, 'key 2')).toEqual([]);
    expect(await find({}, null)).toEqual([]);
    for (const more of [{ holder: 'Another' }, { number: null }, { bic: 'DEUTDEFF' }, { currency: 'INR' }])
      expect(await refusal(find(more, 'key 1'))).toBe('idempotency_key_reused');
    expect(await refusal(account({ number: 'ANOTHER' }, 'key 1'))).toBe('idempotency_key_reused');
    // It is the same call after the account was closed, too.
    await call('close_own_account', made[0]!.id);
    expect((await account(content, 'key 1')).id).toBe(made[0]!.id);
  });
});

of('create_payment_order', () => {
  it('begins an order, and rejects one of the account that is still being gathered', async () => {
    const { id } = await account({ currency: 'INR' });
    const order = await create(id);
    expect(order).toMatchObject({ status: 'gathering', currency: 'INR', value_date: day, payouts: null });
    const next = await create(id, 'operator_b', '2099-12-02');
    expect(await propose(order.id, 1, '1')).toMatchObject({ status: 'rejected', payouts: null });
    expect(await propose(next.id, 1, '1')).toMatchObject({ status: 'proposed' });
    await create(id);
    expect(await propose(next.id, 2, '2')).toMatchObject({ status: 'proposed', payouts: 1 });
    expect(await refusal(create('own_account_0'))).toBe('state_conflict own_account.id');
  });

  it('takes no day in the past, but yesterday, which is today somewhere', async () => {
    const { id } = await account();
    const [days] = await world.sql`select to_char(x - interval '1 day', 'YYYY-MM-DD') as yesterday,
      to_char(x - interval '2 days', 'YYYY-MM-DD') as before from (select now() at time zone 'UTC') t (x)`;
    expect(await create(id, null, days!.yesterday)).toMatchObject({ status: 'gathering' });
    for (const past of [days!.before, '2020-01-01'])
      expect(await refusal(create(id, null, past))).toBe('parameter_invalid payment_order.value_date');
  });
});

of('order_of_key', () => {
  it('is the order that the same call has proposed, and none that was interrupted', async () => {
    const { id } = await account();
    const same = () => create(id, 'operator_a', day, 'key 1');
    const find = (own: string, on: string, key: string | null) => call('order_of_key', own, on, key);
    const interrupted = await same();
    expect(await find(id, day, 'key 1')).toEqual([]);
    const order = await same();
    expect(order.id).not.toBe(interrupted.id);
    const made = await propose(order.id);
    expect(await find(id, day, 'key 1')).toEqual([made]);
    // It rejects nothing that is being gathered under another key.
    const other = await create(id, 'operator_a', day, 'key 2');
    expect(await same()).toEqual(made);
    expect(await propose(other.id)).toMatchObject({ status: 'proposed' });
    expect(await find(id, day, null)).toEqual([]);
    expect(await refusal(find(id, '2099-12-02', 'key 1'))).toBe('idempotency_key_reused');
    expect(await refusal(create((await account()).id, 'operator_a', day, 'key 1'))).toBe('idempotency_key_reused');
    await decide(made.id, 'rejected', null);
    expect(await same()).toMatchObject({ id: made.id, status: 'rejected' });
  });
});

of('claim_payouts', () => {
  it('claims what is under way and in no order, once', async () => {
    const { root, payout, move } = await underWay();
    const claim = (order: string) => counted('claim_payouts', root.tenantId, false, JSON.stringify([payout.id]), order);
    expect([await claim('order_1'), await claim('order_1'), await claim('order_2')]).toEqual([1, 0, 0]);
    expect(await stored('payout', root, payout.id)).toMatchObject({ order_id: 'order_1', status: 'processing' });
    // It ends by the answer to this order alone.
    expect(await refusal(move('failed'))).toBe('status_invalid payout.status');
    expect(await refusal(move('completed', { orderId: 'order_2' }))).toBe('status_invalid payout.status');
    expect(await move('completed', { orderId: 'order_1' })).toMatchObject({ status: 'completed' });
    expect(await move('returned')).toMatchObject({ status: 'returned' });
  });

  it('lets one of several orders have it that want it at once', async () => {
    const { root, payout } = await underWay();
    const claims = ['a', 'b', 'c', 'd'].map((order) =>
      counted('claim_payouts', root.tenantId, false, JSON.stringify([payout.id]), order),
    );
    expect((await Promise.all(claims)).sort()).toEqual([0, 0, 0, 1]);
  });

  it('leaves one alone that has ended', async () => {
    const { root, payout } = await underWay();
    await write(root, 'move_payout', { id: payout.id, to: 'completed' });
    expect(await counted('claim_payouts', root.tenantId, false, JSON.stringify([payout.id]), 'order_1')).toBe(0);
  });
});

of('release_payouts', () => {
  it('gives back what an order has and no bank has paid', async () => {
    const [one, paid] = [await underWay(), await underWay()];
    for (const { root, payout } of [one, paid])
      await call('claim_payouts', root.tenantId, false, JSON.stringify([payout.id]), 'order_1');
    await paid.move('completed', { orderId: 'order_1' });
    const release = ({ root, payout }: typeof one, order: string) =>
      counted('release_payouts', root.tenantId, false, JSON.stringify([payout.id]), order);
    expect([await release(one, 'order_2'), await release(one, 'order_1'), await release(paid, 'order_1')]).toEqual([
      ...[0, 1, 0],
    ]);
    expect(await stored('payout', one.root, one.payout.id)).toMatchObject({ order_id: null });
  });
});

of('propose_payment_order', () => {
  it('says once what was counted and left out, and rejects an order of nothing', async () => {
    const leftOut = [{ id: 'payout_1', reason: 'It has no bank.' }];
    const order = await propose((await create((await account()).id)).id, 2, '300', leftOut);
    expect(order).toMatchObject({ status: 'proposed', payouts: 2, total: '300', left_out: leftOut });
    expect(await propose(order.id, 3, '400')).toEqual(order);
    const empty = await create((await account()).id);
    const { decided_at: at, ...rejected } = await propose(empty.id, 0, '0');
    expect(rejected).toMatchObject({ status: 'rejected', payouts: 0 });
    expect(Number(at)).toBeGreaterThanOrEqual(Number(empty.created));
  });

  it('rejects a second order under an idempotency key', async () => {
    const [one, other] = [await account(), await account()];
    const orders = [
      await create(one.id, 'operator_a', day, 'a key twice'),
      await create(other.id, 'operator_a', day, 'a key twice'),
    ];
    const outcomes = await Promise.all(orders.map(({ id }) => propose(id)));
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['proposed', 'rejected']);
  });
});

of('decide_payment_order', () => {
  it('is approved by a named operator who has not proposed it, once', async () => {
    const { id } = await proposed();
    for (const by of ['operator_a', null]) expect(await refusal(decide(id, 'approved', by))).toBe('permission_denied');
    const [order] = await decide(id, 'approved', 'operator_b');
    expect(order).toMatchObject({ status: 'approved', decided_by_id: 'operator_b' });
    expect(await decide(id, 'approved', 'operator_b')).toEqual([order]);
    expect(await refusal(decide(id, 'approved', 'operator_c'))).toBe('status_invalid payment_order.status');
  });

  it('needs two named operators when OPERATOR_KEY or a command has begun it', async () => {
    const { id } = await proposed(null);
    expect(await refusal(decide(id, 'approved', null))).toBe('permission_denied');
    const [taken] = await decide(id, 'approved', 'operator_b');
    expect(taken).toMatchObject({ status: 'proposed', created_by_id: 'operator_b', decided_by: null });
    expect(await decide(id, 'approved', 'operator_b')).toEqual([taken]);
    expect(await decide(id, 'approved', 'operator_a')).toMatchObject([{ status: 'approved' }]);
    expect(await refusal(decide(id, 'rejected', 'operator_b'))).toBe('permission_denied');
    const other = await proposed(null);
    const both = await Promise.all([
      decide(other.id, 'approved', 'operator_b'),
      decide(other.id, 'approved', 'operator_c'),
    ]);
    expect(both.map(([row]) => row!.status).toSorted()).toEqual(['approved', 'proposed']);
  });

  it('breaks a rule when it was not approved by another named operator', async () => {
    const { id } = await approved();
    const rule = 'payment order was not approved by another operator';
    const breaches = () => world.sql`select rule from violations where (rule, what) = (${rule}, ${id})`;
    expect(await breaches()).toEqual([]);
    for (const [by, back] of [
      [null, 'operator_a'],
      ['operator_b', 'operator_a'],
    ] as const) {
      await world.sql`update payment_order set created_by_id = ${by} where id = ${id}`;
      expect(await breaches()).toEqual([{ rule }]);
      await world.sql`update payment_order set created_by_id = ${back} where id = ${id}`;
    }
  });

  it('breaks a rule when its payouts are not those that were counted, in its currency', async () => {
    const [one, other] = [await underWay(), await underWay()];
    const { id } = await create((await account()).id);
    const breaches = async (sql: postgres.ISql = world.sql) => [
      ...(await sql`select rule from payment_order_breaches where what in (${id}, 'payment_order_0') order by rule`),
    ];
    const claim = ({ root, payout }: typeof one) =>
      counted('claim_payouts', root.tenantId, false, JSON.stringify([payout.id]), id);
    for (const each of [one, other]) expect(await claim(each)).toBe(1);
    expect(await breaches()).toEqual([]);
    await propose(id, 2, '200');
    const counting = { rule: 'payment order and its payouts disagree' };
    const unknown = { rule: 'payout is in no payment order of its currency' };
    const changes: [string, string, object[]][] = [
      ['payment_order', 'payouts = payouts + 1', [counting]],
      ['payment_order', 'total = total - 1', [counting]],
      ['payment_order', "currency = 'INR'", [counting, unknown]],
      ['payout', 'order_id = null', [counting]],
      ['payout', "order_id = 'payment_order_0'", [counting, unknown]],
      ['payout', 'amount = amount + 1', [counting]],
    ];
    for (const status of ['proposed', 'approved', 'sent']) {
      await world.sql`update payment_order set status = ${status}, decided_by_id = 'operator_b' where id = ${id}`;
      expect(await breaches()).toEqual([]);
      for (const [table, change, broken] of changes) {
        const row = table === 'payout' ? one.payout.id : id;
        await world.sql
          .begin(async (tx) => {
            await tx.unsafe(`update ${table} set ${change} where id = '${row}'`);
            expect([status, change, await breaches(tx)]).toEqual([status, change, broken]);
            throw new Error('undone');
          })
          .catch((error: Error) => expect(error.message).toBe('undone'));
      }
    }
    // One that is rejected gives its payouts back after that, and at the latest before a later one is proposed.
    await world.sql`update payment_order set status = 'rejected', decided_at = created + 5 where id = ${id}`;
    expect(await breaches()).toEqual([]);
    const later = await propose((await create((await account()).id)).id);
    for (const [at, broken] of [
      [5, []],
      [6, [{ rule: 'payout is claimed by a rejected payment order' }]],
    ] as const) {
      await world.sql`update payment_order set created = (select created from payment_order where id = ${id}) + ${at}
        where id = ${later.id}`;
      expect(await breaches()).toEqual(broken);
    }
    // What has ended meanwhile stays in its order.
    await other.move('completed', { orderId: id });
    expect(await counted('release_payouts', one.root.tenantId, false, JSON.stringify([one.payout.id]), id)).toBe(1);
    expect(await breaches()).toEqual([]);
  });

  it('is rejected by anyone before its approval, and by a third person when the bank may have it', async () => {
    expect(await decide((await proposed()).id, 'rejected', null)).toMatchObject([
      { status: 'rejected', note: 'a reason' },
    ]);
    const { id } = await approved();
    for (const by of ['operator_a', 'operator_b', null])
      expect(await refusal(decide(id, 'rejected', by))).toBe('permission_denied');
    await call('send_payment_order', id, 'operator_c', 'operator_c');
    await read(id, 'operator_d');
    for (const by of ['operator_c', 'operator_d'])
      expect(await refusal(decide(id, 'rejected', by))).toBe('permission_denied');
    expect(await decide(id, 'rejected', 'operator_e')).toMatchObject([{ status: 'rejected' }]);
    expect(await refusal(decide(id, 'approved', 'operator_b'))).toBe('status_invalid payment_order.status');
  });

  it('lets one of two decide that come at once', async () => {
    const { id } = await proposed();
    const outcomes = await Promise.allSettled([
      decide(id, 'approved', 'operator_b'),
      decide(id, 'approved', 'operator_c'),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

of('had_order_file', () => {
  it('is true of an operator who has begun to read it, unless that was refused', async () => {
    const { id } = await proposed();
    const had = async (by: string) => (await call('had_order_file', id, by))[0]!.had_order_file as boolean;
    await read(id, 'operator_x', 'refused');
    expect(await had('operator_x')).toBe(false);
    await read(id, 'operator_x');
    await read(id, 'operator_y', 'succeeded');
    expect([await had('operator_x'), await had('operator_y'), await had('operator_z')]).toEqual([true, true, false]);
  });
});

of('send_payment_order', () => {
  it('records once who has given an approved order to the bank', async () => {
    const { id } = await approved();
    const send = (by: string) => call('send_payment_order', id, by, by);
    const [order] = await send('operator_a');
    expect(order).toMatchObject({ status: 'sent', sent_by: 'operator_a' });
    expect(await send('operator_b')).toEqual([order]);
    expect(await refusal(call('send_payment_order', (await proposed()).id, 'operator_a', 'operator_a'))).toBe(
      'status_invalid payment_order.status',
    );
  });
});
