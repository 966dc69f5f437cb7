import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { schemaOffences } from '../../src/db/cluster/schema-lint.js';
import { ofDeployment } from '../../src/db/cluster/tables.js';
import { everyStatement } from '../support/every-statement.js';
import { givenIn, useWorld } from '../support/world.js';
import { hasNoAccounts, listAccounts, verificationOf } from '../../src/operator/account/accounts.js';
import { listPayouts } from '../../src/operator/money/payouts.js';
import { listOperators } from '../../src/operator/access/operators.js';
import { listActions } from '../../src/operator/action/actions.js';

const world = useWorld();
const given = givenIn(world);

/** Statements that concern all tenants: each belongs to the worker or the operator. */
const acrossTenants = [
  'kinds_of_work',
  'tenants_with_jobs',
  'tenants_with_new_jobs',
  'tenants_with_due_jobs',
  'tenants_with_faults',
  'tenants_with_ledgers',
  'ledgers_found_violated',
  'tenants_with_delete_old_answers',
  'tenants_with_delete_old_events',
  'tenants_with_events',
  'tenants_with_seal_postings',
  'tenants_with_sum_deposits',
  'tenants_with_delete_old_deliveries',
  'tenants_with_delete_old_requests',
  'endpoints_with_deliveries',
  'exports_due',
  'stuck_jobs:live',
  'stuck_jobs:test',
  'stuck_tenant_work:live',
  'stuck_tenant_work:test',
  'imports_due',
  'operator_address',
  'operator_deposit',
  'operator_payout',
  'operator_peppers',
  'operator_tax_cards',
  'operator_webhook_secrets',
  'operator_previous_webhook_secrets',
  'tenants_with_tax_cards',
  'tenants_with_webhook_secrets',
  'operator_violations',
  'operator_ledger_size',
  'operator_seals',
  'operator_account',
  'operator_accounts:oldest:',
  'operator_account_search:',
  'operator_payouts:newest:',
  'operator_any',
  'operator_key',
  'operator_job',
  'operator_ledger_checks:newest:',
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

  /** The offences that a statement adds to those of the schema, which is then as before. */
  async function addedBy(create: string, drop: string): Promise<{ rule: string; what: string }[]> {
    const textOf = ({ rule, what }: { rule: string; what: string }) => `${rule}: ${what}`;
    const before = new Set((await schemaOffences(world.sql)).map(textOf));
    await world.sql.unsafe(create);
    const offences = await schemaOffences(world.sql);
    await world.sql.unsafe(drop);
    return offences.filter((each) => !before.has(textOf(each)));
  }

  it('fails the lint if a table has no tenant, which shows that the lint can fail', async () => {
    const create = 'create table careless (id bigint generated always as identity primary key)';
    const added = await addedBy(create, 'drop table careless');
    expect(added.map(({ rule }) => rule)).toEqual([
      'identity or serial: take new_id()',
      'no tenant_id: give the table keyColumns()',
    ]);
  });

  /** What Citus refused or did wrongly on a real cluster, each with the rule that finds it on a plain PostgreSQL. */
  const refused: [rule: string, body: string][] = [
    [
      'a function that reads tables is called in a statement over tables: call it before, into a variable',
      'perform receiver_of(p_tenant, p_live, a.id) from account a where a.tenant_id = p_tenant;',
    ],
    [
      'a function that is not immutable is called in an update or delete: call it before, into a variable',
      'update job set due = wall_clock() where tenant_id = p_tenant;',
    ],
    [
      'a case compares a variable in a statement over tables: write `case when v_kind = …`',
      "update balance set version = case v_kind when 'a' then 1 else 2 end where tenant_id = p_tenant;",
    ],
    [
      'a subquery stands among the values of an insert: read it before, into a variable',
      'insert into unsealed (tenant_id, livemode, posting_id) values ' +
        '(p_tenant, p_live, (select min(x) from unnest(v_ids) x));',
    ],
    [
      'an insert selects from a table: read the rows before, into an array, and insert from its unnest',
      'insert into unsealed (tenant_id, livemode, posting_id) select p_tenant, p_live, p.id from posting p ' +
        'where p.tenant_id = p_tenant;',
    ],
    [
      'a query inside a join selects a complete row: name its columns, or read the rows before',
      'v_jobs := array(select x.j from unnest(v_ids) i cross join lateral (select j from job j where ' +
        'j.tenant_id = p_tenant and j.id = i) x);',
    ],
    [
      'an insert that selects counts the rows that met a conflict, too: read what `returning` has',
      'insert into unsealed (tenant_id, livemode, posting_id) select p_tenant, p_live, x from unnest(v_ids) x ' +
        "on conflict do nothing; if not found then v_kind := 'a'; end if;",
    ],
  ];
  it.each(refused)('is refused by its lint when %s', async (rule, body) => {
    const create = `create function careless(p_tenant text, p_live boolean) returns void language plpgsql as $$
      declare v_kind text; v_ids text[]; v_jobs job[]; begin ${body} end $$`;
    const added = await addedBy(create, 'drop function careless');
    expect(added.map((each) => each.rule)).toEqual([rule]);
  });

  it('is refused by its lint when a lateral reads a table only in a query inside', async () => {
    const create = `create view careless as select a.id, n.late from account a, lateral (
      select extract(epoch from now()) + (select max(c.offset_seconds) from test_clock c
      where c.tenant_id = a.tenant_id) as late) n`;
    expect(await addedBy(create, 'drop view careless')).toEqual([
      { rule: 'a lateral has no table in its from: give it one, or read its value before', what: 'careless' },
    ]);
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
    await everyStatement(given);
    const tenantTables = (
      await world.sql`select relname from pg_class where relnamespace = 'public'::regnamespace
        and relkind in ('r', 'v')`
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
      const tenants = [...statement.matchAll(/tenant_id"? = \$\d+/g)].length;
      if (tables === 0 || tenants < tables) faults.push(`${name}: ${tables} tables, ${tenants} tenants: ${statement}`);
      if (/\binsert\b|\bupdate\b|\bdelete\b/.test(statement)) faults.push(`${name} writes outside a function`);
    }
    expect(faults).toEqual([]);
    expect(reads).toBeGreaterThan(20);
  });

  it('lists every statement about all tenants by name', async () => {
    await given.directUser(1);
    const { nodes } = await listAccounts(world.operator, {});
    await verificationOf(world.operator, nodes[0]!);
    await listPayouts(world.operator, {});
    await hasNoAccounts(world.operator);
    await listOperators(world.operator);
    await listActions(world.operator, { limit: 1 });
    const without = [...world.database.preparedStatements]
      .filter(([, statement]) => !/tenant_id"? = \$/.test(statement) && !/^select \* from \w+\(\$1/.test(statement))
      .map(([name]) => name);
    expect(without.filter((name) => !acrossTenants.includes(name))).toEqual([]);
  });
});
