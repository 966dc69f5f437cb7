import { getTableName, is, Param, Placeholder } from 'drizzle-orm';
import { PgColumn, PgDialect } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import { getNamedType, type GraphQLObjectType, isObjectType, parse } from 'graphql';
import pino from 'pino';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { accountListing } from '../../src/resources/account/resolver.js';
import { account } from '../../src/resources/account/table.js';
import { accountSettingListing } from '../../src/resources/account-setting/resolver.js';
import { accountSetting } from '../../src/resources/account-setting/table.js';
import { addressListing } from '../../src/resources/address/resolver.js';
import { address } from '../../src/resources/address/table.js';
import { balanceTransactionListing } from '../../src/resources/balance-transaction/resolver.js';
import type { Caller } from '../../src/request/caller.js';
import { checkoutNow } from '../../src/resources/checkout/now.js';
import { checkoutListing, ofReceivable } from '../../src/resources/checkout/resolver.js';
import { Context } from '../../src/operation/context.js';
import type { Link, Rows } from '../../src/db/list/statement.js';
import { Scope } from '../../src/db/scope.js';
import { editions } from '../../src/editions/editions.js';
import { depositListing } from '../../src/resources/deposit/resolver.js';
import { deposit } from '../../src/resources/deposit/table.js';
import { eventListing } from '../../src/resources/event/type.js';
import { event } from '../../src/resources/event/table.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { fileListing } from '../../src/resources/file/inputs.js';
import { file } from '../../src/resources/file/table.js';
import { apiKeyListing } from '../../src/resources/key/resolver.js';
import { apiKey } from '../../src/resources/key/table.js';
import { webhookDelivery } from '../../src/resources/webhook-delivery/table.js';
import { webhookDeliveryListing } from '../../src/resources/webhook-delivery/type.js';
import { webhookEndpoint } from '../../src/resources/webhook-endpoint/table.js';
import { webhookEndpointListing } from '../../src/resources/webhook-endpoint/type.js';
import { requestLog } from '../../src/resources/request-log/table.js';
import { requestLogListing } from '../../src/resources/request-log/type.js';
import { sessionListing } from '../../src/resources/session/resolver.js';
import { session } from '../../src/resources/session/table.js';
import { entry } from '../../src/resources/ledger/table.js';
import { type Listing, type PageArgs, readOf } from '../../src/types/pagination.js';
import { paymentListing } from '../../src/resources/payment/inputs.js';
import { payment } from '../../src/resources/payment/table.js';
import { payoutListing } from '../../src/resources/payout/resolver.js';
import { payout } from '../../src/resources/payout/table.js';
import { personListing } from '../../src/resources/person/resolver.js';
import { person } from '../../src/resources/person/table.js';
import { Worker } from '../../src/jobs/runner.js';
import { receivableListing } from '../../src/resources/receivable/resolver.js';
import { receivable } from '../../src/resources/receivable/table.js';
import { snake } from '../../src/errors/problems.js';
import { resources } from '../../src/resources/define.js';
import { operationOf, rules } from '../../src/resources/registry.js';
import { QueryCompiler } from '../../src/api/graphql/compiler/compiler.js';
import { covering, scale } from '../support/scale.js';
import { seedTrade } from './trade.js';
import { givenIn, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

interface List {
  table: Rows;
  listing: Listing;
  edges: (PgColumn | Link)[];
  /** Whether it is a list of its own, and not only an edge. */
  root?: false;
  /** Arguments that each page has. */
  always?: object;
}

/** Every list of the product, with the edges that read one parent's part of it. */
const lists: List[] = [
  { table: account, listing: accountListing, edges: [] },
  { table: account, listing: accountListing, edges: [], always: { scope: 'descendants' } },
  {
    table: account,
    listing: { ...accountListing, filters: { type: account.type }, fixed: { type: 'partner' } },
    edges: [account.ownerId],
    root: false,
  },
  {
    table: account,
    listing: { ...accountListing, filters: { type: account.type }, fixed: { type: 'user' } },
    edges: [account.ownerId],
    root: false,
  },
  { table: accountSetting, listing: accountSettingListing, edges: [] },
  { table: accountSetting, listing: { ...accountSettingListing, fixed: { ofConnectedUser: true } }, edges: [] },
  { table: address, listing: addressListing, edges: [address.linkedId] },
  { table: entry, listing: balanceTransactionListing, edges: [entry.accountId, entry.paymentId] },
  {
    table: checkoutNow,
    listing: checkoutListing,
    edges: [checkoutNow.toAccountId, checkoutNow.fromAccountId, ofReceivable],
  },
  {
    table: deposit,
    listing: depositListing,
    edges: [deposit.toAccountId, deposit.fromAccountId, deposit.toAddressId, deposit.disputesId],
  },
  { table: event, listing: eventListing, edges: [event.actingAccountId] },
  { table: file, listing: fileListing, edges: [file.accountId] },
  { table: apiKey, listing: apiKeyListing, edges: [apiKey.accountId] },
  { table: payment, listing: paymentListing, edges: [payment.accountId, payment.checkoutId] },
  { table: payout, listing: payoutListing, edges: [payout.accountId, payout.addressId] },
  { table: person, listing: personListing, edges: [person.accountId] },
  { table: receivable, listing: receivableListing, edges: [receivable.accountId, receivable.customerId] },
  { table: requestLog, listing: requestLogListing, edges: [] },
  { table: session, listing: sessionListing, edges: [session.accountId, session.apiKeyId] },
  { table: webhookEndpoint, listing: webhookEndpointListing, edges: [webhookEndpoint.accountId] },
  {
    table: webhookDelivery,
    listing: webhookDeliveryListing,
    edges: [webhookDelivery.endpointId, webhookDelivery.eventId],
  },
];

/** What the seeded trade has no rows of. */
const unseededLists = [
  ...['data_export', 'data_export by account_id', 'data_import', 'data_import by account_id', 'data_import by file_id'],
  ...['import_row', 'import_row by import_id', 'transaction', 'transaction by checkout_id'],
  ...['account by account_file', 'address by address_file', 'person by person_file', 'receivable by receivable_file'],
];

/**
 * A platform with tens of thousands of rows in test mode, another platform and a live mode with hundreds, and a user of
 * each.
 */
let large: string;
let small: string;
const userOf = 'account_user_00000001';

/** The one connection on which statements are explained, so that it has read what it needs of the catalog. */
let planning: postgres.Sql;

beforeAll(async () => {
  [large, small] = [(await given.platform(2)).id, (await given.platform(2)).id];
  const few = { edition: 2, users: 10, trades: 30, others: 200 } as const;
  await seedTrade(
    world.sql,
    { platform: large, edition: 2, livemode: false, users: 20, trades: 500, others: 3_000 },
    { ...few, platform: large, livemode: true },
    { ...few, platform: small, livemode: false },
  );
  planning = postgres({ ...inject('admin'), database: world.sql.options.database, max: 1, max_lifetime: null });
}, 120_000);

afterAll(() => planning?.end());

const caller = (kind: 'platform' | 'connected_user', platform = large): Caller => ({
  tenantId: tenantOf(platform),
  livemode: false,
  edition: 2,
  kind,
  permission: 'full',
  keyId: null,
  accountId: kind === 'platform' ? platform : userOf,
  actingAccountId: kind === 'platform' ? platform : userOf,
  actingAccountKind: kind,
});

/** A statement as it was sent, with its values. */
interface Asked {
  statement: string;
  values: unknown[];
}

/** What is asked while something is done, by its name: each statement once, or once for all its values. */
async function askedBy(work: () => Promise<unknown>, eachValue = false): Promise<Map<string, Asked>> {
  const asked = new Map<string, Asked>();
  const { database } = world;
  const { crossTenant, read, text } = database;
  const { read: look } = crossTenant;
  const builder = drizzle.mock();
  const note = (called: string, build: Parameters<typeof read>[1], values: Record<string, unknown> = {}) => {
    const name = eachValue ? `${called} ${JSON.stringify(values)}` : called;
    if (asked.has(name)) return;
    const { sql: statement, params } = build(builder as never).toSQL() as { sql: string; params: unknown[] };
    asked.set(name, { statement, values: params.map((param) => valueOf(param, values)) });
  };
  database.read = ((...args: Parameters<typeof read>) => {
    note(args[0], args[1], args[2]);
    return read.apply(database, args);
  }) as typeof read;
  crossTenant.read = ((...args: Parameters<typeof look>) => {
    note(args[0], args[1], args[2]);
    return look.apply(crossTenant, args);
  }) as typeof look;
  database.text = ((...args: Parameters<typeof text>) => {
    const [statement, values] = args;
    asked.set(`text:${statement}`, { statement, values });
    return text.apply(database, args);
  }) as typeof text;
  try {
    await work();
  } finally {
    Object.assign(database, { read, text });
    crossTenant.read = look;
  }
  return asked;
}

function valueOf(param: unknown, values: Record<string, unknown>): unknown {
  if (is(param, Placeholder)) return values[param.name];
  if (!is(param, Param)) return param;
  return param.encoder.mapToDriverValue(is(param.value, Placeholder) ? values[param.value.name] : param.value);
}

const named = (column: PgColumn | undefined) => `"${column!.name}"`;
const first = async (statement: string, values: unknown[]) =>
  (await world.sql.unsafe(statement, values as never[])).map((row) => Object.values(row)[0] as string | boolean);

/** The values that a column has most often in the large list: the usual values of filters. */
const usual = ({ table, listing }: List, column: PgColumn, most: number, where = 'true') =>
  first(
    `select ${named(column)} from ${getTableName(column.table)} where tenant_id = $1 and livemode = false and ${where}
       and ${named(column)} is not null
       ${table === account && listing.fixed ? `and type = '${listing.fixed.type}'` : ''}
     group by 1 order by count(*) desc, 1 limit ${most}`,
    [tenantOf(large)],
  );

/** A filter by its name in the graph, as arguments. */
const nested = (name: string, of: unknown) => name.split('.').reduceRight<any>((inner, key) => ({ [key]: inner }), of);

/** A filter by the values of a column; the others are true or absent. */
type Filter = Exclude<Listing['filters'][string], { flag: unknown }>;

/** The column whose values a filter compares. */
function columnOf(filter: Filter): PgColumn {
  if ('either' in filter) return filter.either[0];
  if ('derived' in filter) return filter.derived;
  if ('without' in filter) return filter.without;
  return 'selective' in filter ? filter.selective : filter;
}

/** A row in the middle of a list, and the time of the middle of the table. */
async function middleOf({ table }: List, owner: string): Promise<{ cursor: string; time: number }> {
  const name = getTableName(table);
  const [middle] = await first(
    `select id from ${name} where tenant_id = $1 and livemode = false and context_id <> $2
     order by created desc, id desc offset (select count(*) / 2 from ${name} where tenant_id = $1
     and livemode = false)`,
    [tenantOf(large), large],
  );
  const [time] = await first(`select created from ${name} where tenant_id = $1 and id = $2`, [tenantOf(large), middle]);
  const [own] = await first(
    `select id from ${name} where tenant_id = $1 and livemode = false and context_id = $2 limit 1`,
    [tenantOf(large), owner],
  );
  return { cursor: String(owner === large ? middle : own), time: Number(time) };
}

/**
 * Each filter by itself and with an account, for a usual, a rare and an absent value, and for a list of all three; the
 * first page, and one from the middle backwards.
 */
async function valuesOf(list: List, owner: string): Promise<PageArgs[]> {
  const { listing } = list;
  const { cursor } = await middleOf(list, owner);
  const ends = [{ first: 10 }, { last: 10, before: cursor }];
  const account = listing.byAccount.find(
    (name) =>
      'either' in listing.filters[name]! || listing.parents || listing.filters[name] === list.table.actingAccountId,
  );
  const all: object[] = [];
  for (const [name, filter] of Object.entries(listing.filters)) {
    if (name in (listing.fixed ?? {}) || ('derived' in filter && !filter.ending)) continue;
    if ('flag' in filter) {
      all.push({ [name]: true }, { [name]: true, ...nested(account!, userOf) });
      continue;
    }
    const column = columnOf(filter);
    const values = await usual(list, column, 1_000);
    const single = listing.byAccount.includes(name) || column.dataType === 'boolean' || name === 'objectId';
    const three = [values[0], values.at(-1), ...(column.dataType === 'boolean' ? [] : ['none'])];
    const several = single ? [] : [[...three, three[0]]];
    for (const value of [...new Set(three), ...several]) {
      if (value === undefined) continue;
      const one = nested(name, single || Array.isArray(value) ? value : [value]);
      all.push(one);
      if (account && account !== name && !listing.exclusive?.[name]) all.push({ ...one, ...nested(account, userOf) });
    }
  }
  return all.flatMap((one) => ends.map((end) => ({ ...one, ...end, ...list.always }))) as PageArgs[];
}

/**
 * The arguments of each filter by itself, of all filters together, and of a range of time; each from both ends and from
 * a cursor in the middle.
 */
async function argumentsOf(list: List, owner: string): Promise<PageArgs[]> {
  const { listing } = list;
  const filters: object[] = [];
  let all: any = {};
  for (const [name, filter] of Object.entries(listing.filters)) {
    if (name in (listing.fixed ?? {})) continue;
    if ('flag' in filter) {
      filters.push({ [name]: true });
      all = { ...all, [name]: true };
      continue;
    }
    const byAccount = listing.byAccount.includes(name);
    const column = columnOf(filter);
    const values = await usual(list, column, 2, `(context_id = '${owner}' or '${owner}' = '${large}')`);
    // Values that no row has often, such as a reason, are queried too.
    const found = values.length > 0 ? values : ['none'];
    const one = byAccount || column.dataType === 'boolean' || name === 'objectId' ? found[0] : found;
    filters.push(nested(name, one));
    if (values.length > 0 && name !== 'objectId' && !listing.exclusive?.[name]) all = merged(all, nested(name, one));
  }
  const { cursor, time } = await middleOf(list, owner);
  const created = { gt: time };
  return [
    {},
    ...filters,
    all,
    { created: { gte: 1, lt: 9_999_999_999 } },
    ...filters.map((one) => ({ ...one, created })),
    { ...all, created },
  ].flatMap((filter) => [
    { ...filter, ...list.always, first: 10 },
    { ...filter, ...list.always, last: 10 },
    { ...filter, ...list.always, first: 10, after: cursor },
    { ...filter, ...list.always, last: 10, before: cursor },
  ]) as PageArgs[];
}

/**
 * Every order by a value, both ways, for usual, rare and absent values of the filter in its key, with and without a
 * range, from both ends.
 */
async function orderedOf(list: List, owner: string): Promise<PageArgs[]> {
  const { table, listing } = list;
  const mine = `(context_id = '${owner}' or '${owner}' = '${large}')`;
  const all: object[] = [];
  for (const [order, { key, all: values, by, type, view }] of Object.entries(listing.orders ?? {})) {
    if (view) {
      all.push(...(await rankedOf(list, order, owner)));
      continue;
    }
    const column = columnOf(listing.filters[key] as Filter);
    const keys = await usual(list, column, 1_000, mine);
    const { sql: value } = new PgDialect().sqlToQuery(by((column) => column));
    const name = getTableName(table);
    const [middle] = await first(
      `select id from ${name} where tenant_id = $1 and livemode = false and ${mine} and ${named(column)} = $2
       order by ${value}, id offset (select count(*) / 2 from ${name} where tenant_id = $1 and livemode = false
       and context_id = '${userOf}')`,
      [tenantOf(large), keys[0]],
    );
    const range = type === 'text' ? { gte: '2026-03-01', lt: '2026-12-24' } : { gte: 5n, lte: 1_000n };
    const filters: object[] = values
      ? [{}, { [key]: [keys[0]] }, { [key]: [keys.at(-1), 'none'] }, { overdue: true }]
      : [keys[0], keys.at(-1), 'none'].map((each) => ({ [key]: [each] }));
    const ends = [{ first: 10 }, { last: 10 }, { first: 10, after: middle }, { last: 10, before: middle }];
    for (const way of ['ASC', 'DESC'])
      for (const filter of filters)
        for (const bounds of [{}, { [order]: range }])
          for (const end of ends)
            all.push({ orderBy: `${snake(order)}_${way.toLowerCase()}`, ...filter, ...bounds, ...end });
  }
  return all as PageArgs[];
}
/** The order by balance, both ways, for a usual, a rare and an absent currency, all types and one, from both ends. */
async function rankedOf({ listing }: List, order: string, owner: string): Promise<object[]> {
  const [middle] = await first(
    `select id || '@' || ranked from account_by_balance where tenant_id = $1 and not livemode
      and ranked_as = 'partner USD' and (context_id = $2 or $2 = $3)
     order by ranked, id offset 3`,
    [tenantOf(large), owner, large],
  );
  const { fixed } = listing;
  const filters: object[] = ['USD', 'EUR', 'XAF'].map((orderCurrency) => ({ orderCurrency }));
  if (!fixed)
    filters.push({ orderCurrency: 'USD', type: ['partner'] }, { orderCurrency: 'EUR', type: ['user', 'platform'] });
  const ends = [{ first: 10 }, { last: 10 }, { first: 10, after: middle }, { last: 10, before: middle }];
  return ['asc', 'desc'].flatMap((way) =>
    filters.flatMap((filter) => ends.map((end) => ({ orderBy: `${order}_${way}`, ...filter, ...end }))),
  );
}

const merged = (a: any, b: any): any =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((key) => [
      key,
      key in a && key in b && typeof a[key] === 'object' ? merged(a[key], b[key]) : (b[key] ?? a[key]),
    ]),
  );

