import { GraphQLInputObjectType, type GraphQLInputType, GraphQLObjectType, getNamedType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { covering } from '../support/scale.js';
import {
  details,
  type Edition,
  givenIn,
  inputTypeOf,
  inTurns,
  loggedRequest,
  must,
  nickname,
  payoutAddressBody,
  payoutAddressInput,
  type Reply,
  Speaker,
  useWorld,
  withLiveAcquirer,
} from '../support/world.js';

const world = useWorld({ worker: false, acquirers: withLiveAcquirer });
const given = givenIn(world);

const pdf = new TextEncoder().encode('%PDF-1.4\n%%EOF\n');
const personBody = (more: object = {}) => ({
  full_name: 'Asha Rao',
  relationship: { director: true },
  identification: { tax_card_number: 'ABCDE1234F', ...more },
});

const currencyOf = ({ edition }: Speaker) => (edition === 1 ? 'USD' : 'INR');
const depositBody = (me: Speaker, more: object) => ({
  amount: '100.00',
  currency: currencyOf(me),
  payment_method: me.edition === 1 ? 'domestic_credit' : 'upi',
  ...more,
});
const depositInput = (me: Speaker, more: object) => ({
  amount: '100.00',
  currency: currencyOf(me),
  paymentMethod: me.edition === 1 ? 'DOMESTIC_CREDIT' : 'UPI',
  ...more,
});
const receivableBody = (me: Speaker, more: object = {}, document?: string) => ({
  currency: currencyOf(me),
  invoice: {
    amount: '100.00',
    creation_date: '2026-01-02',
    currency: currencyOf(me),
    due_date: '2026-02-02',
    reference_number: 'INV-1',
    ...(document && { document }),
  },
  purpose_code: 'P0802',
  transaction_type: 'services',
  ...more,
});
const receivableInput = (me: Speaker, more: object = {}, document?: string) => ({
  currency: currencyOf(me),
  invoice: {
    amount: '100.00',
    creationDate: '2026-01-02',
    currency: currencyOf(me),
    dueDate: '2026-02-02',
    referenceNumber: 'INV-1',
    ...(document && { document }),
  },
  purposeCode: 'P0802',
  transactionType: 'SERVICES',
  ...more,
});

/** One object of each kind that an account owns, by the prefix of its id. */
type Holdings = Record<
  | 'account'
  | 'account_setting'
  | 'address'
  | 'delivery'
  | 'export'
  | 'file'
  | 'import'
  | 'import_row'
  | 'key'
  | 'person'
  | 'req'
  | 'session'
  | 'webhook',
  string
> &
  Earnings;
/**
 * Objects that exist only after money has moved. A live connected user in draft has no receivable, and only a root has
 * reconciled a deposit and was paid out. An allocation is known by its cursor.
 */
type Earnings = Record<'bt' | 'deposit' | 'event' | 'payment', string> & {
  receivable?: string;
  payout?: string;
  allocation?: string;
} & Partial<Record<'checkout' | 'transaction', string>>;

const tenantOf = ({ key }: Speaker) => key.split('_')[2]!;
const isLive = ({ key }: Speaker) => key.startsWith('sk_live_');
/** Runs the due work of the owner's tenant and mode, or named work that is not due yet; this file starts no worker. */
async function work(owner: Speaker, kind: string): Promise<void> {
  await world.sql`update job set due = 0 where tenant_id = ${tenantOf(owner)} and livemode = ${isLive(owner)}
    and kind = ${kind}`;
  await world.database.call('run_jobs', [tenantOf(owner), isLive(owner), 100]);
}

/** Has the owner's partner activate and pay, with the consequences, in either mode. */
async function earn(owner: Speaker, partnerId: string): Promise<Earnings> {
  const { operator } = world;
  const live = isLive(owner);
  const root = await operator.account(`account_${tenantOf(owner)}`, live);
  if (root.status === 'draft') await operator.verify(root, 'activated');
  await operator.as(root, 'activateAccount', { id: partnerId });
  const partner = await operator.verify(await operator.account(partnerId), 'activated');
  const currency = currencyOf(owner);
  let deposit: string;
  if (live) {
    const address = await operator.issueAddress(partner, {
      category: 'service_receive',
      currency,
      bankAccount: { number: '1234567890' },
    });
    const reference = nickname();
    const notice = await operator.bankNotice({
      reference,
      event: 'received',
      addressId: address.id,
      amount: 100_00n,
      currency,
    });
    deposit = notice.deposit!.id;
  } else {
    await work(owner, 'process_addresses');
    await work(owner, 'issue_addresses');
    deposit = (await owner.post('/v1/deposits', depositBody(owner, { to: { account_id: partnerId } }))).body.id;
    await must(owner.post(`/v1/test_helpers/deposits/${deposit}/complete`));
  }
  const first = async (path: string) => (await owner.get(path)).body.data[0].id as string;
  const [payment, bt] = await Promise.all([
    first(`/v1/payments?account_id=${partnerId}`),
    first(`/v1/accounts/${partnerId}/balance_transactions`),
  ]);
  const isRoot = owner.id === root.id;
  const receivable = await owner.post('/v1/receivables', receivableBody(owner));
  expect(receivable.status).toBe(live && !isRoot ? 400 : 200);
  if (isRoot) {
    if (live) await operator.setRate(root, 'USD', 'INR', '83');
    const receivables = [{ id: receivable.body.id, amount: '40.00' }];
    expect((await owner.post(`/v1/deposits/${deposit}/reconcile`, { receivables })).status).toBe(200);
    await work(owner, 'pay_out');
  }
  const paid = owner.edition === 2 && root.kind !== 'platform' && receivable.status === 200;
  const session = paid ? await checkoutOf(owner, partnerId, receivable.body.id) : {};
  await world.database.call('number_events', [tenantOf(owner), live, 500]);
  return {
    ...session,
    bt,
    deposit,
    payment,
    event: await first('/v1/events'),
    ...(receivable.status === 200 && { receivable: receivable.body.id }),
    ...(isRoot && { payout: await first('/v1/payouts'), allocation: await allocationOf(owner, deposit) }),
  };
}

/** The cursor of the only allocation of a deposit. */
async function allocationOf(owner: Speaker, deposit: string): Promise<string> {
  const query = 'query ($id: ID!) { deposit(id: $id) { allocations { edges { cursor } } } }';
  const [edge] = (await owner.graph(query, { id: deposit })).body.data.deposit.allocations.edges;
  return edge.cursor;
}

const checkoutBody = (partner: string, receivable: string) => ({
  ...{ amount: '1.00', currency: 'INR', from: { account_id: partner }, payment_methods: ['upi'] },
  receivables: [{ id: receivable }],
  redirect_url: 'https://shop.example/',
});
const checkoutInput = (partner: string, receivable: string) => ({
  ...{ amount: '1.00', currency: 'INR', from: { accountId: partner }, paymentMethods: ['UPI'] },
  receivables: [{ id: receivable }],
  redirectUrl: 'https://shop.example/',
});

/** A checkout with an attempt in progress, which no test helper creates in live mode. */
async function checkoutOf(owner: Speaker, partner: string, receivable: string) {
  const made = await owner.post('/v1/checkouts', checkoutBody(partner, receivable));
  expect([made.fieldNames, made.status]).toEqual([[], 200]);
  const args = { checkoutId: made.body.id, attemptKey: 'a', paymentMethod: 'upi', seconds: 480 };
  const [row] = await world.database.call('begin_transaction', [
    ...[tenantOf(owner), isLive(owner), '{}', JSON.stringify(args)],
  ]);
  return { checkout: made.body.id as string, transaction: row!.id as string };
}

const hook = { url: 'https://hooks.invalid/', event_types: ['file.*'] };

/** A webhook endpoint, and a delivery to it that is not made. */
async function webhooks(owner: Speaker) {
  const made = await owner.post('/v1/webhook_endpoints', hook);
  const webhook = made.body.id as string;
  expect((await owner.post(`/v1/webhook_endpoints/${webhook}/test`)).status).toBe(200);
  const { body } = await owner.get(`/v1/webhook_endpoints/${webhook}/deliveries`);
  return { webhook, delivery: body.data[0].id as string };
}

const csv = new TextEncoder().encode('currency\nUSD');

/** An export and an import that no worker does, and a row of the import. */
async function bulk(owner: Speaker) {
  const tenant = tenantOf(owner);
  for (const table of ['data_export', 'data_import'])
    await world.sql`update ${world.sql(table)} set status = 'failed' where tenant_id = ${tenant}
      and status = 'pending'`;
  const exported = (await owner.post('/v1/exports', { list: '/v1/files', format: 'csv' })).body.id as string;
  const file_id = (await owner.upload('import', csv)).body.id as string;
  const imported = (await owner.post('/v1/imports', { kind: 'receivables', file_id })).body.id as string;
  const row = `import_row_${imported.split('_')[1]}`;
  await world.sql`
    insert into import_row (tenant_id, livemode, id, created, import_id, row, status, problems, context_id,
    on_root_list)
    select tenant_id, livemode, ${row}, created, id, 1, 'valid', '[]', context_id, on_root_list from data_import
    where id = ${imported}`;
  return { export: exported, import: imported, import_row: row };
}

async function holdings(owner: Speaker): Promise<Holdings> {
  const [partner, address, person, file, key, session] = await Promise.all([
    owner.partner(),
    owner.post('/v1/addresses', payoutAddressBody(owner.id)),
    owner.post('/v1/persons', personBody()),
    owner.upload('identity_document', pdf),
    owner.graph('mutation { createApiKey(input: { permission: FULL }) { apiKey { id } } }'),
    owner.post('/v1/sessions', { role: 'read' }),
  ]);
  const setting = await owner.graph('query ($id: ID!) { account(id: $id) { setting { id } } }', { id: partner.id });
  return {
    account: partner.id,
    account_setting: setting.body.data.account.setting.id,
    address: address.body.id,
    file: file.body.id,
    key: key.body.data.createApiKey.apiKey.id,
    ...(await webhooks(owner)),
    ...(await bulk(owner)),
    person: person.body.id,
    session: session.body.id,
    req: await loggedRequest(owner),
    ...(await earn(owner, partner.id)),
  };
}

/** A request with an id of another tenant, and the response that a missing object gets. */
interface Probe {
  call(me: Speaker, id: string, own: Holdings): Promise<Reply>;
  answer: 'resource_missing' | 'parameter_invalid' | 'nothing';
  /** The other callers that are refused and so learn nothing. */
  platformOnly?: true;
  testOnly?: true;
  /** Needs an activated account in live mode; the connected users here are drafts. */
  activatedWhenLive?: true;
  /** The parameter exists only in this edition. */
  edition?: Edition;
  /** The operation exists only in Edition 2. */
  second?: true;
}

const graphById = (name: string): Probe => ({
  call: (me, id) => me.graph(`query ($id: ID!) { ${name}(id: $id) { id } }`, { id }),
  answer: 'resource_missing',
});
const mutation = (name: string, input: (id: string, me: Speaker, own: Holdings) => object): Probe => ({
  call: (me, id, own) =>
    me.graph(`mutation ($input: ${inputTypeOf(name)}!) { ${name}(input: $input) { __typename } }`, {
      input: input(id, me, own),
    }),
  answer: 'resource_missing',
});
const byIdInput = (name: string): Probe => ({
  call: (me, id) => me.graph(`mutation ($id: ID!) { ${name}(input: { id: $id }) { __typename } }`, { id }),
  answer: 'resource_missing',
});
const helper = (path: string): Probe => ({
  call: (me, id) => me.post(path.replace(':id', id)),
  answer: 'resource_missing',
  testOnly: true,
});
const read = (path: string, answer: Probe['answer'] = 'resource_missing'): Probe => ({
  call: (me, id) => me.get(path.replace(':id', id)),
  answer,
});
const write = (path: string, body: (id: string, me: Speaker, own: Holdings) => object): Probe => ({
  call: (me, id, own) =>
    me.post(
      path.replace(':id', id).replace(':me', me.id).replace(':deposit', own.deposit).replace(':webhook', own.webhook),
      body(id, me, own),
    ),
  answer: 'resource_missing',
});
const nodes: Record<string, Probe> = {
  node: { call: (me, id) => me.graph('query ($id: ID!) { node(id: $id) { id } }', { id }), answer: 'nothing' },
  nodes: {
    call: (me, id) => me.graph('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [id, id] }),
    answer: 'nothing',
  },
  'events of': read('/v1/events?object_id=:id', 'nothing'),
  events: {
    call: (me, id) => me.graph('query ($id: ID!) { events(objectId: $id) { nodes { id } totalCount } }', { id }),
    answer: 'nothing',
  },
};
/** A cursor in every place that takes one: the lists of both APIs, and the edges. */
const cursors = (path: string, list: string, edge?: string): Record<string, Probe> => ({
  [`${path} starting_after`]: read(`${path}?starting_after=:id`, 'parameter_invalid'),
  [`${path} ending_before`]: read(`${path}?ending_before=:id`, 'parameter_invalid'),
  ...graphCursors(list, edge),
});
const graphCursors = (list: string, edge?: string): Record<string, Probe> => {
  const at = (text: string): Probe => ({
    call: (me, id) => me.graph(`query ($id: ID!) { ${text} }`, { id }),
    answer: 'parameter_invalid',
  });
  const page = '{ nodes { id } totalCount pageInfo { hasNextPage hasPreviousPage } }';
  return {
    [`${list} after`]: at(`${list}(first: 5, after: $id) ${page}`),
    [`${list} before`]: at(`${list}(last: 5, before: $id) ${page}`),
    ...(edge && {
      [`account.${edge} after`]: at(`viewer { account { ${edge}(first: 5, after: $id) ${page} } }`),
      [`account.${edge} before`]: at(`viewer { account { ${edge}(last: 5, before: $id) ${page} } }`),
    }),
  };
};
const filter = (list: string, argument: string, select = 'nodes { id } totalCount'): Probe => ({
  call: (me, id) => me.graph(`query ($id: ID!) { ${list}(${argument}) { ${select} } }`, { id }),
  answer: 'nothing',
});

/** A cursor of an edge of the caller's own object. */
function ofOwn(
  object:
    | 'address'
    | 'apiKey'
    | 'deposit'
    | 'event'
    | 'file'
    | 'import'
    | 'payment'
    | 'payout'
    | 'checkout'
    | 'receivable'
    | 'webhookEndpoint',
  edge: string,
  select = 'nodes { id }',
): Record<string, Probe> {
  const held = object === 'webhookEndpoint' ? 'webhook' : object === 'apiKey' ? 'key' : object;
  const at = (paging: string): Probe => ({
    call: (me, id, own) =>
      me.graph(`query ($id: ID!, $own: ID!) { ${object}(id: $own) { ${edge}(${paging}: $id) { ${select} } } }`, {
        id,
        own: own[held],
      }),
    answer: 'parameter_invalid',
  });
  return { [`${object}.${edge} after`]: at('after'), [`${object}.${edge} before`]: at('before') };
}

/** A mutation with each of the three documents of an account; two of them exist in one edition only. */
const documented = (name: string, input: (documents: object, me: Speaker) => object): Record<string, Probe> =>
  Object.fromEntries(
    ([['idDocument'], ['ownershipStructureDocument', 1], ['physicalAddressDocument', 2]] as [string, Edition?][]).map(
      ([document, edition]) => [
        `${name}, ${document}`,
        {
          ...mutation(name, (id, me) => input({ [document]: id }, me)),
          ...(name === 'createConnectedUser' && { platformOnly: true as const }),
          ...(edition && { edition }),
        },
      ],
    ),
  );

/** The same probes for operations that Edition 1 does not have. */
const inSecond = (some: Record<string, Probe>): Record<string, Probe> =>
  Object.fromEntries(Object.entries(some).map(([name, probe]) => [name, { ...probe, second: true }]));

/** Every operation that takes an id, by the kind of object. A new operation belongs here. */
const probes: Record<keyof Holdings, Record<string, Probe>> = {
  account: {
    ...nodes,
    ...inSecond({
      'GET checkouts of': read('/v1/checkouts?account_id=:id', 'nothing'),
      'POST checkout from': write('/v1/checkouts', (id, _, own) => checkoutBody(id, own.receivable ?? id)),
      'createCheckout from': mutation('createCheckout', (id, _, own) => checkoutInput(id, own.receivable ?? id)),
    }),
    // The graph has this list in both editions; in the first it is empty.
    checkouts: filter('checkouts', 'accountId: $id'),
    ...cursors('/v1/accounts', 'accounts', 'partners'),
    ...graphCursors('accounts', 'connectedUsers'),
    ...graphCursors('partners'),
    'GET account': read('/v1/accounts/:id'),
    'POST account': write('/v1/accounts/:id', () => ({ metadata: { a: '1' } })),
    'POST account, nothing': write('/v1/accounts/:id', () => ({})),
    'POST activate': write('/v1/accounts/:id/activate', () => ({})),
    'POST deactivate': write('/v1/accounts/:id/deactivate', () => ({})),
    'POST verify': helper('/v1/test_helpers/accounts/:id/verify'),
    'POST hold': helper('/v1/test_helpers/accounts/:id/hold'),
    'POST wallet': helper('/v1/test_helpers/accounts/:id/wallet'),
    createTestWallet: { ...byIdInput('createTestWallet'), testOnly: true },
    'POST test deactivate': helper('/v1/test_helpers/accounts/:id/deactivate'),
    'POST address': write('/v1/addresses', (id) => payoutAddressBody(id)),
    'POST person': write('/v1/persons', (id) => ({ ...personBody(), account_id: id })),
    'POST deposit to': {
      ...write('/v1/deposits', (id, me) => depositBody(me, { to: { account_id: id } })),
      testOnly: true,
    },
    'POST deposit from': {
      ...write('/v1/deposits', (id, me, own) =>
        depositBody(me, { to: { account_id: own.account }, from: { account_id: id } }),
      ),
      testOnly: true,
    },
    'POST receivable': write('/v1/receivables', (id, me) => receivableBody(me, { account_id: id })),
    'GET balance of': read('/v1/balance?account_id=:id'),
    'GET aggregate of': read('/v1/balance/aggregate?account_id=:id'),
    'GET transactions of': read('/v1/accounts/:id/balance_transactions'),
    'GET deposits of': read('/v1/deposits?account_id=:id', 'nothing'),
    'GET events of': read('/v1/events?account_id=:id', 'nothing'),
    'GET receivables of': read('/v1/receivables?account_id=:id', 'nothing'),
    'GET payments of': read('/v1/payments?account_id=:id', 'nothing'),
    'GET payouts of': read('/v1/payouts?account_id=:id', 'nothing'),
    'GET settings of': read('/v1/account_settings?account_id=:id', 'nothing'),
    'GET connected settings of': {
      ...read('/v1/account_settings/connected?account_id=:id', 'nothing'),
      platformOnly: true,
    },
    'GET addresses of': read('/v1/addresses?linked_id=:id', 'nothing'),
    'GET persons of': read('/v1/persons?account_id=:id', 'nothing'),
    'GET files of': read('/v1/files?account_id=:id', 'nothing'),
    'GET on behalf of': {
      call: (me, id) => me.actingFor(id).get('/v1/accounts'),
      answer: 'resource_missing',
      platformOnly: true,
    },
    'POST on behalf of': {
      call: (me, id) =>
        me.actingFor(id).post('/v1/accounts', { type: 'partner', nickname: 'nobody', business_details: details() }),
      answer: 'resource_missing',
      platformOnly: true,
    },
    'upload on behalf of': {
      call: (me, id) => me.actingFor(id).upload('logo', pdf),
      answer: 'resource_missing',
      platformOnly: true,
    },
    'graph on behalf of': {
      call: (me, id) => me.actingFor(id).graph('{ viewer { account { id } } }'),
      answer: 'resource_missing',
      platformOnly: true,
    },
    'mutation on behalf of': {
      call: (me, id) => me.actingFor(id).graph('mutation { createApiKey(input: { permission: FULL }) { secret } }'),
      answer: 'resource_missing',
      platformOnly: true,
    },
    account: graphById('account'),
    updateAccount: mutation('updateAccount', (id) => ({ id, metadata: { a: '1' } })),
    activateAccount: byIdInput('activateAccount'),
    deactivateAccount: byIdInput('deactivateAccount'),
    verifyTestAccount: { ...byIdInput('verifyTestAccount'), testOnly: true },
    holdTestAccount: { ...byIdInput('holdTestAccount'), testOnly: true },
    deactivateTestAccount: { ...byIdInput('deactivateTestAccount'), testOnly: true },
    createAddress: mutation('createAddress', (id) => payoutAddressInput(id)),
    createPerson: mutation('createPerson', (accountId) => ({
      accountId,
      fullName: 'Asha Rao',
      relationship: { director: true },
      identification: { taxCardNumber: 'ABCDE1234F' },
    })),
    createApiKey: mutation('createApiKey', (accountId) => ({ accountId })),
    createSession: mutation('createSession', (accountId) => ({ accountId, role: 'READ' })),
    'POST session': write('/v1/sessions', (id) => ({ account_id: id, role: 'read' })),
    'GET sessions': read('/v1/sessions?account_id=:id', 'nothing'),
    sessions: filter('sessions', 'accountId: $id'),
    'POST webhook endpoint of': write('/v1/webhook_endpoints', (account_id) => ({ ...hook, account_id })),
    createWebhookEndpoint: mutation('createWebhookEndpoint', (accountId) => ({
      url: hook.url,
      eventTypes: hook.event_types,
      accountId,
    })),
    webhookEndpoints: filter('webhookEndpoints', 'accountId: $id'),
    exports: filter('exports', 'accountId: $id'),
    imports: filter('imports', 'accountId: $id'),
    createExport: mutation('createExport', (accountId) => ({ source: { partners: { accountId } }, format: 'CSV' })),
    'POST export of': write('/v1/exports', (id) => ({ list: `/v1/accounts/${id}/partners`, format: 'csv' })),
    'GET exports of': read('/v1/exports?account_id=:id', 'nothing'),
    accountSettings: filter('accountSettings', 'accountId: [$id]'),
    connectedAccountSettings: { ...filter('connectedAccountSettings', 'accountId: [$id]'), platformOnly: true },
    partners: { ...filter('partners', 'accountId: $id'), answer: 'resource_missing' },
    addresses: filter('addresses', 'linkedId: $id'),
    persons: filter('persons', 'accountId: $id'),
    files: filter('files', 'accountId: $id'),
    apiKeys: filter('apiKeys', 'accountId: $id'),
    balance: { ...filter('balance', 'accountId: $id', 'accountId'), answer: 'resource_missing' },
    balanceAggregate: { ...filter('balanceAggregate', 'accountId: $id', 'accountId'), answer: 'resource_missing' },
    balanceTransactions: { ...filter('balanceTransactions', 'accountId: $id'), answer: 'resource_missing' },
    deposits: filter('deposits', 'accountId: $id'),
    receivables: filter('receivables', 'accountId: $id'),
    payments: filter('payments', 'accountId: $id'),
    payouts: filter('payouts', 'accountId: $id'),
    'createDeposit to': {
      ...mutation('createDeposit', (accountId, me) => depositInput(me, { to: { accountId } })),
      testOnly: true,
    },
    'createDeposit from': {
      ...mutation('createDeposit', (accountId, me, own) =>
        depositInput(me, { to: { accountId: own.account }, from: { accountId } }),
      ),
      testOnly: true,
    },
    createReceivable: mutation('createReceivable', (accountId, me) => receivableInput(me, { accountId })),
    'POST receivable, customer': {
      ...write('/v1/receivables', (id, me) => receivableBody(me, { customer_id: id })),
      activatedWhenLive: true,
    },
    'createReceivable, customer': {
      ...mutation('createReceivable', (customerId, me) => receivableInput(me, { customerId })),
      activatedWhenLive: true,
    },
    'updateReceivable, customer': mutation('updateReceivable', (customerId, _, own) => ({
      id: own.receivable ?? customerId,
      customerId,
    })),
    ...ofOwn('file', 'usedByAccounts'),
  },
  account_setting: {
    ...nodes,
    ...cursors('/v1/account_settings', 'accountSettings'),
    'GET setting': read('/v1/account_settings/:id'),
    'GET connected after': {
      ...read('/v1/account_settings/connected?starting_after=:id', 'parameter_invalid'),
      platformOnly: true,
    },
    'POST setting': write('/v1/account_settings/:id', () => ({ metadata: { a: '1' } })),
    'POST setting, nothing': write('/v1/account_settings/:id', () => ({})),
    ...Object.fromEntries(
      Object.entries(graphCursors('connectedAccountSettings')).map(([name, probe]) => [
        name,
        { ...probe, platformOnly: true as const },
      ]),
    ),
    accountSetting: graphById('accountSetting'),
    updateAccountSetting: mutation('updateAccountSetting', (id) => ({ id, metadata: { a: '1' } })),
  },
  address: {
    ...nodes,
    ...cursors('/v1/addresses', 'addresses', 'addresses'),
    ...ofOwn('file', 'usedByAddresses'),
    'GET address': read('/v1/addresses/:id'),
    'POST address': write('/v1/addresses/:id', () => ({ metadata: { a: '1' } })),
    'POST address, nothing': write('/v1/addresses/:id', () => ({})),
    'POST expire': helper('/v1/test_helpers/addresses/:id/expire'),
    'POST test deactivate': helper('/v1/test_helpers/addresses/:id/deactivate'),
    address: graphById('address'),
    'GET deposits to': read('/v1/deposits?address_id=:id', 'nothing'),
    deposits: filter('deposits', 'addressId: $id'),
    updateAddress: mutation('updateAddress', (id) => ({ id, metadata: { a: '1' } })),
    expireTestAddress: { ...byIdInput('expireTestAddress'), testOnly: true },
    deactivateTestAddress: { ...byIdInput('deactivateTestAddress'), testOnly: true },
    'POST deposit to': {
      ...write('/v1/deposits', (id, me) => depositBody(me, { to: { address_id: id } })),
      testOnly: true,
    },
    'POST deposit from': {
      ...write('/v1/deposits', (id, me, own) =>
        depositBody(me, { to: { account_id: own.account }, from: { address_id: id } }),
      ),
      testOnly: true,
    },
    'createDeposit to': {
      ...mutation('createDeposit', (addressId, me) => depositInput(me, { to: { addressId } })),
      testOnly: true,
    },
    'createDeposit from': {
      ...mutation('createDeposit', (addressId, me, own) =>
        depositInput(me, { to: { accountId: own.account }, from: { addressId } }),
      ),
      testOnly: true,
    },
  },
  file: {
    ...nodes,
    ...cursors('/v1/files', 'files', 'files'),
    'GET file': read('/v1/files/:id'),
    'GET content': read('/v1/files/:id/content'),
    'POST import': write('/v1/imports', (file_id) => ({ kind: 'partners', file_id })),
    createImport: mutation('createImport', (fileId) => ({ kind: 'PARTNERS', fileId })),
    ...Object.fromEntries(
      (['taxCardImage', 'passportImage'] as const).map((name) => [
        `updatePerson, ${name}`,
        mutation('updatePerson', (id, _, own) => ({ id: own.person, identification: { [name]: id } })),
      ]),
    ),
    'POST person, tax card': write('/v1/persons', (id) => personBody({ tax_card_image: id })),
    'POST person, passport': write('/v1/persons', (id) => personBody({ passport_image: id })),
    'POST address, document': write('/v1/addresses', (id, me) =>
      payoutAddressBody(me.id, { supporting_documentation: { id_document: id } }),
    ),
    'POST receivable, invoice': {
      ...write('/v1/receivables', (id, me) => receivableBody(me, {}, id)),
      activatedWhenLive: true,
    },
    createReceivable: {
      ...mutation('createReceivable', (id, me) => receivableInput(me, {}, id)),
      activatedWhenLive: true,
    },
    file: graphById('file'),
    createAddress: mutation('createAddress', (id, me) =>
      payoutAddressInput(me.id, { supportingDocumentation: { idDocument: id } }),
    ),
    createPerson: mutation('createPerson', (id) => ({
      fullName: 'Asha Rao',
      relationship: { owner: true },
      identification: { taxCardImage: id },
    })),
    'createPerson, passport': mutation('createPerson', (id) => ({
      fullName: 'Asha Rao',
      relationship: { owner: true },
      identification: { taxCardNumber: 'ABCDE1234F', passportImage: id },
    })),
    'createConnectedUser, logo': { ...mutation('createConnectedUser', (id) => ({ logoId: id })), platformOnly: true },
    ...documented('createConnectedUser', (supportingDocumentation) => ({ supportingDocumentation })),
  },
  key: {
    ...nodes,
    ...graphCursors('apiKeys', 'apiKeys'),
    apiKey: graphById('apiKey'),
    rotateApiKey: byIdInput('rotateApiKey'),
    revokeApiKey: byIdInput('revokeApiKey'),
  },
  session: {
    ...nodes,
    ...cursors('/v1/sessions', 'sessions', 'sessions'),
    ...ofOwn('apiKey', 'sessions'),
    'GET session': read('/v1/sessions/:id'),
    'POST revoke': write('/v1/sessions/:id/revoke', () => ({})),
    session: graphById('session'),
    revokeSession: byIdInput('revokeSession'),
  },
  webhook: {
    ...nodes,
    ...cursors('/v1/webhook_endpoints', 'webhookEndpoints', 'webhookEndpoints'),
    'GET webhook endpoint': read('/v1/webhook_endpoints/:id'),
    'GET deliveries to': { ...read('/v1/webhook_endpoints/:id/deliveries'), answer: 'nothing' },
    'POST webhook endpoint': write('/v1/webhook_endpoints/:id', () => ({ description: 'mine' })),
    'POST rotate': write('/v1/webhook_endpoints/:id/rotate_secret', () => ({})),
    'POST test': write('/v1/webhook_endpoints/:id/test', () => ({})),
    'POST redeliver': write('/v1/webhook_endpoints/:id/redeliver', () => ({ after_number: 0 })),
    webhookEndpoint: graphById('webhookEndpoint'),
    updateWebhookEndpoint: mutation('updateWebhookEndpoint', (id) => ({ id, description: 'mine' })),
    rotateWebhookSecret: byIdInput('rotateWebhookSecret'),
    testWebhookEndpoint: byIdInput('testWebhookEndpoint'),
    redeliverWebhooks: mutation('redeliverWebhooks', (id) => ({ id, afterNumber: 0 })),
    webhookDeliveries: filter('webhookDeliveries', 'endpointId: $id'),
  },
  export: {
    ...nodes,
    ...cursors('/v1/exports', 'exports', 'exports'),
    'GET export': read('/v1/exports/:id'),
    'GET export content': read('/v1/exports/:id/content'),
    export: graphById('export'),
  },
  import: {
    ...nodes,
    ...cursors('/v1/imports', 'imports', 'imports'),
    ...ofOwn('file', 'imports'),
    'GET import': read('/v1/imports/:id'),
    'GET rows of': { ...read('/v1/imports/:id/rows'), answer: 'nothing' },
    import: graphById('import'),
    importRows: filter('importRows', 'importId: $id'),
  },
  import_row: {
    ...nodes,
    ...cursors('/v1/import_rows', 'importRows'),
    ...ofOwn('import', 'results'),
    'GET import row': read('/v1/import_rows/:id'),
    importRow: graphById('importRow'),
  },
  req: {
    ...nodes,
    ...cursors('/v1/request_logs', 'requestLogs'),
    'GET request': read('/v1/request_logs/:id'),
    requestLog: graphById('requestLog'),
  },
  delivery: {
    ...nodes,
    ...cursors('/v1/webhook_deliveries', 'webhookDeliveries'),
    ...ofOwn('webhookEndpoint', 'deliveries'),
    ...ofOwn('event', 'deliveries'),
    'GET delivery': read('/v1/webhook_deliveries/:id'),
    webhookDelivery: graphById('webhookDelivery'),
    'POST redeliver': write('/v1/webhook_endpoints/:webhook/redeliver', (delivery_id) => ({ delivery_id })),
    redeliverWebhooks: mutation('redeliverWebhooks', (deliveryId, _, own) => ({ id: own.webhook, deliveryId })),
  },
  person: {
    ...nodes,
    ...cursors('/v1/persons', 'persons', 'persons'),
    ...ofOwn('file', 'usedByPersons'),
    'GET person': read('/v1/persons/:id'),
    person: graphById('person'),
    'POST person': write('/v1/persons/:id', () => ({ full_name: 'Mallory' })),
    'POST person, nothing': write('/v1/persons/:id', () => ({})),
    'POST remove': write('/v1/persons/:id/remove', () => ({})),
    updatePerson: mutation('updatePerson', (id) => ({ id, fullName: 'Mallory' })),
    removePerson: byIdInput('removePerson'),
  },
  deposit: {
    ...nodes,
    ...cursors('/v1/deposits', 'deposits', 'depositsIn'),
    ...graphCursors('deposits', 'depositsOut'),
    ...ofOwn('address', 'deposits'),
    ...ofOwn('deposit', 'disputedBy'),
    'GET deposit': read('/v1/deposits/:id'),
    'POST reconcile': write('/v1/deposits/:id/reconcile', (id, _, own) => ({
      receivables: [{ id: own.receivable ?? id, amount: '1.00' }],
    })),
    ...Object.fromEntries(
      ['process', 'complete', 'fail', 'cancel', 'reverse', 'dispute'].flatMap((verb) => [
        [`POST ${verb}`, helper(`/v1/test_helpers/deposits/:id/${verb}`)],
        [`${verb}TestDeposit`, { ...byIdInput(`${verb}TestDeposit`), testOnly: true as const }],
      ]),
    ),
    deposit: graphById('deposit'),
    reconcileDeposit: mutation('reconcileDeposit', (id, _, own) => ({
      id,
      receivables: [{ id: own.receivable ?? id, amount: '1.00' }],
    })),
  },
  checkout: {
    ...nodes,
    ...inSecond({
      ...cursors('/v1/checkouts', 'checkouts', 'checkoutsIn'),
      ...graphCursors('checkouts', 'checkoutsOut'),
      ...ofOwn('receivable', 'checkouts'),
      'GET checkout': read('/v1/checkouts/:id'),
      'POST cancel': write('/v1/checkouts/:id/cancel', () => ({})),
      ...Object.fromEntries(
        ['pay', 'decline', 'expire'].flatMap((verb) => [
          [`POST ${verb}`, helper(`/v1/test_helpers/checkouts/:id/${verb}`)],
          [`${verb}TestCheckout`, { ...byIdInput(`${verb}TestCheckout`), testOnly: true as const }],
        ]),
      ),
      checkout: graphById('checkout'),
      cancelCheckout: byIdInput('cancelCheckout'),
    }),
  },
  transaction: {
    ...nodes,
    ...inSecond({
      'GET transaction': read('/v1/transactions/:id'),
      transaction: graphById('transaction'),
      ...ofOwn('checkout', 'transactions'),
    }),
  },
  receivable: {
    ...nodes,
    ...inSecond({
      'POST checkout of': write('/v1/checkouts', (id, _, own) => checkoutBody(own.account, id)),
      'createCheckout of': mutation('createCheckout', (id, _, own) => checkoutInput(own.account, id)),
    }),
    ...cursors('/v1/receivables', 'receivables', 'receivables'),
    ...graphCursors('receivables', 'billedReceivables'),
    ...ofOwn('file', 'usedByReceivables'),
    'GET receivable': read('/v1/receivables/:id'),
    'POST receivable': write('/v1/receivables/:id', () => ({ description: 'mine' })),
    'POST receivable, nothing': write('/v1/receivables/:id', () => ({})),
    'POST void': write('/v1/receivables/:id/void', () => ({})),
    'POST reconcile with': write('/v1/deposits/:deposit/reconcile', (id) => ({
      receivables: [{ id, amount: '1.00' }],
    })),
    receivable: graphById('receivable'),
    updateReceivable: mutation('updateReceivable', (id) => ({ id, description: 'mine' })),
    voidReceivable: byIdInput('voidReceivable'),
    'reconcileDeposit with': mutation('reconcileDeposit', (id, _, own) => ({
      id: own.deposit,
      receivables: [{ id, amount: '1.00' }],
    })),
  },
  payment: {
    ...nodes,
    ...cursors('/v1/payments', 'payments', 'payments'),
    ...inSecond(ofOwn('checkout', 'payments')),
    'GET payment': read('/v1/payments/:id'),
    'GET transactions of': read('/v1/balance_transactions?payment_id=:id', 'nothing'),
    payment: graphById('payment'),
    balanceTransactions: filter('balanceTransactions', 'paymentId: [$id]'),
    'account.balanceTransactions': {
      call: (me, id) =>
        me.graph(
          'query ($id: ID!) { viewer { account { ' +
            'balanceTransactions(paymentId: [$id]) { nodes { id } totalCount } } } }',
          { id },
        ),
      answer: 'nothing',
    },
  },
  payout: {
    ...nodes,
    ...cursors('/v1/payouts', 'payouts', 'payouts'),
    'GET payout': read('/v1/payouts/:id'),
    'POST settle': helper('/v1/test_helpers/payouts/:id/settle'),
    'POST fail': helper('/v1/test_helpers/payouts/:id/fail'),
    payout: graphById('payout'),
    settleTestPayout: { ...byIdInput('settleTestPayout'), testOnly: true },
    failTestPayout: { ...byIdInput('failTestPayout'), testOnly: true },
    ...ofOwn('address', 'payouts'),
  },
  // Allocations have cursors and no ids.
  allocation: {
    ...ofOwn('deposit', 'allocations', 'nodes { created }'),
    ...ofOwn('receivable', 'allocations', 'nodes { created }'),
    ...ofOwn('payout', 'allocations', 'nodes { created }'),
  },
  bt: {
    ...nodes,
    ...cursors('/v1/balance_transactions', 'balanceTransactions', 'balanceTransactions'),
    'GET transaction': read('/v1/balance_transactions/:id'),
    balanceTransaction: graphById('balanceTransaction'),
    ...ofOwn('payment', 'balanceTransactions'),
  },
  event: {
    ...nodes,
    ...cursors('/v1/events', 'events', 'events'),
    'GET event': read('/v1/events/:id'),
    event: graphById('event'),
  },
};
/** Requests that only a connected user in draft accepts: references from its details. */
const draftProbes: Record<string, Probe> = {
  'POST account, logo': write('/v1/accounts/:me', (id) => ({ logo_id: id })),
  'POST account, document': write('/v1/accounts/:me', (id) => ({ supporting_documentation: { id_document: id } })),
  ...documented('updateAccount', (supportingDocumentation, me) => ({ id: me.id, supportingDocumentation })),
  'updateAccount, logo': mutation('updateAccount', (id, me) => ({ id: me.id, logoId: id })),
};

const invented = (id: string) => {
  const prefix = id.slice(0, id.lastIndexOf('_') + 1);
  return prefix + '0123456789abcdef'.repeat(2).slice(0, id.length - prefix.length);
};

/** A response without the parts that always differ: its request id, the time, and the connection. */
function comparable({ status, headers, text }: Reply) {
  const own = headers.get('request-id')!;
  const varying = ['request-id', 'date', 'keep-alive', 'connection', 'content-length', 'ratelimit'];
  const kept = [...headers].filter(([name]) => !varying.includes(name));
  // What is left of the allowance depends on the time. What the request cost must not depend on the object.
  const fixed = text.replace(/"remaining":\d+,"restoreRate":(\d+),"resetSeconds":\d+/g, '"restoreRate":$1');
  return { status, headers: kept, text: fixed.replaceAll(own, '(request)') };
}

/** The code of a response, or that it shows nothing: no object, or an empty list. */
function answerOf({ status, codes, body }: Reply): string {
  if (codes.length > 0) return [...new Set(codes)].join(' ');
  const shown = body.data?.data ?? body.data;
  const empty = (value: unknown): boolean =>
    value === null ||
    (Array.isArray(value) && value.every(empty)) ||
    (typeof value === 'object' && Object.values(value as object).every((member) => member === 0 || empty(member)));
  return status === 200 && shown !== undefined && empty(shown) ? 'nothing' : `${status} ${JSON.stringify(body)}`;
}

/**
 * Every row of every table, as text, for a comparison of before and after. The time of a key's last use is ignored, and
 * what is left of an allowance.
 */
async function everyRow(): Promise<Record<string, string[]>> {
  const tables = await world.sql`select table_name as name from information_schema.tables where table_schema = 'public'
      and table_type = 'BASE TABLE' and table_name <> 'allowance'`;
  const out: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await world.sql.unsafe(
      `select (to_jsonb(t) - 'last_used_at' - 'content')::text as row from "${name}" t order by 1`,
    );
    out[name as string] = rows.map(({ row }) => row as string);
  }
  return out;
}

/** The caller, which determines the domain errors that are returned before any id is read. */
interface Asker {
  kind: 'platform' | 'direct_user' | 'connected_user';
  live?: boolean;
  /** Whether the caller acts for a connected user: it may act for the siblings as well, and has no connected users. */
  acting?: boolean;
  /** Creates the caller's own objects when the caller's headers do not allow it. */
  own?: Speaker;
}

/**
 * Sends probes with the foreign ids and with invented ones. The responses must be equal, and nothing may change. Where
 * not everything is tried, each probe is sent about the objects of one of the strangers.
 */
async function askAll(
  me: Speaker,
  { kind, live = false, acting = false, own: owner = me }: Asker,
  whose: [what: (stranger: Speaker) => Promise<Holdings>, of: Speaker][],
) {
  const own = await holdings(owner);
  const strangers: Holdings[] = [];
  for (const [what, stranger] of whose) strangers.push(await what(stranger));
  const before = await everyRow();
  const drafts = kind === 'connected_user' || acting ? draftProbes : {};
  // Edition 2 runs the same code: of its further foreign objects, the account is sufficient.
  const every = strangers.map((stranger, i) =>
    (Object.keys(stranger) as (keyof Holdings)[])
      .filter((object) => me.edition === 1 || i === 0 || object.startsWith('account'))
      .flatMap((object) =>
        Object.entries({ ...probes[object], ...(object === 'file' ? drafts : {}) })
          .filter(([name]) => own.checkout !== undefined || !/^checkout\.(transactions|payments)/.test(name))
          .filter(([name]) => own.receivable !== undefined || !/^receivable\.(allocations|checkouts)/.test(name))
          .filter(([name]) => own.payout !== undefined || !name.startsWith('payout.allocations'))
          .filter(([name]) => !(acting && /on behalf of$|^createConnectedUser/.test(name)))
          .map(([name, probe]) => ({ object, name, probe, id: stranger[object]! })),
      ),
  );
  const table = every.flatMap((probesOf, i) => probesOf.map((row) => ({ ...row, stranger: i })));
  const asked = covering(table, ({ object, name, stranger }) => [`${object} ${name}`, stranger], 1);
  const wrong: object[] = [];
  await inTurns(asked, 24, async ({ object, name, probe, id }) => {
    const fake = invented(id);
    expect([fake.length, fake === id]).toEqual([id.length, false]);
    const [real, none] = await Promise.all([probe.call(me, id, own), probe.call(me, fake, own)]);
    // The settings of connected users are for a platform that acts as itself.
    const asItself = acting && /^(GET connected |connectedAccountSettings)/.test(name);
    const denied = asItself || (probe.platformOnly && kind !== 'platform') || (probe.testOnly && live);
    const withheld = probe.edition !== undefined && probe.edition !== me.edition;
    const draft = probe.activatedWhenLive && live && kind === 'connected_user';
    const answer =
      probe.second && me.edition === 1
        ? 'route_missing'
        : denied
          ? 'permission_denied'
          : withheld
            ? 'parameter_unknown'
            : draft
              ? 'status_invalid'
              : probe.answer;
    const same = JSON.stringify(comparable(real)) === JSON.stringify(comparable(none));
    if (!same || answerOf(real) !== answer || answerOf(none) !== answer)
      wrong.push({
        object,
        name,
        answer,
        real: answerOf(real),
        none: answerOf(none),
        responses: [comparable(real), comparable(none)],
      });
  });
  expect(wrong).toEqual([]);
  expect(asked.length).toBeGreaterThan(200);
  expect(await everyRow()).toEqual(before);
}

/** The root or connected user itself, with the other objects that it owns. */
async function itself(owner: Speaker): Promise<Holdings> {
  const [rest, setting] = await Promise.all([
    holdings(owner),
    owner.graph('{ viewer { account { setting { id } } } }'),
  ]);
  return { ...rest, account: owner.id, account_setting: setting.body.data.viewer.account.setting.id };
}

const probed = `
  account.addresses.after account.addresses.before account.apiKeys.after account.apiKeys.before
  account.balanceTransactions.after account.balanceTransactions.before account.balanceTransactions.paymentId
  account.billedReceivables.after account.billedReceivables.before account.checkoutsIn.after
  account.checkoutsIn.before account.checkoutsOut.after account.checkoutsOut.before account.connectedUsers.after
  account.connectedUsers.before account.depositsIn.after account.depositsIn.before account.depositsOut.after
  account.depositsOut.before account.events.after account.events.before account.exports.after account.exports.before
  account.files.after account.files.before account.id account.imports.after account.imports.before
  account.partners.after account.partners.before account.payments.after account.payments.before account.payouts.after
  account.payouts.before account.persons.after account.persons.before account.receivables.after
  account.receivables.before account.sessions.after account.sessions.before account.webhookEndpoints.after
  account.webhookEndpoints.before accountSetting.id accountSettings.accountId accountSettings.after
  accountSettings.before accounts.after accounts.before activateAccount.id address.deposits.after
  address.deposits.before address.id address.payouts.after address.payouts.before addresses.after addresses.before
  addresses.linkedId apiKey.id apiKey.sessions.after apiKey.sessions.before apiKeys.accountId apiKeys.after
  apiKeys.before balance.accountId balanceAggregate.accountId balanceTransaction.id balanceTransactions.accountId
  balanceTransactions.after balanceTransactions.before balanceTransactions.paymentId cancelCheckout.id
  cancelTestDeposit.id checkout.id checkout.payments.after checkout.payments.before checkout.transactions.after
  checkout.transactions.before checkouts.accountId checkouts.after checkouts.before completeTestDeposit.id
  connectedAccountSettings.accountId connectedAccountSettings.after connectedAccountSettings.before
  createAddress.linkedId createAddress.supportingDocumentation.idDocument createApiKey.accountId
  createCheckout.from.accountId createCheckout.receivables.id createConnectedUser.logoId
  createConnectedUser.supportingDocumentation.idDocument
  createConnectedUser.supportingDocumentation.ownershipStructureDocument
  createConnectedUser.supportingDocumentation.physicalAddressDocument createDeposit.from.accountId
  createDeposit.from.addressId createDeposit.to.accountId createDeposit.to.addressId
  createExport.source.partners.accountId createImport.fileId createPerson.accountId
  createPerson.identification.passportImage createPerson.identification.taxCardImage createReceivable.accountId
  createReceivable.customerId createReceivable.invoice.document createSession.accountId createTestWallet.id
  createWebhookEndpoint.accountId deactivateAccount.id deactivateTestAccount.id deactivateTestAddress.id
  declineTestCheckout.id deposit.allocations.after deposit.allocations.before deposit.disputedBy.after
  deposit.disputedBy.before deposit.id deposits.accountId deposits.addressId deposits.after deposits.before
  disputeTestDeposit.id event.deliveries.after event.deliveries.before event.id events.accountId events.after
  events.before events.objectId expireTestAddress.id expireTestCheckout.id export.id exports.accountId exports.after
  exports.before failTestDeposit.id failTestPayout.id file.id file.imports.after file.imports.before
  file.usedByAccounts.after file.usedByAccounts.before file.usedByAddresses.after file.usedByAddresses.before
  file.usedByPersons.after file.usedByPersons.before file.usedByReceivables.after file.usedByReceivables.before
  files.accountId files.after files.before holdTestAccount.id import.id import.results.after import.results.before
  importRow.id importRows.after importRows.before importRows.importId imports.accountId imports.after imports.before
  node.id nodes.ids partners.accountId partners.after partners.before payTestCheckout.id
  payment.balanceTransactions.after payment.balanceTransactions.before payment.id payments.accountId payments.after
  payments.before payout.allocations.after payout.allocations.before payout.id payouts.accountId payouts.after
  payouts.before person.id persons.accountId persons.after persons.before processTestDeposit.id
  receivable.allocations.after receivable.allocations.before receivable.checkouts.after receivable.checkouts.before
  receivable.id receivables.accountId receivables.after receivables.before reconcileDeposit.id
  reconcileDeposit.receivables.id redeliverWebhooks.deliveryId redeliverWebhooks.id removePerson.id requestLog.id
  requestLogs.after requestLogs.before reverseTestDeposit.id revokeApiKey.id revokeSession.id rotateApiKey.id
  rotateWebhookSecret.id session.id sessions.accountId sessions.after sessions.before settleTestPayout.id
  testWebhookEndpoint.id transaction.id updateAccount.id updateAccount.logoId
  updateAccount.supportingDocumentation.idDocument updateAccount.supportingDocumentation.ownershipStructureDocument
  updateAccount.supportingDocumentation.physicalAddressDocument updateAccountSetting.id updateAddress.id
  updatePerson.id updatePerson.identification.passportImage updatePerson.identification.taxCardImage
  updateReceivable.customerId updateReceivable.id updateWebhookEndpoint.id verifyTestAccount.id voidReceivable.id
  webhookDeliveries.after webhookDeliveries.before webhookDeliveries.endpointId webhookDelivery.id
  webhookEndpoint.deliveries.after webhookEndpoint.deliveries.before webhookEndpoint.id webhookEndpoints.accountId
  webhookEndpoints.after webhookEndpoints.before
`
  .trim()
  .split(/\s+/);

describe('the probes', () => {
  // An argument of type ID can name a foreign object: a new one must be probed above before it is listed here.
  it('cover every argument that takes an id, on every type', () => {
    const of = (type: GraphQLInputType, at: string): string[] => {
      const named = getNamedType(type);
      if (named instanceof GraphQLInputObjectType)
        return Object.values(named.getFields()).flatMap((field) => of(field.type, `${at}.${field.name}`));
      return named.name === 'ID' ? [at] : [];
    };
    const ownerOf = ({ name }: { name: string }) =>
      /^(Query|Mutation)$/.test(name) ? '' : `${name[0]!.toLowerCase()}${name.slice(1)}.`;
    const taken = Object.values(buildGraph().getTypeMap())
      // Subscriptions have tests of their own: test/api/subscription.test.ts.
      .filter((type) => type instanceof GraphQLObjectType && !/^(__|Subscription$)/.test(type.name))
      .flatMap((type) =>
        Object.values((type as GraphQLObjectType).getFields()).flatMap((field) =>
          field.args.flatMap((arg) => of(arg.type, `${ownerOf(type)}${field.name}.${arg.name}`)),
        ),
      )
      .map((path) => path.replace('.input.', '.'))
      // A source has the arguments of the query of its name, which are probed there: test/api/export.test.ts.
      .filter((path) => !path.startsWith('createExport.source.') || path === 'createExport.source.partners.accountId');
    expect(taken.sort()).toEqual(probed);
  });
});

describe('an object outside the visibility', () => {
  for (const edition of [1, 2] as const) {
    it(`does not exist for another platform: its root, its users, its partners, Edition ${edition}`, async () => {
      const [me, stranger] = await Promise.all([given.platform(edition), given.platform(edition)]);
      const user = await stranger.connectedUser();
      await askAll(me, { kind: 'platform' }, [
        [itself, stranger],
        [itself, user],
        [holdings, user],
      ]);
    });

    it(`does not exist for a direct user, of a platform or another direct user, Edition ${edition}`, async () => {
      const [me, platform, stranger] = await Promise.all([
        given.directUser(edition),
        given.platform(edition),
        given.directUser(edition),
      ]);
      await askAll(me, { kind: 'direct_user' }, [
        [itself, platform],
        [holdings, stranger],
      ]);
    });

    it(`does not exist for a connected user: platform, siblings and their partners, Edition ${edition}`, async () => {
      const platform = await given.platform(edition);
      const [me, sibling] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
      await askAll(me, { kind: 'connected_user' }, [
        [itself, platform],
        [itself, sibling],
      ]);
    });

    it(`does not exist for a platform while it acts for another of its users, Edition ${edition}`, async () => {
      const platform = await given.platform(edition);
      const [user, sibling] = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
      const me = new Speaker(world, user.id, platform.key, edition, { 'on-behalf-of': user.id });
      await askAll(me, { kind: 'platform', acting: true, own: user }, [
        [holdings, platform],
        [itself, sibling],
        [holdings, sibling],
      ]);
    });

    it(`does not exist in the other mode of the same platform, Edition ${edition}`, async () => {
      const { test, live } = await given.platformBoth(edition);
      const [tested, lived] = await Promise.all([test.connectedUser(), live.connectedUser()]);
      await askAll(test, { kind: 'platform' }, [
        [holdings, live],
        [itself, lived],
      ]);
      await askAll(live, { kind: 'platform', live: true }, [
        [holdings, test],
        [itself, tested],
      ]);
    });
  }

  it('does not exist in the other mode of the same direct user and connected user', async () => {
    const [direct, platform] = await Promise.all([given.directUserBoth(1), given.platformBoth(1)]);
    const [tested, lived] = await Promise.all([platform.test.connectedUser(), platform.live.connectedUser()]);
    await askAll(direct.test, { kind: 'direct_user' }, [[holdings, direct.live]]);
    await askAll(direct.live, { kind: 'direct_user', live: true }, [[holdings, direct.test]]);
    await askAll(tested, { kind: 'connected_user' }, [[itself, lived]]);
    await askAll(lived, { kind: 'connected_user', live: true }, [[itself, tested]]);
  });

  it('does not exist across the editions', async () => {
    const [first, second] = await Promise.all([given.platform(1), given.platform(2)]);
    await askAll(first, { kind: 'platform' }, [[itself, second]]);
  });

  // The same calls find the caller's own objects, which proves that the errors above are about visibility.
  it('exists for its owner, with the same calls', async () => {
    const me = await given.platform(1);
    const mine = await itself(me);
    const partner = await holdings(me);
    const gets = [
      `/v1/accounts/${partner.account}`,
      `/v1/account_settings/${partner.account_setting}`,
      `/v1/account_settings?account_id=${partner.account}`,
      `/v1/addresses/${mine.address}`,
      `/v1/addresses?linked_id=${mine.account}`,
      `/v1/persons/${mine.person}`,
      `/v1/persons?account_id=${mine.account}`,
      `/v1/files/${mine.file}`,
      `/v1/files/${mine.file}/content`,
      `/v1/files?starting_after=${mine.file}`,
      `/v1/balance?account_id=${partner.account}`,
      `/v1/balance/aggregate?account_id=${mine.account}`,
      `/v1/accounts/${partner.account}/balance_transactions`,
      `/v1/balance_transactions/${mine.bt}`,
      `/v1/deposits/${mine.deposit}`,
      `/v1/deposits?account_id=${partner.account}`,
      `/v1/receivables/${mine.receivable}`,
      `/v1/payments/${mine.payment}`,
      `/v1/payouts/${mine.payout}`,
      `/v1/events/${mine.event}`,
      `/v1/webhook_endpoints/${mine.webhook}/deliveries`,
      `/v1/webhook_deliveries/${mine.delivery}`,
      `/v1/request_logs/${mine.req}`,
      `/v1/exports/${mine.export}`,
      `/v1/imports/${mine.import}/rows`,
      `/v1/import_rows/${mine.import_row}`,
      `/v1/events?object_id=${mine.file}`,
    ];
    // One after the other: some are slow questions, of which a tenant has two at a time.
    const statuses: number[] = [];
    for (const path of gets) statuses.push((await me.get(path)).status);
    expect(statuses).toEqual(gets.map(() => 200));
    const ids = Object.values({ ...mine, allocation: undefined }).filter((id) => id !== undefined);
    const nodes = await me.graph('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expect(nodes.body.data.nodes.map(({ id }: { id: string }) => id)).toEqual(ids);
  });

  it('is not revealed by the owner field of visible accounts', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const partner = await user.partner();
    const owners = 'query ($id: ID!) { viewer { account { id owner { id } } } account(id: $id) { owner { id } } }';
    expect((await user.graph(owners, { id: partner.id })).body.data).toEqual({
      viewer: { account: { id: user.id, owner: null } },
      account: { owner: { id: user.id } },
    });
    expect((await platform.graph(owners, { id: user.id })).body.data).toEqual({
      viewer: { account: { id: platform.id, owner: null } },
      account: { owner: { id: platform.id } },
    });
  });
});

describe('lists', () => {
  /** The lists of an acting account, computed from the ownership of the rows: its accounts, and what these own. */
  async function owned(speaker: Speaker, live: boolean, accounts: string[]): Promise<Record<string, string[]>> {
    const of = async (table: string, column: string) =>
      (
        await world.sql.unsafe(`select id from ${table} where livemode = $1 and ${column} = any($2)`, [live, accounts])
      ).map(({ id }) => id as string);
    return {
      accounts,
      accountSettings: await of('account_setting', 'account_id'),
      addresses: await of('address', 'linked_id'),
      persons: await of('person', 'account_id'),
      files: await of('file', 'account_id'),
      apiKeys: await of('api_key', 'account_id'),
      sessions: await of('session', 'account_id'),
      webhookEndpoints: await of('webhook_endpoint', 'account_id'),
      webhookDeliveries: await of('webhook_delivery', 'context_id'),
      requestLogs: await of('request_log', 'context_id'),
      exports: await of('data_export', 'account_id'),
      imports: await of('data_import', 'account_id'),
      importRows: await of('import_row', 'context_id'),
      deposits: [...new Set([...(await of('deposit', 'to_account_id')), ...(await of('deposit', 'from_account_id'))])],
      receivables: await of('receivable', 'account_id'),
      payments: await of('payment', 'account_id'),
      payouts: await of('payout', 'account_id'),
      ...(speaker.edition === 2 && {
        checkouts: [
          ...new Set([...(await of('checkout', 'to_account_id')), ...(await of('checkout', 'from_account_id'))]),
        ],
      }),
      // These rows have no account, so they belong to the acting account.
      balanceTransactions: (
        await world.sql`select id from entry where livemode = ${live} and account_id = ${speaker.id}`
      ).map(({ id }) => id as string),
    };
  }

  async function walk(speaker: Speaker, path: string): Promise<string[]> {
    const ids: string[] = [];
    for (let after = ''; ; after = `&starting_after=${ids.at(-1)}`) {
      const { body } = await speaker.get(`${path}?limit=3${after}`);
      ids.push(...body.data.map(({ id }: { id: string }) => id));
      if (!body.has_next) return ids;
    }
  }

  const rest: Record<string, string> = {
    accounts: '/v1/accounts',
    accountSettings: '/v1/account_settings',
    addresses: '/v1/addresses',
    persons: '/v1/persons',
    files: '/v1/files',
    checkouts: '/v1/checkouts',
    deposits: '/v1/deposits',
    receivables: '/v1/receivables',
    payments: '/v1/payments',
    payouts: '/v1/payouts',
    requestLogs: '/v1/request_logs',
    balanceTransactions: '/v1/balance_transactions',
  };

  async function check(speaker: Speaker, expected: Record<string, string[]>): Promise<void> {
    for (const [list, ids] of Object.entries(expected)) {
      const page = await speaker.graph(`{ ${list}(first: 100) { nodes { id } totalCount } }`);
      const { nodes, totalCount } = page.body.data[list];
      expect([list, nodes.map(({ id }: { id: string }) => id).sort(), totalCount]).toEqual([
        list,
        [...ids].sort(),
        ids.length,
      ]);
      if (rest[list]) expect([list, (await walk(speaker, rest[list])).sort()]).toEqual([list, [...ids].sort()]);
    }
  }

  for (const edition of [1, 2] as const)
    it(`show what the accounts of the acting one own, and nothing else, in each mode, Edition ${edition}`, async () => {
      const [platform, direct, stranger] = await Promise.all([
        given.platformBoth(edition),
        given.directUserBoth(edition),
        given.platform(edition),
      ]);
      for (const owner of [stranger, await stranger.connectedUser()]) await holdings(owner);
      for (const mode of ['test', 'live'] as const) {
        const live = mode === 'live';
        const root = platform[mode];
        const [one, other] = await Promise.all([root.connectedUser(), root.connectedUser()]);
        for (const owner of [root, one, other, direct[mode]]) await holdings(owner);
        const partnerOf = async (owner: Speaker) =>
          (
            await world.sql`select id from account where livemode = ${live} and owner_id = ${owner.id}
              and kind = 'partner'`
          ).map(({ id }) => id as string);
        const context = async (speaker: Speaker) => owned(speaker, live, [speaker.id, ...(await partnerOf(speaker))]);

        await check(root, await owned(root, live, [root.id, one.id, other.id]));
        await check(one, await context(one));
        await check(other, await context(other));
        await check(direct[mode], await context(direct[mode]));
        await check(root.actingFor(one.id), await context(one));

        const connected = await walk(root, '/v1/account_settings/connected');
        const settings = await owned(root, live, [root.id, one.id, other.id]);
        expect(connected).toHaveLength(2);
        expect(settings.accountSettings).toEqual(expect.arrayContaining(connected));

        // Events are about objects in the visibility, for every caller.
        for (const speaker of [root, one, direct[mode], root.actingFor(one.id)]) {
          const reply = await speaker.graph('{ events(first: 100) { nodes { objectId } } }');
          const about = [...new Set(reply.body.data.events.nodes.map((e: { objectId: string }) => e.objectId))];
          expect(about.length).toBeGreaterThan(5);
          const reached = await speaker.graph('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: about });
          expect(reached.body.data.nodes.map((node: { id: string } | null) => node?.id)).toEqual(about);
        }
      }
    });

  it('that belong to an account show what it owns, at every depth', async () => {
    const platform = await given.platform(1);
    const users = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
    const all: Holdings[] = [];
    for (const owner of [platform, ...users]) all.push(await holdings(owner));
    const [mine, ...theirs] = all;
    const edges =
      'addresses { nodes { id account { id } } } persons { nodes { id account { id } } } files(purpose: ' +
      '[IDENTITY_DOCUMENT]) { nodes { id account { id } } } setting { account { id } } owner { id }';
    const reply = await platform.graph(
      `{ viewer { account { id partners { nodes { id owner { id } } }
           connectedUsers { nodes { id ${edges} partners { nodes { id owner { id } setting { id account { id } } } } } }
           } } }`,
    );
    const { account } = reply.body.data.viewer;
    expect(account.partners.nodes).toEqual([{ id: mine!.account, owner: { id: platform.id } }]);
    const shown = users.map((user, i) => {
      const of = { account: { id: user.id } };
      return {
        id: user.id,
        addresses: { nodes: [{ id: theirs[i]!.address, ...of }] },
        persons: { nodes: [{ id: theirs[i]!.person, ...of }] },
        files: { nodes: [{ id: theirs[i]!.file, ...of }] },
        setting: of,
        owner: { id: platform.id },
        partners: {
          nodes: [
            {
              id: theirs[i]!.account,
              owner: { id: user.id },
              setting: { id: theirs[i]!.account_setting, account: { id: theirs[i]!.account } },
            },
          ],
        },
      };
    });
    expect(account.connectedUsers.nodes).toHaveLength(2);
    expect(account.connectedUsers.nodes).toEqual(expect.arrayContaining(shown));
  });
});

describe('a root account', () => {
  const roots: [kind: 'platform' | 'direct user', edition: Edition, tested: string, capability: object[]][] = [
    ['platform', 1, 'activated', [{ multicurrency_exports_v1: 'activated' }, { multicurrency_exports_v1: 'pending' }]],
    [
      'direct user',
      1,
      'activated',
      [{ multicurrency_exports_v1: 'activated' }, { multicurrency_exports_v1: 'pending' }],
    ],
    ['platform', 2, 'deactivated', [{}, {}]],
    ['direct user', 2, 'activated', [{}, {}]],
  ];
  for (const [kind, edition, tested, capability] of roots)
    it(`is one account in both modes, with a separate status in each: ${kind}, Edition ${edition}`, async () => {
      const { test, live, account } = await (kind === 'platform'
        ? given.platformBoth(edition)
        : given.directUserBoth(edition));
      const [one, other] = await Promise.all([
        test.get(`/v1/accounts/${test.id}`),
        live.get(`/v1/accounts/${live.id}`),
      ]);
      expect([one.body.status, one.body.address, one.body.capability]).toEqual(['activated', tested, capability[0]]);
      expect([other.body.status, other.body.address, other.body.capability]).toEqual([
        'draft',
        'deactivated',
        capability[1],
      ]);
      const same = ({ status: _, address: __, capability: ___, ...rest }: Record<string, unknown>) => rest;
      expect(same(one.body)).toEqual(same(other.body));
      expect([one.body.id, one.body.livemode]).toEqual([account.id, null]);

      const settings = await Promise.all([test, live].map((speaker) => speaker.get('/v1/account_settings')));
      const [tests, lives] = settings.map(({ body }) => body.data[0]);
      expect([tests.account_id, tests.livemode, lives.account_id, lives.livemode]).toEqual([
        account.id,
        false,
        account.id,
        true,
      ]);
      expect(tests.id).not.toBe(lives.id);

      // A change in one mode does not affect the other.
      await world.operator.verify(await world.operator.account(account.id, true), 'activated');
      expect((await test.post(`/v1/test_helpers/accounts/${test.id}/hold`)).body.status).toBe('hold');
      expect((await live.get(`/v1/accounts/${live.id}`)).body.status).toBe('activated');
      expect((await test.get(`/v1/accounts/${test.id}`)).body.status).toBe('hold');
    });
});

describe('a nickname', () => {
  it('is unique in its tenant and mode, and free in every other', async () => {
    const name = nickname();
    const [platform, direct, stranger] = await Promise.all([
      given.platformBoth(1),
      given.directUserBoth(2),
      given.platformBoth(1),
    ]);
    const owners = [platform.test, platform.live, direct.test, direct.live, stranger.test, stranger.live];
    const made = await Promise.all(owners.map((owner) => owner.partner({ nickname: name })));
    expect(made.map((partner) => partner.nickname)).toEqual(owners.map(() => name));
    const user = await platform.test.connectedUser();
    const again = await user.post('/v1/accounts', { type: 'partner', nickname: name, business_details: details() });
    expect([again.status, again.codes]).toEqual([409, ['nickname_taken']]);
  });

  it('of a root is taken in both of its modes', async () => {
    const { test, live, account } = await given.platformBoth(1);
    for (const speaker of [test, live]) {
      const reply = await speaker.post('/v1/accounts', {
        type: 'partner',
        nickname: account.nickname!.toUpperCase(),
        business_details: details(),
      });
      expect([reply.status, reply.codes]).toEqual([409, ['nickname_taken']]);
    }
  });
});
