import fs from 'node:fs';
import pino from 'pino';
import postgres from 'postgres';
import { describe, expect, inject, it } from 'vitest';
import { Database } from '../../src/db/database.js';
import { checkLedgerNow } from '../../src/operator/money/audit.js';
import { LedgerChecks } from '../../src/jobs/ledger-checks.js';
import type { LedgerState, WorkObserver } from '../../src/jobs/work-queue.js';
import { eventually, givenIn, must, type Speaker, tenantOf, useWorld } from '../support/world.js';

const OPERATOR_KEY = 'op_5f0d4c1f9b7e43a28c6d1e0f9a8b7c6d';
const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
const given = givenIn(world);

const day = 86_400;
const place = () => ({ ...inject('admin'), username: 'tidegate', database: String(world.sql.options.database) });

/** The checks of one gateway, with connections of its own, what they have logged, and what metrics learned. */
function gatewayChecks() {
  const database = new Database(place());
  const stop = new AbortController();
  const lines: Record<string, unknown>[] = [];
  const states: LedgerState[] = [];
  const checked: string[] = [];
  const observer = {
    checked: (status: string) => void checked.push(status),
    ledger: (state: LedgerState) => void states.push(state),
  } as Partial<WorkObserver> as WorkObserver;
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const checks = new LedgerChecks(database, log, day, observer, stop.signal);
  return { database, checks, stop, lines, states, checked, close: () => database.close() };
}

/** Changes rows as a superuser: even the owner of the database may not change the ledger. */
async function tampering<T>(change: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres({ ...inject('admin'), database: world.sql.options.database, max: 1 });
  return change(sql).finally(() => sql.end());
}

const outcomes = () =>
  world.sql<{ tenant: string; status: string; violations: number; broken: string | null; error: string | null }[]>`
    select tenant_id as tenant, status, violation_count as violations, broken_block as broken, error
    from ledger_check order by created, id`;

/** A user with money whose postings are sealed. */
async function trader(): Promise<Speaker> {
  const user = await given.directUser(1);
  const deposit = { amount: '100.00', currency: 'USD', payment_method: 'domestic_credit' };
  const { body } = await user.post('/v1/deposits', deposit);
  expect((await user.post(`/v1/test_helpers/deposits/${body.id}/complete`)).status).toBe(200);
  await world.database.call('seal_postings', [tenantOf(user), false, 50]);
  return user;
}

