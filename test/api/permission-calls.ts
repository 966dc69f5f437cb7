import type { Caller } from '../../src/request/caller.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { checkoutBody, currencyOf, partnerInput, pdf, personBody, receivableBody } from '../support/bodies.js';
import { operations as declared, restOperations, routes } from '../../src/resources/registry.js';
import { endBulk, importRow } from '../support/jobs.js';
import {
  details,
  loggedRequest,
  must,
  nickname,
  payoutAddressBody,
  payoutAddressInput,
  type Speaker,
} from '../support/world.js';
import { passTime } from '../../src/operator/job/test-clock.js';

export const kinds = ['platform', 'direct_user', 'connected_user'] as const;
export const modes = ['test', 'live'] as const;
export const editions = [1, 2] as const;
export type Kind = (typeof kinds)[number];
export type Mode = (typeof modes)[number];
export type Transport = 'graph' | 'v1';

/** A call of an operation: `graph` has its arguments, `id` and `body` have the same for /v1. */
export interface Operation {
  graph?: (platform: Speaker) => object | Promise<object>;
  id?: (platform: Speaker) => Promise<string>;
  body?: (platform: Speaker) => object | Promise<object>;
}

const partnerId = async (platform: Speaker) => (await platform.partner()).id as string;
const userId = async (platform: Speaker) => (await platform.connectedUser()).id;
const settingId = async (platform: Speaker) =>
  (await platform.get('/v1/account_settings?limit=1')).body.data[0].id as string;
const keyId = async (platform: Speaker) =>
  (await platform.graph('mutation { createApiKey(input: { permission: FULL }) { apiKey { id } } }')).body.data
    .createApiKey.apiKey.id as string;
/** A new account's endpoint: an account has at most 16. */
const webhookId = async (platform: Speaker) => {
  const url = 'https://example.com/hooks';
  const { body } = await platform.post('/v1/webhook_endpoints', { url, event_types: ['file.*'] });
  if (body.id) return body.id as string;
  return (await platform.get('/v1/webhook_endpoints?enabled=true&limit=1')).body.data[0].id as string;
};
const deliveryId = async (platform: Speaker) => {
  const id = await webhookId(platform);
  await must(platform.post(`/v1/webhook_endpoints/${id}/test`));
  return (await platform.get(`/v1/webhook_endpoints/${id}/deliveries`)).body.data[0].id as string;
};
const exportId = async (platform: Speaker) => {
  await endBulk(platform);
  const { body } = await platform.post('/v1/exports', { list: '/v1/deposits', format: 'csv' });
  await platform.world.sql`update data_export set sha256 = 'none', status = 'completed' where id = ${body.id}`;
  return body.id as string;
};
const rowsId = async (platform: Speaker) =>
  (await must(platform.upload('import', new TextEncoder().encode('currency\nUSD')))).id as string;
const importId = async (platform: Speaker) => {
  await endBulk(platform);
  return (await platform.post('/v1/imports', { kind: 'receivables', file_id: await rowsId(platform) })).body
    .id as string;
};
const importRowId = async (platform: Speaker) => importRow(platform, await importId(platform));
const personId = async (platform: Speaker) => (await must(platform.post('/v1/persons', personBody()))).id as string;
/** A user in draft, of which only the persons change. */
const draftPersonId = async (platform: Speaker) =>
  (await must(platform.post('/v1/persons', personBody(await userId(platform))))).id as string;
const sessionId = async (platform: Speaker) =>
  (await must(platform.post('/v1/sessions', { role: 'read' }))).id as string;
export const fileId = async (platform: Speaker) => (await must(platform.upload('identity_document', pdf))).id as string;
// A new user: a second payout address of one account replaces the first.
const addressId = async (platform: Speaker) =>
  (await must(platform.post('/v1/addresses', payoutAddressBody(await userId(platform))))).id as string;
const verifyingId = async (platform: Speaker) => {
  const id = await partnerId(platform);
  await must(platform.post(`/v1/accounts/${id}/activate`));
  return id;
};

