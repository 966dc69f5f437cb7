import { beforeAll, describe, expect, it } from 'vitest';
import { receivableBody } from '../support/bodies.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { runJobs } from '../support/jobs.js';
import { givenIn, must, payoutAddress, type Speaker, tenantOf, useWorld } from '../support/world.js';

// No worker runs, so that a test can look at a payout under way.
const world = useWorld({ worker: false });
const given = givenIn(world);

const day = 86_400;

/** The data of a query that must succeed. */
async function data(speaker: Speaker, query: string): Promise<any> {
  const reply = await speaker.graph(query);
  expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
  return reply.body.data;
}

/** Advances the test clock, and runs the jobs that are due once. */
async function pass(user: Speaker, seconds: number): Promise<void> {
  await must(user.post('/v1/test_helpers/clock', { advance_seconds: seconds }));
  await runJobs(user);
}

async function deposited(user: Speaker, amount: string): Promise<string> {
  const { id } = await must(user.post('/v1/deposits', { amount, currency: 'USD' }));
  await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
  return id;
}

async function invoiced(user: Speaker, amount: string): Promise<string> {
  const body = receivableBody({ amount });
  return (await must(user.post('/v1/receivables', body))).id;
}

const reconcile = (user: Speaker, deposit: string, shares: Record<string, string>) =>
  must(
    user.post(`/v1/deposits/${deposit}/reconcile`, {
      receivables: Object.entries(shares).map(([id, amount]) => ({ id, amount })),
    }),
  );

const selection =
  '(first: 50) { totalCount nodes { amount currency status deposit { id } receivable { id } payout { id } } }';
const allocation = (amount: string, status: string, deposit: string, receivable: string, payout: string | null) => ({
  ...{ amount, currency: 'USD', status, deposit: { id: deposit }, receivable: { id: receivable } },
  payout: payout === null ? null : { id: payout },
});

