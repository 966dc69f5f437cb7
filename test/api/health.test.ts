import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import postgres from 'postgres';
import { describe, expect, inject, it, vi } from 'vitest';
import { parse } from 'yaml';
import { buildGraph } from '../../src/api/graphql/server.js';
import { Database } from '../../src/db/database.js';
import { alertsKnown, health } from '../../src/operator/health/doctor.js';
import { version } from '../../src/config/version.js';
import { processesByVersion } from '../../src/operator/health/finding.js';
import { keyOf } from '../../src/operator/health/watch.js';
import { Operator } from '../../src/operator/operator.js';
import { operatorWithoutGraph } from '../../src/operator/commands/backup.js';
import { addOwnAccount } from '../../src/operator/payment-order/accounts.js';
import { logged } from '../../src/operator/action/actions.js';
import { taxCardNumber, verificationOf } from '../../src/operator/account/accounts.js';
import { personBody } from '../support/bodies.js';
import { eventually, givenIn, must, tenantOf, useWorld } from '../support/world.js';
import { OPERATOR_KEY, operatorIn } from './operator-fixture.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
const given = givenIn(world);
const { ask, data } = operatorIn(world);

/** The lines that are not well, without those that no test has caused. */
const bad = async () =>
  (await health(world.operator))
    .filter(({ level }) => level !== 'ok')
    .map(({ check, level, finding, command }) => [check, level, finding, command])
    .filter(([check, , finding]) => check !== 'gateways' && !finding!.startsWith('`tidegate backup` has made no'));

