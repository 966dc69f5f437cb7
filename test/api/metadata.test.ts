import { beforeAll, describe, expect, it } from 'vitest';
import { pdf } from '../support/bodies.js';
import {
  details,
  givenIn,
  must,
  nickname,
  payoutAddressBody,
  type Reply,
  type Speaker,
  useWorld,
} from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

type Json = any;
type Map = Record<string, unknown>;

/** The error of a refused request in one form for both APIs: the graph returns 200 and the status in each error. */
const problems = ({ status, body, codes, fieldNames }: Reply) => [
  body.errors?.[0].extensions?.httpStatus ?? status,
  ...codes.map((code, i) => `${code} ${fieldNames[i]}`).sort(),
];

/** JSON with a key that an object literal would treat as its prototype. */
const parsed = (text: string): Map => JSON.parse(text);
const map = (count: number, value = 'v', prefix = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, value]));

let user: Speaker;
let platform: Speaker;
let connected: Speaker;
beforeAll(async () => {
  [user, platform] = await Promise.all([given.directUser(1), given.platform(1)]);
  connected = await platform.connectedUser();
});

/** A creation of an object with metadata, by each API that has it. `absent` sends no metadata at all. */
interface Creation {
  object: string;
  create(metadata: unknown): Promise<Reply>;
  /** The object of the response, in the format of either API. */
  made(reply: Reply): { id: string; metadata: unknown };
  path: string;
}
const absent = Symbol('no metadata');
const body = (more: object, metadata: unknown) => (metadata === absent ? more : { ...more, metadata });
const graphMade = (mutation: string, member: string) => (reply: Reply) => reply.body.data[mutation][member] as Json;

const creations: Record<string, Creation> = {
  'a partner': {
    object: 'account',
    path: '/v1/accounts',
    create: (metadata) =>
      user.post('/v1/accounts', body({ type: 'partner', nickname: nickname(), business_details: details() }, metadata)),
    made: (reply) => reply.body,
  },
  'a partner, in the graph': {
    object: 'account',
    path: '/v1/accounts',
    create: (metadata) =>
      user.graph(
        'mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id metadata } } }',
        {
          input: body(
            {
              type: 'PARTNER',
              nickname: nickname(),
              businessDetails: {
                legalName: 'Acme',
                email: 'ap@acme.example',
                type: 'COMPANY',
                physicalAddress: { country: 'IN' },
              },
            },
            metadata,
          ),
        },
      ),
    made: graphMade('createAccount', 'account'),
  },
  'a connected user': {
    object: 'account',
    path: '/v1/accounts',
    create: (metadata) =>
      platform.graph(
        'mutation ($input: CreateConnectedUserInput!) { ' +
          'createConnectedUser(input: $input) { account { id metadata } } }',
        { input: body({ nickname: nickname() }, metadata) },
      ),
    made: graphMade('createConnectedUser', 'account'),
  },
  'an address': {
    object: 'address',
    path: '/v1/addresses',
    create: (metadata) => user.post('/v1/addresses', body(payoutAddressBody(user.id), metadata)),
    made: (reply) => reply.body,
  },
  'a person': {
    object: 'person',
    path: '/v1/persons',
    create: (metadata) =>
      user.post(
        '/v1/persons',
        body(
          {
            full_name: 'Asha Rao',
            relationship: { director: true },
            identification: { tax_card_number: 'ABCDE1234F' },
          },
          metadata,
        ),
      ),
    made: (reply) => reply.body,
  },
  'a deposit': {
    object: 'deposit',
    path: '/v1/deposits',
    create: (metadata) => user.post('/v1/deposits', body({ amount: '1.00', currency: 'USD' }, metadata)),
    made: (reply) => reply.body,
  },
  'a receivable': {
    object: 'receivable',
    path: '/v1/receivables',
    create: (metadata) =>
      user.post(
        '/v1/receivables',
        body(
          {
            currency: 'USD',
            invoice: {
              amount: '1.00',
              currency: 'USD',
              creation_date: '2026-01-31',
              due_date: '2026-02-28',
              reference_number: '7',
            },
            purpose_code: 'P0802',
            transaction_type: 'goods',
          },
          metadata,
        ),
      ),
    made: (reply) => reply.body,
  },
};

