import { getTableName, is, Param, Placeholder, sql } from 'drizzle-orm';
import { PgColumn, PgDialect } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { accountListing } from '../../src/resources/account/listing.js';
import { account } from '../../src/resources/account/table.js';
import { accountSettingListing } from '../../src/resources/account-setting/listing.js';
import { accountSetting } from '../../src/resources/account-setting/table.js';
import { addressListing } from '../../src/resources/address/listing.js';
import { address } from '../../src/resources/address/table.js';
import { balanceTransactionListing } from '../../src/resources/balance-transaction/listing.js';
import type { Caller } from '../../src/request/caller.js';
import { checkoutNow } from '../../src/resources/checkout/now.js';
import { checkoutListing, ofReceivable } from '../../src/resources/checkout/listing.js';
import type { Link, Rows } from '../../src/db/list/statement.js';
import { Scope } from '../../src/db/scope.js';
import { depositListing } from '../../src/resources/deposit/listing.js';
import { deposit } from '../../src/resources/deposit/table.js';
import { eventListing } from '../../src/resources/event/listing.js';
import { event } from '../../src/resources/event/table.js';
import { exportListing } from '../../src/resources/export/listing.js';
import { dataExport } from '../../src/resources/export/table.js';
import { importListing } from '../../src/resources/import/listing.js';
import { dataImport } from '../../src/resources/import/table.js';
import { importRowListing } from '../../src/resources/import-row/listing.js';
import { importRow } from '../../src/resources/import-row/table.js';
import { usedByAccount, usedByAddress, usedByPerson, usedByReceivable } from '../../src/resources/file/reference.js';
import { transactionListing } from '../../src/resources/transaction/listing.js';
import { transaction } from '../../src/resources/transaction/table.js';
import { fileListing } from '../../src/resources/file/listing.js';
import { file } from '../../src/resources/file/table.js';
import { apiKeyListing } from '../../src/resources/key/listing.js';
import { apiKey } from '../../src/resources/key/table.js';
import { webhookDelivery } from '../../src/resources/webhook-delivery/table.js';
import { webhookDeliveryListing } from '../../src/resources/webhook-delivery/listing.js';
import { webhookEndpoint } from '../../src/resources/webhook-endpoint/table.js';
import { webhookEndpointListing } from '../../src/resources/webhook-endpoint/listing.js';
import { requestLog } from '../../src/resources/request-log/table.js';
import { requestLogListing } from '../../src/resources/request-log/listing.js';
import { sessionListing } from '../../src/resources/session/listing.js';
import { session } from '../../src/resources/session/table.js';
import { entry } from '../../src/resources/ledger/table.js';
import { type Listing, type PageArgs, readOf } from '../../src/types/pagination.js';
import { paymentListing } from '../../src/resources/payment/listing.js';
import { payment } from '../../src/resources/payment/table.js';
import { payoutListing } from '../../src/resources/payout/listing.js';
import { payout } from '../../src/resources/payout/table.js';
import { disputeListing } from '../../src/resources/dispute/listing.js';
import { dispute } from '../../src/resources/dispute/table.js';
import { changeRequestListing } from '../../src/resources/change-request/listing.js';
import { changeRequest } from '../../src/resources/change-request/table.js';
import { refundListing } from '../../src/resources/refund/listing.js';
import { refund } from '../../src/resources/refund/table.js';
import { personListing } from '../../src/resources/person/listing.js';
import { person } from '../../src/resources/person/table.js';
import { receivableListing } from '../../src/resources/receivable/listing.js';
import { receivable } from '../../src/resources/receivable/table.js';
import { snake } from '../../src/errors/problems.js';
import { buffersIn, explained, type Plan, ran } from '../support/explained.js';
import { covering } from '../support/scale.js';
import { seedTrade } from './trade.js';
import { givenIn, tenantOf, type World } from '../support/world.js';

export interface List {
  table: Rows;
  listing: Listing;
  edges: (PgColumn | Link)[];
  /** Whether it is a list of its own, and not only an edge. */
  root?: false;
  /** Arguments that each page has. */
  always?: object;
}

