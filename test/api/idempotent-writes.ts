import { beforeAll } from 'vitest';
import { resources } from '../../src/resources/define.js';
import { partnerBody, partnerInput, receivableBody } from '../support/bodies.js';
import { recordChanges } from './changes.js';
import {
  must,
  nickname,
  payoutAddressBody,
  payoutAddressInput,
  type Reply,
  type Speaker,
  type World,
} from '../support/world.js';
import {
  addressId,
  checkoutId,
  checkoutOf,
  completedId,
  depositId,
  hook,
  keyed,
  keyId,
  money,
  mutate,
  ofChangeRequest,
  ofDispute,
  partnerId,
  payable,
  payoutId,
  person,
  receivableId,
  reconcilable,
  refundId,
  sessionId,
  settingId,
  settledPayoutId,
  userId,
  verifyingId,
  webhookId,
  withoutBulk,
} from './idempotent-subjects.js';

/**
 * One write in the format of each API. `subject` is created anew for every use; the fields are those that both APIs
 * return.
 */
export interface Write {
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
export const writes: Record<string, Write> = {
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
  reconcileDeposits: {
    subject: reconcilable,
    input: (both) => {
      const receivables = [{ id: both.split(' ')[1], amount: '40.00' }];
      return { deposits: [both.split(' ')[0], 'deposit_0'].map((id) => ({ id, receivables })) };
    },
    member: 'results',
    fields: ['deposit { id status amount pendingRest }', 'problems { code message path }'],
    events: ['deposit.reconciled', 'receivable.updated'],
  },
  createReceivable: {
    subject: none,
    path: '/v1/receivables',
    body: () => receivableBody({ reference_number: 'INV-1' }),
    input: () => ({
      currency: 'USD',
      invoice: { ...money, creationDate: '2026-10-01', dueDate: '2026-12-01', referenceNumber: 'INV-1' },
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
    events: ['deposit.completed', 'deposit.disputed', 'dispute.opened'],
  },
  recallTestDeposit: {
    subject: completedId,
    path: '/v1/test_helpers/deposits/:id/recall',
    body: () => ({ amount: '10', reason_code: 'general' }),
    input: (id) => ({ id, amount: '10.00', reasonCode: 'GENERAL' }),
    member: 'deposit',
    fields: ['id', 'status', 'amount'],
    events: ['deposit.completed', 'deposit.disputed'],
  },
  createCheckout: {
    edition: 2,
    subject: payable,
    path: '/v1/checkouts',
    body: checkoutOf,
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
  returnTestPayout: {
    subject: settledPayoutId,
    path: '/v1/test_helpers/payouts/:id/return',
    member: 'payout',
    fields: ['id', 'status', 'amount'],
    events: ['payout.returned', 'receivable.updated'],
  },
  createTestAdjustment: {
    subject: userId,
    path: '/v1/test_helpers/adjustments',
    body: (id) => ({ account_id: id, credit: { amount: '1.00', currency: 'USD' }, reason: 'A fee' }),
    input: (id) => ({ accountId: id, credit: { amount: '1.00', currency: 'USD' }, reason: 'A fee' }),
    member: 'adjustment',
    fields: ['reason'],
    events: ['payment.completed'],
  },
  createRefund: {
    subject: completedId,
    path: '/v1/refunds',
    body: (id) => ({ deposit_id: id, amount: '40.00', reason: 'Returned goods' }),
    input: (id) => ({ depositId: id, amount: '40.00', reason: 'Returned goods' }),
    member: 'refund',
    fields: ['id', 'status', 'amount', 'reason'],
    events: ['refund.created'],
  },
  succeedTestRefund: {
    subject: refundId,
    path: '/v1/test_helpers/refunds/:id/succeed',
    member: 'refund',
    fields: ['id', 'status', 'amount'],
    events: ['refund.succeeded'],
  },
  failTestRefund: {
    subject: refundId,
    path: '/v1/test_helpers/refunds/:id/fail',
    member: 'refund',
    fields: ['id', 'status', 'amount'],
    events: ['refund.failed'],
  },
  requestAccountChange: {
    subject: async (me) => (await me.partner()).id,
    path: '/v1/change_requests',
    body: (account_id) => ({ account_id, business_details: { dba: 'Harbour' }, reason: 'Its name at the port' }),
    input: (accountId) => ({ accountId, businessDetails: { dba: 'Harbour' }, reason: 'Its name at the port' }),
    member: 'changeRequest',
    fields: ['id', 'status', 'reason'],
    events: ['change_request.created'],
  },
  withdrawChangeRequest: {
    ...ofChangeRequest,
    path: '/v1/change_requests/:id/withdraw',
    events: ['change_request.withdrawn'],
  },
  acceptTestChangeRequest: {
    ...ofChangeRequest,
    path: '/v1/test_helpers/change_requests/:id/accept',
    events: ['account.updated', 'change_request.accepted'],
  },
  declineTestChangeRequest: {
    ...ofChangeRequest,
    path: '/v1/test_helpers/change_requests/:id/decline',
    events: ['change_request.declined'],
  },
  respondToDispute: {
    ...ofDispute,
    path: '/v1/disputes/:id/respond',
    body: () => ({ text: 'Delivered on 3 October' }),
    input: (id) => ({ id, text: 'Delivered on 3 October' }),
    events: ['dispute.responded'],
  },
  acceptDispute: { ...ofDispute, path: '/v1/disputes/:id/accept', events: ['dispute.accepted'] },
  winTestDispute: {
    ...ofDispute,
    path: '/v1/test_helpers/disputes/:id/win',
    events: ['deposit.reversed', 'dispute.won'],
  },
  loseTestDispute: { ...ofDispute, path: '/v1/test_helpers/disputes/:id/lose', events: ['dispute.lost'] },
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

export type Transport = 'v1' | 'graph';
export const transportsOf = ({ path }: Write): Transport[] => (path ? ['v1', 'graph'] : ['graph']);
export const call = (me: Speaker, name: string, subject: string, transport: Transport, key: string): Promise<Reply> => {
  const { path, body, input, member, fields } = writes[name]!;
  return transport === 'v1'
    ? me.post(path!.replace(':id', subject.split(' ')[0]!), body?.(subject), keyed(key))
    : mutate(me, name, input?.(subject) ?? { id: subject }, `${member} { ${fields.join(' ')} }`, keyed(key));
};
/** The fields of a response that both APIs return, in one format. */
export const objectOf = (name: string, transport: Transport, reply: Reply) => {
  const { member, fields } = writes[name]!;
  const source = transport === 'v1' ? reply.body : reply.body.data[name][member];
  if (Array.isArray(source)) return { [member]: source };
  return Object.fromEntries(
    fields.map((field) => {
      const value = source[transport === 'v1' ? field.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`) : field];
      return [field, field === 'status' ? String(value).toLowerCase() : value];
    }),
  );
};

/** The operations that have a reason for having no event. */
export const withoutEvent = new Set(
  resources.flatMap(({ operations: rows = {} }) =>
    Object.entries(rows).flatMap(([operation, row]) => (row.withoutEvent ? [operation] : [])),
  ),
);

/** Two gateways over one database, which records each change of a row. */
export function gatewaysIn(world: World) {
  let other: string;
  beforeAll(async () => {
    await recordChanges(world.sql);
    other = await world.another();
  });

  /** The same caller at the second gateway, as after a failed connection to the first. */
  const elsewhere = (me: Speaker, origin = other) => me.at(origin);

  const answers = (key: string) =>
    world.sql`select operation, account_id, livemode, answer from idempotency where key = ${key}`;

  const eventsOf = async (...replies: Reply[]) =>
    world.sql`select type, object_id, data from event where request_id =
      any(${replies.map((r) => r.headers.get('request-id')!)}) order by type`;
  return { elsewhere, answers, eventsOf };
}