/** The specification says "map or null" for all other objects, and "map" for these: no metadata is an empty map. */
const none = (object: string) => (object === 'receivable' ? {} : null);

/** The stored metadata, read again: the response of a write must not differ from what is stored. */
async function kept({ path }: Creation, { id }: { id: string }): Promise<unknown> {
  const speaker = id.startsWith('account_') && path === '/v1/accounts' ? [user, platform] : [user];
  for (const one of speaker) {
    const reply = await one.get(`${path}/${id}`);
    if (reply.status === 200) return reply.body.metadata;
  }
  throw new Error(`${id} is gone`);
}

describe.each(Object.entries(creations))('metadata of %s', (_, creation) => {
  const { object, create, made } = creation;
  const field = `${object}.metadata`;
  async function keeps(metadata: unknown, expected: unknown): Promise<void> {
    const reply = await create(metadata);
    expect(problems(reply)).toEqual([200]);
    expect(made(reply).metadata).toEqual(expected);
    expect(await kept(creation, made(reply))).toEqual(expected);
  }

  it('is null or empty when there is none, for every way to send none', async () => {
    for (const sent of [absent, null, '', {}, { a: null }, { a: '' }, { a: null, b: '' }])
      await keeps(sent, none(object));
  });

  it('stores the strings that it gets, and no key with an empty value', async () => {
    await keeps(
      { order: '42', 'with blanks': ' v ', empty: '', none: null, 名前: '値' },
      {
        order: '42',
        'with blanks': ' v ',
        名前: '値',
      },
    );
  });

  // 𝒳 is two UTF-16 units, 👩‍👩‍👧 five code points: only a count of code points accepts exactly these.
  it('accepts 10 keys of 40 and values of 500 code points', async () => {
    await keeps(map(10), map(10));
    const widest = { ['𝒳'.repeat(40)]: '𝒳'.repeat(500), ['👩‍👩‍👧'.repeat(8)]: '👩‍👩‍👧'.repeat(100) };
    await keeps(widest, widest);
    await keeps({ ...map(10), gone: '', alsoGone: null }, map(10));
  });

  it('refuses more, and names each key', async () => {
    expect(problems(await create(map(11)))).toEqual([400, `parameter_invalid ${field}`]);
    const long = '𝒳'.repeat(41);
    const reply = await create({
      [long]: 'v',
      ['k'.repeat(41)]: 'v',
      fine: 'v',
      a: '𝒳'.repeat(501),
      b: 'v'.repeat(501),
    });
    expect(problems(reply)).toEqual([
      400,
      ...[`${field}.${long}`, `${field}.${'k'.repeat(41)}`, `${field}.a`, `${field}.b`]
        .map((name) => `parameter_invalid ${name}`)
        .sort(),
    ]);
    expect(problems(await create({ [`${'k'.repeat(40)}x`]: '' }))).toEqual([
      400,
      `parameter_invalid ${field}.${'k'.repeat(40)}x`,
    ]);
  });

  it('refuses an empty key, and values that are not strings', async () => {
    expect(problems(await create({ '': 'v' }))).toEqual([400, `parameter_invalid ${field}.`]);
    const values: Map = { number: 1, zero: 0, yes: true, no: false, list: ['v'], none: [], hash: { a: 'v' }, bare: {} };
    expect(problems(await create(values))).toEqual([
      400,
      ...Object.keys(values)
        .map((key) => `parameter_invalid ${field}.${key}`)
        .sort(),
    ]);
    for (const whole of [1, true, 'text', ['v'], [], [['a', 'v']]])
      expect(problems(await create(whole))).toEqual([400, `parameter_invalid ${field}`]);
  });

  // As texts these are keys like any other; as paths or JavaScript names they have a meaning that could corrupt a
  // store.
  it('stores keys that have a meaning elsewhere, and changes nothing else', async () => {
    const hostile = parsed(
      '{"__proto__":"polluted","constructor":"c","prototype":"p","toString":"s","a.b":"dot","a[b]":"bracket",' +
        '"metadata":"m","$ref":"r","0":"zero"}',
    );
    const reply = await create(hostile);
    expect(problems(reply)).toEqual([200]);
    const entries = (value: unknown) => Object.entries(value as object).sort();
    expect(entries(made(reply).metadata)).toEqual(entries(hostile));
    expect(entries(await kept(creation, made(reply)))).toEqual(entries(hostile));
    expect(({} as Json).polluted).toBeUndefined();
    expect([Object.keys(Object.prototype), String({})]).toEqual([[], '[object Object]']);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });

  it('refuses objects under such keys, names them, and leaves every prototype unchanged', async () => {
    const reply = await create(
      parsed('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"a.b":{}}'),
    );
    expect(problems(reply)).toEqual([
      400,
      `parameter_invalid ${field}.__proto__`,
      `parameter_invalid ${field}.a.b`,
      `parameter_invalid ${field}.constructor`,
    ]);
    expect(({} as Json).polluted).toBeUndefined();
  });

  it('refuses characters that PostgreSQL cannot store', async () => {
    const reply = await create({ nul: 'a\u0000b', lone: 'a\ud800b', 'key\u0000': 'v', 'key\udfff': 'v' });
    expect(problems(reply)).toEqual([
      400,
      ...['nul', 'lone', 'key\u0000', 'key\udfff'].map((key) => `parameter_invalid ${field}.${key}`).sort(),
    ]);
  });
});

