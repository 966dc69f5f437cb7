import fs from 'node:fs';
import { getNamedType, type GraphQLField, type GraphQLObjectType, isListType, isObjectType } from 'graphql';
import pino from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { operationOf, rules } from '../../src/resources/registry.js';
import { demos } from '../../src/server/demo/demo.js';
import { receivableBody } from '../support/bodies.js';
import { random, scale, seedsOf } from '../support/scale.js';
import { givenIn, must, Speaker, tenantOf, useWorld } from '../support/world.js';
import { banksIn } from './bank-fixture.js';
import { comparing } from './compiler-fixture.js';
import { sessionOf } from './session-fixture.js';
import { typicalQueries } from './typical-queries.js';

const faults: string[] = [];
const log = pino({ level: 'error' }, { write: (line) => void faults.push(line) });
const world = useWorld({ demo: true, worker: false, log });
const given = givenIn(world);
const schema = buildGraph();
const { anew, both, expectEqual } = comparing(world, faults);

let speakers: Record<string, Speaker>;
const names = ['a platform of Edition 1', 'a platform of Edition 2', 'it on behalf of a user', 'a session'] as const;
const platform = () => speakers[names[0]]!;
beforeAll(async () => {
  const [first, second] = (await demos(world.operator, world.pepper)).map(
    ({ accountId, testKey, edition }) => new Speaker(world, accountId, testKey, edition),
  ) as [Speaker, Speaker];
  const { body } = await second.get('/v1/accounts?type=user&status=activated');
  speakers = {
    [names[0]]: first,
    [names[1]]: second,
    [names[2]]: second.actingFor(body.data[0].id),
    [names[3]]: await sessionOf(first),
  };
  for (const root of [first, second])
    while ((await world.sql`select number_events(${tenantOf(root)}, false, 1000) as n`)[0]!.n > 0);
});

/** The names of the statements of a request, without the key's own. */
async function statementsOf(ask: () => Promise<unknown>): Promise<string[]> {
  const own = ['key_owner', 'touch_api_key', 'take_allowance', 'count_senders'];
  const found: string[] = [];
  const { observers } = world.databases.at(-1)!;
  observers.push({
    began({ name, pool }) {
      if (pool !== 'worker' && pool !== 'poll' && !own.includes(name)) found.push(name);
      return () => {};
    },
  });
  try {
    await ask();
  } finally {
    observers.pop();
  }
  return found;
}

describe('a query that pages ask', () => {
  it.each(typicalQueries)(
    'takes one statement, with the bytes and the cost of the resolvers: %s',
    async (query, compiled) => {
      const { resolved, whole, once, compiler, faults } = await both(platform(), query);
      expect([whole, once]).toEqual([resolved, resolved]);
      expect([compiler, faults]).toEqual([compiled ? 2 : 0, []]);
      const asked = `${query} # ${platform().id} {}`;
      expect(await statementsOf(() => platform().graph(asked))).toEqual(compiled ? ['compiled_query'] : []);
    },
  );

  it('takes the statements that the measurements say, by the resolvers and compiled', async () => {
    const page = fs.readFileSync(new URL('../../docs/measurements/compiled-queries.md', import.meta.url), 'utf8');
    const taken: string[] = [];
    for (const [i, [query]] of typicalQueries.entries()) {
      const ask = () => platform().graph(`${query} # statements`);
      const resolved = await statementsOf(ask);
      await ask();
      const compiled = await statementsOf(ask);
      taken.push(`| Q${i + 1} | \`${query}\` | ${resolved.length} | ${compiled.length} |`);
    }
    expect(page.match(/^\| Q\d+ .*$/gm)).toEqual(taken);
  });

  it('takes one statement where the README shows it', async () => {
    const readme = fs.readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const [, query = ''] = /ask \/graphql -d '\{"query": "([^"]+)"\}'/.exec(readme)!;
    expect(query).toContain('receivables');
    await expectEqual(platform(), query);
  });
});

