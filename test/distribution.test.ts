import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { schemaOffences } from '../src/db/distribution/schema-lint.js';
import { ofDeployment } from '../src/db/distribution/tables.js';
import { givenIn, useWorld } from './world.js';

const world = useWorld();
const given = givenIn(world);

/** Statements that concern all tenants: each belongs to the worker or the operator. */
const acrossTenants = [
  'tenants_with_jobs',
  'tenants_with_new_jobs',
  'tenants_with_due_jobs',
  'tenants_with_faults',
  'tenants_with_answers',
  'tenants_with_numbers',
  'tenants_with_events',
  'tenants_with_unsealed',
  'tenants_with_total_changes',
  'tenants_with_deliveries',
  'tenants_with_requests',
  'endpoints_with_deliveries',
  'operator_address',
  'operator_deposit',
  'operator_payout',
  'operator_peppers',
  'operator_tax_cards',
  'tenants_with_tax_cards',
  'operator_violations',
  'operator_ledger_size',
  'operator_seals',
  'operator_account',
  'operator_accounts:',
  'operator_payouts:',
  'operator_any',
  'operator_key',
  'operator_job',
  'operator_ledger_checks:',
  'operator_jobs:all',
  'operator_jobs:stuck',
  'operator_related:person.account_id',
  'operator_list',
  'operator_actions:',
];

describe('the schema', () => {
  it('is ready to be distributed by tenant', async () => {
    expect(await schemaOffences(world.sql)).toEqual([]);
  });

  it('fails the lint if a table has no tenant, which shows that the lint can fail', async () => {
    await world.sql.unsafe('create table careless (id bigint generated always as identity primary key)');
    const rules = (await schemaOffences(world.sql)).map((row) => row.rule);
    await world.sql.unsafe('drop table careless');
    expect(rules).toEqual(['identity or serial', 'no tenant_id']);
  });

  it('has only those tables without a tenant that are about the whole deployment', async () => {
    const without = await world.sql`
      select c.relname::text from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
        and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')`;
    expect(without.map(({ relname }) => relname).sort()).toEqual(Object.keys(ofDeployment).sort());
  });

  it('distributes every new table in the migration that creates it', () => {
    const migrations = fs.readdirSync('drizzle').filter((name) => name.endsWith('.sql'));
    for (const name of migrations) {
      const text = fs.readFileSync(`drizzle/${name}`, 'utf8');
      const made = [...text.matchAll(/CREATE TABLE "(\w+)"/g)].map((match) => match[1]);
      const distributed = [...text.matchAll(/SELECT tg_distribute\('(\w+)'\)/g)].map((match) => match[1]);
      // The others are colocated with the first table.
      expect(made.filter((table) => table !== 'account' && !(table! in ofDeployment)).sort()).toEqual(
        distributed.sort(),
      );
    }
  });
});

describe('the prepared-statement registry', () => {
  it('names the tenant for every table that it reads, and writes with a single function call', async () => {
    await everyStatement();
    const tenantTables = (
      await world.sql`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v')`
    ).map((row) => row.relname as string);
    const faults: string[] = [];
    let reads = 0;
    for (const [name, statement] of world.database.preparedStatements) {
      if (/^select \* from \w+\(\$1/.test(statement)) continue;
      reads++;
      if (acrossTenants.includes(name)) continue;
      const tables = [...statement.matchAll(/(?:from|join) "?(\w+)"?/g)].filter((match) =>
        tenantTables.includes(match[1]!),
      ).length;
      // A combined read names the tenant of each of its members.
      const tenants = [...statement.matchAll(/tenant_id"? = (\$\d+|member\.p\d+::text)/g)].length;
      if (tables === 0 || tenants < tables) faults.push(`${name}: ${tables} tables, ${tenants} tenants: ${statement}`);
      if (/\binsert\b|\bupdate\b|\bdelete\b/.test(statement)) faults.push(`${name} writes outside a function`);
    }
    expect(faults).toEqual([]);
    expect(reads).toBeGreaterThan(20);
  });

  it('lists every statement about all tenants by name', async () => {
    const { nodes } = await world.operator.accounts({});
    await world.operator.verification(nodes[0]!);
    await world.operator.payouts({});
    await world.operator.empty();
    await world.operator.operators();
    await world.operator.actions({ limit: 1 });
    const without = [...world.database.preparedStatements]
      .filter(
        ([, statement]) =>
          !/tenant_id"? = (\$|member\.)/.test(statement) && !/^select \* from \w+\(\$1/.test(statement),
      )
      .map(([name]) => name);
    expect(without.filter((name) => !acrossTenants.includes(name))).toEqual([]);
  });
});

/** Walks every list with every filter and both cursors, every edge, and one write of each kind. */
async function everyStatement(): Promise<void> {
  const platform = await given.platform(1);
  const user = await platform.connectedUser();
  const partner = await user.partner();
  const acting = platform.actingFor(user.id);
  for (const speaker of [platform, user, acting]) {
    for (const path of [
      `/v1/accounts?limit=1&starting_after=${user.id}&status=draft&type=user&address=deactivated&capability.multicurrency_exports_v1=pending&created.gte=1`,
      `/v1/accounts?limit=1&ending_before=${user.id}&created.lt=99999999999`,
      `/v1/accounts/${partner.id}`,
      `/v1/account_settings?account_id=${user.id}&address.partner=true&payouts.enabled=true&payouts.reason_code_not_enabled=platform_hold`,
      `/v1/addresses?linked_id=${user.id}&category=user_payout&currency=INR&is_reusable=false&status=activated&type=wallet&wallet.provider=klarna`,
      `/v1/persons?account_id=${user.id}`,
      '/v1/files?purpose=logo',
      `/v1/deposits?account_id=${user.id}&status=completed&created.gte=1`,
    ]) {
      expect([path, (await speaker.get(path)).status]).toEqual([path, 200]);
    }
    const reply = await speaker.graph(`{
      deposits(accountId: "${user.id}") { totalCount nodes { id } }
      accounts(first: 5) {
        totalCount pageInfo { hasNextPage hasPreviousPage }
        nodes {
          owner { id } setting { id } logo { id } idDocument { id } requirements { fieldName }
          partners(first: 2) { totalCount nodes { id } } connectedUsers(last: 2) { nodes { id } }
          addresses(first: 2) { nodes { id account { id } } pageInfo { hasNextPage hasPreviousPage } } persons { nodes { id } } files { nodes { id } } apiKeys { nodes { id account { id } } }
        }
      }
    }`);
    expect(reply.body.errors).toBeUndefined();
  }
  const exporter = await given.directUser(2);
  const made = await exporter.post('/v1/receivables', receivable);
  expect(made.status).toBe(200);
  for (const page of ['first: 1', 'last: 1, status: [EXPIRED]']) {
    const reply = await exporter.graph(`{
      checkouts(accountId: "${exporter.id}", ${page}) { totalCount nodes { id } }
      receivables { nodes { checkouts(${page}) { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage } } } }
    }`);
    expect(reply.body.errors).toBeUndefined();
  }
}

const receivable = {
  currency: 'INR',
  invoice: {
    amount: '1.00',
    currency: 'INR',
    creation_date: '2026-10-01',
    due_date: '2026-12-01',
    reference_number: 'A1',
  },
  purpose_code: 'P0802',
  transaction_type: 'services',
};
