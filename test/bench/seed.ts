import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import type { Server } from './server.ts';

const users = 2_000;
const partnersOfEach = 4;
const deposits = 200_000;
const year = 365 * 86_400;
const root = fileURLToPath(new URL('../../', import.meta.url));

/** The pepper of the benchmark's keys, which need not be secret. */
export const pepper = 'bench-pepper-bench-pepper-bench-pepper';

/** The ids of the seeded rows from which the requests are made. */
export interface Seeded {
  tenant: string;
  /** A test key of the platform. */
  key: string;
  platform: string;
  /** Connected users with deposits. */
  users: string[];
  /** The partner that receives new deposits, because its deposits are on no list that is measured. */
  receiver: string;
  /** A deposit in the middle of the platform's list. */
  deep: string;
  deposits: number;
  seconds: number;
}

/**
 * Fills a database with the product's migrations and command line, and then in bulk. A database that is already filled
 * stays as it is.
 */
export async function seed(server: Server, scale: number, progress: (step: string) => void): Promise<Seeded> {
  const begun = Date.now();
  const sql = postgres({ ...server.login, max: 1, onnotice: () => {}, connection: { synchronous_commit: 'off' } });
  try {
    const [found] = await sql`select to_regclass('bench_seed') is not null as there`;
    if (found?.there) {
      const [row] = await sql`select seeded from bench_seed`;
      const before = row?.seeded as Seeded;
      if (before.deposits !== deposits * scale) throw new Error('The folder holds rows of another --scale.');
      await defer(sql);
      return before;
    }
    progress('creating the platform with the command line');
    tidegate(server, ['migrate']);
    const { account, keys } = tidegate(server, [
      ...['account', 'create', '--type', 'platform', '--edition', '1', '--legal-name', 'Bench Platform'],
    ]) as { account: { id: string }; keys: { test: string } };
    const tenant = account.id.replace('account_', '');
    for (const [step, statement] of statements(tenant, account.id, deposits * scale)) {
      progress(`seeding: ${step}`);
      await sql.unsafe(statement);
    }
    // The product's own index of an account's deposits begins with a hash, which its peers know nothing of.
    await sql.unsafe('create index on deposit (tenant_id, livemode, to_account_id, created desc, id desc)');
    // The product's worker would seal unsealed postings while another contender is measured.
    if (scale > 1) progress('sealing the postings');
    for (let sealed = 1; sealed > 0; ) {
      const [row] = await sql`select seal_postings(${tenant}, false, 20000) as n`;
      sealed = Number(row?.n);
    }
    await sql.unsafe('vacuum (analyze)');
    const ids = await idsOf(sql, tenant, { key: keys.test, platform: account.id, deposits: deposits * scale });
    const seeded: Seeded = { ...ids, seconds: Math.round((Date.now() - begun) / 1000) };
    if (scale <= 1) {
      progress("checking the ledger's invariants");
      const broken = await sql`select rule, what from violations limit 5`;
      if (broken.length > 0)
        throw new Error(`The seeded rows break the ledger's invariants: ${JSON.stringify(broken)}`);
    }
    await sql`create table bench_seed as select ${sql.json(seeded as never)}::jsonb as seeded`;
    await defer(sql);
    return seeded;
  } finally {
    await sql.end();
  }
}

