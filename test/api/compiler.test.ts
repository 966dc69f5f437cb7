import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isObjectType,
  parse,
} from 'graphql';
import pino from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/request/caller.js';
import { Context } from '../../src/operation/context.js';
import { classOfValues } from '../../src/db/read/read-class.js';
import { Scope } from '../../src/db/scope.js';
import { demos } from '../../src/server/demo/demo.js';
import { editions } from '../../src/editions/editions.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { resources } from '../../src/resources/define.js';
import { operationOf, rules } from '../../src/resources/registry.js';
import { shapesMax, statementsMax, QueryCompiler } from '../../src/api/graphql/compiler/compiler.js';
import { receivableBody } from '../support/bodies.js';
import { covering, scale } from '../support/scale.js';
import { givenIn, Speaker, useWorld } from '../support/world.js';
import { comparing } from './compiler-fixture.js';

/** The internal errors that the gateway logged. */
const faults: string[] = [];
const world = useWorld({
  demo: true,
  worker: false,
  log: pino({ level: 'error' }, { write: (line) => void faults.push(line) }),
});
const given = givenIn(world);
const schema = buildGraph();

/** The callers: platforms and users of both editions, a platform on behalf of a user, and an account without data. */
let speakers: Record<string, Speaker>;
const names = [
  'the platform of Edition 1',
  'the platform of Edition 2',
  'it on behalf of a user of Edition 1',
  'it on behalf of a user of Edition 2',
  'a user of Edition 1 with a key of its own',
  'an account without data',
  'an account in live mode',
] as const;

beforeAll(async () => {
  const [first, second] = (await demos(world.operator, world.pepper)).map(
    ({ accountId, testKey, edition }) => new Speaker(world, accountId, testKey, edition),
  ) as [Speaker, Speaker];
  const userOf = async (platform: Speaker) => {
    const { body } = await platform.get('/v1/accounts?type=user&status=activated');
    return body.data[0].id as string;
  };
  const user = await userOf(first);
  const key = await first.graph('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
    input: { accountId: user },
  });
  speakers = {
    [names[0]]: first,
    [names[1]]: second,
    [names[2]]: first.actingFor(user),
    [names[3]]: second.actingFor(await userOf(second)),
    [names[4]]: new Speaker(world, user, key.body.data.createApiKey.secret, 1),
    [names[5]]: await given.platform(1),
    [names[6]]: await given.platform(2, { live: true }),
  };
});

const { statements, anew, both, expectEqual: expectBoth } = comparing(world, faults);

/** All scalar fields of a type, without arguments. */
function plain(type: GraphQLObjectType): string {
  return Object.values(type.getFields())
    .filter((field) => !field.resolve && !isListOfObjects(field.type))
    .map((field) => selected(field, `${type.name}.${field.name}`))
    .join(' ');
}

const isListOfObjects = (type: GraphQLOutputType) => {
  const named = getNamedType(type);
  return (
    isListType(getNullableType(type)) && (isObjectType(named) || (isLeafType(named) && named.name.endsWith('Method')))
  );
};

/** A field with all scalar fields below it. */
function selected(field: GraphQLField<unknown, unknown>, name: string): string {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) return field.name;
  if (rules.get(name)?.read === 'funds')
    return `${field.name} { ${Object.values(type.getFields())
      // The account of a balance is left to the resolvers.
      .filter((f) => f.name !== 'account')
      .map((f) => (isLeafType(getNamedType(f.type)) ? f.name : `${f.name} { amount currency }`))
      .join(' ')} }`;
  if (!type.name.endsWith('Connection')) return `${field.name} { ${plain(type)} }`;
  const node = getNamedType((type.getFields().nodes as GraphQLField<unknown, unknown>).type) as GraphQLObjectType;
  return (
    `${field.name} { totalCount nodes { ${plain(node)} } pageInfo { hasNextPage hasPreviousPage startCursor ` +
    'endCursor } edges { cursor node { __typename } } }'
  );
}

