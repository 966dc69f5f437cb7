import { randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import type postgres from 'postgres';
import { connect, product, type Server } from './server.ts';

/** What a deposit costs: bytes by table, updates that left the indexes alone, and the CPU of PostgreSQL. */
export interface DepositCost {
  deposits: number;
  /** Bytes per deposit over all tables and indexes; and after the indexes were built anew. */
  bytes: number;
  rebuilt: number;
  tables: { name: string; rows: number; indexes: Record<string, number> }[];
  updates: { table: string; updates: number; hot: number }[];
  /** Milliseconds of CPU per deposit, the medians of the rounds, and bytes of WAL. */
  cpu: { creation: number; completion: number; worker: number };
  wal: number;
}

const tenant = `${'0'.repeat(20)}a1b2c3d4e5f6`;
const root = `account_${tenant}`;
const accounts = 20;
type Receiver = 'user' | 'partner';
const idOf = (digit: string, n: number) => `account_${digit}${n.toString(16).padStart(31, '0')}`;
/** Each round completes and numbers its deposits together, and is vacuumed, as autovacuum would do. */
const roundOf = 100;

/**
 * Creates deposits one by one by the product's own functions, each with an idempotency key, every second with a payer
 * and every fourth with metadata; completes them; and lets the worker's functions number, seal and add. 20 connected
 * users receive them in turn, or a partner of each, which then is no payer. The database must be empty.
 */
export async function depositCost(
  server: Server,
  deposits: number,
  receiver: Receiver,
  progress: (step: string) => void,
) {
  const { migrate } = await import(product('db/schema/migrate.js'));
  await migrate(server.login);
  const sql = connect(server.login);
  try {
    await seedAccounts(sql);
    const [{ pid }] = (await sql`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
    // The first deposits make the addresses of the payers, and the plans of the functions.
    await round(sql, 0, pid, receiver);
    await sql.unsafe('analyze');
    const before = await sizes(sql);
    const spent: Spent[] = [];
    for (let made = roundOf; made < deposits + roundOf; made += roundOf) {
      if (made % 1_000 === 0) progress(`${made} deposits`);
      spent.push(await round(sql, made, pid, receiver));
    }
    const after = await sizes(sql);
    const updates = await sql`select relname as table, n_tup_upd::int as updates, n_tup_hot_upd::int as hot
      from pg_stat_user_tables where relname in ('deposit', 'payment', 'event', 'balance') order by 1`;
    progress('building the indexes anew');
    await sql.unsafe('reindex schema concurrently public');
    return costOf(deposits, before, after, await sizes(sql), spent, updates as unknown as DepositCost['updates']);
  } finally {
    await sql.end();
  }
}

async function seedAccounts(sql: postgres.Sql): Promise<void> {
  const insert = (id: string, kind: string, owner: string | null, actingAccount: string) =>
    sql`insert into account (tenant_id, livemode, id, created, kind, edition, status, address, nickname,
      business_details,
        supporting_documentation, tos_acceptance, owner_id, context_id, on_root_list)
      values (${tenant}, false, ${id}, 1700000000, ${kind}, 1, 'activated', 'activated',
      ${`Exporter ${id.slice(8, 9)} ${id.slice(-4)}`},
        '{"legalName": "Malabar Spice Traders", "ids": {}, "physicalAddress": {}}', '{}', '{}',
        ${owner}, ${actingAccount},
        ${kind !== 'partner'})`;
  await insert(root, 'platform', null, root);
  for (let n = 0; n < accounts; n++) {
    await insert(idOf('a', n), 'connected_user', root, idOf('a', n));
    await insert(idOf('b', n), 'partner', idOf('a', n), idOf('a', n));
  }
  await sql`insert into account_setting (tenant_id, livemode, id, created, account_id, of_connected_user, address,
    address_currency,
      payouts_applicable, account_activated, context_id, on_root_list)
    select tenant_id, livemode, 'account_setting' || substr(id, 8), created, id, kind = 'connected_user', '{}', '{}',
    true, true,
      context_id, on_root_list from account`;
}

interface Spent {
  creation: number;
  completion: number;
  worker: number;
  wal: number;
}

/** Creates, completes and finishes the deposits of a round. Returns what each took. */
async function round(sql: postgres.Sql, first: number, pid: number, receiver: Receiver): Promise<Spent> {
  const [wal, start] = [await walOf(sql), cpu(pid)];
  const ids: string[] = [];
  for (let n = first; n < first + roundOf; n++) {
    const [envelope, args] = writeOf(n, receiver);
    const [row] =
      await sql`select id from create_deposit(${tenant}, false, ${envelope}::text::jsonb, ${args}::text::jsonb)`;
    ids.push(String(row?.id));
  }
  const created = cpu(pid);
  for (const [from, to] of [
    ['initialized', 'processing'],
    ['processing', 'completed'],
  ])
    for (const id of ids)
      await sql`select id from move_deposit(${tenant}, false, '{}',
        ${JSON.stringify({ id, from: [from], to })}::text::jsonb)`;
  await sql`delete from job`;
  const completed = cpu(pid);
  await sql`select number_events(${tenant}, false, 500)`;
  await sql`select seal_postings(${tenant}, false, 1000)`;
  await sql`select sum_deposits(${tenant}, false, 1000)`;
  const [end, written] = [cpu(pid), await walOf(sql)];
  await sql.unsafe('vacuum');
  return {
    creation: (created - start) / roundOf,
    completion: (completed - created) / roundOf,
    worker: (end - completed) / roundOf,
    wal: (written - wal) / roundOf,
  };
}

/** A write of the API, as the function gets it: the write envelope, and the arguments. */
function writeOf(n: number, receiver: Receiver): [envelope: string, args: string] {
  const hash = () => randomBytes(16).toString('base64url');
  const names = ['toAccountId', 'amount', 'currency', 'paymentMethod', 'onBehalfOf'];
  const request = Object.fromEntries(names.map((name) => [name, hash()]));
  const requestId = `req_${randomBytes(16).toString('hex')}`;
  return [
    JSON.stringify({ requestId, account: root, key: randomUUID(), operation: 'createDeposit', request }),
    JSON.stringify({
      toAccountId: idOf(receiver === 'user' ? 'a' : 'b', n % accounts),
      toAddressId: `address_${'c'.repeat(30)}${String(n % accounts).padStart(2, '0')}`,
      fromAccountId: n % 2 === 0 || receiver === 'partner' ? null : idOf('b', n % accounts),
      fromAddressId: null,
      amount: String(1_000 + n),
      currency: n % 10 === 0 ? 'EUR' : 'USD',
      paymentMethod: n % 3 === 0 ? 'domestic_wire' : 'domestic_credit',
      statementDescriptor: `INVOICE ${n}`,
      ...(n % 4 === 0 && { metadata: { order: `O-${n}` } }),
    }),
  ];
}

/** Milliseconds of CPU of a process, which /proc has in nanoseconds. */
const cpu = (pid: number) => Number(fs.readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

async function walOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql`select pg_current_wal_insert_lsn() - '0/0' as bytes`;
  return Number(row?.bytes);
}

type Sizes = Map<string, { table: string; index: boolean; bytes: number }>;

async function sizes(sql: postgres.Sql): Promise<Sizes> {
  const rows =
    await sql`select c.relname as name, coalesce(t.relname, c.relname) as table, i.indexrelid is not null as index,
      pg_table_size(c.oid)::float8 as bytes
    from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_class t on t.oid = i.indrelid
    where c.relkind in ('r', 'i') and c.relnamespace = 'public'::regnamespace`;
  return new Map(rows.map(({ name, table, index, bytes }) => [name, { table, index, bytes }]));
}

function costOf(
  deposits: number,
  before: Sizes,
  after: Sizes,
  rebuilt: Sizes,
  spent: Spent[],
  updates: DepositCost['updates'],
): DepositCost {
  const grown = (to: Sizes) =>
    [...to].map(([name, one]) => ({ name, ...one, by: one.bytes - before.get(name)!.bytes }));
  const total = (to: Sizes) => grown(to).reduce((sum, { by }) => sum + by, 0) / deposits;
  const tables = new Map<string, DepositCost['tables'][number]>();
  for (const { name, table, index, by } of grown(after)) {
    const one = tables.get(table) ?? { name: table, rows: 0, indexes: {} };
    if (index) one.indexes[name] = by / deposits;
    else one.rows = by / deposits;
    tables.set(table, one);
  }
  const median = (of: keyof Spent) => spent.map((one) => one[of]).sort((a, b) => a - b)[spent.length >> 1]!;
  const cost = { creation: median('creation'), completion: median('completion'), worker: median('worker') };
  const [bytes, anew] = [total(after), total(rebuilt)];
  const all = [...tables.values()].filter((one) => bytesOf(one) >= 1).sort((a, b) => bytesOf(b) - bytesOf(a));
  return { deposits, bytes, rebuilt: anew, tables: all, updates, cpu: cost, wal: median('wal') };
}

const indexesOf = ({ indexes }: DepositCost['tables'][number]) => Object.values(indexes).reduce((a, b) => a + b, 0);
const bytesOf = (table: DepositCost['tables'][number]) => table.rows + indexesOf(table);

/** The cost as text. */
export function depositCostTable({ deposits, bytes, rebuilt, tables, updates, cpu: spent, wal }: DepositCost): string {
  const whole = (n: number) => String(Math.round(n));
  return [
    `${whole(bytes)} bytes per deposit over ${deposits} deposits; ${whole(rebuilt)} with all indexes built anew`,
    `CPU of PostgreSQL: creation ${spent.creation.toFixed(3)}, completion ${spent.completion.toFixed(3)}, ` +
      `worker ${spent.worker.toFixed(3)} ms; WAL ${whole(wal)} bytes`,
    ...tables.map((one) => {
      const each = Object.entries(one.indexes).flatMap(([name, of]) => (of < 1 ? [] : [`${name} ${whole(of)}`]));
      return `${one.name}: ${whole(one.rows)} + ${whole(indexesOf(one))}  ${each.join(', ')}`;
    }),
    ...updates.map(({ table, updates: all, hot }) => `${table}: ${hot} of ${all} updates left the indexes alone`),
    '',
  ].join('\n');
}
