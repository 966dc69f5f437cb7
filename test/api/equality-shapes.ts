import {
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInterfaceType,
  isListType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { expect } from 'vitest';
import { snake } from '../../src/errors/problems.js';
import { type Edition, type Reply } from '../support/world.js';

export type Json = any;

/** Other objects of which /v1 shows a part inside an object. */
const parts: Record<string, string> = { Checkout: 'receivables { id } effectiveTransaction { id status }' };
/** The own fields of an object: scalars and nested objects, but no other API object and no page of them. */
export function selection(type: GraphQLOutputType): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).flatMap((field) => {
    const inner = getNamedType(field.type);
    if (field.args.length > 0 || isInterfaceType(inner)) return [];
    if (isUnionType(inner)) return [`${field.name} { __typename }`];
    if (!isObjectType(inner)) return [field.name];
    const linked = inner.getInterfaces().some(({ name }) => name === 'Node') || inner.name.endsWith('Connection');
    return linked ? [] : [`${field.name} ${selection(inner)}`];
  });
  return `{ ${fields.join(' ')} ${parts[named.name] ?? ''} }`;
}

/** The fields that /v1 shows under other names. */
const renamed: Record<string, Record<string, string>> = {
  Payout: { expectedArrivalAt: 'expected_arrival' },
  RequestLog: { durationMilliseconds: 'milliseconds' },
  WebhookAttempt: { startedAt: 'at', durationMilliseconds: 'milliseconds' },
  WebhookDelivery: { nextAttemptAt: 'next_attempt' },
};

/** The fields of parts of objects that /v1 does not have: its column says where a row of an import is wrong. */
const graphAlone: Record<string, string[]> = { Problem: ['path'] };

/** A GraphQL value in the format of /v1. Spec: Conventions. Decisions 6.1 and 6.3. */
function spelled(type: GraphQLOutputType, value: Json): Json {
  if (value === null || value === undefined) return value;
  const nullable = getNullableType(type);
  if (isListType(nullable)) return value.map((member: Json) => spelled(nullable.ofType, member));
  if (isObjectType(nullable)) {
    const fields = nullable.getFields();
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !graphAlone[nullable.name]?.includes(name))
        .map(([name, member]) => [renamed[nullable.name]?.[name] ?? snake(name), spelled(fields[name]!.type, member)]),
    );
  }
  if (isEnumType(nullable)) return value.toLowerCase();
  if (getNamedType(nullable).name === 'DateTime') {
    expect(value).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    return Date.parse(value) / 1000;
  }
  return value;
}

/** The fields that GraphQL adds to an object: extensions, which /v1 must not have. */
const additions: Record<string, string[]> = {
  account: [
    ...['edition', 'next_payout_at', 'next_payouts', 'owes', 'payout_blocks', 'payouts_blocked_by', 'requirements'],
    'status_since',
  ],
  account_setting: ['auto_reconcile'],
  address: ['payout_problem'],
  balance_transaction: ['balance_after'],
  checkout: ['completed_at', 'last_tried_at', 'methods', 'opened_at', 'url'],
  deposit: [
    'completed_at',
    'pending_rest',
    'disputed',
    'method',
    'method_details',
    'bank_details',
    'receivable_matches',
  ],
  event: ['allocations', 'event_type', 'match_reasons', 'object_id', 'request_id'],
  payment: ['source'],
  payout: ['completed_at'],
  refund: ['completed_at', 'failed_at'],
  receivable: ['system_messages'],
  transaction: ['expires_at', 'method', 'method_details'],
  // /v1 has it only in the answers to the creation and to a rotation.
  webhook_endpoint: ['secret'],
};
/** Fields of parts of objects that show a value of another field with a type of its own: the two must be equal. */
const betterTyped: Record<string, string> = {
  country_code: 'country',
  email_address: 'email',
  incorporated_on: 'date_of_incorporation',
  ip_address: 'ip',
};
/** A value without the fields that repeat others of it: the better typed ones, and amounts with their currencies. */
function withoutRepetitions(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutRepetitions);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name, member]: [string, Json]) => {
    const repeated = betterTyped[name];
    if (repeated !== undefined && repeated in value) {
      expect([name, member]).toEqual([name, value[repeated]]);
      return false;
    }
    const amount = name.replace(/_money$/, '');
    if (amount === name || !(amount in value)) return true;
    const currency = amount === 'source_amount' ? value.source_currency : value.currency;
    expect([name, member]).toEqual([name, { amount: value[amount], currency }]);
    return false;
  });
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutRepetitions(member)]));
}
/** Values that are the same for every object of a kind, and so are not queried. */
const constants: Record<string, object> = { account: { parent_account_id: null, link: null } };
/** Keys that only the other edition has: null in GraphQL, and absent in /v1. Spec: Account. */
const withheld: Record<Edition, string[]> = {
  1: ['supporting_documentation.physical_address_document'],
  2: [
    'supporting_documentation.ownership_structure_document',
    'business_details.estimated_monthly_volume',
    'capability.multicurrency_exports_v1',
  ],
};
/** The prefixes of ids that differ from the name of the object. Spec: Conventions. */
export const prefixes: Record<string, string> = {
  adjustment: 'payment',
  balance_transaction: 'bt',
  bank_details: 'deposit',
  request_log: 'req',
  webhook_delivery: 'delivery',
  webhook_endpoint: 'webhook',
};

/** The object of /v1 that corresponds to a GraphQL node. */
export function asV1(object: string, edition: Edition, type: GraphQLOutputType, node: Json): Json {
  const { object: inner, ...fields } = withoutRepetitions(spelled(type, node));
  const out = { ...fields, object, ...constants[object] };
  // Every object that can change says in the graph when it last did.
  delete out.updated_at;
  for (const name of additions[object] ?? []) {
    expect(out).toHaveProperty(name);
    delete out[name];
  }
  if (object === 'account')
    for (const path of withheld[edition]) {
      const [hash, name] = path.split('.') as [string, string];
      if (out[hash] === null) continue;
      expect([path, out[hash][name]]).toEqual([path, null]);
      delete out[hash][name];
    }
  // "A receive address also shows type."
  if (object === 'address' && out.category !== 'service_receive' && out.bank_account) {
    expect(out.bank_account.type).toBeNull();
    delete out.bank_account.type;
  }
  // Each API names a detail as its own parameter.
  if (object === 'change_request')
    out.changes = out.changes.map((change: Json) => ({ ...change, path: change.path.split('.').map(snake).join('.') }));
  // "Declared as string."
  if (object === 'balance_transaction') out.created = String(out.created);
  if (object === 'event') out.data = { object: inner };
  return out;
}

export const done = (reply: Reply): Json => {
  if (reply.status !== 200 || reply.body.errors) throw new Error(reply.text);
  return reply.body;
};