/** A partner of the platform with receiving addresses. */
const receivingPartner = async (platform: Speaker) => {
  const id = await verifyingId(platform);
  await must(platform.post(`/v1/test_helpers/accounts/${id}/verify`));
  await lapse(platform, 5);
  await lapse(platform, 5);
  return id;
};
/** Advances the test clock of the platform and runs the due work; this file starts no worker. */
const lapse = (platform: Speaker, seconds: number) =>
  passTime(platform.world.operator, { tenantId: platform.id.replace('account_', '') }, seconds);
const depositBody = (platform: Speaker, partner: string) => ({
  amount: '100.00',
  currency: currencyOf[platform.edition],
  to: { account_id: partner },
  payment_method: platform.edition === 1 ? 'domestic_credit' : 'upi',
});
const depositId = async (platform: Speaker) =>
  (await must(platform.post('/v1/deposits', depositBody(platform, await receivingPartner(platform))))).id as string;
/** A deposit of which a bank has said something, as it does of live ones. */
const detailedId = async (platform: Speaker) => {
  const id = await depositId(platform);
  await platform.world.sql`update deposit set bank_details = '{"reference": "UTR 1"}' where id = ${id}`;
  return id;
};
const adjusted = { credit: { amount: '1.00', currency: 'USD' }, reason: 'A fee' };
/** The payment of an adjustment. */
const adjustedId = async (platform: Speaker) =>
  (await must(platform.post('/v1/test_helpers/adjustments', { account_id: platform.id, ...adjusted })))
    .payment_id as string;
const completedId = async (platform: Speaker) => {
  const id = await depositId(platform);
  await must(platform.post(`/v1/test_helpers/deposits/${id}/complete`));
  return id;
};
const receivableId = async (platform: Speaker) =>
  (await must(platform.post('/v1/receivables', receivableBody({ currency: currencyOf[platform.edition] }))))
    .id as string;
const reconcilable = async (platform: Speaker) => {
  const [deposit, receivable] = [await completedId(platform), await receivableId(platform)];
  return { id: deposit, receivables: [{ id: receivable, amount: '100.00' }] };
};
const refundId = async (platform: Speaker) =>
  (await must(platform.post('/v1/refunds', { deposit_id: await completedId(platform) }))).id as string;
const disputeId = async (platform: Speaker) => {
  const { to } = await must(platform.post(`/v1/test_helpers/deposits/${await completedId(platform)}/dispute`));
  return (await must(platform.get(`/v1/disputes?account_id=${to.account_id}`))).data[0].id as string;
};
/** An open request to change a new partner. */
const changeRequestId = async (platform: Speaker) => {
  const asked = { account_id: (await platform.partner()).id, business_details: { dba: 'Harbour' } };
  return (await must(platform.post('/v1/change_requests', asked))).id as string;
};
const payoutId = async (platform: Speaker) => {
  await must(platform.post('/v1/addresses', payoutAddressBody(platform.id)));
  const { id, receivables } = await reconcilable(platform);
  await must(platform.post(`/v1/deposits/${id}/reconcile`, { receivables }));
  // Payouts are daily, and settle a minute later.
  await lapse(platform, 90_000);
  return (await platform.get('/v1/payouts?status=processing&limit=1')).body.data[0].id as string;
};
/** A payout that has arrived. */
const settledPayoutId = async (platform: Speaker) => {
  const id = await payoutId(platform);
  await must(platform.post(`/v1/test_helpers/payouts/${id}/settle`));
  return id;
};
/** A user of the platform with a partner and a receivable; nothing in Edition 1, which has no checkouts. */
const payableCheckout = async (platform: Speaker) => {
  const user = platform.actingFor(await userId(platform));
  const [partner, receivable] = [await partnerId(user), await receivableId(user)];
  return checkoutBody(partner, [receivable], { payment_methods: ['upi'] });
};
const checkoutId = async (platform: Speaker) =>
  platform.edition === 1
    ? unknownId
    : ((await must(platform.post('/v1/checkouts', await payableCheckout(platform)))).id as string);