/** The selections of a type, each by itself; only few of the objects in a page. */
function each(type: GraphQLObjectType): string[] {
  return Object.values(type.getFields())
    .filter((field) => !field.resolve && field.name !== 'totalCount')
    .filter((field) => isConnected(type) || type.name === 'Balance' || !isListOfObjects(field.type))
    .flatMap((field) => {
      const named = getNamedType(field.type);
      if (!isObjectType(named)) return [field.name];
      const parts = 'id' in named.getFields() ? ['id', '__typename'] : each(named);
      return parts.map((part) => `${field.name} { ${part} }`);
    })
    .concat('__typename');
}
const isConnected = ({ name }: GraphQLObjectType) => /Connection$|Edge$/.test(name);

/**
 * Groups of a limited number of selections, each under an alias: the number of aliases and the length of a statement
 * are limited.
 */
function aliased(field: string, parts: string[], most: number): string[] {
  const queries: string[] = [];
  for (let i = 0; i < parts.length; i += most)
    queries.push(
      parts
        .slice(i, i + most)
        .map((part, n) => `a${n}: ${field} { ${part} }`)
        .join(' '),
    );
  return queries;
}

const fieldOf = (name: string) => {
  const [type, field] = name.split('.') as [string, string];
  return (schema.getType(type) as GraphQLObjectType | undefined)?.getFields()[field];
};

/** The fields that the compiler answers, as `Type.field`. */
const compiledBy = (...reads: string[]) =>
  [...rules].flatMap(([name, { read }]) => (reads.includes(read) ? [name] : []));
const rootPages = compiledBy('page');
/** The types that have lists, and so whose objects these tests find by themselves. */
const listedTypes = new Set(resources.flatMap(({ node }) => node?.type.name ?? []));
const edges = [...rules.keys()].filter((name) => listedTypes.has(name.split('.')[0]!));

describe('the fields that the compiler answers', () => {
  it('are fields that have a resolver', () => {
    expect([...rules.keys()].filter((name) => !fieldOf(name)?.resolve)).toEqual([]);
  });

  it('are all edges between the nodes that it answers', () => {
    const nodes = resources.flatMap(({ node }) => (node?.compiled ? [node] : []));
    const declared = resources.flatMap(({ fields = [] }) =>
      fields.flatMap(({ of, edges: all }) => {
        const parent = nodes.find(({ rows }) => rows === of);
        return Object.entries(all).flatMap(([name, edge]) =>
          parent && 'table' in edge && nodes.some(({ rows }) => rows === edge.table)
            ? [`${parent.type.name}.${name}`]
            : [],
        );
      }),
    );
    const compiled = compiledBy('link', 'links', 'edge').filter((name) => listedTypes.has(name.split('.')[0]!));
    expect(compiled.toSorted()).toEqual(declared.toSorted());
    expect(declared.length).toBeGreaterThan(30);
  });

  it('have no argument that the compiler ignores', () => {
    const known = ['first', 'after', 'last', 'before', 'created', 'id', 'asOf', 'scope'];
    const strange = [...rules].flatMap(([name, rule]) =>
      'listing' in rule
        ? []
        : fieldOf(name)!
            .args.filter((argument) => !known.includes(argument.name))
            .map((argument) => `${name} ${argument.name}`),
    );
    expect(strange).toEqual([]);
  });
});

/** A list that contains the objects of a type: the caller's own, or that of an account. */
function listOfType(type: string, edge: string): string {
  const listed = (name: string) => getNamedType(fieldOf(name)!.type).name === `${type}Connection`;
  const root = rootPages.find(listed);
  if (root) return `{ ${fieldOf(root)!.name}(first: 60) { nodes { ${edge} } } }`;
  const below = fieldOf(edges.find((name) => name.startsWith('Account.') && listed(name))!)!;
  return `{ accounts(first: 10) { nodes { ${below.name}(first: 10) { nodes { ${edge} } } } } }`;
}

