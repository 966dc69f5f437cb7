import http from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  buildClientSchema,
  type GraphQLOutputType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationOf, routes } from '../../src/resources/registry.js';
import { contract } from '../support/contract.js';
import { covering, scale } from '../support/scale.js';
import {
  completeDeposit,
  details,
  type Edition,
  eventually,
  givenIn,
  loggedRequest,
  nickname,
  partnerRows,
  payoutAddressBody,
  payoutAddressInput,
  type Reply,
  type Speaker,
  useWorld,
} from '../support/world.js';

const pageOrigin = 'https://app.example';
const world = useWorld({ environment: { CORS_ORIGINS: pageOrigin } });
const given = givenIn(world);

type Json = any;

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The GraphQL schema as clients see it. */
let schema: GraphQLSchema;

/** Other objects of which /v1 shows a part inside an object. */
const parts: Record<string, string> = { Checkout: 'receivables { id } effectiveTransaction { id status }' };
/** The own fields of an object: scalars and nested objects, but no other API object and no page of them. */
function selection(type: GraphQLOutputType): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).flatMap((field) => {
    const inner = getNamedType(field.type);
    if (field.args.length > 0 || isInterfaceType(inner)) return [];
    if (isUnionType(inner)) return [`${field.name} { __typename }`];
    if (!isObjectType(inner)) return [field.name];
    const linked = inner.getInterfaces().some(({ name }) => name === 'Node') || inner.name.endsWith('Connection');
    return linked ? [] : [`${field.name} ${selection(inner)}`];
  });
  return `{ ${fields.join(' ')} ${parts[named.name] ?? ''} }`;
}

/** The fields that /v1 shows under other names. */
const renamed: Record<string, Record<string, string>> = {
  Payout: { expectedArrivalAt: 'expected_arrival' },
  RequestLog: { durationMilliseconds: 'milliseconds' },
  WebhookAttempt: { startedAt: 'at', durationMilliseconds: 'milliseconds' },
  WebhookDelivery: { nextAttemptAt: 'next_attempt' },
};

/** The fields of parts of objects that /v1 does not have: its column says where a row of an import is wrong. */
const graphAlone: Record<string, string[]> = { Problem: ['path'] };

/** A GraphQL value in the format of /v1. Spec: Conventions. Decisions 6.1 and 6.3. */
function spelled(type: GraphQLOutputType, value: Json): Json {
  if (value === null || value === undefined) return value;
  const nullable = getNullableType(type);
  if (isListType(nullable)) return value.map((member: Json) => spelled(nullable.ofType, member));
  if (isObjectType(nullable)) {
    const fields = nullable.getFields();
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !graphAlone[nullable.name]?.includes(name))
        .map(([name, member]) => [renamed[nullable.name]?.[name] ?? snake(name), spelled(fields[name]!.type, member)]),
    );
  }
  if (isEnumType(nullable)) return value.toLowerCase();
  if (getNamedType(nullable).name === 'DateTime') {
    expect(value).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    return Date.parse(value) / 1000;
  }
  return value;
}

/** The fields that GraphQL adds to an object: extensions, which /v1 must not have. */
const additions: Record<string, string[]> = {
  account: ['edition', 'next_payout_at', 'owes', 'payout_blocks', 'payouts_blocked_by', 'requirements'],
  balance_transaction: ['balance_after'],
  checkout: ['completed_at', 'url', 'methods'],
  deposit: ['completed_at', 'pending_rest', 'disputed', 'method', 'method_details'],
  event: ['allocations', 'event_type', 'object_id', 'request_id'],
  payout: ['completed_at'],
  receivable: ['system_messages'],
  transaction: ['expires_at', 'method', 'method_details'],
  // /v1 has it only in the answers to the creation and to a rotation.
  webhook_endpoint: ['secret'],
};
/** Fields of parts of objects that show a value of another field with a type of its own: the two must be equal. */
const betterTyped: Record<string, string> = {
  country_code: 'country',
  email_address: 'email',
  incorporated_on: 'date_of_incorporation',
  ip_address: 'ip',
};
/** A value without the fields that repeat others of it: the better typed ones, and amounts with their currencies. */
function withoutRepetitions(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutRepetitions);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name, member]: [string, Json]) => {
    const repeated = betterTyped[name];
    if (repeated !== undefined && repeated in value) {
      expect([name, member]).toEqual([name, value[repeated]]);
      return false;
    }
    const amount = name.replace(/_money$/, '');
    if (amount === name || !(amount in value)) return true;
    const currency = amount === 'source_amount' ? value.source_currency : value.currency;
    expect([name, member]).toEqual([name, { amount: value[amount], currency }]);
    return false;
  });
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutRepetitions(member)]));
}
/** Values that are the same for every object of a kind, and so are not queried. */
const constants: Record<string, object> = { account: { parent_account_id: null, link: null } };
/** Keys that only the other edition has: null in GraphQL, and absent in /v1. Spec: Account. */
const withheld: Record<Edition, string[]> = {
  1: ['supporting_documentation.physical_address_document'],
  2: [
    'supporting_documentation.ownership_structure_document',
    'business_details.estimated_monthly_volume',
    'capability.multicurrency_exports_v1',
  ],
};
/** The prefixes of ids that differ from the name of the object. Spec: Conventions. */
const prefixes: Record<string, string> = {
  balance_transaction: 'bt',
  request_log: 'req',
  webhook_delivery: 'delivery',
  webhook_endpoint: 'webhook',
};

/** The object of /v1 that corresponds to a GraphQL node. */
function asV1(object: string, edition: Edition, type: GraphQLOutputType, node: Json): Json {
  const { object: inner, ...fields } = withoutRepetitions(spelled(type, node));
  const out = { ...fields, object, ...constants[object] };
  // Every object that can change says in the graph when it last did.
  delete out.updated_at;
  for (const name of additions[object] ?? []) {
    expect(out).toHaveProperty(name);
    delete out[name];
  }
  if (object === 'account')
    for (const path of withheld[edition]) {
      const [hash, name] = path.split('.') as [string, string];
      if (out[hash] === null) continue;
      expect([path, out[hash][name]]).toEqual([path, null]);
      delete out[hash][name];
    }
  // "A receive address also shows type."
  if (object === 'address' && out.category !== 'service_receive' && out.bank_account) {
    expect(out.bank_account.type).toBeNull();
    delete out.bank_account.type;
  }
  // "Declared as string."
  if (object === 'balance_transaction') out.created = String(out.created);
  if (object === 'event') out.data = { object: inner };
  return out;
}

const pdf = Buffer.from('%PDF-1.4\n%%EOF\n');
const done = (reply: Reply): Json => {
  if (reply.status !== 200 || reply.body.errors) throw new Error(reply.text);
  return reply.body;
};
/** A receiver of webhooks: one path accepts events, one asks to wait for an hour, and one is gone. */
const receiver = http.createServer((request, response) => {
  if (request.url === '/later') response.writeHead(503, { 'retry-after': '3600' });
  else response.writeHead(request.url === '/gone' ? 410 : 200);
  request.resume().on('end', () => response.end('noted'));
});
receiver.keepAliveTimeout = 1;
const started = new Promise<void>((resume) => receiver.listen(0, '127.0.0.1', resume));
afterAll(() => new Promise((resume) => receiver.close(resume)));

/** The endpoint of each account that gets all events, and its import. */
const endpoints = new Map<Speaker, string>();
const imports = new Map<Speaker, string>();

/** Exports with and without filters, and imports with a row that is created, one that is valid, and one with faults. */
async function inBulk(speaker: Speaker): Promise<void> {
  const { id: filtered } = done(
    await speaker.post('/v1/exports', { list: '/v1/files', format: 'jsonl', filters: 'purpose=import' }),
  );
  const { id: whole } = done(await speaker.post('/v1/exports', { list: '/v1/deposits', format: 'csv' }));
  const file = done(await speaker.upload('import', partnerRows(), 'rows.csv')).id;
  const importing = [true, false].map(async (dry) =>
    done(await speaker.post('/v1/imports', { kind: 'partners', file_id: file, dry_run: dry })),
  );
  const made = await Promise.all(importing);
  imports.set(speaker, made[1]!.id);
  const paths = [filtered, whole].map((id) => `/v1/exports/${id}`);
  for (const path of [...paths, ...made.map(({ id }) => `/v1/imports/${id}`)])
    await eventually(
      () => speaker.get(path),
      ({ body }) => body.status === 'completed',
    );
}

