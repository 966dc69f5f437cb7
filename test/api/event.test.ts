import pino from 'pino';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { Database } from '../../src/db/database.js';
import { Worker } from '../../src/jobs/runner.js';
import { pdf, receivableBody, unknownId } from '../support/bodies.js';
import { runJobs } from '../support/jobs.js';
import {
  details,
  eventually,
  givenIn,
  must,
  nickname,
  payoutAddressBody,
  type Reply,
  type Speaker,
  tenantOf,
  useWorld,
} from '../support/world.js';
import { issueAddress, verifyAccount } from '../../src/operator/account/accounts.js';
import { setServiceHold } from '../../src/operator/money/payouts.js';
import { recordBankNotice } from '../../src/operator/money/bank.js';

const world = useWorld();
const given = givenIn(world);
// Without a worker, so that the sandbox changes nothing before a test does; `number` and `once` do a worker's work.
const quiet = useWorld({ worker: false });
const there = givenIn(quiet);

auditLedger(world, quiet);

const number = (root: Speaker) => quiet.database.call('number_events', [tenantOf(root), false, 500]);
const once = (root: Speaker) => runJobs(root);

interface ListedEvent {
  id: string;
  type: string;
  number: number;
  objectId: string;
  requestId: string | null;
  object: any;
}

/** All events on the client's list, oldest first. */
async function eventsOf(speaker: Speaker, filter = ''): Promise<ListedEvent[]> {
  const all: ListedEvent[] = [];
  for (let after = ''; ; after = `, after: "${all.at(-1)!.id}"`) {
    const { body } = await speaker.graph(
      `{ events(first: 100${after}${filter && `, ${filter}`}) { nodes { id type number objectId requestId ` +
        'object } pageInfo { hasNextPage } } }',
    );
    expect(body.errors).toBeUndefined();
    all.push(...body.data.events.nodes);
    if (!body.data.events.pageInfo.hasNextPage) return all.reverse();
  }
}

/** The events of one object, oldest first; waits until the given number exists. */
const eventsOfObject = (speaker: Speaker, id: string, least = 1) =>
  eventually(
    () => eventsOf(speaker, `objectId: "${id}"`),
    (events) => events.length >= least,
  );

/** A second worker with its own database connections, like another process. */
function secondWorker() {
  const { database } = world.sql.options;
  const store = new Database({ ...inject('admin'), username: 'tidegate', database });
  const worker = new Worker(store, pino({ level: 'silent' }));
  worker.start();
  return async () => {
    await worker.stop();
    await store.close();
  };
}

describe('an event', () => {
  it('has exactly these keys, and the object as it was at that time', async () => {
    const user = await given.directUser(1);
    const created = await must(user.post('/v1/receivables', receivableBody()));
    const updated = await must(user.post(`/v1/receivables/${created.id}`, { description: 'November' }));
    const voided = await must(user.post(`/v1/receivables/${created.id}/void`));
    await eventsOfObject(user, created.id, 3);

    const { status, body } = await user.get(`/v1/events?object_id=${created.id}`);

    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'list',
      data: [
        ['receivable.voided', voided],
        ['receivable.updated', updated],
        ['receivable.created', created],
      ].map(([type, object]) => ({
        id: expect.stringMatching(/^event_[0-9a-f]{32}$/),
        object: 'event',
        created: expect.any(Number),
        livemode: false,
        type,
        account_id: user.id,
        number: expect.any(Number),
        data: { object },
      })),
      has_next: false,
    });
    const [event] = body.data;
    expect(Object.keys(event)).toEqual('id object created livemode type account_id number data'.split(' '));
    expect(Object.keys(event.data.object)).toEqual(Object.keys(voided));
    expect((await user.get(`/v1/events/${event.id}`)).body).toEqual(event);
    const graph = await user.graph(`{ node(id: "${event.id}") { ... on Event { type livemode objectId object } } }`);
    expect(graph.body.data.node).toEqual({
      ...{ type: 'receivable.voided', livemode: false, objectId: created.id, object: voided },
    });
  });

  it('has amounts exact to the cent that a floating-point number cannot represent', async () => {
    const user = await there.directUser(1);
    await must(user.post('/v1/addresses', payoutAddressBody(user.id)));
    const amount = '9999999999999.99';
    const deposit = await must(user.post('/v1/deposits', { amount, currency: 'USD' }));
    await must(user.post(`/v1/test_helpers/deposits/${deposit.id}/complete`));
    const receivable = await must(user.post('/v1/receivables', receivableBody({ amount })));
    const receivables = [{ id: receivable.id, amount }];
    await must(user.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables }));
    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    await once(user);
    const [sent] = (await user.get('/v1/payouts')).body.data;
    const payout = await must(user.post(`/v1/test_helpers/payouts/${sent.id}/settle`));
    // 83 rupees for each dollar: 9999999999999.99 × 83.
    expect(payout.amount).toBe('829999999999999.17');

    await number(user);
    const events = await eventsOf(user, `objectId: "${payout.id}"`);

    expect(events.map((e) => [e.type, e.object])).toEqual([
      ['payout.processing', sent],
      ['payout.completed', payout],
    ]);
    const ofDeposit = await eventsOf(user, `objectId: "${deposit.id}"`);
    expect(ofDeposit.map((e) => e.object.amount)).toEqual(ofDeposit.map(() => amount));
  });

  it('never contains a secret', async () => {
    const user = await given.directUser(1);
    const { body } = await user.graph('mutation { createApiKey(input: {}) { secret apiKey { id } } }');
    const { secret, apiKey } = body.data.createApiKey;
    const [event] = await eventsOfObject(user, apiKey.id);
    expect([event!.type, event!.object.id]).toEqual(['api_key.created', apiKey.id]);
    const [row] = await world.sql`select digest from api_key where id = ${apiKey.id}`;
    const [kept] = await world.sql`select data::text from event where object_id = ${apiKey.id}`;
    for (const text of [JSON.stringify(event), kept!.data]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(row!.digest);
    }
  });
});

