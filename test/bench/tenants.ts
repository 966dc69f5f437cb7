import type postgres from 'postgres';
import { totalsOf } from './seed.ts';

/** The tenants whose cost is compared, by the number of their deposits, and how their rows are named. */
export interface Tenants {
  deposits: number;
  sizes: { name: string; tenant: string }[];
}

const year = 31_536_000;
/** The time of the newest row. */
export const newest = 1_763_000_000;

/**
 * Fills an empty database with `deposits` deposits of 5,000 tenants: a fifth of them belongs to the first tenant, a
 * fifth to the next fifty, the rest to the others. Rows are built in bulk: nothing is sealed, and 80 % of the larger
 * tenants' deposits have one event. Indexes are built after the rows.
 */
export async function seedTenants(
  sql: postgres.Sql,
  deposits: number,
  progress: (step: string) => void,
): Promise<Tenants> {
  const [found] = await sql`select to_regclass('bench_tenants') is not null as there`;
  if (!found?.there)
    for (const [step, statement] of statementsOf(deposits)) {
      progress(`seeding: ${step}`);
      await sql.unsafe(statement);
    }
  const [row] = await sql`select deposits from bench_tenants limit 1`;
  if (Number(row?.deposits) !== deposits) throw new Error('The folder holds rows of another --scale.');
  const named = await sql`select n, tenant from bench_tenants where n in (1, 2, 52) order by n`;
  const sizes = ['large', 'medium', 'small'].map((name, i) => ({ name, tenant: String(named[i]?.tenant) }));
  return { deposits, sizes };
}

const heavy = ['deposit', 'payment', 'posting', 'entry', 'contra_entry', 'event', 'search_entry'];
const listOf = (names: string[]) => names.map((name) => `'${name}'`).join(', ');
/** The id of a row: the prefix, the microseconds of its time in hexadecimal digits, and 18 further digits. */
const id = (prefix: string, micros: string, of: string) =>
  `'${prefix}_' || lpad(to_hex(${micros}), 14, '0') || left(md5(${of}), 18)`;
const user = (u: string, tenant: string) => `'account_u' || lpad((${u})::text, 6, '0') || left(${tenant}, 20)`;

const currencyOf = (n: string) =>
  `case when ${n} % 1000 in (7, 999) then 'JPY' when ${n} % 100 < 15 then 'EUR' else 'USD' end`;