/** Sessions, and webhook endpoints in each state with deliveries in each state. */
async function integrated(speaker: Speaker): Promise<void> {
  await started;
  const { port } = receiver.address() as AddressInfo;
  const endpoint = async (path: string, body: object) =>
    done(await speaker.post('/v1/webhook_endpoints', { url: `http://127.0.0.1:${port}${path}`, ...body })).id;
  endpoints.set(speaker, await endpoint('/all', { event_types: ['*'], description: 'Orders & more' }));
  // These get the event of the test alone: there are no events of rates in test mode.
  for (const path of ['/later', '/gone'])
    done(await speaker.post(`/v1/webhook_endpoints/${await endpoint(path, { event_types: ['rate.set'] })}/test`));
  const stopped = await endpoint('/all', { event_types: ['deposit.completed', 'payout.*'] });
  done(await speaker.post(`/v1/webhook_endpoints/${stopped}`, { enabled: false }));
  done(await speaker.post('/v1/sessions', { role: 'operate', allowed_origins: [pageOrigin] }));
  const { id } = done(await speaker.post('/v1/sessions', { role: 'read', expires_in: 60 }));
  done(await speaker.post(`/v1/sessions/${id}/revoke`));
  await inBulk(speaker);
  await loggedRequest(speaker);
  const more = { apiKeyId: 'key_1', sessionId: id, onBehalfOf: 'account_1', codes: ['resource_missing'] };
  await loggedRequest(speaker, { api: 'graphql', operation: 'deposit', outcome: 'refused', ...more });
}

/** A platform with every kind of object of /v1, with and without optional values, in one edition. */
async function furnished(edition: Edition): Promise<Speaker> {
  const platform = await given.platform(edition);
  await integrated(platform);
  const upload = async (purpose: string, fields = {}) =>
    done(await platform.upload(purpose, pdf, 'a b.pdf', fields)).id;
  const [logo, document] = [await upload('logo', { 'metadata[a]': '1' }), await upload('identity_document')];
  const [rich, bare] = await Promise.all([
    platform.connectedUser(),
    platform.connectedUser({ nickname: null, metadata: { a: '1' } }),
  ]);
  done(
    await platform.post(`/v1/accounts/${rich.id}`, {
      nickname: nickname(),
      logo_id: logo,
      metadata: { a: '1', 'camelCase key': 'Ümläut', snake_key: '{"json":true}' },
      business_details: {
        ...details('Rich & Söhne'),
        dba: 'Rich',
        website: 'https://rich.example',
        date_of_incorporation: '2001-02-03',
        type: 'limited_liability_partnership',
        ids: { business: 'b', tax: 't', tax_deduction: 'd', tax_gst: 'g', tax_trade: 'r' },
        merchant_category_code: '5399',
        merchant_size: 'small',
        product_category: 'goods',
        product_description: 'Things',
        ...(edition === 1 && { estimated_monthly_volume: { amount: '1234567.80', currency: 'USD' } }),
      },
      supporting_documentation: {
        id_document: document,
        ...(edition === 1 ? { ownership_structure_document: document } : { physical_address_document: document }),
      },
      ...(edition === 1 && { tos_acceptance: { ip: '10.0.0.1', time: 1_700_000_000, user_agent: 'Mozilla' } }),
    }),
  );
  await Promise.all([platform.partner({ metadata: { a: '1' } }), rich.partner()]);
  for (const more of [{ metadata: { a: '1' }, supporting_documentation: { id_document: document } }, {}])
    done(await platform.post('/v1/addresses', payoutAddressBody(rich.id, more)));
  done(await bare.post('/v1/addresses', payoutAddressBody(bare.id)));
  for (const identification of [
    { tax_card_number: 'ABCDE1234F', tax_card_image: document },
    { passport_image: document, tax_card_number: '12' },
  ])
    done(
      await platform.post('/v1/persons', {
        account_id: rich.id,
        full_name: 'Asha Rao',
        relationship: { owner: true, director: identification.tax_card_number === '12' },
        identification,
        metadata: { a: '1' },
      }),
    );
  const setting = (await platform.get(`/v1/account_settings?account_id=${platform.id}`)).body.data[0].id;
  done(await platform.post(`/v1/account_settings/${setting}`, { metadata: { a: '1' }, address: { partner: false } }));
  const tenant = platform.id.replace('account_', '');
  // The objects that payments and the bank would create: one of each other kind, so that no column is null in all rows.
  const made = [
    { category: 'service_receive', type: 'bank_account', bank_account: { number: '9', last4: '9', type: 'all' } },
    { category: 'partner_payment', type: 'wallet', wallet: { provider: 'paypal_external' }, is_reusable: true },
    {
      category: 'service_checkout',
      type: 'vpa',
      vpa: { id: 'a@b', upi: { onetime: 'enabled', recurring: 'disabled' } },
      status: 'pending_deactivation',
    },
  ];
  for (const [i, row] of made.entries()) {
    const stored: Record<string, unknown> = {
      status: 'expired',
      ...row,
      tenant_id: tenant,
      livemode: false,
      id: `address_${tenant.slice(0, 31)}${i}`,
      created: 1_700_000_000 + i,
      currency: 'EUR',
      linked_id: rich.id,
      context_id: rich.id,
      on_root_list: true,
    };
    await world.sql`insert into address ${world.sql(stored as never)}`;
  }
  for (const [status, address] of [
    ['hold', 'requested'],
    ['activated', 'activated'],
    ['verifying', 'processing'],
    ['deactivated', 'deactivated'],
  ] as const) {
    const other = await platform.connectedUser();
    await world.sql`update account set status = ${status}, address = ${address} where id = ${other.id}`;
    const columns = { account_activated: status === 'activated', platform_hold: status === 'hold' };
    const weekly = { payouts_interval: 'weekly', payouts_weekly_anchor: 5 };
    const monthly = { payouts_interval: 'monthly', payouts_monthly_anchor: 31, service_hold: true };
    const changed = { ...columns, ...(status === 'hold' ? weekly : status === 'verifying' ? monthly : {}) };
    await world.sql`update account_setting set ${world.sql(changed)} where account_id = ${other.id}`;
  }
  return platform;
}