/** Every list of the product, with the edges that read one parent's part of it. */
export const lists: List[] = [
  { table: account, listing: accountListing, edges: [usedByAccount] },
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
  { table: address, listing: addressListing, edges: [address.linkedId, usedByAddress] },
  { table: entry, listing: balanceTransactionListing, edges: [entry.accountId, entry.paymentId] },
  {
    table: checkoutNow,
    listing: checkoutListing,
    edges: [checkoutNow.toAccountId, checkoutNow.fromAccountId, ofReceivable],
  },
  { table: checkoutNow, listing: checkoutListing, edges: [], always: { scope: 'descendants' } },
  {
    table: deposit,
    listing: depositListing,
    edges: [deposit.toAccountId, deposit.fromAccountId, deposit.toAddressId, deposit.disputesId],
  },
  { table: deposit, listing: depositListing, edges: [], always: { scope: 'descendants' } },
  { table: dispute, listing: disputeListing, edges: [dispute.accountId, dispute.depositId] },
  { table: event, listing: eventListing, edges: [event.actingAccountId, event.objectId] },
  { table: event, listing: eventListing, edges: [], always: { scope: 'descendants' } },
  { table: dataExport, listing: exportListing, edges: [dataExport.accountId] },
  { table: dataImport, listing: importListing, edges: [dataImport.accountId, dataImport.fileId] },
  { table: importRow, listing: importRowListing, edges: [importRow.importId], root: false },
  { table: file, listing: fileListing, edges: [file.accountId] },
  { table: apiKey, listing: apiKeyListing, edges: [apiKey.accountId] },
  { table: payment, listing: paymentListing, edges: [payment.accountId, payment.checkoutId] },
  { table: payout, listing: payoutListing, edges: [payout.accountId, payout.addressId] },
  { table: payout, listing: payoutListing, edges: [], always: { scope: 'descendants' } },
  { table: changeRequest, listing: changeRequestListing, edges: [changeRequest.accountId] },
  { table: refund, listing: refundListing, edges: [refund.accountId, refund.depositId, refund.checkoutId] },
  { table: person, listing: personListing, edges: [person.accountId, usedByPerson] },
  {
    table: receivable,
    listing: receivableListing,
    edges: [receivable.accountId, receivable.customerId, usedByReceivable],
  },
  { table: receivable, listing: receivableListing, edges: [], always: { scope: 'descendants' } },
  { table: requestLog, listing: requestLogListing, edges: [] },
  { table: session, listing: sessionListing, edges: [session.accountId, session.apiKeyId] },
  { table: webhookEndpoint, listing: webhookEndpointListing, edges: [webhookEndpoint.accountId] },
  { table: transaction, listing: transactionListing, edges: [transaction.checkoutId], root: false },
  {
    table: webhookDelivery,
    listing: webhookDeliveryListing,
    edges: [webhookDelivery.endpointId, webhookDelivery.eventId],
  },
];

export const userOf = 'account_user_00000001';

/** A statement as it was sent, with its values. */
export interface Asked {
  statement: string;
  values: unknown[];
}

export function valueOf(param: unknown, values: Record<string, unknown>): unknown {
  if (is(param, Placeholder)) return values[param.name];
  if (!is(param, Param)) return param;
  return param.encoder.mapToDriverValue(is(param.value, Placeholder) ? values[param.value.name] : param.value);
}

const named = (column: PgColumn | undefined) => `"${column!.name}"`;

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

const merged = (a: any, b: any): any =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((key) => [
      key,
      key in a && key in b && typeof a[key] === 'object' ? merged(a[key], b[key]) : (b[key] ?? a[key]),
    ]),
  );

/** The callers that ask for a list; they differ by the columns that limit what they see. */
const kinds = ['platform', 'connected_user'] as const;
export type Kind = (typeof kinds)[number];

const byKind = (rows: { kind: Kind; args: PageArgs }[]): Map<Kind, PageArgs[]> =>
  new Map(kinds.map((kind) => [kind, rows.flatMap((row) => (row.kind === kind ? [row.args] : []))]));

/** Statements that need a sort, and its size. */
export const sorted: [statements: RegExp, why: string][] = [
  [
    /^(edge|count):file_id:(account|person):/,
    'accounts and persons name files in two of their columns each: all that name a file are read, and sorted',
  ],
  [/^page:account_setting:all:.*:accountId(:|$)/, 'an account has one setting'],
  [
    /^page:entry:(root|actingAccount):(?!.*accountId)/,
    'never asked: balance transactions are always those of one account',
  ],
];

/** The faults of a chosen plan: it reads a seeded table completely, or sorts more than was requested. */
export function faultsOf(plan: Plan): string[] {
  return nodesOf(plan).flatMap((node) => {
    if (node['Node Type'] === 'Seq Scan' && !unseeded.has(node['Relation Name']!))
      return [`scans ${node['Relation Name']}`];
    // A list of values has the first rows of each.
    const sorted = /Sort/.test(node['Node Type']) ? node.Plans![0]!['Actual Rows']! : 0;
    return sorted > readOf(11) * (limited(node) ? 3 : 1) ? [`sorts ${sorted} rows`] : [];
  });
}
/** Whether every scan of a table below a node has a limit of its own. */
export const limited = (node: Plan): boolean =>
  (node.Plans ?? []).every(
    (below) => below['Node Type'] === 'Limit' || (below['Relation Name'] === undefined && limited(below)),
  );

