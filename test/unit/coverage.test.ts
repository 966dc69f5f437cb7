import fs from 'node:fs';
import {
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { camel } from '../../src/errors/problems.js';
import { operations, restRoutes, routes } from '../../src/resources/registry.js';
import { contract, resolved } from '../support/contract.js';
import { enumerations, keysWithoutField, type ObjectKeys, objects, type Values } from '../coverage/objects.js';
import { addedParameters, addedTo, type Endpoint, endpoints, listParameters } from '../coverage/requests.js';
import { resourceRules } from '../coverage/resources.js';
import { generalRules } from '../coverage/rules.js';
import type { Statement } from '../coverage/statement.js';

/*
 * The specification, statement by statement: where each is in the graph and on /v1, and which tests hold it. The rows
 * for keys, values, endpoints and parameters are made from the names in the specification and compared with the schema
 * and the contract; the rows for other sentences are in test/coverage.
 */
type Json = any;
const schema = buildGraph();
const plain = (name: string) => name.replace(/!\d?$|:\d$/, '');
const editionOf = (name: string) => Number(/[:!](\d)$/.exec(name)?.[1]) || undefined;

/** The members of a type of the graph; a page has also those of its objects. */
function member(type: GraphQLNamedType | undefined, name: string) {
  if (isObjectType(type) && type.name.endsWith('Connection') && !type.getFields()[name]) {
    const nodes = getNamedType(type.getFields().nodes!.type);
    return isObjectType(nodes) ? { type: nodes, field: nodes.getFields()[name] } : undefined;
  }
  if (!isObjectType(type) && !isInputObjectType(type) && !isInterfaceType(type)) return undefined;
  return { type, field: type.getFields()[name] };
}

/**
 * The coordinate of a path of names below a type of the graph, such as `BusinessIds.taxGst`; undefined if it is not
 * there.
 */
function coordinate(typeName: string, path: string[]): string | undefined {
  let type = schema.getType(typeName);
  let found: string | undefined;
  for (const name of path) {
    const at = member(type, name);
    if (!at?.field) return undefined;
    found = `${at.type.name}.${name}`;
    type = getNamedType(at.field.type);
  }
  return found;
}

/** Whether a coordinate is in the graph: a type, a field, an input field, an enum value or an argument. */
function inGraph(text: string): boolean {
  const [, typeName = '', name, argument] = /^(\w+)(?:\.(\w+)(?:\((\w+):\))?)?$/.exec(text) ?? [];
  const type = schema.getType(typeName);
  if (name === undefined) return type !== undefined;
  if (isEnumType(type)) return type.getValue(name) != null;
  const field = member(type, name)?.field;
  return (
    field !== undefined && (argument === undefined || ('args' in field && field.args.some((a) => a.name === argument)))
  );
}

/** The schema of a path of keys below a schema of the contract; lists have the keys of their members. */
function below(of: Json, keys: string[]): Json {
  let at = resolved(of);
  for (const key of keys) {
    at = resolved(at?.items ?? at ?? {}).properties?.[key];
    if (!at) return undefined;
  }
  return at;
}

interface Call {
  route: string;
  operation: Json;
}
const calls = new Map<string, Call>(
  Object.entries<Json>(contract.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]): [string, Call] => {
      const route = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
      return [route, { route, operation }];
    }),
  ),
);
const bodyOf = ({ operation }: Call): Json => {
  const content = operation.requestBody?.content ?? {};
  return content['application/json']?.schema ?? content['multipart/form-data']?.schema;
};
/** The parameters in the query of a call, by name. */
const queryOf = ({ operation }: Call): Map<string, Json> =>
  new Map(
    operation.parameters
      .map(resolved)
      .filter((each: Json) => each.in === 'query')
      .map((each: Json) => [each.name, each]),
  );
/** A parameter of a call: one of the query, or a path of keys in the body. */
function parameter(call: Call | undefined, name: string): Json {
  if (!call) return undefined;
  return call.route.startsWith('GET') ? queryOf(call).get(name) : below(bodyOf(call), name.split('.'));
}

