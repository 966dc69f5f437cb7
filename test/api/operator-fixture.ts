import { expect } from 'vitest';
import { Speaker, type World } from '../support/world.js';

export type Json = any;

export const OPERATOR_KEY = 'op_5f0d4c1f9b7e43a28c6d1e0f9a8b7c6d';

export const modern = 'application/graphql-response+json';

/** Runs a mutation with one `input` and returns its payload. */
export const mutation = (name: string, type: string, selection: string) =>
  `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`;

export const setting =
  'accountSetting { accountId livemode serviceHold platformHold payoutsEnabled payoutsReason payoutsInterval }';
export const place = mutation('placeServiceHold', 'PlaceServiceHoldInput', setting);

export const verify = mutation('verifyAccount', 'VerifyAccountInput', 'account { id livemode status }');

export const issue = mutation(
  'issueAddress',
  'IssueAddressInput',
  'address { id linkedId category currency status livemode bankAccount { number last4 } }',
);

/** An object of the operator's graph in the format of /v1: both APIs must show the same. */
export function agrees(graph: Json, v1: Json, names: Record<string, string> = {}): void {
  for (const [name, value] of Object.entries(graph)) {
    const key = names[name] ?? name.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
    if (!(key in v1) || typeof value === 'object') continue;
    const seconds = name === 'created' ? Date.parse(String(value)) / 1000 : undefined;
    const spelled = typeof v1[key] === 'string' && /^[A-Z_]+$/.test(String(value)) && !key.endsWith('currency');
    expect([name, seconds ?? (spelled ? String(value).toLowerCase() : value)]).toEqual([name, v1[key]]);
  }
}

/** Calls of the operator's API, and accounts that receive money in live mode. */
export function operatorIn(world: World) {
  /** A client of the operator's API with these credentials. */
  const at = (key: string, headers: Record<string, string> = {}) => ({
    ask: (query: string, variables: object = {}, more: Record<string, string> = {}) =>
      new Speaker(world, '', key, 1, { accept: modern, ...headers }).post(
        '/operator/graphql',
        { query, variables },
        more,
      ),
  });
  const ask = at(OPERATOR_KEY).ask;

  async function data(reply: ReturnType<typeof ask>): Promise<Json> {
    const { status, body } = await reply;
    expect([status, body.errors]).toEqual([200, undefined]);
    return body.data;
  }
  return { at, ask, data };
}