const attemptId = async (platform: Speaker) => {
  const reply = await platform.post(`/v1/test_helpers/checkouts/${await checkoutId(platform)}/decline`);
  return (reply.body.effective_transaction?.id as string | undefined) ?? unknownId;
};
/** The id of an object that a completed deposit created for its partner. */
const leftBy = (path: string) => async (platform: Speaker) => {
  const id = await completedId(platform);
  const { to } = (await platform.get(`/v1/deposits/${id}`)).body;
  return (await platform.get(path.replace(':id', to.account_id))).body.data[0].id as string;
};
const transactionId = leftBy('/v1/accounts/:id/balance_transactions');
const paymentId = leftBy('/v1/payments?account_id=:id');
const eventId = async (platform: Speaker) => {
  await platform.world.database.call('number_events', [platform.id.replace('account_', ''), false, 500]);
  return (await platform.get('/v1/events?limit=1')).body.data[0].id as string;
};

const byId = (make: (platform: Speaker) => Promise<string>): Operation => ({
  graph: async (platform) => ({ id: await make(platform) }),
  id: make,
});
const listed: Operation = { graph: () => ({}) };
const writeById = (make: (platform: Speaker) => Promise<string>, change: object = {}): Operation => ({
  graph: async (platform) => ({ input: { id: await make(platform), ...change } }),
  id: make,
  body: () => change,
});