// Each write of the product: its caller and its response in the format of /v1.
const personOf = (user: { id: string }) => ({
  ...{ account_id: user.id, full_name: 'Asha Rao', relationship: { owner: true } },
  identification: { tax_card_number: 'ABCPE1234F' },
});
interface Stage {
  platform: Speaker;
  user: Speaker;
  direct: Speaker;
}
type Write = (stage: Stage) => Promise<Reply>;

const deposited = async (speaker: Speaker, ...verbs: string[]) => {
  let deposit = await must(speaker.post('/v1/deposits', { amount: '10.00', currency: 'USD' }));
  for (const verb of verbs) deposit = await must(speaker.post(`/v1/test_helpers/deposits/${deposit.id}/${verb}`));
  return deposit;
};
const onDeposit =
  (verb: string, before: string[], body?: object): Write =>
  async ({ direct }) =>
    direct.post(`/v1/test_helpers/deposits/${(await deposited(direct, ...before)).id}/${verb}`, body);

const writes: Record<string, Write> = {
  'creating an account': ({ direct }) =>
    direct.post('/v1/accounts', { type: 'partner', nickname: nickname(), business_details: details() }),
  'updating an account': ({ platform, user }) =>
    platform.post(`/v1/accounts/${user.id}`, { business_details: { dba: 'Looms' } }),
  'activating an account': async ({ direct }) => direct.post(`/v1/accounts/${(await direct.partner()).id}/activate`),
  'deactivating an account': async ({ direct }) =>
    direct.post(`/v1/accounts/${(await direct.partner()).id}/deactivate`),
  'updating a setting': async ({ direct }) => {
    const { body } = await direct.get('/v1/account_settings');
    return direct.post(`/v1/account_settings/${body.data[0].id}`, { metadata: { a: 'b' } });
  },
  'creating an address': ({ direct }) => direct.post('/v1/addresses', payoutAddressBody(direct.id)),
  'updating an address': async ({ direct }) => {
    const { body } = await direct.get('/v1/addresses?category=service_receive');
    return direct.post(`/v1/addresses/${body.data[0].id}`, { metadata: { a: 'b' } });
  },
  'creating a person': ({ platform, user }) => platform.post('/v1/persons', personOf(user)),
  'updating a person': async ({ platform, user }) => {
    const { id } = await must(platform.post('/v1/persons', personOf(user)));
    return platform.post(`/v1/persons/${id}`, { full_name: 'Asha R. Rao' });
  },
  'removing a person': async ({ platform, user }) => {
    const { id } = await must(platform.post('/v1/persons', personOf(user)));
    return platform.post(`/v1/persons/${id}/remove`);
  },
  'uploading a file': ({ direct }) => direct.upload('invoice', pdf),
  'creating a deposit': ({ direct }) => direct.post('/v1/deposits', { amount: '10.00', currency: 'USD' }),
  'processing a deposit': onDeposit('process', []),
  'completing a deposit': onDeposit('complete', ['process']),
  'failing a deposit': onDeposit('fail', ['process'], { reason_code: 'general' }),
  'cancelling a deposit': onDeposit('cancel', []),
  'reversing a deposit': onDeposit('reverse', ['complete']),
  'disputing a deposit': onDeposit('dispute', ['complete'], { amount: '1.00' }),
  'reconciling a deposit': async ({ direct }) => {
    const receivable = await must(direct.post('/v1/receivables', receivableBody()));
    const { id } = await deposited(direct, 'complete');
    return direct.post(`/v1/deposits/${id}/reconcile`, { receivables: [{ id: receivable.id, amount: '10.00' }] });
  },
  'creating a receivable': ({ direct }) => direct.post('/v1/receivables', receivableBody()),
  'updating a receivable': async ({ direct }) => {
    const { id } = await must(direct.post('/v1/receivables', receivableBody()));
    return direct.post(`/v1/receivables/${id}`, { amount_maximum_reconcilable: '50.00' });
  },
  'voiding a receivable': async ({ direct }) => {
    const { id } = await must(direct.post('/v1/receivables', receivableBody()));
    return direct.post(`/v1/receivables/${id}/void`);
  },
  'verifying an account': async ({ direct }) => {
    const partner = await direct.partner();
    await must(direct.post(`/v1/accounts/${partner.id}/activate`));
    return direct.post(`/v1/test_helpers/accounts/${partner.id}/verify`, { outcome: 'hold' });
  },
  'closing an account': async ({ direct }) =>
    direct.post(`/v1/test_helpers/accounts/${(await direct.partner()).id}/deactivate`),
  'expiring an address': async ({ direct }) => {
    const { id } = await must(direct.post('/v1/addresses', payoutAddressBody(direct.id)));
    return direct.post(`/v1/test_helpers/addresses/${id}/expire`);
  },
  'deactivating an address': async ({ direct }) => {
    const { id } = await must(direct.post('/v1/addresses', payoutAddressBody(direct.id)));
    return direct.post(`/v1/test_helpers/addresses/${id}/deactivate`);
  },
};
/** The account whose list shows the events; all others are on the direct user's list. */
const ofPlatform = ['updating an account', 'creating a person', 'updating a person', 'removing a person'];

