import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgColumn } from 'drizzle-orm/pg-core';
import { describe, expect, it } from 'vitest';
import { accountListing } from '../src/account/resolver.js';
import { account } from '../src/account/table.js';
import { accountSettingListing } from '../src/account-setting/resolver.js';
import { accountSetting } from '../src/account-setting/table.js';
import { addressListing } from '../src/address/resolver.js';
import { address } from '../src/address/table.js';
import { balanceTransactionListing } from '../src/balance-transaction/resolver.js';
import type { Caller } from '../src/caller.js';
import { Scope, type Rows } from '../src/db/scope.js';
import { depositListing } from '../src/deposit/resolver.js';
import { deposit } from '../src/deposit/table.js';
import { eventListing } from '../src/event/resolver.js';
import { event } from '../src/event/table.js';
import { fileListing } from '../src/file/resolver.js';
import { file } from '../src/file/table.js';
import { apiKeyListing } from '../src/key/resolver.js';
import { apiKey } from '../src/key/table.js';
import { entry } from '../src/ledger/table.js';
import type { Listing, PageArgs } from '../src/listing.js';
import { paymentListing } from '../src/payment/resolver.js';
import { payment } from '../src/payment/table.js';
import { payoutListing } from '../src/payout/resolver.js';
import { payout } from '../src/payout/table.js';
import { personListing } from '../src/person/resolver.js';
import { person } from '../src/person/table.js';
import { receivableListing } from '../src/receivable/resolver.js';
import { receivable } from '../src/receivable/table.js';
import { useWorld } from './world.js';

const world = useWorld({ worker: false });

/** Every list of the product, and the edges by which one parent's part of it is read. */
const lists: { table: Rows; listing: Listing; edges: PgColumn[] }[] = [
  { table: account, listing: accountListing, edges: [account.ownerId] },
  { table: accountSetting, listing: accountSettingListing, edges: [] },
  { table: address, listing: addressListing, edges: [address.linkedId] },
  { table: entry, listing: balanceTransactionListing, edges: [entry.accountId, entry.paymentId] },
  { table: deposit, listing: depositListing, edges: [deposit.toAccountId, deposit.fromAccountId] },
  { table: event, listing: eventListing, edges: [] },
  { table: file, listing: fileListing, edges: [file.accountId] },
  { table: apiKey, listing: apiKeyListing, edges: [apiKey.accountId] },
  { table: payment, listing: paymentListing, edges: [payment.accountId] },
  { table: payout, listing: payoutListing, edges: [payout.accountId, payout.addressId] },
  { table: person, listing: personListing, edges: [person.accountId] },
  { table: receivable, listing: receivableListing, edges: [receivable.accountId] },
];

const caller = (kind: 'platform' | 'connected_user'): Caller => ({
  tenantId: 'tenant',
  livemode: false,
  edition: 1,
  kind,
  permission: 'full',
  keyId: null,
  accountId: 'account_a',
  contextId: 'account_a',
  contextKind: kind,
});

/** The arguments of each filter by itself, of all filters together, and of a range of time; each from both ends and from a cursor. */
function argumentsOf(listing: Listing): PageArgs[] {
  const value = (column: Listing['filters'][string]) =>
    is(column, PgColumn) ? (column.dataType === 'boolean' ? true : ['x']) : 'x';
  const nested = (name: string, of: unknown) =>
    name.split('.').reduceRight<any>((inner, key) => ({ [key]: inner }), of);
  const each = Object.entries(listing.filters).map(([name, column]) => nested(name, value(column)));
  const filters = [{}, ...each, { created: { gte: 1, lt: 2 } }, ...each.map((one) => ({ ...one, created: { gt: 1 } }))];
  return filters.flatMap((filter) => [
    { ...filter, first: 10 },
    { ...filter, last: 10 },
    { ...filter, first: 10, after: 'x' },
    { ...filter, last: 10, before: 'x' },
  ]);
}

/** What sorts after all, and how much it is. */
const sorted: [statements: RegExp, why: string][] = [
  [/^page:account_setting:all:.*:accountId(:|$)/, 'an account has one setting'],
  [/^page:entry:(root|context):(?!.*accountId)/, 'never asked: balance transactions are always those of one account'],
  [
    /^page:deposit:all:.*:accountId(:|$)/,
    'the deposits of one account on either side, of which no index has the order',
  ],
];

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Plan[];
}

/** The plan for whatever values come, where a whole scan or a sort is taken only if nothing else can do it. */
async function planOf(statement: string): Promise<Plan> {
  const rows = await world.sql.begin(async (sql) => {
    for (const dear of ['seqscan', 'sort', 'incremental_sort', 'bitmapscan'])
      await sql.unsafe(`set local enable_${dear} = off`);
    return sql.unsafe(`explain (generic_plan, format json) ${statement}`);
  });
  return (rows[0] as any)['QUERY PLAN'][0].Plan;
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

describe('the plan of a list', () => {
  it.each(lists.map((one) => [getTableName(one.table), one] as const))(
    'walks an index that has its order, whatever the filters, the end and the cursor: %s',
    async (_, { table, listing, edges }) => {
      const { database } = world;
      for (const kind of ['platform', 'connected_user'] as const) {
        for (const args of argumentsOf(listing)) {
          const scope = new Scope(caller(kind), database);
          await scope.page(table, listing, args).catch(() => {});
          for (const parent of edges) await scope.edge(table, listing, parent, 'account_a', args).catch(() => {});
        }
      }
      const name = getTableName(table);
      const statements = [...database.catalogue].filter(
        ([key]) => new RegExp(`^(page|edge:\\w+):${name}:`).test(key) && !sorted.some(([those]) => those.test(key)),
      );
      expect(statements.length).toBeGreaterThanOrEqual(8);
      const faults = await Promise.all(
        statements.map(async ([key, statement]) => {
          const found = nodesOf(await planOf(statement)).map((node) => node['Node Type']);
          return found.some((type) => /^Seq Scan$|Sort/.test(type)) ? [`${key}: ${found.join(' < ')}`] : [];
        }),
      );
      expect(faults.flat()).toEqual([]);
    },
  );

  it('is looked at for every table that has a list', () => {
    for (const { table } of lists) expect(Object.keys(getTableColumns(table))).toContain('created');
  });
});