async function operator(query: string) {
  const response = await fetch(`${world.origin}/operator/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = (await response.json()) as { data: Record<string, any>; errors?: unknown };
  expect(errors).toBeUndefined();
  return data;
}

describe('the checks of the ledger', () => {
  it('check each tenant and mode once in an interval, whatever the number of gateways', async () => {
    const user = await trader();
    const [one, other] = [gatewayChecks(), gatewayChecks()];

    await Promise.all([one.checks.round(), other.checks.round()]);
    await one.checks.round();

    const rows = (await outcomes()).filter(({ tenant }) => tenant === tenantOf(user));
    expect(rows.map(({ status }) => status)).toEqual(['passed']);
    expect([...one.checked, ...other.checked].every((status) => status === 'passed')).toBe(true);
    expect(one.states.at(-1)).toMatchObject({ violated: 0, unchecked: 0 });
    await Promise.all([one.close(), other.close()]);
  });

  it('find a changed balance and a changed block, log it, and show it to the operator', async () => {
    const user = await trader();
    const tenant = tenantOf(user);
    const change = (by: number) =>
      tampering(async (sql) => {
        await sql`update balance set pending = pending + ${by} where tenant_id = ${tenant}`;
        await sql`update seal_block set postings = postings + ${by} where tenant_id = ${tenant}`;
      });
    await change(1);
    const gateway = gatewayChecks();

    await gateway.checks.round().finally(() => change(-1));
    await gateway.close();

    expect((await outcomes()).find((row) => row.tenant === tenant)).toMatchObject({
      ...{ status: 'violated', violations: 2, broken: '1', error: null },
    });
    expect(gateway.lines).toContainEqual(
      expect.objectContaining({
        ...{ tenant, account: `account_${tenant}`, mode: 'test', violationCount: 2, brokenBlock: '1' },
        msg: 'the ledger of a tenant is violated',
      }),
    );
    expect(gateway.states.at(-1)).toMatchObject({ violated: 1 });
    const { ledgerChecks } = await operator(`{ ledgerChecks(tenantId: "${tenant}", status: VIOLATED) {
      nodes { tenantId livemode status began ended violationCount brokenBlock error violations { tenantId rule what } }
      next } }`);
    expect(ledgerChecks).toEqual({
      nodes: [
        {
          ...{ tenantId: tenant, livemode: false, status: 'VIOLATED', violationCount: 2, brokenBlock: 1, error: null },
          ...{ began: expect.any(String), ended: expect.any(String) },
          violations: expect.arrayContaining([
            { tenantId: tenant, rule: 'balance is not the sum of its entries', what: `${user.id} USD` },
          ]),
        },
      ],
      next: null,
    });
    // A check of the mended ledger is due after the interval, and replaces the outcome.
    await world.sql`update ledger_check set created = created - ${2 * day} where tenant_id = ${tenant}`;
    const later = gatewayChecks();
    await later.checks.round();
    await later.close();
    expect(later.states.at(-1)).toMatchObject({ violated: 0 });
    const { ledgerChecks: both } = await operator(`{ ledgerChecks(tenantId: "${tenant}") { nodes { status } } }`);
    expect(both.nodes).toEqual([{ status: 'PASSED' }, { status: 'VIOLATED' }]);
  });

  it('say a violation before the round has ended, and clear it after a check by an operator', async () => {
    const tenants = [await trader(), await trader(), await trader()].map(tenantOf);
    const change = (by: number) =>
      tampering((sql) => sql`update balance set pending = pending + ${by} where tenant_id = any(${tenants})`);
    await change(1);
    const gateway = gatewayChecks();
    await gateway.checks.round();
    // The number is said after each check, and not after the last one alone.
    const said = gateway.states.map(({ violated }) => violated);
    const before = said[0]!;
    expect(said).toEqual([before, before + 1, before + 2, before + 3, before + 3]);
    await change(-1);
    for (const tenant of tenants) {
      const checked = await checkLedgerNow(world.operator, `account_${tenant}`, false);
      expect(checked).toMatchObject([{ tenantId: tenant, livemode: false, status: 'passed', violationCount: 0 }]);
    }
    await gateway.checks.lookAgain();
    expect(gateway.states.at(-1)).toMatchObject({ violated: before });
    await gateway.close();
  });

  it('say what an operator has found when their last round knew of no ledger', async () => {
    const tenant = tenantOf(await trader());
    const change = (by: number) =>
      tampering((sql) => sql`update balance set pending = pending + ${by} where tenant_id = ${tenant}`);
    await change(1);
    await checkLedgerNow(world.operator, `account_${tenant}`, false);
    const gateway = gatewayChecks();
    await gateway.checks.lookAgain();
    const found = gateway.states.at(-1)?.violated ?? 0;
    expect(found).toBeGreaterThan(0);
    await change(-1);
    await checkLedgerNow(world.operator, `account_${tenant}`, false);
    await gateway.checks.lookAgain();
    expect(gateway.states.at(-1)).toMatchObject({ violated: found - 1 });
    await gateway.close();
  });

  it('find the rank that was copied from a changed balance, until it is written again as the guide says', async () => {
    const user = await given.directUser(1);
    const { body } = await user.post('/v1/deposits', { amount: '100.00', currency: 'USD' });
    await must(user.post(`/v1/test_helpers/deposits/${body.id}/complete`));
    const tenant = tenantOf(user);
    const change = (by: number) =>
      tampering((sql) => sql`update balance set pending = pending + ${by} where tenant_id = ${tenant}`);
    await change(1);
    await world.database.call('seal_postings', [tenant, false, 50]);
    await change(-1);
    const check = () => checkLedgerNow(world.operator, user.id, false);
    const rule = 'rank is not the sum of its entries';
    expect(await check()).toMatchObject([{ status: 'violated', violations: [{ rule, what: `${user.id} USD` }] }]);
    const guide = fs.readFileSync('docs/operations/respond.md', 'utf8');
    for (const statement of guide.split(`\`${rule}\``)[1]!.match(/(?<=`)(delete|select) .*?(?=`)/g)!) {
      const here = statement.replaceAll('TENANT', tenant).replaceAll('account_…', user.id).replace('true', 'false');
      await tampering((sql) => sql.unsafe(here));
    }
    expect(await check()).toMatchObject([{ status: 'passed', violationCount: 0 }]);
  });

  it('say beside a round what others find, and what they find mended', async () => {
    const [busy, tenant] = [tenantOf(await trader()), tenantOf(await trader())];
    const found = async (violated: boolean) => {
      const [begun] = await world.database.call('begin_ledger_check', [tenant, false, 0, 1_800]);
      const violations = violated ? [{ rule: 'a rule', what: 'an object' }] : [];
      const outcome = [JSON.stringify(violations), violations.length, null, null];
      await world.database.call('end_ledger_check', [tenant, false, String(begun!.begin_ledger_check), ...outcome]);
    };
    await found(false);
    const gateway = gatewayChecks();
    const blocker = postgres({ ...inject('admin'), database: world.sql.options.database, max: 1 });
    let running: Promise<void> | undefined;
    await blocker
      .begin(async (sql) => {
        await sql`lock table posting_seal in access exclusive mode`;
        running = gateway.checks.round();
        await eventually(
          () => world.sql`select from ledger_check where tenant_id = ${busy} and status = 'running'`,
          (rows) => rows.length === 1,
        );
        const { violated: before } = gateway.states.at(-1)!;
        await gateway.checks.lookAgain();
        expect(gateway.states.at(-1)).toMatchObject({ violated: before });
        await found(true);
        await gateway.checks.lookAgain();
        expect(gateway.states.at(-1)).toMatchObject({ violated: before + 1 });
        await found(false);
        await gateway.checks.lookAgain();
        expect(gateway.states.at(-1)).toMatchObject({ violated: before });
      })
      .finally(() => blocker.end());
    await running;
    await gateway.close();
  });

  it('end with their gateway, even while a statement runs, and are made again by another one', async () => {
    const tenant = tenantOf(await trader());
    const gateway = gatewayChecks();
    const blocker = postgres({ ...inject('admin'), database: world.sql.options.database, max: 1 });
    let running: Promise<void> | undefined;
    await blocker
      .begin(async (sql) => {
        await sql`lock table posting_seal in access exclusive mode`;
        running = gateway.checks.round();
        await eventually(
          () => world.sql`select from ledger_check where tenant_id = ${tenant} and status = 'running'`,
          (rows) => rows.length === 1,
        );
        gateway.stop.abort();
        await running;
      })
      .finally(() => blocker.end());

    const own = async () => (await outcomes()).filter((row) => row.tenant === tenant);
    expect(await own()).toMatchObject([{ status: 'failed', error: 'The gateway stopped.' }]);
    // What was known before it, and nothing more.
    expect(gateway.states).toMatchObject([{ unchecked: 1 }]);

    // At once, no other gateway repeats what has failed; an hour later one does.
    const other = gatewayChecks();
    await other.checks.round();
    expect(await own()).toHaveLength(1);
    expect(other.states.at(-1)).toMatchObject({ unchecked: 1 });
    await world.sql`update ledger_check set created = created - 3600 where tenant_id = ${tenant}`;
    await other.checks.round();
    expect((await own()).map(({ status }) => status)).toEqual(['failed', 'passed']);
    expect(other.states.at(-1)).toMatchObject({ unchecked: 0 });
    await Promise.all([gateway.close(), other.close()]);
  });

  it('report append-only tables that a role may change', async () => {
    const gateway = gatewayChecks();
    await tampering((sql) => sql`grant update on entry to tidegate`);
    await gateway.checks.round().finally(() => tampering((sql) => sql`revoke update on entry from tidegate`));
    await gateway.close();

    expect(gateway.lines).toContainEqual(
      expect.objectContaining({
        what: expect.stringContaining('entry'),
        msg: expect.stringContaining('not protected'),
      }),
    );
  });
});

describe('the privileges of the serving role on the ledger', () => {
  const tables = ['posting', 'entry', 'contra_entry', 'seal_block', 'posting_seal'];
  it.each(tables)('are to read %s and to insert into it, and never to update, delete or truncate it', async (table) => {
    const column = table === 'seal_block' ? 'number' : table === 'posting_seal' ? 'block' : 'created';
    expect(await world.sql.unsafe(`select 1 from ${table} limit 0`)).toEqual([]);
    for (const statement of [
      `update ${table} set ${column} = ${column}`,
      `update ${table} set ${column} = ${column} where false`,
      `delete from ${table}`,
      `delete from ${table} where false`,
      `truncate ${table}`,
      `truncate ${table} cascade`,
    ]) {
      const outcome = await world.sql.unsafe(statement).then(
        () => 'done',
        (error) => error.code,
      );
      expect([statement, outcome]).toEqual([statement, '42501']);
    }
  });
});