describe('a compiled page', () => {
  beforeAll(anew);

  it.each(names)('has the same cursors in both directions, page by page, and counts its list: %s', async (name) => {
    for (const list of ['deposits', 'events(accountId: $account)', 'accounts', 'receivables(currency: ["USD"])']) {
      const [field = '', args = ''] = list.split(/[()]/);
      for (const [size, cursor, next] of [
        ['first', 'after', 'endCursor'],
        ['last', 'before', 'startCursor'],
      ] as const) {
        const query = `query ($cursor: ID, $n: Int, $account: ID) { __typename
          ${field}(${size}: $n, ${cursor}: $cursor${args && `, ${args}`}) { totalCount nodes { id } edges { cursor }
          pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } viewer { account { id } } }`;
        let at: string | null = null;
        for (let pages = 0; pages < 3; pages++) {
          const data = await expectEqual(speakers[name]!, args.includes('$account') ? query : without(query), {
            ...{ cursor: at, n: 7 },
            ...(args.includes('$account') && { account: speakers[name]!.id }),
          });
          at = data[field].pageInfo[next];
          if (data[field].nodes.length < 7) break;
        }
      }
    }
  });
  const without = (query: string) => query.replace(', $account: ID', '');

  it('behind its last object is left to the resolvers, which look for the object of the cursor', async () => {
    const query = 'query ($at: ID) { deposits(last: 1, before: $at) { nodes { id } pageInfo { hasNextPage } } }';
    const { body } = await platform().graph('{ deposits(first: 1) { nodes { id } } }');
    const { resolved, whole, compiler } = await both(platform(), query, { at: body.data.deposits.nodes[0].id });
    expect(resolved.data).toEqual({ deposits: { nodes: [], pageInfo: { hasNextPage: true } } });
    expect([whole, compiler]).toEqual([resolved, 0]);
    const other = await both(speakers[names[1]]!, query, { at: body.data.deposits.nodes[0].id });
    expect(other.resolved.errors[0].extensions.error.metadata.field_name).toBe('deposit.ending_before');
    expect([other.whole, other.compiler]).toEqual([other.resolved, 0]);
  });

  it('costs nothing but its count where only that is selected', async () => {
    const query = '{ deposits { totalCount } accounts(first: 3) { nodes { depositsIn { totalCount __typename } } } }';
    await expectEqual(platform(), query);
  });

  it('of events shows a session nothing that happened to keys, and does not count it', async () => {
    const mine = await given.platform(1);
    for (let n = 0; n < 2; n++) await mine.graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    await mine.partner();
    await world.database.call('number_events', [tenantOf(mine), false, 500]);
    const query = '{ events { totalCount nodes { type eventType accountId account { id } number } } }';
    const seen = await expectEqual(await sessionOf(mine), query);
    await world.database.call('number_events', [tenantOf(mine), false, 500]);
    const all = await expectEqual(mine, query);
    const kinds = (data: any) => new Set(data.events.nodes.map(({ type }: any) => type.split('.')[0]));
    expect([kinds(seen).has('api_key'), kinds(all).has('api_key')]).toEqual([false, true]);
    expect(all.events.totalCount).toBeGreaterThan(seen.events.totalCount);
    expect(seen.events.totalCount).toBe(seen.events.nodes.length);
  });

  it('says null as the number of a list of more than 10,000 objects, and its points', async () => {
    const mine = await given.platform(1);
    await world.sql`
      insert into account (tenant_id, livemode, id, created, kind, edition, status, address, address_key, nickname,
        owner_id, context_id, on_root_list, business_details, metadata, supporting_documentation,
        tos_acceptance)
      select ${tenantOf(mine)}, false, new_id('account'), 1700000000 + n, 'partner', 1, 'activated', 'activated',
        'connected_user_partner', 'Partner ' || n, ${mine.id}, ${mine.id}, true, '{}', '{}', '{}', '{}'
      from generate_series(1, 10001) n`;
    const query = '{ accounts(first: 2) { totalCount nodes { id } } }';
    expect((await expectEqual(mine, query)).accounts.totalCount).toBeNull();
  });
});

