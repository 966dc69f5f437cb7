import { promisify } from 'node:util';
import path from 'node:path';
import os from 'node:os';
import fs from 'node:fs';
import { execFile } from 'node:child_process';
import {
  getNamedType,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  isObjectType,
  isSpecifiedScalarType,
  Kind,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { first } from '../../src/editions/first.js';
import { DomainError } from '../../src/errors/problems.js';
import { withoutBlankTexts } from '../../src/operation/blank-texts.js';
import { checkEdge } from '../../src/operation/guard.js';
import { operationOf, routes } from '../../src/resources/registry.js';
import { receivableBody } from '../support/bodies.js';
import { givenIn, must, nickname, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const schema = buildGraph();
let platform: Speaker;
let connected: Speaker;
beforeAll(async () => {
  platform = await given.platform(1);
  connected = await platform.connectedUser();
});

const isText = (type: GraphQLInputType) => ['String', 'ID'].includes(getNamedType(type).name);

describe('blank members of a list', () => {
  const ofTexts = Object.values(schema.getQueryType()!.getFields()).flatMap(({ name, args }) =>
    args
      .filter(({ type }) => type instanceof GraphQLList && isText(type))
      .map((argument) => [name, argument.name] as const),
  );

  it.each(ofTexts)('are refused in %s(%s) by the graph as by /v1', async (field, argument) => {
    const { object, editions } = operationOf(field);
    const speaker = editions && !editions.includes(1) ? await given.platform(2) : platform;
    const route = routes.find((each) => each.field === field && each.method === 'GET' && !each.path.includes(':'));
    const name = argument.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
    for (const blank of ['', '  ']) {
      const reply = await speaker.graph(
        `query ($v: [${idOrText(field, argument)}!]) { ${field}(${argument}: $v) { __typename } }`,
        {
          v: [blank],
        },
      );
      expect([reply.status, reply.codes, reply.fieldNames]).toEqual([
        200,
        ['parameter_invalid_empty'],
        [`${object}.${name}`],
      ]);
      expect(reply.body.errors[0].extensions.argumentPath).toEqual([argument, 0]);
      if (!route) continue;
      const rest = await speaker.get(`${route.path}?${name}=${encodeURIComponent(blank)}`);
      expect([rest.status, rest.codes, rest.fieldNames]).toEqual([400, reply.codes, reply.fieldNames]);
    }
  });
  const idOrText = (field: string, argument: string) =>
    getNamedType(
      schema
        .getQueryType()!
        .getFields()
        [field]!.args.find(({ name }) => name === argument)!.type,
    ).name;

  it('are refused in the lists of a write', async () => {
    const write = await platform.graph(
      'mutation { createWebhookEndpoint(input: { url: "https://a.example", eventTypes: ["*", " "] }) { __typename } }',
    );
    expect([write.codes, write.fieldNames]).toEqual([['parameter_invalid_empty'], ['webhook_endpoint.event_types[1]']]);
  });

  it('that are several are one error', async () => {
    const reply = await platform.get('/v1/events?type=,,');
    expect([reply.codes, reply.fieldNames]).toEqual([['parameter_invalid_empty'], ['event.type']]);
    const other = await platform.get('/v1/accounts?status=gone&status=gone');
    expect([other.codes, other.fieldNames]).toEqual([['parameter_invalid'], ['account.status']]);
  });
});

describe('a blank text of a write', () => {
  /** A value of an input type in which each text is blank, and what the guard makes of it. */
  const sample = (type: GraphQLInputType, seen: readonly string[] = []): [sent: unknown, cleared: unknown] => {
    if (type instanceof GraphQLNonNull) {
      const [sent, cleared] = sample(type.ofType, seen);
      return [sent, typeof sent === 'string' ? sent : cleared];
    }
    if (type instanceof GraphQLList) {
      const [sent, cleared] = sample(type.ofType, seen);
      return [[sent], [cleared]];
    }
    if (type instanceof GraphQLInputObjectType) {
      const members = (Object.values(type.getFields()) as GraphQLInputField[])
        .filter(() => !seen.includes(type.name))
        .map(({ name, type: of }) => [name, sample(of, [...seen, type.name])] as const);
      const made = (i: 0 | 1) => Object.fromEntries(members.map(([name, both]) => [name, both[i]]));
      return [made(0), made(1)];
    }
    return isText(type) ? [' ', null] : ['', ''];
  };

  it.each(Object.values(schema.getMutationType()!.getFields()).map((field) => [field.name, field] as const))(
    'is null in each nullable parameter of %s, and stays in each other one',
    (_, { args }) => {
      const [sent, cleared] = [0, 1].map((i) =>
        Object.fromEntries(args.map(({ name, type }) => [name, sample(type)[i]])),
      ) as [Record<string, unknown>, Record<string, unknown>];
      expect(withoutBlankTexts(args, sent)).toEqual(cleared);
      expect(withoutBlankTexts(args, cleared)).toBe(cleared);
    },
  );

  const receivable = (more: object = {}) =>
    receivableBody(
      { amount: '1.00', creation_date: '2026-01-02', due_date: '2026-02-02', ...more },
      { account_id: platform.id },
    );
  const person = (identification: object) => ({
    full_name: 'Asha Rao',
    relationship: { owner: true },
    account_id: connected.id,
    identification,
  });
  const hook = { url: 'https://a.example/', event_types: ['*'] };
  type Cleared = [what: string, path: string, body: (blank: string) => object, member: string];
  const cases: Cleared[] = [
    [
      'the descriptor of a deposit',
      '/v1/deposits',
      (statement_descriptor) => ({
        amount: '1.00',
        currency: 'USD',
        to: { account_id: platform.id },
        statement_descriptor,
      }),
      'statement_descriptor',
    ],
    ['the document of an invoice', '/v1/receivables', (document) => receivable({ document }), 'invoice.document'],
    [
      'the customer of a receivable',
      '/v1/receivables',
      (customer_id) => ({ ...receivable(), customer_id }),
      'customer_id',
    ],
    [
      'the description of a receivable',
      '/v1/receivables',
      (description) => ({ ...receivable(), description }),
      'description',
    ],
    [
      'the images of a person',
      '/v1/persons',
      (passport_image) => person({ tax_card_number: 'ABCDE1234F', passport_image }),
      'identification.passport_image',
    ],
    [
      'the description of a webhook endpoint',
      '/v1/webhook_endpoints',
      (description) => ({ ...hook, description }),
      'description',
    ],
    ['the query of a webhook endpoint', '/v1/webhook_endpoints', (query) => ({ ...hook, query }), 'query'],
  ];
  it.each(cases)('is none: %s', async (_, path, body, member) => {
    for (const blank of ['', '   ', '\t\n']) {
      const made = await must(platform.post(path, body(blank)));
      const value = member.split('.').reduce((at: any, name) => at?.[name], made);
      // A deposit without a descriptor has an empty one.
      expect([blank, value || null]).toEqual([blank, null]);
    }
  });

  it('clears a stored text of each operation that changes one', async () => {
    const made = await must(platform.post('/v1/receivables', { ...receivable(), description: 'x' }));
    expect((await must(platform.post(`/v1/receivables/${made.id}`, { description: ' ' }))).description).toBeNull();
    const endpoint = await must(platform.post('/v1/webhook_endpoints', { ...hook, description: 'x' }));
    const cleared = await must(platform.post(`/v1/webhook_endpoints/${endpoint.id}`, { description: ' ' }));
    expect(cleared.description).toBeNull();
    const user = await platform.connectedUser({ businessDetails: { dba: 'x', ids: { taxTrade: 'y' } } });
    const { business_details: details, nickname: name } = await must(
      platform.post(`/v1/accounts/${user.id}`, {
        nickname: ' ',
        business_details: { dba: '\n', ids: { tax_trade: ' ' } },
      }),
    );
    expect([details.dba, details.ids.tax_trade, name]).toEqual([null, null, null]);
  });

  it('has the fingerprint of the text that was sent, so that a retry from before an upgrade is the same', async () => {
    const key = nickname();
    const body = { amount: '1.00', currency: 'USD', to: { account_id: platform.id } };
    const send = (statement_descriptor: string | null) =>
      platform.post('/v1/deposits', { ...body, statement_descriptor }, { 'idempotency-key': key });
    const made = await must(send('  '));
    expect((await must(send('  '))).id).toBe(made.id);
    const other = await send(null);
    expect([other.codes, other.fieldNames]).toEqual([['idempotency_key_reused'], ['deposit.statement_descriptor']]);
  });
});

describe('null for a parameter that cannot be null', () => {
  it('is refused, and changes nothing', async () => {
    const { data } = await must(platform.get(`/v1/account_settings?account_id=${connected.id}`));
    const [setting] = data;
    const endpoint = await must(
      platform.post('/v1/webhook_endpoints', { url: 'https://a.example/', event_types: ['*'] }),
    );
    const cases: [path: string, body: object, field: string][] = [
      [`/v1/account_settings/${setting.id}`, { payouts: { enabled: null } }, 'account_setting.payouts.enabled'],
      [`/v1/account_settings/${setting.id}`, { payouts: { interval: null } }, 'account_setting.payouts.interval'],
      ...['url', 'event_types', 'scope', 'enabled'].map((name): [string, object, string] => [
        `/v1/webhook_endpoints/${endpoint.id}`,
        { [name]: null },
        `webhook_endpoint.${name}`,
      ]),
      [`/v1/webhook_endpoints/${endpoint.id}`, { url: ' ' }, 'webhook_endpoint.url'],
    ];
    for (const [path, body, field] of cases) {
      const reply = await platform.post(path, body);
      expect([field, reply.status, reply.codes, reply.fieldNames]).toEqual([
        field,
        400,
        ['parameter_invalid_empty'],
        [field],
      ]);
    }
    const graph = await platform.graph(
      'mutation ($id: ID!) { updateAccountSetting(input: { id: $id, payouts: { enabled: null } }) { __typename } }',
      { id: setting.id },
    );
    expect([graph.codes, graph.fieldNames]).toEqual([['parameter_invalid_empty'], ['account_setting.payouts.enabled']]);
    expect(await must(platform.get(`/v1/account_settings/${setting.id}`))).toEqual(setting);
    expect(await must(platform.get(`/v1/webhook_endpoints/${endpoint.id}`))).toEqual({
      ...endpoint,
      secret: undefined,
    });
  });
});

describe('an unknown argument', () => {
  const misspelt: [document: string, variables: object, place: [number, number], suggestion: RegExp][] = [
    ['{\n  accounts(frist: 1) { nodes { id } }\n}', {}, [2, 12], /frist is not a parameter .+ Did you mean "first"/],
    [
      '{\n  a: accounts(first: 1) { nodes { id } }\n  b: accounts(frist: 1) { nodes { id } }\n}',
      {},
      [3, 15],
      / Did you mean "first"/,
    ],
    [
      'mutation { activateAccount(input: { id: "x", idd: "x" }) { account { id } } }',
      {},
      [1, 46],
      /idd is not a parameter .+ Did you mean "id"\?$/,
    ],
    [
      'mutation ($i: ActivateAccountInput!) { activateAccount(input: $i) { account { id } } }',
      { i: { id: 'x', idd: 'x' } },
      [1, 11],
      / Did you mean "id"\?$/,
    ],
  ];
  it.each(misspelt)(
    'keeps its place and the suggestion: %s',
    async (document, variables, [line, column], suggestion) => {
      const reply = await platform.graph(document, variables);
      expect([reply.status, reply.codes]).toEqual([400, ['parameter_unknown']]);
      expect(reply.body.errors).toHaveLength(1);
      expect(reply.body.errors[0].locations).toEqual([{ line, column }]);
      expect(reply.body.errors[0].message).toMatch(suggestion);
    },
  );
});

describe('more wrong members of a variable than the library lists', () => {
  const wrong = { s: Array.from({ length: 60 }, () => 'GONE') };
  it.each([
    'query ($s: [AccountStatus!]) { accounts(status: $s) { nodes { id } } }',
    'query ($s: [AddressStatus!]) { accounts { nodes { addresses(status: $s) { nodes { id } } } } }',
  ])('are 400 with codes of wrong input: %s', async (query) => {
    for (let i = 0; i < 3; i++) {
      const { status, body } = await platform.graph(query, wrong);
      expect(status).toBe(400);
      const codes = new Set(body.errors.map((error: any) => error.extensions.code));
      expect(['PARAMETER_INVALID', 'BAD_USER_INPUT']).toEqual(expect.arrayContaining([...codes]));
    }
  });
});

const long = 'x'.repeat(5_001);
const tooLong = 'must have at most 5000 characters';

/** Scalars that are maps: their members have limits of their own, or those of every argument. */
const maps = ['Metadata', 'JSONObject'];

describe('a text that is longer than any text may be', () => {
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => type instanceof GraphQLScalarType && !isSpecifiedScalarType(type) && !maps.includes(type.name),
  ) as GraphQLScalarType[];
  it.each(scalars.map((type) => [type.name, type] as const))(
    'is refused by its length before a pattern of %s sees it',
    (_, type) => {
      expect(() => type.parseValue(long)).toThrow(tooLong);
      expect(() => type.parseLiteral({ kind: Kind.STRING, value: long })).toThrow(tooLong);
    },
  );

  const edges = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => type !== schema.getQueryType() && type !== schema.getMutationType())
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) => Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field] as const))
    .filter(([, { args }]) => args.length > 0);
  it.each(edges)('is refused among the arguments of %s', (_, field) => {
    for (const { name } of field.args)
      for (const text of [long, 'a\u0000b']) {
        const check = () => checkEdge(field, { [name]: text }, { caller: {} as never, edition: first });
        expect(check).toThrow(DomainError);
      }
  });

  it('is refused by its name at an edge, also where one statement answers the query', async () => {
    const user = await given.directUser(1);
    const query = 'query ($t: ID) { accounts { nodes { receivables(after: $t) { nodes { id } } } } }';
    for (let n = 0; n < 4; n++) {
      const { codes, fieldNames, text } = await user.graph(query, { t: long });
      expect([codes, fieldNames], text).toEqual([['parameter_invalid'], ['receivable.starting_after']]);
    }
  });
});