/** What a caller asks. Where not everything is tried, each query is sent by one of the callers. */
function askedBy(name: string, asked: (caller: string) => string[]): string[] {
  const table = names.flatMap((caller) => asked(caller).map((query) => ({ caller, query })));
  const chosen = covering(table, ({ caller, query }) => [caller, query], 1);
  return chosen.flatMap(({ caller, query }) => (caller === name ? [query] : []));
}

describe.each(names)('the compiled query of %s', (name) => {
  const speaker = () => speakers[name]!;
  const pagesOf = (caller: string) =>
    rootPages.filter((root) => {
      const { callers, asItself } = operationOf(fieldOf(root)!.name);
      const kind = caller === names[4] ? 'connected_user' : 'platform';
      return callers.includes(kind) && !(asItself && caller.includes('on behalf'));
    });
  beforeAll(anew);
  const expectEqual = (query: string, variables: object = {}) => expectBoth(speaker(), query, variables);

  it.each(askedBy(name, () => edges))('returns the same as the resolvers: %s', async (edge) => {
    const [type, field] = edge.split('.') as [string, string];
    await expectEqual(listOfType(type, `id ${selected(fieldOf(edge)!, edge)}`));
    expect(field).toBe(fieldOf(edge)!.name);
  });

  it.each(
    askedBy(name, (caller) =>
      [...edges, ...pagesOf(caller)].filter((each) => isObjectType(getNamedType(fieldOf(each)!.type))),
    ),
  )('returns the same as the resolvers for each part that is selected alone: %s', async (name) => {
    const field = fieldOf(name)!;
    const type = getNamedType(field.type) as GraphQLObjectType;
    const root = name.startsWith('Query.');
    const parts = each(type);
    expect(parts.length).toBeGreaterThan(2);
    const most = isConnected(type) || isListOfObjects(field.type) ? 6 : 25;
    for (const asked of aliased(root ? `${field.name}(first: 3)` : field.name, parts, most))
      await expectEqual(root ? `{ ${asked} }` : listOfType(name.split('.')[0]!, `id ${asked}`));
  });

  it.each(askedBy(name, pagesOf))('returns the same as the resolvers: %s, and one of them by its id', async (root) => {
    const field = fieldOf(root)!;
    const page = await expectEqual(`{ ${selected(field, root).replace(field.name, `${field.name}(first: 100)`)} }`);
    for (const size of [1, 2, 3])
      await expectEqual(
        `query ($n: Int) { ${field.name}(first: $n) { nodes { id } pageInfo { hasNextPage endCursor } } }`,
        {
          n: size,
        },
      );
    const node = getNamedType(field.type).name.replace('Connection', '');
    const one = compiledBy('one')
      .map((name) => fieldOf(name)!)
      .find(({ type }) => getNamedType(type).name === node)!;
    for (const { id } of page[field.name].nodes.slice(0, 3))
      await expectEqual(
        `query ($id: ID!) { ${one.name}(id: $id) { ${plain(getNamedType(one.type) as GraphQLObjectType)} } }`,
        { id },
      );
  });
});