describe('the links of a compiled query', () => {
  beforeAll(anew);
  const asked = 'status receivables { id } allocations(first: 3) { totalCount nodes { amount status deposit { id } } }';

  it('are each object once, the newest link first, and none whose amount was taken back', async () => {
    const mine = await given.directUser(1);
    const receivables: string[] = [];
    for (let n = 0; n < 3; n++) receivables.push((await must(mine.post('/v1/receivables', receivableBody()))).id);
    const deposit = await must(mine.post('/v1/deposits', { amount: '900.00', currency: 'USD' }));
    await must(mine.post(`/v1/test_helpers/deposits/${deposit.id}/complete`));
    const reconcile = (ids: string[]) =>
      must(
        mine.post(`/v1/deposits/${deposit.id}/reconcile`, {
          receivables: ids.map((id) => ({ id, amount: '10.00' })),
        }),
      );
    await reconcile([receivables[1]!, receivables[0]!]);
    await reconcile([receivables[1]!, receivables[2]!]);
    const query = `{ deposits(first: 2) { nodes { id ${asked} } } receivables { nodes { id lockedDeposits { id }
      deposits { id ${asked} } } } }`;
    const links = async () => (await expectEqual(mine, query)).deposits.nodes[0].receivables.map(({ id }: any) => id);
    expect((await links()).toSorted()).toEqual(receivables.toSorted());
    await world.sql`update receivable_lock set amount = 0 where receivable_id = ${receivables[1]!}`;
    expect((await links()).toSorted()).toEqual([receivables[0], receivables[2]].toSorted());
  });

  it('are left to the resolvers where they are many more than usual', async () => {
    const mine = await given.directUser(1);
    const { id } = await must(mine.post('/v1/receivables', receivableBody()));
    const deposit = await must(mine.post('/v1/deposits', { amount: '10.00', currency: 'USD' }));
    const ids = Array(101).fill(deposit.id);
    const query = '{ receivables(first: 1) { nodes { lockedDeposits { id amount } } } }';
    for (const [most, compiler] of [
      [100, 2],
      [101, 0],
    ] as const) {
      await world.sql`update receivable set deposit_ids_amount_locked = ${ids.slice(0, most)} where id = ${id}`;
      const { resolved, whole, ...found } = await both(mine, `${query} # ${most}`);
      expect(resolved.data.receivables.nodes[0].lockedDeposits).toHaveLength(most);
      expect([whole, found.compiler]).toEqual([resolved, compiler]);
    }
    await world.sql`update receivable set deposit_ids_amount_locked = '{}' where id = ${id}`;
  });
});

describe('what the bank says of deposits', () => {
  beforeAll(anew);

  it('is read by the one statement of the page, with each of its parts, and without', async () => {
    const { receiver, received, recordNotice } = banksIn(world);
    const to = await receiver(1);
    for (const more of [
      {},
      { payer: { name: 'Zoë "Retail" GmbH' } },
      { payer: { addressLines: ['Am Hafen 1', '20095 Hamburg'] }, text: 'Rechnung 77 \\ <b>' },
      { payer: { name: 'Nordwind', addressLines: [], country: 'DE' }, text: 'For INV-9' },
    ])
      await recordNotice(received(to, more));
    for (const selection of [
      'reference payer { name addressLines country } text',
      '__typename payer { __typename country }',
      'text payer { name } ... on BankDetails { payer { country } again: payer { name } }',
    ]) {
      const said = `bankDetails { ${selection} }`;
      const query = `{ deposits(first: 9) { nodes { id ${said} disputes { ${said} } } } }`;
      const data = await expectEqual(to.live, query);
      expect(data.deposits.nodes).toHaveLength(4);
    }
    await must(to.test.post('/v1/deposits', { amount: '1.00', currency: 'USD' }));
    const none = await expectEqual(to.test, '{ deposits(first: 9) { nodes { bankDetails { reference } } } }');
    expect(none.deposits.nodes).toEqual([{ bankDetails: null }]);
  });
});

