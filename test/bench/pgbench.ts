import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { connections, type Round } from './load.ts';
import type { Seeded } from './seed.ts';
import type { Login } from './server.ts';

/** Debian's pgbench, by PATH or where Debian puts it; undefined where there is none. */
export const pgbench: string | undefined = [
  'pgbench',
  ...['18', '17', '16', '15'].map((version) => `/usr/lib/postgresql/${version}/bin/pgbench`),
].find((program) => !spawnSync(program, ['--version']).error);

/** The statements behind Q1 and M1, as the product sends them. */
export function statements(seeded: Seeded, address: string): Record<'Q1' | 'M1', string> {
  const { tenant, users, receiver, platform } = seeded;
  const args = `jsonb_build_object('amount', '12500', 'currency', 'USD', 'toAccountId', '${receiver}', 'toAddressId', '${address}', 'paymentMethod', 'domestic_credit', 'statementDescriptor', 'INVOICE 17')`;
  const call = `jsonb_build_object('account', '${platform}', 'key', gen_random_uuid()::text, 'operation', 'createDeposit', 'request', '{}'::jsonb, 'requestId', 'req_bench')`;
  return {
    Q1: `select * from account where tenant_id = '${tenant}' and livemode = false and id = any(array['${users[0]}']);`,
    M1: `select * from create_deposit('${tenant}', false, ${call}, ${args});`,
  };
}

/** The ledger against the least that it could do: one posting, and an update of one row. Spread over accounts, and on one. */
export function ledger({ tenant }: Seeded): Record<string, { title: string; prepare?: string; script: string }> {
  const account = `('account_' || lpad(to_hex((1700000000000000 + (:u * 10) * 1000)::bigint), 14, '0') || left(md5('account' || (:u * 10)), 18))`;
  const posting = `select post('${tenant}', false, 'bench', gen_random_uuid()::text, 'payment_bench', jsonb_build_array(leg(a, 'available', 'USD', 100), contra_leg('bank', 'USD', -100)))
    from (select ${account} as a) x, lateral lock_balances('${tenant}', false, jsonb_build_array(jsonb_build_object('account', a, 'currency', 'USD')));`;
  const update = `update bench_plain set n = n + 1 where tenant_id = '${tenant}' and id = :u;`;
  const prepare = `drop table if exists bench_plain; create table bench_plain (tenant_id text, id bigint, n bigint not null, primary key (tenant_id, id));
    insert into bench_plain select '${tenant}', i, 0 from generate_series(1, 2000) i`;
  const line = (text: string) => text.replaceAll(/\s*\n\s*/g, ' ');
  return {
    'plain spread': { title: 'an update of one row, of 2000', prepare, script: `\\set u random(1, 2000)\n${update}` },
    'posting spread': { title: 'a posting, over 2000 accounts', script: `\\set u random(1, 2000)\n${line(posting)}` },
    'plain hot': { title: 'an update of one and the same row', script: `\\set u 1\n${update}` },
    'posting hot': { title: 'a posting, on one account', script: `\\set u 1\n${line(posting)}` },
  };
}

/** One round of a script, with as many clients as the other rounds have connections. */
export async function bench(login: Login, script: string, seconds: number): Promise<Round> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-pgbench-'));
  const file = path.join(folder, 'script.sql');
  fs.writeFileSync(file, `${script}\n`);
  const { host, port, username, database, password } = login;
  const words = ['-n', '-M', 'prepared', '-c', String(connections), '-j', '1', '-T', String(seconds), '-f', file, '-l'];
  const env = { ...process.env, PGHOST: host, PGPORT: String(port), PGUSER: username, PGPASSWORD: password ?? '' };
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
