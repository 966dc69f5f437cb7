import fs from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { childrenOf, until, useChildren } from '../support/child.js';
import { prometheusProgram } from '../support/prometheus.js';
import { patience } from '../support/scale.js';
import { type Server, Servers } from '../support/standby.js';
import { doctorOn, fires, partner, unwatched, type Watched, watched } from './alert-fixture.js';

vi.setConfig(patience);

const children = useChildren();
const servers = new Servers(children.folder());
const missing = prometheusProgram ? '' : ' (skipped: no prometheus is installed)';
const clocks = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

let server: Server;
let one: Watched | undefined;

/** Starts a gateway that has checked the health of nothing yet, and a Prometheus that has seen nothing. */
async function fresh(more: Record<string, string> = {}): Promise<Watched> {
  one = await watched(children, server, 'user', more);
  return one;
}

// Each drill has a gateway and a Prometheus of its own: what fires for fifteen minutes is none of the next one.
describe.skipIf(!prometheusProgram)(`the alert rules about what a gateway finds${missing}`, () => {
  beforeAll(async () => {
    server = await servers.start(await servers.copy('work'));
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

  it('wait an hour with a backup that is older than two days', async () => {
    const folder = `${children.folder()}/backup`;
    const environment = {
      DATABASE_URL: `postgres://tidegate@127.0.0.1:${server.port}/tidegate`,
      API_KEY_PEPPER: 'a pepper that is long enough for a test',
      TRUSTED_PROXY: '127.0.0.1',
    };
    expect((await children.command(environment, 'backup', folder)).code).toBe(0);
    await server.sql`update operator_action set created = created - 3 * 86400 where operation = 'backup'`;
    const { prometheus } = await fresh();
    const pending = 'count(ALERTS{alertname="TidegateBackupOld",alertstate="pending"})';
    await until(async () => (await prometheus.query(pending)) === 1, 250);
    expect([...(await prometheus.firing())]).toEqual([]);
    expect(await doctorOn(children, environment, 'TidegateBackupOld')).toEqual([
      ['look', 'backups', 'The last backup by `tidegate backup` is 3 days old.'],
    ]);
  });

  it.skipIf(!fs.existsSync(clocks))('fire for nobody when a clock is wrong, which the log says', async () => {
    const { gateway, prometheus, me } = await fresh({
      LD_PRELOAD: clocks,
      FAKETIME: '+3600s',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });
    const said = () => gateway.log().filter(({ check }) => check === 'servers');
    await until(() => said().length > 0);
    expect(said()).toMatchObject([
      { level: 40, finding: expect.stringMatching(/^The clock of .* differs .* by -3600 s/) },
    ]);
    expect((await partner(me)).status).toBe(200);
    // Some scrapes later.
    const scrapes = 'max(count_over_time(up{job="tidegate"}[1h]))';
    const before = (await prometheus.query(scrapes))!;
    await until(async () => (await prometheus.query(scrapes))! >= before + 4, 250);
    expect([...(await prometheus.firing())]).toEqual([]);
  });

  // The last one, as it leaves a violated ledger.
  it('page for a ledger that a check finds violated', async () => {
    const { me, prometheus, environment, root } = await fresh();
    const { body } = await me.post('/v1/deposits', { amount: '100.00', currency: 'USD' });
    expect((await me.post(`/v1/test_helpers/deposits/${body.id}/complete`)).status).toBe(200);
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