describe('allocations', () => {
  let user: Speaker;
  let one: string;
  let other: string;
  let first: string;
  let second: string;
  beforeAll(async () => {
    user = await given.directUser(1);
    await payoutAddress(user);
    [one, other] = [await deposited(user, '100.00'), await deposited(user, '50.00')];
    [first, second] = [await invoiced(user, '80.00'), await invoiced(user, '70.00')];
    await reconcile(user, one, { [second]: '30.00', [first]: '60.00' });
    await reconcile(user, other, { [first]: '20.00' });
  });

  const all = async (of: 'deposit' | 'receivable' | 'payout', id: string) =>
    (await data(user, `{ ${of}(id: "${id}") { allocations${selection} } }`))[of].allocations;

  it('of a deposit and a receivable have their amounts, newest first, and are LOCKED at first', async () => {
    const [a, b, c] = [
      allocation('30.00', 'LOCKED', one, second, null),
      allocation('60.00', 'LOCKED', one, first, null),
      allocation('20.00', 'LOCKED', other, first, null),
    ];
    expect(await all('deposit', one)).toEqual({ totalCount: 2, nodes: [b, a] });
    expect(await all('deposit', other)).toEqual({ totalCount: 1, nodes: [c] });
    expect(await all('receivable', first)).toEqual({ totalCount: 2, nodes: [c, b] });
    expect(await all('receivable', second)).toEqual({ totalCount: 1, nodes: [a] });
  });

  it('have a page for each parent of a list', async () => {
    const { deposits, receivables } = await data(
      user,
      `{ deposits(first: 5) { nodes { id allocations(first: 1) { nodes { amount } pageInfo { hasNextPage } } } }
         receivables(first: 5) { nodes { id allocations(last: 1) { nodes { amount } pageInfo { hasPreviousPage } } } }
         }`,
    );
    expect(deposits.nodes).toEqual([
      { id: other, allocations: { nodes: [{ amount: '20.00' }], pageInfo: { hasNextPage: false } } },
      { id: one, allocations: { nodes: [{ amount: '60.00' }], pageInfo: { hasNextPage: true } } },
    ]);
    expect(receivables.nodes).toEqual([
      { id: second, allocations: { nodes: [{ amount: '30.00' }], pageInfo: { hasPreviousPage: false } } },
      { id: first, allocations: { nodes: [{ amount: '60.00' }], pageInfo: { hasPreviousPage: true } } },
    ]);
  });

  it('of an event are those of its reconciliation, as they were then', async () => {
    await world.database.call('number_events', [tenantOf(user), false, 500]);
    const { events } = await data(
      user,
      '{ events(first: 50) { nodes { type objectId allocations { amount currency status receivable { id } ' +
        'deposit { id } payout { id } } } } }',
    );
    const of = (type: string) => events.nodes.filter((event: any) => event.type === type);
    expect(of('deposit.reconciled').map(({ allocations }: any) => allocations)).toEqual([
      [allocation('20.00', 'LOCKED', other, first, null)],
      [allocation('30.00', 'LOCKED', one, second, null), allocation('60.00', 'LOCKED', one, first, null)],
    ]);
    expect(of('deposit.completed').map(({ allocations }: any) => allocations)).toEqual([null, null]);
    // On /v1 the object of the event is exactly the deposit.
    const v1 = (await user.get('/v1/events?type=deposit.reconciled')).body.data;
    const keys = Object.keys((await user.get(`/v1/deposits/${one}`)).body);
    for (const event of v1) expect(Object.keys(event.data.object)).toEqual(keys);
  });

  it('of a payout are what it settles, and follow its status', async () => {
    await pass(user, day);
    const [payout] = (await user.get('/v1/payouts')).body.data;
    const nodes = (status: string) => [
      allocation('20.00', status, other, first, payout.id),
      allocation('60.00', status, one, first, payout.id),
      allocation('30.00', status, one, second, payout.id),
    ];
    expect(await all('payout', payout.id)).toEqual({ totalCount: 3, nodes: nodes('PAYOUT_PROCESSING') });
    await must(user.post(`/v1/test_helpers/payouts/${payout.id}/settle`));
    await pass(user, 61);
    expect(await all('payout', payout.id)).toEqual({ totalCount: 3, nodes: nodes('SETTLED') });
    expect((await all('receivable', first)).nodes).toEqual(nodes('SETTLED').slice(0, 2));
  });

  it('have pages from both ends, which together are the list', async () => {
    const [payout] = (await user.get('/v1/payouts')).body.data;
    const read = async (args: string) =>
      (
        await data(
          user,
          `{ payout(id: "${payout.id}") { allocations(${args}) { edges { cursor node { amount } } pageInfo { ` +
            'hasNextPage hasPreviousPage startCursor endCursor } } } }',
        )
      ).payout.allocations;
    for (const [size, end, cursor, more] of [
      ['first', 'after', 'endCursor', 'hasNextPage'],
      ['last', 'before', 'startCursor', 'hasPreviousPage'],
    ] as const) {
      const found: string[] = [];
      let page = await read(`${size}: 1`);
      for (let n = 0; n < 5; n++) {
        found.push(page.edges[0].node.amount);
        expect(page.pageInfo.startCursor).toBe(page.edges[0].cursor);
        if (!page.pageInfo[more]) break;
        page = await read(`${size}: 1, ${end}: "${page.pageInfo[cursor]}"`);
        expect(page.pageInfo[more === 'hasNextPage' ? 'hasPreviousPage' : 'hasNextPage']).toBe(true);
      }
      const wanted = ['20.00', '60.00', '30.00'];
      expect(found).toEqual(size === 'first' ? wanted : wanted.toReversed());
    }
  });

  it('refuse a cursor that is no allocation, a size out of bounds, and both ends at once', async () => {
    const refusals = await Promise.all(
      ['after: "lock_0"', 'first: 101', `first: 1, last: 1`].map(async (args) => {
        const { body } = await user.graph(`{ deposit(id: "${one}") { allocations(${args}) { nodes { amount } } } }`);
        return body.errors.map(({ extensions }: any) => [extensions.code, extensions.argumentPath]);
      }),
    );
    expect(refusals).toEqual([
      [['PARAMETER_INVALID', ['after']]],
      [['PARAMETER_INVALID', ['first']]],
      [['PARAMETER_INVALID', ['last']]],
    ]);
  });

  it('that were taken back completely are not listed', async () => {
    const [deposit, receivable] = [await deposited(user, '10.00'), await invoiced(user, '10.00')];
    await reconcile(user, deposit, { [receivable]: '10.00' });
    await must(user.post(`/v1/test_helpers/deposits/${deposit}/dispute`, { amount: '4.00' }));
    expect((await all('deposit', deposit)).nodes).toEqual([allocation('6.00', 'LOCKED', deposit, receivable, null)]);
    await must(user.post(`/v1/test_helpers/deposits/${deposit}/reverse`));
    expect(await all('deposit', deposit)).toEqual({ totalCount: 0, nodes: [] });
  });

  it('are not visible to another account', async () => {
    const outsider = await given.directUser(1);
    const { body } = await outsider.graph(`{ deposit(id: "${one}") { allocations { nodes { amount } } } }`);
    expect([body.data.deposit, body.errors[0].extensions.code]).toEqual([null, 'RESOURCE_MISSING']);
    const own = await outsider.graph('{ deposits { nodes { allocations { nodes { amount } } } } }');
    expect(own.body.data.deposits.nodes).toEqual([]);
  });
});

it('a checkout that is paid has its allocations in the event', async () => {
  const payee = await PayeeFixture.open(world);
  const receivableIds = [await payee.receivable('40.00'), await payee.receivable('60.00')];
  const checkout = await payee.checkoutFixture({ amount: '70.00', receivableIds });
  await payee.help(checkout, 'pay');
  await world.database.call('number_events', [payee.tenantId, false, 500]);
  const { events } = await data(
    payee.user,
    '{ events(type: ["deposit.reconciled"]) { nodes { allocations { amount currency receivable { id } } subject { ' +
      '... on Deposit { allocations { nodes { amount } } } } } } }',
  );
  expect(events.nodes).toEqual([
    {
      allocations: [
        { amount: '40.00', currency: 'INR', receivable: { id: receivableIds[0] } },
        { amount: '30.00', currency: 'INR', receivable: { id: receivableIds[1] } },
      ],
      subject: { allocations: { nodes: [{ amount: '30.00' }, { amount: '40.00' }] } },
    },
  ]);
});