/** Whether a key of an object or a parameter of a route is in the contract. */
function inContract(text: string): boolean {
  const [, route = '', name] = /^((?:GET|POST) \S+)(?: (\S+))?$/.exec(text) ?? [];
  if (route !== '') return name === undefined ? calls.has(route) : parameter(calls.get(route), name) !== undefined;
  const [component = '', ...keys] = text.split('.');
  const found = contract.components.schemas[component];
  return found !== undefined && below(found, keys) !== undefined;
}

/** The routes whose answers have an object. */
const routesWith = (component: string): string[] =>
  [...calls.values()]
    .filter(({ operation }) => {
      const $ref = operation.responses['200']?.content?.['application/json']?.schema?.$ref ?? '';
      return [component, `${component}List`].some((name) => $ref === `#/components/schemas/${name}`);
    })
    .map(({ route }) => route);

function ofObject({ name, keys, tests }: ObjectKeys): Statement[] {
  const rows = keys.map((key): Statement => {
    const path = key.split('.').map(plain);
    const about = [name, ...path].join('.');
    const field = path.at(-1) === 'object' ? '(__typename)' : coordinate(name, path.map(camel));
    return { about, graph: [keysWithoutField[about] ?? field ?? `${about} is missing`], v1: [about], tests };
  });
  return [{ about: name, graph: [name], v1: routesWith(name), tests }, ...rows];
}

function ofValues({ graph, of, values, tests }: Values): Statement {
  return {
    about: `${of[0]}: ${values.map(plain).join(', ')}`,
    graph: values.map((value) => `${graph}.${plain(value).toUpperCase()}`),
    v1: of,
    tests,
  };
}

const rowOf = new Map(routes.map((row) => [`${row.method} ${row.path}`, row]));
/** The argument or input field of the graph for a parameter of an endpoint. */
function argumentOf(route: string, name: string): string {
  const { method, field } = rowOf.get(route)!;
  const path = name.split('.').map(camel);
  if (method === 'GET') return `Query.${field}(${path[0]}:)`;
  const input = getNamedType(schema.getMutationType()!.getFields()[field]!.args[0]!.type).name;
  return coordinate(input, path) ?? `${input}.${name} is missing`;
}

function ofEndpoint({ route, parameters, tests }: Endpoint): Statement[] {
  const { method, field } = rowOf.get(route)!;
  const rows = parameters.map((name): Statement => {
    const required = name.includes('!') ? ', required' : '';
    const edition = editionOf(name);
    return {
      about: `${route} ${plain(name)}${required}${edition ? `${required ? ' in' : ','} Edition ${edition}` : ''}`,
      graph: [argumentOf(route, plain(name))],
      v1: [`${route} ${plain(name)}`],
      tests,
    };
  });
  return [
    { about: route, graph: [`${method === 'GET' ? 'Query' : 'Mutation'}.${field}`], v1: [route], tests },
    ...rows,
  ];
}

const specified = routes.filter(({ extension }) => !extension);
const pages = specified.filter(({ answers }) => answers === 'list');
const ofLists = listParameters.map(
  ([name, args, ...tests]): Statement => ({
    about: `Lists: ${name}`,
    graph: pages.flatMap(({ field }) => args.map((argument) => `Query.${field}(${argument})`)),
    v1: pages.map(({ path }) => `GET ${path} ${name}`),
    tests,
  }),
);

const statements: Statement[] = [
  ...generalRules,
  ...objects.flatMap(ofObject),
  ...enumerations.map(ofValues),
  ...endpoints.flatMap(ofEndpoint),
  ...ofLists,
  ...resourceRules,
];

const update = process.env.UPDATE_COVERAGE === '1';
/** Compares a committed file with what it should be, or writes it. */
function committed(file: string, text: string): void {
  if (update) fs.writeFileSync(file, text);
  expect(fs.readFileSync(file, 'utf8'), `UPDATE_COVERAGE=1 with this test writes ${file}`).toBe(text);
}

