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

  it.each([
    ['deposits', 'method: [CHECK, KLARNA]', 'paymentMethod: [CHECK, KLARNA]'],
    ['events', 'eventType: [ACCOUNT_CREATED]', 'types: ["account.created"]'],
    ['viewer account depositsIn', 'method: [CHECK]', 'paymentMethod: [CHECK]'],
  ])('takes the enum that the objects of %s show: %s', async (place, shown, other) => {
    const ask = async (filter: string, more = '') => {
      const parts = place.split(' ');
      const list = `${parts.at(-1)}(filter: { ${filter} }${more}) { nodes { id } totalCount }`;
      const query = parts.slice(0, -1).reduceRight((inner, each) => `${each} { ${inner} }`, list);
      const { data, errors } = (await user.graph(`{ ${query} }`)).body;
      return { data, errors };
    };
    const found = await ask(shown);
    expect(found.errors).toBeUndefined();
    expect(found).toEqual(await ask(other));
    expect(await ask(`${shown}, ${other.replace(/:.*/, ': null')}`)).toEqual(found);
    const [name, of] = [shown, other].map((text) => text.split(':')[0]!);
    expect(errorOf(await ask(`${shown}, ${other}`))).toMatchObject({
      message: `${name} cannot be combined with ${of}. Leave out one of them.`,
      path: place.split(' '),
      argument: ['filter', name],
      field: of === 'types' ? 'event.types' : 'deposit.payment_method',
    });
  });

  it('names what a field shows in refusals, and its parameter of /v1', async () => {
    const ask = async (query: string) => errorOf((await user.graph(query)).body);
    expect(await ask('{ deposits(filter: { method: [CHEQUE] }) { nodes { id } } }')).toMatchObject({
      argument: ['filter', 'method', 0],
      message: expect.stringMatching(/^method\[0\] must be one of AFFIRM.* KLARNA\.$/),
      field: 'deposit.payment_method',
    });
    // The methods of the other edition are refused as those of the older filter are.
    const older = await ask('{ deposits(filter: { paymentMethod: [UPI] }) { nodes { id } } }');
    expect(await ask('{ deposits(filter: { method: [UPI] }) { nodes { id } } }')).toEqual({
      ...older,
      message: older.message.replace('paymentMethod', 'method'),
      argument: ['filter', 'method'],
    });
    expect(await ask('{ events(filter: { eventType: [DEPOSIT_COMPLEETED] }) { nodes { id } } }')).toMatchObject({
      argument: ['filter', 'eventType', 0],
      field: 'event.types',
    });
    const many = `[${'ACCOUNT_CREATED, '.repeat(101)}]`;
    expect(await ask(`{ events(filter: { eventType: ${many} }) { nodes { id } } }`)).toMatchObject({
      message: 'eventType must have at most 100 types.',
      argument: ['filter', 'eventType'],
      field: 'event.types',
    });
    expect(await ask('{ deposits(filter: { method: [CHECK] }, orderBy: AMOUNT_DESC) { nodes { id } } }')).toMatchObject(
      {
        argument: ['filter', 'method'],
        field: 'deposit.payment_method',
      },
    );
    // What each object of JavaScript inherits is a name like any other.
    for (const unknown of ['filter: { constructor: 1 }', 'constructor: 1'])
      expect((await ask(`{ deposits(${unknown}) { nodes { id } } }`)).message).toBe(
        'constructor is not a parameter of this operation. Remove it and try again.',
      );
  });

  it('is no parameter of /v1, which has its members', async () => {
    expect(await user.get('/v1/deposits?method=check')).toMatchObject({ status: 400 });
    expect(await user.get('/v1/events?event_type=account.created')).toMatchObject({ status: 400 });
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
    const deposits = async (filter: string) =>
      (
        await platform.graph(
          `mutation { createExport(input: { source: { deposits: { filter: { ${filter} } } }, format: CSV }) {
            export { filters } } }`,
        )
      ).body;
    expect((await deposits('method: [CHECK]')).data.createExport.export.filters).toBe('payment_method=check');
    expect(errorOf(await deposits('method: [UPI]'))).toMatchObject({
      argument: ['input', 'source', 'deposits', 'filter', 'method'],
    });
    expect(errorOf(await ask('filter: { type: [USER] }, status: [ACTIVATED]'))).toMatchObject({
      message: 'filter cannot be combined with status. Give it within filter.',
      argument: ['input', 'source', 'accounts', 'filter'],
    });
  });
});
