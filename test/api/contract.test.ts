import fs from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { demos } from '../../src/server/demo/demo.js';
import { protocolText } from '../../src/hosted/adapter/document.js';
import { openapiText } from '../../src/server/build/print-schema.js';
import { pdf } from '../support/bodies.js';
import { Comparison, contract, contractFor, contradictions, type Exchange } from '../support/contract.js';
import { type Edition, Speaker, useWorld } from '../support/world.js';

const world = useWorld({ demo: true, worker: false });
const committed = fs.readFileSync(new URL('../../schema/openapi.json', import.meta.url), 'utf8');

type Json = any;

interface Operation {
  id: string;
  method: string;
  path: string;
  operation: Json;
}
const operations: Operation[] = Object.entries<Json>(contract.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    operation,
  })),
);
const [lists, objects] = [
  operations.filter(({ operation }) => schemaOf(operation)?.$ref?.endsWith('List')),
  operations.filter(({ method, path }) => method === 'GET' && /\{id\}(\/content)?$/.test(path)),
];
function schemaOf(operation: Json): Json {
  return operation.responses['200'].content['application/json']?.schema;
}
/** What the strict rules of the linter find in a contract. */
async function problemsOf(source: string): Promise<unknown[]> {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]);
}
const isOf = (edition: Edition, { operation }: Operation) =>
  operation['x-edition'] === undefined || operation['x-edition'].only === edition;

/** The routes of Fastify's printed tree, in which each line has the end of a path below that of an outer line. */
function registeredRoutes(tree: string): string[] {
  const outer: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', end = '', methods = ''] = /^(.*?)[└├]── (\S+) \(([A-Z, ]+)\)$/.exec(line) ?? [];
    const depth = indent.length / 4;
    outer[depth] = (depth === 0 ? '' : outer[depth - 1]) + end;
    // HEAD comes with GET.
    return methods.split(', ').flatMap((method) => (method === 'HEAD' ? [] : [`${method} ${outer[depth]}`]));
  });
}

const demo = {} as Record<Edition, Speaker>;
beforeAll(async () => {
  for (const { edition, accountId, testKey } of await demos(world.operator, world.pepper))
    demo[edition] ??= new Speaker(world, accountId, testKey, edition);
  // The demo has no files.
  for (const speaker of Object.values(demo)) await speaker.upload('identity_document', pdf, 'incorporation.pdf');
});

