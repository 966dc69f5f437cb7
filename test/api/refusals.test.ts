import { getTableName } from 'drizzle-orm';
import {
  buildClientSchema,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { snake } from '../../src/errors/problems.js';
import { textLengthMaxDefault } from '../../src/types/text-length.js';
import { editions } from '../../src/editions/editions.js';
import { resources } from '../../src/resources/define.js';
import { operationOf, type Route, routes } from '../../src/resources/registry.js';
import { seedTrade } from './trade.js';
import { type Edition, givenIn, type Reply, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

type Json = any;

/** The GraphQL schema as clients see it. */
let schema: GraphQLSchema;

/** The callers of an edition, and objects of another tenant. */
interface Cast {
  platform: Speaker;
  user: Speaker;
  live: Speaker;
  /** A key that may only read, and a session that may only read. */
  reader: Speaker;
  session: Speaker;
  /** The id of an object of another tenant, by the prefix of ids. */
  foreign: Record<string, string>;
}
const casts = {} as Record<Edition, Cast>;

beforeAll(async () => {
  for (const edition of [1, 2] as const) {
    const { test: platform, live } = await given.platformBoth(edition);
    const outsider = await given.platform(edition);
    const trade = { platform: outsider.id, edition, livemode: false, users: 2, trades: 4, others: 3 } as const;
    await seedTrade(world.sql, trade);
    const foreign: Record<string, string> = {};
    for (const { node } of resources) {
      if (!node) continue;
      const table = world.sql(getTableName(node.rows));
      const [row] =
        await world.sql`select id from ${table} where tenant_id = ${tenantOf(outsider)} order by id desc limit 1`;
      if (row) foreign[node.prefix] = row.id;
    }
    const key = await platform.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    const session = await platform.post('/v1/sessions', { role: 'read' });
    expect([key.codes, session.codes]).toEqual([[], []]);
    casts[edition] = {
      ...{ platform, live, foreign, user: await platform.connectedUser() },
      reader: platform.using(key.body.data.createApiKey.secret),
      session: platform.using(session.body.token),
    };
  }
  schema = buildClientSchema(
    (await casts[1].platform.graph(getIntrospectionQuery({ inputValueDeprecation: true }))).body.data,
  );
});

/** The formats in which a value is sent: in a query string of /v1, in a body of /v1, and in GraphQL next to either. */
type Format = 'query' | 'body' | 'graph';
type Kind = 'GET' | 'POST';

/** A value of each scalar that is refused, in the format of /v1 and in that of GraphQL. */
const wrongScalars: Record<string, Record<Kind, [v1: unknown, graph: unknown]>> = {
  Amount: { GET: ['x', 'x'], POST: ['x', 'x'] },
  Boolean: { GET: ['maybe', 'maybe'], POST: ['maybe', 'maybe'] },
  CountryCode: { GET: ['x', 'x'], POST: ['x', 'x'] },
  Currency: { GET: ['x', 'x'], POST: ['x', 'x'] },
  DateTime: { GET: ['-1', 'x'], POST: [-1, 'x'] },
  EmailAddress: { GET: ['x', 'x'], POST: ['x', 'x'] },
  // Every text is an id in a query string, so only the characters can be wrong.
  ID: { GET: ['\u0000', '\u0000'], POST: [true, true] },
  IP: { GET: ['x', 'x'], POST: ['x', 'x'] },
  Int: { GET: ['x', 'x'], POST: ['x', 'x'] },
  LocalDate: { GET: ['x', 'x'], POST: ['x', 'x'] },
  Metadata: { GET: ['x', 'x'], POST: [5, 5] },
  SafeInt: { GET: ['x', 'x'], POST: ['x', 'x'] },
  String: { GET: ['\u0000', '\u0000'], POST: [5, 5] },
  URL: { GET: ['x', 'x'], POST: ['x', 'x'] },
};
/** A value of each scalar but texts that is accepted. */
const validScalars: Record<string, [v1: unknown, graph: unknown]> = {
  Amount: ['1.00', '1.00'],
  Boolean: [true, true],
  CountryCode: ['IN', 'IN'],
  Currency: ['USD', 'USD'],
  DateTime: [1, '1970-01-01T00:00:01Z'],
  EmailAddress: ['ap@acme.example', 'ap@acme.example'],
  IP: ['10.0.0.1', '10.0.0.1'],
  Int: [1, 1],
  LocalDate: ['2026-01-01', '2026-01-01'],
  Metadata: [{ a: '1' }, { a: '1' }],
  SafeInt: [1, 1],
  URL: ['https://acme.example', 'https://acme.example'],
};

type Values = (leaf: GraphQLInputType, format: Format, path: string) => unknown;
type Fields = readonly (GraphQLArgument | GraphQLInputField)[];

/** The name of a parameter on /v1, whose sessions alone have another one than the graph. */
const onV1 = (name: string, beside: Fields): string =>
  name === 'expiresInSeconds' && beside.some((each) => each.name === 'allowedOrigins') ? 'expires_in' : snake(name);

/** A value for each parameter, nested as the format nests them. A parameter with the value undefined is left out. */
function filled(fields: Fields, format: Format, values: Values, at = ''): Json {
  const members = fields.flatMap(({ name, type }) => {
    const value = filledOne(type, format, values, `${at}${onV1(name, fields)}`);
    return value === undefined ? [] : [[format === 'graph' ? name : onV1(name, fields), value] as const];
  });
  return members.length === 0 && at !== '' ? undefined : Object.fromEntries(members);
}
function filledOne(type: GraphQLInputType, format: Format, values: Values, path: string): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const one = filledOne(nullable.ofType, format, values, path);
    return one === undefined || format === 'query' ? one : [one];
  }
  if (isInputObjectType(nullable)) return filled(Object.values(nullable.getFields()), format, values, `${path}.`);
  return values(nullable, format, path);
}

