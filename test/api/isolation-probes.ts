import { checkoutBody, currencyOf, pdf, personBody, receivableBody } from '../support/bodies.js';
import {
  details,
  type Edition,
  inputTypeOf,
  payoutAddressBody,
  payoutAddressInput,
  type Reply,
  Speaker,
} from '../support/world.js';
import { reconcileAll } from './deposit-fixture.js';

const identified = (document: object) => {
  const person = personBody();
  return { ...person, identification: { ...person.identification, ...document } };
};
export const depositBody = (me: Speaker, more: object) => ({
  amount: '100.00',
  currency: currencyOf[me.edition],
  payment_method: me.edition === 1 ? 'domestic_credit' : 'upi',
  ...more,
});
const depositInput = (me: Speaker, more: object) => ({
  amount: '100.00',
  currency: currencyOf[me.edition],
  paymentMethod: me.edition === 1 ? 'DOMESTIC_CREDIT' : 'UPI',
  ...more,
});
const receivableInput = (me: Speaker, more: object = {}, document?: string) => ({
  currency: currencyOf[me.edition],
  invoice: {
    amount: '100.00',
    creationDate: '2026-01-02',
    currency: currencyOf[me.edition],
    dueDate: '2026-02-02',
    referenceNumber: 'INV-1',
    ...(document && { document }),
  },
  purposeCode: 'P0802',
  transactionType: 'SERVICES',
  ...more,
});

/** One object of each kind that an account owns, by the prefix of its id. */
export type Holdings = Record<'account' | 'account_setting' | 'address' | 'file' | 'key' | 'person', string> &
  Record<'delivery' | 'export' | 'import' | 'import_row' | 'req' | 'session' | 'webhook', string> &
  Earnings;
/**
 * Objects that exist only after money has moved. A live connected user in draft has no receivable, and only a root has
 * reconciled a deposit and was paid out. An allocation is known by its cursor.
 */
export type Earnings = Record<'bt' | 'deposit' | 'event' | 'payment' | 'refund' | 'dispute', string> &
  Partial<Record<'receivable' | 'payout' | 'allocation' | 'checkout' | 'transaction', string>>;

const checkoutInput = (partner: string, receivable: string) => ({
  ...{ amount: '1.00', currency: 'INR', from: { accountId: partner }, paymentMethods: ['UPI'] },
  receivables: [{ id: receivable }],
  redirectUrl: 'https://shop.example/',
});

export const hook = { url: 'https://hooks.invalid/', event_types: ['file.*'] };

