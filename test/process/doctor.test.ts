import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort } from '../support/ports.js';
import { until, useChildren } from '../support/child.js';
import { completeDeposit } from '../support/world.js';

/*
 * Makes ten faults, three of them by stand-ins, and compares what `tidegate doctor` says after each with the page about
 * it. `UPDATE_DOCTOR=1 npx vitest run --config test/vitest.config.ts test/process/doctor.test.ts` writes the page anew.
 */

type Environment = Record<string, string>;
type Line = { check: string; level: string; finding: string; command: string | null };

const page = 'docs/operations/doctor.md';
const children = useChildren();
let environment: Environment;
let root: { id: string; keys: { test: string; live: string } };
let [owner, superuser]: postgres.Sql[] = [];
let database: string;
/** The server of the run has a socket of files alone; this is a port of it. */
let forward: net.Server | undefined;

beforeAll(async () => {
  environment = {
    ...(await children.database({ migrated: true })),
    ...{ TRUSTED_PROXY: '127.0.0.1', ENCRYPTION_KEY: 'the key of this deployment and no other' },
  };
  const create = ['account', 'create', '--type=user', '--edition=1', '--legal-name=Harbor Traders', '--json'];
  const made = JSON.parse((await children.quickCommand(environment, ...create)).out);
  root = { id: made.account.id, keys: made.keys };
  database = new URL(environment.DATABASE_URL!).pathname.slice(1);
  const of = { ...inject('admin'), database, max: 1, onnotice: () => {} };
  [owner, superuser] = [postgres({ ...of, username: 'tidegate' }), postgres(of)];
  const { host, port } = inject('admin');
  forward = net.createServer((client) => {
    const server = net.connect(`${host}/.s.PGSQL.${port}`);
    client.pipe(server).pipe(client);
    for (const end of [client, server]) end.on('error', () => [client, server].map((each) => each.destroy()));
  });
  await new Promise<void>((resolve) => forward!.listen(0, '127.0.0.1', resolve));
  await children.quickCommand(environment, 'backup', `${children.folder()}/backup`);
});
afterAll(async () => {
  for (const sql of [owner, superuser]) await sql?.end({ timeout: 1 });
  forward?.close();
});

/** What the doctor says that is not well, apart from what it says of no gateway on this database. */
async function doctor(more: Environment = {}): Promise<Line[]> {
  const { out, errors } = await children.quickCommand({ ...environment, ...more }, 'doctor', '--json');
  expect(out, errors).not.toBe('');
  const { health } = JSON.parse(out) as { health: Line[] };
  return health.filter(({ level, finding }) => level !== 'ok' && finding !== 'No gateway runs on this database.');
}

