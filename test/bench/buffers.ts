import 'reflect-metadata';
import { drizzle } from 'drizzle-orm/postgres-js';
import { is, Param, Placeholder } from 'drizzle-orm';
import type postgres from 'postgres';
import { connect, product, type Server } from './server.ts';
import { newest, seedTenants } from './tenants.ts';

/** The pages of 8 KB that each question reads or finds in memory, for tenants of three sizes. */
export interface Buffers {
  deposits: number;
  sizes: { name: string; deposits: number }[];
  questions: { name: string; buffers: (number | null)[] }[];
}

/** A statement as the product asks it, with its values. */
interface Asked {
  statement: string;
  values: unknown[];
}

type Ask = (tenant: TenantOf) => Promise<unknown>;
interface TenantOf {
  tenant: string;
  /** The connected user with most deposits, and a row of the product for it. */
  user: string;
  page(table: string, args: object): Promise<unknown>;
  read(
    about: 'asOf' | 'history' | 'totals' | 'platformTotals',
    range: { from: number; to: number; interval?: string },
  ): Promise<unknown>;
  operator(id: string): Promise<unknown>;
  deposit: string;
  deep: string;
  /** The metadata `order` of one deposit. */
  order: string;
}

const day = 86_400;
const questions: [name: string, ask: Ask][] = [
  ['deposits: first page', (t) => t.page('deposit', { first: 10 })],
  ['deposits: from the middle', (t) => t.page('deposit', { first: 10, after: t.deep })],
  [
    'deposits: a day',
    (t) => t.page('deposit', { first: 10, created: { gte: newest - 30 * day, lt: newest - 29 * day } }),
  ],
  ['deposits: by account', (t) => t.page('deposit', { first: 10, accountId: t.user })],
  ['deposits: a status without a row', (t) => t.page('deposit', { first: 10, status: ['initialized'] })],
  ['deposits: 16 of a million', (t) => t.page('deposit', { first: 10, status: ['cancelled'] })],
  ['deposits: 0.1 % by status', (t) => t.page('deposit', { first: 10, status: ['reversed'] })],
  ['deposits: two statuses', (t) => t.page('deposit', { first: 10, status: ['cancelled', 'completed'] })],
  ['deposits: 0.1 % by currency', (t) => t.page('deposit', { first: 10, currency: ['JPY'] })],
  ['deposits: a currency without a row', (t) => t.page('deposit', { first: 10, currency: ['AED'] })],
  [
    'deposits: account and a rare status',
    (t) => t.page('deposit', { first: 10, accountId: t.user, status: ['cancelled'] }),
  ],
  ['deposits: a search that finds all', (t) => t.page('deposit', { first: 10, search: 'invoice' })],
  ['deposits: the same from the middle', (t) => t.page('deposit', { first: 10, search: 'invoice', after: t.deep })],
  ['deposits: a search that finds a few', (t) => t.page('deposit', { first: 10, search: 'invoice 1234' })],
  ['deposits: a search that finds nothing', (t) => t.page('deposit', { first: 10, search: 'zz' })],
  ['deposits: a quarter by metadata', (t) => t.page('deposit', { first: 10, metadata: { key: 'order' } })],
  ['deposits: one by metadata', (t) => t.page('deposit', { first: 10, metadata: { key: 'order', value: t.order } })],
  [
    'deposits: metadata without a row',
    (t) => t.page('deposit', { first: 10, metadata: { key: 'order', value: 'none' } }),
  ],
  ['receivables: a search that finds all', (t) => t.page('receivable', { first: 10, search: 'r' })],
  ['receivables: a search that finds a few', (t) => t.page('receivable', { first: 10, search: 'r12' })],
  [
    'balance transactions: an absent category',
    (t) => t.page('entry', { first: 10, accountId: t.user, category: ['available'] }),
  ],
  ['receivables: 0.1 % by status', (t) => t.page('receivable', { first: 10, status: ['void'] })],
  ['receivables: a currency without a row', (t) => t.page('receivable', { first: 10, currency: ['AED'] })],
  ['events: first page', (t) => t.page('event', { first: 10 })],
  ['events: a rare type', (t) => t.page('event', { first: 10, type: ['deposit.cancelled'] })],
  ['events: created long ago', (t) => t.page('event', { first: 10, created: { lt: newest - 300 * day } })],
  ['balance as of a time', (t) => t.read('asOf', { from: newest - 180 * day, to: newest - 180 * day + 1 })],
  [
    'balanceHistory: a year by month',
    (t) => t.read('history', { from: newest - 360 * day, to: newest, interval: 'month' }),
  ],
  [
    'balanceHistory: a year by day',
    (t) => t.read('history', { from: newest - 360 * day, to: newest, interval: 'day' }),
  ],
  ['depositTotals: a month by day', (t) => t.read('totals', { from: newest - 30 * day, to: newest, interval: 'day' })],
  [
    'depositTotals of all accounts: a month by day',
    (t) => t.read('platformTotals', { from: newest - 30 * day, to: newest, interval: 'day' }),
  ],
  [
    'depositTotals: a year by month',
    (t) => t.read('totals', { from: newest - 360 * day, to: newest, interval: 'month' }),
  ],
  ['operator: a deposit by its id alone', (t) => t.operator(t.deposit)],
];

