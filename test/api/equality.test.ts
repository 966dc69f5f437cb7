import {
  getNamedType,
  getNullableType,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { camel, snake } from '../../src/errors/problems.js';
import { operationOf, routes } from '../../src/resources/registry.js';
import { pdf } from '../support/bodies.js';
import { contract, resolved } from '../support/contract.js';
import { covering, scale } from '../support/scale.js';
import {
  details,
  type Edition,
  givenIn,
  nickname,
  payoutAddressBody,
  payoutAddressInput,
  type Reply,
  type Speaker,
  useWorld,
} from '../support/world.js';
import { type Cast, refusals, type Refused } from './equality-refusals.js';
import { pageOrigin, rowsIn } from './equality-rows.js';
import { asV1, done, type Json, prefixes, selection } from './equality-shapes.js';

const world = useWorld({ environment: { CORS_ORIGINS: pageOrigin } });
const given = givenIn(world);
const { served, endpoints, imports, platforms, traders, queryType } = rowsIn(world);
const noRows = 'no caller has such an object: test/api/equality-rows.ts makes one of each kind';

describe('the routes of /v1', () => {
  it.each(routes)('$method $path is $field in GraphQL, a query if it reads and a mutation if it writes', (route) => {
    const type = route.method === 'GET' ? served.schema.getQueryType() : served.schema.getMutationType();
    expect(Object.keys(type!.getFields())).toContain(route.field);
  });
});

/** What a bank says of a deposit, as it is stored. */
const said = {
  reference: 'UTR 1',
  payerName: 'Acme',
  payerLines: ['1 Main St', 'Pune'],
  payerCountry: 'IN',
  text: 'INV 7',
};

/** The argument of the graph that a list under another object's path has, and the caller's own object for it. */
const ofPath = (path: string, params: Record<string, string> | undefined, speaker: Speaker) => {
  const parents: Record<string, Map<Speaker, string>> = { endpointId: endpoints, importId: imports };
  const id = parents[params?.id ?? '']?.get(speaker) ?? speaker.id;
  return { path: path.replace(':id', id), args: params === undefined ? '' : `(${params.id}: "${id}")` };
};

describe.each([1, 2] as const)('in Edition %i', (edition) => {
  const speakers = () => [platforms[edition], traders[edition], ...(edition === 2 ? [served.aggregator] : [])];
  const offered = routes.filter(({ field }) => operationOf(field).editions?.includes(edition) !== false);
  const lists = offered.filter(({ answers }) => answers === 'list');
  // The purpose codes are of no account; test/api/figures.test.ts compares them.
  const objects = offered.filter(
    ({ method, answers, field }) => method === 'GET' && answers === 'object' && field !== 'purposeCodes',
  );

  /** Every id that any list mentions, by the speaker whose list it is: what it reaches, and how it came to know it. */
  let known: { speaker: Speaker; ids: string[] }[];
  beforeAll(async () => {
    // The sandbox's bank says nothing of its deposits.
    await world.sql`update deposit set bank_details = ${JSON.stringify(said)}::text::jsonb`;
    // The stories adjust nothing. What an adjustment shows does not depend on what its payment is of.
    await world.sql`insert into adjustment (tenant_id, livemode, id, created, account_id, credit_amount,
      credit_currency, reason, status, proposed_by, decided_by, payment_id, context_id, on_root_list)
      select tenant_id, livemode, replace(id, 'payment', 'adjustment'), created, account_id, 100, 'USD', 'A fee',
      'approved', 'Ann', 'Ben', id, context_id, on_root_list from payment on conflict do nothing`;
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
    expect(seen, noRows).toBeGreaterThan(0);
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
    expect(seen, noRows).toBeGreaterThan(0);
  });
});

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
      const own = served.schema.getQueryType()!.getFields()[field]!;
      const [head = '', ...rest] = name.split('.').map(camel);
      const flat = own.args.find((each) => each.name === head);
      // A newer filter is a member of `filter` alone.
      const members = getNamedType(own.args.find((each) => each.name === 'filter')?.type);
      const argument = flat ?? (isInputObjectType(members) ? members.getFields()[head] : undefined)!;
      const passed = flat ? `${head}: $value` : `filter: { ${head}: $value }`;
      let compared = 0;
      for (const speaker of speakers()) {
        const { items, ids } = samples.get(speaker)!.get(filter.path)!;
        const { path, args } = ofPath(filter.path, params, speaker);
        for (const value of valuesOf(parameter, edition, items, ids)) {
          const [rested, graph] = await Promise.all([
            speaker.get(`${path}?${name}=${encodeURIComponent(String(value))}`),
            speaker.graph(
              `query ($value: ${argument.type}) { ${field}(${args.slice(1, -1)} ${passed}) { nodes { id ` +
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

let cast: Cast;

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
      const type = served.schema.getMutationType()!.getFields()[row.field]!.args[0]!.type;
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