/** One valid call of every operation, as a platform sends it. The test checks that every operation is here. */
export const operations: Record<string, Operation> = {
  viewer: { graph: () => ({}) },
  rateLimit: { graph: () => ({}) },
  node: { graph: (platform) => ({ id: platform.id }) },
  nodes: { graph: (platform) => ({ ids: [platform.id] }) },
  account: byId(partnerId),
  accounts: listed,
  partners: { graph: () => ({}), id: async (platform) => platform.id },
  createAccount: {
    graph: () => ({ input: partnerInput() }),
    body: () => ({ type: 'partner', nickname: nickname(), business_details: details() }),
  },
  createConnectedUser: {
    graph: () => ({ input: { nickname: nickname() } }),
    body: () => ({ nickname: nickname() }),
  },
  updateAccount: writeById(userId, { metadata: { a: '1' } }),
  activateAccount: writeById(partnerId),
  deactivateAccount: writeById(partnerId),
  accountSetting: byId(settingId),
  accountSettings: listed,
  connectedAccountSettings: listed,
  updateAccountSetting: writeById(settingId, { metadata: { a: '1' } }),
  person: byId(personId),
  persons: listed,
  createPerson: {
    graph: () => ({
      input: {
        fullName: 'Asha Rao',
        relationship: { director: true },
        identification: { taxCardNumber: 'ABCDE1234F' },
      },
    }),
    body: () => personBody(),
  },
  updatePerson: writeById(draftPersonId, { metadata: { a: '1' } }),
  removePerson: writeById(draftPersonId),
  file: byId(fileId),
  files: listed,
  address: byId(addressId),
  addresses: listed,
  createAddress: {
    graph: (platform) => ({ input: payoutAddressInput(platform.id) }),
    body: (platform) => payoutAddressBody(platform.id),
  },
  updateAddress: writeById(addressId, { metadata: { a: '1' } }),
  apiKey: byId(keyId),
  apiKeys: listed,
  createApiKey: { graph: () => ({ input: { permission: 'FULL' } }) },
  rotateApiKey: writeById(keyId),
  revokeApiKey: writeById(keyId),
  session: byId(sessionId),
  sessions: listed,
  createSession: { graph: () => ({ input: { role: 'READ' } }), body: () => ({ role: 'read' }) },
  revokeSession: writeById(sessionId),
  webhookEndpoint: byId(webhookId),
  webhookEndpoints: listed,
  createWebhookEndpoint: {
    graph: () => ({ input: { url: 'https://example.com/hooks', eventTypes: ['*'] } }),
    body: () => ({ url: 'https://example.com/hooks', event_types: ['*'] }),
  },
  updateWebhookEndpoint: writeById(webhookId, { description: 'changed' }),
  rotateWebhookSecret: writeById(webhookId),
  testWebhookEndpoint: writeById(webhookId),
  redeliverWebhooks: {
    graph: async (platform) => ({ input: { id: await webhookId(platform), afterNumber: 1_000_000 } }),
    id: webhookId,
    body: () => ({ after_number: 1_000_000 }),
  },
  export: byId(exportId),
  exports: listed,
  createExport: {
    graph: async (platform) => {
      await endBulk(platform);
      return { input: { source: { deposits: {} }, format: 'CSV' } };
    },
    body: async (platform) => {
      await endBulk(platform);
      return { list: '/v1/deposits', format: 'csv' };
    },
  },
  import: byId(importId),
  imports: listed,
  createImport: {
    graph: async (platform) => {
      await endBulk(platform);
      return { input: { kind: 'RECEIVABLES', fileId: await rowsId(platform) } };
    },
    body: async (platform) => {
      await endBulk(platform);
      return { kind: 'receivables', file_id: await rowsId(platform) };
    },
  },
  importRow: byId(importRowId),
  importRows: { graph: () => ({}), id: importId },
  requestLog: byId(loggedRequest),
  requestLogs: listed,
  webhookDelivery: byId(deliveryId),
  webhookDeliveries: { graph: () => ({}), id: webhookId },
  balance: listed,
  balanceAggregate: listed,
  purposeCodes: listed,
  balanceTransaction: byId(transactionId),
  balanceTransactions: { graph: () => ({}), id: async (platform) => platform.id },
  payment: byId(paymentId),
  payments: listed,
  deposit: byId(depositId),
  bankDetails: byId(detailedId),
  adjustment: byId(adjustedId),
  deposits: listed,
  createDeposit: {
    graph: async (platform) => ({
      input: {
        amount: '100.00',
        currency: currencyOf[platform.edition],
        to: { accountId: await receivingPartner(platform) },
        paymentMethod: platform.edition === 1 ? 'DOMESTIC_CREDIT' : 'UPI',
      },
    }),
    body: async (platform) => depositBody(platform, await receivingPartner(platform)),
  },
  reconcileDeposit: {
    graph: async (platform) => ({ input: await reconcilable(platform) }),
    // The body uses the same deposit as the path: the newest.
    id: async (platform) => (await reconcilable(platform)).id,
    body: async (platform) => ({
      receivables: [{ id: (await platform.get('/v1/receivables?limit=1')).body.data[0].id, amount: '100.00' }],
    }),
  },
  reconcileDeposits: { graph: async (platform) => ({ input: { deposits: [await reconcilable(platform)] } }) },
  receivable: byId(receivableId),
  receivables: listed,
  createReceivable: {
    graph: (platform) => ({
      input: {
        currency: currencyOf[platform.edition],
        invoice: {
          amount: '100.00',
          creationDate: '2026-01-02',
          currency: currencyOf[platform.edition],
          dueDate: '2026-02-02',
          referenceNumber: 'INV-1',
        },
        purposeCode: 'P0802',
        transactionType: 'SERVICES',
      },
    }),
    body: (platform) => receivableBody({ currency: currencyOf[platform.edition] }),
  },
  updateReceivable: writeById(receivableId, { description: 'changed' }),
  voidReceivable: writeById(receivableId),
  checkout: byId(checkoutId),
  checkouts: listed,
  createCheckout: {
    graph: async (platform) => {
      const { from, payment_methods: _, redirect_url: redirectUrl, ...rest } = await payableCheckout(platform);
      return { input: { ...rest, from: { accountId: from.account_id }, paymentMethods: ['UPI'], redirectUrl } };
    },
    body: payableCheckout,
  },
  cancelCheckout: writeById(checkoutId),
  transaction: byId(attemptId),
  payout: byId(payoutId),
  payouts: listed,
  refund: byId(refundId),
  refunds: listed,
  createRefund: {
    graph: async (platform) => ({ input: { depositId: await completedId(platform) } }),
    body: async (platform) => ({ deposit_id: await completedId(platform) }),
  },
  succeedTestRefund: writeById(refundId),
  failTestRefund: writeById(refundId),
  changeRequest: byId(changeRequestId),
  changeRequests: listed,
  requestAccountChange: {
    graph: async (platform) => ({
      input: { accountId: (await platform.partner()).id, businessDetails: { dba: 'Harbour' } },
    }),
    body: async (platform) => ({ account_id: (await platform.partner()).id, business_details: { dba: 'Harbour' } }),
  },
  withdrawChangeRequest: writeById(changeRequestId),
  acceptTestChangeRequest: writeById(changeRequestId),
  declineTestChangeRequest: writeById(changeRequestId),
  dispute: byId(disputeId),
  disputes: listed,
  respondToDispute: writeById(disputeId, { text: 'Delivered' }),
  acceptDispute: writeById(disputeId),
  winTestDispute: writeById(disputeId),
  loseTestDispute: writeById(disputeId),
  event: byId(eventId),
  events: listed,
  processTestDeposit: writeById(depositId),
  completeTestDeposit: writeById(depositId),
  failTestDeposit: writeById(depositId),
  cancelTestDeposit: writeById(depositId),
  reverseTestDeposit: writeById(completedId),
  disputeTestDeposit: writeById(completedId),
  recallTestDeposit: writeById(completedId),
  settleTestPayout: writeById(payoutId),
  failTestPayout: writeById(payoutId),
  returnTestPayout: writeById(settledPayoutId),
  payTestCheckout: writeById(checkoutId),
  declineTestCheckout: writeById(checkoutId),
  expireTestCheckout: writeById(checkoutId),
  createTestAdjustment: {
    graph: (platform) => ({ input: { accountId: platform.id, ...adjusted } }),
    body: (platform) => ({ account_id: platform.id, ...adjusted }),
  },
  advanceTestClock: {
    graph: () => ({ input: { advanceSeconds: 1 } }),
    body: () => ({ advance_seconds: 1 }),
  },
  verifyTestAccount: writeById(verifyingId),
  holdTestAccount: writeById(verifyingId),
  deactivateTestAccount: writeById(partnerId),
  createTestWallet: writeById(partnerId),
  expireTestAddress: writeById(addressId),
  deactivateTestAddress: writeById(addressId),
  createFile: {},
  fileContent: { id: fileId },
  exportContent: { id: exportId },
  eventStream: {},
};