describe('a dry run', () => {
  const left = async (query: string, variables: object = {}, at = platform()) =>
    (
      await must(
        at.graph(
          'query ($dryRun: DryRunInput) { rateLimit(dryRun: $dryRun) { dryRun { uncompiledPaths { path reason } } } }',
          {
            dryRun: { query, variables },
          },
        ),
      )
    ).data.rateLimit.dryRun.uncompiledPaths.map(({ path, reason }: any) => `${path}: ${reason}`);

  it.each(typicalQueries)('says that one statement answers it: %s', async (query, compiled) => {
    expect(await left(query)).toEqual(compiled ? [] : [': It needs no statement.']);
  });

  it.each<[string, string[], object?]>([
    [
      '{ accounts { nodes { requirements { code } owner { capability { multicurrencyExportsV1 } } } } ' +
        'rateLimit { limit } }',
      [
        'accounts.nodes.requirements: A resolver computes it.',
        'accounts.nodes.owner.capability: A resolver computes it.',
        'rateLimit: A resolver computes it.',
      ],
    ],
    [
      'query ($no: Boolean!) { a: accounts { nodes { id @skip(if: $no) ...F @skip(if: $no) } } } ' +
        'fragment F on Account { id }',
      ['accounts.nodes.id: It has a directive.', 'accounts.nodes: It has a directive.'],
      { no: false },
    ],
    ['{ node(id: "account_0") { id } }', ['node: A resolver computes it.']],
    [
      '{ accounts(first: 100) { nodes { partners(first: 11) { nodes { id } } } } }',
      ['accounts.nodes.partners: With the lists around it, it may have more than 1000 objects.'],
    ],
    [
      'query ($n: Int) { accounts(first: $n) { nodes { depositsIn(first: 11) { nodes { id } } } } }',
      ['accounts.nodes.depositsIn: With the lists around it, it may have more than 1000 objects.'],
      { n: 100 },
    ],
    [
      '{ accounts { nodes { balance(asOf: "2026-01-01T00:00:00Z") { livemode } } } }',
      ['accounts.nodes.balance: It is a balance of the past, or of several accounts.'],
    ],
    ['{ accounts { nodes { balance { account { id } } } } }', ['accounts.nodes.balance: A resolver computes it.']],
    [
      '{ receivables { nodes { systemMessage { code } } } }',
      ['receivables.nodes.systemMessage: A resolver computes it.'],
    ],
    ['{ accounts(first: 0) { nodes { id } } }', [': One of its arguments is refused.']],
    ['mutation { createApiKey(input: {}) { secret } }', [': The document is not exactly one query.']],
    ['{ __schema { types { name } } }', ['__schema: It is of the schema itself.']],
  ])('says what is left to the resolvers, and why: %s', async (query, expected, variables) => {
    expect(await left(query, variables)).toEqual(expected);
  });

  it('says the same as a request finds, and nothing of a document that is refused', async () => {
    expect(await left('{ deposits { nodes { nothing } } }')).toEqual([]);
    const query = '{ connectedAccountSettings { nodes { id } } }';
    expect(await left(query)).toEqual([]);
    const user = await given.directUser(1);
    expect(await left(query, {}, user)).toEqual([': One of its arguments is refused.']);
  });
});

/** Random documents of fields that the compiler may answer. */
class Documents {
  readonly #roll: () => number;
  /** Cursors of the lists, by the names of their types. */
  constructor(
    seed: number,
    private readonly cursors: Record<string, string[]>,
  ) {
    this.#roll = random(seed);
  }

