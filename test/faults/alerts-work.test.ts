import fs from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Bouncer, bouncerMinor, bouncerProgram } from '../support/bouncer.js';
import { makeCertificate } from '../support/certificate.js';
import { childrenOf, until, useChildren } from '../support/child.js';
import { type Prometheus, prometheusProgram } from '../support/prometheus.js';
import { figures, patience } from '../support/scale.js';
import { type Server, Servers } from '../support/standby.js';
import { completeDeposit } from '../support/world.js';
import { doctorOn, fires, partner, pepper, unwatched, type Watched, watched } from './alert-fixture.js';

vi.setConfig(patience);

const children = useChildren();
const servers = new Servers(children.folder());
const missing = prometheusProgram ? '' : ' (skipped: no prometheus is installed)';
const clocks = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

/** The environment of a process whose clock is an hour ahead. */
const ahead = { LD_PRELOAD: clocks, FAKETIME: '+3600s', FAKETIME_DONT_FAKE_MONOTONIC: '1' };

let server: Server;
let [waiting, later] = ['', ''];
let one: Watched | undefined;

/** Starts a gateway that has checked the health of nothing yet, and a Prometheus that has seen nothing. */
async function fresh(more: Record<string, string> = {}): Promise<Watched> {
  one = await watched(children, server, 'user', more);
  return one;
}

/**
 * A backup of three days ago, a ledger that was checked four days ago, events that no worker can number in test mode,
 * and in live mode not within six seconds, and payouts that fail.
 */
async function mayWait(sql: Server['sql']): Promise<void> {
  await sql`update operator_action set created = created - 3 * 86400 where operation = 'backup'`;
  await sql`insert into balance (tenant_id, livemode, account_id, currency, of_partner, context_id, on_root_list)
    select tenant_id, livemode, id, 'USD', false, id, true from account where livemode`;
  await sql`insert into ledger_check (tenant_id, livemode, id, created, status)
    select tenant_id, true, 'check_old', extract(epoch from clock_timestamp())::bigint - 4 * 86400 - 60, 'passed'
    from account where livemode`;
  await sql.unsafe(`create function breaks() returns trigger language plpgsql as
    $$ begin raise exception 'broken' using errcode = 'P0001'; end $$;
    create function waits() returns trigger language plpgsql as $$ begin perform pg_sleep(6); return new; end $$;
    create trigger breaks before update on event for each row when (not new.livemode) execute function breaks();
    create trigger waits before update on event for each row when (new.livemode) execute function waits();
    create trigger breaks before delete on job for each row when (old.kind = 'pay_out') execute function breaks()`);
}

/** Waits until all that these rules ask for is there, with their waits still to end. */
const pending = (prometheus: Prometheus, rules: string[]) =>
  until(async () => {
    const found = await prometheus.pending();
    return rules.every((rule) => found.has(`Tidegate${rule}`));
  }, 250);