describe('the check of the regular expressions', () => {
  const check = async (file: string, text: string): Promise<string> => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-patterns-'));
    fs.writeFileSync(path.join(folder, file), text);
    const program = path.resolve(import.meta.dirname, '../tools/patterns.mjs');
    const ran = await promisify(execFile)(process.execPath, [program, folder]).then(
      () => '',
      ({ stderr }: { stderr: string }) => stderr,
    );
    fs.rmSync(folder, { recursive: true });
    return ran;
  };

  it('finds those of quadratic time, with their places', async () => {
    const texts = [
      String.raw`path.replace(/\/+$/, '');`,
      String.raw`name.replaceAll(/\[([^\]]*)\]/g, '.$1');`,
      String.raw`/^\s*(\d{1,2}\s*[/ ]\s*\d{2,4}|\d{4}-\d{1,2})\s*$/.test(text);`,
      'new RegExp("a+" + String.raw`\\.?$`);',
      'text.match("a+$");',
    ];
    const found = (await check('a.ts', `\n${texts.join('\n')}`)).trimEnd().split('\n');
    expect(found.map((line) => line.replace(/the pattern .* takes .*polynomial.*/, 'quadratic'))).toEqual(
      texts.map((_, i) => `a.ts:${i + 2}: quadratic`),
    );
  });

  it('refuses one that is put together of what is not known, and takes linear ones', async () => {
    expect(await check('a.ts', 'new RegExp(`${name}$`);')).toContain('is put together of parts that are not known');
    expect(await check('a.ts', '/^[a-z]+$/.test(text); /\\[([^[\\]]*)\\]/g;')).toBe('');
  });
});