/** Parents that have most rows, and that a caller sees. */
const parentsOf = (list: List, column: PgColumn, kind: 'platform' | 'connected_user') =>
  usual(
    list,
    column,
    3,
    kind === 'connected_user' && column.table === list.table ? `context_id = '${userOf}'` : 'true',
  ) as Promise<string[]>;

/** The callers that ask for a list; they differ by the columns that limit what they see. */
const kinds = ['platform', 'connected_user'] as const;
type Kind = (typeof kinds)[number];

/**
 * The arguments that each caller tries. Where not everything is tried, one of them tries each of the filters, as
 * `nameOf` tells them apart, from one of the ends.
 */
async function triedBy(
  list: List,
  argumentsOf: (list: List, owner: string) => Promise<PageArgs[]>,
  nameOf: (filter: object) => string,
  together: 1 | 2 = 1,
): Promise<Map<Kind, PageArgs[]>> {
  const rows: { kind: Kind; args: PageArgs }[] = [];
  for (const kind of kinds)
    for (const args of await argumentsOf(list, kind === 'platform' ? large : userOf)) rows.push({ kind, args });
  // Of few combinations a part would not have each kind of statement.
  if (rows.length <= 120) return byKind(rows);
  const chosen = covering(
    rows,
    ({ kind, args: { first, last, after, before, ...filter } }) => [
      kind,
      Object.keys({
        ...(first && { first }),
        ...(last && { last }),
        ...(after && { after }),
        ...(before && { before }),
      }),
      nameOf(filter),
    ],
    together,
  );
  return byKind(chosen);
}