describe('each write records its event', () => {
  let stage: Stage;
  beforeAll(async () => {
    const platform = await there.platform(1);
    stage = { platform, user: await platform.connectedUser(), direct: await there.directUser(1) };
  });

  it.each(Object.entries(writes))('%s', async (name, write) => {
    const reply = await write(stage);
    expect([reply.status, reply.codes]).toEqual([200, []]);
    const requestId = reply.headers.get('request-id');
    const speaker = ofPlatform.includes(name) ? stage.platform : stage.direct;

    await number(speaker);
    const events = (await eventsOf(speaker, `objectId: "${reply.body.id}"`)).filter((e) => e.requestId === requestId);

    // The event has the id of the request that caused it, and the returned object as the write left it.
    const last = events.at(-1);
    expect(last?.object).toEqual(reply.body);
    expect(last?.type).toMatch(new RegExp(`^${reply.body.object}\\.[a-z_]+$`));
  });

  it('by mutations that /v1 does not have, too', async () => {
    const platform = await given.platform(1);
    const made = await platform.graph(
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }',
      { input: { nickname: nickname() } },
    );
    const { id } = made.body.data.createConnectedUser.account;
    expect((await eventsOfObject(platform, id)).map((e) => [e.type, e.requestId])).toEqual([
      ['account.created', made.headers.get('request-id')],
    ]);
    const created = await platform.graph('mutation { createApiKey(input: {}) { apiKey { id } } }');
    const key = created.body.data.createApiKey.apiKey.id;
    const revoked = await platform.graph(`mutation { revokeApiKey(input: { id: "${key}" }) { apiKey { id } } }`);
    expect(revoked.body.errors).toBeUndefined();
    expect((await eventsOfObject(platform, key, 2)).map((e) => e.requestId)).toEqual([
      created.headers.get('request-id'),
      revoked.headers.get('request-id'),
    ]);
  });

  it('and so does what the service does by itself, without a request', async () => {
    const direct = await given.directUser(1);
    const partner = await direct.partner();
    await must(direct.post(`/v1/accounts/${partner.id}/activate`));
    const deposit = await must(direct.post('/v1/deposits', { amount: '1.00', currency: 'USD' }));

    const ofDeposit = await eventsOfObject(direct, deposit.id, 3);
    expect(ofDeposit.map((e) => [e.type, e.requestId === null])).toEqual([
      ['deposit.initialized', false],
      ['deposit.processing', true],
      ['deposit.completed', true],
    ]);
    expect(ofDeposit.map((e) => e.object.status)).toEqual(['initialized', 'processing', 'completed']);
    const ofPartner = await eventually(
      () => eventsOf(direct, `objectId: "${partner.id}"`),
      (events) => events.at(-1)?.object.address === 'activated',
    );
    expect(ofPartner.map((e) => [e.object.status, e.object.address])).toEqual([
      ['draft', 'deactivated'],
      ['verifying', 'deactivated'],
      ['activated', 'requested'],
      ['activated', 'processing'],
      ['activated', 'activated'],
    ]);
  });

  it('and so does the operator, in live mode', async () => {
    const { account, live } = await given.directUserBoth(1);
    const row = await world.operator.account(account.id, true);
    await verifyAccount(world.operator, row, 'activated');
    const setting = await setServiceHold(world.operator, row, true);
    const address = await issueAddress(world.operator, row, {
      ...{ category: 'service_receive', currency: 'USD', bankAccount: { number: '123456789' } },
    });
    const { deposit } = await recordBankNotice(world.operator, {
      ...{ reference: 'B1', event: 'received', addressId: address.id, amount: 100n, currency: 'USD' },
    });
    // The last event of an object is visible once all events have numbers; one write may have several events.
    await eventually(
      () => world.sql`select from event where tenant_id = ${tenantOf(live)} and livemode and number is null limit 1`,
      (rows) => rows.length === 0,
    );
    const lastOf = async (id: string) => (await eventsOfObject(live, id)).at(-1)!;
    expect((await lastOf(account.id)).object).toEqual((await live.get(`/v1/accounts/${account.id}`)).body);
    expect((await lastOf(setting.id)).object).toEqual((await live.get(`/v1/account_settings/${setting.id}`)).body);
    expect((await lastOf(address.id)).object).toEqual((await live.get(`/v1/addresses/${address.id}`)).body);
    const completed = await lastOf(deposit!.id);
    expect([completed.type, completed.object]).toEqual([
      'deposit.completed',
      (await live.get(`/v1/deposits/${deposit!.id}`)).body,
    ]);
  });

  it('of the test clock, on the lists of its root, for every caller that advanced it', async () => {
    const [platform, outsider] = await Promise.all([there.platform(1), there.platform(1)]);
    const user = await platform.connectedUser();
    const first = await must(platform.post('/v1/test_helpers/clock', { advance_seconds: 60 }));
    const second = await must(user.post('/v1/test_helpers/clock', { advance_seconds: 30 }));
    await number(platform);

    const { body } = await platform.get('/v1/events?type=clock.advanced');
    expect(body.data.map((e: any) => e.data.object)).toEqual([second, first]);
    expect(Object.keys(body.data[0].data.object)).toEqual('object livemode now offset_seconds'.split(' '));
    // Its time is the new time of the clock.
    const [clock] = await quiet.sql`select clock(${tenantOf(platform)}, false) as now`;
    expect(body.data[0].created).toBeGreaterThanOrEqual(second.now);
    expect(body.data[0].created).toBeLessThanOrEqual(Number(clock!.now));
    expect(await eventsOf(platform, `objectId: "${platform.id}", type: ["clock.advanced"]`)).toHaveLength(2);
    for (const other of [user, outsider])
      expect((await other.get('/v1/events?type=clock.advanced')).body.data).toEqual([]);
  });

  it('but not if it is refused, changes nothing, or only repeats a response', async () => {
    const direct = await given.directUser(1);
    const key = { 'idempotency-key': nickname() };
    const body = receivableBody();
    const created = await must(direct.post('/v1/receivables', body, key));
    const again = await direct.post('/v1/receivables', body, key);
    expect([again.headers.get('idempotent-replayed'), again.body]).toEqual(['true', created]);
    const path = `/v1/receivables/${created.id}`;
    expect((await direct.post(path, { amount_maximum_reconcilable: '100.01' })).status).toBe(402);
    expect((await direct.post(path, {})).status).toBe(200);
    expect((await direct.post('/v1/receivables', {})).status).toBe(400);
    const last = await must(direct.post(`${path}/void`));
    const events = (await eventsOfObject(direct, created.id, 2)).map((e) => [e.type, e.object]);
    expect(events).toEqual([
      ['receivable.created', created],
      ['receivable.voided', last],
    ]);
    const others = await eventsOf(direct, 'type: ["receivable.created"]');
    expect(others).toHaveLength(1);
  });
});