export const schema = buildGraph();
export const rootFields = [schema.getQueryType()!, schema.getMutationType()!].flatMap((type) =>
  Object.values(type.getFields()).map((field) => ({ type, field })),
);
/** The fields of subscriptions, each of which has the permission of another operation. */
export const subscriptions = Object.keys(schema.getSubscriptionType()!.getFields());
export const graphOf = (name: string) => rootFields.find(({ field }) => field.name === name);
/** Every route with its operation; the routes of file contents and of the stream have no root field. */
export const paths = [
  ...routes.map(({ method, path, field }) => ({ method, path, operation: field })),
  { method: 'POST', path: '/v1/files', operation: 'createFile' },
  { method: 'GET', path: '/v1/files/:id/content', operation: 'fileContent' },
  { method: 'GET', path: '/v1/exports/:id/content', operation: 'exportContent' },
  { method: 'GET', path: '/v1/events/stream', operation: 'eventStream' },
] as const;
export const everything = Object.fromEntries([...declared, ...restOperations]);
export const unknownId = 'account_00000000000000000000000000000000';

/** The lines of the router's tree as complete paths; HEAD belongs to GET. */
export function pathsOf(tree: string): string[] {
  const prefix: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', step, methods = ''] = /^((?:│ {3}| {4})*)[├└]── (\S+)(?: \((.*)\))?$/.exec(line) ?? [];
    if (step === undefined) return [];
    prefix.length = indent.length / 4;
    prefix.push(step);
    return methods
      .split(', ')
      .filter((method) => method !== '' && method !== 'HEAD')
      .map((method) => `${method} ${prefix.join('').replaceAll('//', '/')}`);
  });
}

/** What a request may carry: a key or a session, with less and less that it may do. */
export const credentials = {
  full: { permission: 'full' },
  read: { permission: 'read' },
  operateSession: { permission: 'full', session: { id: 'session_0', role: 'operate', allowedOrigins: [] } },
  readSession: { permission: 'read', session: { id: 'session_0', role: 'read', allowedOrigins: [] } },
} as const satisfies Record<string, Pick<Caller, 'permission' | 'session'>>;
export type Credential = keyof typeof credentials;
export const credentialNames = Object.keys(credentials) as Credential[];
export const letters: Record<Credential, string> = { full: 'f', read: 'r', operateSession: 'o', readSession: 's' };