const byKind = (rows: { kind: Kind; args: PageArgs }[]): Map<Kind, PageArgs[]> =>
  new Map(kinds.map((kind) => [kind, rows.flatMap((row) => (row.kind === kind ? [row.args] : []))]));

/** Asks for a list, or a part of it, and for all that may be asked about where it stands. */
async function askFor(list: List, kind: Kind, tried: PageArgs[]): Promise<void> {
  const { table, listing, edges, root } = list;
  const { database } = world;
  const hanging: [PgColumn | Link, string[]][] = [];
  for (const parent of edges) {
    const column = 'links' in parent ? parent.parent : parent;
    const parents = await parentsOf(list, column, kind);
    expect(parents.length).toBeGreaterThan(0);
    hanging.push([parent, parents]);
  }
  for (const args of tried) {
    const scope = new Scope(caller(kind), database);
    if (root !== false) {
      const { pageInfo } = await scope.page(table, listing, args);
      for (const more of [pageInfo.hasNextPage, pageInfo.hasPreviousPage]) if (typeof more === 'function') await more();
      // For a list that is most of a table, a count reads the whole table: this one is a small part of it.
      const page = await new Scope(caller(kind, small), database).page(table, listing, {
        ...args,
        after: null,
        before: null,
      });
      await page.totalCount();
    }
    // An object's edges are queried without an account filter as well.
    if (listing.byAccount.some((name) => name in args)) continue;
    const filtered = Object.keys(listing.filters).some((name) => name.split('.')[0]! in args);
    for (const [parent, parents] of hanging) {
      // The edges that are no parents of filters take none.
      if (filtered && listing.parents && !listing.parents.includes(parent as PgColumn)) continue;
      const pages = await Promise.all(parents.map((id) => scope.edge(table, listing, parent, id, args)));
      await Promise.all(pages.map((page) => page.totalCount()));
      for (const { pageInfo } of pages)
        for (const more of [pageInfo.hasNextPage, pageInfo.hasPreviousPage])
          if (typeof more === 'function') await more();
    }
  }
}

/** Statements that need a sort, and its size. */
const sorted: [statements: RegExp, why: string][] = [
  [/^page:account_setting:all:.*:accountId(:|$)/, 'an account has one setting'],
  [
    /^page:entry:(root|actingAccount):(?!.*accountId)/,
    'never asked: balance transactions are always those of one account',
  ],
];

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Join Filter'?: number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/**
 * The plan that PostgreSQL chooses for these values, with the numbers of rows and of pages. What a connection reads of
 * the catalog when it runs a function for the first time counts among the pages, so a plan with many is made again.
 */
async function chosenPlan(asked: Asked): Promise<Plan> {
  const plan = await explained(asked);
  return buffersIn(plan) > 50 ? explained(asked) : plan;
}

async function explained({ statement, values }: Asked): Promise<Plan> {
  const [row] = await planning.unsafe(
    `explain (analyze, buffers, timing off, summary off, format json) ${statement}`,
    values as never[],
  );
  return (row as any)['QUERY PLAN'][0].Plan;
}