/** Adds a second platform with a tenth of the deposits, or finds it in a database that has it. */
export async function seedNeighbour(server: Server, progress: (step: string) => void, nth = 0): Promise<Seeded> {
  const table = `bench_neighbour${nth || ''}`;
  const sql = postgres({ ...server.login, max: 1, onnotice: () => {}, connection: { synchronous_commit: 'off' } });
  try {
    const [found] = await sql`select to_regclass(${table}) is not null as there`;
    if (found?.there) {
      const [row] = await sql`select seeded from ${sql(table)}`;
      return row?.seeded as Seeded;
    }
    const { account, keys } = tidegate(server, [
      ...['account', 'create', '--type', 'platform', '--edition', '1', '--legal-name', `Bench Neighbour ${nth}`],
    ]) as { account: { id: string }; keys: { test: string } };
    const tenant = account.id.replace('account_', '');
    progress('seeding the neighbour');
    for (const [, statement] of statements(tenant, account.id, deposits / 10)) await sql.unsafe(statement);
    for (let sealed = 1; sealed > 0; )
      sealed = Number((await sql`select seal_postings(${tenant}, false, 20000) as n`)[0]?.n);
    await sql.unsafe('vacuum (analyze)');
    const seeded = await idsOf(sql, tenant, { key: keys.test, platform: account.id, deposits: deposits / 10 });
    await sql`create table ${sql(table)} as select ${sql.json(seeded as never)}::jsonb as seeded`;
    return seeded;
  } finally {
    await sql.end();
  }
}

/** The ids of a tenant's rows from which requests are made. */
async function idsOf(
  sql: postgres.Sql,
  tenant: string,
  given: Pick<Seeded, 'key' | 'platform' | 'deposits'>,
): Promise<Seeded> {
  const ids = await sql`select id from account where tenant_id = ${tenant} and kind = 'connected_user' order by id`;
  const [middle] = await sql`
    select id from deposit where tenant_id = ${tenant} and livemode = false and on_root_list
    order by created desc, id desc offset ${given.deposits / 2} limit 1`;
  const [partner] =
    await sql`select id from account where tenant_id = ${tenant} and kind = 'partner' order by id limit 1`;
  return {
    tenant,
    ...given,
    users: ids.map((row) => String(row.id)).slice(users / 2, users / 2 + 100),
    receiver: String(partner?.id),
    deep: String(middle?.id),
    seconds: 0,
  };
}

/** Runs a command of the operator's command line. */
export function tidegate(server: Server, words: string[]): unknown {
  const env = { ...process.env, DATABASE_URL: server.url, API_KEY_PEPPER: pepper };
  return JSON.parse(execFileSync(process.execPath, [`${root}dist/cli.js`, ...words, '--json'], { env }).toString());
}

/**
 * Postpones all jobs beyond the end of the benchmark. The sandbox completes a deposit of test mode a second after its
 * creation: that is not part of the request, and the product's process would do it while another contender is measured.
 */
async function defer(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`
    create or replace function bench_defer() returns trigger language plpgsql as $$ begin new.due := new.due +
    1000000000; return new; end $$;
    create or replace trigger bench_defer before insert on job for each row execute function bench_defer()`);
}

/**
 * A year of trade, oldest first. Ids sort by creation, as the product's do; a row's number determines all its values.
 */
