import fs from 'node:fs';
import {
  buildSchema,
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLObjectType,
  isEnumType,
  isInputObjectType,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { givenIn, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const schema = buildSchema(fs.readFileSync('schema/graph.graphql', 'utf8'));

/** The lists of the query, and those of an account. */
const listsOf = (type: GraphQLObjectType) =>
  Object.values(type.getFields()).filter(({ args }) => args.some(({ name }) => name === 'filter'));
const places = [
  ...listsOf(schema.getQueryType()!).map((field) => ({ field, parent: '' })),
  ...listsOf(schema.getType('Account') as GraphQLObjectType).map((field) => ({ field, parent: 'viewer account' })),
];

/** An argument of a list, or a member of its filter, with a value. */
interface Given {
  name: string;
  within: boolean;
  text: string;
}

const paging = ['first', 'after', 'last', 'before', 'filter'];

/** Values of an argument as GraphQL writes them. */
function valuesOf({ name, type }: GraphQLArgument | GraphQLInputField): string[] {
  const named = getNamedType(type);
  if (isEnumType(named)) {
    const values = named.getValues().map((value) => value.name);
    return name === 'orderBy' ? values.filter((value) => !value.endsWith('_ASC')) : values.slice(0, 1);
  }
  if (named.name === 'MetadataFilter') return ['{ key: "order" }'];
  if (isInputObjectType(named)) {
    const [member] = Object.values(named.getFields());
    return valuesOf(member!).map((value) => `{ ${member!.name}: ${value} }`);
  }
  const known: Record<string, string[]> = {
    ...{ Boolean: ['true', 'false'], Currency: ['"USD"'], Amount: ['"1.00"'], LocalDate: ['"2026-01-31"'] },
    ...{ DateTime: ['"2026-01-31T00:00:00Z"'], ID: ['$me'], String: ['"inv"'] },
  };
  return known[named.name]!;
}

function optionsOf({ args }: GraphQLField<unknown, unknown>): Given[] {
  const filter = args.find(({ name }) => name === 'filter')!;
  const type = getNamedType(filter.type);
  const members = isInputObjectType(type) ? Object.values(type.getFields()) : [];
  const option = (within: boolean) => (each: GraphQLArgument | GraphQLInputField) =>
    each.deprecationReason != null || paging.includes(each.name)
      ? []
      : valuesOf(each).map((text) => ({
          name: each.name,
          within,
          text: each.name === 'types' ? '["deposit.*"]' : text,
        }));
  return [...args.flatMap(option(false)), ...members.flatMap(option(true))];
}

const inFilter = (members: Given[]) => `filter: { ${members.map(({ name, text }) => `${name}: ${text}`).join(', ')} }`;

/** A query of a list, once with each of some arguments. */
function queryOf({ name }: { name: string }, parent: string, asked: Given[][]): string {
  const lists = asked.map((options, i) => {
    const members = options.filter(({ within }) => within);
    const flat = options.filter(({ within }) => !within).map((each) => `${each.name}: ${each.text}`);
    const args = [...flat, ...(members.length > 0 ? [inFilter(members)] : []), 'first: 3'].join(', ');
    return `a${i}: ${name}(${args}) { ...Ids }`;
  });
  const steps = parent.split(' ').filter(Boolean);
  const query = steps.reduceRight((inner, each) => `${each} { ${inner} }`, lists.join(' '));
  const variables = query.includes('$me') ? '($me: ID!, $unused: Boolean = true)' : '($unused: Boolean = true)';
  const page = getNamedType(schema.getQueryType()!.getFields()[name]?.type ?? accountField(name).type).name;
  return `query Asked${variables} { ${query} viewer @include(if: $unused) { mode } }
    fragment Ids on ${page} { nodes { id } }`;
}

const accountField = (name: string) => (schema.getType('Account') as GraphQLObjectType).getFields()[name]!;

const linked = (url: string) => {
  expect(url).toMatch(/^\/graphiql#query=/);
  return new URLSearchParams(url.slice('/graphiql#'.length)).get('query')!;
};

describe.each([1, 2] as const)('a refused combination of arguments of a list, Edition %s', (edition) => {
  let platform: Speaker;
  beforeAll(async () => {
    platform = await given.platform(edition);
  });

  const ask = async (query: string) => (await platform.graph(query, { me: platform.id })).body;

  it('leads to the nearest list that works, for each pair', async () => {
    const refused: Record<string, number> = {};
    const tried = new Set<string>();
    for (const { field, parent } of places) {
      const options: Given[] = [];
      for (const each of optionsOf(field)) {
        const { errors = [] } = await ask(queryOf(field, parent, [[each]]));
        // What the other edition has is refused by itself.
        if (errors.every(({ extensions }: any) => extensions.nearestUrl)) options.push(each);
      }
      // Two names of one filter are refused together, whatever serves it.
      const isOneFilter = ([one, other]: Given[]) =>
        one!.name === other?.name || (one!.name === 'eventType' && other?.name === 'types');
      const pairs = options
        .flatMap((one, i) => [[one], ...options.slice(i + 1).map((other) => [one, other])])
        .filter((each) => !isOneFilter(each));
      const place = parent === '' ? field.name : `Account.${field.name}`;
      // Ten fields are the most at the root, and one is beside them.
      for (let from = 0; from < pairs.length; from += 9) {
        const some = pairs.slice(from, from + 9);
        const { errors = [] } = await ask(queryOf(field, parent, some));
        for (const { extensions, message, path } of errors) {
          expect({ message, path }).toEqual({ message, path: expect.any(Array) });
          const of = path.at(-1);
          const told = { place, pair: some[Number(of.slice(1))], message, code: extensions.code };
          expect({ ...told, url: extensions.nearestUrl }).toEqual({ ...told, url: expect.any(String) });
          const works = linked(extensions.nearestUrl);
          expect(works).not.toMatch(/\$|viewer \{\s*mode/);
          const onV1 = extensions.error.metadata.nearest_url;
          if (parent !== '') expect(onV1).toBeUndefined();
          const query = works.replace(of, 'list');
          if (tried.has(query)) continue;
          tried.add(query);
          expect({ ...told, works, errors: (await ask(works)).errors }).toEqual({ ...told, works, errors: undefined });
          if (onV1 !== undefined) expect([onV1, (await platform.get(onV1)).status]).toEqual([onV1, 200]);
        }
        const found = new Set(errors.map(({ path }: any) => path.at(-1))).size;
        if (found > 0) refused[place] = (refused[place] ?? 0) + found;
      }
    }
    const lists = ['accounts', 'deposits', 'partners', 'payouts', 'receivables'];
    const ofAccount = ['billedReceivables', 'connectedUsers', 'depositsIn', 'depositsOut', 'partners', 'payouts'];
    expect(Object.keys(refused).toSorted()).toEqual(
      [...[...ofAccount, 'receivables'].map((name) => `Account.${name}`), ...lists].toSorted(),
    );
    expect(Object.values(refused).reduce((sum, n) => sum + n)).toBeGreaterThan(250);
  });
});

describe('the nearest list that works', () => {
  let user: Speaker;
  beforeAll(async () => {
    user = await given.directUser(1);
  });

  it.each([
    // An order or a currency that is missing is added, since the list keeps all of its filters.
    ['deposits?order_by=amount_asc&status=completed', 'deposits?order_by=amount_asc&status=completed&currency=USD'],
    ['deposits?amount.gte=5.00', 'deposits?order_by=amount_desc&amount.gte=5.00&currency=USD'],
    ['payouts?order_by=amount_asc&currency=EUR,USD', 'payouts?order_by=amount_asc&currency=EUR'],
    ['receivables?overdue=true&order_by=amount_asc', 'receivables?order_by=due_date_asc&overdue=true'],
    ['accounts?order_by=balance_desc', 'accounts?order_by=balance_desc&order_currency=USD'],
    // Otherwise the order is lost, since the list then has the same objects.
    ['deposits?order_by=amount_asc&currency=USD&payment_method=check', 'deposits?payment_method=check&currency=USD'],
    ['deposits?search=inv&order_by=created_asc', 'deposits?search=inv'],
    // Then filters are, and of several the fewest.
    ['deposits?search=inv&status=completed', 'deposits?search=inv'],
    ['receivables?overdue=true&status=open,void', 'receivables?overdue=true'],
    ['deposits?unreconciled=false&status=failed', 'deposits?status=failed'],
    ['deposits?address_id=address_x&status=failed&currency=USD', 'deposits?address_id=address_x'],
    ['deposits?amount.lt=9.00&payment_method=check&limit=3', 'deposits?payment_method=check'],
  ])('of %s is %s', async (refused, nearest) => {
    const { status, body } = await user.get(`/v1/${refused}`);
    expect([status, body.errors[0].metadata.nearest_url]).toEqual([400, `/v1/${nearest}`]);
    expect((await user.get(`/v1/${nearest}`)).status).toBe(200);
  });

  it('has the scope of the refused one', async () => {
    const platform = await given.platform(1);
    const scoped = '/v1/deposits?search=inv&scope=descendants';
    const { status, body } = await platform.get(`${scoped}&status=completed`);
    expect([status, body.errors[0].metadata.nearest_url]).toEqual([400, scoped]);
    expect((await platform.get(scoped)).status).toBe(200);
  });

  it('is not named where the arguments are wrong by themselves', async () => {
    for (const wrong of ['limit=11', 'status=none', 'search=%20', 'types=x', 'order_by=size']) {
      const { status, body } = await user.get(`/v1/${wrong.startsWith('types') ? 'events' : 'deposits'}?${wrong}`);
      expect([wrong, status, 'nearest_url' in body.errors[0].metadata]).toEqual([wrong, 400, false]);
    }
  });

  it('is the part of the query of the client that leads to the list, with the values of its variables', async () => {
    const { body } = await user.graph(
      `query Home($id: ID!, $size: Int, $status: [DepositStatus!], $none: TimeFilter) {
        viewer { mode }
        me: node(id: $id) { ...Mine }
      }
      fragment Mine on Account { id paid: depositsIn(
        first: $size, orderBy: AMOUNT_DESC, filter: { status: $status, created: $none }) { nodes { ...Paid } } }
      fragment Paid on Deposit { id fromAccount { partners(first: $size) { nodes { id } } } }`,
      { id: user.id, size: 2, status: ['COMPLETED', 'FAILED'] },
    );
    const [{ path, extensions }] = body.errors;
    expect([path, extensions.argumentPath, 'nearest_url' in extensions.error.metadata]).toEqual([
      ['me', 'paid'],
      ['currency'],
      false,
    ]);
    const query = linked(extensions.nearestUrl);
    expect(query.replaceAll(/\s+/g, ' ')).toBe(
      `query Home { me: node(id: "${user.id}") { ... on Account { paid: depositsIn( first: 2 orderBy: AMOUNT_DESC ` +
        'filter: {status: [COMPLETED, FAILED], currency: ["USD"]} ) { nodes { ...Paid } } } } } ' +
        'fragment Paid on Deposit { id fromAccount { partners(first: 2) { nodes { id } } } }',
    );
    expect((await user.graph(query)).body.errors).toBeUndefined();
  });

  it('has ids alone where the selection is long, and no link where the way to it is', async () => {
    const long = Array.from({ length: 30 }, (_, i) => `${'alias_of_the_id_'.repeat(5)}${i}: id`).join(' ');
    const refused = 'deposits(orderBy: AMOUNT_DESC)';
    const { errors } = (await user.graph(`{ ${refused} { nodes { ${long} } } }`)).body;
    expect(linked(errors[0].extensions.nearestUrl).replaceAll(/\s+/g, ' ')).toBe(
      '{ deposits(orderBy: AMOUNT_DESC, filter: {currency: ["USD"]}) { nodes { id } } }',
    );
    const far = `{ ${'viewer_'.repeat(300)}: viewer { account { depositsIn(orderBy: AMOUNT_DESC) { totalCount } } } }`;
    const [{ extensions }] = (await user.graph(far)).body.errors;
    expect([extensions.code, extensions.nearestUrl]).toEqual(['PARAMETER_INVALID', undefined]);
  });

  it('has no path either where that is long, whose text would be there once for each problem', async () => {
    const query = `query ($id: ID!) { receivables(orderBy: AMOUNT_DESC, filter: { accountId: $id, overdue: true }) {
      totalCount } }`;
    const named = async (length: number) => {
      const [{ extensions }] = (await user.graph(query, { id: 'é'.repeat(length) })).body.errors;
      return [extensions.error.metadata.nearest_url !== undefined, extensions.nearestUrl !== undefined];
    };
    expect([await named(200), await named(400)]).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  it('of the source of an export is the same mutation, with the source that works', async () => {
    const refused = `mutation Sheet($list: ReceivablesSource!) { other: __typename
      sheet: createExport(input: { source: { receivables: $list }, format: CSV }) { export { ...Made } } }
      fragment Made on Export { id list filters }`;
    const list = { filter: { amount: { gte: '5.00' }, status: ['OPEN'] } };
    const [{ extensions }] = (await user.graph(refused, { list })).body.errors;
    const onV1 = '/v1/receivables?order_by=amount_desc&amount.gte=5.00&status=open&currency=USD';
    expect(extensions.error.metadata.nearest_url).toBe(onV1);
    const works = linked(extensions.nearestUrl);
    expect(works.replaceAll(/\s+/g, ' ')).toBe(
      'mutation Sheet { sheet: createExport( input: {source: {receivables: {orderBy: AMOUNT_DESC, filter: ' +
        '{amount: {gte: "5.00"}, status: [OPEN], currency: ["USD"]}}}, format: CSV} ) { export { ...Made } } } ' +
        'fragment Made on Export { id list filters }',
    );
    const { data } = (await user.graph(works)).body;
    const [path, filters] = onV1.split('?');
    expect(data.sheet.export).toMatchObject({ list: path, filters });
    // The same list and query are those of an export on /v1, whose refusal names them.
    const given = { list: path, filters: 'amount.gte=5.00&status=open', format: 'csv' };
    const { body } = await user.post('/v1/exports', given);
    expect(body.errors[0].metadata).toEqual({ field_name: 'export.filters.amount', nearest_url: onV1 });
    expect((await user.post('/v1/exports', { ...given, filters })).status).toBe(200);
  });

  it('has its owner once in the source of an export', async () => {
    const refused = `mutation ($id: ID!) { createExport(input: { source: { partners: {
      accountId: $id, orderBy: BALANCE_DESC, filter: { status: [DRAFT] } } }, format: CSV }) { export { id } } }`;
    const { errors } = (await user.graph(refused, { id: user.id })).body;
    const works = linked(errors[0].extensions.nearestUrl);
    expect(works.split(user.id)).toHaveLength(2);
    expect((await user.graph(works)).body.errors).toBeUndefined();
  });

  it('has no link where the gateway serves no explorer, and its path on /v1 all the same', async () => {
    const closed = user.at(await world.another({ environment: { EXPLORER: 'false' } }));
    const source = '{ deposits: { orderBy: AMOUNT_DESC } }';
    for (const query of [
      '{ deposits(orderBy: AMOUNT_DESC) { totalCount } }',
      `mutation { createExport(input: { source: ${source}, format: CSV }) { export { id } } }`,
    ]) {
      const [{ extensions }] = (await closed.graph(query)).body.errors;
      expect('nearestUrl' in extensions).toBe(false);
      expect(extensions.error.metadata.nearest_url).toBe('/v1/deposits?order_by=amount_desc&currency=USD');
    }
    await world.endLast();
  });

  it('is the same for each parent of an edge', async () => {
    await user.partner();
    await user.partner();
    const { errors } = (await user.graph('{ partners { nodes { depositsIn(orderBy: AMOUNT_ASC) { totalCount } } } }'))
      .body;
    const urls = errors.map(({ extensions }: any) => linked(extensions.nearestUrl).replaceAll(/\s+/g, ' '));
    const works =
      '{ partners { nodes { depositsIn(orderBy: AMOUNT_ASC, filter: {currency: ["USD"]}) { totalCount } } } }';
    expect(urls).toEqual([works, works]);
  });
});