  #one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#roll() * of.length)]!;
  }
  #some = (share: number) => this.#roll() < share;

  next(roots: readonly string[]): string {
    const query = schema.getQueryType()!;
    const chosen = Array.from({ length: this.#some(0.2) ? 2 : 1 }, () => this.#one(roots));
    return `{ ${chosen.map((name, n) => `r${n}: ${this.#field(query, query.getFields()[name]!, 0)}`).join(' ')} }`;
  }

  #field(parent: GraphQLObjectType, field: GraphQLField<unknown, unknown>, depth: number): string {
    const type = getNamedType(field.type);
    if (!isObjectType(type)) return field.name;
    if (rules.get(`${parent.name}.${field.name}`)?.read === 'funds')
      return `${field.name} { available { amount currency } livemode }`;
    if (!type.name.endsWith('Connection')) return `${field.name} { ${this.#members(type, depth)} }`;
    const node = getNamedType(type.getFields().nodes!.type) as GraphQLObjectType;
    const parts = [
      ...(this.#some(0.7) ? [`nodes { ${this.#members(node, depth)} }`] : []),
      ...(this.#some(0.3) ? [`edges { cursor node { ${this.#members(node, depth + 2)} } }`] : []),
      ...(this.#some(0.3) ? ['pageInfo { hasNextPage hasPreviousPage startCursor endCursor }'] : []),
      ...(this.#some(0.2) ? ['totalCount'] : []),
    ];
    const args = this.#page(node.name, parent.name === 'Query', field);
    return `${field.name}(${args}) { ${parts.join(' ') || '__typename'} }`;
  }

  #page(type: string, root: boolean, { args }: GraphQLField<unknown, unknown>): string {
    const backward = this.#some(0.3);
    const given = [`${backward ? 'last' : 'first'}: ${1 + Math.floor(this.#roll() * (root ? 6 : 3))}`];
    const cursors = root ? (this.cursors[type] ?? []) : [];
    if (cursors.length > 0 && this.#some(0.4)) given.push(`${backward ? 'before' : 'after'}: "${this.#one(cursors)}"`);
    if (this.#some(0.15) && args.some(({ name }) => name === 'created'))
      given.push('created: { gte: "2020-01-01T00:00:00Z" }');
    else if (this.#some(0.2) && args.some(({ name }) => name === 'orderBy')) given.push('orderBy: CREATED_ASC');
    return given.join(', ');
  }

  #members(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields()).filter((field) => {
      const rule = rules.get(`${type.name}.${field.name}`);
      const named = getNamedType(field.type);
      // The two answers are of different times.
      if (type.name === 'Viewer' && field.name === 'now') return false;
      if (rule) return !isObjectType(named) || depth < 3;
      return !field.resolve && !isObjectType(named) && !isListType(field.type);
    });
    const chosen = fields.filter((field) => {
      const costly = isObjectType(getNamedType(field.type));
      return this.#some(costly ? 0.3 / (depth + 1) : 0.3);
    });
    if (chosen.length === 0) return '__typename';
    return chosen
      .map((field, n) => `${this.#some(0.1) ? `a${n}: ` : ''}${this.#field(type, field, depth + 1)}`)
      .join(' ');
  }
}

describe.each(seedsOf('api/compiled-pages').flatMap((seed) => names.map((name) => ({ name, seed }))))(
  'random documents of $name, seed $seed',
  ({ name, seed }) => {
    beforeAll(anew);

    it('are answered by the resolvers and by PostgreSQL alike', async () => {
      const speaker = speakers[name]!;
      const roots = [...rules].flatMap(([field, rule]) => {
        const root = field.replace(/^Query\./, '');
        if (root === field || (rule.read !== 'page' && rule.read !== 'caller')) return [];
        const { callers, asItself } = operationOf(root);
        return callers.includes('platform') && !(asItself && name.includes('on behalf')) ? [root] : [];
      });
      const cursors: Record<string, string[]> = {};
      for (const root of roots) {
        const type = getNamedType(schema.getQueryType()!.getFields()[root]!.type).name.replace('Connection', '');
        if (root === 'viewer' || cursors[type]) continue;
        const { body } = await speaker.graph(`{ ${root}(first: 12) { edges { cursor } } }`);
        cursors[type] = (body.data?.[root]?.edges ?? []).map(({ cursor }: any) => cursor);
      }
      const documents = new Documents(seed * 100 + names.indexOf(name), cursors);
      let compiled = 0;
      const wanted = Math.ceil(scale.documents / 2);
      for (let n = 0; n < wanted; n++) {
        const query = documents.next(roots);
        const { resolved, again, whole, once, compiler, faults } = await both(speaker, query);
        expect({ query, again, whole, once, faults }).toEqual({
          ...{ query, again: resolved, whole: resolved, once: resolved, faults: [] },
        });
        if (compiler === 2) compiled++;
      }
      // The others have a cursor that nothing follows, or more objects than one statement may return.
      expect(compiled / wanted).toBeGreaterThan(0.4);
    });
  },
);
