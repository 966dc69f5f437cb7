import { expect } from 'vitest';
import { type Reply, type Speaker } from '../support/world.js';

export type Json = any;
export const problems = ({ status, codes, fieldNames }: Reply) => [
  status,
  ...codes.map((code, i) => `${code} ${fieldNames[i]}`),
];

/** Every list of /v1, with its object and the same list in the graph. */
export const lists = {
  accounts: { path: '/v1/accounts', object: 'account', field: 'accounts', table: 'account' },
  account_settings: {
    path: '/v1/account_settings',
    object: 'account_setting',
    field: 'accountSettings',
    table: 'account_setting',
  },
  connected: {
    path: '/v1/account_settings/connected',
    object: 'account_setting',
    field: 'connectedAccountSettings',
    table: 'account_setting',
  },
  addresses: { path: '/v1/addresses', object: 'address', field: 'addresses', table: 'address' },
  persons: { path: '/v1/persons', object: 'person', field: 'persons', table: 'person' },
  files: { path: '/v1/files', object: 'file', field: 'files', table: 'file' },
} as const;
export type Name = keyof typeof lists;
export const names = Object.keys(lists) as Name[];

export const person = (accountId: string) => ({
  account_id: accountId,
  full_name: 'Asha Rao',
  relationship: { director: true },
  identification: { tax_card_number: 'ABCDE1234F' },
});
export const idOf = (reply: Reply): string => {
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.body.id;
};
export const idsOf = (reply: Reply): string[] => {
  expect(problems(reply)).toEqual([200]);
  expect(Object.keys(reply.body)).toEqual(['object', 'data', 'has_next']);
  expect(reply.body.object).toBe('list');
  return reply.body.data.map(({ id }: Json) => id);
};

/** The ids of a list, which must be the same through both APIs. */
export async function shown(speaker: Speaker, name: Name, query = '', args = ''): Promise<string[]> {
  const { path, field } = lists[name];
  const [rest, graph] = await Promise.all([
    speaker.get(`${path}?${query}`),
    speaker.graph(`{ ${field}${args === '' ? '' : `(${args})`} { nodes { id } } }`),
  ]);
  const ids = idsOf(rest);
  expect(graph.body.errors).toBeUndefined();
  expect(graph.body.data[field].nodes.map(({ id }: Json) => id)).toEqual(ids);
  return ids;
}

export const newest = 1_800_000_000;
