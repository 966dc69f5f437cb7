import { expect, it } from 'vitest';
import { activate, makeAccount, type Place, type Row, useFunctions, violations } from './fixture.js';
import { createRoot } from '../../src/operator/account/accounts.js';

const fixture = useFunctions();
const { world, of, call, rowText, jobText, stored, jobsOf, eventsOf } = fixture;
const json = (object: unknown) => JSON.stringify(object);

/** An aggregator with an activated user, as `leg` names them, and what is posted between them and the outside world. */
async function aggregator() {
  const { account } = await createRoot(world.operator, {
    ...{ type: 'platform', edition: 2, subType: 'aggregator', businessDetails: { legalName: 'Aggregator' } },
  });
  const root = { id: account.id, tenantId: account.tenantId, live: false };
  const { id: user } = await makeAccount(fixture, root, 'connected_user');
  await activate(fixture, root, user);
  const owner = await rowText('account', root, user);
  const post = async (kind: string, account: string, amount: number, currency = 'INR') => {
    const [row] = await call(
      'insert_payment',
      root.tenantId,
      false,
      owner,
      'deposit',
      amount,
      currency,
      'completed',
      null,
    );
    const payment = row!.insert_payment as string;
    for (const id of [account, root.id]) await call('lock_balance', root.tenantId, false, id, currency);
    const legs = [
      { account, category: 'available', currency, amount },
      { contra: 'bank', currency, amount: -amount },
    ];
    await call('post', root.tenantId, false, kind, payment, payment, json(legs));
    return payment;
  };
  const available = async (of: string) =>
    Object.fromEntries(
      (
        await world.sql`select currency, available::int from balance where tenant_id = ${root.tenantId}
          and account_id = ${of} and available <> 0 order by 1`
      ).map((row) => [row.currency, row.available]),
    );
  const payments = () => world.sql<Row[]>`select * from payment
    where tenant_id = ${root.tenantId} and type = 'transfer' order by id`;
  return { ...root, user: user as string, post, available, payments };
}

of('transfer_back', () => {
  const back = ({ tenantId }: Place, account: string, cause: string | null = null, currency = 'INR') =>
    call('transfer_back', tenantId, false, '{}', account, currency, cause);

  it('covers what a user is below zero from its aggregator, by a payment and its event', async () => {
    const root = await aggregator();
    await root.post('deposit', root.id, 30);
    const cause = await root.post('dispute', root.user, -50);
    await back(root, root.user, cause);
    expect([await root.available(root.user), await root.available(root.id)]).toEqual([{}, { INR: -20 }]);
    const [payment, ...others] = await root.payments();
    expect(others).toEqual([]);
    expect(payment).toMatchObject({ account_id: root.user, amount: '-50', currency: 'INR', status: 'completed' });
    expect(await eventsOf(root, payment!.id)).toEqual(['payment.completed']);
    const posting = await stored('posting', root, payment!.id, 'payment_id');
    expect(posting).toMatchObject({ kind: 'transfer_back', cause });
    const entries = await world.sql`select account_id, amount::int, category from entry
      where tenant_id = ${root.tenantId} and posting_id = ${posting.id}`;
    expect(entries).toHaveLength(2);
    expect(entries).toEqual(
      expect.arrayContaining([
        { account_id: root.user, amount: 50, category: 'available' },
        { account_id: root.id, amount: -50, category: 'available' },
      ]),
    );
    await back(root, root.user, cause);
    expect(await root.payments()).toHaveLength(1);
  });

  it('has a payment whose amount an audit compares with what it has moved', async () => {
    const root = await aggregator();
    await back(root, root.user, await root.post('dispute', root.user, -50));
    const [payment] = await root.payments();
    const rule = 'payment has not the amount of its object';
    const found = async () => (await violations(fixture)).filter((each) => each.rule === rule);
    const change = (by: number) => world.sql`update payment set amount = amount + ${by}
      where tenant_id = ${root.tenantId} and id = ${payment!.id}`;
    await change(1);
    expect(await found()).toEqual([expect.objectContaining({ what: payment!.id })]);
    await change(-1);
    expect(await found()).toEqual([]);
  });

  it('does nothing for an account that is not below zero, or of no aggregator', async () => {
    const root = await aggregator();
    await root.post('dispute', root.id, -50);
    await back(root, root.id);
    await back(root, root.user);
    await root.post('dispute', root.user, -50, 'USD');
    await back(root, root.user);
    expect([await root.available(root.user), await root.available(root.id)]).toEqual([{ USD: -50 }, { INR: -50 }]);
    await back(root, root.user, null, 'USD');
    expect([await root.available(root.user), await root.available(root.id)]).toEqual([{}, { INR: -50, USD: -50 }]);
  });

  it('removes the record of why the money of the platform could not be paid out, when there is no more', async () => {
    const root = await aggregator();
    await root.post('deposit', root.id, 50);
    const blocks = () => world.sql`select from payout_block where tenant_id = ${root.tenantId}`;
    await call(
      ...(['block_payout', root.tenantId, false, '{}', await rowText('account', root, root.id)] as const),
      ...(['INR', 'address_missing'] as const),
    );
    await back(root, root.user, await root.post('dispute', root.user, -40));
    expect(await blocks()).toHaveLength(1);
    await back(root, root.user, await root.post('dispute', root.user, -10));
    expect(await blocks()).toHaveLength(0);
  });
});

of('job_find_debts', () => {
  const jobs = async (root: Place & { id: string }) =>
    (await jobsOf(root, root.id))
      .filter(({ kind }) => ['find_debts', 'transfer_back'].includes(kind))
      .map(({ kind, args }) => [kind, args]);
  const find = async (root: Place & { id: string }, args: object) => {
    await world.sql`delete from job where tenant_id = ${root.tenantId}`;
    await call('job_find_debts', root.tenantId, false, await jobText('find_debts', root.id, args));
    return jobs(root);
  };

  it('leaves each user that is below zero to a job, in steps, and waits until its time', async () => {
    const root = await aggregator();
    await root.post('dispute', root.user, -50);
    await root.post('dispute', root.user, -5, 'USD');
    // The platform's own money is no user's.
    await root.post('dispute', root.id, -7);
    const last = [root.user, root.id].toSorted()[1]!;
    expect(await find(root, { notBefore: 1 })).toEqual([
      ['transfer_back', { account: root.user }],
      ['find_debts', { after: last }],
    ]);
    expect(await find(root, { after: last })).toEqual([]);
    const soon = Math.floor(Date.now() / 1000) + 600;
    expect(await find(root, { notBefore: soon })).toEqual([['find_debts', { notBefore: soon }]]);
  });
});

of('job_transfer_back', () => {
  it('covers what a user is below zero in each currency, once', async () => {
    const root = await aggregator();
    await root.post('dispute', root.user, -50);
    await root.post('dispute', root.user, -5, 'USD');
    const cover = async () =>
      call(
        ...(['job_transfer_back', root.tenantId, false] as const),
        await jobText('transfer_back', root.id, { account: root.user }),
      );
    await cover();
    await cover();
    expect([await root.available(root.user), await root.available(root.id)]).toEqual([{}, { INR: -50, USD: -5 }]);
    expect(await root.payments()).toHaveLength(2);
  });
});

it('leaves no contradiction between the balances and their postings', async () => {
  const found = (await violations(fixture)).map(({ rule }) => rule);
  // The money of these tests comes from no deposit.
  const without = new Set(['available money has neither a payout to come nor a reason']);
  expect(
    found.filter(
      (rule) => !without.has(rule) && rule !== 'user of an aggregator has available money, or is below zero',
    ),
  ).toEqual([]);
});
