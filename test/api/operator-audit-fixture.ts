import {
  getNamedType,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { expect } from 'vitest';
import { nickname, Speaker, type World } from '../support/world.js';
import { createOperator } from '../../src/operator/access/operators.js';

export type Json = any;

export const OPERATOR_KEY = 'op_5f0d4c1f9b7e43a28c6d1e0f9a8b7c6d';

const fields =
  'number operator operatorId operation objectId resultId tenantId mode requestId outcome code details ended';

/** A value of an input type with all that is required, which names nothing that exists. */
function sample(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return sample(type.ofType);
  if (isListType(type)) return [sample(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]!.name;
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
    return Object.fromEntries(required.map((field) => [field.name, sample(field.type)]));
  }
  return (
    { Currency: 'USD', Amount: '1.00', FileContent: 'QQ==', LocalDate: '2026-01-31' }[getNamedType(type).name] ??
    'none_0'
  );
}

/** Every mutation of the operators' graph, with an input. */
export function everyMutation(schema: GraphQLSchema) {
  return Object.values(schema.getMutationType()!.getFields()).map(({ name, args }) => {
    const { type } = args[0]!;
    return { name, query: `mutation ($input: ${type}) { ${name}(input: $input) { __typename } }`, input: sample(type) };
  });
}

/** Named operators, and what they ask. */
export function operatorsIn(world: World) {
  /** A named operator and its key. */
  async function operator(role: 'read' | 'operate' = 'operate', name = nickname()) {
    const { operator: row, key } = await createOperator(world.operator, name, role, 'a test');
    return { id: row.id, name, key, ask: asking(key) };
  }

  /** The ids of all requests. */
  const requestIds = new Set<string | null>();
  async function answered<T extends { headers: Headers }>(reply: Promise<T>): Promise<T> {
    const { headers } = await reply;
    requestIds.add(headers.get('request-id'));
    return reply;
  }

  const asking =
    (key: string, origin = world.origin) =>
    (query: string, variables: object = {}, headers: Record<string, string> = {}) =>
      answered(new Speaker({ ...world, origin }, '', key, 1).post('/operator/graphql', { query, variables }, headers));

  async function data(reply: ReturnType<ReturnType<typeof asking>>): Promise<Json> {
    const { status, body } = await reply;
    expect([status, body.errors]).toEqual([200, undefined]);
    return body.data;
  }

  /** The actions that the audit log shows to a filter, the newest first. */
  const actions = async (filter = ''): Promise<Json[]> =>
    (await data(asking(OPERATOR_KEY)(`{ operatorActions${filter} { nodes { ${fields} } } }`))).operatorActions.nodes;

  const sealed = async () =>
    (await data(asking(OPERATOR_KEY)('{ operatorActionsSeal { entries lastHash firstBroken } }'))).operatorActionsSeal;

  /** Signs in at a gateway, and sends requests with the cookie as its console does. */
  async function signIn(key: string, origin = world.origin) {
    const made = await fetch(`${origin}/operator/session`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
    const cookie = made.headers.get('set-cookie') ?? '';
    const own = { cookie: cookie.split(';')[0]!, 'x-tidegate-operator': '1' };
    const send = (path: string, init: RequestInit = {}, at = origin) => fetch(`${at}${path}`, init);
    return {
      ...{ made, cookie },
      session: (method: string) => send('/operator/session', { method, headers: own }),
      /** An empty header is left out. */
      graph: (query: string, more: Record<string, string> = {}, at = origin) => {
        const all = Object.entries({ ...own, 'content-type': 'application/json', ...more });
        const headers = Object.fromEntries(all.filter(([, value]) => value !== ''));
        return send('/operator/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) }, at);
      },
      file: (path: string, headers: Record<string, string> = own) => send(path, { headers }),
      alone: { cookie: own.cookie },
    };
  }
  return { operator, requestIds, asking, data, actions, sealed, signIn };
}