/** The faults of a chosen plan: it reads a seeded table completely, or sorts more than was requested. */
function faultsOf(plan: Plan): string[] {
  return nodesOf(plan).flatMap((node) => {
    if (node['Node Type'] === 'Seq Scan' && !unseeded.has(node['Relation Name']!))
      return [`scans ${node['Relation Name']}`];
    // A list of values has the first rows of each.
    const sorted = /Sort/.test(node['Node Type']) ? node.Plans![0]!['Actual Rows']! : 0;
    return sorted > readOf(11) * (limited(node) ? 3 : 1) ? [`sorts ${sorted} rows`] : [];
  });
}
/** Whether every scan of a table below a node has a limit of its own. */
const limited = (node: Plan): boolean =>
  (node.Plans ?? []).every(
    (below) => below['Node Type'] === 'Limit' || (below['Relation Name'] === undefined && limited(below)),
  );

/** Whether a sort is of the checkouts whose time is over and that no worker has marked yet. */
const ofOverdue = (node: Plan) => node.Plans?.[0]?.['Index Name']?.startsWith('checkout_due_') ?? false;

/** The pages that a plan read or found in memory. */
const buffersIn = (plan: Plan): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
const buffersOf = async (one: Asked): Promise<number> => buffersIn(await chosenPlan(one));

/**
 * The plan that a connection keeps for a statement that it runs again and again, with the pages that it needs. Fails if
 * the connection plans the statement anew each time, because it expects a plan for these values to be cheaper.
 */
async function keptPlan({ statement, values }: Asked): Promise<Plan> {
  const connection = postgres({ ...inject('admin'), database: world.sql.options.database, max: 1 });
  try {
    for (let i = 0; i < 7; i++) await connection.unsafe(statement, values as never[], { prepare: true });
    const [plans] = await connection`
      select custom_plans::int as custom, generic_plans::int as kept from pg_prepared_statements
      where statement = ${statement}`;
    expect(plans, statement).toEqual({ custom: 5, kept: 2 });
    const given = values.map((value) => `'${Array.isArray(value) ? `{${value.join(',')}}` : value}'`);
    await connection.unsafe(`prepare kept as ${statement}`);
    await connection`set plan_cache_mode = force_generic_plan`;
    const [row] = await connection.unsafe(
      `explain (analyze, buffers, timing off, summary off, format json) execute kept (${given.join(', ')})`,
    );
    return (row as any)['QUERY PLAN'][0].Plan;
  } finally {
    await connection.end();
  }
}