describe('the numbers of events', () => {
  it('are dense per tenant and mode, with eight writers and two workers, and a follower misses none', async () => {
    const stop = secondWorker();
    const both = await Promise.all([given.directUserBoth(1), given.directUserBoth(1)]);
    const [{ test: user, live }, { test: other }] = both as [(typeof both)[0], (typeof both)[0]];
    let writing = true;

    // Follows as a client would: starts at the oldest event, and always queries those after the last known one.
    const follow = async (): Promise<string[]> => {
      const first = await eventually(
        () => user.get('/v1/events'),
        ({ body }) => body.data.length > 0,
      );
      let { data, has_next } = first.body;
      while (has_next) ({ data, has_next } = (await user.get(`/v1/events?starting_after=${data.at(-1).id}`)).body);
      const known: string[] = [data.at(-1).id];
      for (;;) {
        const last = !writing;
        const { body } = await user.get(`/v1/events?ending_before=${known.at(-1)}`);
        known.push(...body.data.map((e: any) => e.id).reverse());
        if (body.data.length > 0) continue;
        if (last) return known;
        await new Promise((resume) => setTimeout(resume, 50));
      }
    };
    const following = follow();

    const writer = async (n: number) => {
      for (let i = 0; i < 6; i++) {
        const receivable = await must(user.post('/v1/receivables', receivableBody()));
        await must(user.post(`/v1/receivables/${receivable.id}`, { metadata: { n: `${n}` } }));
        await must(user.post(`/v1/receivables/${receivable.id}/void`));
        await must(user.post('/v1/deposits', { amount: '1.00', currency: 'USD' }));
        if (i % 3 === 0) await must(other.post('/v1/receivables', receivableBody()));
        if (i % 3 === 1) await live.graph('mutation { createApiKey(input: {}) { secret } }');
      }
    };
    try {
      await Promise.all(Array.from({ length: 8 }, (_, n) => writer(n)));
      // The sandbox has completed all deposits, and all events exist.
      await eventually(
        () => world.sql`select id from job union all select id from event where number is null`,
        (left) => left.length === 0,
      );
    } finally {
      writing = false;
    }
    const known = await following;
    await stop();

    const all = await eventsOf(user);
    expect(all.length).toBeGreaterThanOrEqual(8 * 6 * (3 + 3));
    expect(all.map((e) => e.number)).toEqual(all.map((_, i) => i + 1));
    expect(known).toEqual(all.map((e) => e.id));
    for (const speaker of [other, live]) {
      const events = await eventsOf(speaker);
      expect(events.length).toBeGreaterThan(8);
      expect(events.map((e) => e.number)).toEqual(events.map((_, i) => i + 1));
    }
  });

  it("keep an object's events in the order in which they happened", async () => {
    const user = await there.directUser(1);
    const receivable = await must(user.post('/v1/receivables', receivableBody({ amount: '1000.00' })));
    const deposits: string[] = [];
    // Completing an initialized deposit passes through `processing`: two events of one statement.
    for (let n = 0; n < 20; n++) deposits.push((await deposited(user, 'complete')).id);
    for (const id of deposits)
      await must(user.post(`/v1/deposits/${id}/reconcile`, { receivables: [{ id: receivable.id, amount: '10.00' }] }));
    await number(user);

    const events = await eventsOf(user);

    const types = (id: string) => events.filter((e) => e.objectId === id).map((e) => e.type);
    expect(deposits.map(types)).toEqual(
      deposits.map(() => ['deposit.initialized', 'deposit.processing', 'deposit.completed', 'deposit.reconciled']),
    );
    const locked = events.filter((e) => e.objectId === receivable.id).map((e) => e.object.amount_locked);
    expect(locked).toEqual(Array.from({ length: 21 }, (_, n) => `${n}0.00`.replace(/^00/, '0')));
  });
});