describe('a compiled query', () => {
  beforeAll(anew);
  const platform = () => speakers[names[0]]!;

  it.each([
    [
      'aliases',
      '{ a: accounts(first: 2) { n: nodes { x: id y: nickname z: id } } b: accounts(first: 1) { nodes { id } } }',
    ],
    [
      'fragments',
      'query Q { accounts(first: 3) { ...C } } fragment C on AccountConnection { nodes { ...A ... on Node { id ' +
        '} ... { status } } } fragment A on Account { nickname businessDetails { ids { tax } } }',
    ],
    [
      'type names',
      '{ __typename accounts(first: 2) { __typename nodes { __typename id setting { __typename payouts { ' +
        '__typename interval } } balance { __typename available { __typename amount } } } edges { __typename ' +
        'cursor } pageInfo { __typename hasNextPage } } }',
    ],
    ['a field twice', '{ accounts(first: 2) { nodes { id } nodes { nickname } } }'],
    [
      'filters',
      '{ accounts(first: 20, status: ACTIVATED, type: USER) { nodes { id depositsIn(first: 4, status: ' +
        'COMPLETED, currency: "USD") { nodes { id status currency } pageInfo { hasNextPage } } } } }',
    ],
    [
      'the same table below itself',
      '{ accounts(first: 4) { nodes { id partners(first: 3) { nodes { id owner { id nickname owner { id } } } } } } }',
    ],
    [
      'a range of times',
      '{ deposits(first: 5, created: { gt: "2020-01-01T00:00:00Z", lte: ' +
        '"2090-01-01T00:00:00Z" }) { nodes { id created amount } } }',
    ],
    [
      'disputes, whose amounts are negative',
      '{ deposits(first: 100) { nodes { amount disputed pendingRest disputes { id ' +
        'amount disputed } payment { amount status } } } }',
    ],
  ])('may have %s', async (_, query) => {
    const { resolved, whole, once, compiler } = await both(platform(), query);
    expect(resolved.errors).toBeUndefined();
    expect(whole).toEqual(resolved);
    expect(once).toEqual(resolved);
    expect(compiler).toBe(2);
  });

  it('returns the largest amount, and text that JSON must escape', async () => {
    const mine = await given.platform(1);
    const text = 'a "quoted" \\ name\n\twith – ünï😀 \u0007 and \u2028 </script>';
    const partner = await mine.partner({
      metadata: { 'a "key"': text },
      business_details: {
        legal_name: text,
        email: 'a@example.com',
        type: 'company',
        physical_address: { line1: text, city: 'Pune', state: 'MH', postal_code: '411001', country: 'IN' },
      },
    });
    const made = await mine.post(
      '/v1/receivables',
      receivableBody({ amount: '99999999999.99', reference_number: text }, { account_id: mine.id }),
    );
    expect(made.status).toBe(200);
    const { resolved, whole, compiler } = await both(
      mine,
      'query ($p: ID!, $r: ID!) { account(id: $p) { metadata businessDetails { legalName physicalAddress { ' +
        'line1 } } } receivable(id: $r) { amountMaximumReconcilable amountReconcilable amountLocked invoice { ' +
        'amount referenceNumber dueDate } } }',
      { p: partner.id, r: made.body.id },
    );
    expect(whole).toEqual(resolved);
    expect(compiler).toBe(2);
    expect(whole.data.account.businessDetails.legalName).toBe(text);
    expect(whole.data.account.metadata).toEqual({ 'a "key"': text });
    expect(whole.data.receivable.invoice.amount).toBe('99999999999.99');
  });

  it.each<[string, string, object]>([
    ['an object that does not exist', 'query ($id: ID!) { account(id: $id) { id } }', { id: 'account_0' }],
    ['one of two that is not there', '{ accounts(first: 1) { nodes { id } } account(id: "account_0") { id } }', {}],
    ['a size out of bounds', 'query ($n: Int) { accounts(first: $n) { nodes { id } } }', { n: 101 }],
    ['a variable that is missing', 'query ($id: ID!) { account(id: $id) { id } }', {}],
    ['a variable of the wrong type', 'query ($n: Int) { accounts(first: $n) { nodes { id } } }', { n: 'ten' }],
    [
      'a cursor of no object',
      'query ($after: ID) { accounts(first: 1, after: $after) { nodes { id } pageInfo { hasPreviousPage } } }',
      { after: 'account_0' },
    ],
    [
      'a cursor of allocations',
      '{ deposits(first: 1) { nodes { allocations(first: 1, after: "lock_0") { nodes { amount } } } } }',
      {},
    ],
    ['what is known of the caller without a statement', '{ __typename viewer { __typename mode permission } }', {}],
    [
      'a balance in the past',
      '{ accounts(first: 1) { nodes { balance(asOf: "2026-01-01T00:00:00Z") { available { amount } } } } }',
      {},
    ],
    [
      'what is left out',
      'query ($no: Boolean!) { accounts(first: 1) { nodes { id nickname @include(if: $no) } } }',
      { no: false },
    ],
    [
      'what has a resolver of its own',
      '{ accounts(first: 2) { nodes { id requirements { fieldName } capability { multicurrencyExportsV1 } } } }',
      {},
    ],
    ['a node of any type', '{ node(id: "account_0") { id ... on Account { nickname } } }', {}],
  ])('leaves the answer to the resolvers: %s', async (_, query, variables) => {
    const { resolved, again, whole, once, compiler } = await both(platform(), query, variables);
    expect(again).toEqual(resolved);
    expect(whole).toEqual(resolved);
    expect(once).toEqual(resolved);
    expect({ query, compiler }).toEqual({ query, compiler: 0 });
  });

  it('shows another tenant nothing, with the same response as the resolvers', async () => {
    const query = 'query ($id: ID!) { account(id: $id) { id nickname balance { available { amount } } } }';
    const outsider = speakers[names[5]]!;
    const mine = { id: platform().id };
    for (let i = 0; i < 4; i++) expect((await platform().graph(query, mine)).body.data.account.id).toBe(mine.id);
    const answer = async (id: string) => {
      const { status, body } = await outsider.graph(query, { id });
      return JSON.stringify([status, body]).replaceAll(body.extensions.requestId, '').replaceAll(id, '');
    };
    for (let i = 0; i < 3; i++) expect(await answer(mine.id)).toBe(await answer(`account_${'0'.repeat(32)}`));
    expect(await answer(mine.id)).toContain('resource_missing');
  });

  it('shows what was written just before', async () => {
    const mine = await given.platform(1);
    const query = 'query Latest($id: ID!) { account(id: $id) { partners(first: 1) { nodes { id } } } }';
    for (let n = 0; n < 6; n++) {
      const { id } = await mine.partner();
      const { body } = await mine.graph(query, { id: mine.id });
      expect(body.data.account.partners.nodes).toEqual([{ id }]);
    }
  });

  it('is refused for a caller without permission, like any other', async () => {
    const query = '{ connectedAccountSettings(first: 1) { nodes { id } } }';
    const allowed = await both(platform(), query);
    expect(allowed.resolved.errors).toBeUndefined();
    const refused = await both(speakers[names[4]]!, query);
    expect(refused.resolved.errors[0].extensions.error.code).toBe('permission_denied');
    expect(refused.whole).toEqual(refused.resolved);
  });

  it('restricts every table to the tenant and the mode, and selects only its own columns', async () => {
    expect(statements.size).toBeGreaterThan(scale.all ? 200 : 20);
    const relations = await world.sql<{ name: string }[]>`select relname as name from pg_class where relkind <> 'i'`;
    const known = new Set(relations.map(({ name }) => name));
    for (const statement of statements) {
      const read = [...statement.matchAll(/\b(?:from|join) "?(\w+)"?(?![\w(])/g)].map(([, name]) => name!);
      const tables = read.filter((name) => known.has(name)).length;
      // Each statement has one parameter for the tenant and one for the mode.
      for (const column of ['tenant_id', 'livemode']) {
        const found = [...statement.matchAll(new RegExp(`\\b${column}"? = (\\$\\d+)\\b`, 'g'))];
        const parameters = found.map(([, number]) => number);
        expect([statement, parameters.length, new Set(parameters).size]).toEqual([statement, tables, tables && 1]);
      }
    }
  });

  it('shows the account of a balance, with or without money, in any number of currencies', async () => {
    const rows = await world.sql<{ id: string; count: number }[]>`
      select a.id, (select count(*)::int from balance b where b.livemode = false and b.account_id = a.id) as count
      from account a where a.livemode = false and a.on_root_list
      and a.tenant_id = ${platform().id.replace('account_', '')}`;
    const counts = new Set(rows.map(({ count }) => Math.min(count, 2)));
    expect([...counts].sort()).toEqual([0, 2]);
    const query = '{ accounts(first: 100) { nodes { id balance { accountId livemode } } } }';
    const { resolved, whole, compiler } = await both(platform(), query);
    expect(resolved.data.accounts.nodes.map((node: any) => node.id).sort()).toEqual(rows.map(({ id }) => id).sort());
    expect(whole).toEqual(resolved);
    expect(compiler).toBe(2);
  });

  it('leaves a NULL in a non-null field to the resolvers', async () => {
    const mine = await given.directUser(1);
    const made = await mine.post('/v1/receivables', receivableBody({ amount: '10.00', reference_number: 'A' }));
    const query = '{ receivables(first: 100) { nodes { id invoice { dueDate } } } }';
    const sound = await both(mine, query);
    expect([sound.whole.data.receivables.nodes.length, sound.compiler]).toEqual([1, 2]);
    await world.sql`update receivable set invoice = invoice - 'dueDate' where id = ${made.body.id}`;
    const broken = await both(mine, `${query} # without a date`);
    expect(broken.resolved.errors).toHaveLength(1);
    expect([broken.whole, broken.once]).toEqual([broken.resolved, broken.resolved]);
    expect(broken.compiler).toBe(0);
  });
});

/** Sends documents one after the other, as a platform without data. */
describe('the statements of compiled queries', () => {
  const contextOf = async (): Promise<Context> => {
    const { id } = await given.platform(1);
    const caller: Caller = {
      tenantId: id.replace('account_', ''),
      livemode: false,
      edition: 1,
      kind: 'platform',
      permission: 'full',
      keyId: null,
      accountId: id,
      actingAccountId: id,
      actingAccountKind: 'platform',
    };
    const nobody = () => {
      throw new Error('no query makes keys');
    };
    return new Context(
      caller,
      new Scope(caller, world.database),
      editions[1],
      'req',
      undefined,
      nobody,
      {} as never,
      {} as never,
    );
  };
  let context: Context;
  let other: Context;
  beforeAll(async () => {
    [context, other] = [await contextOf(), await contextOf()];
  });
  const wholeOf = (compiler: QueryCompiler, query: string) => compiler.of(parse(query))!;
  const documentsOf = (compiler: QueryCompiler, stem: string, count: number) =>
    Array.from({ length: count }, (_, n) => wholeOf(compiler, `{ ${stem}${n}: accounts(first: 1) { nodes { id } } }`));
  /** How many of the documents a tenant gets answered by a compiled statement. */
  const answers = async (documents: ReturnType<typeof documentsOf>, tenant: Context) => {
    let count = 0;
    for (const one of documents) if ((await one.answer(null, {}, tenant)) !== undefined) count++;
    return count;
  };

  it('take no value in place of the tenant, the mode or the acting account of their caller', () => {
    for (const name of ['tenantId', 'livemode', 'actingAccount']) {
      const values = { [name]: other.caller.tenantId };
      const refusal = `the value ${name} of a statement is the scope's own`;
      expect(() => context.scope.compiled('select $1', [name], values, classOfValues({}))).toThrow(refusal);
      expect(() => context.scope.read('a name', () => undefined as never, values)).toThrow(refusal);
    }
  });

  // PostgreSQL keeps prepared statements; a client that invents documents must not fill its memory.
  it('are at most some hundreds in an hour, of which a tenant gets half, and the same number in the next', async () => {
    let now = 0;
    const compiler = new QueryCompiler(schema, () => now);
    const share = statementsMax / 2;
    const documents = documentsOf(compiler, 'a', share + 10);
    expect(await answers(documents, context)).toBe(share);
    expect(await answers(documents, context)).toBe(share);
    now += 3_599_999;
    expect(await answers(documents.slice(share), context)).toBe(0);
    now += 1;
    expect(await answers(documents.slice(share), context)).toBe(10);
    expect(await answers(documents, context)).toBe(share);
  });

  it('of one tenant leave statements for others, which may use those of the first one, too', async () => {
    const compiler = new QueryCompiler(schema);
    const greedy = documentsOf(compiler, 'a', statementsMax);
    expect(await answers(greedy, context)).toBe(statementsMax / 2);
    const own = documentsOf(compiler, 'b', statementsMax);
    expect(await answers(own, other)).toBe(statementsMax / 4);
    expect(await answers(greedy, other)).toBe(statementsMax / 2);
    // A document that has left the cache is compiled anew, and its statement is known.
    expect(await answers(documentsOf(compiler, 'a', 10), context)).toBe(10);
    expect(await answers(documentsOf(compiler, 'c', 10), context)).toBe(0);
  });

  it('of all tenants together are bounded, whatever their number', async () => {
    const compiler = new QueryCompiler(schema);
    let count = 0;
    for (let n = 0; n < 12; n++)
      count += await answers(documentsOf(compiler, `t${n}_`, statementsMax / 2), await contextOf());
    expect(count).toBeLessThanOrEqual(statementsMax);
    expect(count).toBeGreaterThan(statementsMax * 0.95);
  });

  it('are short enough that PostgreSQL can keep hundreds of them, for any document', async () => {
    const fragments = `
      fragment A on Account { id partners(first: 1) { nodes { ...B } } connectedUsers(first: 1) { nodes { ...B } } owner
      { ...B } }
      fragment B on Account { depositsIn(first: 1) { nodes { ...D } } depositsOut(first: 1) { nodes { ...D } }
      receivables(first: 1) { nodes { account { ...C } } } }
      fragment D on Deposit { fromAccount { ...C } toAccount { ...C } payment { account { ...C } } }
      fragment C on Account { id payouts(first: 1) { nodes { address { id } payment { id } } } setting { id } balance {
      available { amount } } }`;
    const query = `{ accounts(first: 1) { nodes { ...A } } } ${fragments}`;
    expect(query.length).toBeLessThan(800);
    const { resolved, whole, once, compiler } = await both(speakers[names[0]]!, query);
    expect(resolved.errors).toBeUndefined();
    expect([whole, once]).toEqual([resolved, resolved]);
    expect(compiler).toBe(0);
    for (const statement of statements) expect(statement.length).toBeLessThanOrEqual(16_000);
    const one = wholeOf(new QueryCompiler(schema), query);
    expect(await one.answer(null, {}, context)).toBeUndefined();
    // The compiler finds this out once, and does not build the statement again.
    expect([one.resolved, one.statements.size]).toEqual([true, 0]);
  });

  it('allow the query of a dashboard', async () => {
    const query = `{ accounts(first: 10) { nodes {
      id nickname status setting { id liveFx payouts { enabled interval } }
      addresses(first: 5) { nodes { id category currency status bankAccount { bankName last4 } } }
      depositsIn(first: 5) { nodes { id created amount currency status fromAccount { nickname } } }
      balance { available { amount currency } pending { amount currency } } } } }`;
    const one = wholeOf(new QueryCompiler(schema), query);
    expect(JSON.parse((await one.answer(null, {}, context))!.data).accounts.nodes).toHaveLength(1);
    const [statement] = one.statements.values();
    expect(statement!.text.length).toBeLessThan(8_000);
  });

  it('are none for a document that a resolver must answer for all values of the variables', () => {
    const document =
      'query ($status: [DepositStatus!]) { deposits(first: 1, status: $status) { nodes { completedAt } } }';
    expect(new QueryCompiler(schema).of(parse(document))).toBeUndefined();
  });

  it('of one document are limited in number, and the resolvers answer further shapes of it', async () => {
    const bounds = ['eq', 'gt', 'gte', 'lt', 'lte'];
    const one = wholeOf(
      new QueryCompiler(schema),
      `query ($currency: [Currency!], $status: [DepositStatus!], $created: TimeFilter) {
        deposits(first: 1, currency: $currency, status: $status, created: $created) { nodes { id } } }`,
    );
    for (let n = 0; n < 128; n++) {
      const some = bounds.filter((_, i) => n & (1 << i));
      await one.answer(
        null,
        {
          created: Object.fromEntries(some.map((bound) => [bound, '2026-01-01T00:00:00Z'])),
          ...(n & 32 && { currency: ['USD'] }),
          ...(n & 64 && { status: ['FAILED'] }),
        },
        context,
      );
    }
    expect([one.resolved, one.statements.size]).toEqual([false, shapesMax]);
  });
});