describe('the table of the statements of the specification', () => {
  it('equals the committed one; UPDATE_COVERAGE=1 writes it again', () => {
    const lines = statements.map(({ about, graph, v1, tests }) =>
      [about, graph.join(', '), v1.join(', '), tests.join(' + ')].join(' | '),
    );
    committed('test/coverage/table.txt', `${['statement | graph | /v1 | tests', ...lines].join('\n')}\n`);
  });

  it('has each statement once, each with its place in both APIs and with a test', () => {
    const abouts = statements.map(({ about }) => about);
    expect(abouts.filter((about, i) => abouts.indexOf(about) !== i)).toEqual([]);
    expect(statements.filter((row) => [row.graph, row.v1, row.tests].some((each) => each.length === 0))).toEqual([]);
    expect(statements.length).toBeGreaterThan(400);
  });

  it('names only what exists in the graph and in the contract, or says in brackets why there is nothing', () => {
    const isReason = (text: string) => /^\(.+\)$/.test(text);
    const wrong = statements.flatMap(({ about, graph, v1 }) => [
      ...graph.filter((text) => !isReason(text) && !inGraph(text)).map((text) => `${about}: ${text}`),
      ...v1.filter((text) => !isReason(text) && !inContract(text)).map((text) => `${about}: ${text}`),
    ]);
    expect(wrong).toEqual([]);
  });

  it('names only tests that exist', () => {
    const sources = new Map<string, string>();
    const testFiles = fs.readdirSync('test', { recursive: true, encoding: 'utf8' });
    const sourceOf = (file: string) => {
      const path = testFiles.find((name) => name.endsWith(`/${file}.test.ts`) && !name.startsWith('functions/'));
      if (!sources.has(file)) sources.set(file, path ? fs.readFileSync(`test/${path}`, 'utf8') : '');
      return sources.get(file)!;
    };
    const exists = (test: string) => {
      const [, file = '', title = ''] = /^([\w-]+): (.+)$/.exec(test) ?? [];
      const escaped = title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll("'", "\\\\?'");
      return new RegExp(
        `(?:it|describe|long|chapter)\\b[^\\n]*\\(\\s*(['"\`])${escaped}\\1,|\\)\\(\\s*(['"\`])${escaped}\\2,`,
      ).test(sourceOf(file));
    };
    expect([...new Set(statements.flatMap(({ tests }) => tests))].filter((test) => !exists(test))).toEqual([]);
    expect(exists('coverage: names only tests that never existed')).toBe(false);
  });
});

/** Keys whose own keys the specification does not show. */
const openKeys: Record<string, string[]> = {
  Address: ['vpa', 'wallet', 'supporting_documentation'],
  Deposit: ['payment_method_details'],
  Receivable: ['system_message'],
};

