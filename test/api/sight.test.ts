import { beforeAll, describe, expect, it } from 'vitest';
import { pdf, receivableBody } from '../support/bodies.js';
import { advanceAndRun, advanceClock } from '../support/jobs.js';
import { givenIn, payoutAddressBody, type Reply, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const day = 86_400;
const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');

async function data(speaker: Speaker, query: string, variables: object = {}): Promise<any> {
  const reply = await speaker.graph(query, variables);
  expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
  return reply.body.data;
}

const ids = (list: { id: string }[]) => list.map(({ id }) => id);

/** The objects of all events of an account's list, newest first, as both APIs list them. */
async function eventsOf(speaker: Speaker, accountId: string, type = ''): Promise<string[]> {
  const { events } = await data(
    speaker,
    `query ($id: ID!, $type: [String!]) { events(first: 100, accountId: $id, type: $type) { nodes { id objectId } } }`,
    { id: accountId, type: type === '' ? null : [type] },
  );
  const { body } = await speaker.get(`/v1/events?account_id=${accountId}${type && `&type=${type}`}`);
  expect(ids(body.data)).toEqual(ids(events.nodes).slice(0, body.data.length));
  expect(body.data.length).toBe(Math.min(10, events.nodes.length));
  return events.nodes.map(({ objectId }: { objectId: string }) => objectId);
}

describe('a platform', () => {
  let platform: Speaker;
  let user: Speaker;
  let other: Speaker;
  /** The partners of each account, newest first. */
  let partners: Record<'platform' | 'user' | 'other' | 'outsider', any[]>;
  let outsider: Speaker;

  beforeAll(async () => {
    [platform, outsider] = [await given.platform(1), await given.platform(1)];
    [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const made = async (owner: Speaker, count: number) => {
      const list = [];
      for (let i = 0; i < count; i += 1) list.unshift(await owner.partner());
      return list;
    };
    partners = {
      platform: await made(platform, 2),
      user: await made(user, 3),
      other: await made(other, 4),
      outsider: await made(outsider, 2),
    };
  });

  const all = () => [
    platform.id,
    ...ids([user, other]),
    ...ids([...partners.platform, ...partners.user, ...partners.other]),
  ];
  /** All ids of a list of the graph, page by page, by the resolvers and the query compiler. */
  async function listed(speaker: Speaker, args: string): Promise<string[]> {
    const found: string[] = [];
    for (let after: string | null = null; ; ) {
      const query =
        `query ($after: ID) { accounts(first: 3, after: $after ${args}) { nodes { id } pageInfo { hasNextPage ` +
        'endCursor } } }';
      const { accounts } = await data(speaker, query, { after });
      found.push(...ids(accounts.nodes));
      if (!accounts.pageInfo.hasNextPage) return found;
      after = accounts.pageInfo.endCursor;
    }
  }
  async function listedV1(speaker: Speaker, query: string): Promise<string[]> {
    const found: string[] = [];
    for (let after = ''; ; ) {
      const { status, body }: Reply = await speaker.get(`/v1/accounts?limit=3${query}${after}`);
      expect(status).toBe(200);
      found.push(...ids(body.data));
      if (!body.has_next) return found;
      after = `&starting_after=${found.at(-1)}`;
    }
  }

  it('sees all accounts below it in one list, in the order of their creation, through both APIs', async () => {
    const found = await listed(platform, ', scope: DESCENDANTS');
    expect(found.toSorted()).toEqual(all().toSorted());
    expect(await listedV1(platform, '&scope=descendants')).toEqual(found);
    expect((await listed(platform, ', scope: DESCENDANTS, orderBy: CREATED_ASC')).toReversed()).toEqual(found);
    const { accounts } = await data(platform, '{ accounts(scope: DESCENDANTS) { totalCount nodes { created } } }');
    const times = accounts.nodes.map(({ created }: any) => created);
    expect([accounts.totalCount, times]).toEqual([12, times.toSorted().toReversed()]);
    // Without the argument it is the list of the specification: the platform and its users.
    expect((await listed(platform, '')).toSorted()).toEqual([platform.id, user.id, other.id].toSorted());
    expect((await listedV1(platform, '&scope=self')).toSorted()).toEqual([platform.id, user.id, other.id].toSorted());
  });

  it('lists the events of a user, of its partners too, and finds none of another platform', async () => {
    await world.database.call('number_events', [tenantOf(platform), false, 500]);
    await world.database.call('number_events', [tenantOf(outsider), false, 500]);
    const mine = await eventsOf(platform, user.id);
    expect(mine).toEqual(expect.arrayContaining([user.id, ...ids(partners.user)]));
    for (const id of [platform.id, other.id, ...ids(partners.platform), ...ids(partners.other)])
      expect(mine).not.toContain(id);
    expect(await eventsOf(platform, user.id, 'account.created')).toEqual([...ids(partners.user), user.id]);
    expect(await eventsOf(platform.actingFor(user.id), user.id)).toEqual(mine);
    expect(await eventsOf(platform, platform.id)).toEqual(
      expect.arrayContaining([platform.id, ...ids(partners.platform)]),
    );
    // The events of a partner are on its owner's list.
    expect(await eventsOf(platform, partners.user[0].id)).toEqual([]);
    for (const speaker of [outsider, platform.actingFor(other.id)])
      expect(await eventsOf(speaker, user.id)).toEqual([]);
  });

  it('filters this list like the other one', async () => {
    const ofPartners = ids([...partners.platform, ...partners.user, ...partners.other]).toSorted();
    for (const [args, query, expected] of [
      ['type: PARTNER', 'type=partner', ofPartners],
      [
        'type: [PARTNER, USER]',
        'type=partner,user',
        all()
          .filter((id) => id !== platform.id)
          .toSorted(),
      ],
      ['type: PARTNER, status: DRAFT', 'type=partner&status=draft', ofPartners],
      ['status: ACTIVATED, type: USER', 'status=activated&type=user', []],
      ['address: REQUESTED', 'address=requested', []],
      ['capability: { multicurrencyExportsV1: PENDING }', 'capability.multicurrency_exports_v1=pending', undefined],
    ] as const) {
      const found = await listed(platform, `, scope: DESCENDANTS, ${args}`);
      expect([args, found]).toEqual([args, await listedV1(platform, `&scope=descendants&${query}`)]);
      if (expected) expect([args, found.toSorted()]).toEqual([args, expected]);
      else expect(found.length).toBeGreaterThanOrEqual(ofPartners.length);
    }
  });

  it('sees no accounts of another platform, and a user sees its own accounts only', async () => {
    expect((await listed(outsider, ', scope: DESCENDANTS')).toSorted()).toEqual(
      [outsider.id, ...ids(partners.outsider)].toSorted(),
    );
    for (const speaker of [user, platform.actingFor(user.id)]) {
      const found = await listed(speaker, ', scope: DESCENDANTS');
      expect(found.toSorted()).toEqual([user.id, ...ids(partners.user)].toSorted());
      expect(await listed(speaker, '')).toEqual(found);
    }
    const foreign = await platform.graph(
      `{ accounts(scope: DESCENDANTS, after: "${partners.outsider[0].id}") { nodes { id } } }`,
    );
    expect(foreign.codes).toEqual(['parameter_invalid']);
  });

  it('sees the balance of all its accounts at a time, and which users received most', async () => {
    const now = (await platform.post('/v1/test_helpers/clock', { advance_seconds: 1 })).body.now;
    for (const [owner, amount] of [
      [user, '10.00'],
      [user, '20.00'],
      [other, '29.99'],
      [platform, '500.00'],
    ] as const) {
      // Users in draft have no receiving addresses, and their activated partners have.
      const { id } = await owner.partner();
      expect((await platform.post(`/v1/accounts/${id}/activate`)).status).toBe(200);
      await advanceAndRun(platform, 5);
      const made = await owner.post('/v1/deposits', { amount, currency: 'USD', to: { account_id: id } });
      expect([made.fieldNames, made.status]).toEqual([[], 200]);
      const path = `/v1/test_helpers/deposits/${made.body.id}/complete`;
      expect((await platform.post(path)).status).toBe(200);
    }
    const later = (await platform.post('/v1/test_helpers/clock', { advance_seconds: day })).body.now;
    const range = `from: "${iso(now - day)}", to: "${iso(later)}"`;
    const query = (id: string) => `{ node(id: "${id}") { ... on Account {
      before: balance(asOf: "${iso(now - day)}", scope: DESCENDANTS) { pending { amount } }
      own: balance(asOf: "${iso(later)}") { pending { amount } }
      at: balance(asOf: "${iso(later)}", scope: DESCENDANTS) { pending { amount } }
      topUsers(${range}, limit: 1) { from to currencies {
        currency count userCount total { amount currency }
        users { rank account { id } count amount { amount currency } } } } } } }`;
    const { node } = await data(platform, query(platform.id));
    expect(node).toEqual({
      before: { pending: [{ amount: '0.00' }] },
      own: { pending: [{ amount: '0.00' }] },
      at: { pending: [{ amount: '559.99' }] },
      topUsers: {
        ...{ from: iso(now - day), to: iso(later) },
        currencies: [
          {
            ...{ currency: 'USD', count: 3, userCount: 2, total: { amount: '59.99', currency: 'USD' } },
            users: [{ rank: 1, account: { id: user.id }, count: 2, amount: { amount: '30.00', currency: 'USD' } }],
          },
        ],
      },
    });
    // The worker has added the deposits to the totals.
    await world.database.call('sum_deposits', [tenantOf(platform), false, 100]);
    expect((await data(platform, query(platform.id))).node).toEqual(node);
    // A user has no users, and another platform sees nothing.
    expect((await data(user, query(user.id))).node).toMatchObject({
      at: { pending: [{ amount: '30.00' }] },
      topUsers: { currencies: [] },
    });
    expect((await outsider.graph(query(platform.id))).body.data.node).toBeNull();
  });

  it.each([
    ['to: "2026-01-01T00:00:00Z"', 'account.to'],
    ['to: "2027-06-01T00:00:00Z"', 'account.to'],
    ['to: "2026-02-01T00:00:00Z", limit: 0', 'account.limit'],
    ['to: "2026-02-01T00:00:00Z", limit: 101', 'account.limit'],
  ])('gets no top users for %s', async (args, name) => {
    const reply = await platform.graph(
      `{ viewer { account { topUsers(from: "2026-01-01T00:00:00Z", ${args}) { asOf } } } }`,
    );
    expect([reply.codes, reply.fieldNames]).toEqual([['parameter_invalid'], [name]]);
  });
});

describe('a file', () => {
  const uses = `usedByAccounts { nodes { id } pageInfo { hasNextPage } } usedByAddresses { nodes { id } }
    usedByPersons { nodes { id } } usedByReceivables { nodes { id invoice { document } } }`;
  const usesOf = async (speaker: Speaker, id: string) => {
    const one = `query ($id: ID!) { file(id: $id) { ${uses} } }`;
    const { file } = await data(speaker, one, { id });
    // A document is compiled from the third time on; persons and addresses are read by resolvers alone.
    const compiled =
      'query ($id: ID!) { file(id: $id) { usedByAccounts { nodes { id } pageInfo { hasNextPage } } ' +
      'usedByReceivables { nodes { id invoice { document } } } } }';
    for (let i = 0; i < 4; i += 1) {
      const again = await data(speaker, compiled, { id });
      const { usedByAccounts, usedByReceivables } = file;
      expect([i, again.file]).toEqual([i, { usedByAccounts, usedByReceivables }]);
    }
    return Object.fromEntries(
      Object.entries<any>(file).map(([name, { nodes }]) => [name.replace('usedBy', ''), ids(nodes)]),
    );
  };
  const upload = async (speaker: Speaker, purpose: string) => {
    const reply = await speaker.upload(purpose, pdf);
    expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
    return reply.body.id as string;
  };
  const made = async (speaker: Speaker, path: string, body: object) => {
    const reply = await speaker.post(path, body);
    expect([path, reply.fieldNames, reply.status]).toEqual([path, [], 200]);
    return reply.body.id as string;
  };

  it('shows where it is used, to those who see the objects', async () => {
    const platform = await given.platform(1);
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const [logo, document, unused] = [
      await upload(platform, 'logo'),
      await upload(platform, 'identity_document'),
      await upload(platform, 'tax_document'),
    ];
    for (const each of [user, other])
      await made(platform, `/v1/accounts/${each.id}`, {
        logo_id: logo,
        // One account names the document twice.
        supporting_documentation: { id_document: document, ownership_structure_document: document },
      });
    const supporting = { supporting_documentation: { id_document: document } };
    const address = await made(platform, '/v1/addresses', payoutAddressBody(user.id, supporting));
    const person = await made(platform, '/v1/persons', {
      ...{ account_id: user.id, full_name: 'Asha Rao', relationship: { owner: true } },
      identification: { tax_card_image: document, passport_image: document },
    });
    const none = { Accounts: [], Addresses: [], Persons: [], Receivables: [] };
    expect(await usesOf(platform, unused)).toEqual(none);
    expect(await usesOf(platform, logo)).toEqual({ ...none, Accounts: [other.id, user.id] });
    expect(await usesOf(platform, document)).toEqual({
      ...none,
      ...{ Accounts: [other.id, user.id], Addresses: [address], Persons: [person] },
    });
    // A changed logo is not used any more.
    await made(platform, `/v1/accounts/${user.id}`, { logo_id: '' });
    expect(await usesOf(platform, logo)).toEqual({ ...none, Accounts: [other.id] });
  });

  it('is the invoice of the receivables that name it, and a receivable names its customer', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const [customer, own] = [await user.partner(), await platform.partner()];
    const invoice = await upload(user, 'invoice');
    const body = receivableBody({
      amount: '10.00',
      creation_date: '2026-01-01',
      due_date: '2026-02-01',
      reference_number: 'INV 7',
      document: invoice,
    });
    const first = await made(user, '/v1/receivables', { ...body, customer_id: customer.id });
    const second = await made(user, '/v1/receivables', body);
    expect((await usesOf(user, invoice)).Receivables).toEqual([second, first]);

    const read = async (speaker: Speaker) => {
      const query =
        'query ($id: ID!) { node(id: $id) { ... on Account { billedReceivables { nodes { id customer { id } } } ' +
        '} } }';
      return (await data(speaker, query, { id: customer.id })).node.billedReceivables.nodes;
    };
    const shown = { id: first, customer: { id: customer.id } };
    expect(await read(user)).toEqual([shown]);
    expect(await read(platform)).toEqual([shown]);
    // The object of /v1 is exactly the specification's.
    expect(Object.keys((await user.get(`/v1/receivables/${first}`)).body)).not.toContain('customer_id');
    await made(user, `/v1/receivables/${second}`, { customer_id: customer.id });
    expect(ids(await read(user))).toEqual([second, first]);
    await made(user, `/v1/receivables/${second}`, { description: 'unchanged' });
    await made(user, `/v1/receivables/${first}`, { customer_id: null });
    expect(ids(await read(user))).toEqual([second]);

    // Only a partner of the account can be its customer.
    for (const [id, refusal] of [
      [user.id, 'account_type_invalid'],
      [own.id, 'resource_missing'],
      ['account_0', 'resource_missing'],
    ] as const)
      for (const path of ['/v1/receivables', `/v1/receivables/${first}`]) {
        const reply = await user.post(path, { ...(path === '/v1/receivables' && body), customer_id: id });
        expect([id, reply.codes, reply.fieldNames]).toEqual([id, [refusal], ['receivable.customer_id']]);
      }
    const foreign = await platform.post(`/v1/receivables/${first}`, { customer_id: own.id });
    expect([foreign.codes, foreign.fieldNames]).toEqual([['account_type_invalid'], ['receivable.customer_id']]);
  });
});

describe('updatedAt', () => {
  it('is the creation, then the last change by the clock of the mode, and null where it is not known', async () => {
    const user = await given.directUser(1);
    const { id } = (await user.post('/v1/deposits', { amount: '9.00', currency: 'USD' })).body;
    const read = async () => {
      const answers: string[] = [];
      // The resolvers answer first, and a compiled query from the third time on.
      for (let times = 0; times < 4; times++)
        answers.push(JSON.stringify((await data(user, `{ deposit(id: "${id}") { created updatedAt } }`)).deposit));
      expect(new Set(answers).size).toBe(1);
      return JSON.parse(answers[0]!);
    };
    const made = await read();
    expect(made.updatedAt).toBe(made.created);
    const now = await advanceClock(user, day);
    expect(await read()).toEqual(made);
    expect((await user.post(`/v1/test_helpers/deposits/${id}/complete`)).status).toBe(200);
    const changed = await read();
    expect(changed.created).toBe(made.created);
    expect(Date.parse(changed.updatedAt) / 1000).toBeGreaterThanOrEqual(now);
    expect(Date.parse(changed.updatedAt) / 1000).toBeLessThanOrEqual(await advanceClock(user, 1));
    // As it is after an upgrade: changed at a time that nothing recorded.
    await world.sql`update deposit set updated_at = null where id = ${id}`;
    expect(await read()).toEqual({ ...made, updatedAt: null });
  });
});

describe('completedAt', () => {
  it('is the moment in which the money moved, by the clock of the mode', async () => {
    const user = await given.directUser(1);
    const { id: partner } = await user.partner();
    expect((await user.post(`/v1/accounts/${partner}/activate`)).status).toBe(200);
    await advanceAndRun(user, 5);
    const reply = await user.post('/v1/deposits', { amount: '9.00', currency: 'USD', to: { account_id: partner } });
    expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
    const { id } = reply.body;
    const read = async (deposit: string) =>
      (await data(user, `{ deposit(id: "${deposit}") { completedAt created status } }`)).deposit;
    expect(await read(id)).toMatchObject({ completedAt: null, status: 'INITIALIZED' });
    const { now } = (await user.post('/v1/test_helpers/clock', { advance_seconds: day })).body;
    expect((await user.post(`/v1/test_helpers/deposits/${id}/complete`)).status).toBe(200);
    const { completedAt } = await read(id);
    expect(Date.parse(completedAt) / 1000).toBeGreaterThanOrEqual(now);
    expect(Date.parse(completedAt) / 1000).toBeLessThan(now + 60);
    // Deposits are found by this moment through their events.
    await world.database.call('number_events', [tenantOf(user.id), false, 500]);
    const found = (created: object) =>
      data(
        user,
        `query ($created: TimeFilter) { events(filter: { eventType: [DEPOSIT_COMPLETED], created: $created }) {
          nodes { subject { ... on Deposit { id completedAt } } } } }`,
        { created },
      );
    const at = { gte: completedAt, lte: completedAt };
    expect(await found(at)).toEqual({ events: { nodes: [{ subject: { id, completedAt } }] } });
    expect(await found({ lt: completedAt })).toEqual({ events: { nodes: [] } });
    expect(await found({ gt: completedAt })).toEqual({ events: { nodes: [] } });
    const dispute = await user.post(`/v1/test_helpers/deposits/${id}/dispute`, {
      amount: '1.00',
      reason_code: 'general',
    });
    const disputed = await read(dispute.body.id);
    expect(disputed.completedAt).toBe(disputed.created);
    // A reversal takes nothing from the moment at which it was completed.
    expect((await user.post(`/v1/test_helpers/deposits/${id}/reverse`, { reason_code: 'general' })).status).toBe(200);
    expect(await read(id)).toMatchObject({ completedAt, status: 'REVERSED' });
  });
});
