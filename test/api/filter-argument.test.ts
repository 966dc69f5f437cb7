import { beforeAll, describe, expect, it } from 'vitest';
import { givenIn, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

let user: Speaker;
let platform: Speaker;
let partner: string;
beforeAll(async () => {
  platform = await given.platform(1);
  user = await given.directUser(1);
  partner = (await user.partner()).id;
  await platform.connectedUser();
});

const errorOf = ({ errors: [error] }: any) => ({
  message: error.message,
  path: error.path,
  argument: error.extensions.argumentPath,
  field: error.extensions.error?.metadata?.field_name,
});

describe('the argument filter of a list', () => {
  it.each([
    ['accounts', 'type: [PARTNER]'],
    ['accounts', 'type: [USER], status: [DRAFT]'],
    ['addresses', 'linkedId: $partner, category: [SERVICE_RECEIVE]'],
    ['accountSettings', 'payouts: { enabled: false }'],
    ['deposits', 'accountId: $partner, status: [COMPLETED], created: { gte: "2020-01-01T00:00:00Z" }'],
    ['partners', 'accountId: null, status: [DRAFT]'],
    ['events', 'types: ["account.*"]'],
  ])('has what the argument of the same name has: %s %s', async (list, filters) => {
    // The same document three times: compiled queries answer the later ones.
    const ask = async (args: string) => {
      const query = `query ${args.includes('$partner') ? '($partner: ID)' : ''} {
        ${list}(${args}, first: 5) { nodes { id } pageInfo { hasNextPage endCursor } totalCount } }`;
      const answers = [];
      for (const _ of [1, 2, 3])
        answers.push((await user.graph(query, args.includes('$partner') ? { partner } : {})).body);
      return answers.map(({ data, errors }) => ({ data, errors }));
    };
    const [flat, within] = [await ask(filters), await ask(`filter: { ${filters} }`)];
    expect(within).toEqual(flat);
    expect(flat[0]!.errors).toBeUndefined();
  });

  it('is that of pages below other objects, too', async () => {
    const { body } = await user.graph(`{ viewer { account {
      flat: addresses(category: [SERVICE_RECEIVE]) { nodes { id } }
      within: addresses(filter: { category: [SERVICE_RECEIVE] }) { nodes { id } }
      none: addresses(filter: { category: [SERVICE_CHECKOUT] }) { nodes { id } }
      all: addresses(filter: null) { totalCount }
    } } }`);
    const { flat, within, none, all } = body.data.viewer.account;
    expect(within).toEqual(flat);
    expect(none.nodes).toEqual([]);
    expect(all.totalCount).toBeGreaterThanOrEqual(within.nodes.length);
  });

  it('is refused beside an argument that it replaces, with the names of both', async () => {
    const both = await user.graph(
      '{ deposits(status: [COMPLETED], currency: ["USD"], filter: { unreconciled: true }) { nodes { id } } }',
    );
    expect(errorOf(both.body)).toEqual({
      message: 'filter cannot be combined with status, currency. Give them within filter.',
      path: ['deposits'],
      argument: ['filter'],
      field: 'deposit.filter',
    });
    const edge = await user.graph(
      `{ viewer { account { depositsIn(status: [COMPLETED], filter: {}) { totalCount } } } }`,
    );
    expect(errorOf(edge.body)).toMatchObject({
      message: 'filter cannot be combined with status. Give it within filter.',
      path: ['viewer', 'account', 'depositsIn'],
    });
    const unset = await user.graph('{ deposits(status: null, filter: { status: [COMPLETED] }) { totalCount } }');
    expect(unset.body.data).toEqual({ deposits: { totalCount: 0 } });
  });

  it('has its members in the paths of refusals', async () => {
    const needs = await user.graph('{ deposits(filter: { amount: { gte: "1.00" } }) { nodes { id } } }');
    expect(errorOf(needs.body)).toMatchObject({ argument: ['filter', 'amount'], field: 'deposit.amount' });
    const unknown = await user.graph('{ deposits(filter: { status: [NONE] }) { nodes { id } } }');
    expect(errorOf(unknown.body)).toMatchObject({ field: 'deposit.status' });
    const other = await user.graph('{ deposits(filter: { stauts: [COMPLETED] }) { nodes { id } } }');
    expect(errorOf(other.body).message).toMatch(/stauts/);
    const edition = await (await given.directUser(2)).graph(
      '{ accounts(filter: { capability: { multicurrencyExportsV1: ACTIVE } }) { nodes { id } } }',
    );
    expect(errorOf(edition.body)).toMatchObject({ field: 'account.capability.multicurrency_exports_v1' });
  });

  it('is no parameter of /v1, which has its members', async () => {
    expect(await user.get('/v1/deposits?filter.status=completed')).toMatchObject({ status: 400 });
    expect(await user.get('/v1/deposits?status=completed')).toMatchObject({ status: 200 });
  });

  it('is that of the list of an export', async () => {
    const ask = async (filters: string) =>
      (
        await platform.graph(
          `mutation { createExport(input: { source: { accounts: { ${filters} } }, format: CSV }) {
            export { list filters } } }`,
        )
      ).body;
    const within = await ask('filter: { type: [USER] }, orderBy: CREATED_ASC');
    expect(within.data.createExport.export).toEqual({
      list: '/v1/accounts',
      filters: 'order_by=created_asc&type=user',
    });
    expect(errorOf(await ask('filter: { type: [USER] }, status: [ACTIVATED]'))).toMatchObject({
      message: 'filter cannot be combined with status. Give it within filter.',
      argument: ['input', 'source', 'accounts', 'filter'],
    });
  });
});
