import { beforeAll, describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { unknownId } from '../support/bodies.js';
import { runJobs } from '../support/jobs.js';
import {
  givenIn,
  must,
  nickname,
  payoutAddress,
  type Reply,
  type Speaker,
  transports,
  useWorld,
} from '../support/world.js';
import { created, update, withdraw } from './receivable-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

/** Deposits the amount and counts it towards the receivable. */
async function locked(user: Speaker, receivable: { id: string }, amount: string): Promise<string> {
  const deposit = (await user.post('/v1/deposits', { amount, currency: 'USD' })).body;
  expect((await user.post(`/v1/test_helpers/deposits/${deposit.id}/complete`)).status).toBe(200);
  const receivables = [{ id: receivable.id, amount }];
  expect((await user.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables })).status).toBe(200);
  return deposit.id;
}

/** Pays out the available money, and settles the payout. */
async function paidOut(user: Speaker): Promise<void> {
  await payoutAddress(user);
  await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
  await runJobs(user);
  const [payout] = (await user.get('/v1/payouts?status=processing')).body.data;
  expect((await user.post(`/v1/test_helpers/payouts/${payout.id}/settle`)).status).toBe(200);
}

describe.each(transports)('updating a receivable over %s', (transport) => {
  it('returns the complete receivable, with only the sent fields changed', async () => {
    const user = await given.directUser(1);
    const made = await created(user, { description: 'October', metadata: { a: '1', b: '2' } });

    const described = await update(user, transport, made.id, { description: 'November' });
    expect([described.status, described.receivable]).toEqual([200, { ...made, description: 'November' }]);
    const merged = await update(user, transport, made.id, { metadata: { a: '', c: '3' } });
    expect(merged.receivable).toEqual({ ...made, description: 'November', metadata: { b: '2', c: '3' } });
    const unset = await update(user, transport, made.id, { metadata: null, description: null });
    expect(unset.receivable).toEqual({ ...made, description: null, metadata: {} });
    const nothing = await update(user, transport, made.id, {});
    expect([nothing.status, nothing.receivable]).toEqual([200, unset.receivable]);
  });

  // The project's choice where the specification is silent: an empty text unsets an optional parameter, as null does.
  it('unsets the description with an empty text', async () => {
    const user = await given.directUser(1);
    const made = await created(user, { description: 'October' });
    expect((await update(user, transport, made.id, { description: '' })).receivable.description).toBeNull();
  });

  it('applies the limits of metadata to the merged result', async () => {
    const user = await given.directUser(1);
    const ten = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, 'v']));
    const made = await created(user, { metadata: ten });
    const eleventh = await update(user, transport, made.id, { metadata: { more: 'v' } });
    expect([eleventh.status, eleventh.codes, eleventh.fieldNames]).toEqual([
      400,
      ['parameter_invalid'],
      ['receivable.metadata'],
    ]);
    const swapped = await update(user, transport, made.id, { metadata: { k0: null, more: 'v' } });
    expect(Object.keys(swapped.receivable.metadata)).toHaveLength(10);
    const long = await update(user, transport, made.id, { metadata: { ['k'.repeat(41)]: 'v', k1: 'v'.repeat(501) } });
    expect([long.status, long.fieldNames.toSorted()]).toEqual([
      400,
      [`receivable.metadata.${'k'.repeat(41)}`, 'receivable.metadata.k1'].toSorted(),
    ]);
  });

  it('raises the maximum up to the invoice, and lowers it down to what is locked and settled', async () => {
    const user = await given.directUser(1);
    const made = await created(user, { amount_maximum_reconcilable: '50.00' });
    const to = (amount: string) => update(user, transport, made.id, { amount_maximum_reconcilable: amount });

    const raised = await to('100.00');
    expect([raised.status, raised.receivable.amount_reconcilable]).toEqual([200, '100.00']);
    const beyond = await to('100.01');
    expect([beyond.status, beyond.codes, beyond.fieldNames]).toEqual([
      402,
      ['amount_exceeds_reconcilable'],
      ['receivable.amount_maximum_reconcilable'],
    ]);

    // 20.00 settled and 10.00 locked.
    await locked(user, made, '20.00');
    await paidOut(user);
    const deposit = await locked(user, made, '10.00');
    const below = await to('29.99');
    expect([below.status, below.codes, below.fieldNames]).toEqual([
      402,
      ['amount_exceeds_reconcilable'],
      ['receivable.amount_maximum_reconcilable'],
    ]);
    const lowered = await to('30.00');
    expect(lowered.receivable).toEqual({
      ...made,
      ...{ amount_maximum_reconcilable: '30.00', amount_reconcilable: '0.00' },
      ...{ amount_locked: '10.00', amount_settled_payouts: '20.00' },
      ...{ deposit_ids_amount_locked: [deposit], status: 'locked' },
    });
    expect((await to('30.01')).receivable.status).toBe('open');
  });

  it('refuses a maximum that is not an amount', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    for (const [amount, code] of [
      ['0.00', 'parameter_invalid'],
      ['-1.00', 'parameter_invalid'],
      ['1.5', 'parameter_invalid'],
      [null, 'parameter_invalid_empty'],
    ] as const) {
      const reply = await update(user, transport, made.id, { amount_maximum_reconcilable: amount });
      expect([amount, reply.status, reply.codes, reply.fieldNames]).toEqual([
        amount,
        400,
        [code],
        ['receivable.amount_maximum_reconcilable'],
      ]);
    }
  });

  it('names a wrong maximum beside other wrong parameters, before the receivable is looked for', async () => {
    const user = await given.directUser(1);
    for (const amount of ['0.00', null]) {
      const changes = { amount_maximum_reconcilable: amount, description: 'a'.repeat(5_001) };
      const { status, fieldNames } = await update(user, transport, unknownId('receivable'), changes);
      expect([status, fieldNames.toSorted()]).toEqual([
        400,
        ['receivable.amount_maximum_reconcilable', 'receivable.description'],
      ]);
    }
  });

  it('returns 404 to other tenants, and so does the void', async () => {
    const platform = await given.platform(1);
    const [user, other, outsider] = await Promise.all([
      platform.connectedUser(),
      platform.connectedUser(),
      given.directUser(1),
    ]);
    const made = await created(user);
    for (const [speaker, id] of [
      [other, made.id],
      [outsider, made.id],
      [user, unknownId('receivable')],
    ] as const) {
      for (const reply of [
        await update(speaker, transport, id, { description: 'x' }),
        await withdraw(speaker, transport, id),
      ])
        expect([reply.status, reply.codes, reply.fieldNames]).toEqual([404, ['resource_missing'], ['receivable.id']]);
      expect((await speaker.get(`/v1/receivables/${id}`)).status).toBe(404);
    }
    const byPlatform = await update(platform, transport, made.id, { description: 'x' });
    expect([byPlatform.status, byPlatform.receivable]).toEqual([200, { ...made, description: 'x' }]);
  });

  it('loses no metadata key when many requests update at once', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    const keys = Array.from({ length: 10 }, (_, i) => `k${i}`);
    const mutation =
      'mutation ($input: UpdateReceivableInput!) { updateReceivable(input: $input) { receivable { id } } }';
    await Promise.all(
      keys.map((key) =>
        transport === 'REST'
          ? user.post(`/v1/receivables/${made.id}`, { metadata: { [key]: key } })
          : user.graph(mutation, { input: { id: made.id, metadata: { [key]: key } } }),
      ),
    );
    expect((await user.get(`/v1/receivables/${made.id}`)).body.metadata).toEqual(
      Object.fromEntries(keys.map((key) => [key, key])),
    );
  });

  it('never lowers the maximum below a lock that is made at the same time', async () => {
    const user = await given.directUser(1);
    for (let round = 0; round < 5; round++) {
      const made = await created(user);
      const deposit = (await user.post('/v1/deposits', { amount: '60.00', currency: 'USD' })).body;
      await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/complete`));
      const receivables = [{ id: made.id, amount: '60.00' }];

      const [lock, lower] = await Promise.all([
        user.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables }),
        update(user, transport, made.id, { amount_maximum_reconcilable: '50.00' }),
      ]);

      expect([lock.status, lower.status].toSorted()).toEqual([200, 402]);
    }
  });
});

describe.each(transports)('the status of a receivable over %s', (transport) => {
  it('is open, locked when nothing can be reconciled any more, and settled when all of it is paid out', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    const look = async () => {
      const r = (await user.get(`/v1/receivables/${made.id}`)).body;
      return [
        r.status,
        r.amount_locked,
        r.amount_settled_payouts,
        r.amount_reconcilable,
        r.deposit_ids_amount_locked.toSorted(),
      ];
    };
    expect(await look()).toEqual(['open', '0.00', '0.00', '100.00', []]);
    const first = await locked(user, made, '99.99');
    expect(await look()).toEqual(['open', '99.99', '0.00', '0.01', [first]]);
    const second = await locked(user, made, '0.01');
    expect(await look()).toEqual(['locked', '100.00', '0.00', '0.00', [first, second].toSorted()]);
    // A dispute opens it again; another deposit replaces the disputed one.
    await must(user.post(`/v1/test_helpers/deposits/${second}/dispute`, {}));
    expect(await look()).toEqual(['open', '99.99', '0.00', '0.01', [first]]);
    const third = await locked(user, made, '0.01');
    expect(await look()).toEqual(['locked', '100.00', '0.00', '0.00', [first, third].toSorted()]);
    await paidOut(user);
    expect(await look()).toEqual(['settled', '0.00', '100.00', '0.00', []]);

    // It has been paid, so it can neither be withdrawn nor take more.
    const voided = await withdraw(user, transport, made.id);
    expect([voided.status, voided.codes]).toEqual([400, ['status_invalid']]);
    expect(await look()).toEqual(['settled', '0.00', '100.00', '0.00', []]);
  });

  it('is settled too when the maximum is lowered to what was paid out', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    await locked(user, made, '40.00');
    await paidOut(user);
    expect((await user.get(`/v1/receivables/${made.id}`)).body.status).toBe('open');
    const { receivable } = await update(user, transport, made.id, { amount_maximum_reconcilable: '40.00' });
    expect([receivable.status, receivable.amount_settled_payouts]).toEqual(['settled', '40.00']);
  });

  it('is void after it is withdrawn with nothing locked or settled, once and permanently', async () => {
    const user = await given.directUser(1);
    const made = await created(user, { description: 'October' });

    const first = await withdraw(user, transport, made.id);

    const { amount_reconcilable: _, ...rest } = made;
    expect([first.status, first.receivable]).toEqual([200, expect.objectContaining({ ...rest, status: 'void' })]);
    const again = await withdraw(user, transport, made.id);
    expect([again.status, again.codes]).toEqual([400, ['status_invalid']]);
    const raised = await update(user, transport, made.id, { amount_maximum_reconcilable: '50.00' });
    expect([raised.status, raised.codes]).toEqual([400, ['status_invalid']]);
    const described = await update(user, transport, made.id, { description: 'kept' });
    expect([described.status, described.receivable.description]).toEqual([200, 'kept']);
  });

  it('is not void while something is locked, and can be after a dispute has freed it', async () => {
    const user = await given.directUser(1);
    const made = await created(user);
    const deposit = await locked(user, made, '0.01');
    const refused = await withdraw(user, transport, made.id);
    expect([refused.status, refused.codes]).toEqual([400, ['status_invalid']]);
    await must(user.post(`/v1/test_helpers/deposits/${deposit}/reverse`, {}));
    expect((await withdraw(user, transport, made.id)).receivable.status).toBe('void');
  });

  it('is either void or locked when both are requested at the same time', async () => {
    const user = await given.directUser(1);
    for (let round = 0; round < 5; round++) {
      const made = await created(user);
      const deposit = (await user.post('/v1/deposits', { amount: '10.00', currency: 'USD' })).body;
      await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/complete`));
      const receivables = [{ id: made.id, amount: '10.00' }];

      const [lock, voided] = await Promise.all([
        user.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables }),
        withdraw(user, transport, made.id),
      ]);

      expect([lock.status, voided.status].toSorted()).toEqual([200, 400]);
      expect((await user.get(`/v1/receivables/${made.id}`)).body).toMatchObject(
        lock.status === 200 ? { status: 'open', amount_locked: '10.00' } : { status: 'void', amount_locked: '0.00' },
      );
    }
  });
});

