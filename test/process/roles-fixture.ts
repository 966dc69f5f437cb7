import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { expect, inject } from 'vitest';

const file = path.resolve('docs/operations/deploy/roles.sql');
const psql = spawnSync('psql', ['--version']).status === 0;

/** What runs roles.sql, for the titles of tests. */
export const rolesBy = psql ? 'psql' : 'the test, as no psql is installed';

/** Runs roles.sql twice, as its head allows: by psql, or without one as psql would. */
export async function runRoles(url: string): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  const sql = postgres({ ...inject('admin'), database, max: 1, onnotice: () => {} });
  for (let i = 0; i < 2; i++) await (psql ? runByPsql(database) : runWithoutPsql(sql));
  const [row] = await sql`select count(*)::int as n from pg_db_role_setting s
    join pg_roles r on r.oid = s.setrole join pg_database d on d.oid = s.setdatabase
    where r.rolname = 'tidegate_runtime' and d.datname = ${database}
    and s.setconfig = array['statement_timeout=5s', 'lock_timeout=2s']`;
  expect(row!.n).toBe(1);
  const [role] = await sql`select rolcanlogin as enters, rolpassword as password from pg_authid
    where rolname = 'tidegate_runtime'`;
  expect(role).toEqual({ enters: true, password: expect.stringMatching(/^SCRAM-SHA-256\$/) });
  await sql.end();
}

function runByPsql(database: string): void {
  const { host, port, username } = inject('admin');
  const server = { PGHOST: host, PGPORT: `${port}`, PGUSER: username, PGDATABASE: database };
  const env = { PATH: process.env.PATH!, ...server, GATEWAY_PASSWORD: "of the 'gateway'" };
  const words = ['--no-psqlrc', '--quiet', '--no-password', `--file=${file}`];
  const { status, stdout, stderr } = spawnSync('psql', words, { env, encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([0, '', '']);
}

/** Does the backslash commands of psql here. */
async function runWithoutPsql(sql: postgres.Sql): Promise<void> {
  const text = fs
    .readFileSync(file, 'utf8')
    .replaceAll(/^(--|\\).*\n/gm, '')
    .replace(":'password'", "'of the gateway'");
  for (const statement of text.split(/(?<=;|\\gexec)\n/).filter(Boolean)) {
    const [query, execute] = statement.split('\\gexec');
    const rows = await sql.unsafe(query!).values();
    if (execute !== undefined) for (const [made] of rows) await sql.unsafe(made as string);
  }
}
