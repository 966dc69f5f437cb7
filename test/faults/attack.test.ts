import http from 'node:http';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { contract, contradictions, resolved } from '../support/contract.js';
import { seedsOf } from '../support/scale.js';
import { givenIn, payoutAddress, type Speaker, useWorld } from '../support/world.js';

/*
 * Random requests made from the contract: valid ones, and ones with faults. No answer may be a fault of the service,
 * and each must be one that the contract describes.
 */
const world = useWorld({ worker: false });
const given = givenIn(world);
/** Each piece has its own seed, so that a fault is found again by one piece alone. `npm run test:attack` sends all. */
const whole = process.env.ATTACK === 'whole';
const requests = whole ? 10_000 : 2_500;
const pieces = whole ? 20 : 1;

type Json = any;
interface Attack {
  method: 'GET' | 'POST';
  path: string;
  query: string;
  body: Json;
  form: boolean;
  headers: Record<string, string>;
  speaker: number;
}

/** Ids are chosen when a request is sent, among those that answers have shown: `⟨receivables:17⟩` is one of them. */
const anId = (collection: string) => fc.nat(999).map((n) => `⟨${collection}:${n}⟩`);
const collections = [...new Set(Object.keys(contract.paths).map((path) => path.split('/')[2]!))];
const unknownId = fc.constantFrom('account_0', 'x', 'deposit_00000000000000000000000000000000', '%00', 'é');
/** An id for a parameter: of the collection that its name begins with, of any collection, or of none. */
function idFor(name: string): fc.Arbitrary<string> {
  const word = { linked: 'account', owner: 'account', logo: 'file', document: 'file' }[name] ?? name;
  const own = collections.filter((each) => each.startsWith(word));
  const [collection = 'accounts'] = own;
  return fc.oneof(
    { arbitrary: anId(collection), weight: 12 },
    { arbitrary: fc.constantFrom(...collections).chain(anId), weight: 1 },
    { arbitrary: unknownId, weight: 1 },
  );
}

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 6 }));
const idName = /(?:^|_)(?:id|document|image)$/;

/** A value that follows a schema. */
function valid(schema: Json, name: string, within: string): fc.Arbitrary<Json> {
  const types: string[] = [schema.type].flat();
  const type = types.find((each) => each !== 'null');
  const value = (): fc.Arbitrary<Json> => {
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (type === 'array')
      return fc.array(valid(schema.items, name, name), { minLength: schema.minItems ?? 0, maxLength: 3 });
    if (type === 'object') return schema.properties ? hash(schema, name) : fc.dictionary(text, text, { maxKeys: 3 });
    if (type === 'boolean') return fc.boolean();
    if (type === 'integer')
      return fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 99, 99_999) });
    if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern));
    if (idName.test(name))
      return idFor(name === 'id' ? within : name.replace(/_(?:id|document|image)$/, '').split('_')[0]!);
    return fc.oneof(text, fc.constantFrom('P0802', '2026-01-31', 'https://a.example', 'a@b.example', 'HDFC0000001'));
  };
  return types.includes('null')
    ? fc.oneof({ arbitrary: value(), weight: 9 }, { arbitrary: fc.constant(null), weight: 1 })
    : value();
}

function hash({ properties, required = [] }: Json, within: string): fc.Arbitrary<Json> {
  const members = Object.fromEntries(
    Object.entries<Json>(properties).map(([name, schema]) => [name, valid(schema, name, within)]),
  );
  return fc.record(members, { requiredKeys: required });
}

