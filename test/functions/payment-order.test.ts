import { expect, it } from 'vitest';
import { payeesOf } from './payee.js';
import { refusal, type Row, useFunctions } from './fixture.js';

const fixture = useFunctions();
const { of, call, stored, write } = fixture;

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
const account = async (more: object = {}): Promise<Row> =>
  (
    await call(
      'add_own_account',
      JSON.stringify({ holder: 'Tidegate Ltd', currency: 'USD', number: `N${++accounts}`, ...more }),
      'anna',
    )
  )[0]!;
const create = async (id: string, by: string | null = 'operator_a', day = '2026-12-01'): Promise<Row> =>
  (await call('create_payment_order', id, day, by ?? 'command line', by))[0]!;
const decide = (id: string, to: string, by: string | null) =>
  call('decide_payment_order', id, to, by ?? 'command line', by, to === 'rejected' ? 'a reason' : null);
/** An order that is proposed by `operator_a`. */
async function proposed(): Promise<Row> {
  const { id } = await create((await account()).id);
  return (await call('propose_payment_order', id, 2, '300'))[0]!;
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

of('create_payment_order', () => {
  it('begins an order, and rejects one of the account that is still being gathered', async () => {
    const { id } = await account({ currency: 'INR' });
    const order = await create(id);
    expect(order).toMatchObject({ status: 'gathering', currency: 'INR', value_date: '2026-12-01', payouts: null });
    const next = await create(id, 'operator_b', '2026-12-02');
    expect(await call('propose_payment_order', order.id, 1, '1')).toMatchObject([
      { status: 'rejected', payouts: null },
    ]);
    expect(await call('propose_payment_order', next.id, 1, '1')).toMatchObject([{ status: 'proposed' }]);
    await create(id);
    expect(await call('propose_payment_order', next.id, 2, '2')).toMatchObject([{ status: 'proposed', payouts: 1 }]);
    expect(await refusal(create('own_account_0'))).toBe('state_conflict own_account.id');
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
  it('says once what was counted, and rejects an order of nothing', async () => {
    const order = await proposed();
    expect(order).toMatchObject({ status: 'proposed', payouts: 2, total: '300' });
    expect(await call('propose_payment_order', order.id, 3, '400')).toEqual([order]);
    const empty = await create((await account()).id);
    const [rejected] = await call('propose_payment_order', empty.id, 0, '0');
    expect(rejected).toMatchObject({ status: 'rejected', payouts: 0 });
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

  it('is rejected by anyone before its approval, and by a third person when the bank may have it', async () => {
    expect(await decide((await proposed()).id, 'rejected', null)).toMatchObject([
      { status: 'rejected', note: 'a reason' },
    ]);
    const { id } = await approved();
    for (const by of ['operator_b', null]) expect(await refusal(decide(id, 'rejected', by))).toBe('permission_denied');
    await call('send_payment_order', id, 'operator_c', 'operator_c');
    expect(await refusal(decide(id, 'rejected', 'operator_c'))).toBe('permission_denied');
    expect(await decide(id, 'rejected', 'operator_a')).toMatchObject([{ status: 'rejected' }]);
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