describe('before an event has its number', () => {
  // Readers see only numbered events, so an event that gets its number later always follows those already read.
  it('it is not visible, in any list or by its id', async () => {
    const user = await there.directUser(1);
    await user.partner();
    const rows = await quiet.sql`select id from event where not livemode and tenant_id = ${tenantOf(user)}`;
    expect(rows.length).toBeGreaterThan(1);
    expect((await user.get('/v1/events')).body).toEqual({ object: 'list', data: [], has_next: false });
    for (const { id } of rows) {
      const reply = await user.get(`/v1/events/${id}`);
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([404, ['resource_missing'], ['event.id']]);
      expect((await user.graph(`{ event(id: "${id}") { id } }`)).codes).toEqual(['resource_missing']);
      expect((await user.graph(`{ node(id: "${id}") { id } }`)).body.data).toEqual({ node: null });
    }
    await number(user);
    expect((await user.get('/v1/events')).body.data).toHaveLength(rows.length);
  });

  // Without a worker a payout stays in flight until a test ends it.
  it.each(['settle', 'fail'])('a payout is ended by %s, and has its event', async (verb) => {
    const user = await there.directUser(1);
    await must(user.post('/v1/addresses', payoutAddressBody(user.id)));
    const deposit = await deposited(user, 'complete');
    const receivable = await must(user.post('/v1/receivables', receivableBody()));
    const receivables = [{ id: receivable.id, amount: '10.00' }];
    await must(user.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables }));
    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    await once(user);
    const [payout] = (await user.get('/v1/payouts')).body.data;
    const reply = await user.post(`/v1/test_helpers/payouts/${payout.id}/${verb}`);
    await number(user);

    const events = await eventsOf(user, `objectId: "${payout.id}"`);

    expect(events.map((e) => [e.object, e.requestId])).toEqual([
      [payout, null],
      [reply.body, reply.headers.get('request-id')],
    ]);
    // The event of the receivable has the same request id.
    const locks = (await eventsOf(user, `objectId: "${receivable.id}"`)).at(-1)!;
    expect(locks.object).toEqual((await user.get(`/v1/receivables/${receivable.id}`)).body);
    expect(locks.requestId === events[1]!.requestId).toBe(verb === 'settle');
  });
});