describe('schema/openapi.json', () => {
  it('says in the description what one edition requires, which becomes the comment of the generated types', () => {
    let required = 0;
    const look = (value: Json): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const n of value['x-edition']?.required ?? []) {
        required++;
        expect(value.description).toMatch(new RegExp(`[Rr]equired in Edition ${n}|in Edition ${n} also|Edition ${n}`));
      }
      for (const [n, names] of Object.entries<string[]>(value['x-edition']?.oneOf ?? {})) {
        expect(value.description).toContain(`Edition ${n} requires this or`);
        expect(names.length).toBeGreaterThan(1);
      }
      for (const member of Object.values(value)) look(member);
    };
    look(contract);
    expect(required).toBeGreaterThan(5);
    const { properties } = (contract.paths['/v1/accounts'] as Json).post.requestBody.content['application/json'].schema;
    expect(properties.type.enum).toEqual(['partner']);
  });

  it('is what the declarations say; npm run schema writes it', () => {
    expect(openapiText()).toBe(committed);
  });

  it('of acquirers is what the declarations say, too, and has no problem in the strict rules', async () => {
    const text = protocolText();
    expect(text).toBe(fs.readFileSync(new URL('../../schema/acquirer.json', import.meta.url), 'utf8'));
    expect(await problemsOf(text)).toEqual([]);
  });

  it('names the variables of GraphQL documents as they are', () => {
    const named = new Set([...committed.matchAll(/`\$(\w+): ID!`/g)].map(([, name]) => name));
    expect([...named].sort()).toEqual(['eventId', 'objectId']);
  });

  it('says where /v1 answers the address of a payment page', () => {
    const { description } = (contract.paths['/v1/checkouts'] as Json).post;
    for (const text of [description, (contract.components as Json).schemas.Checkout.description])
      expect(text).toContain('`Link`');
  });

  it('says whose id is in a path', () => {
    const nouns = operations
      .filter(({ path }) => path.includes('{id}'))
      .map(({ path, operation }) => [
        path
          .split('/{id}')[0]!
          .split('/')
          .at(-1)!
          .replace(/ies$/, 'y')
          .replace(/(?<=ss)es$|(?<!s)s$/, '')
          .replaceAll('_', ' '),
        operation.parameters.find((p: Json) => p.in === 'path').description,
      ]);
    for (const [collection, description] of nouns) expect(description).toContain(`object: ${collection}`);
  });

  it('takes If-None-Match exactly where the answer may be 304', () => {
    const taking = ({ operation }: Operation) =>
      operation.parameters.some((p: Json) => p.$ref === '#/components/parameters/IfNoneMatch');
    const [taken, answered] = [
      operations.filter(taking),
      operations.filter(({ operation }) => operation.responses['304']),
    ];
    expect(taken.map(({ id }) => id)).toEqual(answered.map(({ id }) => id));
    expect(answered.every(({ operation }) => operation.responses['200'].headers.ETag)).toBe(true);
  });

  it('has no problem in the strict rules of the linter', async () => {
    expect(await problemsOf(committed)).toEqual([]);
  });

  it('is served without a key', async () => {
    const response = await fetch(`${world.origin}/openapi.json`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(await response.text()).toBe(committed);
  });

  it('has exactly the routes of /v1 that the gateway serves', () => {
    const served = operations.map(({ method, path }) => [method, path.replaceAll(/\{(\w+)\}/g, ':$1')] as const);
    for (const [method, url] of served)
      expect([method, url, world.app.hasRoute({ method, url })]).toEqual([method, url, true]);
    const registered = registeredRoutes(world.app.printRoutes({ commonPrefix: false })).filter((route) =>
      / \/v1\//.test(route),
    );
    expect(new Set(registered)).toEqual(new Set(served.map(([method, url]) => `${method} ${url}`)));
  });

  it.each(operations)('has a title, a description and a recorded example of $id', ({ path, method }) => {
    const operation = JSON.parse(committed).paths[path][method.toLowerCase()];
    expect(operation.summary).toMatch(/^[A-Z][a-z]+ [a-z ]+[a-z]$/);
    expect(operation.description).toMatch(/^[A-Z].*\.$/s);
    const { content } = operation.responses['200'];
    const recording = 'run a test that calls it alone with RECORD_EXAMPLES=1, and then npm run schema';
    if (content['application/json']) expect(content['application/json'].example, recording).toBeDefined();
    for (const parameter of operation.parameters)
      if (parameter.in === 'path') expect(parameter.example).toEqual(expect.any(String));
  });
});