/** A direct user with money received, paid out, disputed and reversed, and some still in progress. */
async function traded(edition: Edition): Promise<Speaker> {
  const user = await given.directUser(edition);
  await integrated(user);
  const currency = edition === 1 ? 'USD' : 'INR';
  const partner = (await user.partner()).id;
  done(await user.post('/v1/addresses', payoutAddressBody(user.id)));
  const document = done(await user.upload('invoice', pdf)).id;
  const receivable = async (amount: string, more: object = {}) =>
    done(
      await user.post('/v1/receivables', {
        currency,
        invoice: {
          amount,
          currency,
          creation_date: '2026-01-31',
          due_date: '2026-12-01',
          reference_number: nickname(),
          document,
        },
        purpose_code: 'P0802',
        transaction_type: 'services',
        ...more,
      }),
    ).id as string;
  const [open, settled, withdrawn] = await Promise.all([
    receivable('100.00', { description: 'Hulls', metadata: { a: '1' }, amount_maximum_reconcilable: '90.50' }),
    receivable('30.00'),
    receivable('1.00', { transaction_type: 'goods' }),
  ]);
  done(await user.post(`/v1/receivables/${withdrawn}/void`));
  /** A deposit that a helper has moved, unless the sandbox has completed it before: then another one. */
  const deposit = async (amount: string, verb: string, body: object = {}): Promise<string> => {
    const made = await user.post('/v1/deposits', {
      amount,
      currency,
      from: { account_id: partner },
      to: { account_id: user.id },
      payment_method: edition === 1 ? 'domestic_wire' : 'upi',
      statement_descriptor: 'INV 7',
      metadata: { a: '1' },
    });
    const { id } = done(made);
    if (verb === 'complete') return (await completeDeposit(user, id)).id;
    const moved = await user.post(`/v1/test_helpers/deposits/${id}/${verb}`, body);
    return moved.codes[0] === 'status_invalid' ? deposit(amount, verb, body) : done(moved).id;
  };
  const paid = await deposit('80.00', 'complete');
  const counted = [
    { id: settled, amount: '30.00' },
    { id: open, amount: '20.00' },
  ];
  done(await user.post(`/v1/deposits/${paid}/reconcile`, { receivables: counted }));
  done(await user.post('/v1/test_helpers/clock', { advance_seconds: 40 * 24 * 3600 }));
  const payout = await eventually(
    () => user.get('/v1/payouts'),
    (reply) => reply.body.data.length > 0,
  );
  done(await user.post(`/v1/test_helpers/payouts/${payout.body.data[0].id}/settle`));
  done(await user.post(`/v1/test_helpers/deposits/${paid}/dispute`, { amount: '5.00', reason_code: 'duplicate' }));
  await deposit('7.00', 'fail', { reason_code: 'high_risk' });
  await deposit('8.00', 'complete');
  if (edition === 2) {
    const methods = [['cards'], ['upi'], ['upi', 'cards'], ['cards', 'upi'], ['cards']];
    for (const [i, verbs] of [[], ['decline'], ['decline', 'pay', 'pay'], ['expire', 'pay'], ['cancel']].entries()) {
      const made = await user.post('/v1/checkouts', {
        ...{ amount: '2.00', currency, from: { account_id: partner }, payment_methods: methods[i] },
        receivables: [{ id: open }, { id: await receivable('5.00') }].slice(i % 2),
        redirect_url: 'https://shop.example/thanks?a=1',
        ...(i > 2 && { metadata: { a: '1', 'camelCase key': 'Ümläut' } }),
      });
      for (const verb of verbs)
        done(
          await user.post(`/v1${verb === 'cancel' ? '' : '/test_helpers'}/checkouts/${done(made).id}/${verb}`, {
            ...(verb === 'decline' && { reason_code: 'insufficient_funds' }),
          }),
        );
    }
  }
  return user;
}

/**
 * Waits until nothing is in progress, so that two queries of one object return the same. Only the receiver that asks to
 * wait for an hour gets an event later.
 */
async function settled(): Promise<void> {
  const idle = (besides: string[]) =>
    eventually(
      () => world.sql`
        select (select count(*) from job where kind not in ${world.sql(besides)})::int as jobs,
               (select count(*) from event where number is null)::int as events,
               (select count(*) from webhook_delivery where status = 'pending'
               and coalesce(next_attempt, 0) < queued + 1800)::int as deliveries`,
      ([left]) => left!.jobs + left!.events + left!.deliveries === 0,
    );
  const later = ['pay_out', 'expire_checkout', 'expire_transaction'];
  await idle([...later, 'settle_payout']);
  for (const trader of [traders[1], traders[2]])
    done(await trader.post('/v1/test_helpers/clock', { advance_seconds: 60 }));
  await idle(later);
  // A use of a key is stored a moment later, and again after a minute, which would be between two queries of the key.
  const users = [platforms[1], platforms[2], traders[1], traders[2], aggregator].map(({ id }) => id);
  await eventually(
    () => world.sql`select distinct account_id from api_key
      where account_id in ${world.sql(users)} and last_used_at is not null`,
    (rows) => rows.length === users.length,
  );
  await world.sql`update api_key set last_used_at = last_used_at + 86400 where last_used_at is not null`;
}

const platforms = {} as Record<Edition, Speaker>;
const traders = {} as Record<Edition, Speaker>;
let aggregator: Speaker;
beforeAll(async () => {
  const user = await given.directUser(1);
  schema = buildClientSchema((await user.graph(getIntrospectionQuery())).body.data);
  [platforms[1], platforms[2], traders[1], traders[2], aggregator] = await Promise.all([
    furnished(1),
    furnished(2),
    traded(1),
    traded(2),
    given.platform(2, { subType: 'aggregator' }),
  ]);
  await integrated(aggregator);
  await settled();
});
const queryType = (field: string) => schema.getQueryType()!.getFields()[field]!.type;

describe('the routes of /v1', () => {
  it.each(routes)('$method $path is $field in GraphQL, a query if it reads and a mutation if it writes', (route) => {
    const type = route.method === 'GET' ? schema.getQueryType() : schema.getMutationType();
    expect(Object.keys(type!.getFields())).toContain(route.field);
  });
});

/** The argument of the graph that a list under another object's path has, and the caller's own object for it. */
const ofPath = (path: string, params: Record<string, string> | undefined, speaker: Speaker) => {
  const parents: Record<string, Map<Speaker, string>> = { endpointId: endpoints, importId: imports };
  const id = parents[params?.id ?? '']?.get(speaker) ?? speaker.id;
  return { path: path.replace(':id', id), args: params === undefined ? '' : `(${params.id}: "${id}")` };
};

describe.each([1, 2] as const)('in Edition %i', (edition) => {
  const speakers = () => [platforms[edition], traders[edition], ...(edition === 2 ? [aggregator] : [])];
  const offered = routes.filter(({ field }) => operationOf(field).editions?.includes(edition) !== false);
  const lists = offered.filter(({ answers }) => answers === 'list');
  // The purpose codes are of no account; test/api/figures.test.ts compares them.
  const objects = offered.filter(
    ({ method, answers, field }) => method === 'GET' && answers === 'object' && field !== 'purposeCodes',
  );

  /** Every id that any list mentions, by the speaker whose list it is: what it reaches, and how it came to know it. */
  let known: { speaker: Speaker; ids: string[] }[];
  beforeAll(async () => {
    known = await Promise.all(
      speakers().map(async (speaker) => {
        const ids = new Set<string>();
        for (const route of lists) {
          const { path } = ofPath(route.path, route.params, speaker);
          for (let after = ''; ; ) {
            const reply = await speaker.get(`${path}?limit=10${after}`);
            if (reply.status === 403) break;
            const { data, has_next: more } = done(reply);
            for (const [id] of JSON.stringify(data).matchAll(/\b[a-z_]+_[0-9a-f]{32}\b/g)) ids.add(id);
            for (const { id } of data) if (id.startsWith('req_')) ids.add(id);
            if (!more) break;
            after = `&starting_after=${data.at(-1).id}`;
          }
        }
        return { speaker, ids: [...ids] };
      }),
    );
  });

  // Where not everything is tried, three objects of each caller and kind.
  it.each(objects)('every object of GET $path is the same through both APIs', async ({ path, field }) => {
    const type = queryType(field);
    const object = snake(field);
    const pattern = new RegExp(`^${prefixes[object] ?? object}_[0-9a-f]{24,32}$`);
    let seen = 0;
    for (const { speaker, ids } of known) {
      // Objects without an id are queried through the accounts.
      const all = path.includes(':id')
        ? ids.filter((id) => pattern.test(id))
        : ids.filter((id) => /^account_[0-9a-f]/.test(id));
      const named = scale.all ? all : all.slice(0, 3);
      const same = async (rest: Promise<Reply>, graph: Promise<Reply>) => {
        const [answer, node] = [await rest, await graph];
        seen += 1;
        expect(done(answer)).toEqual(asV1(object, edition, type, done(node).data[field]));
      };
      await Promise.all(
        named.map((id) =>
          path.includes(':id')
            ? same(
                speaker.get(path.replace(':id', id)),
                speaker.graph(`query ($id: ID!) { ${field}(id: $id) ${selection(type)} }`, { id }),
              )
            : same(
                speaker.get(`${path}?account_id=${id}`),
                speaker.graph(`query ($id: ID!) { ${field}(accountId: $id) ${selection(type)} }`, { id }),
              ),
        ),
      );
      if (!path.includes(':id')) await same(speaker.get(path), speaker.graph(`{ ${field} ${selection(type)} }`));
    }
    expect(seen).toBeGreaterThan(0);
  });

  it.each(lists)('the list of GET $path is the same through both APIs', async (route) => {
    const { field } = route;
    const connection = getNamedType(queryType(field));
    const nodes = isObjectType(connection) ? connection.getFields().nodes!.type : undefined;
    const object = snake(getNamedType(nodes!).name).slice(1);
    const type = getNullableType(nodes!);
    const item = isListType(type) ? type.ofType : type;
    let seen = 0;
    for (const speaker of speakers()) {
      const { path, args } = ofPath(route.path, route.params, speaker);
      const [rest, graph] = await Promise.all([
        speaker.get(path),
        speaker.graph(`{ ${field}${args} { nodes ${selection(nodes!)} pageInfo { hasNextPage } } }`),
      ]);
      if (rest.status === 403) {
        expect([rest.codes, graph.codes]).toEqual([['permission_denied'], ['permission_denied']]);
        continue;
      }
      const page = done(graph).data[field];
      const data = page.nodes.map((node: Json) => asV1(object, edition, item, node));
      seen += data.length;
      expect(done(rest)).toEqual({ object: 'list', data, has_next: page.pageInfo.hasNextPage });
    }
    expect(seen).toBeGreaterThan(0);
  });
});