// Each drill has a gateway and a Prometheus of its own: what fires for fifteen minutes is none of the next one.
describe.skipIf(!prometheusProgram)(`the alert rules about what a gateway finds${missing}`, () => {
  beforeAll(async () => {
    const data = await servers.copy('work');
    [waiting, later] = [await servers.copy('waiting'), await servers.copy('later')];
    server = await servers.start(data);
  });
  afterEach(() => unwatched(one));
  afterAll(() => servers.endAll());

  it('say that a process of WORKERS hung, which is replaced', async () => {
    const { gateway, prometheus, me } = await fresh({ WORKERS: '2' });
    await until(() => childrenOf(gateway.pid).length === 2);
    const [hung] = childrenOf(gateway.pid);
    process.kill(hung!, 'SIGSTOP');
    expect(await fires(prometheus, 'a process of WORKERS hangs', 'TidegateProcessReplaced')).toBeLessThan(60);
    expect(await prometheus.query('sum(tidegate_processes_replaced_total{reason="hung"})')).toBe(1);
    await until(() => childrenOf(gateway.pid).length === 2 && !childrenOf(gateway.pid).includes(hung!));
    await until(async () => (await me.get('/v1/accounts')).status === 200);
  });

  it('wait with what may wait, as long as they say: it is true on a real gateway, and nothing fires', async () => {
    const folder = children.folder();
    const own = await servers.start(waiting);
    const backup = { DATABASE_URL: `postgres://tidegate@127.0.0.1:${own.port}/tidegate`, API_KEY_PEPPER: pepper };
    expect((await children.command(backup, 'backup', `${folder}/backup`)).code).toBe(0);
    const create = ['account', 'create', '--type=user', '--edition=1', '--legal-name=Quiet Traders'];
    expect((await children.command(backup, ...create)).code).toBe(0);
    await mayWait(own.sql);
    const tls = makeCertificate(folder, { days: 3 });
    one = await watched(children, own, 'platform', { ...tls, LEDGER_CHECK_HOURS: '168', STATEMENT_SECONDS: '60' });
    const { prometheus, environment } = one;
    const rules = ['BackupOld', 'Certificate', 'LedgerUnchecked', 'StuckTest', 'WorkFails', 'WorkWaits'];
    await pending(prometheus, rules);
    await own.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select tenant_id, true, 'job_fails', 1, 'pay_out', id, '{}', extract(epoch from clock_timestamp())::bigint
      from account limit 1`;
    await pending(prometheus, [...rules, 'Stuck']);
    expect([...(await prometheus.firing())]).toEqual([]);
    const said = await doctorOn(children, { ...environment, ...tls }, 'TidegateHealth');
    expect(said.filter(([level]) => level === 'look')).toEqual(
      expect.arrayContaining([
        ['look', 'backups', 'The last backup by `tidegate backup` is 3 days old.'],
        ['look', 'certificate', expect.stringMatching(/^The certificate in TLS_CERT_FILE expires in [23] days\. Once/)],
        ['look', 'ledgers', 'The oldest last check of a ledger is 4 days old.'],
        ['look', 'stuck work', 'In live mode 1 job and the work of 0 tenants fail and are tried again.'],
        ['look', 'stuck work', 'In test mode 0 jobs and the work of 2 tenants fail and are tried again.'],
      ]),
    );
  });

  it.skipIf(!fs.existsSync(clocks)).each([
    ['a gateway', '-3600', async () => fresh(ahead)],
    [
      'PostgreSQL',
      '3600',
      async () => (one = await watched(children, await servers.start(later, [], undefined, undefined, ahead), 'user')),
    ],
  ])('fire for nobody when the clock of %s is wrong, which the log says', async (whose, difference, start) => {
    const { gateway, prometheus, me } = await start();
    const said = () => gateway.log().filter(({ check }) => check === 'servers');
    const began = performance.now();
    await until(() => said().length > 0);
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    figures('alerts', { fault: `the clock of ${whose} is an hour wrong`, log: 'warn', seconds });
    expect(said()).toMatchObject([
      { level: 40, finding: expect.stringMatching(`^The clock of .* differs from this machine's by ${difference} s`) },
    ]);
    expect((await partner(me)).status).toBe(200);
    // Some scrapes later.
    const scrapes = 'max(count_over_time(up{job="tidegate"}[1h]))';
    const before = (await prometheus.query(scrapes))!;
    await until(async () => (await prometheus.query(scrapes))! >= before + 4, 250);
    expect([...(await prometheus.firing())]).toEqual([]);
  });

  it.skipIf(!bouncerProgram)('page when PgBouncer is gone, until it is back', async () => {
    const role = 'alter role tidegate in database tidegate';
    await server.sql.unsafe(`${role} set statement_timeout = '5s'; ${role} set lock_timeout = '2s'`);
    const bouncer = new Bouncer(server);
    const keeps = bouncerMinor >= 21;
    await bouncer.start(keeps ? {} : { max_prepared_statements: 0 });
    try {
      const { prometheus, me, gateway } = await fresh({
        ...{ DATABASE_URL: `postgres://tidegate@127.0.0.1:${bouncer.port}/tidegate`, PREPARED_STATEMENTS: `${keeps}` },
        LISTEN_URL: `postgres://tidegate@127.0.0.1:${server.port}/tidegate`,
      });
      expect((await partner(me)).status).toBe(200);
      await bouncer.kill();
      expect(await fires(prometheus, 'PgBouncer killed', 'TidegateNoCommits')).toBeLessThan(60);
      expect(await (await fetch(`${gateway.origin}/readyz`)).json()).toEqual({ status: 'no database' });
      const refused = await partner(me);
      expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
      await bouncer.start(keeps ? {} : { max_prepared_statements: 0 });
      await until(async () => (await partner(me)).status === 200, 50);
      await until(async () => (await prometheus.firing()).size === 0, 250);
    } finally {
      await bouncer.stop();
      await server.sql.unsafe(`${role} reset all`);
    }
  });

  // The last one, as it leaves a violated ledger.
  it('page for a ledger that a check finds violated', async () => {
    const { me, prometheus, environment, root } = await fresh();
    const { body } = await me.post('/v1/deposits', { amount: '100.00', currency: 'USD' });
    await completeDeposit(me, body.id);
    await server.sql`update balance set pending = pending + 1 where not livemode`;
    const check = await children.command(environment, 'ledger', 'check', root.account.id, '--json');
    expect(check.code).toBe(1);
    expect(await fires(prometheus, 'a balance was changed by hand', 'TidegateLedgerViolated')).toBeLessThan(60);
    expect(await doctorOn(children, environment, 'TidegateLedgerViolated')).toContainEqual([
      'now',
      'ledgers',
      '1 ledger violated at the last check.',
    ]);
  });
});