/** A request with an id of another tenant, and the response that a missing object gets. */
export interface Probe {
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
  call: (me, id) => me.graph(`query ($id: ID!) { ${name}(id: $id) { __typename } }`, { id }),
  answer: 'resource_missing',
});
const mutation = (name: string, input: (id: string, me: Speaker, own: Holdings) => object): Probe => ({
  call: (me, id, own) =>
    me.graph(`mutation ($input: ${inputTypeOf(name)}!) { ${name}(input: $input) { __typename } }`, {
      input: input(id, me, own),
    }),
  answer: 'resource_missing',
});
const sharesOf = (id: string) => ({ receivables: [{ id, amount: '1.00' }] });
/** Reconciles a deposit among several, of which the foreign one is refused by itself. */
const amongSeveral = (input: (id: string, own: Holdings) => object): Probe => ({
  call: (me, id, own) => reconcileAll(me, [input(id, own)]),
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
/** The test helpers of an object, through both APIs. */
const helpers = (noun: string, verbs: string[]): Record<string, Probe> =>
  Object.fromEntries(
    verbs.flatMap((verb) => [
      [`POST ${verb}`, helper(`/v1/test_helpers/${noun.toLowerCase()}s/:id/${verb}`)],
      [`${verb}Test${noun}`, { ...byIdInput(`${verb}Test${noun}`), testOnly: true as const }],
    ]),
  );
const read = (path: string, answer: Probe['answer'] = 'resource_missing'): Probe => ({
  call: (me, id) => me.get(path.replace(':id', id)),
  answer,
});
const write = (path: string, body: (id: string, me: Speaker, own: Holdings) => object): Probe => ({
  call: (me, id, own) =>
    me.post(
      Object.entries({ ...own, id, me: me.id }).reduce((at, [name, value]) => at.replace(`:${name}`, value), path),
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
const argument = (field: string, given: string, select: string): Probe => ({
  call: (me, id) => me.graph(`query ($id: ID!) { ${field}(${given}) { ${select} } }`, { id }),
  answer: 'nothing',
});
/** A member of the filter of a list. The argument of its name, which is deprecated, is a parameter of /v1. */
const filter = (list: string, of: string) => argument(list, `filter: { ${of} }`, 'nodes { id } totalCount');

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
export const probes: Record<keyof Holdings, Record<string, Probe>> = {
  account: {
    ...nodes,
    ...inSecond({
      'GET checkouts of': read('/v1/checkouts?account_id=:id', 'nothing'),
      'POST checkout from': write('/v1/checkouts', (id, _, own) =>
        checkoutBody(id, [own.receivable ?? id], { amount: '1.00' }),
      ),
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
    'POST person': write('/v1/persons', (id) => personBody(id)),
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
    'POST receivable': write('/v1/receivables', (id, me) =>
      receivableBody({ currency: currencyOf[me.edition] }, { account_id: id }),
    ),
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
    'POST adjustment': {
      ...write('/v1/test_helpers/adjustments', (id) => ({
        ...{ account_id: id, credit: { amount: '1.00', currency: 'USD' }, reason: 'A fee' },
      })),
      testOnly: true,
    },
    createTestAdjustment: {
      ...mutation('createTestAdjustment', (accountId) => ({
        ...{ accountId, credit: { amount: '1.00', currency: 'USD' }, reason: 'A fee' },
      })),
      testOnly: true,
    },
    balance: { ...argument('balance', 'accountId: $id', 'accountId'), answer: 'resource_missing' },
    balanceAggregate: { ...argument('balanceAggregate', 'accountId: $id', 'accountId'), answer: 'resource_missing' },
    balanceTransactions: { ...filter('balanceTransactions', 'accountId: $id'), answer: 'resource_missing' },
    deposits: filter('deposits', 'accountId: $id'),
    receivables: filter('receivables', 'accountId: $id'),
    payments: filter('payments', 'accountId: $id'),
    payouts: filter('payouts', 'accountId: $id'),
    refunds: filter('refunds', 'accountId: $id'),
    disputes: filter('disputes', 'accountId: $id'),
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
      ...write('/v1/receivables', (id, me) =>
        receivableBody({ currency: currencyOf[me.edition] }, { customer_id: id }),
      ),
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
    'POST respond with': write('/v1/disputes/:dispute/respond', (id) => ({ file_ids: [id] })),
    respondToDispute: mutation('respondToDispute', (id, _, own) => ({ id: own.dispute, fileIds: [id] })),
    ...Object.fromEntries(
      (['taxCardImage', 'passportImage'] as const).map((name) => [
        `updatePerson, ${name}`,
        mutation('updatePerson', (id, _, own) => ({ id: own.person, identification: { [name]: id } })),
      ]),
    ),
    'POST person, tax card': write('/v1/persons', (id) => identified({ tax_card_image: id })),
    'POST person, passport': write('/v1/persons', (id) => identified({ passport_image: id })),
    'POST address, document': write('/v1/addresses', (id, me) =>
      payoutAddressBody(me.id, { supporting_documentation: { id_document: id } }),
    ),
    'POST receivable, invoice': {
      ...write('/v1/receivables', (id, me) => receivableBody({ currency: currencyOf[me.edition], document: id })),
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
    'GET bank details': read('/v1/deposits/:id/bank_details'),
    'POST reconcile': write('/v1/deposits/:id/reconcile', (id, _, own) => sharesOf(own.receivable ?? id)),
    ...helpers('Deposit', ['process', 'complete', 'fail', 'cancel', 'reverse', 'dispute']),
    deposit: graphById('deposit'),
    bankDetails: graphById('bankDetails'),
    'POST refund of': write('/v1/refunds', (deposit_id) => ({ deposit_id })),
    createRefund: mutation('createRefund', (depositId) => ({ depositId })),
    reconcileDeposit: mutation('reconcileDeposit', (id, _, own) => ({ id, ...sharesOf(own.receivable ?? id) })),
    reconcileDeposits: amongSeveral((id, { receivable = id }) => ({ id, ...sharesOf(receivable) })),
  },
  checkout: {
    ...nodes,
    ...inSecond({
      ...cursors('/v1/checkouts', 'checkouts', 'checkoutsIn'),
      ...graphCursors('checkouts', 'checkoutsOut'),
      ...ofOwn('receivable', 'checkouts'),
      'GET checkout': read('/v1/checkouts/:id'),
      'POST cancel': write('/v1/checkouts/:id/cancel', () => ({})),
      ...helpers('Checkout', ['pay', 'decline', 'expire']),
      checkout: graphById('checkout'),
      'POST refund of': write('/v1/refunds', (checkout_id) => ({ checkout_id })),
      createRefund: mutation('createRefund', (checkoutId) => ({ checkoutId })),
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
      'POST checkout of': write('/v1/checkouts', (id, _, own) => checkoutBody(own.account, [id], { amount: '1.00' })),
      'createCheckout of': mutation('createCheckout', (id, _, own) => checkoutInput(own.account, id)),
    }),
    ...cursors('/v1/receivables', 'receivables', 'receivables'),
    ...graphCursors('receivables', 'billedReceivables'),
    ...ofOwn('file', 'usedByReceivables'),
    'GET receivable': read('/v1/receivables/:id'),
    'POST receivable': write('/v1/receivables/:id', () => ({ description: 'mine' })),
    'POST receivable, nothing': write('/v1/receivables/:id', () => ({})),
    'POST void': write('/v1/receivables/:id/void', () => ({})),
    'POST reconcile with': write('/v1/deposits/:deposit/reconcile', sharesOf),
    receivable: graphById('receivable'),
    updateReceivable: mutation('updateReceivable', (id) => ({ id, description: 'mine' })),
    voidReceivable: byIdInput('voidReceivable'),
    'reconcileDeposit with': mutation('reconcileDeposit', (id, _, own) => ({ id: own.deposit, ...sharesOf(id) })),
    'reconcileDeposits with': amongSeveral((id, own) => ({ id: own.deposit, ...sharesOf(id) })),
  },
  payment: {
    ...nodes,
    ...cursors('/v1/payments', 'payments', 'payments'),
    ...inSecond(ofOwn('checkout', 'payments')),
    'GET payment': read('/v1/payments/:id'),
    'GET transactions of': read('/v1/balance_transactions?payment_id=:id', 'nothing'),
    payment: graphById('payment'),
    'GET adjustment': read('/v1/payments/:id/adjustment'),
    adjustment: graphById('adjustment'),
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
    payout: graphById('payout'),
    ...helpers('Payout', ['settle', 'fail', 'return']),
    ...ofOwn('address', 'payouts'),
  },
  refund: {
    ...nodes,
    ...cursors('/v1/refunds', 'refunds', 'refunds'),
    ...ofOwn('deposit', 'refunds'),
    ...inSecond(ofOwn('checkout', 'refunds')),
    'GET refund': read('/v1/refunds/:id'),
    refund: graphById('refund'),
    ...helpers('Refund', ['succeed', 'fail']),
  },
  dispute: {
    ...nodes,
    ...cursors('/v1/disputes', 'disputes', 'disputes'),
    ...ofOwn('deposit', 'openedDisputes'),
    'GET dispute': read('/v1/disputes/:id'),
    'POST respond': write('/v1/disputes/:id/respond', () => ({ text: 'Delivered' })),
    'POST accept': write('/v1/disputes/:id/accept', () => ({})),
    dispute: graphById('dispute'),
    respondToDispute: mutation('respondToDispute', (id) => ({ id, text: 'Delivered' })),
    acceptDispute: byIdInput('acceptDispute'),
    ...helpers('Dispute', ['win', 'lose']),
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
export const draftProbes: Record<string, Probe> = {
  'POST account, logo': write('/v1/accounts/:me', (id) => ({ logo_id: id })),
  'POST account, document': write('/v1/accounts/:me', (id) => ({ supporting_documentation: { id_document: id } })),
  ...documented('updateAccount', (supportingDocumentation, me) => ({ id: me.id, supportingDocumentation })),
  'updateAccount, logo': mutation('updateAccount', (id, me) => ({ id: me.id, logoId: id })),
};