/** Whether a sort is of the checkouts whose time is over and that no worker has marked yet. */
export const ofOverdue = (node: Plan) => node.Plans?.[0]?.['Index Name']?.startsWith('checkout_due_') ?? false;

/** The rows that a part of a plan found or looked at, over all its runs. */
export function rowsSeenBy(node: Plan): number {
  const removed = (node['Rows Removed by Join Filter'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
  return Math.round(((node['Actual Rows'] ?? 0) + removed) * (node['Actual Loops'] ?? 1));
}

/** A cursor that is not in the filtered list is refused after the statement. */
export const ignored = () => undefined;

/** The most pages that a page of a list may need, whatever the values that it is filtered by. */
export const buffersMax = 200;

/** Tables of which a tenant has one row, or one for each user and currency: they are one page. */
export const unseeded = new Set(['test_clock', 'lock_batch']);

export const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Lists of platforms with many rows, the statements that read them, and their plans. */
export function plannerIn(world: World) {
  const given = givenIn(world);
  const platforms = {} as {
    /**
     * A platform with tens of thousands of rows in test mode, another platform and a live mode with hundreds, and a
     * user of each.
     */
    large: string;
  };
  let small: string;

  /** The one connection on which statements are explained. */
  let planning: postgres.Sql;

  beforeAll(async () => {
    [platforms.large, small] = [(await given.platform(2)).id, (await given.platform(2)).id];
    const few = { edition: 2, users: 10, trades: 30, others: 200 } as const;
    await seedTrade(
      world.sql,
      { platform: platforms.large, edition: 2, livemode: false, users: 20, trades: 500, others: 3_000 },
      { ...few, platform: platforms.large, livemode: true },
      { ...few, platform: small, livemode: false },
    );
    planning = postgres({ ...inject('admin'), database: world.sql.options.database, max: 1, max_lifetime: null });
  });

  afterAll(() => planning?.end());

  const caller = (kind: 'platform' | 'connected_user', platform = platforms.large): Caller => ({
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

  const first = async (statement: string, values: unknown[]) =>
    (await world.sql.unsafe(statement, values as never[])).map((row) => Object.values(row)[0] as string | boolean);

  /** The values that a column has most often in the large list: the usual values of filters. */
  const usual = ({ table, listing }: List, column: PgColumn, most: number, where = 'true') =>
    first(
      `select ${named(column)} from ${getTableName(column.table)} where tenant_id = $1 and livemode = false and ${where}
         and ${named(column)} is not null
         ${table === account && listing.fixed ? `and type = '${listing.fixed.type}'` : ''}
       group by 1 order by count(*) desc, 1 limit ${most}`,
      [tenantOf(platforms.large)],
    );

  /** A row in the middle of a list, and the time of the middle of the table. */
  async function middleOf({ table }: List, owner: string): Promise<{ cursor: string; time: number }> {
    const name = getTableName(table);
    const [middle] = await first(
      `select id from ${name} where tenant_id = $1 and livemode = false and context_id <> $2
       order by created desc, id desc offset (select count(*) / 2 from ${name} where tenant_id = $1
       and livemode = false)`,
      [tenantOf(platforms.large), platforms.large],
    );
    const [time] = await first(`select created from ${name} where tenant_id = $1 and id = $2`, [
      tenantOf(platforms.large),
      middle,
    ]);
    const [own] = await first(
      `select id from ${name} where tenant_id = $1 and livemode = false and context_id = $2 limit 1`,
      [tenantOf(platforms.large), owner],
    );
    return { cursor: String(owner === platforms.large ? middle : own), time: Number(time) };
  }

  /** For each key of several filters usual values of all of them, and all but the last with one that no row has. */
  async function togetherOf(list: List, keys: Listing['keys'] = {}): Promise<Record<string, string[]>[]> {
    const combined = Object.values(keys).filter((key) => key.length > 1);
    const found = combined.map(async (key) => {
      const columns = key.map((name) => columnOf(list.listing.filters[name] as Filter));
      const values = await Promise.all(columns.map(async (column) => (await usual(list, column, 1))[0] as string));
      return [values, [...values.slice(0, -1), 'none']].map((each) =>
        Object.fromEntries(key.map((name, i) => [name, [each[i]!]])),
      );
    });
    return (await Promise.all(found)).flat();
  }

  /**
   * Each filter by itself and with an account, for a usual, a rare and an absent value, and for a list of all three,
   * and the filters that have an index together; the first page, and one from the middle backwards.
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
    for (const some of await togetherOf(list, listing.keys))
      all.push(some, ...(account ? [{ ...some, ...nested(account, userOf) }] : []));
    return all.flatMap((one) => ends.map((end) => ({ ...one, ...end, ...list.always }))) as PageArgs[];
  }

  /**
   * The arguments of each filter by itself, of all filters together, and of a range of time; each from both ends and
   * from a cursor in the middle.
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
      const values = await usual(list, column, 2, `(context_id = '${owner}' or '${owner}' = '${platforms.large}')`);
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
   * Every order by a value, both ways, for usual, rare and absent values of the first filter of its keys and of those
   * that have an index together, with and without a range, from both ends.
   */
  async function orderedOf(list: List, owner: string): Promise<PageArgs[]> {
    const { table, listing } = list;
    const mine = `(context_id = '${owner}' or '${owner}' = '${platforms.large}')`;
    const all: object[] = [];
    for (const [order, { keys, one, by, type, view }] of Object.entries(listing.orders ?? {})) {
      if (view) {
        all.push(...(await rankedOf(list, order, owner)));
        continue;
      }
      const key = Object.values(keys)[0]![0]!;
      const values = !one;
      const column = columnOf(listing.filters[key] as Filter);
      const usualKeys = await usual(list, column, 1_000, mine);
      const { sql: value } = new PgDialect().sqlToQuery(sql`${by((column) => column)}`);
      const name = getTableName(table);
      const [middle] = await first(
        `select id from ${name} where tenant_id = $1 and livemode = false and ${mine} and ${named(column)} = $2
         order by ${value}, id offset (select count(*) / 2 from ${name} where tenant_id = $1 and livemode = false
         and context_id = '${userOf}')`,
        [tenantOf(platforms.large), usualKeys[0]],
      );
      const range = type === 'text' ? { gte: '2026-03-01', lt: '2026-12-24' } : { gte: 5n, lte: 1_000n };
      const filters: object[] = values
        ? [{}, { [key]: [usualKeys[0]] }, { [key]: [usualKeys.at(-1), 'none'] }, { overdue: true }]
        : [usualKeys[0], usualKeys.at(-1), 'none'].map((each) => ({ [key]: [each] }));
      const together = await togetherOf(list, keys);
      filters.push(...together, ...(values ? together.map(({ currency }) => ({ overdue: true, currency })) : []));
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
      [tenantOf(platforms.large), owner, platforms.large],
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

  /** Parents that have most rows, and that a caller sees. */
  const parentsOf = (list: List, column: PgColumn, kind: 'platform' | 'connected_user') =>
    usual(
      list,
      column,
      3,
      kind === 'connected_user' && column.table === list.table ? `context_id = '${userOf}'` : 'true',
    ) as Promise<string[]>;

  /** Parents whose lists have other orders: accounts, and for receivables the partners that they bill. */
  const ownersOf = async (list: List, parent: PgColumn, kind: Kind): Promise<string[]> => {
    if (parent === receivable.customerId) return (await parentsOf(list, parent, kind)).slice(0, 1);
    return kind === 'platform' ? [userOf, platforms.large] : [userOf];
  };

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
      for (const args of await argumentsOf(list, kind === 'platform' ? platforms.large : userOf))
        rows.push({ kind, args });
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
        for (const more of [pageInfo.hasNextPage, pageInfo.hasPreviousPage])
          if (typeof more === 'function') await more();
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

  /** The plan that PostgreSQL chooses for these values, with the numbers of rows. */
  const rowsPlan = ({ statement, values }: Asked): Promise<Plan> => ran(planning, statement, values);

  /** The plan that PostgreSQL chooses for these values, with the numbers of rows and of pages. */
  const chosenPlan = ({ statement, values }: Asked): Promise<Plan> => explained(planning, statement, values);

  const buffersOf = async (one: Asked): Promise<number> => buffersIn(await chosenPlan(one));

  /**
   * The plan that a connection keeps for a statement that it runs again and again, with the pages that it needs. Fails
   * if the connection plans the statement anew each time, because it expects a plan for these values to be cheaper.
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
      return await explained(connection, `execute kept (${given.join(', ')})`);
    } finally {
      await connection.end();
    }
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
  return {
    platforms,
    caller,
    askedBy,
    first,
    valuesOf,
    argumentsOf,
    orderedOf,
    ownersOf,
    parentsOf,
    triedBy,
    askFor,
    rowsPlan,
    chosenPlan,
    buffersOf,
    keptPlan,
    plansWithin,
    planOf,
  };
}