const tables: Record<string, [file: string, table: string, file: string, listing: string]> = {
  deposit: ['resources/deposit/table.js', 'deposit', 'resources/deposit/listing.js', 'depositListing'],
  entry: [
    'resources/ledger/table.js',
    'entry',
    'resources/balance-transaction/listing.js',
    'balanceTransactionListing',
  ],
  receivable: ['resources/receivable/table.js', 'receivable', 'resources/receivable/listing.js', 'receivableListing'],
  event: ['resources/event/table.js', 'event', 'resources/event/listing.js', 'eventListing'],
  payout: ['resources/payout/table.js', 'payout', 'resources/payout/listing.js', 'payoutListing'],
};

/** Each combination of a currency, a status and an order that lists have, with a frequent and a rare pair of values. */
const combined = ([table, orders, pairs]: readonly [
  table: string,
  orders: readonly string[],
  pairs: readonly (readonly [string, string])[],
]) =>
  orders.flatMap((orderBy) =>
    pairs.flatMap(([currency, status]): [string, Ask][] => {
      const name = `${table}s: ${orderBy}`;
      const page = (args: object) => (t: TenantOf) =>
        t.page(table, { first: 10, ...(orderBy !== 'created_desc' && { orderBy }), ...args });
      const both = { currency: [currency], status: [status] };
      const one: [string, Ask] = [`${name}, a status (${status})`, page({ status: [status] })];
      return [
        ...(orderBy.startsWith('amount') ? [] : [one]),
        [`${name}, a currency (${currency})`, page({ currency: [currency] })],
        [`${name}, both (${currency}, ${status})`, page(both)],
        [`${name}, both, of an account (${currency}, ${status})`, (t) => page({ ...both, accountId: t.user })(t)],
      ];
    }),
  );

const byAmount = ['created_desc', 'amount_desc', 'amount_asc'];
const combinations = (
  [
    [
      'deposit',
      byAmount,
      [
        ['USD', 'completed'],
        ['JPY', 'reversed'],
        ['AED', 'completed'],
      ],
    ],
    [
      'receivable',
      [...byAmount, 'due_date_asc', 'due_date_desc'],
      [
        ['USD', 'open'],
        ['JPY', 'void'],
        ['AED', 'open'],
      ],
    ],
    [
      'payout',
      byAmount,
      [
        ['USD', 'completed'],
        ['JPY', 'returned'],
        ['AED', 'completed'],
      ],
    ],
  ] as const
).flatMap(combined);
questions.push(...new Map(combinations), [
  'receivables: overdue',
  (t) => t.page('receivable', { first: 10, overdue: true }),
]);

/** Fills a database once, and counts the buffers of each question as the product asks it. */
export async function buffers(server: Server, deposits: number, progress: (step: string) => void): Promise<Buffers> {
  const { migrate } = await import(product('db/schema/migrate.js'));
  await migrate(server.login);
  const sql = connect(server.login);
  const { Database } = await import(product('db/database.js'));
  const database = new Database(server.login);
  try {
    const { sizes } = await seedTenants(sql, deposits, progress);
    const asked = capturing(database);
    const tenants = await Promise.all(sizes.map(({ tenant }) => tenantOf(sql, database, tenant)));
    const rows: Buffers['questions'] = [];
    for (const [name, ask] of questions) {
      progress(name);
      const found: (number | null)[] = [];
      for (const one of tenants) {
        asked.length = 0;
        // A page without rows behind a cursor is refused after its statement.
        await ask(one).catch(() => undefined);
        found.push(asked.length === 0 ? null : await buffersOf(sql, asked));
      }
      rows.push({ name, buffers: found });
    }
    const counts = await sql`select tenant_id, count(*)::int as n from deposit
        where tenant_id = any(${sizes.map(({ tenant }) => tenant)}) group by 1`;
    const countOf = (tenant: string) => Number(counts.find((row) => row.tenant_id === tenant)?.n ?? 0);
    return { deposits, sizes: sizes.map(({ name, tenant }) => ({ name, deposits: countOf(tenant) })), questions: rows };
  } finally {
    await database.close();
    await sql.end();
  }
}

