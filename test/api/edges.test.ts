import { describe, expect, it } from 'vitest';
import { pdf, receivableBody } from '../support/bodies.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { eventually, givenIn, payoutAddressBody, type Speaker, useWorld } from '../support/world.js';

const world = useWorld();
const given = givenIn(world);

/** The data of a query that must succeed. */
async function data(speaker: Speaker, query: string): Promise<any> {
  const reply = await speaker.graph(query);
  expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
  return reply.body.data;
}

describe('edges that lead from one object to another', () => {
  it('from the caller to its own API key', async () => {
    const user = await given.directUser(1);
    const { viewer, apiKeys } = await data(
      user,
      '{ viewer { apiKey { id prefix permission account { id } } } apiKeys { nodes { id prefix } } }',
    );
    const own = apiKeys.nodes.find(({ prefix }: any) => user.key.endsWith(prefix.slice(-4)));
    expect(own.id).toMatch(/^key_/);
    expect(viewer.apiKey).toEqual({ ...own, permission: 'FULL', account: { id: user.id } });
  });

  it('from balances to their account', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const answer = await data(
      platform,
      `{ balance(accountId: "${user.id}") { account { id type } } balanceAggregate { account { id type } }
         account(id: "${user.id}") { balance { account { id } } } }`,
    );
    expect(answer).toEqual({
      balance: { account: { id: user.id, type: 'USER' } },
      balanceAggregate: { account: { id: platform.id, type: 'PLATFORM' } },
      account: { balance: { account: { id: user.id } } },
    });
  });

  it('from an account to its events, and from an event to its object as it is now', async () => {
    const platform = await given.platform(1);
    const [user, other] = [await platform.connectedUser(), await platform.connectedUser()];
    const partner = await user.partner();
    await platform.post('/v1/test_helpers/clock', { advance_seconds: 60 });
    const query =
      `{ account(id: "${user.id}") { events(first: 50) { nodes { type objectId subject { __typename id ... on ` +
      'Account { type } } } } } }';
    const { account } = await eventually(
      () => data(platform, query),
      (answer) => answer.account.events.nodes.some(({ objectId }: any) => objectId === partner.id),
    );
    const { nodes } = account.events;
    expect(nodes.find(({ objectId }: any) => objectId === partner.id)).toEqual({
      type: 'account.created',
      objectId: partner.id,
      subject: { __typename: 'Account', id: partner.id, type: 'PARTNER' },
    });
    expect(nodes.filter(({ objectId }: any) => objectId === other.id)).toEqual([]);
    const own = await data(user, '{ events(first: 50) { nodes { type objectId } } }');
    expect(own.events.nodes).toEqual(nodes.map(({ type, objectId }: any) => ({ type, objectId })));
    // A removed person is no subject any more.
    const person = await platform.post('/v1/persons', {
      ...{ account_id: user.id, full_name: 'Asha Rao', relationship: { owner: true } },
      identification: { tax_card_number: 'ABCPE1234F' },
    });
    expect((await platform.post(`/v1/persons/${person.body.id}/remove`)).status).toBe(200);
    const removed = await eventually(
      () => data(platform, '{ events(first: 1, type: ["person.removed"]) { nodes { objectId subject { id } } } }'),
      (answer) => answer.events.nodes.length > 0,
    );
    expect(removed.events.nodes).toEqual([{ objectId: person.body.id, subject: null }]);
  });

  it('from an event of a receivable to the customer that it billed then', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const [first, second, foreign] = [await user.partner(), await user.partner(), await platform.connectedUser()];
    const { body } = await user.post('/v1/receivables', receivableBody({}, { customer_id: first.id }));
    for (const customer_id of [second.id, null])
      expect((await user.post(`/v1/receivables/${body.id}`, { customer_id })).status).toBe(200);
    const customers = 'nodes { type customer { id nickname } }';
    const query = `{ events(filter: { objectId: "${body.id}" }, first: 5) { ${customers} } }`;
    const { events } = await eventually(
      () => data(user, query),
      (answer) => answer.events.nodes.length === 3,
    );
    expect(events.nodes).toEqual([
      { type: 'receivable.updated', customer: null },
      { type: 'receivable.updated', customer: { id: second.id, nickname: second.nickname } },
      { type: 'receivable.created', customer: { id: first.id, nickname: first.nickname } },
    ]);
    expect(await data(foreign, query)).toEqual({ events: { nodes: [] } });
    const others = await data(user, '{ events(type: ["account.created"], first: 5) { nodes { customer { id } } } }');
    expect(new Set(others.events.nodes.map(({ customer }: any) => customer))).toEqual(new Set([null]));
  });

  it('from an account and an address to the files that support them', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const upload = async () => (await platform.upload('identity_document', pdf)).body.id;
    const [first, second, third] = [await upload(), await upload(), await upload()];
    const supporting = { id_document: first, ownership_structure_document: second };
    const updated = await platform.post(`/v1/accounts/${user.id}`, { supporting_documentation: supporting });
    expect([updated.fieldNames, updated.status]).toEqual([[], 200]);
    const ofAddress = { supporting_documentation: { id_document: third } };
    const address = await platform.post('/v1/addresses', payoutAddressBody(user.id, ofAddress));
    expect([address.fieldNames, address.status]).toEqual([[], 200]);
    const query = `{
        account(id: "${user.id}") { idDocument { id } ownershipStructureDocument { id } physicalAddressDocument { id } }
        address(id: "${address.body.id}") { idDocument { id purpose } }
      }`;
    // The resolvers answer a document the first two times, and then the query compiler does.
    for (let i = 0; i < 4; i++)
      expect(await data(platform, query)).toEqual({
        account: {
          idDocument: { id: first },
          ownershipStructureDocument: { id: second },
          physicalAddressDocument: null,
        },
        address: { idDocument: { id: third, purpose: 'IDENTITY_DOCUMENT' } },
      });
  });

  it('back from a checkout, its deposit, an event, a file and an API key to what refers to them', async () => {
    const payee = await PayeeFixture.open(world);
    const checkout = await payee.checkoutFixture();
    await payee.help(checkout, 'pay');
    const { checkout: paid } = await data(
      payee.user,
      `{ checkout(id: "${checkout.id}") { effectiveTransaction { id } deposit { transaction { id checkout { id } } }
         payments(first: 5) { totalCount nodes { id type checkout { id } } } } }`,
    );
    expect(paid.deposit.transaction).toEqual({ ...paid.effectiveTransaction, checkout: { id: checkout.id } });
    const [payment] = paid.payments.nodes;
    expect(paid.payments).toEqual({
      totalCount: 1,
      nodes: [{ id: payment.id, type: 'CHECKOUT', checkout: { id: checkout.id } }],
    });

    const user = await given.directUser(1);
    const key = (await data(user, '{ viewer { apiKey { id } } }')).viewer.apiKey.id;
    const session = (await user.post('/v1/sessions', { role: 'operate' })).body;
    const read = `{ apiKey(id: "${key}") { sessions(first: 5) { nodes { id apiKey { id } } } } }`;
    expect((await data(user, read)).apiKey.sessions.nodes).toEqual([{ id: session.id, apiKey: { id: key } }]);
    const refused = await user.using(session.token).graph(read);
    expect(refused.codes).toEqual(['permission_denied']);

    const hook = await user.post('/v1/webhook_endpoints', { url: 'https://hooks.invalid/', event_types: ['file.*'] });
    const csv = new TextEncoder().encode('currency\nUSD');
    const file = (await user.upload('import', csv)).body.id as string;
    const imported = (await user.post('/v1/imports', { kind: 'receivables', file_id: file })).body.id as string;
    expect(await data(user, `{ file(id: "${file}") { imports { totalCount nodes { id file { id } } } } }`)).toEqual({
      file: { imports: { totalCount: 1, nodes: [{ id: imported, file: { id: file } }] } },
    });
    const { events } = await eventually(
      () =>
        data(
          user,
          `{ events(objectId: "${file}") { nodes { id accountId account { id } deliveries { nodes { endpointId event {
             id } } } } } }`,
        ),
      (answer) => answer.events.nodes[0]?.deliveries.nodes.length > 0,
    );
    const [event] = events.nodes;
    expect([event.accountId, event.account]).toEqual([user.id, { id: user.id }]);
    expect(event.deliveries.nodes).toEqual([{ endpointId: hook.body.id, event: { id: event.id } }]);
  });

  it('from the payment of a checkout to the attempt that paid it', async () => {
    const payee = await PayeeFixture.open(world);
    const checkout = await payee.checkoutFixture();
    await payee.help(checkout, 'decline');
    await payee.help(checkout, 'pay');
    const { payments } = await data(
      payee.user,
      '{ payments(first: 10) { nodes { type counterpart { id } transaction { id ' +
        'status checkout { id } payment { id } } id } } }',
    );
    const paid = payments.nodes.filter(({ transaction }: any) => transaction);
    expect(paid).toEqual([
      {
        ...{ type: 'CHECKOUT', counterpart: null, id: paid[0].id },
        transaction: {
          ...{ id: expect.stringMatching(/^transaction_/), status: 'SUCCEEDED' },
          ...{ checkout: { id: checkout.id }, payment: { id: paid[0].id } },
        },
      },
    ]);
  });
});