const resolved = ({ $ref, ...own }: Json): Json =>
  $ref === undefined
    ? own
    : $ref
        .slice(2)
        .split('/')
        .reduce((at: Json, step: string) => at[step], contract);
const paging = new Set(['limit', 'starting_after', 'ending_before']);
/** Values of parameters whose schema names none, by the last part of the name, besides those that the objects have. */
const trialValues: Record<string, unknown[]> = {
  currency: ['USD', 'INR', 'EUR'],
  order_currency: ['USD'],
  event_type: ['deposit.completed', 'webhook_endpoint.tested'],
};

/** Values for a filter: all of an enum, or those that objects of the list have, or one that fits the schema. */
function valuesOf({ name, schema: declared, 'x-edition': of }: Json, edition: Edition, items: Json[], ids: string[]) {
  const one = declared.items ?? declared;
  const last = name.split('.').at(-1) as string;
  const allowed = (of ?? declared['x-edition'])?.values?.[edition];
  if (one.enum) return (allowed ?? one.enum).filter((value: unknown) => value !== null);
  if (one.type === 'boolean') return [true, false];
  if (/(^|_)id$/.test(last)) {
    const noun = { linked: 'account', object: '', endpoint: 'webhook' }[last.replace(/_?id$/, '')] ?? last.slice(0, -3);
    return ids.filter((id) => id.startsWith(noun)).slice(0, 3);
  }
  if (name.startsWith('created.')) return [items[Math.floor(items.length / 2)]?.created ?? 0].map(Number);
  if (trialValues[last]) return trialValues[last];
  const own = [...new Set(items.map((item) => item[last]).filter((value) => typeof value === one.type))].slice(0, 3);
  if (own.length > 0) return own;
  if (one.pattern) return ['10.00', '2026-06-01'].filter((text) => new RegExp(one.pattern).test(text));
  return [one.format === 'date' ? '2026-06-01' : one.type === 'integer' ? 1 : 'a'];
}

/** The argument of the graph for a parameter of /v1, such as `{ wallet: { provider: [KLARNA] } }`. */
function argumentFor(type: GraphQLInputType, path: string[], value: unknown): Json {
  const nullable = getNullableType(type);
  const [name, ...rest] = path;
  if (name !== undefined && isInputObjectType(nullable))
    return { [name]: argumentFor(nullable.getFields()[name]!.type, rest, value) };
  if (isListType(nullable)) return [argumentFor(nullable.ofType, [], value)];
  if (isEnumType(nullable)) return String(value).toUpperCase();
  if (getNamedType(nullable).name === 'DateTime') return new Date(Number(value) * 1000).toISOString();
  return value;
}

/** Every filter of every list, by its name on /v1, without those that only the other edition has. */
const filtersIn = (edition: Edition) =>
  routes
    .filter(({ answers, field }) => answers === 'list' && operationOf(field).editions?.includes(edition) !== false)
    .flatMap((route) =>
      contract.paths[route.path.replaceAll(/:(\w+)/g, '{$1}')].get.parameters
        .map(resolved)
        .filter((each: Json) => each.in === 'query' && !paging.has(each.name))
        .filter((each: Json) => (each['x-edition']?.only ?? edition) === edition)
        .map((parameter: Json) => ({ ...route, name: parameter.name as string, parameter })),
    );

const filtersOf = covering(
  ([1, 2] as const).flatMap((edition) => filtersIn(edition).map((row) => ({ edition, ...row }))),
  ({ edition, path, name }) => [edition, `${path} ${name}`],
  1,
);

describe.each([1, 2] as const)('a filter in Edition %i', (edition) => {
  const speakers = () => [platforms[edition], traders[edition]];
  /** The first objects of each list, and the ids in them and in the list of events, by speaker and path. */
  const samples = new Map<Speaker, Map<string, { items: Json[]; ids: string[] }>>();
  beforeAll(async () => {
    for (const speaker of speakers()) {
      const known = (await speaker.get('/v1/events')).text;
      const lists = new Map<string, { items: Json[]; ids: string[] }>();
      samples.set(speaker, lists);
      for (const { path: pattern, params } of filtersIn(edition)) {
        if (lists.has(pattern)) continue;
        const reply = await speaker.get(ofPath(pattern, params, speaker).path);
        const text = reply.text + known + JSON.stringify(speaker.id);
        lists.set(pattern, {
          items: reply.status === 200 ? reply.body.data : [],
          ids: [...new Set([...text.matchAll(/\b[a-z_]+_[0-9a-f]{32}\b/g)].map(([id]) => id))],
        });
      }
    }
  });

  // Where not everything is tried, a filter that both editions have is tried in one.
  it.each(filtersOf.filter((row) => row.edition === edition))(
    '$name of GET $path finds the same objects through both APIs',
    async (filter) => {
      const { field, name, parameter, params } = filter;
      const own = schema.getQueryType()!.getFields()[field]!;
      const [head = '', ...rest] = name.split('.').map(camel);
      const argument = own.args.find((each) => each.name === head)!;
      let compared = 0;
      for (const speaker of speakers()) {
        const { items, ids } = samples.get(speaker)!.get(filter.path)!;
        const { path, args } = ofPath(filter.path, params, speaker);
        for (const value of valuesOf(parameter, edition, items, ids)) {
          const [rested, graph] = await Promise.all([
            speaker.get(`${path}?${name}=${encodeURIComponent(String(value))}`),
            speaker.graph(
              `query ($value: ${argument.type}) { ${field}(${args.slice(1, -1)} ${head}: $value) { nodes { id ` +
                '} pageInfo { hasNextPage } } }',
              { value: argumentFor(argument.type, rest, value) },
            ),
          ]);
          compared += 1;
          if (rested.status !== 200) {
            expect([value, graph.codes]).toEqual([value, rested.codes]);
            continue;
          }
          const { nodes, pageInfo } = done(graph).data[field];
          const shown = [nodes.map(({ id }: Json) => id), pageInfo.hasNextPage];
          expect([value, ...shown]).toEqual([value, rested.body.data.map(({ id }: Json) => id), rested.body.has_next]);
        }
      }
      expect(compared).toBeGreaterThan(0);
    },
  );
});