/** Records what is asked of a database from now on. */
function capturing(database: { read: (...args: any[]) => Promise<unknown> }): Asked[] {
  const asked: Asked[] = [];
  const read = database.read;
  const builder = drizzle.mock();
  database.read = (...args) => {
    const [, build, values] = args;
    const { sql: statement, params } = build(builder).toSQL() as { sql: string; params: unknown[] };
    asked.push({ statement, values: params.map((param) => valueOf(param, values)) });
    return read.apply(database, args);
  };
  return asked;
}

function valueOf(param: unknown, values: Record<string, unknown>): unknown {
  if (is(param, Placeholder)) return values[param.name];
  if (!is(param, Param)) return param;
  return param.encoder.mapToDriverValue(is(param.value, Placeholder) ? values[param.value.name] : param.value);
}

async function buffersOf(sql: postgres.Sql, asked: Asked[]): Promise<number> {
  let sum = 0;
  for (const { statement, values } of asked) {
    const [row] = await sql.unsafe(
      `explain (analyze, buffers, timing off, format json) ${statement}`,
      values as never[],
    );
    const { Plan: plan } = (row as any)['QUERY PLAN'][0];
    sum += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }
  return sum;
}

async function tenantOf(sql: postgres.Sql, database: unknown, tenant: string): Promise<TenantOf> {
  // The types of events are known once all resources are.
  await import(product('resources/registry.js'));
  const { Scope } = await import(product('db/scope.js'));
  const { series } = await import(product('resources/balance/history.js'));
  const { depositTotals } = await import(product('resources/balance/totals.js'));
  const { Operator } = await import(product('operator/operator.js'));
  const { deposit } = await import(product('resources/deposit/table.js'));
  const account = `account_${tenant}`;
  const caller = {
    ...{ tenantId: tenant, livemode: false, edition: 1, kind: 'platform', permission: 'full', keyId: null },
    ...{ accountId: account, actingAccountId: account, actingAccountKind: 'platform' },
  };
  const [busiest] =
    await sql`select account_id from balance where tenant_id = ${tenant} group by 1 order by sum(version) desc limit 1`;
  const [middle] =
    await sql`select id from deposit where tenant_id = ${tenant} and not livemode and created <= ${newest - 180 * day}
      order by created desc limit 1`;
  const [marked] = await sql`select metadata ->> 'order' as name from deposit where tenant_id = ${tenant}
      and not livemode and metadata is not null order by created limit 1`;
  const order = String(marked?.name);
  const user = String(busiest?.account_id);
  const deep = String(middle?.id);
  const scope = () => new Scope(caller, database);
  return {
    ...{ tenant, user, deep, order, deposit: deep },
    async page(name, args) {
      const [file, table, listingFile, listing] = tables[name]!;
      return scope().page((await import(product(file)))[table], (await import(product(listingFile)))[listing], args);
    },
    read: (about, range) =>
      about === 'totals' || about === 'platformTotals'
        ? depositTotals(
            { id: about === 'totals' ? user : account },
            { scope: scope() },
            { ...range, scope: about === 'platformTotals' ? 'descendants' : 'self', timeZone: 'UTC' },
          )
        : series({ scope: scope() }, user, range),
    operator: (id) => Operator.prototype.byId.call({ database }, 'operator_deposit', deposit, id),
  };
}

/** The table of the questions, one column for each size of tenant. */
export function buffersTable({ deposits, sizes, questions: asked }: Buffers): string {
  const head = ['Buffers', ...sizes.map(({ name, deposits: own }) => `${name}: ${own.toLocaleString('en')} deposits`)];
  const rows = asked.map(({ name, buffers: each }) => [
    name,
    ...each.map((n) => (n === null ? '' : n.toLocaleString('en'))),
  ]);
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${deposits.toLocaleString('en')} deposits of 5,000 tenants.\n\n${lines.join('\n')}\n`;
}
