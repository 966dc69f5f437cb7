// The decorators of the product's classes, which its database module loads, need it.
import 'reflect-metadata';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { connections, type Round } from './load.ts';
import type { Seeded } from './seed.ts';
import { type Login, product } from './server.ts';

/** pgbench, from PATH or from where Debian installs it; undefined if there is none. */
export const pgbench: string | undefined = [
  'pgbench',
  ...['18', '17', '16', '15'].map((version) => `/usr/lib/postgresql/${version}/bin/pgbench`),
].find((program) => !spawnSync(program, ['--version']).error);

/** A script for pgbench, and the values of its parameters. */
export interface Script {
  text: string;
  values?: Record<string, string>;
  /** The schema in which its names are looked up; without it, the product's. */
  schema?: string;
  /** The number of clients; without it, as many as the other rounds have connections. */
  clients?: number;
}

/** The statements of a read by REST and of a write by either API, as the product sends them. */
export async function statements(login: Login, seeded: Seeded, address: string): Promise<Record<string, Script>> {
  const { tenant, receiver, platform } = seeded;
  const args =
    `jsonb_build_object('amount', '12500', 'currency', 'USD', 'toAccountId', '${receiver}', 'toAddressId', ` +
    `'${address}', 'fromAccountId', null, 'fromAddressId', null, 'paymentMethod', 'domestic_credit', ` +
    `'statementDescriptor', 'INVOICE 17')`;
  const call =
    `jsonb_build_object('account', '${platform}', 'key', gen_random_uuid()::text, 'operation', 'createDeposit', ` +
    `'request', '{}'::jsonb, 'requestId', 'req_bench')`;
  const write = { text: `select * from create_deposit('${tenant}', false, ${call}, ${args});` };
  return { 'REST by id': await byId(login, seeded), M1: write, 'REST create': write };
}

/**
 * The product's statement for an account by its id: it reads one account, and takes the text that it prepared for that.
 */
async function byId(login: Login, { tenant, users, platform }: Seeded): Promise<Script> {
  const [{ Database }, { Scope }, { account }] = (await Promise.all(
    ['db/database.js', 'db/scope.js', 'resources/account/table.js'].map((file) => import(product(file))),
  )) as [
    { Database: new (login: Login) => { preparedStatements: Map<string, string>; close(): Promise<void> } },
    { Scope: new (caller: object, database: object) => { find(table: unknown, id: string): Promise<unknown> } },
    { account: unknown },
  ];
  const database = new Database(login);
  try {
    const caller = { tenantId: tenant, livemode: false, actingAccountId: platform, actingAccountKind: 'platform' };
    const found = await new Scope(caller, database).find(account, users[0]!);
    const [text, ...more] = database.preparedStatements.values();
    if (!found || !text || more.length > 0) throw new Error('The product does not read an account with one statement.');
    // pgbench numbers its variables itself and sends their values separately from the statement, as the product does.
    const named = text.replaceAll(/\$(\d)/g, (_, n) => `:${['tenant', 'live', 'id'][n - 1]}`);
    return { text: `${named};`, values: { tenant, live: 'false', id: users[0]! } };
  } finally {
    await database.close();
  }
}

/** A script for the ledger. `prepare` makes what it needs. */
interface LedgerScript {
  title: string;
  prepare?: string;
  script: string;
  schema?: string;
}

const line = (text: string) => text.replaceAll(/\s*\n\s*/g, ' ');
/** The seeded account of a number, as SQL. */
const accountOf = (n: string) =>
  `('account_' || lpad(to_hex((1700000000000000 + (${n} * 10) * 1000)::bigint), 14, '0') || left(md5('account' ` +
  `|| (${n} * 10)), 18))`;
const accounts = 2_000;

/**
 * The ledger compared with the minimal work: a posting and an update of one row, each over many accounts and on one
 * account.
 */
export function ledger({ tenant }: Seeded): Record<string, LedgerScript> {
  const posting = `select post('${tenant}', false, 'bench', gen_random_uuid()::text, 'payment_bench',
    jsonb_build_array(leg(a, 'available', 'USD', 100), contra_leg('bank', 'USD', -100)))
    from (select ${accountOf(':u')} as a) x, lateral lock_balances('${tenant}', false,
    jsonb_build_array(jsonb_build_object('account', a, 'currency', 'USD')));`;
  const update = `update bench_plain set n = n + 1 where tenant_id = '${tenant}' and id = :u;`;
  const prepare = `drop table if exists bench_plain;
    create table bench_plain (tenant_id text, id bigint, n bigint not null, primary key (tenant_id, id));
    insert into bench_plain select '${tenant}', i, 0 from generate_series(1, ${accounts}) i`;
  return {
    'plain spread': { title: 'an update of one row, of 2000', prepare, script: `\\set u random(1, 2000)\n${update}` },
    'posting spread': { title: 'a posting, over 2000 accounts', script: `\\set u random(1, 2000)\n${line(posting)}` },
    'plain hot': { title: 'an update of one and the same row', script: `\\set u 1\n${update}` },
    'posting hot': { title: 'a posting, on one account', script: `\\set u 1\n${line(posting)}` },
  };
}