/** Wrong values for all parameters. */
const wrong =
  (kind: Kind): Values =>
  (leaf, format) => {
    if (isEnumType(leaf)) return format === 'graph' ? 'SOME_UNKNOWN_VALUE' : 'some_unknown_value';
    const values = wrongScalars[String(leaf)];
    if (!values) throw new Error(`no wrong value for the scalar ${leaf}`);
    return values[kind][format === 'graph' ? 1 : 0];
  };

/** Accepted values for all parameters, with this text for those that are texts and names of objects. */
const valid =
  (text: (leaf: string, path: string) => string): Values =>
  (leaf, format, path) => {
    if (isEnumType(leaf)) {
      const { name } = leaf.getValues()[0]!;
      return format === 'graph' ? name : name.toLowerCase();
    }
    if (String(leaf) === 'String' || String(leaf) === 'ID') return text(String(leaf), path);
    const values = validScalars[String(leaf)];
    if (!values) throw new Error(`no valid value for the scalar ${leaf}`);
    return values[format === 'graph' ? 1 : 0];
  };

/** The paths of all parameters, as errors name them. */
function leaves(fields: Fields, kind: Kind, at: string): [path: string, leaf: string][] {
  return fields.flatMap(({ name, type }) => leavesOf(type, kind, `${at}.${onV1(name, fields)}`));
}
function leavesOf(type: GraphQLInputType, kind: Kind, path: string): [path: string, leaf: string][] {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return leavesOf(nullable.ofType, kind, path);
  if (isInputObjectType(nullable)) return leaves(Object.values(nullable.getFields()), kind, path);
  return [[path, String(nullable)]];
}

const isRequired = ({ type, defaultValue }: GraphQLArgument | GraphQLInputField) =>
  isNonNullType(type) && defaultValue === undefined;

/** Arguments that the graph alone has, or that have other names on /v1. */
const ofTheGraph = ['first', 'after', 'last', 'before', 'filter'];

/**
 * What a route takes: its parameters in the path, and its others but those of paging, which the APIs name differently.
 */
