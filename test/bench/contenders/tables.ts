import { bigint, boolean, integer, jsonb, pgTable, smallint, text } from 'drizzle-orm/pg-core';

/** The tables, declared as they are in the database. */
const tenantAndMode = () => ({
  tenantId: text('tenant_id').notNull(),
  livemode: boolean('livemode').notNull(),
  id: text('id').notNull(),
  created: bigint('created', { mode: 'number' }).notNull(),
});
const visibility = () => ({
  actingAccountId: text('context_id').notNull(),
  onRootList: boolean('on_root_list').notNull(),
});

export interface PostalAddressObject {
  line1?: string | null;
  city?: string | null;
  state?: string | null;
  postalCode?: string | null;
  country?: string | null;
}

export interface BusinessDetailsObject {
  legalName?: string | null;
  dba?: string | null;
  email?: string | null;
  website?: string | null;
  type?: string | null;
  ids?: { business?: string | null; tax?: string | null } | null;
  physicalAddress?: PostalAddressObject | null;
  merchantCategoryCode?: string | null;
}

export const account = pgTable('account', {
  ...tenantAndMode(),
  kind: text('kind').notNull(),
  type: text('type').notNull(),
  edition: smallint('edition').notNull(),
  subType: text('sub_type'),
  status: text('status').notNull(),
  address: text('address').notNull(),
  nickname: text('nickname'),
  businessDetails: jsonb('business_details').$type<BusinessDetailsObject>().notNull(),
  logoId: text('logo_id'),
  metadata: jsonb('metadata').$type<Record<string, string>>(),
  supportingDocumentation: jsonb('supporting_documentation').notNull(),
  tosAcceptance: jsonb('tos_acceptance').notNull(),
  ownerId: text('owner_id'),
  ...visibility(),
});

export const accountSetting = pgTable('account_setting', {
  ...tenantAndMode(),
  accountId: text('account_id').notNull(),
  metadata: jsonb('metadata'),
  address: jsonb('address'),
  addressCurrency: jsonb('address_currency'),
  liveFx: boolean('live_fx').notNull(),
  payoutsEnabled: boolean('payouts_enabled'),
  payoutsInterval: text('payouts_interval').notNull(),
  ...visibility(),
});

export const address = pgTable('address', {
  ...tenantAndMode(),
  category: text('category').notNull(),
  type: text('type').notNull(),
  status: text('status').notNull(),
  currency: text('currency').notNull(),
  name: text('name'),
  isReusable: boolean('is_reusable').notNull(),
  linkedId: text('linked_id').notNull(),
  bankAccount: jsonb('bank_account').$type<{ bankName?: string | null; last4?: string | null }>(),
  billingDetails: jsonb('billing_details'),
  metadata: jsonb('metadata'),
  ...visibility(),
});

export const deposit = pgTable('deposit', {
  ...tenantAndMode(),
  amount: bigint('amount', { mode: 'bigint' }).notNull(),
  currency: text('currency').notNull(),
  fromAccountId: text('from_account_id'),
  fromAddressId: text('from_address_id'),
  toAccountId: text('to_account_id').notNull(),
  toAddressId: text('to_address_id'),
  paymentMethod: text('payment_method').notNull(),
  paymentMethodDetails: jsonb('payment_method_details'),
  reasonCode: text('reason_code'),
  statementDescriptor: text('statement_descriptor').notNull(),
  status: text('status').notNull(),
  metadata: jsonb('metadata').$type<Record<string, string>>(),
  paymentId: text('payment_id').notNull(),
  ...visibility(),
});

export const payment = pgTable('payment', {
  ...tenantAndMode(),
  accountId: text('account_id').notNull(),
  type: text('type').notNull(),
  amount: bigint('amount', { mode: 'bigint' }).notNull(),
  currency: text('currency').notNull(),
  status: text('status').notNull(),
  depositId: text('deposit_id'),
  ...visibility(),
});

export const balance = pgTable('balance', {
  tenantId: text('tenant_id').notNull(),
  livemode: boolean('livemode').notNull(),
  accountId: text('account_id').notNull(),
  currency: text('currency').notNull(),
  available: bigint('available', { mode: 'bigint' }).notNull(),
  pending: bigint('pending', { mode: 'bigint' }).notNull(),
});

export const event = pgTable('event', {
  ...tenantAndMode(),
  type: text('type').notNull(),
  object: text('object').notNull(),
  objectId: text('object_id').notNull(),
  data: jsonb('data').notNull(),
  requestId: text('request_id'),
  ...visibility(),
});

export const idempotency = pgTable('idempotency', {
  tenantId: text('tenant_id').notNull(),
  livemode: boolean('livemode').notNull(),
  accountId: text('account_id').notNull(),
  key: text('key').notNull(),
  created: bigint('created', { mode: 'number' }).notNull(),
  operation: text('operation').notNull(),
  request: jsonb('request').notNull(),
  answer: jsonb('answer').notNull(),
});

export const job = pgTable('job', {
  ...tenantAndMode(),
  kind: text('kind').notNull(),
  subjectId: text('subject_id').notNull(),
  args: jsonb('args').notNull(),
  due: bigint('due', { mode: 'number' }).notNull(),
  attempts: integer('attempts').notNull().default(0),
});
