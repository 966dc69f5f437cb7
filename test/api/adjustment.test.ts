import { beforeAll, describe, expect, it } from 'vitest';
import { createOperator } from '../../src/operator/access/operators.js';
import { auditLedger } from '../support/audit.js';
import { unknownId } from '../support/bodies.js';
import { givenIn, must, nickname, Speaker, statementsWaiting, tenantOf, useWorld } from '../support/world.js';
import { type Json, mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
const given = givenIn(world);
const { ask, data } = operatorIn(world);

auditLedger(world);

const fields = `adjustment { id livemode tenantId accountId credit { amount currency }
  debit { amount currency } reason status proposedBy decidedBy approvalsLeft paymentId account { id } }`;
const propose = mutation('proposeAdjustment', 'ProposeAdjustmentInput', fields);
const approve = mutation('approveAdjustment', 'ApproveAdjustmentInput', fields);
const reject = mutation('rejectAdjustment', 'RejectAdjustmentInput', fields);

/** A named operator, and what they ask. */
async function named(role: 'read' | 'operate' = 'operate') {
  const { operator, key } = await createOperator(world.operator, nickname(), role, 'a test');
  const speaker = new Speaker(world, '', key, 1);
  const as = (query: string, variables: object = {}, headers: Record<string, string> = {}) =>
    speaker.post('/operator/graphql', { query, variables }, headers);
  const at = (origin: string, query: string, variables: object) =>
    speaker.at(origin).post('/operator/graphql', { query, variables });
  return { id: operator.id, name: operator.name, ask: as, at };
}

const usd = (amount: string) => ({ amount, currency: 'USD' });
const available = async (user: Speaker): Promise<Json[]> => (await user.get('/v1/balance')).body.available;
const paymentsOf = async (user: Speaker): Promise<Json[]> =>
  (await user.get('/v1/payments')).body.data.filter(({ type }: Json) => type === 'adjustment');

describe('an adjustment of the operator', () => {
  let user: Speaker;
  const input = (more: object = {}) => ({
    input: { accountId: user.id, mode: 'LIVE', credit: usd('10.00'), reason: 'Write-off', ...more },
  });
  const proposed = async (more: object = {}, by: typeof ask = ask) =>
    (await data(by(propose, input(more)))).proposeAdjustment.adjustment;

  // This goes first: there are no named operators yet.
  it('needs two named operators, and says so where there are fewer', async () => {
    user = (await given.directUserBoth(1)).live;
    const { id, proposedBy, approvalsLeft } = await proposed();
    expect([proposedBy, approvalsLeft]).toEqual(['OPERATOR_KEY', 2]);
    const ann = await named();
    const alone = await ann.ask(approve, { input: { id } });
    expect([alone.status, alone.codes]).toEqual([200, ['permission_denied']]);
    expect(alone.body.errors[0].message).toContain('needs two named operators');

    const [ben, reader] = [await named(), await named('read')];
    for (const [by, sentence] of [
      [ask, 'An operator with a name and a key of their own approves an adjustment'],
      [reader.ask, 'Your role is READ'],
    ] as const) {
      const reply = await by(approve, { input: { id } });
      expect(reply.codes).toEqual(['permission_denied']);
      expect(reply.body.errors[0].message).toContain(sentence);
    }
    // One of them is not enough for what OPERATOR_KEY has proposed: it is ann's proposal from then on.
    const taken = (await data(ann.ask(approve, { input: { id } }))).approveAdjustment.adjustment;
    expect(taken).toMatchObject({ status: 'PROPOSED', proposedBy: ann.name, decidedBy: null, approvalsLeft: 1 });
    // Her answer may have been lost: it is the same, and still one of two.
    expect((await data(ann.ask(approve, { input: { id } }))).approveAdjustment.adjustment).toEqual(taken);
    expect(await available(user)).toEqual([usd('0.00')]);
    const { adjustment } = (await data(ben.ask(approve, { input: { id } }))).approveAdjustment;
    expect(adjustment).toMatchObject({ status: 'APPROVED', decidedBy: ben.name, account: { id: user.id } });
    expect([adjustment.proposedBy, adjustment.approvalsLeft]).toEqual([ann.name, 0]);
    expect(await available(user)).toEqual([usd('10.00')]);
  });

  it('is approved by another operator than the one that proposed it, once, and is in the audit log', async () => {
    const [ann, ben] = [await named(), await named()];
    const { id, tenantId } = await proposed({ credit: null, debit: usd('4.00'), reason: 'Courier' }, ann.ask);
    expect((await ann.ask(approve, { input: { id } })).codes).toEqual(['permission_denied']);
    const before = await available(user);
    const twice = [ben.ask(approve, { input: { id } }), ben.ask(approve, { input: { id } })];
    // Of two by one operator, the second is one whose answer was lost.
    const [one, same] = await Promise.all(twice.map((reply) => data(reply)));
    expect(same).toEqual(one);
    expect((await ann.ask(approve, { input: { id } })).codes).toEqual(['permission_denied']);
    expect([before, await available(user)]).toEqual([[usd('10.00')], [usd('6.00')]]);
    expect((await ask(reject, { input: { id } })).codes).toEqual(['status_invalid']);
    const { nodes } = (
      await data(ask(`{ operatorActions(objectId: "${id}") { nodes { operator operation tenantId } } }`))
    ).operatorActions;
    expect(nodes).toContainEqual({ operator: ben.name, operation: 'approveAdjustment', tenantId });
  });

  it('is approved or rejected, when two operators decide at two gateways at once', async () => {
    const [ann, ben, cleo] = [await named(), await named(), await named()];
    const origin = await world.another();
    for (const [here, there] of [
      [approve, reject],
      [reject, approve],
    ]) {
      const before = await available(user);
      const { id } = await proposed({ credit: usd('1.00'), reason: 'Interest' }, ann.ask);
      let replies: Promise<Awaited<ReturnType<typeof ask>>[]>;
      await world.sql.begin(async (tx) => {
        await tx`select from adjustment where id = ${id} for update`;
        replies = Promise.all([ben.ask(here!, { input: { id } }), cleo.at(origin, there!, { input: { id } })]);
        await statementsWaiting(world, 2);
      });
      const [one, other] = await replies!;
      const [winner, loser, name] = one!.codes.length === 0 ? [one!, other!, ben.name] : [other!, one!, cleo.name];
      expect([winner.codes, loser.codes, loser.fieldNames]).toEqual([[], ['status_invalid'], ['adjustment.status']]);
      const [{ adjustment }] = Object.values<Json>(winner.body.data);
      expect(adjustment).toMatchObject({ decidedBy: name });
      const after = adjustment.status === 'APPROVED' ? '7.00' : '6.00';
      expect([before, await available(user)]).toEqual([[usd('6.00')], [usd(after)]]);
      if (adjustment.status === 'APPROVED') {
        const back = await proposed({ credit: null, debit: usd('1.00'), reason: 'Back' }, ann.ask);
        await data(ben.ask(approve, { input: { id: back.id } }));
      }
    }
    await world.endLast();
  });

  it('is shown to the account as a payment with its reason, and not before it is approved', async () => {
    const [ann, ben] = [await named(), await named()];
    const seen = await paymentsOf(user);
    const { id } = await proposed({ credit: usd('2.00'), reason: 'Goodwill' }, ann.ask);
    expect(await paymentsOf(user)).toEqual(seen);
    await data(ben.ask(approve, { input: { id } }));
    const [payment] = await paymentsOf(user);
    expect(payment).toMatchObject({ type: 'adjustment', amount: '2.00', currency: 'USD', status: 'completed' });

    const shown = { reason: 'Goodwill', credit: usd('2.00'), debit: null };
    const v1 = await user.get(`/v1/payments/${payment!.id}/adjustment`);
    expect(v1.body).toMatchObject({ object: 'adjustment', id, payment_id: payment!.id, account_id: user.id, ...shown });
    const query = `{ payment(id: "${payment!.id}") {
      type source { ... on Adjustment {
        id reason credit { amount currency } debit { amount currency } accountId paymentId } } } }`;
    expect((await user.graph(query)).body.data.payment).toEqual({
      type: 'ADJUSTMENT',
      source: { id, ...shown, accountId: user.id, paymentId: payment!.id },
    });
    await world.database.call('number_events', [tenantOf(user), true, 500]);
    const events = (await user.get('/v1/events?type=payment.completed')).body.data;
    expect(events[0].data.object).toMatchObject({ id: payment!.id, type: 'adjustment' });
  });

  it('sets money in one currency off against another', async () => {
    const [ann, ben] = [await named(), await named()];
    const content = { debit: usd('5.00'), credit: { amount: '410.00', currency: 'INR' } };
    const { id } = await proposed(content, ann.ask);
    await data(ben.ask(approve, { input: { id } }));
    expect(await available(user)).toEqual([
      { amount: '410.00', currency: 'INR' },
      { amount: '3.00', currency: 'USD' },
    ]);
    const beyond = await proposed({ credit: usd('1.00'), debit: { amount: '410.01', currency: 'INR' } }, ann.ask);
    const refused = await ben.ask(approve, { input: { id: beyond.id } });
    expect([refused.codes, refused.body.errors[0].extensions.httpStatus]).toEqual([['balance_insufficient'], 402]);
    expect((await data(ask(reject, { input: { id: beyond.id } }))).rejectAdjustment.adjustment).toMatchObject({
      status: 'REJECTED',
      paymentId: null,
    });
  });

  it('is listed by its status, the oldest first', async () => {
    const { id } = await proposed({ reason: 'Waits' });
    const list = '{ adjustments(status: PROPOSED, mode: LIVE) { nodes { id reason status } next } }';
    const { nodes } = (await data(ask(list))).adjustments;
    expect(nodes.at(-1)).toEqual({ id, reason: 'Waits', status: 'PROPOSED' });
    await data(ask(reject, { input: { id } }));
    expect((await data(ask(list))).adjustments.nodes.map((one: Json) => one.id)).not.toContain(id);
  });

  it('is refused with the parameter that is wrong, and stores nothing', async () => {
    const count = async () => (await world.sql`select count(*)::int as count from adjustment`)[0]!.count;
    const [before, ben] = [await count(), await named()];
    const wrong: [object, string][] = [
      [{ credit: null }, 'adjustment.credit'],
      [{ credit: usd('0.00') }, 'adjustment.credit.amount'],
      [{ credit: { amount: '10.50', currency: 'JPY' } }, 'adjustment.credit.amount'],
      [{ debit: { amount: '1.50', currency: 'JPY' } }, 'adjustment.debit.amount'],
      [{ debit: usd('1.00') }, 'adjustment.debit.currency'],
      [{ reason: ' ' }, 'adjustment.reason'],
      [{ reason: 'x'.repeat(201) }, 'adjustment.reason'],
      [{ accountId: unknownId('account') }, 'adjustment.account_id'],
    ];
    for (const [more, field] of wrong) {
      const reply = await ask(propose, input(more));
      expect([more, reply.fieldNames]).toEqual([more, [field]]);
    }
    for (const decide of [approve, reject])
      expect((await ben.ask(decide, { input: { id: 'adjustment_0' } })).fieldNames).toEqual(['adjustment.id']);
    expect(await count()).toBe(before);
  });

  it('is made once for an idempotency key', async () => {
    const key = { 'idempotency-key': nickname() };
    const [one, two] = [await ask(propose, input(), key), await ask(propose, input(), key)];
    expect(two.body.data).toEqual(one.body.data);
    const other = await ask(propose, input({ credit: usd('11.00') }), key);
    expect(other.codes).toEqual(['idempotency_key_reused']);
  });
});

describe('the test helper of adjustments', () => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
  });
  const body = (more: object = {}) => ({
    ...{ account_id: user.id, credit: usd('100.00'), reason: 'Sandbox', ...more },
  });
  const make = (more: object = {}) => user.post('/v1/test_helpers/adjustments', body(more));

  it('adjusts a balance at once, over both APIs', async () => {
    const made = await make();
    expect([made.status, made.body.object, made.body.credit]).toEqual([200, 'adjustment', usd('100.00')]);
    const query = `mutation ($input: CreateTestAdjustmentInput!) {
      createTestAdjustment(input: $input) {
        adjustment { credit { amount currency } debit { amount currency } accountId } } }`;
    const credit = { amount: '900.00', currency: 'INR' };
    const input = { accountId: user.id, debit: usd('10.00'), credit, reason: 'Conversion' };
    expect((await user.graph(query, { input })).body.data.createTestAdjustment.adjustment).toEqual({
      ...{ credit, debit: usd('10.00'), accountId: user.id },
    });
    expect(await available(user)).toEqual([
      { amount: '900.00', currency: 'INR' },
      { amount: '90.00', currency: 'USD' },
    ]);
  });

  it('refuses what the service would refuse', async () => {
    const partner = await user.partner();
    const wrong: [object, number, string, string | undefined][] = [
      [{ credit: usd('0.00') }, 400, 'parameter_invalid', 'adjustment.credit.amount'],
      [{ account_id: partner.id }, 400, 'parameter_invalid', 'adjustment.account_id'],
      [{ account_id: unknownId('account') }, 404, 'resource_missing', 'adjustment.account_id'],
      [{ credit: undefined, debit: usd('90.01') }, 402, 'balance_insufficient', undefined],
    ];
    for (const [more, status, code, field] of wrong) {
      const reply = await make(more);
      expect([more, reply.status, reply.codes, reply.fieldNames]).toEqual([more, status, [code], [field]]);
    }
    const payment = (await user.get('/v1/payments')).body.data.find(({ type }: Json) => type !== 'adjustment');
    expect(payment).toBeUndefined();
    expect((await user.get('/v1/payments/payment_0/adjustment')).status).toBe(404);
  });

  it('refuses an amount with which a balance would be greater than can be stored', async () => {
    const largest = '9223372036854775807';
    const set = (value: string) =>
      world.sql`update balance set available = ${value}, pending = ${value}
        where account_id = ${user.id} and not livemode and currency = 'USD'`;
    const [{ available: before }] = (await world.sql`select available from balance
      where account_id = ${user.id} and not livemode and currency = 'USD'`) as unknown as [{ available: string }];
    const { id } = (await user.post('/v1/deposits', { amount: '1.00', currency: 'USD' })).body;
    await set(largest);
    const postings = await world.sql`select count(*) from posting`;
    const refused = [await make(), await user.post(`/v1/test_helpers/deposits/${id}/complete`)];
    expect(await world.sql`select count(*) from posting`).toEqual(postings);
    await world.sql`update balance set available = ${before}, pending = 0
      where account_id = ${user.id} and not livemode and currency = 'USD'`;
    for (const { status, codes, body } of refused) {
      expect([status, codes]).toEqual([400, ['parameter_invalid']]);
      expect(body.errors[0].message).toContain('greater than what can be stored');
    }
    await must(make({ credit: usd('1.00') }));
  });
});