/**
 * Transfers between two balances, by the product and by pgledger, whose SQL files are in a folder: over all accounts,
 * and from one account to the others.
 */
export function transfers({ tenant }: Seeded, folder: string): Record<string, LedgerScript> {
  const schema = 'bench_pgledger';
  const files = ['vendor/scoville-pgsql-ulid/ulid-to-uuid.sql', 'vendor/scoville-pgsql-ulid/uuid-to-ulid.sql'];
  const theirs = [...files, 'pgledger.sql'].map((file) => fs.readFileSync(path.join(folder, file), 'utf8')).join('\n');
  const prepare = `drop schema if exists ${schema} cascade; create schema ${schema}; set search_path = ${schema};
    ${theirs};
    select pgledger_create_account('bench ' || i, 'USD') from generate_series(1, ${accounts}) i;
    update pgledger_accounts set id = 'pgla_' || substr(name, 7);
    set search_path = public;
    select post('${tenant}', false, 'bench', gen_random_uuid()::text, 'payment_bench',
      jsonb_build_array(leg(a, 'available', 'USD', 100000000), contra_leg('bank', 'USD', -100000000)))
    from (select ${accountOf('i')} as a from generate_series(1, ${accounts}) i) x,
      lateral lock_balances('${tenant}', false,
      jsonb_build_array(jsonb_build_object('account', a, 'currency', 'USD')));`;
  const ours = `select post('${tenant}', false, 'bench', gen_random_uuid()::text, 'payment_bench',
    jsonb_build_array(leg(a, 'available', 'USD', -1), leg(b, 'available', 'USD', 1)))
    from (select ${accountOf(':u')} as a, ${accountOf(':w')} as b) x, lateral lock_balances('${tenant}', false,
      jsonb_build_array(jsonb_build_object('account', a, 'currency', 'USD'), jsonb_build_object('account', b,
      'currency', 'USD')));`;
  const their = `select * from pgledger_create_transfer('pgla_' || :u, 'pgla_' || :w, 0.01);`;
  const spread = `\\set u random(1, 2000)\n\\set d random(1, 1999)\n\\set w 1 + (:u + :d - 1) % 2000`;
  const hot = `\\set u 1\n\\set w random(2, 2000)`;
  return {
    'transfer spread': { title: 'a transfer between 2 of 2000 balances', prepare, script: `${spread}\n${line(ours)}` },
    'pgledger spread': { title: 'the same by pgledger', script: `${spread}\n${their}`, schema },
    'transfer hot': { title: 'a transfer from one balance to others', script: `${hot}\n${line(ours)}` },
    'pgledger hot': { title: 'the same by pgledger', script: `${hot}\n${their}`, schema },
  };
}

/** Runs one round of a script. */
export async function bench(
  login: Login,
  { text: script, values = {}, schema, clients = connections }: Script,
  seconds: number,
): Promise<Round> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-pgbench-'));
  const file = path.join(folder, 'script.sql');
  fs.writeFileSync(file, `${script}\n`);
  const { host, port, username, database, password } = login;
  const words = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '1', '-T', String(seconds), '-f', file, '-l'];
  for (const [name, value] of Object.entries(values)) words.push('-D', `${name}=${value}`);
  const env = { ...process.env, PGHOST: host, PGPORT: String(port), PGUSER: username, PGPASSWORD: password ?? '' };
  if (schema !== undefined) Object.assign(env, { PGOPTIONS: `-c search_path=${schema}` });
  try {
    const text = await new Promise<string>((resolve, reject) => {
      const child = spawn(pgbench!, [...words, database], { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
      let [out, err] = ['', ''];
      child.stdout.on('data', (chunk) => (out += chunk));
      child.stderr.on('data', (chunk) => (err += chunk));
      child.on('error', reject);
      child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(err))));
    });
    const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? Number.NaN);
    const requests = number(/actually processed: (\d+)/);
    const log = fs.readdirSync(folder).filter((name) => name.startsWith('pgbench_log'));
    const times = log
      .flatMap((name) => fs.readFileSync(path.join(folder, name), 'utf8').trim().split('\n'))
      .map((line) => Number(line.split(' ')[2]) / 1000)
      .sort((a, b) => a - b);
    return {
      requests,
      seconds: requests / number(/tps = ([\d.]+)/),
      p50: times[Math.floor(times.length / 2)] ?? 0,
      p99: times[Math.floor(times.length * 0.99)] ?? 0,
      bytes: 0,
      failures: number(/failed transactions: (\d+)/) || 0,
    };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