/** The same write through both APIs creates the same object, except for unique values. */
describe('a write', () => {
  const own = ({ id: _, created: __, nickname: ___, account_id: ____, linked_id: _____, ...rest }: Json) => rest;
  type Twin = [operation: string, path: (id: string) => string, type: string, body: object, input: object];
  const twins: Twin[] = [
    [
      'createAccount',
      () => '/v1/accounts',
      'CreateAccountInput',
      {
        type: 'partner',
        nickname: '',
        business_details: { ...details(), tax_gst: 'g', estimated_monthly_volume: { amount: '5', currency: 'JPY' } },
        metadata: { a: '1', b: '' },
      },
      {
        type: 'PARTNER',
        nickname: '',
        businessDetails: {
          legalName: 'Acme Exports',
          email: 'ap@acme.example',
          type: 'COMPANY',
          physicalAddress: { line1: '1 Wharf', city: 'Pune', state: 'MH', postalCode: '411001', country: 'IN' },
          taxGst: 'g',
          estimatedMonthlyVolume: { amount: '5', currency: 'JPY' },
        },
        metadata: { a: '1', b: '' },
      },
    ],
    [
      'updateAccount',
      (id) => `/v1/accounts/${id}`,
      'UpdateAccountInput',
      {
        business_details: { dba: 'x', website: '', ids: { tax_gst: 'g' }, physical_address: { city: 'Pune' } },
        tos_acceptance: { ip: '::1', time: 1_700_000_000 },
        metadata: { a: '2' },
      },
      {
        businessDetails: { dba: 'x', website: '', ids: { taxGst: 'g' }, physicalAddress: { city: 'Pune' } },
        tosAcceptance: { ip: '::1', time: '2023-11-14T22:13:20Z' },
        metadata: { a: '2' },
      },
    ],
    [
      'updateAccountSetting',
      (id) => `/v1/account_settings/${id}`,
      'UpdateAccountSettingInput',
      { payouts: { enabled: false, interval: 'monthly', monthly_anchor: 31 }, metadata: { a: '2' } },
      { payouts: { enabled: false, interval: 'MONTHLY', monthlyAnchor: 31 }, metadata: { a: '2' } },
    ],
    [
      'createAddress',
      () => '/v1/addresses',
      'CreateAddressInput',
      payoutAddressBody('', { metadata: { a: '1' } }),
      payoutAddressInput('', { metadata: { a: '1' } }),
    ],
    [
      'createPerson',
      () => '/v1/persons',
      'CreatePersonInput',
      {
        full_name: 'Asha Rao',
        relationship: { owner: true, representative: true },
        identification: { tax_card_number: 'ABCDE1234F' },
        metadata: { a: '1' },
      },
      {
        fullName: 'Asha Rao',
        relationship: { owner: true, representative: true },
        identification: { taxCardNumber: 'ABCDE1234F' },
        metadata: { a: '1' },
      },
    ],
  ];
  it.each(twins)(
    '%s creates the same object from the same input through both APIs',
    async (operation, path, type, body, input) => {
      const platform = platforms[1];
      const member = camel(snake(operation.replace(/^(create|update)/, '')).slice(1));
      const subjects = await Promise.all([platform.connectedUser(), platform.connectedUser()]);
      const names = [nickname(), nickname()];
      const ids = await Promise.all(
        subjects.map(async ({ id }) =>
          member === 'accountSetting'
            ? (await platform.get(`/v1/account_settings?account_id=${id}`)).body.data[0].id
            : id,
        ),
      );
      const named = 'nickname' in body;
      const rest = await platform.post(path(ids[0]), {
        ...body,
        ...(named && { nickname: names[0] }),
        ...('linked_id' in body && { linked_id: ids[0] }),
        ...(member === 'person' && { account_id: ids[0] }),
      });
      const graph = await platform.graph(
        `mutation ($input: ${type}!) { ${operation}(input: $input) { ${member} ${selection(queryType(member))} } }`,
        {
          input: {
            ...input,
            ...(operation.startsWith('update') && { id: ids[1] }),
            ...(named && { nickname: names[1] }),
            ...(member === 'address' && { linkedId: ids[1] }),
            ...(member === 'person' && { accountId: ids[1] }),
          },
        },
      );
      const node = asV1(snake(member), 1, queryType(member), done(graph).data[operation][member]);
      expect(own(done(rest))).toEqual(own(node));
    },
  );
});

/** The fixtures for the table of domain errors below. */
interface Cast {
  user: Speaker;
  second: Speaker;
  platform: Speaker;
  connected: Speaker;
  reader: Speaker;
  live: Speaker;
  partner: string;
  taken: string;
  setting: string;
  secondSetting: string;
  logo: string;
}
let cast: Cast;

/** An expected problem: its code and field name, and its path in the GraphQL client's arguments. */
type Expected = [problem: string, argumentPath?: (string | number)[]];

interface Refused {
  title: string;
  speaker?: (c: Cast) => Speaker;
  status: number;
  /** The request of /v1. A body makes it a POST. */
  path: (c: Cast) => string;
  body?: (c: Cast) => unknown;
  /** The same in GraphQL: the root field and its `input`, or its other arguments as literals. */
  field: string;
  input?: (c: Cast) => unknown;
  args?: (c: Cast) => string;
  problems: Expected[];
}

const acme = {
  legalName: 'Acme Exports',
  email: 'ap@acme.example',
  type: 'COMPANY',
  physicalAddress: { country: 'IN' },
};
const acmeV1 = {
  legal_name: 'Acme Exports',
  email: 'ap@acme.example',
  type: 'company',
  physical_address: { country: 'IN' },
};
/** A creation of a partner with the wrong values of `more`; `nickname` and the rest are right. */
const creating = (title: string, more: object, moreGraph: object, ...problems: Expected[]): Refused => ({
  title,
  status: 400,
  path: () => '/v1/accounts',
  body: () => ({ type: 'partner', nickname: 'fine', business_details: acmeV1, ...more }),
  field: 'createAccount',
  input: () => ({ type: 'PARTNER', nickname: 'fine', businessDetails: acme, ...moreGraph }),
  problems,
});
const at = (...path: (string | number)[]) => ['input', ...path];