function statementsOf(deposits: number): [step: string, statement: string][] {
  const others = Math.min(deposits / 5, 100_000);
  const micros = `${newest - year}000000 + n * ${Math.floor((year * 1_000_000) / deposits)}::bigint`;
  return [
    [
      'tenants',
      `create table bench_tenants as select n, md5('tenant ' || n) as tenant, ${deposits}::bigint as deposits, ` +
        'case when n = 1 then 2000 when n <= 51 then 200 else 6 end as users from generate_series(1, 5000) n',
    ],
    ['tenants', 'alter table bench_tenants add primary key (n)'],
    [
      'removing indexes',
      `create table bench_index as select c.relname as tab, i.indexrelid::regclass::text as name,
        pg_get_indexdef(i.indexrelid) as def, con.conname, pg_get_constraintdef(con.oid) as condef
       from pg_index i join pg_class c on c.oid = i.indrelid left join pg_constraint con on con.conindid = i.indexrelid
       and con.contype in ('p', 'u') where c.relname in (${listOf(heavy)})`,
    ],
    [
      'removing indexes',
      'create table bench_reference as select conname, conrelid::regclass::text as tab, ' +
        `pg_get_constraintdef(oid) as condef from pg_constraint where contype = 'f' and conrelid::regclass::text ` +
        `in (${listOf(heavy)})`,
    ],
    [
      'removing indexes',
      `do $$ declare r record; begin
       for r in select * from bench_reference loop execute format('alter table %s drop constraint %s', r.tab,
       r.conname); end loop;
       for r in select * from bench_index where conname is not null loop execute
       format('alter table %s drop constraint %s', r.tab, r.conname); end loop;
       for r in select * from bench_index where conname is null loop execute format('drop index %s', r.name); end loop;
       end $$`,
    ],
    [
      'accounts',
      `insert into account (tenant_id, livemode, id, created, kind, edition, status, address, nickname,
        business_details, supporting_documentation, tos_acceptance, owner_id, context_id, on_root_list)
       select tenant, false, 'account_' || tenant, ${newest - year}, 'platform', 1, 'activated', 'activated',
       'Platform ' || n, jsonb_build_object('legalName', 'Platform ' || n, 'ids', '{}'::jsonb, 'physicalAddress',
       '{}'::jsonb), '{}'::jsonb, '{}'::jsonb, null::text, 'account_' || tenant, true from bench_tenants
       union all select tenant, false, ${user('u', 'tenant')}, ${newest - year} + u, 'connected_user', 1, 'activated',
       'activated', 'Exporter ' || u, jsonb_build_object('legalName', 'Exporter ' || u, 'type', 'company', 'ids',
       '{}'::jsonb, 'physicalAddress', jsonb_build_object('city', 'Mumbai', 'country', 'IN')),
         '{}'::jsonb, '{}'::jsonb, 'account_' || tenant, ${user('u', 'tenant')}, true
         from bench_tenants, generate_series(1, users) u`,
    ],
    [
      'accounts',
      `insert into account_setting (tenant_id, livemode, id, created, account_id, of_connected_user, address,
        address_currency, payouts_applicable, account_activated, context_id, on_root_list)
       select tenant_id, livemode, 'account_setting' || substr(id, 8), created, id, kind = 'connected_user', '{}', '{}',
       true, true, context_id, on_root_list from account`,
    ],
    // One account of a larger tenant has a tenth of its deposits. One deposit of a hundred thousand is cancelled.
    [
      'deposits',
      `insert into deposit (tenant_id, livemode, id, created, amount, currency, to_account_id, payment_method,
        statement_descriptor, status, metadata, payment_id, pending_rest, context_id, on_root_list)
       select t.tenant, false, ${id('deposit', 'at', `'d' || k`)}, at / 1000000, 1000 + k % 100000, case
       when k % 1000 = 7 then 'JPY' when k % 100 < 15 then 'EUR' when k % 100 < 20 then 'GBP' else 'USD' end,
         ${user('u', 't.tenant')}, case when k % 3 = 0 then 'domestic_wire' else 'domestic_credit' end, 'INVOICE ' || k,
         status, case when k % 4 = 0 then jsonb_build_object('order', 'O-' || k) end,
         ${id('payment', 'at', `'p' || k`)}, case when status = 'completed' then 1000 + k % 100000 else 0 end,
         ${user('u', 't.tenant')}, true
       from (select n as k, ${micros} as at, hashint8(n)::bigint + 2147483648 as h
       from generate_series(1, ${deposits}::bigint) n) d
         join bench_tenants t on t.n = case when k % 5 = 0 then 1 when k % 5 = 1 then 2 + h % 50 else 52 + h % 4949 end,
         lateral (select case when t.n = 1 and (h / 50) % 10 = 0 then 1 else 1 + (h / 50) % t.users end as u,
           case when (h / 7) % 100000 < 2 then 'cancelled' when (h / 7) % 1000 < 1 then 'reversed'
           when (h / 7) % 100 < 5 then 'failed' when (h / 7) % 100 < 10 then 'processing' else 'completed' end as
           status) x order by k`,
    ],
    [
      'payments',
      `insert into payment (tenant_id, livemode, id, created, account_id, type, amount, currency, status, deposit_id,
        context_id, on_root_list)
       select tenant_id, livemode, payment_id, created, to_account_id, 'deposit', amount, currency, status, id,
       context_id, on_root_list from deposit`,
    ],
    [
      'postings',
      'insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id) select tenant_id, ' +
        `livemode, 'posting' || substr(id, 8), created, 'deposit', id, payment_id from deposit where status = ` +
        `'completed'`,
    ],
    [
      'postings',
      'insert into contra_entry (tenant_id, livemode, id, created, posting_id, contra, amount, currency) ' +
        `select tenant_id, livemode, 'contra' || substr(id, 8), created, 'posting' || substr(id, 8), 'bank', ` +
        `-amount, currency from deposit where status = 'completed'`,
    ],
    [
      'entries',
      `insert into entry (tenant_id, livemode, id, created, posting_id, account_id, amount, currency, category,
        payment_id, balance_after, version, context_id, on_root_list)
       select tenant_id, livemode, 'bt' || substr(id, 8), created, 'posting' || substr(id, 8), to_account_id, amount,
       currency, 'pending', payment_id, sum(amount) over w, row_number() over w, context_id, on_root_list
       from deposit where status = 'completed' window w as (partition by tenant_id, to_account_id, currency
       order by id)`,
    ],
    [
      'balances',
      `insert into balance (tenant_id, livemode, account_id, currency, pending, version, latest, owner_id, of_partner,
        context_id, on_root_list)
       select e.tenant_id, false, e.account_id, e.currency, sum(e.amount), count(*), max(e.created), a.owner_id, false,
       a.context_id, a.on_root_list from entry e join account a on a.tenant_id = e.tenant_id and not a.livemode
       and a.id = e.account_id group by 1, 3, 4, 8, 10, 11`,
    ],
    [
      'events',
      `insert into event (tenant_id, livemode, id, created, type, object, object_id, data, request_id, number,
        context_id, on_root_list)
       select d.tenant_id, false, 'event' || substr(d.id, 8), d.created, 'deposit.' || d.status, 'deposit', d.id,
       event_data(to_jsonb(d)), 'req', row_number() over (partition by d.tenant_id
       order by d.id), d.context_id, d.on_root_list
       from deposit d join bench_tenants t on t.tenant = d.tenant_id where t.n <= 51 and right(d.id, 1) between '0'
       and '7' and right(d.id, 1) < 'a' order by d.id`,
    ],
    [
      'receivables',
      `insert into receivable (tenant_id, livemode, id, created, account_id, currency, amount_maximum_reconcilable,
        amount_settled_payouts, invoice, purpose_code, transaction_type, voided, context_id, on_root_list)
       select tenant, false, ${id('receivable', `${newest - year}000000 + r * 1000::bigint`, 'tenant || r')},
       ${newest - year} + r * 300, ${user('1 + r % users', 'tenant')}, currency, amount, case
       when r % 10 < 3 then amount else 0 end,
         jsonb_build_object('amount', amount, 'currency', currency, 'creationDate', '2025-10-01', 'dueDate',
         date '2025-11-01' + r % 365, 'referenceNumber', 'R' || r), 'P0802', 'services', r % 1000 = 999,
         ${user('1 + r % users', 'tenant')}, true
       from bench_tenants, generate_series(1, case when n = 1 then ${others} else 20 end) r,
       lateral (select 10000 + r % 5000 as amount, ${currencyOf('r')} as currency) x`,
    ],
    [
      'payouts',
      `insert into payout (tenant_id, livemode, id, created, account_id, address_id, amount, currency, status,
        payment_id, source_amount, source_currency, rate, context_id, on_root_list)
       select tenant, false, ${id('payout', `${newest - year}000000 + r * 1000::bigint`, 'tenant || r')},
       ${newest - year} + r * 300, ${user('1 + r % users', 'tenant')}, 'address_x', amount, currency, case
       when r % 1000 = 7 then 'returned' when r % 100 < 3 then 'failed' else 'completed' end,
       'payment_x' || r, amount, currency, 1, ${user('1 + r % users', 'tenant')}, true
       from bench_tenants, generate_series(1, case when n = 1 then ${others} else 20 end) r,
       lateral (select 10000 + r % 5000 as amount, ${currencyOf('r')} as currency) x`,
    ],
    [
      'entries of the search',
      `insert into search_entry (tenant_id, livemode, list, root_list, start, age, id)
       select tenant_id, livemode, search_list('deposit', context_id), search_list('deposit', null), s, -created, id
       from deposit d, unnest(entry_starts(tenant_id, livemode, 'deposit', to_jsonb(d))) s`,
    ],
    ...['account', 'receivable'].map((table): [string, string] => [
      'entries of the search',
      `select count(index_object(tenant_id, livemode, '${table}', null, to_jsonb(x))) from ${table} x`,
    ]),
    ['indexes', "set maintenance_work_mem = '1GB'"],
    [
      'indexes',
      `do $$ declare r record; begin
       for r in select * from bench_index order by tab, conname loop
         if r.conname is null then execute r.def; else execute format('alter table %s add constraint %s %s', r.tab,
         r.conname, r.condef); end if; end loop; end $$`,
    ],
    ['totals', totalsOf('select tenant from bench_tenants')],
    ['statistics', 'vacuum (analyze)'],
  ];
}
