import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import { single } from '../../src/db/connect/driver/connection.js';
import { Bouncer, bouncerMinor, bouncerProgram } from '../support/bouncer.js';
import { until, useChildren } from '../support/child.js';
import { figures, patience, scale } from '../support/scale.js';
import { details } from '../support/world.js';

vi.setConfig(patience);

const children = useChildren();
const createPlatform = ['account', 'create', '--type=platform', '--edition=1', '--legal-name=Root Traders', '--json'];
const keeps = bouncerMinor >= 21;
const missing = bouncerProgram ? '' : ' (skipped: no pgbouncer is installed)';

// `.ci/run` installs PgBouncer where it can; PGBOUNCER names another one.
describe.skipIf(!bouncerProgram)(`behind PgBouncer in transaction mode${missing}`, () => {
  let direct: { DATABASE_URL: string; API_KEY_PEPPER: string };
  let sql: postgres.Sql;
  let bouncer: Bouncer;
  let pooled: Record<string, string>;
  beforeAll(async () => {
    direct = await children.database({ migrated: true });
    sql = single(connectionOf(direct.DATABASE_URL), 'a test');
    const { pathname } = new URL(direct.DATABASE_URL);
    const role = `alter role tidegate in database ${pathname.slice(1)} set`;
    await sql.unsafe(`${role} statement_timeout = '60s'; ${role} lock_timeout = '15s'`);
    bouncer = new Bouncer();
    await bouncer.start({ max_prepared_statements: 0 });
    pooled = {
      ...direct,
      ...{ DATABASE_URL: `postgres://tidegate@127.0.0.1:${bouncer.port}${pathname}`, TRUSTED_PROXY: '127.0.0.1' },
      ...{ MIGRATE: 'never', RATE_LIMIT: 'off', LOG_LEVEL: 'error' },
    };
  });
  afterAll(async () => {
    await sql.end();
    await bouncer.stop();
  });

  it('refuses to start where prepared statements are not kept, with the settings that help', async () => {
    const gateway = children.start(pooled);
    expect(await gateway.ended).toBe(1);
    expect(gateway.errors).toBe(
      'Tidegate could not start.\nPREPARED_STATEMENTS: the PgBouncer of DATABASE_URL does not keep prepared ' +
        'statements. Set max_prepared_statements there, which PgBouncer has since 1.21, or ' +
        'PREPARED_STATEMENTS=false.\n',
    );
  });

  it('checks the ledger by LISTEN_URL, because the role of the pooler has the limits of requests', async () => {
    const settings = { ...pooled, PREPARED_STATEMENTS: 'false' };
    const audit = (url: string) => children.quickCommand({ ...settings, LISTEN_URL: url }, 'ledger', 'audit', '--json');
    expect(await audit(direct.DATABASE_URL)).toMatchObject({ code: 0, errors: '' });
    const nowhere = await audit(direct.DATABASE_URL.replace(/child_\w+/, 'nowhere'));
    expect([nowhere.code, nowhere.errors]).toEqual([2, expect.stringContaining('database "nowhere" does not exist')]);
  });

  /** Serves behind the running PgBouncer, which is killed and started again while clients write. */
  const survives = async (settings: Record<string, string>, more: Record<string, number>) => {
    const gateways = [await children.gateway(settings), await children.gateway(settings)];
    const made = await children.quickCommand(settings, ...createPlatform);
    expect(made).toMatchObject({ code: 0, errors: '' });
    const key = JSON.parse(made.out).keys.test as string;
    const acknowledged = new Map<string, string>();
    const statuses = new Map<number, number>();
    const times: number[] = [];
    let over = false;
    const client = async (n: number) => {
      const me = gateways[n % 2]!.speaker(key, { 'x-forwarded-proto': 'https' });
      for (let nth = 0; !over; nth++) {
        const nickname = `${settings.PREPARED_STATEMENTS ?? 'prepared'} ${n} ${nth}`;
        const body = { type: 'partner', nickname, business_details: details() };
        for (;;) {
          const reply = await me.post('/v1/accounts', body, { 'idempotency-key': nickname });
          statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
          if (reply.status === 200) {
            acknowledged.set(nickname, reply.body.id);
            times.push(performance.now());
            break;
          }
          await sleep(50);
        }
        await me.get(`/v1/accounts?limit=${1 + (nth % 7)}`);
      }
    };
    const running = Promise.all(Array.from({ length: 6 }, (_, n) => client(n)));
    const failed = running.then(
      () => true,
      () => true,
    );
    /** Waits until so many more writes have been acknowledged, or a client has failed. */
    const written = (more: number) => {
      const from = acknowledged.size;
      return Promise.race([failed, until(() => over || acknowledged.size >= from + more)]);
    };
    for (let restart = 0; restart < scale.poolerRestarts; restart++) {
      await written(10);
      await bouncer.kill();
      await sleep(300);
      await bouncer.start(more);
    }
    await written(11);
    over = true;
    await running;
    // 503 where the outage took longer than a request waits, and 409 while the first attempt at a key is not over.
    expect([...statuses.keys()].filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
    const names = JSON.stringify([...acknowledged.keys()]);
    const stored = await sql`
      select id, nickname from account where nickname in (select jsonb_array_elements_text(${names}::text::jsonb))`;
    const lost = [...acknowledged].filter(
      ([name, id]) => !stored.some((row) => row.nickname === name && row.id === id),
    );
    expect([lost, stored.length, acknowledged.size > 20]).toEqual([[], acknowledged.size, true]);
    expect([...(await sql`select rule, what from violations`)]).toEqual([]);
    const longest = Math.max(...times.map((at, i) => at - (times[i - 1] ?? at)));
    figures(`PgBouncer 1.${bouncerMinor}, ${settings.PREPARED_STATEMENTS ? 'unprepared' : 'prepared'}`, {
      ...{ restarts: scale.poolerRestarts, acknowledged: acknowledged.size, lost: lost.length },
      ...{ doubled: stored.length - acknowledged.size, unavailable: statuses.get(503) ?? 0 },
      'longest time without a write': `${(longest / 1000).toFixed(1)} s`,
    });
    for (const gateway of gateways) expect([await gateway.stop(), gateway.errors]).toEqual([0, '']);
  };

  it('loses and doubles nothing when PgBouncer is killed under load, without prepared statements', async () => {
    await survives({ ...pooled, PREPARED_STATEMENTS: 'false' }, { max_prepared_statements: 0 });
  });

  it.skipIf(!keeps)(`does so with prepared statements${keeps ? '' : ' (skipped: PgBouncer before 1.21)'}`, async () => {
    const more = { max_prepared_statements: 100 };
    await bouncer.kill();
    await bouncer.start(more);
    await survives(pooled, more);
  });
});