/** Values that no parameter has, or few. */
const junk: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  ...[null, '', ' ', 0, -1, 1e21, true, [], {}, [[]], [null], { a: 1 }, 'x'.repeat(6_000), '\u0000', '\ud800', '🜁'],
  ...['10.5', '-1.00', '99999999999999.00', '1e3', 'NaN', '__proto__', "'; drop table account; --", '${1}'],
  ...[Array.from({ length: 1_100 }, () => 'x'), JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`)],
);

/** The same value with one member replaced, removed or added. */
function spoilt(value: Json, place: number, how: number, by: Json): Json {
  if (typeof value !== 'object' || value === null) return by;
  const keys = Object.keys(value);
  if (keys.length === 0 || how === 0) return Array.isArray(value) ? [...value, by] : { ...value, colour: by };
  const key = keys[place % keys.length]!;
  if (how === 1 && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  const inner = value[key];
  const deeper = typeof inner === 'object' && inner !== null && how > 2;
  const member = deeper ? spoilt(inner, Math.floor(place / 7), how - 1, by) : by;
  return Array.isArray(value)
    ? value.map((each, i) => (String(i) === key ? member : each))
    : { ...value, [key]: member };
}

/** The value as it is for half of the requests, and with one or two faults for the others. */
const perhapsSpoilt = (value: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc
    .tuple(value, fc.nat(1), fc.array(fc.tuple(fc.nat(99), fc.nat(4), junk), { minLength: 1, maxLength: 2 }))
    .map(([good, bad, faults]) =>
      bad ? faults.reduce((at, [place, how, by]) => spoilt(at, place, how, by), good) : good,
    );

const queryOf = (parameters: Json[]): fc.Arbitrary<string> => {
  const named = parameters.filter((parameter) => parameter.in === 'query');
  const pairs = named.map(({ name, schema }) =>
    perhapsSpoilt(valid(schema, /^(starting|ending)_/.test(name) ? 'id' : name.split('.').at(-1), '')).map((value) =>
      (Array.isArray(value) ? value : [value]).map((each) => `${name}=${encodeURIComponent(textOf(each))}`).join('&'),
    ),
  );
  const strange = fc.constantFrom(
    'colour=red',
    'limit=1&limit=2',
    'created[gte]=1',
    'status[]=x',
    '%zz=1',
    'a[b][c]=1',
    '=',
    '&&',
    'limit=%00',
  );
  return fc
    .tuple(
      fc.subarray(pairs, { maxLength: Math.min(3, pairs.length) }).chain((some) => fc.tuple(...some)),
      fc.nat(9),
      strange,
    )
    .map(([some, odd, other]) => [...some, ...(odd === 0 ? [other] : [])].join('&'));
};
const textOf = (value: Json): string =>
  (typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value)).slice(0, 2_000);

const headers = fc
  .tuple(fc.nat(9), fc.nat(9), anId('accounts'), fc.nat(50), fc.constantFrom('x'.repeat(256), 'ok', 'a b', '~'))
  .map(
    ([key, acting, id, n, odd]): Record<string, string> => ({
      ...(key < 4 && { 'idempotency-key': `k${n}` }),
      ...(key === 4 && { 'idempotency-key': odd }),
      ...(acting < 2 && { 'on-behalf-of': id }),
      ...(acting === 9 && { 'on-behalf-of': odd }),
    }),
  );

const attacks: fc.Arbitrary<Attack>[] = Object.entries<Json>(contract.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, { parameters, requestBody }]) => {
    const [, , first = '', second = ''] = path.split('/');
    const collection = first === 'test_helpers' ? second : first;
    const content = requestBody?.content;
    const form = content?.['multipart/form-data'] !== undefined;
    const schema = form ? content['multipart/form-data'].schema : content?.['application/json'].schema;
    const ids = fc.oneof({ arbitrary: anId(collection), weight: 9 }, { arbitrary: unknownId, weight: 1 });
    return fc.record({
      method: fc.constant(method.toUpperCase() as 'GET' | 'POST'),
      path: ids.map((id) => path.replace('{id}', id)),
      query: method === 'get' ? queryOf(parameters.map(resolved)) : fc.constantFrom('', '', '', '', '', 'a=1'),
      body: schema ? perhapsSpoilt(hash(schema, collection)) : fc.constant(undefined),
      form: fc.constant(form),
      headers,
      speaker: fc.nat(99),
    });
  }),
);
const anyAttack = fc.oneof(...attacks);

let speakers: Speaker[];
/** The ids that the tenant of each speaker has seen, by collection. */
const seen = new Map<Speaker, Map<string, string[]>>();
beforeAll(async () => {
  const made = await Promise.all(
    ([1, 2] as const).map(async (edition) => {
      const [platform, direct] = await Promise.all([given.platformBoth(edition), given.directUserBoth(edition)]);
      const user = await platform.test.connectedUser();
      await Promise.all([platform.test.partner(), direct.test.partner(), user.partner(), payoutAddress(direct.test)]);
      const key = await direct.test.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
      const reading = direct.test.using(key.body.data.createApiKey.secret);
      return [platform.test, platform.test, direct.test, direct.test, user, platform.live, direct.live, reading];
    }),
  );
  speakers = made.flat();
  for (const speaker of speakers) seen.set(speaker, new Map());
});

/** Keeps the ids of an answer for later requests, by the collection of its path. */
function remember(speaker: Speaker, path: string, body: Json): void {
  const [, , first = '', second = ''] = path.split(/[/?]/);
  const collection = first === 'test_helpers' ? second : first;
  const known = seen.get(speaker)!;
  const ids = known.get(collection) ?? [];
  for (const { id } of body.object === 'list' ? body.data : [body]) if (typeof id === 'string') ids.unshift(id);
  known.set(collection, ids.slice(0, 40));
}

/** How many requests are under way at once: with fewer, the client waits for PostgreSQL. */
const atOnce = 48;
const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce });
const boundary = 'attack';

async function send({ method, path, query, body, form, headers: more, speaker: index }: Attack) {
  const speaker = speakers[index % speakers.length]!;
  const withIds = (of: string) =>
    of.replaceAll(/(?:⟨|%E2%9F%A8)([a-z_]+)(?::|%3A)(\d+)(?:⟩|%E2%9F%A9)/g, (_, collection: string, n: string) => {
      const ids = seen.get(speaker)!.get(collection) ?? [];
      return ids.length === 0 ? `${collection}_0` : ids[Number(n) % ids.length]!;
    });
  const url = encodeURI(withIds(path)).replaceAll('%25', '%') + (query === '' ? '' : `?${withIds(query)}`);
  const json = body === undefined ? undefined : withIds(JSON.stringify(body));
  const payload = form && json !== undefined ? formOf(body) : json;
  const type = form ? `multipart/form-data; boundary=${boundary}` : 'application/json';
  const all: Record<string, string> = {
    authorization: `Bearer ${speaker.key}`,
    ...(payload !== undefined && { 'content-type': type }),
    ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, withIds(value)])),
  };
  const { status, headers, text } = await exchanged(url, method, all, payload);
  const answer =
    (headers.get('content-type') ?? '').startsWith('application/json') && text !== '' ? JSON.parse(text) : undefined;
  if (status === 200 && answer) remember(speaker, url, answer);
  const exchange = { method, path: url, request: body, status, headers, body: answer };
  const found = [...(status >= 500 ? [`status ${status}`] : []), ...contradictions(exchange)];
  return { status, codes: (answer?.errors ?? []).map(({ code }: Json) => code as string), found, url, payload, text };
}

function formOf(body: Json): string {
  const parts = typeof body === 'object' && body !== null ? Object.entries<Json>(body) : [];
  const lines = parts.map(([name, value]) => {
    const shown = name === 'file' ? `${name}"; filename="a.pdf` : name.replaceAll(/["\r\n]/g, '');
    const content = name === 'file' ? '%PDF-1.4\n%%EOF\n' : textOf(value).replaceAll(/[\r\n]/g, '');
    return `--${boundary}\r\ncontent-disposition: form-data; name="${shown}"\r\n\r\n${content}\r\n`;
  });
  return `${lines.join('')}--${boundary}--\r\n`;
}

function exchanged(path: string, method: string, sent: Record<string, string>, payload: string | undefined) {
  return new Promise<{ status: number; headers: Headers; text: string }>((resolve, reject) => {
    const request = http.request(`${world.origin}${path}`, { method, agent, headers: sent }, (response) => {
      const parts: Buffer[] = [];
      const headers = new Headers();
      for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value));
      const answered = () => resolve({ status: response.statusCode!, headers, text: Buffer.concat(parts).toString() });
      // A stream of events does not end by itself.
      if (headers.get('content-type')?.startsWith('text/event-stream')) {
        answered();
        response.destroy();
        return;
      }
      response.on('data', (part: Buffer) => void parts.push(part)).on('error', reject);
      response.on('end', answered);
    });
    request.on('error', reject).end(payload);
  });
}

/** The requests of a piece, made in portions when they are needed. */
function* attacksOf(pieceSeed: number): Generator<Attack> {
  const portion = 500;
  for (let made = 0; made < requests; made += portion)
    yield* fc.sample(anyAttack, { seed: pieceSeed + made, numRuns: portion });
}

const seeds = seedsOf('faults/attack').flatMap((seed) =>
  Array.from({ length: pieces }, (_, i) => seed + i * 1_000_000),
);
describe.each(seeds)(`${requests.toLocaleString('en')} random requests made from the contract (seed %i)`, (piece) => {
  it('get no fault of the service, and only answers that the contract describes', { timeout: 1_800_000 }, async () => {
    const statuses = new Map<number, number>();
    const wrong = new Map<string, string>();
    const waiting = attacksOf(piece);
    const lane = async () => {
      for (const next of waiting) {
        const { status, found, url, payload, text } = await send(next);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        for (const each of found)
          if (!wrong.has(each))
            wrong.set(each, `${next.method} ${url} ${payload?.slice(0, 400)} => ${text.slice(0, 400)}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
    expect([...wrong]).toEqual([]);
    // Requests of each kind arrived: some had an effect, and some were refused for each reason.
    for (const status of [200, 400, 403, 404]) expect(statuses.get(status) ?? 0).toBeGreaterThan(requests / 200);
    expect(await world.sql`select * from violations`).toEqual([]);
  });
});