const refusals: Refused[] = [
  {
    ...creating('everything that is missing', {}, {}),
    body: () => ({}),
    input: () => ({}),
    problems: [
      ['parameter_missing account.type', at('type')],
      ['parameter_missing account.business_details', at('businessDetails')],
      ['parameter_missing account.nickname', at('nickname')],
    ],
  },
  creating(
    'what is empty',
    { nickname: '', business_details: { ...acmeV1, legal_name: '', email: null } },
    { nickname: '', businessDetails: { ...acme, legalName: '', email: null } },
    ['parameter_invalid_empty account.nickname', at('nickname')],
    ['parameter_invalid_empty account.business_details.legal_name', at('businessDetails', 'legalName')],
    ['parameter_invalid_empty account.business_details.email', at('businessDetails', 'email')],
  ),
  creating('an empty hash that is required', { business_details: {} }, { businessDetails: {} }, [
    'parameter_invalid_empty account.business_details',
    at('businessDetails'),
  ]),
  creating(
    'wrong types',
    { nickname: 5, business_details: { ...acmeV1, legal_name: true, physical_address: 'Pune' } },
    { nickname: 5, businessDetails: { ...acme, legalName: true, physicalAddress: 'Pune' } },
    ['parameter_invalid account.nickname', at('nickname')],
    ['parameter_invalid account.business_details.legal_name', at('businessDetails', 'legalName')],
    ['parameter_invalid account.business_details.physical_address', at('businessDetails', 'physicalAddress')],
  ),
  creating(
    'a wrong type, and what the edition requires besides',
    { nickname: undefined, business_details: { ...acmeV1, legal_name: 5, email: undefined } },
    { nickname: undefined, businessDetails: { ...acme, legalName: 5, email: undefined } },
    ['parameter_invalid account.business_details.legal_name', at('businessDetails', 'legalName')],
    ['parameter_missing account.nickname', at('nickname')],
    ['parameter_missing account.business_details.email', at('businessDetails', 'email')],
  ),
  creating(
    'values of no enum',
    { type: 'giant', business_details: { ...acmeV1, type: 'guild' } },
    { type: 'GIANT', businessDetails: { ...acme, type: 'GUILD' } },
    ['parameter_invalid account.type', at('type')],
    ['parameter_invalid account.business_details.type', at('businessDetails', 'type')],
  ),
  creating(
    'unknown parameters',
    { some_colour: 'red', business_details: { ...acmeV1, some_size: 1 } },
    { someColour: 'red', businessDetails: { ...acme, someSize: 1 } },
    ['parameter_unknown account.some_colour', at('someColour')],
    ['parameter_unknown account.business_details.some_size', at('businessDetails', 'someSize')],
  ),
  creating(
    'scalars with rules of their own',
    {
      business_details: {
        ...acmeV1,
        email: 'nobody',
        physical_address: { country: 'INDIA' },
        estimated_monthly_volume: { amount: 10, currency: 'usd' },
      },
    },
    {
      businessDetails: {
        ...acme,
        email: 'nobody',
        physicalAddress: { country: 'INDIA' },
        estimatedMonthlyVolume: { amount: 10, currency: 'usd' },
      },
    },
    ['parameter_invalid account.business_details.email', at('businessDetails', 'email')],
    [
      'parameter_invalid account.business_details.physical_address.country',
      at('businessDetails', 'physicalAddress', 'country'),
    ],
    [
      'parameter_invalid account.business_details.estimated_monthly_volume.amount',
      at('businessDetails', 'estimatedMonthlyVolume', 'amount'),
    ],
    [
      'parameter_invalid account.business_details.estimated_monthly_volume.currency',
      at('businessDetails', 'estimatedMonthlyVolume', 'currency'),
    ],
  ),
  creating(
    'cents of a currency that has none',
    { business_details: { ...acmeV1, estimated_monthly_volume: { amount: '1.50', currency: 'JPY' } } },
    { businessDetails: { ...acme, estimatedMonthlyVolume: { amount: '1.50', currency: 'JPY' } } },
    [
      'parameter_invalid account.business_details.estimated_monthly_volume.amount',
      at('businessDetails', 'estimatedMonthlyVolume', 'amount'),
    ],
  ),
  creating(
    'metadata, by keys that are spelled as they are',
    { metadata: { fine: 'v', aNumber: 1, 'a.list': [], snake_key: {} } },
    { metadata: { fine: 'v', aNumber: 1, 'a.list': [], snake_key: {} } },
    ['parameter_invalid account.metadata.aNumber', at('metadata', 'aNumber')],
    ['parameter_invalid account.metadata.a.list', at('metadata', 'a.list')],
    ['parameter_invalid account.metadata.snake_key', at('metadata', 'snake_key')],
  ),
  creating(
    'too much metadata',
    { metadata: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v'])) },
    { metadata: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, 'v'])) },
    ['parameter_invalid account.metadata', at('metadata')],
  ),
  creating(
    'text that no store can hold',
    { nickname: 'a\u0000b', metadata: { k: 'a\u0000b' } },
    { nickname: 'a\u0000b', metadata: { k: 'a\u0000b' } },
    ['parameter_invalid account.nickname', at('nickname')],
    ['parameter_invalid account.metadata.k', at('metadata', 'k')],
  ),
  creating('another type than partner', { type: 'user' }, { type: 'USER' }, [
    'parameter_invalid account.type',
    at('type'),
  ]),
  {
    ...creating('a nickname that is taken', {}, {}),
    status: 409,
    body: (c) => ({ type: 'partner', nickname: c.taken, business_details: acmeV1 }),
    input: (c) => ({ type: 'PARTNER', nickname: c.taken, businessDetails: acme }),
    problems: [['nickname_taken account.nickname', at('nickname')]],
  },
  {
    title: 'an update of an account outside the visibility',
    status: 404,
    path: () => '/v1/accounts/account_0',
    body: () => ({ nickname: 'x' }),
    field: 'updateAccount',
    input: () => ({ id: 'account_0', nickname: 'x' }),
    problems: [['resource_missing account.id', at('id')]],
  },
  {
    title: 'an update of an account that cannot be updated',
    status: 400,
    path: (c) => `/v1/accounts/${c.partner}`,
    body: () => ({ nickname: 'x' }),
    field: 'updateAccount',
    input: (c) => ({ id: c.partner, nickname: 'x' }),
    // The status is not a parameter, so the error points to no input.
    problems: [['account_not_updatable account.status']],
  },
  {
    title: 'files that do not exist',
    speaker: (c) => c.platform,
    status: 404,
    path: (c) => `/v1/accounts/${c.connected.id}`,
    body: () => ({ logo_id: 'file_0', supporting_documentation: { id_document: 'file_1' } }),
    field: 'updateAccount',
    input: (c) => ({ id: c.connected.id, logoId: 'file_0', supportingDocumentation: { idDocument: 'file_1' } }),
    problems: [
      ['resource_missing account.logo_id', at('logoId')],
      ['resource_missing account.supporting_documentation.id_document', at('supportingDocumentation', 'idDocument')],
    ],
  },
  {
    title: 'a file of another purpose',
    speaker: (c) => c.platform,
    status: 400,
    path: (c) => `/v1/accounts/${c.connected.id}`,
    body: (c) => ({ supporting_documentation: { id_document: c.logo } }),
    field: 'updateAccount',
    input: (c) => ({ id: c.connected.id, supportingDocumentation: { idDocument: c.logo } }),
    problems: [
      ['parameter_invalid account.supporting_documentation.id_document', at('supportingDocumentation', 'idDocument')],
    ],
  },
  {
    title: 'two GST ids',
    speaker: (c) => c.platform,
    status: 400,
    path: (c) => `/v1/accounts/${c.connected.id}`,
    body: () => ({ business_details: { tax_gst: 'a', ids: { tax_gst: 'b' } } }),
    field: 'updateAccount',
    input: (c) => ({ id: c.connected.id, businessDetails: { taxGst: 'a', ids: { taxGst: 'b' } } }),
    problems: [['parameter_invalid account.business_details.tax_gst', at('businessDetails', 'taxGst')]],
  },
  {
    title: 'an activation by the account itself',
    speaker: (c) => c.connected,
    status: 403,
    path: (c) => `/v1/accounts/${c.connected.id}/activate`,
    body: () => ({}),
    field: 'activateAccount',
    input: (c) => ({ id: c.connected.id }),
    problems: [['permission_denied account.id', at('id')]],
  },
  {
    title: 'an activation with unmet prerequisites, which are not its parameters',
    speaker: (c) => c.platform,
    status: 400,
    path: (c) => `/v1/accounts/${c.connected.id}/activate`,
    body: () => ({}),
    field: 'activateAccount',
    input: (c) => ({ id: c.connected.id }),
    problems: [
      ['account_requirements_missing account.addresses.user_payout'],
      ['account_requirements_missing account.business_details.ids.business'],
      ['account_requirements_missing account.persons.director'],
      ['account_requirements_missing account.persons.owner'],
      ['account_requirements_missing account.persons.representative'],
    ],
  },
  {
    title: 'a deactivation of an account that is not a partner',
    status: 400,
    path: (c) => `/v1/accounts/${c.user.id}/deactivate`,
    body: () => ({}),
    field: 'deactivateAccount',
    input: (c) => ({ id: c.user.id }),
    problems: [['account_type_invalid account.type']],
  },
  {
    title: 'an address with most parameters missing',
    status: 400,
    path: () => '/v1/addresses',
    body: () => ({
      category: 'user_payout',
      currency: 'USD',
      bank_account: { number: '', iban: 'DE89370400440532013000' },
    }),
    field: 'createAddress',
    input: () => ({
      category: 'USER_PAYOUT',
      currency: 'USD',
      bankAccount: { number: '', iban: 'DE89370400440532013000' },
    }),
    problems: [
      ['parameter_missing address.type', at('type')],
      ['parameter_missing address.linked_id', at('linkedId')],
      ['parameter_missing address.linked_object', at('linkedObject')],
      ['parameter_missing address.name', at('name')],
      ['parameter_missing address.billing_details', at('billingDetails')],
      ['parameter_invalid_empty address.bank_account.number', at('bankAccount', 'number')],
      ['parameter_missing address.bank_account.domestic_credit', at('bankAccount', 'domesticCredit')],
      ['parameter_invalid address.currency', at('currency')],
    ],
  },
  {
    title: 'an address of another category and type',
    status: 400,
    path: () => '/v1/addresses',
    body: (c) => payoutAddressBody(c.user.id, { category: 'service_receive', type: 'wallet' }),
    field: 'createAddress',
    input: (c) => ({ ...payoutAddressInput(c.user.id), category: 'SERVICE_RECEIVE', type: 'WALLET' }),
    problems: [
      ['parameter_invalid address.category', at('category')],
      ['parameter_invalid address.type', at('type')],
    ],
  },
  {
    title: 'an address of an account outside the visibility',
    status: 404,
    path: () => '/v1/addresses',
    body: () => payoutAddressBody('account_0'),
    field: 'createAddress',
    input: () => payoutAddressInput('account_0'),
    problems: [['resource_missing address.linked_id', at('linkedId')]],
  },
  {
    title: 'currencies of a setting, each with its index',
    status: 400,
    path: (c) => `/v1/account_settings/${c.setting}`,
    body: () => ({ address_currency: { partner: ['USD', 'usd', 5] } }),
    field: 'updateAccountSetting',
    input: (c) => ({ id: c.setting, addressCurrency: { partner: ['USD', 'usd', 5] } }),
    problems: [
      ['parameter_invalid account_setting.address_currency.partner[1]', at('addressCurrency', 'partner', 1)],
      ['parameter_invalid account_setting.address_currency.partner[2]', at('addressCurrency', 'partner', 2)],
    ],
  },
  {
    title: 'payouts.enabled of a direct user',
    status: 403,
    path: (c) => `/v1/account_settings/${c.setting}`,
    body: () => ({ payouts: { enabled: true } }),
    field: 'updateAccountSetting',
    input: (c) => ({ id: c.setting, payouts: { enabled: true } }),
    problems: [['permission_denied account_setting.payouts.enabled', at('payouts', 'enabled')]],
  },
  {
    title: 'an invalid day of the week, and a switch that does not apply',
    status: 400,
    path: (c) => `/v1/account_settings/${c.setting}`,
    body: () => ({ payouts: { weekly_anchor: 9 } }),
    field: 'updateAccountSetting',
    input: (c) => ({ id: c.setting, payouts: { weeklyAnchor: 9 } }),
    problems: [['parameter_invalid account_setting.payouts.weekly_anchor', at('payouts', 'weeklyAnchor')]],
  },
  {
    title: 'payouts in Edition 2',
    speaker: (c) => c.second,
    status: 400,
    path: (c) => `/v1/account_settings/${c.secondSetting}`,
    body: () => ({ payouts: { interval: 'daily' } }),
    field: 'updateAccountSetting',
    input: (c) => ({ id: c.secondSetting, payouts: { interval: 'DAILY' } }),
    problems: [['parameter_unknown account_setting.payouts', at('payouts')]],
  },
  {
    title: 'a filter of the other edition',
    speaker: (c) => c.second,
    status: 400,
    path: () => '/v1/accounts?capability.multicurrency_exports_v1=pending',
    field: 'accounts',
    args: () => 'capability: { multicurrencyExportsV1: PENDING }',
    problems: [
      ['parameter_unknown account.capability.multicurrency_exports_v1', ['capability', 'multicurrencyExportsV1']],
    ],
  },
  {
    // The identification of a person depends on the account, which is read only if the input is valid by itself.
    title: 'a person without a role and without an identification',
    status: 400,
    path: () => '/v1/persons',
    body: () => ({ full_name: 'Asha Rao', relationship: { owner: false } }),
    field: 'createPerson',
    input: () => ({ fullName: 'Asha Rao', relationship: { owner: false } }),
    problems: [['parameter_invalid person.relationship', at('relationship')]],
  },
  {
    title: 'a person without an identification',
    status: 400,
    path: () => '/v1/persons',
    body: () => ({ full_name: 'Asha Rao', relationship: { owner: true } }),
    field: 'createPerson',
    input: () => ({ fullName: 'Asha Rao', relationship: { owner: true } }),
    problems: [['parameter_missing person.identification.tax_card_number', at('identification', 'taxCardNumber')]],
  },
  {
    title: 'a deposit with a number as its amount, in an unsupported currency',
    status: 400,
    path: () => '/v1/deposits',
    body: () => ({ amount: 10, currency: 'EUR' }),
    field: 'createDeposit',
    input: () => ({ amount: 10, currency: 'EUR' }),
    problems: [
      ['parameter_invalid deposit.amount', at('amount')],
      ['parameter_invalid deposit.currency', at('currency')],
    ],
  },
  {
    title: 'a deposit without the parameters that Edition 2 requires',
    speaker: (c) => c.second,
    status: 400,
    path: () => '/v1/deposits',
    body: () => ({ amount: '1.00', currency: 'INR' }),
    field: 'createDeposit',
    input: () => ({ amount: '1.00', currency: 'INR' }),
    problems: [
      ['parameter_missing deposit.to', at('to')],
      ['parameter_missing deposit.payment_method', at('paymentMethod')],
    ],
  },
  {
    title: 'a deposit to an account outside the visibility',
    status: 404,
    path: () => '/v1/deposits',
    body: () => ({ amount: '1.00', currency: 'USD', to: { account_id: 'account_0' } }),
    field: 'createDeposit',
    input: () => ({ amount: '1.00', currency: 'USD', to: { accountId: 'account_0' } }),
    problems: [['resource_missing deposit.to.account_id', at('to', 'accountId')]],
  },
  {
    title: 'a deposit to an account without a usable address',
    status: 402,
    path: () => '/v1/deposits',
    body: (c) => ({ amount: '1.00', currency: 'USD', to: { account_id: c.partner } }),
    field: 'createDeposit',
    input: (c) => ({ amount: '1.00', currency: 'USD', to: { accountId: c.partner } }),
    problems: [['address_unusable deposit.to.account_id', at('to', 'accountId')]],
  },
  {
    title: 'a deposit with a live key, for any input',
    speaker: (c) => c.live,
    status: 403,
    path: () => '/v1/deposits',
    body: () => ({ amount: 10 }),
    field: 'createDeposit',
    input: () => ({ amount: 10 }),
    problems: [['permission_denied undefined']],
  },
  {
    title: 'a reconciliation without receivables',
    status: 400,
    path: () => '/v1/deposits/deposit_0/reconcile',
    body: () => ({ receivables: [] }),
    field: 'reconcileDeposit',
    input: () => ({ id: 'deposit_0', receivables: [] }),
    problems: [['parameter_invalid_empty deposit.receivables', at('receivables')]],
  },
  {
    title: 'a reconciliation with faults in its list, each with its index',
    status: 400,
    path: () => '/v1/deposits/deposit_0/reconcile',
    body: () => ({ receivables: [{ amount: 5 }, { id: 'receivable_0', amount: '1.00' }, { id: '', some_size: 1 }] }),
    field: 'reconcileDeposit',
    input: () => ({
      id: 'deposit_0',
      receivables: [{ amount: 5 }, { id: 'receivable_0', amount: '1.00' }, { id: '', someSize: 1 }],
    }),
    problems: [
      ['parameter_missing deposit.receivables[0].id', at('receivables', 0, 'id')],
      ['parameter_invalid deposit.receivables[0].amount', at('receivables', 0, 'amount')],
      ['parameter_unknown deposit.receivables[2].some_size', at('receivables', 2, 'someSize')],
      ['parameter_invalid_empty deposit.receivables[2].id', at('receivables', 2, 'id')],
      ['parameter_missing deposit.receivables[2].amount', at('receivables', 2, 'amount')],
    ],
  },
  {
    title: 'a receivable with every required parameter missing',
    status: 400,
    path: () => '/v1/receivables',
    body: () => ({ invoice: { amount: '1.00', currency: 'USD' } }),
    field: 'createReceivable',
    input: () => ({ invoice: { amount: '1.00', currency: 'USD' } }),
    problems: [
      ['parameter_missing receivable.currency', at('currency')],
      ['parameter_missing receivable.invoice.creation_date', at('invoice', 'creationDate')],
      ['parameter_missing receivable.invoice.due_date', at('invoice', 'dueDate')],
      ['parameter_missing receivable.invoice.reference_number', at('invoice', 'referenceNumber')],
      ['parameter_missing receivable.purpose_code', at('purposeCode')],
      ['parameter_missing receivable.transaction_type', at('transactionType')],
    ],
  },
  {
    title: 'a receivable with contradictory parameters',
    status: 400,
    path: () => '/v1/receivables',
    body: () => ({
      currency: 'USD',
      invoice: {
        amount: '1.50',
        currency: 'JPY',
        creation_date: '2026-01-31',
        due_date: '2026-02-28',
        reference_number: '1',
      },
      purpose_code: 'P9999',
      transaction_type: 'goods',
      amount_maximum_reconcilable: '0.00',
    }),
    field: 'createReceivable',
    input: () => ({
      currency: 'USD',
      invoice: {
        amount: '1.50',
        currency: 'JPY',
        creationDate: '2026-01-31',
        dueDate: '2026-02-28',
        referenceNumber: '1',
      },
      purposeCode: 'P9999',
      transactionType: 'GOODS',
      amountMaximumReconcilable: '0.00',
    }),
    problems: [
      ['parameter_invalid receivable.invoice.amount', at('invoice', 'amount')],
      ['parameter_invalid receivable.amount_maximum_reconcilable', at('amountMaximumReconcilable')],
      ['parameter_invalid receivable.currency', at('currency')],
      ['parameter_invalid receivable.purpose_code', at('purposeCode')],
    ],
  },
  {
    title: 'a clock that is advanced by zero',
    status: 400,
    path: () => '/v1/test_helpers/clock',
    body: () => ({ advance_seconds: 0 }),
    field: 'advanceTestClock',
    input: () => ({ advanceSeconds: 0 }),
    problems: [['parameter_invalid clock.advance_seconds', at('advanceSeconds')]],
  },
  {
    title: 'an account outside the visibility',
    status: 404,
    path: () => '/v1/accounts/account_0',
    field: 'account',
    args: () => 'id: "account_0"',
    problems: [['resource_missing account.id', ['id']]],
  },
  {
    title: 'two cursors together',
    status: 400,
    path: (c) => `/v1/accounts?starting_after=${c.partner}&ending_before=${c.partner}`,
    field: 'accounts',
    args: (c) => `after: "${c.partner}", before: "${c.partner}"`,
    problems: [['parameter_invalid account.ending_before', ['before']]],
  },
  {
    title: 'a cursor with an unknown id',
    status: 400,
    path: () => '/v1/accounts?starting_after=account_0',
    field: 'accounts',
    args: () => 'after: "account_0"',
    problems: [['parameter_invalid account.starting_after', ['after']]],
  },
  {
    title: 'a cursor that is not a text',
    status: 400,
    path: () => '/v1/accounts?ending_before=%00',
    field: 'accounts',
    args: () => 'before: "\\u0000"',
    problems: [['parameter_invalid account.ending_before', ['before']]],
  },
  {
    title: 'an unknown filter, together with an invalid value of another one',
    status: 400,
    path: () => '/v1/accounts?some_colour=red&status=draft,gone',
    field: 'accounts',
    args: () => 'someColour: "red", status: [DRAFT, GONE]',
    problems: [
      ['parameter_unknown account.some_colour', ['someColour']],
      ['parameter_invalid account.status', ['status', 1]],
    ],
  },
  {
    title: 'a write with a key of permission read, for any input',
    speaker: (c) => c.reader,
    status: 403,
    path: () => '/v1/accounts',
    body: () => ({ type: 5 }),
    field: 'createAccount',
    input: () => ({ type: 5 }),
    problems: [['permission_denied undefined']],
  },
  {
    title: 'a list that only platforms have',
    status: 403,
    path: () => '/v1/account_settings/connected',
    field: 'connectedAccountSettings',
    args: () => '',
    problems: [['permission_denied undefined']],
  },
  {
    title: 'acting for another account without being a platform',
    speaker: (c) => c.user.actingFor(c.partner),
    status: 403,
    path: () => '/v1/accounts',
    field: 'accounts',
    args: () => '',
    problems: [['permission_denied On-Behalf-Of']],
  },
  {
    title: 'acting for an unknown account',
    speaker: (c) => c.platform.actingFor('account_0'),
    status: 404,
    path: () => '/v1/accounts',
    field: 'accounts',
    args: () => '',
    problems: [['resource_missing On-Behalf-Of']],
  },
  {
    title: 'no valid key',
    speaker: (c) => c.user.using('sk_test_0'),
    status: 401,
    path: () => '/v1/accounts',
    field: 'accounts',
    args: () => '',
    problems: [['api_key_invalid undefined']],
  },
];