/** The rows that a part of a plan found or looked at, over all its runs. */
function rowsSeenBy(node: Plan): number {
  const removed = (node['Rows Removed by Join Filter'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
  return Math.round(((node['Actual Rows'] ?? 0) + removed) * (node['Actual Loops'] ?? 1));
}

/** The plans of the statements within functions that a statement calls, in a mode of PostgreSQL's cache of plans. */
async function plansWithin(mode: string, statement: string, values: unknown[]): Promise<Plan[]> {
  const said: string[] = [];
  const onnotice = ({ message = '' }: postgres.Notice) => said.push(message);
  const connection = postgres({ ...inject('admin'), database: world.sql.options.database, max: 1, onnotice });
  const set = { log_min_duration: 0, log_analyze: 'on', log_timing: 'off', log_nested_statements: 'on' };
  try {
    await connection`load 'auto_explain'`;
    for (const [name, value] of Object.entries({ ...set, log_format: 'json' }))
      await connection.unsafe(`set auto_explain.${name} = ${value}`);
    await connection.unsafe(`set plan_cache_mode = ${mode}`);
    await connection`set client_min_messages = log`;
    await connection.unsafe(statement, values as never[]);
  } finally {
    await connection.end();
  }
  return said
    .filter((message) => message.includes('"Plan"'))
    .map((message) => JSON.parse(message.slice(message.indexOf('{'))).Plan);
}

/** A cursor that is not in the filtered list is refused after the statement. */
const ignored = () => undefined;

/** The most pages that a page of a list may need, whatever the values that it is filtered by. */
const buffersMax = 200;

/** Tables of which a tenant has one row. */
const unseeded = new Set(['test_clock']);

/** A session in which PostgreSQL uses a full scan or a sort only if there is no alternative. */
let dear: postgres.Sql;
beforeAll(async () => {
  const [{ database }] = await world.sql<[{ database: string }]>`select current_database() as database`;
  const off = ['seqscan', 'sort', 'incremental_sort', 'bitmapscan'].map((way) => [`enable_${way}`, 'off']);
  const connection = Object.fromEntries(off) as Record<string, string>;
  dear = postgres({ ...inject('admin'), username: 'tidegate', database, max: 2, connection });
});
afterAll(() => dear?.end());

/** The generic plan, when no custom plan is better. */
async function planOf(statement: string): Promise<Plan> {
  const [row] = await dear.unsafe(`explain (generic_plan, format json) ${statement}`);
  return (row as any)['QUERY PLAN'][0].Plan;
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

describe('the plan of a list', () => {
  it.each(
    lists.map(
      (one) => [[getTableName(one.table), ...Object.values(one.listing.fixed ?? {})].join(' of '), one] as const,
    ),
  )(
    'uses an index with its order, for all filters, ends and cursors: %s',
    async (_, list) => {
      const asked = await askedBy(async () => {
        const tried = await triedBy(list, argumentsOf, (filter) => String(Object.keys(filter)));
        for (const [kind, args] of tried) await askFor(list, kind, args);
      });
      const kinds = new Set([...asked.keys()].map((name) => name.replace(/:.*/, '')));
      const expected = [
        list.root === false ? [] : ['page', 'count'],
        list.edges.length > 0 ? ['edge', 'beyond', 'count'] : [],
      ];
      expect([...kinds]).toEqual(expect.arrayContaining(expected.flat()));
      const statements = [...asked].filter(([name]) => /^(page|edge|beyond|count):/.test(name));
      expect(statements.length).toBeGreaterThanOrEqual(scale.all ? 16 : 4);
      const judged = statements.filter(([name]) => !sorted.some(([those]) => those.test(name)));
      const faults = await Promise.all(
        judged.map(async ([name, one]) => {
          const chosen = faultsOf(await chosenPlan(one));
          // For other values, and for more rows, another plan may be chosen: there must be one that neither scans nor
          // sorts.
          const other = nodesOf(await planOf(one.statement));
          // What is overdue and not marked yet is little: the worker marks it within a second.
          const bad = (node: Plan) =>
            node['Node Type'] === 'Seq Scan' || (/Sort/.test(node['Node Type']) && !limited(node) && !ofOverdue(node));
          if (other.some(bad)) chosen.push(other.map((node) => node['Node Type']).join(' < '));
          return chosen.map((fault) => `${name}: ${fault}`);
        }),
      );
      expect(faults.flat()).toEqual([]);
    },
    120_000,
  );

  it.each(
    lists.map(
      (one) => [[getTableName(one.table), ...Object.values(one.listing.fixed ?? {})].join(' of '), one] as const,
    ),
  )(
    `reads at most ${buffersMax} buffers for a page, whatever value is asked for: %s`,
    async (_, list) => {
      const { table, listing, edges, root } = list;
      const faults: string[] = [];
      for (const [kind, tried] of await triedBy(list, valuesOf, JSON.stringify)) {
        const scope = () => new Scope(caller(kind), world.database);
        const parents = await Promise.all(
          edges
            .filter((edge): edge is PgColumn => listing.parents?.includes(edge as PgColumn) ?? false)
            .map(async (edge) => [edge, (await parentsOf(list, edge, kind))[0]!] as const),
        );
        const asked = await askedBy(async () => {
          for (const args of tried) {
            // Balance transactions are always those of one account. What an account paid to others is on their lists.
            const given = listing.byAccount.find((name) => name in args);
            const either = given !== undefined && 'either' in listing.filters[given]! && kind === 'connected_user';
            if (root !== false && !either && (given || table !== entry))
              await scope().page(table, listing, args).catch(ignored);
            if (!listing.byAccount.some((name) => name in args))
              for (const [edge, parent] of parents)
                await scope().edge(table, listing, edge, parent, args).catch(ignored);
          }
        }, true);
        for (const [name, one] of asked) {
          const buffers = await buffersOf(one);
          if (buffers > buffersMax) faults.push(`${name}: ${buffers}`);
        }
      }
      expect(faults).toEqual([]);
    },
    120_000,
  );

  it.each(lists.filter(({ listing }) => listing.orders).map((one) => [getTableName(one.table), one] as const))(
    `reads at most ${buffersMax} buffers, and no other rows, for a page in an order by a value: %s`,
    async (_, list) => {
      const { table, listing, root, always } = list;
      const faults: string[] = [];
      const nameOf = (filter: object) => `${(filter as PageArgs).orderBy} ${String(Object.keys(filter))}`;
      for (const [kind, args] of await triedBy(list, orderedOf, nameOf, 2)) {
        const scope = () => new Scope(caller(kind), world.database);
        const account = listing.byAccount.filter((name) => is(listing.filters[name], PgColumn) && name === 'accountId');
        const asked = await askedBy(async () => {
          for (const each of args) {
            if (root !== false)
              await scope()
                .page(table, listing, { ...each, ...always } as PageArgs)
                .catch(ignored);
            for (const name of account)
              await scope()
                .page(table, listing, { ...each, [name]: userOf } as PageArgs)
                .catch(ignored);
            for (const { parents } of Object.values(listing.orders!))
              for (const parent of parents.filter(({ name }) => name !== 'tenant_id'))
                for (const of of kind === 'platform' ? [userOf, large] : [userOf])
                  await scope().edge(table, listing, parent, of, each).catch(ignored);
          }
        }, true);
        const pages = [...asked].filter(([name]) => /^(page|edge):/.test(name));
        // The order by balance has one value in the key of its filter, and with a fixed type no other.
        const ranked = 'balance' in listing.orders!;
        const least = ranked ? (listing.fixed ? 10 : 30) : 50;
        expect(pages.length).toBeGreaterThan(scale.all ? least : least / 7);
        for (const [name, one] of pages) {
          const plan = await chosenPlan(one);
          const buffers = buffersIn(plan);
          if (buffers > buffersMax) faults.push(`${name}: ${buffers}`);
          for (const node of nodesOf(plan))
            if (
              (node['Actual Rows'] ?? 0) > readOf(11) * 4 ||
              (/Seq Scan|Bitmap/.test(node['Node Type']) && !unseeded.has(node['Relation Name']!))
            )
              faults.push(`${name}: ${node['Node Type']} ${node['Index Name'] ?? ''} ${node['Actual Rows']}`);
        }
        for (const [name, { statement }] of new Map(pages.map(([, one]) => [one.statement, one])))
          for (const node of nodesOf(await planOf(statement)))
            if (node['Node Type'] === 'Seq Scan' && !unseeded.has(node['Relation Name']!))
              faults.push(`${name}: scans`);
      }
      expect(faults).toEqual([]);
    },
    120_000,
  );

  const unreconciled: [which: string, where: string][] = [
    ['every deposit is', 'true'],
    ['one deposit of each user is', "id like '%1' and id in (select min(id) from deposit group by context_id)"],
    ['none is', 'false'],
  ];
  it.each(unreconciled)(
    `reads at most ${buffersMax} buffers for a page of unreconciled deposits, where %s`,
    async (_, where) => {
      const tenant = tenantOf(large);
      const tested = `tenant_id = '${tenant}' and not livemode`;
      await world.sql.unsafe(
        `update deposit set pending_rest = amount - disputed where ${tested} and amount > 0 and ${where}`,
      );
      await world.sql`vacuum analyze deposit`;
      const payer = await first(
        `select from_account_id from deposit where ${tested} and context_id = $1 and from_account_id <> $1 limit 1`,
        [userOf],
      );
      const faults: string[] = [];
      let pages = 0;
      try {
        for (const kind of ['platform', 'connected_user'] as const) {
          // What a user has paid to others is not on its own list, and has a known limit.
          const of = kind === 'platform' ? userOf : String(payer[0]);
          const asked = await askedBy(async () => {
            for (const filter of [{}, { accountId: of }, { status: ['completed'] }, { created: { gte: 1 } }]) {
              const page = (args: object) => {
                const all: object = { unreconciled: true, ...filter, ...args };
                return new Scope(caller(kind), world.database).page(deposit, depositListing, all as PageArgs);
              };
              const { nodes } = await page({ first: 10 });
              await page({ last: 10 });
              if (nodes.length < 10) continue;
              await page({ first: 10, after: nodes[5]!.id });
              await page({ last: 10, before: nodes[5]!.id });
            }
            for (const [edge, id] of [
              [deposit.toAccountId, userOf],
              [deposit.fromAccountId, of],
            ] as const)
              await new Scope(caller(kind), world.database).edge(deposit, depositListing, edge, id, {
                unreconciled: true,
                first: 10,
              } as PageArgs);
          }, true);
          for (const [name, one] of asked) {
            pages++;
            const plan = await chosenPlan(one);
            const buffers = buffersIn(plan);
            if (buffers > buffersMax) faults.push(`${kind} ${name}: ${buffers}`);
            faults.push(...faultsOf(plan).map((fault) => `${kind} ${name}: ${fault}`));
          }
        }
      } finally {
        await world.sql.unsafe(`update deposit set pending_rest = 0 where ${tested} and pending_rest <> 0`);
        await world.sql`vacuum analyze deposit`;
      }
      expect(faults).toEqual([]);
      expect(pages).toBeGreaterThan(15);
    },
  );

  it(`reads at most ${buffersMax} buffers, and few rows, for a page of a search, whatever it is for`, async () => {
    const tenant = tenantOf(large);
    // All objects of a kind have a frequent text, and one deposit of the user has a rare one.
    await world.sql.unsafe(
      `update deposit set metadata = '{"a": "rare"}' where tenant_id = '${tenant}' and id in (
         select id from deposit where tenant_id = '${tenant}' and not livemode and context_id = '${userOf}' order by id
         limit 1)`,
    );
    for (const [table, rows] of Object.entries({ account: 3_000, deposit: 10_000, receivable: 1_000 }))
      await world.sql.unsafe(
        `select count(index_object(tenant_id, livemode, '${table}', null, to_jsonb(x))) from
           (select * from ${table} where tenant_id = '${tenant}' and not livemode and context_id <> 'account_${tenant}'
           order by id limit ${rows}) x`,
      );
    await world.sql`vacuum analyze search_entry`;
    const owned: Listing = {
      ...accountListing,
      filters: { ...accountListing.filters, ownerId: account.ownerId },
      byAccount: ['ownerId'],
      fixed: { ownerId: userOf, type: 'partner' },
    };
    const searched: [Rows, Listing, string[]][] = [
      [account, accountListing, ['exporter', 'account user 00', 'account user 00000002']],
      [account, owned, ['exporter', 'partner']],
      [deposit, depositListing, ['invoice', 'inv', 'account', 'exporter', 'rare']],
      [receivable, receivableListing, ['r']],
    ];
    const faults: string[] = [];
    let pages = 0;
    const checkPages = async (asked: Map<string, Asked>) => {
      for (const [name, one] of asked) {
        pages++;
        const plan = await chosenPlan(one);
        const buffers = buffersIn(plan);
        if (buffers > buffersMax) faults.push(`${name}: ${buffers}`);
        for (const node of nodesOf(plan))
          if (/Sort|Seq Scan|Bitmap/.test(node['Node Type']) || (node['Actual Rows'] ?? 0) > readOf(11) * 4)
            faults.push(`${name}: ${node['Node Type']} ${node['Actual Rows']}`);
        for (const node of nodesOf(await planOf(one.statement)))
          if (/Sort|Seq Scan|Bitmap/.test(node['Node Type'])) faults.push(`${name}: ${node['Node Type']}`);
      }
    };
    for (const kind of ['platform', 'connected_user'] as const)
      for (const [table, listing, texts] of searched) {
        const filters: object[] = [...texts, 'none', 'zz'].map((search) => ({ search }));
        for (const metadata of [{ key: 'a' }, { key: 'a', value: 'b' }, { key: 'a', value: 'none' }, { key: 'none' }])
          filters.push({ metadata });
        const asked = await askedBy(async () => {
          for (const filter of filters) {
            const scope = () => new Scope(caller(kind), world.database);
            const page = await scope().page(table, listing, { ...filter, first: 10 } as PageArgs);
            const middle = page.nodes[5]?.id;
            if (middle === undefined) continue;
            await scope().page(table, listing, { ...filter, first: 10, after: middle } as PageArgs);
            await scope().page(table, listing, { ...filter, last: 10, before: middle } as PageArgs);
          }
        }, true);
        await checkPages(asked);
      }
    // The operator searches the accounts of all tenants.
    const byOperator = await askedBy(async () => {
      for (const search of ['exporter', 'account user 00', 'account user 00000002', 'none', 'zz'])
        for (const livemode of [undefined, false]) {
          const { next } = await world.operator.accounts({ search, livemode, limit: 10 });
          if (next !== null) await world.operator.accounts({ search, livemode, limit: 10, after: next });
        }
    }, true);
    const searches = new Map([...byOperator].filter(([name]) => name.startsWith('operator_account_search')));
    expect(searches.size).toBeGreaterThan(11);
    await checkPages(searches);
    expect(faults).toEqual([]);
    expect(pages).toBeGreaterThan(90);
  }, 120_000);

  it('walks the same indexes in whole queries: every list, alone and below every other object', async () => {
    const schema = buildGraph();
    const compiler = new QueryCompiler(schema);
    const nobody = () => {
      throw new Error('no query makes keys');
    };
    const fieldOf = (name: string) => {
      const [type, field] = name.split('.') as [string, string];
      return (schema.getType(type) as GraphQLObjectType).getFields()[field]!;
    };
    const below = (name: string): string => {
      const field = fieldOf(name);
      const type = getNamedType(field.type);
      if (!isObjectType(type)) return field.name;
      if (type.name.endsWith('Connection'))
        return `${field.name}(first: 10) { nodes { id created } pageInfo { hasNextPage endCursor } }`;
      const withoutId = rules.get(name)!.read === 'funds' ? 'pending { amount }' : '__typename';
      return `${field.name} { ${'id' in type.getFields() ? 'id' : withoutId} }`;
    };
    const roots = [...rules].flatMap(([name, { read }]) => (read === 'page' ? [name] : []));
    const queries = roots.flatMap((root) => {
      const node = (getNamedType(fieldOf(root).type) as GraphQLObjectType).getFields().nodes!;
      const type = getNamedType(node.type).name;
      const edges = [...rules.keys()].filter((name) => name.startsWith(`${type}.`));
      const { callers } = operationOf(fieldOf(root).name);
      return edges.map((edge) => ({
        callers,
        query: `{ ${fieldOf(root).name}(first: 10) { nodes { id ${below(edge)} } pageInfo { hasNextPage } } }`,
      }));
    });
    const queriesOf = (kind: 'platform' | 'connected_user') =>
      queries.flatMap(({ callers, query }) => (callers.includes(kind) ? [query] : []));
    expect(queriesOf('connected_user').length).toBeGreaterThan(25);
    const asked = await askedBy(async () => {
      for (const kind of ['platform', 'connected_user'] as const) {
        const by = caller(kind);
        const context = new Context(
          by,
          new Scope(by, world.database),
          editions[2],
          'req',
          undefined,
          nobody,
          {} as never,
          {} as never,
        );
        for (const query of queriesOf(kind))
          expect([query, await compiler.of(parse(query))!.answer(null, {}, context)]).toMatchObject([
            query,
            { data: expect.stringMatching(/"id":/) },
          ]);
      }
    });
    expect(asked.size).toBe(queriesOf('platform').length + queriesOf('connected_user').length);
    const faults: string[] = [];
    for (const [name, one] of asked)
      for (const fault of faultsOf(await chosenPlan(one))) faults.push(`${name}: ${fault}`);
    expect(faults).toEqual([]);
  });

  it.each([
    ['deposit', deposit, depositListing],
    ['checkout', checkoutNow, checkoutListing],
  ] as const)(
    'uses the index of each side where an account may be on either, from the cursor on: %s',
    async (name, table, listing) => {
      const asked = await askedBy(() =>
        new Scope(caller('platform'), world.database)
          .page(table, listing, { accountId: 'x', last: 1, before: 'y' } as PageArgs)
          .catch(() => {}),
      );
      const { statement } = asked.get(`page:${getTableName(table)}:all:back:2:from:accountId`)!;
      const walks = nodesOf(await planOf(statement)).filter((node) => /ROW\(/.test(node['Index Cond'] ?? ''));
      expect(walks.map((node) => node['Index Name'])).toEqual([
        name === 'deposit' ? 'deposit_by_receiver' : `${name}_to`,
        name === 'deposit' ? 'deposit_by_payer' : `${name}_from`,
      ]);
      for (const walk of walks) expect(walk['Index Cond']).toMatch(/tenant_id = .*livemode = .*account_id\)? = /);
    },
  );

  // A worker runs this query up to four times a second, over the connections that requests use.
  it('limits what a worker reads to find due work', async () => {
    const worker = new Worker(world.database, pino({ level: 'silent' }));
    const asked = await askedBy(async () => {
      worker.start();
      await worker.stop();
    });
    const { sql } = world;
    await sql`
      insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select 'tenant', false, 'job_' || n, 1, 'none', 'subject_' || n, '{}', extract(epoch
      from now())::bigint + 86400 + n from generate_series(1, 5000) n`;
    await sql`analyze job`;
    const { statement, values } = asked.get('tenants_with_new_jobs')!;
    const [plan] = await sql.unsafe(`explain (format json) ${statement}`, values as never[]);
    expect(
      nodesOf((plan as any)['QUERY PLAN'][0].Plan).map((node) => [node['Index Name'], node['Index Cond']]),
    ).toContainEqual(['job_due', expect.stringContaining('due <=')]);
  });

  it('adds up what customers owe from an index alone, and stops where they owe too many invoices', async () => {
    const { sql } = world;
    const user = await given.directUser(2);
    const [few, many, most] = [await user.partner(), await user.partner(), await user.partner()];
    for (const [customer, count] of [
      [few, 3],
      [many, 10_000],
      [most, 12_000],
    ] as const)
      await sql`insert into receivable (tenant_id, livemode, id, created, account_id, customer_id, currency,
        amount_maximum_reconcilable,
          amount_settled_payouts, invoice, purpose_code, transaction_type, context_id, on_root_list)
        select ${tenantOf(user.id)}, false, ${customer.id} || n, n, ${user.id}, ${customer.id}, case
        when n % 2 = 0 then 'INR' else 'USD' end, 100,
          case when n > ${count}::int then 100 else 0 end, '{"amount": "100", "dueDate": "2030-01-01"}', 'P0802',
          'services', ${user.id}, true
        from generate_series(1, ${count + 2_000}::int) n`;
    await sql`vacuum analyze receivable`;
    let partners: { id: string; owes: any }[] = [];
    const asked = await askedBy(async () => {
      ({
        partners: { nodes: partners },
      } = (
        await user.graph(
          '{ partners { nodes { id owes { receivables { value precision } ' +
            'currencies { count total { amount } } } } } }',
        )
      ).body.data);
    });
    const owed = new Map(partners.map(({ id, owes }) => [id, owes]));
    const sums = (value: number, ...parts: [count: number, amount: string][]) => ({
      receivables: { value, precision: 'EXACT' },
      currencies: parts.map(([count, amount]) => ({ count, total: { amount } })),
    });
    expect(owed.get(few.id)).toEqual(sums(3, [1, '1.00'], [2, '2.00']));
    expect(owed.get(many.id)).toEqual(sums(10_000, [5_000, '5000.00'], [5_000, '5000.00']));
    expect(owed.get(most.id)).toEqual({ receivables: { value: 10_000, precision: 'AT_LEAST' }, currencies: null });
    const one = asked.get('owed_by_customers')!;
    // One statement for all of them, which reads no receivable that is not open.
    expect(one.values.flat()).toEqual(expect.arrayContaining([few.id, many.id, most.id]));
    const reads = nodesOf(await chosenPlan(one)).filter((node) => node['Relation Name'] === 'receivable');
    expect(reads.map((node) => [node['Node Type'], node['Index Name']])).toEqual([
      ['Index Only Scan', 'receivable_owed'],
    ]);
    // The mean of three customers: 3, 10,000, and one more than the maximum of the 12,000.
    expect(reads[0]!['Actual Rows']).toBeCloseTo((3 + 10_000 + 10_001) / 3, -1);
  });

  it('reads a history and a balance as of a time by points, for any number of entries', async () => {
    const user = await given.directUser(2);
    const tenant = user.id.replace('account_', '');
    const { sql } = world;
    const [days, perDay, first] = [400, 50, 1_700_006_400];
    await sql`insert into balance (tenant_id, livemode, account_id, currency, of_partner, context_id, on_root_list,
      available, version)
      values (${tenant}, false, ${user.id}, 'INR', false, ${user.id}, true, ${days * perDay}, ${days * perDay})`;
    await sql`insert into entry (tenant_id, livemode, id, created, posting_id, account_id, amount, currency, category,
      payment_id, balance_after, version, context_id, on_root_list)
      select ${tenant}, false, 'bt_' || n, ${first}::bigint + (n - 1) * 86400 / ${perDay}::int, 'posting_' || n,
      ${user.id}, 1, 'INR', 'available', 'payment_' || n, n, n, ${user.id}, true
      from generate_series(1, ${days * perDay}::int) n`;
    await sql`vacuum analyze entry`;
    const pagesOf = async (from: number, to: number) => {
      const iso = (day: number) => new Date((first + day * 86_400) * 1000).toISOString();
      const asked = await askedBy(() =>
        user.graph(
          `{ account(id: "${user.id}") { balanceHistory(from: "${iso(from)}", to: "${iso(to)}", interval: DAY) ` +
            '{ available } } }',
        ),
      );
      return buffersOf(asked.get('balance_history_day')!);
    };
    // The look-up of the last entry of each day takes some four pages.
    for (const [from, to] of [
      [0, 400],
      [0, 100],
      [300, 400],
      [399, 400],
    ] as const)
      expect([from, to, await pagesOf(from, to)]).toEqual([
        from,
        to,
        expect.toSatisfy((n: number) => n <= 60 + (to - from) * 5),
      ]);
    const at = new Date((first + 200 * 86_400) * 1000).toISOString();
    const asked = await askedBy(() =>
      user.graph(`{ account(id: "${user.id}") { balance(asOf: "${at}") { available { amount } } } }`),
    );
    expect(await buffersOf(asked.get('balance_history_as_of')!)).toBeLessThanOrEqual(100);
  });

  it('reads each posting of a block once, by any plan, also of a tenant that has just begun', async () => {
    const count = 500;
    const add = (tenants: string) => {
      const rows = `from unnest('${tenants}'::text[]) t, generate_series(1, ${count}) n`;
      return world.sql.unsafe(`
        insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
          select t, false, 'posting_' || n, n, 'deposit', 'payment_' || n, 'payment_' || n ${rows};
        insert into entry (tenant_id, livemode, id, created, posting_id, account_id, amount, currency, category,
          payment_id, balance_after, version, context_id, on_root_list)
          select t, false, 'bt_' || n, n, 'posting_' || n, 'account', 1, 'INR', 'available', 'payment_' || n, n, n,
          'account', true ${rows};
        insert into contra_entry (tenant_id, livemode, id, created, posting_id, contra, amount, currency)
          select t, false, 'contra_' || n, n, 'posting_' || n, 'clearing', -1, 'INR' ${rows}`);
    };
    await add('{sealed1, sealed2, sealed3, sealed4, sealed5, sealed6, sealed7, sealed8}');
    await world.sql`analyze posting, entry, contra_entry`;
    await add('{begun}');
    const ids = Array.from({ length: count }, (_, n) => `posting_${n + 1}`);
    for (const mode of ['force_generic_plan', 'force_custom_plan'])
      for (const tenant of ['sealed3', 'begun']) {
        const plans = await plansWithin(mode, 'select cardinality(posting_texts($1, false, $2))', [tenant, ids]);
        const seen = plans.flatMap(nodesOf).map(rowsSeenBy);
        expect(seen.filter((n) => n === count).length, mode).toBeGreaterThanOrEqual(3);
        // The ids, their postings, and the entries on both sides.
        expect(Math.max(...seen), `${mode} ${tenant}`).toBeLessThanOrEqual(4 * count);
      }
  });

  it('reads the totals of deposits by points, for any number of deposits and for ends within an hour', async () => {
    const user = await given.directUser(2);
    const tenant = tenantOf(user.id);
    const { sql } = world;
    const [days, perDay, first] = [400, 48, 1_700_006_400];
    await sql`insert into deposit (tenant_id, livemode, id, created, amount, currency, to_account_id, payment_method,
      statement_descriptor, status, payment_id, context_id, on_root_list)
      select ${tenant}, false, 'deposit_' || lpad(n::text, 8, '0'), ${first}::bigint + (n - 1) * 86400 / ${perDay}::int,
      100, 'INR', ${user.id}, 'upi', '', 'completed', 'payment_' || n, ${user.id}, true
      from generate_series(1, ${days * perDay}::bigint) n`;
    await sql`insert into deposit_total_backfill values (${tenant}, false, '', 0)`;
    for (let more = true; more; ) {
      const [row] = await world.database.call('backfill_deposit_totals', [tenant, false, 10_000]);
      more = row!.backfill_deposit_totals !== null;
    }
    await sql`vacuum analyze deposit`;
    await sql`vacuum analyze deposit_total`;
    const read = async (from: number, to: number, interval = 'DAY', timeZone = 'UTC') => {
      const iso = (at: number) => new Date((first + at * 86_400) * 1000).toISOString();
      let count = 0;
      const asked = await askedBy(async () => {
        const { body } = await user.graph(
          `{ account(id: "${user.id}") { depositTotals(from: "${iso(from)}", to: "${iso(to)}", interval: ` +
            `${interval}, timeZone: "${timeZone}") { count } } }`,
        );
        count = body.data.account.depositTotals.reduce((sum: number, total: any) => sum + total.count, 0);
      });
      const name = `deposit_totals_${interval.toLowerCase()}${timeZone === 'UTC' ? '' : ':zoned'}`;
      return { count, buffers: buffersIn(await keptPlan(asked.get(name)!)) };
    };
    for (const [from, to, interval, count] of [
      [0, 400, 'DAY', 19_200],
      [0, 400, 'MONTH', 19_200],
      [100.26, 399.74, 'DAY', 14_375],
      [300.26, 330.74, 'DAY', 1_463],
      [399, 400, 'DAY', 48],
      [200.26, 200.74, 'DAY', 23],
    ] as const)
      expect([from, to, interval, await read(from, to, interval)]).toEqual([
        ...[from, to, interval],
        { count, buffers: expect.toSatisfy((n: number) => n <= 30 + (to - from) / 10) },
      ]);
    // In another time zone a day is one look-up of its hours, some five pages; where it differs from UTC by half an
    // hour, one hour of each step is read from the deposits too, some seven pages for two deposits.
    for (const [from, to, interval, timeZone, count, most] of [
      [0, 400, 'DAY', 'America/New_York', 19_200, 6],
      [0, 400, 'MONTH', 'America/New_York', 19_200, 1],
      [0, 400, 'DAY', 'Asia/Kolkata', 19_200, 13],
      [300.26, 330.74, 'DAY', 'Asia/Kolkata', 1_463, 13],
    ] as const)
      expect([from, to, timeZone, await read(from, to, interval, timeZone)]).toEqual([
        ...[from, to, timeZone],
        { count, buffers: expect.toSatisfy((n: number) => n <= 60 + (to - from) * most) },
      ]);
  });

  // The merged parts depend on the requested statuses: each combination is a separate statement.
  it('uses an index for the operator too, over all tenants, for all modes, statuses and cursors', async () => {
    const { operator } = world;
    const asked = await askedBy(async () => {
      for (const list of ['accounts', 'payouts'] as const)
        for (const livemode of [undefined, true])
          for (const status of [undefined, list === 'accounts' ? 'verifying' : 'processing'] as const)
            for (const after of [undefined, `1.x.live`])
              await operator[list]({ livemode, status: status as never, after });
      const key = { tenantId: 'tenant', livemode: false };
      await operator.related().all(person, person.accountId, key, 'account_a');
      await operator.related().one(file, file.id, key, 'file_a');
    });
    const lists = [...asked].filter(([name]) => /^operator_(accounts|payouts|related):/.test(name));
    expect(lists.length).toBeGreaterThanOrEqual(18);
    for (const [name, { statement }] of lists) {
      const related = name.startsWith('operator_related');
      const nodes = nodesOf(await planOf(statement));
      const scans = nodes.filter((node) => node['Relation Name']);
      expect([name, nodes.map((node) => node['Node Type'])]).not.toContainEqual(expect.arrayContaining(['Seq Scan']));
      if (related) continue;
      expect([name, nodes.map((node) => node['Node Type']).filter((type) => /Sort/.test(type))]).toEqual([name, []]);
      for (const scan of scans) {
        expect(scan['Index Name']).toMatch(/_queue$/);
        expect(scan['Index Cond']).toMatch(/status = /);
        if (name.endsWith(':after')) expect(scan['Index Cond']).toMatch(/ROW\(/);
      }
    }
  });

  it("uses an index with its order for the lists of the operators' console, with each filter and cursor", async () => {
    const { operator } = world;
    const asked = await askedBy(async () => {
      for (const after of [undefined, '9'])
        for (const name of [undefined, 'anna'])
          for (const operation of [undefined, 'settlePayout'])
            for (const objectId of [undefined, 'payout_1'])
              await operator.actions({ limit: 1, after, operator: name, operation, objectId });
      const cursor = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
      for (const after of [undefined, cursor(1, 'tenant', true, 'reference', 'received')])
        await operator.notices(1, after);
      for (const after of [undefined, cursor(1, 'account_setting_1', true)]) await operator.holds(1, after);
    });
    const lists = [...asked].filter(([name]) => /^operator_(actions|notices|holds)/.test(name));
    expect(lists.length).toBe(20);
    for (const [name, { statement }] of lists) {
      const nodes = nodesOf(await planOf(statement));
      const types = nodes.map((node) => node['Node Type']);
      expect([name, types]).not.toContainEqual(expect.arrayContaining(['Seq Scan']));
      // The actions on one object are few, and are read as a whole.
      if (name.includes('objectId')) {
        expect([name, nodes.map((node) => node['Index Name'])]).toEqual([
          name,
          expect.arrayContaining(['operator_action_of_object']),
        ]);
        continue;
      }
      expect([name, types.filter((type) => /Sort/.test(type))]).toEqual([name, []]);
      // A rare operator or operation is not looked for among all actions.
      const [, , filter = ''] = /^operator_(actions):(operator:operation|operator|operation)?/.exec(name) ?? [];
      const index = { operator: 'of_operator', operation: 'of_operation', 'operator:operation': 'of_both' }[filter];
      if (index)
        expect([name, nodes.map((node) => node['Index Name'])]).toContainEqual(
          expect.arrayContaining([`operator_action_${index}`]),
        );
    }
  });

  it.each(['account', 'address', 'deposit', 'payout'] as const)(
    'finds by an id alone for the operator: %s',
    async (name) => {
      const { operator } = world;
      const notice = {
        reference: 'x',
        event: 'received',
        addressId: 'address_0',
        amount: 100n,
        currency: 'USD',
      } as const;
      const asked = await askedBy(async () => {
        await operator.account('account_0').catch(() => {});
        await operator.payout('payout_0').catch(() => {});
        await operator.reconcile('deposit_0', []).catch(() => {});
        await operator.bankNotice(notice).catch(() => {});
      });
      const nodes = nodesOf(await planOf(asked.get(`operator_${name}`)!.statement));
      expect(nodes.map((node) => node['Index Name'])).toEqual([`${name}_by_id`]);
    },
  );

  it('is checked for every list, and for every edge to a page of one', () => {
    const nameOf = (table: Rows, match?: PgColumn | Link) =>
      `${getTableName(table)}${match ? ` by ${'links' in match ? getTableName(match.links) : match.name}` : ''}`;
    const declared = resources.flatMap(({ node, fields = [] }) => [
      ...(node ? [nameOf(node.rows)] : []),
      ...fields.flatMap(({ edges }) =>
        Object.values(edges).flatMap((edge) => (edge.read === 'edge' ? [nameOf(edge.table, edge.match)] : [])),
      ),
    ]);
    const tried = lists.flatMap(({ table, edges }) => [nameOf(table), ...edges.map((edge) => nameOf(table, edge))]);
    const missing = [...new Set(declared)].filter((name) => !tried.includes(name));
    expect(missing.toSorted()).toEqual(unseededLists.toSorted());
  });
});