function parametersOf(route: Route) {
  const root = (route.method === 'GET' ? schema.getQueryType() : schema.getMutationType())!.getFields()[route.field]!;
  const input = root.args.find(({ name }) => name === 'input');
  const named = input && getNamedType(input.type);
  const all: Fields = isInputObjectType(named) ? Object.values(named.getFields()) : root.args;
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => route.params?.[name] ?? name);
  const elsewhere = new Set([...inPath, ...(route.without ?? []), ...ofTheGraph]);
  return {
    root,
    inPath: all.filter(({ name }) => inPath.includes(name)),
    own: all.filter(({ name }) => !elsewhere.has(name)),
  };
}

/** The same request through both APIs. */
async function ask(
  speaker: Speaker,
  route: Route,
  sent: { ids: string; values?: Values; fields?: Fields; unknown?: true },
): Promise<{ rest: Reply; graph: Reply }> {
  const { root, inPath, own } = parametersOf(route);
  const fields = sent.fields ?? own;
  const values = sent.values ?? (() => undefined);
  const path = route.path.replaceAll(/:\w+/g, encodeURIComponent(sent.ids));
  const ids = Object.fromEntries(inPath.map(({ name }) => [name, sent.ids]));
  const leaf = isLeafType(getNamedType(root.type)) ? '' : '{ __typename }';
  const given = { ...filled(fields, 'graph', values), ...ids, ...(sent.unknown && { someUnknown: 'x' }) };
  if (route.method === 'POST') {
    const type = root.args[0]!.type;
    const body = { ...filled(fields, 'body', values), ...(sent.unknown && { some_unknown: 'x' }) };
    return {
      rest: await speaker.post(path, body),
      graph: await speaker.graph(`mutation ($input: ${type}) { ${root.name}(input: $input) ${leaf} }`, {
        input: given,
      }),
    };
  }
  const query = flat(filled(fields, 'query', values)).concat(sent.unknown ? [['some_unknown', 'x']] : []);
  const search = new URLSearchParams(query).toString();
  const known = root.args.filter(({ name }) => name in given);
  const declared = known.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = [...known.map(({ name }) => `${name}: $${name}`), ...(sent.unknown ? ['someUnknown: "x"'] : [])];
  const document =
    `query ${declared && `(${declared})`} { ${root.name}${passed.length > 0 ? `(${passed.join(', ')})` : ''} ` +
    `${leaf} }`;
  return {
    rest: await speaker.get(search === '' ? path : `${path}?${search}`),
    graph: await speaker.graph(document, Object.fromEntries(known.map(({ name }) => [name, given[name]]))),
  };
}

/** The parameters of a query string, by dotted names. */
function flat(value: Json, at = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'object' && member !== null ? flat(member, `${at}${name}.`) : [[at + name, String(member)]],
  ) as [string, string][];
}

/** What /v1 says about a refused request, and what the graph says in the same words; the order is not compared. */
const refusalOf = ({ rest, graph }: { rest: Reply; graph: Reply }) => {
  const lines = (items: Json[]) =>
    items.map((item) => `${item?.code} ${item?.metadata?.field_name}: ${item?.message}`).toSorted();
  const errors: Json[] = graph.body.errors ?? [];
  return {
    rest: [rest.status, ...lines(rest.status === 200 ? [] : rest.body.errors)],
    graph: [
      errors[0]?.extensions.httpStatus ?? graph.status,
      ...lines(errors.map(({ extensions, message }) => extensions.error ?? { code: 'NO DOMAIN ERROR', message })),
    ],
    names: new Set((rest.status === 200 ? [] : rest.fieldNames).map((name) => String(name).replaceAll('[0]', ''))),
  };
};

/**
 * The routes that are compared in an edition: all in the first one, and in the second those that it decides something
 * about, because the others run the same code.
 */