describe('the list of receivables', () => {
  let platform: Speaker;
  let user: Speaker;
  let ids: Record<string, string>;
  beforeAll(async () => {
    platform = await given.platform(1);
    user = await platform.connectedUser();
    const make = async (more: object, invoice: object = {}) => (await created(user, more, invoice)).id as string;
    ids = {
      services: await make({}),
      goods: await make({ transaction_type: 'goods' }),
      euros: await make({ currency: 'EUR' }, { currency: 'EUR' }),
      voided: await make({}),
      platform: (await created(platform)).id,
    };
    await must(user.post(`/v1/receivables/${ids.voided}/void`));
  });

  const filters: [query: string, names: string[]][] = [
    ['', ['euros', 'goods', 'services', 'voided']],
    ['?status=open', ['euros', 'goods', 'services']],
    ['?status=void', ['voided']],
    ['?status=void&status=open', ['euros', 'goods', 'services', 'voided']],
    ['?status=settled,locked', []],
    ['?transaction_type=goods', ['goods']],
    ['?currency=EUR', ['euros']],
    ['?currency[]=EUR&currency[]=USD&status=open', ['euros', 'goods', 'services']],
    ['?created.gt=99999999999', []],
    ['?created.gte=1', ['euros', 'goods', 'services', 'voided']],
  ];
  it.each(filters)('of a user, filtered by "%s"', async (query, names) => {
    const reply = await user.get(`/v1/receivables${query}`);
    expect([reply.status, reply.body.object, reply.body.has_next]).toEqual([200, 'list', false]);
    expect(reply.body.data.map((r: any) => r.id).toSorted()).toEqual(names.map((name) => ids[name]!).toSorted());
  });

  it("shows a platform its own and its connected users', those of one by account_id, and others none", async () => {
    const idsOf = async (speaker: Speaker, query = '') =>
      (await speaker.get(`/v1/receivables${query}`)).body.data.map((r: any) => r.id).toSorted();
    const { platform: own, ...others } = ids;

    expect(await idsOf(platform)).toEqual(Object.values(ids).toSorted());
    expect(await idsOf(platform, `?account_id=${platform.id}`)).toEqual([own]);
    expect(await idsOf(platform, `?account_id=${user.id}`)).toEqual(Object.values(others).toSorted());
    expect(await idsOf(platform.actingFor(user.id))).toEqual(Object.values(others).toSorted());
    expect(await idsOf(user, `?account_id=${platform.id}`)).toEqual([]);
    expect(await idsOf(await given.directUser(1))).toEqual([]);
  });

  it('refuses invalid filters', async () => {
    for (const [query, field] of [
      ['?status=paid', 'status'],
      ['?transaction_type=both', 'transaction_type'],
      ['?currency=dollars', 'currency'],
      ['?limit=11', 'limit'],
      ['?colour=red', 'colour'],
      [`?starting_after=${unknownId('receivable')}`, 'starting_after'],
    ] as const) {
      const reply = await user.get(`/v1/receivables${query}`);
      expect([query, reply.status, reply.fieldNames]).toEqual([query, 400, [`receivable.${field}`]]);
    }
  });

  it('pages without repeating or missing any', async () => {
    const speaker = await given.directUser(1);
    const made = new Set<string>();
    for (let n = 0; n < 7; n++) made.add((await created(speaker, {}, { reference_number: nickname() })).id);
    const seen: string[] = [];
    for (let path: string | undefined = '/v1/receivables?limit=3'; path; ) {
      const { body }: Reply = await speaker.get(path);
      seen.push(...body.data.map((r: any) => r.id));
      path = body.has_next ? `/v1/receivables?limit=3&starting_after=${seen.at(-1)}` : undefined;
    }
    expect([seen.length, new Set(seen)]).toEqual([7, made]);
  });
});
