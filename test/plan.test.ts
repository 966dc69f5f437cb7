import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgColumn } from 'drizzle-orm/pg-core';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { accountListing } from '../src/account/resolver.js';
import { account } from '../src/account/table.js';
import { accountSettingListing } from '../src/account-setting/resolver.js';
import { accountSetting } from '../src/account-setting/table.js';
import { addressListing } from '../src/address/resolver.js';
import { address } from '../src/address/table.js';
import { balanceTransactionListing } from '../src/balance-transaction/resolver.js';
import type { Caller } from '../src/caller.js';
import { checkoutNow } from '../src/checkout/now.js';
import { checkoutListing, ofReceivable } from '../src/checkout/resolver.js';
import { preparedMax } from '../src/db/database.js';
import { type Link, type Rows, Scope } from '../src/db/scope.js';
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
import { Worker } from '../src/worker.js';
import { receivableListing } from '../src/receivable/resolver.js';
import { receivable } from '../src/receivable/table.js';
import { useWorld } from './world.js';

const world = useWorld({ worker: false });

/** Every list of the product, and the edges by which one parent's part of it is read. */
const lists: { table: Rows; listing: Listing; edges: (PgColumn | Link)[] }[] = [
  { table: account, listing: accountListing, edges: [account.ownerId] },
  { table: accountSetting, listing: accountSettingListing, edges: [] },
  { table: address, listing: addressListing, edges: [address.linkedId] },
  { table: entry, listing: balanceTransactionListing, edges: [entry.accountId, entry.paymentId] },
  {
    table: checkoutNow,
    listing: checkoutListing,
    edges: [checkoutNow.toAccountId, checkoutNow.fromAccountId, ofReceivable],
  },
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
];

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
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
          await scope
            .page(table, listing, args)
            .then((page) => page.totalCount())
            .catch(() => {});
          // Nobody asks for one account's of what hangs by links.
          const asked = listing.byAccount.some((name) => name in args)
            ? edges.filter((parent) => is(parent, PgColumn))
            : edges;
          for (const parent of asked) await scope.edge(table, listing, parent, 'account_a', args).catch(() => {});
        }
      }
      // Beyond it nothing is kept, and nothing would be looked at.
      expect(database.catalogue.size).toBeLessThan(preparedMax);
      const name = getTableName(table);
      const statements = [...database.catalogue].filter(
        ([key]) =>
          new RegExp(`^(page|count|edge:\\w+):${name}:`).test(key) && !sorted.some(([those]) => those.test(key)),
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

  it.each([
    ['deposit', deposit, depositListing],
    ['checkout', checkoutNow, checkoutListing],
  ] as const)(
    'walks the index of each side where an account may be on either, from the cursor on: %s',
    async (name, table, listing) => {
      const { database } = world;
      await new Scope(caller('platform'), database)
        .page(table, listing, { accountId: 'x', last: 1, before: 'y' } as PageArgs)
        .catch(() => {});
      const statement = database.catalogue.get(`page:${getTableName(table)}:all:back:2:from:accountId`)!;
      const walks = nodesOf(await planOf(statement)).filter((node) => /ROW\(/.test(node['Index Cond'] ?? ''));
      expect(walks.map((node) => node['Index Name'])).toEqual([`${name}_to`, `${name}_from`]);
      for (const walk of walks) expect(walk['Index Cond']).toMatch(/tenant_id = .*livemode = .*account_id = /);
    },
  );

  // A worker asks four times a second, over connections that everybody reads through.
  it('bounds what a worker looks through for work that is due', async () => {
    const worker = new Worker(world.database, pino({ level: 'silent' }));
    worker.start();
    await worker.stop();
    const { sql, database } = world;
    await sql`
      insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select 'tenant', false, 'job_' || n, 1, 'none', 'subject_' || n, '{}', extract(epoch from now())::bigint + 86400 + n from generate_series(1, 5000) n`;
    await sql`analyze job`;
    const [plan] = await sql.unsafe(
      `explain (format json) ${database.catalogue.get('realms_with_jobs')!.replace(/\$\d+/, '100')}`,
    );
    expect(
      nodesOf((plan as any)['QUERY PLAN'][0].Plan).map((node) => [node['Index Name'], node['Index Cond']]),
    ).toContainEqual(['job_due', expect.stringContaining('due <=')]);
  });

  // Which parts are merged depends on what is asked for: each combination is a statement of its own.
  it('walks an index for the operator too, over all tenants, whatever the mode, the status and the cursor', async () => {
    const { database, operator } = world;
    for (const list of ['accounts', 'payouts'] as const)
      for (const livemode of [undefined, true])
        for (const status of [undefined, list === 'accounts' ? 'verifying' : 'processing'] as const)
          for (const after of [undefined, `1.x.live`])
            await operator[list]({ livemode, status: status as never, after });
    const key = { tenantId: 'tenant', livemode: false };
    await operator.related().all(person, person.accountId, key, 'account_a');
    await operator.related().one(file, file.id, key, 'file_a');
    const lists = [...database.catalogue].filter(([name]) => /^operator_(accounts|payouts|related):/.test(name));
    expect(lists.length).toBeGreaterThanOrEqual(18);
    for (const [name, statement] of lists) {
      const related = name.startsWith('operator_related');
      const nodes = nodesOf(await planOf(statement));
      const scans = nodes.filter((node) => node['Relation Name']);
      expect([name, nodes.map((node) => node['Node Type'])]).not.toContainEqual(expect.arrayContaining(['Seq Scan']));
      if (related) continue;
      expect([name, nodes.map((node) => node['Node Type']).filter((type) => /Sort/.test(type))]).toEqual([name, []]);
      for (const scan of scans) {
        expect(scan['Index Name']).toMatch(/_queue$/);
        expect(scan['Index Cond']).toMatch(/status = /);
        if (/:after$/.test(name)) expect(scan['Index Cond']).toMatch(/ROW\(/);
      }
    }
  });

  it.each(['account', 'address', 'payout'] as const)('looks up by an id alone for the operator: %s', async (name) => {
    const { database, operator } = world;
    await operator.account('account_0').catch(() => {});
    await operator.payout('payout_0').catch(() => {});
    const notice = {
      reference: 'x',
      event: 'received',
      addressId: 'address_0',
      amount: 100n,
      currency: 'USD',
    } as const;
    await operator.bankNotice(notice).catch(() => {});
    const nodes = nodesOf(await planOf(database.catalogue.get(`operator_${name}`)!));
    expect(nodes.map((node) => node['Index Name'])).toEqual([`${name}_by_id`]);
  });

  it('is looked at for every table that has a list', () => {
    for (const { table } of lists) expect(Object.keys(getTableColumns(table))).toContain('created');
  });
});