const routesOf = (edition: Edition): Route[] =>
  edition === 1
    ? routes
    : routes.filter(({ field }) =>
        [
          operationOf(field).editions,
          ...Object.values(editions).flatMap((each) => [
            each.withheld[field],
            each.required[field],
            each.values[field],
          ]),
        ].some((rule) => rule !== undefined),
      );

/** The parameter that is refused for a faulty one: that one, or the one around it that the edition does not have. */
function refusedWith(parameter: string, { field }: Route, edition: Edition): string {
  const withheld = (editions[edition].withheld[field] ?? []).map((path) => `${operationOf(field).object}.${path}`);
  return withheld.find((path) => parameter.startsWith(`${path}.`)) ?? parameter;
}

describe.each([1, 2] as const)('a refusal of Edition %i is the same through both APIs', (edition) => {
  // The graph names the list of an export by a source: test/api/export.test.ts compares what is wrong with its filters.
  const alike = routesOf(edition).filter(({ field }) => field !== 'createExport');
  it.each(alike)('$method $path: of values of each parameter', async (route) => {
    const operation = operationOf(route.field);
    const { platform } = casts[edition];
    const here = !operation.editions || operation.editions.includes(edition);
    const { own } = parametersOf(route);
    const ids = `${operation.object}_0`;
    const object = operation.object;

    const unknown = refusalOf(await ask(platform, route, { ids, unknown: true }));
    if (here) {
      expect(unknown.graph).toEqual(unknown.rest);
      expect([...unknown.names]).toContain(`${object}.some_unknown`);
    }

    const faulty = refusalOf(await ask(platform, route, { ids, values: wrong(route.method) }));
    if (here && own.length > 0) {
      expect(faulty.graph).toEqual(faulty.rest);
      const expected = leaves(own, route.method, object).map(([path]) => refusedWith(path, route, edition));
      expect([...faulty.names].toSorted()).toEqual(expect.arrayContaining([...new Set(expected)].toSorted()));
    }

    // Texts that are too long, some at a time, because a body has a greatest size.
    const texts = leaves(own, route.method, object).filter(([, leaf]) => leaf === 'String' || leaf === 'ID');
    for (let first = 0; here && route.method === 'POST' && first < texts.length; first += 10) {
      const some = texts.slice(first, first + 10).map(([path]) => path);
      const named = some.map((path) => refusedWith(path, route, edition));
      const long = 'x'.repeat((operation.textLengthMax ?? textLengthMaxDefault) + 1);
      const text = (path: string) => (some.includes(`${object}.${path}`) ? long : 'x');
      const lengthy = refusalOf(await ask(platform, route, { ids, values: valid((_, path) => text(path)) }));
      expect(lengthy.graph).toEqual(lengthy.rest);
      expect([...lengthy.names]).toEqual(expect.arrayContaining(named));
    }

    const required = own.filter(isRequired);
    const missing = refusalOf(await ask(platform, route, { ids, fields: [] }));
    if (here && required.length > 0) {
      expect(missing.graph).toEqual(missing.rest);
      for (const { name } of required) expect([...missing.names]).toContain(`${object}.${snake(name)}`);
    }
  });

  it.each(routesOf(edition))(
    '$method $path: of objects that do not exist, or that the caller does not see',
    async (route) => {
      const { object, editions } = operationOf(route.field);
      const { platform, user, foreign } = casts[edition];
      const { inPath, own } = parametersOf(route);
      const named = own.filter(({ type }) => String(getNamedType(type)) === 'ID' && !isListType(getNullableType(type)));
      if (inPath.length + named.length === 0 || (editions && !editions.includes(edition))) return;
      const prefix = resources.find((each) => each.object === object)?.node?.prefix ?? object;
      // The parameters that a request needs; the rules of an operation may still refuse them before the object is
      // looked up.
      const fields = own.filter(({ type, name }) => isNonNullType(type) || named.some((each) => each.name === name));
      const values = (id: string) => valid((leaf) => (leaf === 'ID' ? id : 'P0802'));
      const [nowhere, elsewhere] = [`${prefix}_0`, foreign[prefix] ?? `${prefix}_1`];
      const answers = [];
      for (const speaker of [platform, user])
        for (const id of [nowhere, elsewhere]) {
          const other =
            prefix === 'account' || inPath.length > 0 ? id : id === nowhere ? 'account_0' : foreign.account!;
          const answer = refusalOf(await ask(speaker, route, { ids: id, fields, values: values(other) }));
          expect(answer.graph).toEqual(answer.rest);
          answers.push(answer.rest);
        }
      // An object of another tenant is answered like one that does not exist.
      expect([answers[1], answers[3]]).toEqual([answers[0], answers[2]]);
      // A list of an unknown object is empty, where the object is a filter.
      if (fields.length === 0 && route.answers !== 'list') expect(answers[0]![0]).toBe(404);
    },
  );

  it.each(routesOf(edition))('$method $path: of callers who may not, and in the other edition', async (route) => {
    const operation = operationOf(route.field);
    const { platform, user, live, reader, session } = casts[edition];
    const { own } = parametersOf(route);
    const ids = `${operation.object}_0`;
    const refused: [why: string, speaker: Speaker][] = [['no key', platform.using('sk_test_0')]];
    const elsewhere = operation.editions && !operation.editions.includes(edition);
    if (elsewhere && !operation.list) refused.push(['the other edition', platform]);
    if (!elsewhere) {
      refused.push(['an unknown account to act for', platform.actingFor('account_0')]);
      if (operation.access === 'write') refused.push(['a key that reads', reader], ['a session that reads', session]);
      if (operation.modes && !operation.modes.includes('live')) refused.push(['a live key', live]);
      if (!operation.callers.includes('connected_user')) refused.push(['a connected user', user]);
    }
    // In the graph a document has to be valid first, so the other edition gets all that is required.
    const fields = elsewhere ? own.filter(isRequired) : [];
    for (const [why, speaker] of refused) {
      const answer = refusalOf(await ask(speaker, route, { ids, fields, values: valid(() => 'x') }));
      expect([why, answer.graph]).toEqual([why, answer.rest]);
      expect([why, [401, 403, 404].includes(Number(answer.rest[0]))]).toEqual([why, true]);
    }
  });

  it('of parameters and values that only the other edition has', async () => {
    const { platform } = casts[edition];
    const { withheld, values } = editions[edition];
    /** The parameter with a value that this edition does not have, and without others. */
    const only =
      (path: string, allowed?: readonly string[]): Values =>
      (leaf, format, at) => {
        if (at !== path && !at.startsWith(`${path}.`)) return undefined;
        if (!allowed) return valid(() => 'x')(leaf, format, at);
        if (!isEnumType(leaf)) return 'EUR';
        const { name } = leaf.getValues().find((each) => !allowed.includes(each.name.toLowerCase()))!;
        return format === 'graph' ? name : name.toLowerCase();
      };
    const cases = [
      ...Object.entries(withheld).flatMap(([name, paths]) => paths.map((path) => ({ name, path, sent: only(path) }))),
      ...Object.entries(values).flatMap(([name, paths]) =>
        Object.entries(paths).map(([path, allowed]) => ({ name, path, sent: only(path, allowed) })),
      ),
    ];
    let compared = 0;
    for (const { name, path, sent } of cases) {
      const route = routes.find(({ field }) => field === name);
      // Operations of the operator have rows there as well, and the graph explains those of the other edition.
      const { editions: has, object } = route ? operationOf(name) : {};
      if (!route || (has && !has.includes(edition))) continue;
      const fields = parametersOf(route).own;
      const answer = refusalOf(await ask(platform, route, { ids: `${object}_0`, fields, values: sent }));
      expect([name, path, answer.graph]).toEqual([name, path, answer.rest]);
      const about = [...answer.names].filter((each) => each.startsWith(`${object}.${path}`));
      expect([name, path, about]).toEqual([name, path, [`${object}.${path}`]]);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(3);
  });
});