describe('the visible events are', () => {
  it('those of the objects on the list, by id those of visible objects, and no others', async () => {
    const platform = await given.platform(1);
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const partner = await user.partner();
    const own = await must(platform.post('/v1/receivables', receivableBody()));
    const ofUser = await must(user.post('/v1/receivables', receivableBody()));
    const outsider = await given.platform(1);
    const sees = async (speaker: Speaker, id: string) => (await eventsOf(speaker, `objectId: "${id}"`)).length;
    await Promise.all([
      eventsOfObject(user, partner.id),
      eventsOfObject(user, ofUser.id),
      eventsOfObject(platform, own.id),
    ]);

    expect([await sees(platform, own.id), await sees(platform, ofUser.id), await sees(platform, user.id)]).toEqual([
      1, 1, 1,
    ]);
    expect([await sees(user, own.id), await sees(user, ofUser.id), await sees(user, partner.id)]).toEqual([0, 1, 1]);
    const acting = platform.actingFor(user.id);
    expect([await sees(acting, own.id), await sees(acting, ofUser.id), await sees(acting, partner.id)]).toEqual([
      0, 1, 1,
    ]);
    // A connected user's partner is not on the platform's list, but the platform can see it.
    expect(await sees(platform, partner.id)).toBe(0);
    const [event] = await eventsOf(user, `objectId: "${partner.id}"`);
    expect((await platform.get(`/v1/events/${event!.id}`)).status).toBe(200);
    for (const speaker of [other, outsider]) {
      for (const id of [own.id, ofUser.id, partner.id]) expect(await sees(speaker, id)).toBe(0);
      for (const id of [event!.id, unknownId('event')]) {
        const reply = await speaker.get(`/v1/events/${id}`);
        expect([reply.status, reply.codes, reply.fieldNames]).toEqual([404, ['resource_missing'], ['event.id']]);
      }
    }
  });

  it('of one mode only', async () => {
    const { test, live } = await given.directUserBoth(1);
    const receivable = await must(test.post('/v1/receivables', receivableBody()));
    const [event] = await eventsOfObject(test, receivable.id);
    expect((await live.get(`/v1/events/${event!.id}`)).status).toBe(404);
    expect(await eventsOf(live, `objectId: "${receivable.id}"`)).toEqual([]);
    await eventually(
      () => eventsOf(live),
      (events) => events.length > 0,
    );
    const { data } = (await live.get('/v1/events')).body;
    expect(data.map((e: any) => e.livemode)).toEqual(data.map(() => true));
  });

  it('filtered by type, object and time, and in pages', async () => {
    const user = await given.directUser(1);
    const made = [];
    for (let n = 0; n < 12; n++) made.push(await must(user.post('/v1/receivables', receivableBody())));
    await must(user.post(`/v1/receivables/${made[3].id}/void`));
    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    const late = await must(user.post('/v1/receivables', receivableBody()));
    await eventsOfObject(user, late.id);
    const ids = async (query: string) =>
      (await user.get(`/v1/events?${query}`)).body.data.map((e: any) => `${e.type} ${e.data.object.id}`);

    expect(await ids('type=receivable.voided')).toEqual([`receivable.voided ${made[3].id}`]);
    expect(await ids(`object_id=${made[3].id}&type=receivable.created,receivable.voided`)).toEqual([
      `receivable.voided ${made[3].id}`,
      `receivable.created ${made[3].id}`,
    ]);
    expect(await ids(`created.gte=${late.created}&type=receivable.created`)).toEqual([`receivable.created ${late.id}`]);
    const all = await ids('');
    for (const argument of ['type', 'types']) {
      expect(await ids(`${argument}=receivable.*`)).toEqual(await ids('type=receivable.created,receivable.voided'));
      expect(await ids(`${argument}=*`)).toEqual(all);
      expect(await ids(`${argument}[0]=receivable.voided&${argument}[1]=clock.*`)).toEqual(
        await ids('type=receivable.voided,clock.advanced'),
      );
      const graph = await user.graph(
        `{ events(${argument}: ["receivable.*"], first: 10) { nodes { type objectId } } }`,
      );
      expect(graph.body.data.events.nodes.map((e: any) => `${e.type} ${e.objectId}`)).toEqual(
        await ids(`${argument}=receivable.*`),
      );
    }
    const page = await user.get('/v1/events?type=receivable.created&limit=3');
    expect([page.body.data.map((e: any) => e.data.object.id), page.body.has_next]).toEqual([
      [late, made[11], made[10]].map(({ id }) => id),
      true,
    ]);
    const next = await user.get(
      `/v1/events?type=receivable.created&limit=10&starting_after=${page.body.data.at(-1).id}`,
    );
    expect([next.body.data.map((e: any) => e.data.object.id), next.body.has_next]).toEqual([
      made
        .slice(0, 10)
        .map(({ id }) => id)
        .reverse(),
      false,
    ]);
    const back = await user.get(`/v1/events?type=receivable.created&limit=2&ending_before=${next.body.data.at(-1).id}`);
    expect([back.body.data.map((e: any) => e.data.object.id), back.body.has_next]).toEqual([
      [made[2].id, made[1].id],
      true,
    ]);
    for (const [query, field] of [
      [`ending_before=${unknownId('event')}`, 'ending_before'],
      [`starting_after=${late.id}`, 'starting_after'],
      ['limit=11', 'limit'],
      ['number=3', 'number'],
      ['type=deposit.compleeted', 'type[0]'],
      ['types=deposit.completed,deposit.compleeted', 'types[1]'],
      ['types=depositt.*', 'types[0]'],
      ['type=deposit', 'type[0]'],
      ['type=*&types=*', 'types'],
    ] as const) {
      const reply = await user.get(`/v1/events?${query}`);
      expect([query, reply.status, reply.fieldNames]).toEqual([query, 400, [`event.${field}`]]);
    }
    for (const field of ['type', 'types']) {
      const typo = `(${field}: ["deposit.compleeted"]) { nodes { id } }`;
      const reply = await user.graph(`{ events${typo} }`);
      expect([reply.codes, reply.fieldNames]).toEqual([['parameter_invalid'], [`event.${field}[0]`]]);
    }
  });
});