function statements(tenant: string, platform: string, total: number): [string, string][] {
  const id = (prefix: string, n: string) =>
    `'${prefix}_' || lpad(to_hex((1700000000000000 + (${n}) * 1000)::bigint), 14, '0') || left(md5('${prefix}' ` +
    `|| (${n})), 18)`;
  const begin = `(extract(epoch from now())::bigint - ${year})`;
  const user = (n: string) => id('account', `(${n}) * 10`);
  const partner = (n: string, m: string) => id('account', `(${n}) * 10 + 1 + (${m})`);
  const tenantAndMode = `'${tenant}', false`;
  return [
    [
      'the platform as the oldest account',
      `update account set created = ${begin} - 1 where tenant_id = '${tenant}';
       update account_setting set created = ${begin} - 1 where tenant_id = '${tenant}';
       update address set created = ${begin} - 1 where tenant_id = '${tenant}';`,
    ],
    [
      'accounts',
      `insert into account (tenant_id, livemode, id, created, kind, edition, status, address, address_key, nickname,
        business_details, metadata,
                            supporting_documentation, tos_acceptance, owner_id, context_id, on_root_list)
       select ${tenantAndMode}, x.id, ${begin} + x.n * 100, x.kind, 1, 'activated', 'activated', x.key, x.name,
         jsonb_build_object('legalName', x.name || ' Private Limited', 'dba', x.name, 'email', 'ap' || x.n ||
         '@example.com', 'website', 'https://example.com/' || x.n,
           'type', 'company', 'ids', jsonb_build_object('business', 'U' || x.n, 'tax', 'T' || x.n),
           'physicalAddress', jsonb_build_object('line1', x.n || ' Harbour Road', 'line2', null, 'city', 'Mumbai',
           'state', 'MH', 'postalCode', '400001', 'country', 'IN'),
           'merchantCategoryCode', '5734', 'productDescription', 'Software and services for export, number ' || x.n),
         jsonb_build_object('reference', 'R-' || x.n, 'team', 'export'), '{}', '{}', x.owner, x.acting_account, x.root
       from (
         select n * 10 as n, ${user('n')} as id, 'connected_user' as kind, 'connected_user' as key, 'Exporter ' || n as
         name, '${platform}' as owner, ${user('n')} as acting_account, true as root
         from generate_series(1, ${users}) n
         union all
         select n * 10 + 1 + m, ${partner('n', 'm')}, 'partner', 'connected_user_partner', 'Importer ' || n || '-' || m,
         ${user('n')}, ${user('n')}, false
         from generate_series(1, ${users}) n, generate_series(0, ${partnersOfEach - 1}) m
       ) x;`,
    ],
    [
      'settings',
      `insert into account_setting (tenant_id, livemode, id, created, account_id, of_connected_user, address,
        address_currency, payouts_applicable, account_activated, context_id, on_root_list)
       select a.tenant_id, a.livemode, 'account_setting' || substr(a.id, 8), a.created, a.id, a.kind = 'connected_user',
         '{"connectedUser": null, "connectedUserPartner": null, "partner": null, "platform": null, "user": null}',
         '{"connectedUser": null, "connectedUserPartner": null, "partner": null, "platform": null, "user": null}',
         a.kind <> 'partner', true, a.context_id, a.on_root_list
       from account a where a.tenant_id = '${tenant}' and a.livemode = false and a.kind <> 'platform';`,
    ],
    [
      'addresses',
      `insert into address (tenant_id, livemode, id, created, category, type, status, currency, name, is_reusable,
        linked_id, bank_account, billing_details, context_id, on_root_list)
       select a.tenant_id, a.livemode, 'address' || substr(a.id, 8, 15) || lpad(m::text, 2, '0') || substr(a.id, 25),
       a.created + m,
         case when a.kind = 'partner' and m < 2 then 'partner_payment' when a.kind = 'partner'
         or m = 0 then 'service_receive' else 'user_payout' end, 'bank_account', 'activated',
         case when m % 3 = 1 then 'EUR' else 'USD' end, 'Address ' || m, true, a.id,
         jsonb_build_object('bankName', 'Harbour Bank', 'domesticCredit', '026009593', 'number', '00' || right(a.id, 6),
         'last4', right(a.id, 4), 'type', 'checking'),
         jsonb_build_object('line1', '1 Pier Street', 'city', 'New York', 'country', 'US'), a.context_id, a.on_root_list
       from account a, lateral generate_series(0, case when a.kind = 'partner' then 2 else 7 end) m
       where a.tenant_id = '${tenant}' and a.livemode = false and a.kind <> 'platform';`,
    ],
    [
      'deposits',
      `insert into deposit (tenant_id, livemode, id, created, amount, currency, from_account_id, from_address_id,
        to_account_id, to_address_id, payment_method,
                            statement_descriptor, status, metadata, payment_id, pending_rest, context_id, on_root_list)
       select ${tenantAndMode}, ${id('deposit', 'n')}, ${begin} + (n * ${year}::bigint) / ${total}, 1000 + n % 100000,
       case when g.n / ${users} % 10 = 3 then 'EUR' else 'USD' end,
         ${partner('u.u', 'g.n / 7 % 4')}, null, ${user('u.u')}, null, case
         when n % 3 = 0 then 'domestic_wire' else 'domestic_credit' end,
         'INVOICE ' || n, u.status, case when n % 4 = 0 then jsonb_build_object('order', 'O-' || n) end,
         ${id('payment', 'n')},
         case when u.status = 'completed' then 1000 + n % 100000 else 0 end, ${user('u.u')}, true
       from generate_series(1, ${total}::bigint) as g(n),
         lateral (select 1 + g.n % ${users} as u, case when (g.n / ${users} + g.n) % 20 = 7 then 'failed'
         when (g.n / ${users} + g.n) % 20 = 11 then 'processing' else 'completed' end as status) u;`,
    ],
    [
      'payments',
      `insert into payment (tenant_id, livemode, id, created, account_id, type, amount, currency, status, deposit_id,
        context_id, on_root_list)
       select d.tenant_id, d.livemode, d.payment_id, d.created, d.to_account_id, 'deposit', d.amount, d.currency,
       d.status, d.id, d.context_id, d.on_root_list
       from deposit d where d.tenant_id = '${tenant}' and d.livemode = false;`,
    ],
    [
      'postings',
      `insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
       select d.tenant_id, d.livemode, 'posting' || substr(d.id, 8), d.created, 'deposit', d.id, d.payment_id
       from deposit d where d.tenant_id = '${tenant}' and d.livemode = false and d.status = 'completed';
       insert into unsealed (tenant_id, livemode, posting_id) select tenant_id, livemode, id from posting
       where tenant_id = '${tenant}';`,
    ],
    [
      'entries',
      `insert into entry (tenant_id, livemode, id, created, posting_id, account_id, amount, currency, category,
        payment_id, balance_after, version, context_id, on_root_list)
       select d.tenant_id, d.livemode, 'bt' || substr(d.id, 8), d.created, 'posting' || substr(d.id, 8),
       d.to_account_id, d.amount, d.currency, 'pending', d.payment_id,
         sum(d.amount) over w, row_number() over w, d.context_id, d.on_root_list
       from deposit d where d.tenant_id = '${tenant}' and d.livemode = false and d.status = 'completed'
       window w as (partition by d.to_account_id, d.currency order by d.id);
       insert into contra_entry (tenant_id, livemode, id, created, posting_id, contra, amount, currency)
       select d.tenant_id, d.livemode, 'contra' || substr(d.id, 8), d.created, 'posting' || substr(d.id, 8), 'bank',
       -d.amount, d.currency
       from deposit d where d.tenant_id = '${tenant}' and d.livemode = false and d.status = 'completed';`,
    ],
    [
      'balances',
      `insert into balance (tenant_id, livemode, account_id, currency, pending, version, latest, owner_id, of_partner,
        context_id, on_root_list)
       select e.tenant_id, e.livemode, e.account_id, e.currency, sum(e.amount), count(*), max(e.created), a.owner_id,
       false, a.context_id, a.on_root_list
       from entry e join account a on a.tenant_id = e.tenant_id and a.livemode = e.livemode and a.id = e.account_id
       where e.tenant_id = '${tenant}' group by e.tenant_id, e.livemode, e.account_id, e.currency, a.owner_id,
       a.context_id, a.on_root_list;`,
    ],
    ['totals', totalsOf(`select '${tenant}'`)],
  ];
}

/** The statement that computes the totals of deposits of some tenants, as the worker does after an upgrade. */
export const totalsOf = (tenants: string): string => `
  do $$ declare t text; begin
    for t in ${tenants} loop
      insert into deposit_total_backfill (tenant_id, livemode, up_to, not_before) values (t, false, '', 0);
      while backfill_deposit_totals(t, false, 10000) is not null loop end loop;
    end loop;
  end $$`;