describe.each([1, 2] as const)('the demo of Edition %i', (edition) => {
  it('answers each list and each of its objects as the contract says', async () => {
    const speaker = demo[edition];
    // Each answer follows the contract of everyone, as all in these tests, and the one of the platform.
    const own = new Comparison(
      contractFor({ edition, kind: 'platform', livemode: false, permission: 'full', session: undefined }),
    );
    // A few ids of each kind, by their prefix.
    const ids = new Map<string, Set<string>>();
    const get = async (path: string) => {
      const reply = await speaker.get(path);
      expect(own.contradictions({ method: 'GET', path, ...reply })).toEqual([]);
      for (const [id, prefix = ''] of reply.text.matchAll(/\b([a-z_]+)_[0-9a-f]{32}\b/g)) {
        const known = ids.get(prefix) ?? new Set();
        if (known.size < 2) ids.set(prefix, known.add(id));
      }
      return reply.status;
    };
    const statuses = await Promise.all(
      lists.filter((list) => isOf(edition, list)).map(({ path }) => get(path.replace('{id}', speaker.id))),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    // The ids do not say which path has their object, and a path answers 404 for another kind.
    const seen = { 200: 0, 404: 0 } as Record<number, number>;
    for (const id of [...ids.values()].flatMap((each) => [...each]))
      for (const { path } of objects) seen[await get(path.replace('{id}', id))]! += 1;
    expect(seen[200]).toBeGreaterThan(ids.size);
  });
});

describe('the comparison of an answer with the contract', () => {
  let good: Exchange;
  let path: string;
  beforeAll(async () => {
    const reply = await demo[1].get('/v1/deposits?limit=1');
    path = `/v1/deposits/${reply.body.data[0].id}`;
    good = { method: 'GET', path, status: 200, headers: reply.headers, body: reply.body.data[0] };
  });
  const error = (code: string, status: number) => ({
    status,
    body: { object: 'error', http_status_code: status, errors: [{ code, message: 'No.', metadata: {} }] },
  });

  it('finds nothing in an answer that follows it', () => expect(contradictions(good)).toEqual([]));

  it.each<[string, (one: Exchange) => Partial<Exchange>]>([
    ['a further key', ({ body }) => ({ body: { ...body, colour: 'red' } })],
    ['a missing key', ({ body: { status: _, ...body } }) => ({ body })],
    ['a null where none may be', ({ body }) => ({ body: { ...body, amount: null } })],
    ['a value that the enum does not have', ({ body }) => ({ body: { ...body, status: 'lost' } })],
    ['an amount as a number', ({ body }) => ({ body: { ...body, amount: 10 } })],
    ['an operation that it does not have', () => ({ path: '/v1/unknown' })],
    ['a method that it does not have', () => ({ method: 'POST' })],
    ['a status that it does not document', () => error('amount_exceeds_deposit', 402)],
    ['a code that it does not document', () => error('status_invalid', 400)],
    [
      'an error object with a further key',
      () => ({ status: 404, body: { ...error('resource_missing', 404).body, a: 1 } }),
    ],
    ['another status inside the error object', () => ({ ...error('resource_missing', 404), status: 401 })],
    ['an answer without a request id', () => ({ headers: new Headers({ 'content-type': 'application/json' }) })],
  ])('finds %s', (_, change) => {
    expect(contradictions({ ...good, ...change(good) })).not.toEqual([]);
  });
});

describe('a parameter in a body of the contract', () => {
  interface Property {
    id: string;
    path: string;
    /** The names on the way to the property. */
    steps: string[];
    schema: Json;
    url: string;
    edition: Edition;
  }

  const propertiesOf = (schema: Json, steps: string[] = []): { steps: string[]; schema: Json }[] =>
    Object.entries<Json>(schema.properties ?? {}).flatMap(([name, own]) => [
      { steps: [...steps, name], schema: own },
      ...propertiesOf(own, [...steps, name]),
    ]);
  const properties: Property[] = operations.flatMap(({ id, path, operation }) => {
    const body = operation.requestBody?.content['application/json']?.schema;
    return propertiesOf(body ?? {}).map(({ steps, schema }) => ({
      ...{ id, steps, schema, path: steps.join('.'), url: path.replace('{id}', 'nothing') },
      edition: operation['x-edition']?.only ?? schema['x-edition']?.only ?? 1,
    }));
  });
  /** The codes of the problems that a value of one property has by itself, whatever else is wrong. */
  const refusalOf = async ({ steps, url, edition }: Property, value: unknown): Promise<string[]> => {
    const body = steps.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
    const { body: answer } = await demo[edition].post(url, body);
    const own = (field: string) => field.replace(/\[\d+\]$/, '').endsWith(`.${steps.join('.')}`);
    return (answer.errors ?? [])
      .filter(({ metadata }: Json) => own(metadata.field_name ?? ''))
      .map(({ code }: Json) => code);
  };

  it('may be null only where null is not refused as empty', async () => {
    const wrong: string[] = [];
    for (const property of properties) {
      const { schema, id, path } = property;
      const mayBeNull = [schema.type].flat().includes('null');
      const editions = schema['x-edition'] ?? {};
      // One edition may require what the other does not.
      if (!mayBeNull || editions.required || editions.oneOf || id === 'createAddress') continue;
      if ((await refusalOf(property, null)).includes('parameter_invalid_empty')) wrong.push(`${id} ${path}`);
    }
    expect(wrong).toEqual([]);
  });

  it('has the limits by which its operation refuses it', async () => {
    const wrong: string[] = [];
    for (const property of properties) {
      const { minimum, maximum, maxLength, maxItems, items, pattern, enum: values } = property.schema;
      const text = (length: number) => 'x'.repeat(length);
      const beyond: unknown[] = [
        ...(minimum === undefined ? [] : [minimum - 1]),
        ...(maximum === undefined ? [] : [maximum + 1]),
        ...(maxLength && !pattern && !values ? [text(maxLength + 1)] : []),
        ...(maxItems && items.type === 'string' ? [Array.from({ length: maxItems + 1 }, () => 'USD')] : []),
      ];
      for (const value of beyond)
        if (!(await refusalOf(property, value)).includes('parameter_invalid'))
          wrong.push(`${property.id} ${property.path}: ${JSON.stringify(value).slice(0, 40)}`);
    }
    expect(wrong).toEqual([]);
    const stated = (id: string, path: string) => properties.find((p) => p.id === id && p.path === path)!.schema;
    expect(stated('advanceTestClock', 'advance_seconds')).toMatchObject({ minimum: 1, maximum: 34_560_000 });
    expect(stated('createAccount', 'nickname')).toMatchObject({ maxLength: 100 });
    expect(stated('createAddress', 'category').enum).toEqual(['user_payout']);
    const { parameters } = (contract.paths['/v1/deposits'] as Json).get;
    expect(parameters.find((p: Json) => p.name === 'search').schema).toMatchObject({ maxLength: 100 });
  });
});