describe('metadata of a file', () => {
  const upload = (fields: Record<string, string>) => user.upload('logo', pdf, 'logo.pdf', fields);
  const fieldsOf = (metadata: Record<string, string>) =>
    Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata[${key}]`, value]));

  it('is null when there is none, and otherwise equals what was sent', async () => {
    const [none, empty, some] = await Promise.all([
      upload({}),
      upload({ 'metadata[a]': '' }),
      upload(fieldsOf({ order: '42', 'a.b': 'dot', constructor: 'c', 名前: '値' })),
    ]);
    expect([none, empty, some].map((reply) => [...problems(reply), reply.body.metadata])).toEqual([
      [200, null],
      [200, null],
      [200, { order: '42', 'a.b': 'dot', constructor: 'c', 名前: '値' }],
    ]);
    for (const { body } of [none, empty, some]) expect((await user.get(`/v1/files/${body.id}`)).body).toEqual(body);
  });

  it('stores __proto__ as a key', async () => {
    const reply = await upload({ 'metadata[__proto__]': 'polluted' });
    expect(problems(reply)).toEqual([200]);
    expect(Object.entries(reply.body.metadata)).toEqual([['__proto__', 'polluted']]);
    expect(({} as Json).polluted).toBeUndefined();
  });

  it('has the limits of all metadata', async () => {
    const widest = { ['𝒳'.repeat(40)]: '𝒳'.repeat(500) };
    const [ten, wide, eleven, longKey, longValue, noKey] = await Promise.all([
      upload(fieldsOf(map(10))),
      upload(fieldsOf(widest)),
      upload(fieldsOf(map(11))),
      upload(fieldsOf({ ['k'.repeat(41)]: 'v' })),
      upload(fieldsOf({ a: 'v'.repeat(501), b: 'v'.repeat(20_000) })),
      upload({ 'metadata[]': 'v' }),
    ]);
    expect([ten.body.metadata, wide.body.metadata]).toEqual([map(10), widest]);
    expect([eleven, longKey, longValue, noKey].map(problems)).toEqual([
      [400, 'parameter_invalid file.metadata'],
      [400, `parameter_invalid file.metadata.${'k'.repeat(41)}`],
      [400, 'parameter_invalid file.metadata.a', 'parameter_invalid file.metadata.b'],
      [400, 'parameter_invalid file.metadata.'],
    ]);
  });
});

/** An object whose metadata can be changed; `fresh` creates one with the given metadata. */
interface Change {
  object: string;
  fresh(metadata?: Map): Promise<string>;
  update(id: string, metadata: unknown): Promise<Reply>;
  made(reply: Reply): { id: string; metadata: unknown };
  read(id: string): Promise<unknown>;
}

const freshUser = async (metadata?: Map) => {
  const reply = await creations['a connected user']!.create(metadata ?? absent);
  return reply.body.data.createConnectedUser.account.id as string;
};
const freshSetting = async (metadata?: Map) => {
  const id = await freshUser();
  const setting: string = (await platform.get(`/v1/account_settings?account_id=${id}`)).body.data[0].id;
  if (metadata) await must(platform.post(`/v1/account_settings/${setting}`, { metadata }));
  return setting;
};
const freshAddress = async (metadata?: Map) => {
  const reply = await creations['an address']!.create(metadata ?? absent);
  return reply.body.id as string;
};
const freshReceivable = async (metadata?: Map) => {
  const reply = await creations['a receivable']!.create(metadata ?? absent);
  return reply.body.id as string;
};
const rest = (path: string, speaker: () => Speaker) => ({
  update: (id: string, metadata: unknown) => speaker().post(`${path}/${id}`, body({}, metadata)),
  made: (reply: Reply) => reply.body as { id: string; metadata: unknown },
  read: async (id: string) => (await speaker().get(`${path}/${id}`)).body.metadata as unknown,
});
const graph = (mutation: string, type: string, member: string, speaker: () => Speaker) => ({
  update: (id: string, metadata: unknown) =>
    speaker().graph(`mutation ($input: ${type}!) { ${mutation}(input: $input) { ${member} { id metadata } } }`, {
      input: body({ id }, metadata),
    }),
  made: graphMade(mutation, member),
  read: async (id: string) =>
    (await speaker().graph(`query ($id: ID!) { ${member}(id: $id) { metadata } }`, { id })).body.data[member]
      .metadata as unknown,
});

const changes: Record<string, Change> = {
  'an account': { object: 'account', fresh: freshUser, ...rest('/v1/accounts', () => platform) },
  'an account, by the user itself': {
    object: 'account',
    // The user itself is such an object, so metadata of earlier tests are removed.
    fresh: async (metadata) => {
      await must(connected.post(`/v1/accounts/${connected.id}`, { metadata: null }));
      if (metadata) await must(connected.post(`/v1/accounts/${connected.id}`, { metadata }));
      return connected.id;
    },
    ...rest('/v1/accounts', () => connected),
  },
  'an account, in the graph': {
    object: 'account',
    fresh: freshUser,
    ...graph('updateAccount', 'UpdateAccountInput', 'account', () => platform),
  },
  'a setting': { object: 'account_setting', fresh: freshSetting, ...rest('/v1/account_settings', () => platform) },
  'a setting, in the graph': {
    object: 'account_setting',
    fresh: freshSetting,
    ...graph('updateAccountSetting', 'UpdateAccountSettingInput', 'accountSetting', () => platform),
  },
  'an address': { object: 'address', fresh: freshAddress, ...rest('/v1/addresses', () => user) },
  'an address, in the graph': {
    object: 'address',
    fresh: freshAddress,
    ...graph('updateAddress', 'UpdateAddressInput', 'address', () => user),
  },
  'a receivable': { object: 'receivable', fresh: freshReceivable, ...rest('/v1/receivables', () => user) },
  'a receivable, in the graph': {
    object: 'receivable',
    fresh: freshReceivable,
    ...graph('updateReceivable', 'UpdateReceivableInput', 'receivable', () => user),
  },
};

describe.each(Object.entries(changes))('a change of the metadata of %s', (_, { object, fresh, update, made, read }) => {
  const field = `${object}.metadata`;

  it.each<[title: string, before: Map | undefined, sent: unknown, after: unknown]>([
    ['adds a new key', { a: '1' }, { b: '2' }, { a: '1', b: '2' }],
    ['adds a key to empty metadata', undefined, { a: '1' }, { a: '1' }],
    ['replaces the value of a known key', { a: '1', b: '2' }, { a: '3' }, { a: '3', b: '2' }],
    ['unsets a key with null', { a: '1', b: '2' }, { a: null }, { b: '2' }],
    ['unsets a key with an empty text', { a: '1', b: '2' }, { a: '' }, { b: '2' }],
    [
      'adds, replaces and unsets in one request',
      { a: '1', b: '2', c: '3' },
      { a: '', b: '4', d: '5' },
      { b: '4', c: '3', d: '5' },
    ],
    ['is null after the last key is unset', { a: '1' }, { a: '' }, null],
    ['unsets all with null', { a: '1', b: '2' }, null, null],
    ['unsets all with an empty text', { a: '1', b: '2' }, '', null],
    ['unsets nothing with an empty map', { a: '1' }, {}, { a: '1' }],
    ['unsets nothing when it is absent', { a: '1' }, absent, { a: '1' }],
    ['ignores the unset of a key that does not exist', { a: '1' }, { b: '', c: null }, { a: '1' }],
    [
      'unsets a key that means something elsewhere',
      parsed('{"__proto__":"1","a.b":"2"}'),
      parsed('{"__proto__":""}'),
      { 'a.b': '2' },
    ],
    ['changes a key that has a meaning elsewhere', { 'a.b': '1', a: '0' }, { 'a.b': '2' }, { 'a.b': '2', a: '0' }],
    ['may replace a key when there are ten', map(10), { k0: '', k10: 'v' }, { ...map(11), k0: undefined }],
  ])('%s', async (__, before, sent, after) => {
    const id = await fresh(before);

    const reply = await update(id, sent);

    const expected = after === null ? none(object) : JSON.parse(JSON.stringify(after));
    expect([...problems(reply), made(reply).metadata]).toEqual([200, expected]);
    expect(await read(id)).toEqual(expected);
  });

  it('allows ten keys in the result, and is refused completely beyond that', async () => {
    const id = await fresh(map(9));
    for (const sent of [{ x: '1', y: '2' }, { k0: 'changed', x: '1', y: '2' }, map(11, 'v', 'new')])
      expect(problems(await update(id, sent))).toEqual([400, `parameter_invalid ${field}`]);
    expect(await read(id)).toEqual(map(9));
    const swapped = await update(id, { k0: '', k1: null, x: '1', y: '2', z: '3' });
    expect(problems(swapped)).toEqual([200]);
    expect(Object.keys(made(swapped).metadata as object)).toHaveLength(10);
  });

  it('is refused completely when one key is wrong', async () => {
    const id = await fresh({ a: '1' });
    const reply = await update(id, { a: '2', b: 3, c: 'v'.repeat(501), ['k'.repeat(41)]: '', '': 'v' });
    expect(problems(reply)).toEqual([
      400,
      ...['b', 'c', 'k'.repeat(41), ''].map((key) => `parameter_invalid ${field}.${key}`).sort(),
    ]);
    expect(await read(id)).toEqual({ a: '1' });
  });

  // Read, merge and write in three steps would lose all but one of these.
  it('loses no key of ten that are sent at the same time', async () => {
    const id = await fresh();
    const replies = await Promise.all(Array.from({ length: 10 }, (__, i) => update(id, { [`k${i}`]: `v${i}` })));
    expect(replies.map(problems)).toEqual(replies.map(() => [200]));
    expect(await read(id)).toEqual(Object.fromEntries(Array.from({ length: 10 }, (__, i) => [`k${i}`, `v${i}`])));
  });

  it('never results in more than ten keys, in any order', async () => {
    const id = await fresh(map(5));
    const replies = await Promise.all(Array.from({ length: 10 }, (__, i) => update(id, { [`n${i}`]: 'v' })));
    const outcomes = replies.map((reply) => problems(reply).join(' ')).sort();
    expect(outcomes).toEqual([...Array(5).fill('200'), ...Array(5).fill(`400 parameter_invalid ${field}`)]);
    const result = (await read(id)) as Map;
    expect(Object.keys(result)).toHaveLength(10);
    expect(result).toMatchObject(map(5));
  });
});