/** The words of this run that are others in the next one. */
const steady = (text: string): string =>
  text
    .replaceAll(/127\.0\.0\.1:\d+/g, '10.0.0.2:5432')
    .replaceAll(/\baccount_[0-9a-f]{32}\b/g, `account_${'5a1c09ef'.repeat(4)}`)
    .replaceAll(/\b[0-9a-f]{8}\b/g, '5a1c09ef')
    .replaceAll(/version \d{3}/g, 'version 201')
    .replaceAll(/program's \d{3}/g, "program's 200");

interface Fault {
  title: string;
  what: string;
  cause: () => Promise<unknown>;
  /** What is set for the command alone. */
  with?: () => Promise<Environment> | Environment;
  undo: () => Promise<unknown>;
}

const trade = async () => {
  // It checks no ledger by itself: one that was killed within a check would have commands wait for the end of that.
  const gateway = await children.gateway({ ...environment, LEDGER_CHECK_HOURS: '0' });
  const speaker = gateway.speaker(root.keys.test, { 'x-forwarded-proto': 'https' });
  const { body } = await speaker.post('/v1/deposits', { amount: '100.00', currency: 'USD' });
  await completeDeposit(speaker, body.id);
  const hook = { url: 'https://receiver.example/hook', event_types: ['*'] };
  expect((await speaker.post('/v1/webhook_endpoints', hook)).status).toBe(200);
  return gateway;
};
/** Checks the ledger by command, which ends with this code. */
const checked = async (code: number) =>
  expect((await children.quickCommand(environment, 'ledger', 'check', root.id, '--json')).code).toBe(code);
const nothing = async () => {};
const setOn = (name: string, value: string | null) =>
  superuser!.unsafe(`alter database "${database}" ${value === null ? `reset ${name}` : `set ${name} = ${value}`}`);

const faults: Fault[] = [
  {
    title: 'A gateway is killed',
    what: 'Its process was killed (SIGKILL), and half a minute has passed.',
    cause: async () => {
      const gateway = await trade();
      gateway.signal('SIGKILL');
      await gateway.ended;
      await owner!`update gateway_process set seen_at = seen_at - 31`;
    },
    undo: () => owner!`delete from gateway_process`,
  },
  {
    title: 'A ledger was not checked',
    what: 'The first money has come, and no gateway runs that checks ledgers.',
    cause: nothing,
    undo: nothing,
  },
  {
    title: 'A balance was changed by hand',
    what: 'A superuser has changed it, and `tidegate ledger check` has found that.',
    cause: async () => {
      await superuser!`update balance set pending = pending + 1 where not livemode`;
      await checked(1);
    },
    undo: async () => {
      await superuser!`update balance set pending = pending - 1 where not livemode`;
      await checked(0);
    },
  },
  {
    title: 'The encryption key is lost',
    what: 'The command has another `ENCRYPTION_KEY` than the one that encrypted a webhook secret.',
    cause: nothing,
    with: () => ({ ENCRYPTION_KEY: 'a key that was typed wrongly by someone' }),
    undo: nothing,
  },
  {
    title: 'No worker runs',
    what: 'A payout of live mode was due two hours ago, and no gateway runs.',
    cause: () => owner!`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select tenant_id, true, 'job_late', 1, 'pay_out', id, '{}', extract(epoch from clock_timestamp())::bigint - 7300
      from account where livemode limit 1`,
    undo: () => owner!`delete from job where id = 'job_late'`,
  },
  {
    title: 'An index could not be built',
    what: 'A `create unique index concurrently` failed, since rows had the same value.',
    cause: () => owner!`create unique index concurrently account_mode on account (kind)`.catch(() => {}),
    undo: () => owner!`drop index account_mode`,
  },
  {
    title: 'A role may change the ledger',
    what: 'The right was granted by hand.',
    cause: () => owner!`grant update on entry to tidegate`,
    undo: () => owner!`revoke update on entry from tidegate`,
  },
  {
    title: 'A newer program has migrated the database',
    what: 'The deploy of a release was not finished.',
    cause: () => owner!`update drizzle.schema_version set version = version + 1`,
    undo: () => owner!`update drizzle.schema_version set version = version - 1`,
  },
  {
    title: 'The primary takes no writes',
    what: '`default_transaction_read_only` was set.',
    cause: () => setOn('default_transaction_read_only', 'on'),
    undo: () => setOn('default_transaction_read_only', null),
  },
  {
    title: 'A host of the address does not answer',
    what: '`DATABASE_URL` names two, and nothing listens on the second one.',
    cause: nothing,
    with: async () => {
      const { port } = forward!.address() as AddressInfo;
      return { DATABASE_URL: `postgres://tidegate@127.0.0.1:${port},127.0.0.1:${await freePort()}/${database}` };
    },
    undo: nothing,
  },
];

const blockOf = (lines: readonly Line[]): string =>
  lines
    .map(({ check, level, finding, command }) =>
      [
        `${level.padEnd(4)}  ${check}: ${steady(finding)}`,
        ...(command === null ? [] : [`      ${steady(command)}`]),
      ].join('\n'),
    )
    .join('\n');

describe('the page about what the doctor says', () => {
  it('quotes it after each of ten faults', async () => {
    const sections: string[] = [];
    const before = await doctor();
    expect(before).toEqual([]);
    for (const { title, what, cause, with: more, undo } of faults) {
      await cause();
      const lines = await doctor(await more?.());
      await undo();
      expect([title, lines.length]).not.toEqual([title, 0]);
      sections.push(`## ${title}\n\n${what}\n\n\`\`\`text\n${blockOf(lines)}\n\`\`\`\n`);
    }
    const written = fs.readFileSync(page, 'utf8');
    const start = written.indexOf('\n## ') + 1;
    const made = `${written.slice(0, start)}${sections.join('\n')}`;
    if (process.env.UPDATE_DOCTOR) fs.writeFileSync(page, made);
    expect(made).toBe(fs.readFileSync(page, 'utf8'));
  });
});

describe('a gateway', () => {
  it('makes the checks by itself after its start, logs what it finds, and counts it', async () => {
    await owner!`grant update on entry to tidegate`;
    const METRICS_PORT = String(await freePort());
    const gateway = await children.gateway({ ...environment, METRICS_PORT });
    const found = () => gateway.log().filter(({ check }) => check === 'privileges');
    await until(async () => found().length > 0);
    expect(found()).toMatchObject([
      {
        level: 50,
        msg: 'the deployment needs somebody to act now',
        finding: 'An append-only table is not protected: entry: tidegate has UPDATE.',
        command: 'tidegate migrate --grant-to ROLE',
      },
    ]);
    // The gateway serves before the checks have ended.
    expect(gateway.out).toMatch(/is listening on[^]*needs somebody to act now/);
    const metrics = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
    expect(metrics).toMatch(/^tidegate_health\{check="privileges",level="now"\} 1$/m);
    expect(Number(/^tidegate_last_backup_age_seconds\{by="tidegate"\} (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
    await owner!`revoke update on entry from tidegate`;
    await gateway.stop();
  });
});
