import { randomUUID } from 'node:crypto';
import net from 'node:net';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { config } from '../../src/config/config.js';
import { Database } from '../../src/db/database.js';
import { Secrets } from '../../src/config/secrets.js';
import { gateway } from '../../src/server/app.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { fingerprints } from '../../src/operation/idempotency.js';
import { Operator } from '../../src/operator/operator.js';
import { resources } from '../../src/resources/define.js';
import { operations, restOperations, routes } from '../../src/resources/registry.js';
import { Worker } from '../../src/jobs/runner.js';
import { covering } from '../support/scale.js';
import { changing, recordChanges, seenChanges } from './changes.js';
import {
  details,
  type Edition,
  eventually,
  givenIn,
  inputTypeOf,
  must,
  nickname,
  payoutAddressBody,
  payoutAddressInput,
  type Reply,
  Speaker,
  useWorld,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const pdf = new TextEncoder().encode('%PDF-1.4\n%%EOF\n');
let other: string;
beforeAll(async () => {
  await recordChanges(world.sql);
  other = await world.another();
});

/** The same caller at the second gateway, as after a failed connection to the first. */
const elsewhere = (me: Speaker, origin = other) => new Speaker({ ...world, origin }, me.id, me.key, me.edition);
const keyed = (key: string) => ({ 'idempotency-key': key });
const replayed = (reply: Reply) => reply.headers.get('idempotent-replayed');
/** The status of a response of either API; in a GraphQL response it is the status of the error. */
const statusOf = (reply: Reply): number => reply.body?.errors?.[0]?.extensions?.httpStatus ?? reply.status;

const partnerBody = (more: object = {}) => ({
  type: 'partner',
  nickname: nickname(),
  business_details: details(),
  ...more,
});
/** The same partner in the format of the graph. */
const partnerInput = ({ nickname: name, metadata }: { nickname: string; metadata?: object }) => ({
  type: 'PARTNER',
  nickname: name,
  businessDetails: {
    legalName: 'Acme Exports',
    email: 'ap@acme.example',
    type: 'COMPANY',
    physicalAddress: { line1: '1 Wharf', city: 'Pune', state: 'MH', postalCode: '411001', country: 'IN' },
  },
  ...(metadata && { metadata }),
});

const mutate = (me: Speaker, name: string, input: object, select: string, headers: Record<string, string> = {}) => {
  return me.graph(
    `mutation ($input: ${inputTypeOf(name)}!) { ${name}(input: $input) { ${select} } }`,
    { input },
    headers,
  );
};

const partnerId = async (me: Speaker) => (await me.partner()).id as string;
const verifyingId = async (me: Speaker) => {
  const id = await partnerId(me);
  await must(me.post(`/v1/accounts/${id}/activate`));
  return id;
};
const userId = async (me: Speaker) => (await me.connectedUser()).id;
const addressId = async (me: Speaker) =>
  (await must(me.post('/v1/addresses', payoutAddressBody(await userId(me))))).id as string;
const keyId = async (me: Speaker) =>
  (await mutate(me, 'createApiKey', { permission: 'FULL' }, 'apiKey { id }')).body.data.createApiKey.apiKey
    .id as string;
const sessionId = async (me: Speaker) => (await must(me.post('/v1/sessions', { role: 'read' }))).id as string;
/** The text of an answer without a new token or secret, which only the first answer has. */
const withoutToken = (text: string) =>
  text.replace(/"token":("ses_\w+"|null)/, '"token"').replace(/,"secret":"whsec_[^"]+"/, '');
const hook = { url: 'https://hooks.invalid/', event_types: ['file.*'] };
/** Ends what no worker does here: a tenant has at most three exports and three imports under way. */
async function withoutBulk(me: Speaker): Promise<string> {
  const tenant = me.key.split('_')[2]!;
  for (const table of ['data_export', 'data_import'])
    await world.sql`update ${world.sql(table)} set status = 'failed' where tenant_id = ${tenant}
      and status = 'pending'`;
  return me.id;
}
const webhookId = async (me: Speaker) =>
  (await (await me.connectedUser()).post('/v1/webhook_endpoints', hook)).body.id as string;
const settingId = async (me: Speaker) => {
  const reply = await me.graph('query ($id: ID!) { account(id: $id) { setting { id } } }', { id: await partnerId(me) });
  return reply.body.data.account.setting.id as string;
};

/** Advances the test clock by a day and runs the due work of the tenant's test mode; this file starts no worker. */
const lapse = (me: Speaker, seconds: number) =>
  world.operator.passTime({ tenantId: me.id.replace('account_', '') }, seconds);
const money = { amount: '100.00', currency: 'USD' };
/** A deposit to the platform's own receiving address. */
const depositId = async (me: Speaker) => {
  const second = me.edition === 2 && { currency: 'INR', to: { account_id: me.id }, payment_method: 'upi' };
  return (await must(me.post('/v1/deposits', { ...money, ...second }))).id as string;
};
const completedId = async (me: Speaker) => {
  const id = await depositId(me);
  await must(me.post(`/v1/test_helpers/deposits/${id}/complete`));
  return id;
};
const receivableBody = (accountId?: string) => ({
  currency: 'USD',
  invoice: { ...money, creation_date: '2026-01-02', due_date: '2026-02-02', reference_number: 'INV-1' },
  purpose_code: 'P0802',
  transaction_type: 'services',
  ...(accountId && { account_id: accountId }),
});
const receivableId = async (me: Speaker) => (await must(me.post('/v1/receivables', receivableBody()))).id as string;
/** A deposit and a receivable with a given id length; the subject contains both ids. */
const reconcilable = async (me: Speaker) => [await completedId(me), await receivableId(me)].join(' ');
/** A payout of a new user, so that it takes no locks of other payouts. */
const payoutId = async (me: Speaker) => {
  const user = await me.connectedUser({ businessDetails: { type: 'INDIVIDUAL', ids: { taxGst: '27ABCDE1234F1Z5' } } });
  await must(me.post('/v1/addresses', payoutAddressBody(user.id)));
  await must(user.post('/v1/persons', { ...person, relationship: { owner: true } }));
  await must(me.post(`/v1/accounts/${user.id}/activate`));
  await must(me.post(`/v1/test_helpers/accounts/${user.id}/verify`));
  await lapse(me, 5);
  await lapse(me, 5);
  const { id } = (await user.post('/v1/deposits', money)).body;
  await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
  const receivable = await user.post('/v1/receivables', receivableBody());
  await must(
    user.post(`/v1/deposits/${id}/reconcile`, { receivables: [{ id: receivable.body.id, amount: '100.00' }] }),
  );
  // Payouts are daily, and settle a minute later.
  await lapse(me, 90_000);
  return (await user.get('/v1/payouts')).body.data[0].id as string;
};

/** A partner of a new user, and a receivable of that user; the subject contains both ids. */
const payable = async (me: Speaker) => {
  const user = me.actingFor(await userId(me));
  const receivable = await user.post('/v1/receivables', {
    ...receivableBody(),
    currency: 'INR',
    invoice: { ...receivableBody().invoice, currency: 'INR' },
  });
  return [await partnerId(user), receivable.body.id as string].join(' ');
};
const checkoutBody = (both: string) => ({
  ...{ amount: '60', currency: 'INR', from: { account_id: both.split(' ')[0] }, payment_methods: ['cards', 'upi'] },
  receivables: [{ id: both.split(' ')[1] }],
  redirect_url: 'https://shop.example/',
  metadata: { a: '1' },
});
const checkoutId = async (me: Speaker) =>
  (await must(me.post('/v1/checkouts', checkoutBody(await payable(me))))).id as string;

/**
 * One write in the format of each API. `subject` is created anew for every use; the fields are those that both APIs
 * return.
 */
interface Write {
  subject(me: Speaker): Promise<string>;
  path?: string;
  body?(subject: string): object;
  input?(subject: string): object;
  member: string;
  fields: string[];
  /** The types of the events that the write emits. */
  events: string[];
  /** The only edition that has the write. */
  edition?: 2;
}
const none = async () => nickname();
const personId = async (me: Speaker) =>
  (await must(me.post('/v1/persons', { ...person, account_id: await userId(me) }))).id as string;
const person = {
  full_name: 'Asha Rao',
  relationship: { director: true },
  identification: { tax_card_number: 'ABCDE1234F' },
};
const writes: Record<string, Write> = {
  createAccount: {
    subject: none,
    path: '/v1/accounts',
    body: (name) => partnerBody({ nickname: name, metadata: { crm: '42' } }),
    input: (name) => partnerInput({ nickname: name, metadata: { crm: '42' } }),
    member: 'account',
    fields: ['id', 'status', 'nickname', 'metadata'],
    events: ['account.created'],
  },
  createConnectedUser: {
    subject: none,
    path: '/v1/accounts/connected',
    body: (name) => ({ nickname: name }),
    input: (name) => ({ nickname: name }),
    member: 'account',
    fields: ['id', 'status', 'nickname'],
    events: ['account.created'],
  },
  updateAccount: {
    subject: userId,
    path: '/v1/accounts/:id',
    body: () => ({
      metadata: { a: '1' },
      business_details: { estimated_monthly_volume: { amount: '10', currency: 'USD' } },
    }),
    input: (id) => ({
      id,
      metadata: { a: '1' },
      businessDetails: { estimatedMonthlyVolume: { amount: '10.00', currency: 'USD' } },
    }),
    member: 'account',
    fields: ['id', 'status', 'metadata'],
    events: ['account.updated'],
  },
  activateAccount: {
    subject: partnerId,
    path: '/v1/accounts/:id/activate',
    member: 'account',
    fields: ['id', 'status'],
    events: ['account.verifying'],
  },
  deactivateAccount: {
    subject: partnerId,
    path: '/v1/accounts/:id/deactivate',
    member: 'account',
    fields: ['id', 'status'],
    events: ['account.deactivated'],
  },
  updateAccountSetting: {
    subject: settingId,
    path: '/v1/account_settings/:id',
    body: () => ({ metadata: { a: '1' } }),
    input: (id) => ({ id, metadata: { a: '1' } }),
    member: 'accountSetting',
    fields: ['id', 'metadata'],
    events: ['account_setting.updated'],
  },
  createPerson: {
    subject: none,
    path: '/v1/persons',
    body: () => person,
    input: () => ({
      fullName: 'Asha Rao',
      relationship: { director: true },
      identification: { taxCardNumber: 'ABCDE1234F' },
    }),
    member: 'person',
    fields: ['id', 'metadata'],
    events: ['person.created'],
  },
  updatePerson: {
    subject: personId,
    path: '/v1/persons/:id',
    body: () => ({ full_name: 'Asha R. Rao', relationship: { owner: true }, metadata: { a: '1' } }),
    input: (id) => ({ id, fullName: 'Asha R. Rao', relationship: { owner: true }, metadata: { a: '1' } }),
    member: 'person',
    fields: ['id', 'metadata'],
    events: ['person.updated'],
  },
  removePerson: {
    subject: personId,
    path: '/v1/persons/:id/remove',
    member: 'person',
    fields: ['id', 'metadata'],
    events: ['person.removed'],
  },
  createAddress: {
    subject: userId,
    path: '/v1/addresses',
    body: payoutAddressBody,
    input: payoutAddressInput,
    member: 'address',
    fields: ['id', 'status', 'currency'],
    events: ['address.created'],
  },
  createTestWallet: {
    subject: partnerId,
    path: '/v1/test_helpers/accounts/:id/wallet',
    body: () => ({ provider: 'klarna' }),
    input: (id) => ({ id, provider: 'KLARNA' }),
    member: 'address',
    fields: ['id', 'status', 'currency'],
    events: ['address.created'],
  },
  updateAddress: {
    subject: addressId,
    path: '/v1/addresses/:id',
    body: () => ({ metadata: { a: '1' } }),
    input: (id) => ({ id, metadata: { a: '1' } }),
    member: 'address',
    fields: ['id', 'status', 'metadata'],
    events: ['address.updated'],
  },
  createApiKey: {
    subject: none,
    input: () => ({ permission: 'FULL' }),
    member: 'apiKey',
    fields: ['id', 'prefix', 'permission'],
    events: ['api_key.created'],
  },
  rotateApiKey: {
    subject: keyId,
    member: 'apiKey',
    fields: ['id', 'prefix', 'permission'],
    events: ['api_key.created', 'api_key.rotated'],
  },
  revokeApiKey: {
    subject: keyId,
    member: 'apiKey',
    fields: ['id', 'prefix', 'revokedAt'],
    events: ['api_key.revoked'],
  },
  createSession: {
    subject: none,
    path: '/v1/sessions',
    body: () => ({ role: 'read' }),
    input: () => ({ role: 'READ' }),
    member: 'session',
    fields: ['id', 'accountId', 'apiKeyId'],
    events: ['session.created'],
  },
  revokeSession: {
    subject: sessionId,
    path: '/v1/sessions/:id/revoke',
    member: 'session',
    fields: ['id', 'accountId', 'apiKeyId'],
    events: ['session.revoked'],
  },
  createDeposit: {
    subject: none,
    path: '/v1/deposits',
    body: () => ({ ...money, metadata: { a: '1' } }),
    input: () => ({ ...money, metadata: { a: '1' } }),
    member: 'deposit',
    fields: ['id', 'status', 'amount', 'metadata'],
    events: ['deposit.initialized'],
  },
  reconcileDeposit: {
    subject: reconcilable,
    path: '/v1/deposits/:id/reconcile',
    body: (both) => ({ receivables: [{ amount: '40', id: both.split(' ')[1] }] }),
    input: (both) => ({ id: both.split(' ')[0], receivables: [{ id: both.split(' ')[1], amount: '40.00' }] }),
    member: 'deposit',
    fields: ['id', 'status', 'amount'],
    events: ['deposit.reconciled', 'receivable.updated'],
  },
  createReceivable: {
    subject: none,
    path: '/v1/receivables',
    body: () => receivableBody(),
    input: () => ({
      currency: 'USD',
      invoice: { ...money, creationDate: '2026-01-02', dueDate: '2026-02-02', referenceNumber: 'INV-1' },
      purposeCode: 'P0802',
      transactionType: 'SERVICES',
    }),
    member: 'receivable',
    fields: ['id', 'status', 'amountReconcilable', 'metadata'],
    events: ['receivable.created'],
  },
  updateReceivable: {
    subject: receivableId,
    path: '/v1/receivables/:id',
    body: () => ({ amount_maximum_reconcilable: '50', description: 'half' }),
    input: (id) => ({ id, amountMaximumReconcilable: '50.00', description: 'half' }),
    member: 'receivable',
    fields: ['id', 'status', 'amountReconcilable', 'description'],
    events: ['receivable.updated'],
  },
  voidReceivable: {
    subject: receivableId,
    path: '/v1/receivables/:id/void',
    member: 'receivable',
    fields: ['id', 'status'],
    events: ['receivable.voided'],
  },
  processTestDeposit: {
    subject: depositId,
    path: '/v1/test_helpers/deposits/:id/process',
    member: 'deposit',
    fields: ['id', 'status'],
    events: ['deposit.processing'],
  },
  completeTestDeposit: {
    subject: depositId,
    path: '/v1/test_helpers/deposits/:id/complete',
    member: 'deposit',
    fields: ['id', 'status'],
    events: ['deposit.completed', 'deposit.processing'],
  },
  failTestDeposit: {
    subject: depositId,
    path: '/v1/test_helpers/deposits/:id/fail',
    body: () => ({ reason_code: 'high_risk' }),
    input: (id) => ({ id, reasonCode: 'HIGH_RISK' }),
    member: 'deposit',
    fields: ['id', 'status'],
    events: ['deposit.failed', 'deposit.processing'],
  },
  cancelTestDeposit: {
    subject: depositId,
    path: '/v1/test_helpers/deposits/:id/cancel',
    member: 'deposit',
    fields: ['id', 'status'],
    events: ['deposit.cancelled'],
  },
  reverseTestDeposit: {
    subject: completedId,
    path: '/v1/test_helpers/deposits/:id/reverse',
    member: 'deposit',
    fields: ['id', 'status'],
    events: ['deposit.reversed'],
  },
  disputeTestDeposit: {
    subject: completedId,
    path: '/v1/test_helpers/deposits/:id/dispute',
    body: () => ({ amount: '10', reason_code: 'duplicate' }),
    input: (id) => ({ id, amount: '10.00', reasonCode: 'DUPLICATE' }),
    member: 'deposit',
    fields: ['id', 'status', 'amount'],
    events: ['deposit.completed', 'deposit.disputed'],
  },
  createCheckout: {
    edition: 2,
    subject: payable,
    path: '/v1/checkouts',
    body: checkoutBody,
    input: (both) => ({
      ...{ amount: '60.00', currency: 'INR', paymentMethods: ['CARDS', 'UPI'], redirectUrl: 'https://shop.example/' },
      ...{ from: { accountId: both.split(' ')[0] }, receivables: [{ id: both.split(' ')[1] }], metadata: { a: '1' } },
    }),
    member: 'checkout',
    fields: ['id', 'status', 'amount', 'metadata'],
    events: ['address.created', 'checkout.created'],
  },
  cancelCheckout: {
    edition: 2,
    subject: checkoutId,
    path: '/v1/checkouts/:id/cancel',
    member: 'checkout',
    fields: ['id', 'status'],
    events: ['checkout.cancelled'],
  },
  payTestCheckout: {
    edition: 2,
    subject: checkoutId,
    path: '/v1/test_helpers/checkouts/:id/pay',
    body: () => ({ payment_method: 'upi' }),
    input: (id) => ({ id, paymentMethod: 'UPI' }),
    member: 'checkout',
    fields: ['id', 'status', 'amount'],
    events: [
      ...['address.created', 'checkout.completed', 'deposit.completed', 'deposit.reconciled'],
      ...['receivable.updated', 'transaction.created', 'transaction.succeeded'],
    ],
  },
  declineTestCheckout: {
    edition: 2,
    subject: checkoutId,
    path: '/v1/test_helpers/checkouts/:id/decline',
    body: () => ({ reason_code: 'insufficient_funds' }),
    input: (id) => ({ id, reasonCode: 'INSUFFICIENT_FUNDS' }),
    member: 'checkout',
    fields: ['id', 'status', 'amount'],
    events: ['checkout.updated', 'transaction.created', 'transaction.failed'],
  },
  expireTestCheckout: {
    edition: 2,
    subject: checkoutId,
    path: '/v1/test_helpers/checkouts/:id/expire',
    member: 'checkout',
    fields: ['id', 'status'],
    events: ['checkout.expired'],
  },
  createWebhookEndpoint: {
    subject: userId,
    path: '/v1/webhook_endpoints',
    body: (id) => ({ ...hook, account_id: id }),
    input: (id) => ({ url: hook.url, eventTypes: hook.event_types, accountId: id }),
    member: 'webhookEndpoint',
    fields: ['id', 'url'],
    events: ['webhook_endpoint.created'],
  },
  updateWebhookEndpoint: {
    subject: webhookId,
    path: '/v1/webhook_endpoints/:id',
    body: () => ({ description: 'changed' }),
    input: (id) => ({ id, description: 'changed' }),
    member: 'webhookEndpoint',
    fields: ['id', 'description'],
    events: ['webhook_endpoint.updated'],
  },
  rotateWebhookSecret: {
    subject: webhookId,
    path: '/v1/webhook_endpoints/:id/rotate_secret',
    member: 'webhookEndpoint',
    fields: ['id'],
    events: ['webhook_endpoint.secret_rotated'],
  },
  testWebhookEndpoint: {
    subject: webhookId,
    path: '/v1/webhook_endpoints/:id/test',
    member: 'webhookEndpoint',
    fields: ['id'],
    events: ['webhook_endpoint.tested'],
  },
  redeliverWebhooks: {
    subject: webhookId,
    path: '/v1/webhook_endpoints/:id/redeliver',
    body: () => ({ after_number: 0 }),
    input: (id) => ({ id, afterNumber: 0 }),
    member: 'webhookEndpoint',
    fields: ['url', 'enabled'],
    // It changes no object: its deliveries show it.
    events: [],
  },
  createExport: {
    subject: withoutBulk,
    path: '/v1/exports',
    body: () => ({
      ...{ list: '/v1/deposits', filters: 'created.gte=1767225600&currency=USD&unreconciled=true', format: 'csv' },
    }),
    // Another input than on /v1, and the same request.
    input: () => ({
      source: { deposits: { created: { gte: '2026-01-01T00:00:00Z' }, currency: ['USD'], unreconciled: true } },
      format: 'CSV',
    }),
    member: 'export',
    fields: ['id', 'status', 'list', 'filters'],
    events: ['export.created'],
  },
  createImport: {
    subject: async (me) => {
      await withoutBulk(me);
      return (await must(me.upload('import', new TextEncoder().encode('currency\nUSD')))).id as string;
    },
    path: '/v1/imports',
    body: (id) => ({ kind: 'receivables', file_id: id }),
    input: (id) => ({ kind: 'RECEIVABLES', fileId: id }),
    member: 'import',
    fields: ['id', 'status', 'rows'],
    events: ['import.created'],
  },
  settleTestPayout: {
    subject: payoutId,
    path: '/v1/test_helpers/payouts/:id/settle',
    member: 'payout',
    fields: ['id', 'status', 'amount'],
    events: ['payout.completed', 'receivable.updated'],
  },
  failTestPayout: {
    subject: payoutId,
    path: '/v1/test_helpers/payouts/:id/fail',
    member: 'payout',
    fields: ['id', 'status', 'amount'],
    events: ['payout.failed'],
  },
  advanceTestClock: {
    subject: none,
    path: '/v1/test_helpers/clock',
    body: () => ({ advance_seconds: 1 }),
    input: () => ({ advanceSeconds: 1 }),
    member: 'clock',
    fields: ['offsetSeconds'],
    events: ['clock.advanced'],
  },
  verifyTestAccount: {
    subject: verifyingId,
    path: '/v1/test_helpers/accounts/:id/verify',
    member: 'account',
    fields: ['id', 'status'],
    // This write enables payouts, so the setting changes as well.
    events: ['account.activated', 'account_setting.updated'],
  },
  holdTestAccount: {
    subject: verifyingId,
    path: '/v1/test_helpers/accounts/:id/hold',
    member: 'account',
    fields: ['id', 'status'],
    events: ['account.hold'],
  },
  deactivateTestAccount: {
    subject: partnerId,
    path: '/v1/test_helpers/accounts/:id/deactivate',
    member: 'account',
    fields: ['id', 'status'],
    events: ['account.deactivated'],
  },
  expireTestAddress: {
    subject: addressId,
    path: '/v1/test_helpers/addresses/:id/expire',
    member: 'address',
    fields: ['id', 'status'],
    events: ['address.expired'],
  },
  deactivateTestAddress: {
    subject: addressId,
    path: '/v1/test_helpers/addresses/:id/deactivate',
    member: 'address',
    fields: ['id', 'status'],
    events: ['address.deactivated'],
  },
};

type Transport = 'v1' | 'graph';
const transportsOf = ({ path }: Write): Transport[] => (path ? ['v1', 'graph'] : ['graph']);
const call = (me: Speaker, name: string, subject: string, transport: Transport, key: string): Promise<Reply> => {
  const { path, body, input, member, fields } = writes[name]!;
  return transport === 'v1'
    ? me.post(path!.replace(':id', subject.split(' ')[0]!), body?.(subject), keyed(key))
    : mutate(me, name, input?.(subject) ?? { id: subject }, `${member} { ${fields.join(' ')} }`, keyed(key));
};
/** The fields of a response that both APIs return, in one format. */
const objectOf = (name: string, transport: Transport, reply: Reply) => {
  const { member, fields } = writes[name]!;
  const source = transport === 'v1' ? reply.body : reply.body.data[name][member];
  return Object.fromEntries(
    fields.map((field) => {
      const value = source[transport === 'v1' ? field.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`) : field];
      return [field, field === 'status' ? String(value).toLowerCase() : value];
    }),
  );
};

const answers = (key: string) =>
  world.sql`select operation, account_id, livemode, answer from idempotency where key = ${key}`;
/** The operations that have a reason for having no event. */
const withoutEvent = new Set(
  resources.flatMap(({ operations: rows = {} }) =>
    Object.entries(rows).flatMap(([operation, row]) => (row.withoutEvent ? [operation] : [])),
  ),
);
const eventsOf = async (...replies: Reply[]) =>
  world.sql`select type, object_id, data from event where request_id =
    any(${replies.map((r) => r.headers.get('request-id')!)}) order by type`;

describe('a write that is sent again with its Idempotency-Key', () => {
  let platform: Speaker;
  let second: Speaker;
  beforeAll(async () => {
    [platform, second] = [await given.platform(1), await given.platform(2)];
  });

  it('covers every write that exists', () => {
    const all = [...operations, ...restOperations].filter(([, { access }]) => access === 'write');
    // The upload has a separate test, because the graph has no upload.
    expect(Object.keys(writes).sort()).toEqual(
      all
        .map(([name]) => name)
        .filter((name) => name !== 'createFile')
        .sort(),
    );
  });

  const firsts = Object.entries(writes).flatMap(([name, write]) =>
    transportsOf(write).map((transport) => ({ name, write, transport })),
  );
  // Where not everything is tried, a write is first sent through one of the APIs.
  for (const { name, write, transport } of covering(firsts, (row) => [row.name, row.transport], 1))
    it(
      `returns the first response through either API and gateway, and runs once: ${name}, first through ` +
        `${transport}`,
      async () => {
        const caller = write.edition ? second : platform;
        const subject = await write.subject(caller);
        const key = randomUUID();
        const first = await call(caller, name, subject, transport, key);
        expect([statusOf(first), replayed(first)]).toEqual([200, null]);
        const object = objectOf(name, transport, first);
        const named = write.fields.includes('id');
        if (named) expect(object.id).toMatch(/^[a-z_]+_[0-9a-f]{32}$/);

        const again: Reply[] = [];
        for (const way of [transport, ...transportsOf(write)])
          for (const me of [caller, elsewhere(caller)]) {
            const reply = await call(me, name, subject, way, key);
            expect([way, statusOf(reply), replayed(reply)]).toEqual([way, 200, 'true']);
            expect(objectOf(name, way, reply)).toEqual(object);
            if (way === transport && transport === 'v1')
              expect(withoutToken(reply.text)).toBe(withoutToken(first.text));
            again.push(reply);
          }
        const requests = [first, ...again].map((reply) => reply.headers.get('request-id'));
        expect(new Set(requests).size).toBe(requests.length);

        expect(await answers(key)).toEqual([
          {
            operation: name,
            account_id: caller.id,
            livemode: false,
            answer: expect.objectContaining(named ? { id: object.id } : {}),
          },
        ]);
        const events = await eventsOf(first);
        expect(events.map(({ type }) => type)).toEqual(write.events);
        // Each write has an event, or its declaration says why it has none.
        expect([name, events.length === 0]).toEqual([name, withoutEvent.has(name)]);
        expect(events.map(({ object_id: id, data }) => id === data.id)).toEqual(events.map(() => true));
        if (named) expect(events.map(({ object_id: id }) => id)).toContain(object.id);
        expect(await eventsOf(...again)).toEqual([]);
      },
    );

  it('returns the first response of an upload', async () => {
    const key = randomUUID();
    const send = (me: Speaker) => me.upload('invoice', pdf, 'a.pdf', { 'metadata[crm]': '42' }, keyed(key));
    const first = await send(platform);
    expect([first.status, replayed(first), first.body.metadata]).toEqual([200, null, { crm: '42' }]);
    for (const me of [platform, elsewhere(platform)]) {
      const reply = await send(me);
      expect([reply.status, replayed(reply), reply.text]).toEqual([200, 'true', first.text]);
    }
    const [{ files, contents }] = (await world.sql`
      select (select count(*)::int from file where sha256 = ${first.body.sha256}
      and metadata ->> 'crm' = '42') as files,
             (select count(*)::int from file_content where id = ${first.body.id}) as contents`) as never as [
      { files: number; contents: number },
    ];
    expect([files, contents]).toEqual([1, 1]);
    expect((await answers(key)).map(({ operation }) => operation)).toEqual(['createFile']);
    expect((await eventsOf(first)).map(({ type }) => type)).toEqual(['file.created']);
    // The content itself is stored once, with the files.
    const [{ leaked }] = (await world.sql`
      select (select count(*)::int from event where data::text like '%JVBERi%') + (select count(*)::int from idempotency
      where answer::text like '%JVBERi%') as leaked`) as never as [{ leaked: number }];
    expect(leaked).toBe(0);
  });

  it('stores one row and its events without a key too, each time again', async () => {
    const user = await platform.connectedUser();
    const count = async () =>
      Number((await world.sql`select count(*) as n from idempotency where account_id = ${user.id}`)[0]!.n);
    const before = await count();
    const replies = [await user.post('/v1/persons', person), await user.post('/v1/persons', person)];
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(replies[0]!.body.id).not.toBe(replies[1]!.body.id);
    expect(replies.map(replayed)).toEqual([null, null]);
    expect((await eventsOf(...replies)).map(({ type }) => type)).toEqual(['person.created', 'person.created']);
    expect((await count()) - before).toBe(2);
  });

  it('emits a separate event for the replacement of a payout address', async () => {
    const user = await platform.connectedUser();
    const first = await user.post('/v1/addresses', payoutAddressBody(user.id));
    const second = await user.post('/v1/addresses', payoutAddressBody(user.id));
    const events = await eventsOf(second);
    expect(events.map(({ type, object_id: id }) => [type, id])).toEqual([
      ['address.created', second.body.id],
      ['address.pending_deactivation', first.body.id],
    ]);
  });

  it('stores neither a secret nor a digest of one in events and responses', async () => {
    const made = await mutate(
      platform,
      'createApiKey',
      { permission: 'FULL' },
      'secret apiKey { id }',
      keyed(randomUUID()),
    );
    const { secret, apiKey } = made.body.data.createApiKey;
    const [{ digest }] = (await world.sql`select digest from api_key where id = ${apiKey.id}`) as never as [
      { digest: string },
    ];
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    const rows = await world.sql`
      select data::text as text from event where object = 'api_key' union all select answer::text from idempotency
      where answer ->> 'prefix' is not null`;
    expect(rows.length).toBeGreaterThan(4);
    for (const { text } of rows) {
      expect(text).not.toContain('digest');
      expect(text).not.toContain(digest);
      expect(text).not.toContain(secret);
    }
  });
});

describe('an Idempotency-Key that was already used', () => {
  let platform: Speaker;
  beforeAll(async () => {
    platform = await given.platform(1);
  });

  /** Sends one request, then another with its key, through both APIs; only the first one creates an object. */
  const reused = async (first: (key: string) => Promise<Reply>, ...second: ((key: string) => Promise<Reply>)[]) => {
    const key = randomUUID();
    const done = await first(key);
    expect([statusOf(done), replayed(done)]).toEqual([200, null]);
    const replies = await Promise.all(second.map((send) => send(key)));
    expect(await answers(key)).toHaveLength(1);
    expect(await eventsOf(...replies)).toEqual([]);
    const again = await first(key);
    expect([statusOf(again), replayed(again)]).toEqual([200, 'true']);
    return replies.map((reply) => ({
      status: statusOf(reply),
      codes: [...new Set(reply.codes)],
      fields: [...reply.fieldNames].sort(),
      replayed: replayed(reply),
    }));
  };
  const naming = (...fields: string[]) => ({ status: 400, codes: ['idempotency_key_reused'], fields, replayed: null });

  interface Partner {
    nickname: string;
    legalName: string;
    city: string;
    metadata?: Record<string, string>;
  }
  const asBody = ({ nickname: name, legalName, city, metadata }: Partner) => {
    const { physical_address: place, ...rest } = details(legalName);
    const business_details = { ...rest, physical_address: { ...place, city } };
    return { type: 'partner', nickname: name, business_details, ...(metadata && { metadata }) };
  };
  const asInput = ({ nickname: name, legalName, city, metadata }: Partner) => {
    const { businessDetails, ...rest } = partnerInput({ nickname: name, ...(metadata && { metadata }) });
    const physicalAddress = { ...businessDetails.physicalAddress, city };
    return { ...rest, businessDetails: { ...businessDetails, legalName, physicalAddress } };
  };
  const variations: [what: string, change: (partner: Partner) => Partner, fields: string[]][] = [
    ['another text', (partner) => ({ ...partner, nickname: 'another name' }), ['account.nickname']],
    [
      'two of them, nested',
      (partner) => ({ ...partner, legalName: 'Other', city: 'Goa' }),
      ['account.business_details.legal_name', 'account.business_details.physical_address.city'],
    ],
    ['one more', (partner) => ({ ...partner, metadata: { crm: '42', tier: 'gold' } }), ['account.metadata.tier']],
    ['one less', ({ metadata: _, ...partner }) => partner, ['account.metadata.crm']],
    [
      'a key of metadata with a dot and a capital in it',
      (partner) => ({ ...partner, metadata: { crm: '42', 'a.B': '1' } }),
      ['account.metadata.a.B'],
    ],
  ];
  for (const [what, change, fields] of variations)
    it(`refuses other parameters and reports their names: ${what}`, async () => {
      const partner = () => ({ nickname: nickname(), legalName: 'Acme', city: 'Pune', metadata: { crm: '42' } });
      const v1 = (p: Partner) => (key: string) => platform.post('/v1/accounts', asBody(p), keyed(key));
      const graph = (p: Partner) => (key: string) =>
        mutate(platform, 'createAccount', asInput(p), 'account { id }', keyed(key));
      for (const [first, p] of [
        [v1, partner()],
        [graph, partner()],
      ] as const)
        expect(await reused(first(p), v1(change(p)), graph(change(p)))).toEqual([naming(...fields), naming(...fields)]);
    });

  it('refuses another object of the same operation, and leaves it unchanged', async () => {
    const [one, two] = await Promise.all([partnerId(platform), partnerId(platform)]);
    const said = await reused(
      (key) => platform.post(`/v1/accounts/${one}/activate`, undefined, keyed(key)),
      (key) => platform.post(`/v1/accounts/${two}/activate`, undefined, keyed(key)),
      (key) => mutate(platform, 'activateAccount', { id: two }, 'account { id }', keyed(key)),
    );
    expect(said).toEqual([naming('account.id'), naming('account.id')]);
    expect((await platform.get(`/v1/accounts/${two}`)).body.status).toBe('draft');
  });

  it('refuses other parameters of addresses, settings and keys too', async () => {
    const [user, setting, key] = await Promise.all([userId(platform), settingId(platform), keyId(platform)]);
    const bank = (number: string) => ({
      ...payoutAddressBody(user),
      bank_account: { number, domestic_credit: 'HDFC0000001' },
    });
    expect(
      await reused(
        (k) => platform.post('/v1/addresses', bank('1234567890'), keyed(k)),
        (k) => platform.post('/v1/addresses', bank('1234567891'), keyed(k)),
      ),
    ).toEqual([naming('address.bank_account.number')]);
    expect(
      await reused(
        (k) => platform.post(`/v1/account_settings/${setting}`, { metadata: { a: '1' } }, keyed(k)),
        (k) => platform.post(`/v1/account_settings/${setting}`, { metadata: { a: '2' } }, keyed(k)),
      ),
    ).toEqual([naming('account_setting.metadata.a')]);
    expect(
      await reused(
        (k) => mutate(platform, 'rotateApiKey', { id: key, graceSeconds: 60 }, 'apiKey { id }', keyed(k)),
        (k) => mutate(platform, 'rotateApiKey', { id: key, graceSeconds: 61 }, 'apiKey { id }', keyed(k)),
      ),
    ).toEqual([naming('api_key.grace_seconds')]);
  });

  it('refuses another purpose and other metadata of an upload', async () => {
    expect(
      await reused(
        (key) => platform.upload('invoice', pdf, 'a.pdf', {}, keyed(key)),
        (key) => platform.upload('logo', pdf, 'a.pdf', {}, keyed(key)),
        (key) => platform.upload('invoice', pdf, 'a.pdf', { 'metadata[a]': '1' }, keyed(key)),
      ),
    ).toEqual([naming('file.purpose'), naming('file.metadata.a')]);
  });

  // The caller sent the parameter `file`; the gateway derived the hash and the size.
  it('refuses another file, and reports the parameter that the caller sent', async () => {
    const another = new TextEncoder().encode('%PDF-1.5\n%%EOF\n\n\n');
    expect(
      await reused(
        (key) => platform.upload('invoice', pdf, 'a.pdf', {}, keyed(key)),
        (key) => platform.upload('invoice', another, 'a.pdf', {}, keyed(key)),
      ),
    ).toEqual([naming('file.file')]);
  });

  // An update without parameters changes nothing, but it is a different request.
  it('refuses an update without parameters under the key of another update', async () => {
    const [user, setting, address] = await Promise.all([userId(platform), settingId(platform), addressId(platform)]);
    const of = async (path: string) =>
      reused(
        (key) => platform.post(path, { metadata: { a: '1' } }, keyed(key)),
        (key) => platform.post(path, {}, keyed(key)),
      );
    expect(
      await Promise.all([
        of(`/v1/accounts/${user}`),
        of(`/v1/account_settings/${setting}`),
        of(`/v1/addresses/${address}`),
      ]),
    ).toEqual([[naming('account.metadata.a')], [naming('account_setting.metadata.a')], [naming('address.metadata.a')]]);
  });

  describe('for one operation', () => {
    // The writes run one after the other, because some advance the clock. No object changes, so all tests use the same
    // ones.
    const subjects: Record<string, string> = {};
    const platforms = {} as Record<Edition, Speaker>;
    beforeAll(async () => {
      [platforms[1], platforms[2]] = [await given.platform(1), await given.platform(2)];
      for (const [name, write] of Object.entries(writes))
        subjects[name] = await write.subject(platforms[write.edition ?? 1]);
    });

    const table = Object.entries(writes).flatMap(([name, write]) =>
      Object.keys(writes)
        .filter((other) => other !== name && writes[other]!.edition === write.edition)
        .flatMap((other) => transportsOf(writes[other]!).map((transport) => ({ name, other, transport }))),
    );
    // Where not everything is tried, each operation meets the key of one of the others, through one of the APIs.
    const chosen = covering(table, ({ name, other, transport }) => [name, other, transport], 1);
    for (const [name, write] of Object.entries(writes))
      it(`is refused for every other operation and every type of its response: used for ${name}`, async () => {
        const key = randomUUID();
        const me = platforms[write.edition ?? 1];
        expect(statusOf(await call(me, name, await write.subject(me), 'graph', key))).toBe(200);
        const tried = chosen.filter((row) => row.name === name);
        expect(tried.length).toBeGreaterThan(0);
        const replies = await Promise.all([
          ...tried.map(({ other, transport }) => call(me, other, subjects[other]!, transport, key)),
          me.upload('invoice', pdf, 'a.pdf', {}, keyed(key)),
        ]);
        expect(replies.map((reply) => [statusOf(reply), ...new Set(reply.codes)].join(' '))).toEqual(
          replies.map(() => '400 idempotency_key_reused'),
        );
        expect(await eventsOf(...replies)).toEqual([]);
        expect((await answers(key)).map(({ operation }) => operation)).toEqual([name]);
      });
  });

  // With the same parameters, only the operation differs.
  it('refuses another operation on the same object', async () => {
    const id = await partnerId(platform);
    const key = randomUUID();
    const done = await call(platform, 'activateAccount', id, 'v1', key);
    expect([done.status, done.body.status]).toEqual([200, 'verifying']);
    const others = ['deactivateAccount', 'verifyTestAccount', 'holdTestAccount', 'deactivateTestAccount'];
    const replies = await Promise.all(
      others.flatMap((name) => (['v1', 'graph'] as const).map((transport) => call(platform, name, id, transport, key))),
    );
    expect(replies.map((reply) => [statusOf(reply), ...reply.codes].join(' '))).toEqual(
      replies.map(() => '400 idempotency_key_reused'),
    );
    expect((await platform.get(`/v1/accounts/${id}`)).body.status).toBe('verifying');
  });

  it('compares requests by their meaning and not by their text', async () => {
    const user = await userId(platform);
    const key = randomUUID();
    const volume = (amount: string) => ({
      business_details: { estimated_monthly_volume: { currency: 'USD', amount } },
    });
    const first = await platform.post(
      `/v1/accounts/${user}`,
      { metadata: { a: '1', b: '2' }, ...volume('10'), tos_acceptance: { time: 1_700_000_000 } },
      keyed(key),
    );
    const ways = await Promise.all([
      platform.post(
        `/v1/accounts/${user}`,
        ` { "tos_acceptance": {"time":1700000000},\n "business_details": ` +
          '{"estimated_monthly_volume":{"amount":"10.00","currency":"USD"}}, "metadata":{"b":"2","a":"1"}} ',
        keyed(key),
      ),
      platform.graph(
        `mutation { updateAccount(input: { metadata: { b: "2", a: "1" }, id: "${user}", tosAcceptance: { time:
          "2023-11-14T22:13:20Z" },
           businessDetails: { estimatedMonthlyVolume: { amount: "10.00", currency: "USD" } } }) { account { id } } }`,
        {},
        keyed(key),
      ),
      platform.graph(
        `mutation Other($volume: VolumeInput, $id: ID!) { mine: updateAccount(input: { tosAcceptance: { time:
          "2023-11-14T23:13:20+01:00" },
           businessDetails: { estimatedMonthlyVolume: $volume }, metadata: { a: "1", b: "2" }, id: $id }) { account { id
           status } } }`,
        { id: user, volume: { amount: '10', currency: 'USD' } },
        keyed(key),
      ),
    ]);
    expect([first.status, ...ways.map(statusOf)]).toEqual([200, 200, 200, 200]);
    expect(ways.map(replayed)).toEqual(['true', 'true', 'true']);
    expect(ways[0]!.text).toBe(first.text);
    expect(ways[2]!.body.data.mine.account).toEqual({ id: user, status: 'DRAFT' });
  });

  it('can be used again for other tenants, modes and acting accounts', async () => {
    const key = randomUUID();
    const [both, stranger] = await Promise.all([given.platformBoth(1), given.platform(1)]);
    const users = await Promise.all([both.test.connectedUser(), both.test.connectedUser()]);
    const body = partnerBody();
    const askers = [both.test, both.live, stranger];
    const made = await Promise.all(askers.map((me) => me.post('/v1/accounts', body, keyed(key))));
    // Nicknames are unique in a tenant and mode, so this test creates persons for the acting accounts instead.
    const acting = users.map((user) => both.test.actingFor(user.id));
    const persons = await Promise.all(acting.map((me) => me.post('/v1/persons', person, keyed(key))));
    const all = [...made, ...persons];
    expect(all.map((reply) => [reply.status, replayed(reply)])).toEqual(all.map(() => [200, null]));
    expect(new Set(all.map(({ body: { id } }) => id)).size).toBe(5);
    expect(await answers(key)).toHaveLength(5);

    // The user itself is the acting account of its platform's request.
    const own = await users[0]!.post('/v1/persons', person, keyed(key));
    expect([own.status, replayed(own), own.text]).toEqual([200, 'true', persons[0]!.text]);
    const mine = await both.test.post('/v1/persons', person, keyed(key));
    expect([mine.status, mine.codes]).toEqual([400, ['idempotency_key_reused']]);
  });

  it('stays used after a rotation of the API key, and for every other key of the account', async () => {
    const me = await given.directUser(1);
    const body = partnerBody();
    const key = randomUUID();
    const first = await me.post('/v1/accounts', body, keyed(key));
    const { id } = (await me.graph('{ apiKeys { nodes { id } } }')).body.data.apiKeys.nodes[0];
    const rotated = await mutate(me, 'rotateApiKey', { id, graceSeconds: 0 }, 'secret');
    const made = me.using(rotated.body.data.rotateApiKey.secret);
    await eventually(
      () => me.get('/v1/accounts'),
      (reply) => reply.status === 401,
    );
    const again = await made.post('/v1/accounts', body, keyed(key));
    expect([again.status, replayed(again), again.text]).toEqual([200, 'true', first.text]);
    const second = await mutate(made, 'createApiKey', { permission: 'FULL' }, 'secret');
    const more = await me.using(second.body.data.createApiKey.secret).post('/v1/accounts', body, keyed(key));
    expect([more.status, replayed(more), more.text]).toEqual([200, 'true', first.text]);
  });
});

describe('a refused write', () => {
  let platform: Speaker;
  beforeAll(async () => {
    platform = await given.platform(1);
  });
  const refusals: Record<
    string,
    (key: string) => Promise<[refused: Reply, code: string, fixed: () => Promise<Reply>]>
  > = {
    'of a missing parameter': async (key) => [
      await platform.post('/v1/accounts', { type: 'partner', business_details: details() }, keyed(key)),
      '400 parameter_missing',
      () => platform.post('/v1/accounts', partnerBody(), keyed(key)),
    ],
    'of malformed JSON': async (key) => [
      await platform.post('/v1/accounts', '{"type": ', keyed(key)),
      '400 body_invalid',
      () => platform.post('/v1/accounts', partnerBody(), keyed(key)),
    ],
    'of a taken nickname': async (key) => {
      const { nickname: name } = await platform.partner();
      return [
        await platform.post('/v1/accounts', partnerBody({ nickname: name }), keyed(key)),
        '409 nickname_taken',
        () => platform.post('/v1/accounts', partnerBody(), keyed(key)),
      ];
    },
    'of an unknown id': async (key) => [
      await platform.post('/v1/accounts/account_0/activate', undefined, keyed(key)),
      '404 resource_missing',
      async () => platform.post(`/v1/accounts/${await partnerId(platform)}/activate`, undefined, keyed(key)),
    ],
    'of a state': async (key) => [
      await platform.post(`/v1/accounts/${await verifyingId(platform)}/activate`, undefined, keyed(key)),
      '400 status_invalid',
      async () => platform.post(`/v1/accounts/${await partnerId(platform)}/activate`, undefined, keyed(key)),
    ],
    'of a limit that only the merged result breaks': async (key) => {
      const id = await userId(platform);
      const keys = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, '1']));
      return [
        await platform.post(`/v1/accounts/${id}`, { metadata: keys(11) }, keyed(key)),
        '400 parameter_invalid',
        () => platform.post(`/v1/accounts/${id}`, { metadata: keys(10) }, keyed(key)),
      ];
    },
    'of missing permission': async (key) => {
      const made = await mutate(platform, 'createApiKey', { permission: 'READ' }, 'secret');
      const body = partnerBody();
      return [
        await platform.using(made.body.data.createApiKey.secret).post('/v1/accounts', body, keyed(key)),
        '403 permission_denied',
        () => platform.post('/v1/accounts', body, keyed(key)),
      ];
    },
    'through the graph': async (key) => [
      await mutate(
        platform,
        'createAccount',
        { ...partnerInput({ nickname: nickname() }), type: 'USER' },
        'account { id }',
        keyed(key),
      ),
      '400 parameter_invalid',
      () => mutate(platform, 'createAccount', partnerInput({ nickname: nickname() }), 'account { id }', keyed(key)),
    ],
    'of an empty file': async (key) => [
      await platform.upload('invoice', new Uint8Array(), 'a.pdf', {}, keyed(key)),
      '400 parameter_invalid_empty',
      () => platform.upload('invoice', pdf, 'a.pdf', {}, keyed(key)),
    ],
  };
  for (const [what, run] of Object.entries(refusals))
    it(`${what} stores nothing: the same key then works for a valid request`, async () => {
      const key = randomUUID();
      const [refused, code, fix] = await run(key);
      expect([`${statusOf(refused)} ${refused.codes[0]}`, replayed(refused)]).toEqual([code, null]);
      expect(await answers(key)).toEqual([]);
      expect(await eventsOf(refused)).toEqual([]);
      const fixed = await fix();
      expect([statusOf(fixed), replayed(fixed)]).toEqual([200, null]);
      expect(await answers(key)).toHaveLength(1);
    });

  it('of unmet prerequisites is evaluated again under the same key', async () => {
    const user = await platform.connectedUser({
      businessDetails: { type: 'INDIVIDUAL', ids: { taxGst: '27ABCDE1234F1Z5' } },
    });
    const key = randomUUID();
    const activate = () => platform.post(`/v1/accounts/${user.id}/activate`, undefined, keyed(key));
    const refused = await activate();
    expect([refused.status, refused.fieldNames]).toEqual([
      400,
      ['account.addresses.user_payout', 'account.persons.owner'],
    ]);
    await must(platform.post('/v1/addresses', payoutAddressBody(user.id)));
    expect((await activate()).fieldNames).toEqual(['account.persons.owner']);
    await must(user.post('/v1/persons', { ...person, relationship: { owner: true } }));
    const done = await activate();
    expect([done.status, done.body.status, replayed(done)]).toEqual([200, 'verifying', null]);
  });
});

describe('a replay', () => {
  it('returns the object as it was then, even if it has changed', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const key = randomUUID();
    const update = () => platform.post(`/v1/accounts/${user.id}`, { metadata: { a: '1' } }, keyed(key));
    const first = await update();
    await must(platform.post(`/v1/accounts/${user.id}`, { metadata: { a: '2', b: '2' }, nickname: nickname() }));
    const again = await update();
    expect(again.text).toBe(first.text);
    expect(again.body.metadata).toEqual({ a: '1' });
    expect((await platform.get(`/v1/accounts/${user.id}`)).body.metadata).toEqual({ a: '2', b: '2' });

    const partner = await partnerId(platform);
    const activation = randomUUID();
    const activate = () => platform.post(`/v1/accounts/${partner}/activate`, undefined, keyed(activation));
    const submitted = await activate();
    await must(platform.post(`/v1/test_helpers/accounts/${partner}/verify`));
    await must(platform.post(`/v1/accounts/${partner}/deactivate`));
    const later = await activate();
    expect([later.status, later.text, later.body.status]).toEqual([200, submitted.text, 'verifying']);
    const graph = await mutate(platform, 'activateAccount', { id: partner }, 'account { status }', keyed(activation));
    expect(graph.body.data.activateAccount.account.status).toBe('VERIFYING');
    expect((await platform.get(`/v1/accounts/${partner}`)).body.status).toBe('deactivated');

    const address = await platform.post('/v1/addresses', payoutAddressBody(user.id), keyed(key + 'a'));
    await must(platform.post('/v1/addresses', payoutAddressBody(user.id)));
    const old = await platform.post('/v1/addresses', payoutAddressBody(user.id), keyed(key + 'a'));
    expect([old.text, old.body.status]).toEqual([address.text, 'activated']);
    expect((await platform.get(`/v1/addresses/${old.body.id}`)).body.status).toBe('pending_deactivation');
  });

  it('is the same for a request that names a default of the schema and one that leaves it out', async () => {
    const me = await given.directUser(1);
    const key = randomUUID();
    const create = (input: object) => mutate(me, 'createApiKey', input, 'apiKey { id permission }', keyed(key));
    const first = (await create({})).body.data.createApiKey;
    expect(first.apiKey.permission).toBe('FULL');
    const again = await create({ permission: 'FULL' });
    expect([again.body.data.createApiKey, replayed(again)]).toEqual([first, 'true']);
    const other = await create({ permission: 'READ' });
    expect(other.body.errors[0].extensions).toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
      error: { metadata: { field_name: 'api_key.permission' } },
    });
  });

  it('is the same for a request whose default an older gateway has stored', () => {
    const secrets = Secrets.of(world.pepper);
    const defaults = { 'api_key.permission': 'full' };
    const stored = fingerprints(secrets, 'api_key', { permission: 'full' }).request;
    expect(Object.keys(stored)).toEqual(['api_key.permission']);
    const now = (permission: string) => fingerprints(secrets, 'api_key', { permission }, defaults);
    expect(now('full').request).toEqual({});
    expect(now('full').requestLike(stored)).toEqual(stored);
    expect(now('read').requestLike(stored)).not.toEqual(stored);
  });

  it('of a new API key has no secret, and creates no second key', async () => {
    const me = await given.directUser(1);
    const key = randomUUID();
    const create = () =>
      mutate(me, 'createApiKey', { permission: 'FULL' }, 'secret apiKey { id revokedAt }', keyed(key));
    const first = (await create()).body.data.createApiKey;
    const rotation = randomUUID();
    const rotate = () => mutate(me, 'rotateApiKey', { id: first.apiKey.id }, 'secret apiKey { id }', keyed(rotation));
    const turned = (await rotate()).body.data.rotateApiKey;
    expect([first.secret, turned.secret]).toEqual([
      expect.stringMatching(/^sk_test_/),
      expect.stringMatching(/^sk_test_/),
    ]);
    await mutate(me, 'revokeApiKey', { id: first.apiKey.id }, 'apiKey { id }');
    const again = await create();
    expect([again.body.data.createApiKey, replayed(again)]).toEqual([{ secret: null, apiKey: first.apiKey }, 'true']);
    const turnedAgain = await rotate();
    expect([turnedAgain.body.data.rotateApiKey, replayed(turnedAgain)]).toEqual([
      { secret: null, apiKey: turned.apiKey },
      'true',
    ]);
    expect((await me.graph('{ apiKeys { totalCount } }')).body.data.apiKeys.totalCount).toBe(3);
  });
});

describe('the Idempotency-Key header', () => {
  let me: Speaker;
  beforeAll(async () => {
    me = await given.directUser(1);
  });

  const bad: [what: string, key: string][] = [
    ['256 characters', 'k'.repeat(256)],
    ['a tab', 'a\tb'],
    ['a letter beyond ASCII', 'cl\u00e9'],
  ];
  for (const [what, key] of bad)
    it(`is refused when it is not valid, and nothing is written: ${what}`, async () => {
      const name = nickname();
      const replies = await Promise.all([
        me.post('/v1/accounts', partnerBody({ nickname: name }), keyed(key)),
        mutate(me, 'createAccount', partnerInput({ nickname: name }), 'account { id }', keyed(key)),
        me.upload('invoice', pdf, name, {}, keyed(key)),
      ]);
      expect(replies.map((reply) => [reply.status, reply.codes, reply.fieldNames])).toEqual(
        replies.map(() => [400, ['parameter_invalid'], ['Idempotency-Key']]),
      );
      expect(await eventsOf(...replies)).toEqual([]);
    });

  it('is refused when it is empty', async () => {
    expect((await me.post('/v1/accounts', partnerBody(), keyed(''))).status).toBe(400);
  });

  it('may have up to 255 printable characters', async () => {
    for (const key of ['k'.repeat(255), '!', 'a b ~ "c"']) {
      const body = partnerBody();
      const first = await me.post('/v1/accounts', body, keyed(key));
      const again = await me.post('/v1/accounts', body, keyed(key));
      expect([first.status, replayed(first), replayed(again), again.text]).toEqual([200, null, 'true', first.text]);
    }
  });

  it('has no effect on a read, which leaves the key unused', async () => {
    const key = randomUUID();
    const list = () => me.get('/v1/accounts', keyed(key));
    const query = () => me.graph('{ viewer { edition } accounts { totalCount } }', {}, keyed(key));
    const replies = [await list(), await query(), await list(), await query()];
    expect(replies.map((reply) => [statusOf(reply), replayed(reply)])).toEqual(replies.map(() => [200, null]));
    expect((await me.get('/v1/accounts', keyed('k'.repeat(256)))).status).toBe(200);
    expect(await answers(key)).toEqual([]);
    const made = await me.post('/v1/accounts', partnerBody(), keyed(key));
    expect([made.status, replayed(made)]).toEqual([200, null]);
    // A read does not return the response that is stored under the key.
    expect([(await list()).body.object, replayed(await list())]).toEqual(['list', null]);
  });

  const two = (): [string, string] => [nickname(), nickname()];
  const field = (alias: string, name: string) =>
    `${alias}: createAccount(input: { type: PARTNER, nickname: "${name}", businessDetails: { legalName: "A", ` +
    'email: "a@b.example", type: COMPANY, physicalAddress: { country: "IN" } } }) { account { id } }';
  const documents: [what: string, document: (a: string, b: string) => string][] = [
    ['side by side', (a, b) => `mutation { ${field('a', a)} ${field('b', b)} }`],
    [
      'of two operations',
      (a) =>
        `mutation { ${field('a', a)} createPerson(input: { fullName: "A", relationship: { owner: true }, ` +
        'identification: { taxCardNumber: "1" } }) { person { id } } }',
    ],
    ['in a fragment', (a, b) => `mutation { ...both } fragment both on Mutation { ${field('a', a)} ${field('b', b)} }`],
    ['in an inline fragment', (a, b) => `mutation { ... on Mutation { ${field('a', a)} ${field('b', b)} } }`],
    [
      'the same twice, in a fragment',
      (a) => `mutation { ...both } fragment both on Mutation { ${field('a', a)} ${field('b', a)} }`,
    ],
  ];
  for (const [what, document] of documents)
    it(`cannot apply to several mutations, none of which runs: ${what}`, async () => {
      const [a, b] = two();
      const reply = await me.graph(document(a, b), {}, keyed(randomUUID()));
      expect(reply.codes.length).toBeGreaterThan(0);
      expect([statusOf(reply), [...new Set(reply.codes)]]).toEqual([400, ['idempotency_key_ambiguous']]);
      expect(await world.sql`select id from account where nickname = any(${[a, b]})`).toEqual([]);
      expect(await eventsOf(reply)).toEqual([]);
    });

  it('may apply to one mutation together with its typename, or in a fragment', async () => {
    const [a, b] = two();
    for (const document of [
      `mutation { __typename ${field('a', a)} }`,
      `mutation { ...one } fragment one on Mutation { ${field('a', b)} }`,
    ]) {
      const key = randomUUID();
      const first = await me.graph(document, {}, keyed(key));
      const again = await me.graph(document, {}, keyed(key));
      expect([first.codes, replayed(first), replayed(again)]).toEqual([[], null, 'true']);
      expect(again.body.data).toEqual(first.body.data);
    }
  });

  it('is not needed for several mutations, each of which then runs', async () => {
    const [a, b] = two();
    const reply = await me.graph(`mutation { ${field('a', a)} ${field('b', b)} }`);
    expect([reply.codes, reply.body.data.a.account.id === reply.body.data.b.account.id]).toEqual([[], false]);
    expect((await eventsOf(reply)).map(({ type }) => type)).toEqual(['account.created', 'account.created']);
  });
});

describe('concurrent requests with one key, over two gateways', () => {
  let platform: Speaker;
  let second: Speaker;
  beforeAll(async () => {
    [platform, second] = [await given.platform(1), await given.platform(2)];
  });
  const outcomeOf = (reply: Reply) => {
    const what = reply.codes[0] ?? (replayed(reply) === 'true' ? 'replayed' : 'done');
    const later = statusOf(reply) === 409 ? ` ${reply.headers.get('retry-after')}` : '';
    return `${statusOf(reply)} ${what}${later}`;
  };

  for (const name of [
    'createAccount',
    'createPerson',
    'updatePerson',
    'removePerson',
    'createAddress',
    'updateAccount',
    'activateAccount',
    'createApiKey',
    'createCheckout',
    'payTestCheckout',
  ])
    it(`have one effect; the others get its response or a 409 with Retry-After: 16 of ${name}, 3 times`, async () => {
      for (let round = 0; round < 3; round++) {
        const caller = writes[name]!.edition ? second : platform;
        const subject = await writes[name]!.subject(caller);
        const key = randomUUID();
        const transports = transportsOf(writes[name]!);
        const racers = Array.from({ length: 16 }, (_, i) => ({
          me: i % 2 ? elsewhere(caller) : caller,
          transport: transports[i % transports.length]!,
        }));
        const replies = await Promise.all(racers.map(({ me, transport }) => call(me, name, subject, transport, key)));
        const said = replies.map(outcomeOf);
        expect(said.filter((text) => text === '200 done')).toHaveLength(1);
        expect(
          said.filter((text) => !['200 done', '200 replayed', '409 idempotency_key_in_use 1'].includes(text)),
        ).toEqual([]);
        const objects = replies.flatMap((reply, i) =>
          statusOf(reply) === 200 ? [objectOf(name, racers[i]!.transport, reply)] : [],
        );
        expect(objects).toEqual(objects.map(() => objects[0]));
        expect(await answers(key)).toHaveLength(1);
        expect((await eventsOf(...replies)).map(({ type }) => type)).toEqual(writes[name]!.events);
        const after = await call(caller, name, subject, transports[0]!, key);
        expect([outcomeOf(after), objectOf(name, transports[0]!, after)]).toEqual(['200 replayed', objects[0]]);
      }
    });

  it('have one effect when their parameters differ, and the others get an error', async () => {
    for (let round = 0; round < 3; round++) {
      const key = randomUUID();
      const names = Array.from({ length: 16 }, nickname);
      const replies = await Promise.all(
        names.map((name, i) =>
          (i % 2 ? elsewhere(platform) : platform).post('/v1/accounts', partnerBody({ nickname: name }), keyed(key)),
        ),
      );
      const said = replies.map(outcomeOf);
      expect(said.filter((text) => text === '200 done')).toHaveLength(1);
      expect(
        said.filter(
          (text) => !['200 done', '400 idempotency_key_reused', '409 idempotency_key_in_use 1'].includes(text),
        ),
      ).toEqual([]);
      expect(await world.sql`select id from account where nickname = any(${names})`).toHaveLength(1);
    }
  });

  it('make one upload', async () => {
    const key = randomUUID();
    const content = new TextEncoder().encode(`%PDF-1.4\n${key}\n%%EOF\n`);
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        (i % 2 ? elsewhere(platform) : platform).upload('invoice', content, 'a.pdf', {}, keyed(key)),
      ),
    );
    const said = replies.map(outcomeOf);
    expect(said.filter((text) => text === '200 done')).toHaveLength(1);
    expect(said.filter((text) => !['200 done', '200 replayed', '409 idempotency_key_in_use 1'].includes(text))).toEqual(
      [],
    );
    const { sha256 } = replies.find(({ status }) => status === 200)!.body;
    expect(await world.sql`select id from file where sha256 = ${sha256}`).toHaveLength(1);
  });

  // The first request waits for the lock of a row, and does not commit before the other requests time out.
  it(
    'get a 409 with Retry-After while the first one runs, through both APIs; ' +
      'and if it never commits, the next one is the first',
    async () => {
      const key = randomUUID();
      const body = partnerBody();
      const v1 = (me: Speaker) => me.post('/v1/accounts', body, keyed(key));
      const graph = (me: Speaker) => mutate(me, 'createAccount', partnerInput(body), 'account { id }', keyed(key));
      const undone = new Error('undone');
      let replies: Reply[] = [];
      await world.sql
        .begin(async (tx) => {
          await tx`insert into idempotency (tenant_id, livemode, account_id, key, created, operation, request, answer)
                 values (${platform.id.replace('account_', '')}, false, ${platform.id}, ${key}, 0, 'createAccount',
                 '{}', '{}')`;
          replies = await Promise.all([v1(platform), graph(elsewhere(platform))]);
          throw undone;
        })
        .catch((error) => expect(error).toBe(undone));
      expect(replies.map((reply) => [statusOf(reply), reply.codes, reply.headers.get('retry-after')])).toEqual([
        [409, ['idempotency_key_in_use'], '1'],
        [409, ['idempotency_key_in_use'], '1'],
      ]);
      const done = await v1(platform);
      const again = await graph(elsewhere(platform));
      expect([done.status, replayed(done), again.body.data.createAccount.account.id, replayed(again)]).toEqual([
        200,
        null,
        done.body.id,
        'true',
      ]);
    },
  );
});

describe('a response of the database that is lost', () => {
  /**
   * The connection to PostgreSQL of a separate gateway: once armed, it breaks after the next write has committed and
   * before the response arrives.
   */
  const wire = { armed: false, lost: 0 };
  let server: net.Server;
  let database: Database;
  let app: Awaited<ReturnType<typeof gateway>>;
  let origin: string;

  beforeAll(async () => {
    const { host, port } = inject('admin');
    const committed = Buffer.from('SELECT 1\0Z\0\0\0\x05I', 'latin1');
    server = net.createServer((client) => {
      const upstream = net.connect(`${host}/.s.PGSQL.${port}`);
      let writes = false;
      client.once('data', (startup) => {
        writes = startup.includes('tidegate write');
      });
      client.on('data', (bytes) => upstream.write(bytes));
      let tail = Buffer.alloc(0);
      upstream.on('data', (bytes) => {
        // The message that reports the commit may arrive in two parts.
        const seen = Buffer.concat([tail, bytes]);
        tail = seen.includes(committed) ? Buffer.alloc(0) : seen.subarray(-committed.length);
        if (!wire.armed || !writes || !seen.includes(committed)) return client.write(bytes);
        wire.armed = false;
        wire.lost++;
        client.destroy();
        return upstream.destroy();
      });
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        one.on('close', () => other.destroy());
        one.on('error', () => other.destroy());
      }
    });
    await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume));
    const [{ name }] = (await world.sql`select current_database() as name`) as never as [{ name: string }];
    database = new Database({
      host: '127.0.0.1',
      port: (server.address() as net.AddressInfo).port,
      username: 'tidegate',
      database: name,
    });
    app = await gateway({
      config: config({ serves: true }, { PORT: '0' }),
      database,
      schema: buildGraph(),
      pepper: world.pepper,
      log: pino({ level: 'silent' }),
    });
    origin = await app.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(async () => {
    await app.close();
    await database.close();
    server.close();
  });

  /** A caller at that gateway. Its key was already used there, because the record of its use is a write as well. */
  const caller = async () => {
    const me = elsewhere(await given.directUser(1), origin);
    await me.get('/v1/accounts');
    await eventually(
      () => world.sql`select last_used_at from api_key where account_id = ${me.id} and not livemode`,
      ([key]) => key?.last_used_at !== null,
    );
    return me;
  };
  const losing = async (send: () => Promise<Reply>): Promise<Reply> => {
    const before = wire.lost;
    wire.armed = true;
    const reply = await send();
    expect(wire.lost - before).toBe(1);
    return reply;
  };

  it('is recovered by another query: one effect and one response, which is no replay for the client', async () => {
    const me = await caller();
    const body = partnerBody();
    const reply = await losing(() => me.post('/v1/accounts', body));
    expect([reply.status, reply.body.nickname, replayed(reply)]).toEqual([200, body.nickname, null]);
    expect(await world.sql`select id from account where nickname = ${body.nickname}`).toEqual([{ id: reply.body.id }]);
    expect(await eventsOf(reply)).toHaveLength(1);
  });

  it("is recovered under the client's key, and the client's own retry is the first replay", async () => {
    const me = await caller();
    const body = partnerBody();
    const key = randomUUID();
    const reply = await losing(() => me.post('/v1/accounts', body, keyed(key)));
    expect([reply.status, reply.body.nickname]).toEqual([200, body.nickname]);
    const again = await me.post('/v1/accounts', body, keyed(key));
    expect([again.status, again.text, replayed(again)]).toEqual([200, reply.text, 'true']);
    expect(await world.sql`select id from account where nickname = ${body.nickname}`).toEqual([{ id: reply.body.id }]);
    expect(await eventsOf(reply, again)).toHaveLength(1);
    expect(replayed(reply)).toBe(null);
  });

  // Where not everything is tried, one write of each kind of object and each first API.
  const recovered = covering(
    Object.entries(writes),
    ([name, write]) => [(operations.get(name) ?? restOperations.get(name))!.object, transportsOf(write)[0]],
    1,
  );
  for (const [name, write] of recovered)
    it(`is recovered for every write: ${name}`, async () => {
      // A platform of the usual gateway creates the subject of the write; only the write itself uses the connection
      // that breaks.
      const platform = await given.platform(write.edition ?? 1);
      const me = elsewhere(platform, origin);
      await me.get('/v1/accounts');
      await eventually(
        () => world.sql`select last_used_at from api_key where account_id = ${me.id} and not livemode`,
        ([key]) => key?.last_used_at !== null,
      );
      const subject = await write.subject(platform);
      const transport = transportsOf(write)[0]!;
      const key = randomUUID();
      const reply = await losing(() => call(me, name, subject, transport, key));
      expect([statusOf(reply), reply.codes]).toEqual([200, []]);
      const again = await call(platform, name, subject, transport, key);
      expect([replayed(again), objectOf(name, transport, again)]).toEqual(['true', objectOf(name, transport, reply)]);
      expect((await eventsOf(reply, again)).map(({ type }) => type)).toEqual(write.events);
    });

  it('is recovered for the operator too, whose command has had its effect', async () => {
    const me = await caller();
    const operator = new Operator(database, buildGraph(), world.pepper);
    const row = await operator.account(me.id, false);
    const before = wire.lost;
    wire.armed = true;
    const held = await operator.hold(row);
    expect([wire.lost - before, held.status, operator.replays]).toEqual([1, 'hold', 0]);
    // The next command is refused, because the account is already on hold.
    await expect(operator.hold(row)).rejects.toMatchObject({ problems: [{ code: 'status_invalid' }] });
  });

  // The secret exists only in this response: without it, the key is lost.
  for (const name of ['createApiKey', 'rotateApiKey'])
    for (const [what, headers] of [
      ['without', () => ({})],
      ['with', () => keyed(randomUUID())],
    ] as const)
      it(`does not lose the secret of a new API key: ${name} ${what} an Idempotency-Key`, async () => {
        const me = await caller();
        const input = name === 'createApiKey' ? { permission: 'FULL' } : { id: await keyId(me) };
        const before = await world.sql`select id from api_key where account_id = ${me.id} and not livemode`;
        const reply = await losing(() => mutate(me, name, input, 'secret apiKey { id }', headers()));
        expect(reply.codes).toEqual([]);
        const { secret, apiKey } = reply.body.data[name];
        expect(secret).toMatch(/^sk_test_/);
        expect((await me.using(secret).get('/v1/accounts')).status).toBe(200);
        const after = await world.sql`select id from api_key where account_id = ${me.id} and not livemode`;
        expect(after.length - before.length).toBe(1);
        expect(after.map(({ id }) => id)).toContain(apiKey.id);
      });
});

describe('the stored responses', () => {
  it('are kept for at least 24 hours, and deleted later', async () => {
    const me = await given.directUser(1);
    const [young, old] = [randomUUID(), randomUUID()];
    const send = (key: string) => me.post('/v1/persons', person, keyed(key));
    const [first, second] = [await send(young), await send(old)];
    await world.sql`update idempotency set created = created - 24 * 3600 + 60 where key = ${young}`;
    await world.sql`update idempotency set created = created - 90 * 24 * 3600 where key = ${old}`;
    const worker = new Worker(world.database, pino({ level: 'silent' }));
    worker.start();
    await eventually(
      () => answers(old),
      (rows) => rows.length === 0,
    );
    await worker.stop();
    const kept = await send(young);
    expect([replayed(kept), kept.text]).toEqual(['true', first.text]);
    const forgotten = await send(old);
    expect([forgotten.status, replayed(forgotten), forgotten.body.id === second.body.id]).toEqual([200, null, false]);
  });
});

// This file calls every write, through both APIs and by the jobs that follow.
describe('the time of the last change', () => {
  it('moves with each write that changes an object, and with nothing else', async () => {
    const { tables, faults } = await seenChanges(world.sql);
    expect(faults).toEqual([]);
    // Those of deliveries are in the file about webhooks.
    expect([...tables, 'webhook_delivery'].toSorted()).toEqual(changing.toSorted());
  });

  it('is moved by no read of a list', async () => {
    const [first, second] = [await given.platform(1), await given.platform(2)];
    const user = second.actingFor(await userId(second));
    await Promise.all([depositId(first), receivableId(first), sessionId(first), checkoutId(second)]);
    const lists = routes.flatMap(({ answers, path }) => (answers === 'list' && !path.includes(':') ? [path] : []));
    expect(lists.length).toBeGreaterThan(12);
    const seen = () => world.sql`select * from seen_change where "table" <> 'api_key'`;
    const before = await seen();
    for (const reader of [first, second, user])
      for (const path of lists) expect((await reader.get(path)).status).toBeLessThan(500);
    expect(await seen()).toEqual(before);
  });
});