describe('the health of a deployment', () => {
  it('has a line for each check, and nothing to do where all is well', async () => {
    const lines = await health(world.operator);
    expect(new Set(lines.map(({ check }) => check)).size).toBe(15);
    expect(await bad()).toEqual([]);
    // No gateway of this test says that it runs.
    expect(lines.slice(0, 2).map(({ check, level }) => [check, level])).toEqual([
      ['gateways', 'look'],
      ['backups', 'look'],
    ]);
  });

  it('has only the checks that explain an alert, or all', async () => {
    const about = async (alert: string) => (await health(world.operator, alert)).map(({ check }) => check).toSorted();
    expect(await about('TidegateUndecryptable')).toEqual(['secrets']);
    expect(await about('TidegateLedgerViolated')).toEqual(['ledgers']);
    expect(await about('TidegateReplicaLag')).toEqual(['replicas']);
    expect(await about('TidegateBackupOld')).toEqual(['backups']);
    // Any check may have caused it.
    expect(await about('TidegateHealth')).toHaveLength(15);
    const wrong = await ask('query ($alert: String) { health(alert: $alert) { check } }', { alert: 'TidegateLat' });
    expect(wrong.body.errors[0]).toMatchObject({ extensions: { error: { metadata: { field_name: 'alert' } } } });
    expect(wrong.body.errors[0].message).toContain(`The rules are ${alertsKnown.join(', ')}.`);
  });

  it('explains each of the alert rules, and no other', () => {
    const { groups } = parse(fs.readFileSync('docs/operations/alerts.yml', 'utf8'));
    const rules = groups[0].rules.map(({ alert }: { alert: string }) => alert);
    expect(alertsKnown).toEqual(rules.toSorted());
  });

  it('finds a replica that is away, and a certificate that soon expires', async () => {
    const place = { ...inject('admin'), username: 'tidegate', database: String(world.sql.options.database) };
    const connections = [{ ...place, port: 1 }, place];
    const database = new Database(place, undefined, { replicas: { connections, lagSeconds: 10, reads: false } });
    const curve = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 10 -subj /CN=tidegate';
    const pem = execFileSync('openssl', [...curve.split(' '), '-keyout', '/dev/null'], { stdio: 'pipe' });
    const operator = new Operator(database, buildGraph(), world.pepper, undefined, undefined, () => pem);
    expect((await health(operator, 'TidegateReplicaLag')).map(({ level, finding }) => [level, finding])).toEqual([
      ['look', expect.stringMatching(/^The replica .+:1 does not answer: connect ENOENT/)],
      ['look', expect.stringMatching(/^The replica .+ is no standby: nothing is read there\.$/)],
    ]);
    expect(await health(operator, 'TidegateCertificate')).toEqual([
      expect.objectContaining({
        level: 'look',
        finding: expect.stringMatching(/^The certificate in TLS_CERT_FILE expires in 9 days\. Once /),
        command: 'kill -HUP PROCESS',
      }),
    ]);
    await database.close();
  });

  it('is logged again where another thing is meant, and not where a count has changed', () => {
    const known = (...findings: string[]) =>
      new Set(findings.map((finding) => keyOf({ check: 'x', level: 'now', finding, command: null }))).size;
    expect(known('10.0.0.1:5432 does not answer: x.', '10.0.0.2:5432 does not answer: x.')).toBe(2);
    expect(
      known('The encryption key 12345678 is not configured.', 'The encryption key 22345678 is not configured.'),
    ).toBe(2);
    expect(known('The table entry_1 has 9 dead rows.', 'The table entry_2 has 9 dead rows.')).toBe(2);
    const late = (span: string) => `The oldest job of live mode is overdue by ${span}.`;
    expect(known(late('3 hours'), late('17 hours'))).toBe(1);
    const stuck = (jobs: number, tenants: number) =>
      `In live mode ${jobs} jobs and the work of ${tenants} tenants fail.`;
    expect(known(stuck(2, 10), stuck(10_000, 0))).toBe(1);
  });

  it('says what to type after each fault', async () => {
    const [user] = [await given.directUser(1), await given.directUser(1)];
    const tenant = tenantOf(user);
    const { sql } = world;
    const [{ owner }] = (await sql`select tableowner as owner from pg_tables where tablename = 'entry'`) as [
      { owner: string },
    ];
    const faults: [cause: () => Promise<unknown>, line: unknown[], undo: () => Promise<unknown>][] = [
      [
        // Several accounts have the same mode, so the index stays invalid.
        () => sql`create unique index concurrently no_index on account (livemode)`.catch(() => {}),
        ['indexes', 'now', 'The index no_index is invalid.', 'reindex index concurrently no_index'],
        () => sql`drop index no_index`,
      ],
      [
        () => sql.unsafe(`grant update on entry to ${owner}`),
        [
          ...['privileges', 'now', `An append-only table is not protected: entry: ${owner} has UPDATE.`],
          'tidegate migrate --grant-to ROLE',
        ],
        () => sql.unsafe(`revoke update on entry from ${owner}`),
      ],
      [
        async () => {
          const own = { holder: 'Tidegate', currency: 'USD', number: '1234567' };
          const { id } = (await addOwnAccount(world.operator, own, 'a person')) as { id: string };
          await sql`insert into payment_order
            (id, created, created_by, own_account_id, currency, value_date, status, payouts, total)
            values ('payment_order_empty', 1, 'a person', ${id}, 'USD', '2026-01-05', 'proposed', 1, 5)`;
        },
        [
          ...['ledgers', 'now'],
          'A rule is broken: payment order and its payouts disagree (payment_order_empty).',
          'tidegate ledger audit',
        ],
        () => sql`delete from payment_order`,
      ],
      [
        () => sql`update drizzle.schema_version set version = version - 1`,
        ['versions', 'now', expect.stringMatching(/^The database is at version \d+, this/), 'tidegate migrate'],
        () => sql`update drizzle.schema_version set version = version + 1`,
      ],
      [
        () => sql`update drizzle.schema_version set version = version + 1`,
        [
          ...['versions', 'look', expect.stringMatching(/^The database is at version \d+, newer than this/)],
          processesByVersion,
        ],
        () => sql`update drizzle.schema_version set version = version - 1`,
      ],
      [
        () => sql.unsafe(`revoke select on operator_action from ${owner}`),
        [
          ...['backups', 'look', 'This could not be checked: permission denied for table operator_action'],
          'DATABASE_URL=URL_OF_THE_OWNER tidegate doctor',
        ],
        () => sql.unsafe(`grant select on operator_action to ${owner}`),
      ],
      [
        () => sql`insert into webhook_endpoint (tenant_id, livemode, id, created, updated_at, account_id, url,
          event_types, connected, enabled, secret_sealed, context_id, on_root_list) values (${tenant}, false,
          'webhook_x', 1, 1, ${user.id}, 'https://example.com/', '{*}', false, true, 'v1.0badc0de.AAAA', ${user.id},
          true)`,
        [
          ...['secrets', 'now', 'The encryption key 0badc0de is not configured: 1 webhook secret cannot be decrypted.'],
          'tidegate secrets',
        ],
        () => sql`delete from webhook_endpoint where id = 'webhook_x'`,
      ],
      [
        () => sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due, error,
          failing_since) values
          (${tenant}, false, 'job_fails', 1, 'retire_address', 'none', '{}', 99999999999, 'failed', 1)`,
        [
          ...['stuck work', 'look', 'In test mode 1 job and the work of 0 tenants fail and are tried again.'],
          'tidegate job list --stuck',
        ],
        () => sql`delete from job where id = 'job_fails'`,
      ],
      [
        () => sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due) values (${tenant},
          true, 'job_late', 1, 'no_payout', 'none', '{}', extract(epoch from clock_timestamp())::bigint - 7300)`,
        ['late work', 'now', 'The oldest job of live mode is overdue by 2 hours.', 'curl -s http://GATEWAY/readyz'],
        () => sql`delete from job where id = 'job_late'`,
      ],
      [
        () => sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due, error,
          failing_since) values (${tenant}, true, 'job_late', 1, 'no_payout', 'none', '{}', 99999999999, 'failed',
          extract(epoch from clock_timestamp())::bigint - 7300)`,
        ['late work', 'now', 'The oldest job of live mode is overdue by 2 hours.', 'tidegate job list --stuck'],
        () => sql`delete from job where id = 'job_late'`,
      ],
    ];
    for (const [cause, line, undo] of faults) {
      await cause();
      expect(await bad()).toContainEqual(line);
      await undo();
    }
    expect(await bad()).toEqual([]);
  });

  it('says which key tax cards lack, and does not look for a card that was altered', async () => {
    const user = await given.directUser(1);
    const { id } = await must(user.post('/v1/persons', personBody()));
    const { sql } = world;
    const sealed = sql`identification ->> 'taxCardSealed'`;
    const seal = (text: ReturnType<typeof sql>) =>
      sql`update person set identification = identification || jsonb_build_object('taxCardSealed', ${text})
        where id = ${id}`;
    const numberOf = async () => {
      const { persons } = await verificationOf(world.operator, await world.operator.account(user.id, false));
      return taxCardNumber(world.operator, persons.find((one) => one.id === id)!);
    };
    expect([await bad(), await numberOf()]).toEqual([[], 'ABCPE1234F']);

    await seal(sql`'v1.0badc0de.' || (${sealed})`);
    expect(await bad()).toEqual([
      [
        ...['secrets', 'now', 'The encryption key 0badc0de is not configured: 1 tax card number cannot be decrypted.'],
        'tidegate secrets',
      ],
    ]);
    await seal(sql`substr(${sealed}, length('v1.0badc0de.') + 1)`);
    expect(await bad()).toEqual([]);

    await seal(sql`(${sealed}) || 'AAAA'`);
    expect(await bad()).toEqual([]);
    await expect(numberOf()).rejects.toThrow('The encrypted number was altered in the database.');
    await seal(sql`left(${sealed}, -4)`);
    expect(await numberOf()).toBe('ABCPE1234F');
  });

  it('finds an index that is much larger than its entries, and a table of dead rows', async () => {
    const { sql } = world;
    // A row of some thousand bytes that are not compressed, so that few make a large index.
    await sql`create table swollen (id int, filler text) with (autovacuum_enabled = off)`;
    await sql`alter table swollen alter column filler set storage plain`;
    await sql`insert into swollen select n, repeat(md5(n::text), 31) from generate_series(1, 80000) n`;
    await sql`create index swollen_filler on swollen (filler, lower(id::text))`;
    await sql`vacuum analyze swollen`;
    expect(await bad()).toEqual([]);
    await sql`delete from swollen where id % 10 <> 0`;
    await sql`vacuum analyze swollen`;
    expect(await bad()).toEqual([
      [
        ...['indexes', 'look', expect.stringMatching(/^The index swollen_filler has \d+ MiB, some \d+ times what it/)],
        'reindex index concurrently swollen_filler',
      ],
    ]);
    // The statistics of an expression are the owner's alone.
    const admin = postgres({ ...inject('admin'), database: String(sql.options.database), max: 1 });
    const reader = `reader_${randomUUID().slice(0, 8)}`;
    await admin.unsafe(`create role ${reader} login; grant select on swollen to ${reader}`);
    const place = { ...inject('admin'), username: reader, database: String(sql.options.database) };
    const seen = new Database(place);
    const indexes = (await health(new Operator(seen, buildGraph(), world.pepper))).filter(
      ({ check }) => check === 'indexes',
    );
    expect(indexes).toEqual([
      {
        ...{ check: 'indexes', level: 'look', command: 'DATABASE_URL=URL_OF_THE_OWNER tidegate doctor' },
        finding: 'This role may not see how many entries 1 large B-tree should hold.',
      },
    ]);
    await seen.close();
    await admin.unsafe(`drop owned by ${reader}; drop role ${reader}`);
    await admin.end();
    await sql`reindex index concurrently swollen_filler`;
    expect(await bad()).toEqual([]);
    await sql`create table deleted with (autovacuum_enabled = off) as select generate_series(1, 100001) as id`;
    await sql`delete from deleted`;
    await eventually(bad, (lines) => lines.length > 0);
    expect(await bad()).toEqual([
      [
        ...['indexes', 'look', 'The table deleted has 100001 dead rows, more than living ones.'],
        'vacuum (verbose) deleted',
      ],
    ]);
    await sql`drop table swollen, deleted`;
  });

  it('says whose clock differs', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    const lines = await bad();
    vi.useRealTimers();
    expect(lines).toEqual([
      [
        'servers',
        'look',
        expect.stringMatching(/^The clock of .+ differs from this machine's by 3\d{3} s\.$/),
        'timedatectl',
      ],
    ]);
  });

  it('names violated, unchecked and old checks of ledgers', async () => {
    const user = await given.directUser(1);
    const tenant = tenantOf(user);
    const { sql } = world;
    await sql`insert into balance (tenant_id, livemode, account_id, currency, of_partner, context_id, on_root_list)
      values (${tenant}, true, ${user.id}, 'USD', false, ${user.id}, true)`;
    const ledgers = async () => (await bad()).filter(([check]) => check === 'ledgers').map(([, ...line]) => line);
    expect(await ledgers()).toEqual([['look', '1 ledger not checked yet.', `tidegate ledger check ${user.id}`]]);
    await sql`insert into ledger_check (tenant_id, livemode, id, created, status) values (${tenant}, true, 'check_old',
      extract(epoch from clock_timestamp())::bigint - 4 * 86400 - 60, 'violated')`;
    expect(await ledgers()).toEqual([
      ['now', '1 ledger violated at the last check.', 'tidegate ledger checks --status violated'],
      ['look', 'The oldest last check of a ledger is 4 days old.', 'tidegate ledger checks --status failed'],
    ]);
    await sql`insert into ledger_check (tenant_id, livemode, id, created, status) values (${tenant}, true, 'check_new',
      extract(epoch from clock_timestamp())::bigint, 'passed')`;
    expect(await ledgers()).toEqual([]);
  });

  it('knows the backups of this program, and the processes of gateways', async () => {
    const of = async (check: string) => (await health(world.operator)).find((line) => line.check === check);
    expect(await of('backups')).toMatchObject({ level: 'look', command: 'tidegate backup FOLDER' });
    const actor = { name: 'command line (test)', id: null };
    await logged(operatorWithoutGraph(world.database), actor, { operation: 'backup' }, async () => ({}));
    expect(await of('backups')).toMatchObject({ level: 'ok' });
    await world.database.work('report_gateway_process', ['gateway_gone', 'pay-1', 4_242, '0.1.0'] as never);
    expect(await of('gateways')).toMatchObject({
      level: 'look',
      finding: expect.stringMatching(/version 0\.1\.0 run/),
      command: processesByVersion,
    });
    const [seen] = await world.sql.unsafe(processesByVersion);
    expect(seen).toMatchObject({ version: '0.1.0', host: 'pay-1', process: 4_242 });
    await world.sql`update gateway_process set seen_at = seen_at - 31`;
    expect(await of('gateways')).toMatchObject({
      level: 'now',
      finding: 'No process of a gateway has committed for 30 seconds.',
    });
    await world.database.work('report_gateway_process', ['gateway_here', 'pay-2', 1, version] as never);
    expect(await of('gateways')).toMatchObject({
      level: 'look',
      finding: '1 process of a gateway ended without saying so in the last day.',
      command: processesByVersion,
    });
    await world.sql`delete from gateway_process`;
  });

  it('is the same in the operators’ graph', async () => {
    const query = '{ health(alert: "TidegateUndecryptable") { check level finding command } }';
    const answer = await data(ask(query));
    expect(answer.health).toEqual([
      {
        ...{ check: 'secrets', level: 'OK', command: null },
        finding: 'Every secret that stored values depend on is configured.',
      },
    ]);
  });
});