describe('the names in the specification', () => {
  it.each(objects)(
    'are the keys of $name on /v1, in their order, and those of one edition are marked',
    ({ name, keys }) => {
      const flat = (of: Json, at = ''): string[] =>
        Object.entries<Json>(of.properties ?? of.items?.properties ?? {}).flatMap(([key, each]) => {
          const only = each['x-edition']?.only;
          const inner =
            [each.type].flat().includes('object') || each.items?.properties ? flat(each, `${at}${key}.`) : [];
          const open = (openKeys[name] ?? []).includes(key);
          return [`${at}${key}${only ? `:${only}` : ''}`, ...(open ? [] : inner)];
        });
      const named = keys.map((key) =>
        key
          .split('.')
          .map((part, i, all) => (i < all.length - 1 ? plain(part) : part))
          .join('.'),
      );
      const where = 'write the keys of the specification in test/coverage/objects.ts; /v1 has no others';
      expect(flat(contract.components.schemas[name]), where).toEqual(named);
    },
  );

  it.each(enumerations)(
    'are the values of $graph, and those that were added are listed',
    ({ graph, of, values, added = [] }) => {
      const type = schema.getType(graph);
      const own = isEnumType(type) ? type.getValues().map(({ name }) => name.toLowerCase()) : [];
      expect(own.toSorted()).toEqual([...values.map(plain), ...added].toSorted());
      for (const place of of) {
        const [, route = '', name = ''] = /^((?:GET|POST) \S+) (\S+)$/.exec(place) ?? [];
        const [component = '', ...keys] = place.split('.');
        const found =
          route === '' ? below(contract.components.schemas[component], keys) : parameter(calls.get(route), name);
        const shown = found.schema ?? found;
        const listed = (shown.enum ?? shown.items?.enum ?? []).filter((value: unknown) => value !== null);
        expect([place, listed.toSorted()]).toEqual([place, own.toSorted()]);
      }
    },
  );

  it.each(endpoints)(
    'are the parameters of $route, with those that are required or of one edition',
    ({ route, parameters }) => {
      const call = calls.get(route)!;
      const shared = new Set([
        'limit',
        'starting_after',
        'ending_before',
        ...listParameters.map(([name]) => name),
        ...addedParameters,
        ...(addedTo[route] ?? []),
      ]);
      const editionMark = ({ 'x-edition': edition }: Json, required: boolean) => {
        if (edition?.only) return `:${edition.only}`;
        if (required) return '!';
        return edition?.required ? `!${edition.required[0]}` : '';
      };
      const body = bodyOf(call);
      const own = body
        ? Object.entries<Json>(body.properties)
            .filter(([name]) => !addedTo[route]?.includes(name))
            .map(([name, each]) => name + editionMark(each, body.required?.includes(name)))
        : [...queryOf(call)]
            .filter(([name]) => !shared.has(name))
            .map(([name, each]) => name + editionMark(each, false));
      const where =
        'in test/coverage/requests.ts, write the parameters of the specification in `endpoints`, others in `addedTo`';
      expect(own.toSorted(), where).toEqual(parameters.toSorted());
    },
  );

  it('are those of all endpoints that are no extensions', () => {
    const own = specified.map(({ method, path }) => `${method} ${path}`);
    expect(endpoints.map(({ route }) => route).toSorted()).toEqual(own.toSorted());
    for (const { route } of endpoints) expect([route, calls.has(route)]).toEqual([route, true]);
  });
});

describe('the tables of docs/specification.md', () => {
  const file = 'docs/specification.md';
  const table = (rows: string[]) => ['| Endpoint | GraphQL field |', '|---|---|', ...rows].join('\n');
  const row = (route: string, field: string) => `| \`${route}\` | ${field} |`;
  /** The page with its two tables, of the specification's endpoints and of the extensions, and its list of fields. */
  function written(page: string): string {
    const own = endpoints.map(({ route }) => row(route, `\`${rowOf.get(route)!.field}\``));
    const extensions = [
      ...routes
        .filter(({ extension, path }) => extension && !path.startsWith('/v1/test_helpers/'))
        .map(({ method, path, field }) => row(`${method} ${path}`, `\`${field}\``)),
      ...restRoutes.map(({ method, path }) =>
        row(`${method} ${path}`, method === 'POST' ? 'none; GraphQL takes no uploads' : 'none'),
      ),
    ];
    const tables = [table(own), table(extensions)];
    const alone = [...operations.keys()].filter((name) => !routes.some(({ field }) => field === name));
    const names = alone.map((name) => `\`${name}\``);
    return page
      .replaceAll(/\| Endpoint \| GraphQL field \|\n(?:\|.*\n)+/g, () => `${tables.shift()}\n`)
      .replace(
        /GraphQL alone has .*?\. Headers/s,
        `GraphQL alone has ${names.slice(0, -1).join(', ')} and ${names.at(-1)}. Headers`,
      );
  }

  it('are made from the declarations; UPDATE_COVERAGE=1 writes them again', () => {
    committed(file, written(fs.readFileSync(file, 'utf8')));
  });
});

describe('the contract', () => {
  it('warns where metadata are sent that they are not for sensitive data', () => {
    const inputs = Object.values(schema.getTypeMap()).filter(isInputObjectType);
    const described = inputs.flatMap((type) =>
      Object.values(type.getFields())
        .filter(({ name, type }) => name === 'metadata' && getNamedType(type).name === 'Metadata')
        .map(({ description }) => `${type.name}: ${description}`),
    );
    expect(described.length).toBeGreaterThan(8);
    expect(described.filter((text) => !text.includes('sensitive data'))).toEqual([]);
  });
});