/** Input as literals of a document: names in capitals are enum values, except where the schema expects a string. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'string') return /^[A-Z]{4,}(_[A-Z]+)*$/.test(value) ? value : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{ ${members.map(([name, member]) => `${name}: ${literal(member)}`).join(', ')} }`;
}

const named = ({ code, metadata }: Json) => `${code} ${metadata.field_name}`;

describe('a domain error is the same through both APIs', () => {
  beforeAll(async () => {
    const [{ test: user, live }, second, platform] = [
      await given.directUserBoth(1),
      await given.directUser(2),
      platforms[1],
    ];
    const taken = nickname();
    const connected = await platform.connectedUser({ businessDetails: { type: 'COMPANY' } });
    const key = done(await user.graph('mutation { createApiKey(input: { permission: READ }) { secret } }'));
    const settingOf = async (speaker: Speaker) =>
      done(await speaker.get(`/v1/account_settings?account_id=${speaker.id}`)).data[0].id as string;
    cast = {
      user,
      second,
      platform,
      connected,
      live,
      taken,
      reader: user.using(key.data.createApiKey.secret),
      partner: (await user.partner({ nickname: taken })).id,
      setting: await settingOf(user),
      secondSetting: await settingOf(second),
      logo: done(await platform.upload('logo', pdf)).id,
    };
  });

  /** What was asked: nothing of it changes anything, so two tests look at the same answers. */
  const answers = new Map<string, Promise<{ rest: Reply; graph: Reply }>>();
  const asked = (row: Refused, written: 'variables' | 'document') => {
    const name = `${written} ${row.title}`;
    const known = answers.get(name) ?? answersTo(row, written);
    answers.set(name, known);
    return known;
  };

  /** The refused request at /v1, and in GraphQL with its arguments as variables or in the document. */
  async function answersTo(row: Refused, written: 'variables' | 'document'): Promise<{ rest: Reply; graph: Reply }> {
    const speaker = row.speaker?.(cast) ?? cast.user;
    const path = row.path(cast);
    const rest = row.body ? await speaker.post(path, row.body(cast)) : await speaker.get(path);
    const list = !row.input && row.field.endsWith('s');
    const leaves = row.input ? '{ __typename }' : list ? '{ nodes { id } }' : '{ id }';
    if (row.input && written === 'variables') {
      const type = schema.getMutationType()!.getFields()[row.field]!.args[0]!.type;
      const document = `mutation ($input: ${type}) { ${row.field}(input: $input) ${leaves} }`;
      return { rest, graph: await speaker.graph(document, { input: row.input(cast) }) };
    }
    const args = row.input ? `input: ${literal(row.input(cast))}` : row.args!(cast);
    const call = `${row.field}${args === '' ? '' : `(${args})`}`;
    return { rest, graph: await speaker.graph(`${row.input ? 'mutation ' : ''}{ ${call} ${leaves} }`) };
  }

  // A map's keys are names in a document, so a key that is not a name can only come in variables.
  const both = refusals.flatMap((row) => {
    const ways = !row.input
      ? ['document']
      : /spelled as they are|no store/.test(row.title)
        ? ['variables']
        : ['variables', 'document'];
    return ways.map((way) => [row.title, way, row] as [string, 'variables' | 'document', Refused]);
  });

  // Where not everything is tried, each refusal is asked for in one of the ways.
  const tried = covering(both, ([title, way]) => [title, way], 1);

  it.each(tried)('%s, in %s: the items that /v1 returns', async (_, way, row) => {
    const { rest, graph } = await asked(row, way);

    const names = rest.body.errors.map(named);
    expect([rest.status, ...names.sort()]).toEqual([row.status, ...row.problems.map(([name]) => name).sort()]);
    expect(graph.body.errors.map((error: Json) => error.extensions.error)).toEqual(rest.body.errors);
    // A refused object is null.
    expect(Object.values(graph.body.data ?? {}).filter((value) => value !== null)).toEqual([]);
    for (const { message, extensions } of graph.body.errors as Json[]) {
      expect(extensions.httpStatus).toBe(row.status);
      expect(extensions.code).toBe(extensions.error.code.toUpperCase());
      expect(extensions.requestId).toBe(graph.headers.get('request-id'));
      expect(message).toMatch(/^\S.{7,}$/);
    }
  });

  it.each(tried)('%s, in %s: the path in the arguments of the GraphQL client', async (_, way, row) => {
    const { graph } = await asked(row, way);

    const places = graph.body.errors.map(({ extensions }: Json) => [named(extensions.error), extensions.argumentPath]);
    const expected = row.problems.map(([name, path]) => [name, path]);
    expect(places.sort()).toEqual(expected.sort());
  });

  // No member is required, so none is reported as empty.
  it('does not occur for an input whose members are all optional and absent', async () => {
    const key = await cast.user.graph('mutation { createApiKey(input: {}) { apiKey { permission } } }');
    expect(key.body.data).toEqual({ createApiKey: { apiKey: { permission: 'FULL' } } });
  });
});
