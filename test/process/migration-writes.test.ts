import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { functionFiles, programVersion } from '../../src/db/schema/schema-version.js';
import { type Gateway, until, useChildren } from '../support/child.js';
import { details, type Reply, type Speaker } from '../support/world.js';
import { hasty } from '../support/patient.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What `migrate` says: what it has applied, and before that perhaps that it waits for locks. No deadlock undoes it. */
const expectedLines = new RegExp(
  '^("[^\\n]*" (waits for other statements|was undone \\(attempt \\d+\\))(?![^\\n]*deadlock)[^\\n]*\n|' +
    'Waiting up to [^\\n]*\n)*Migration \\d{4}_later is applied \\(1 of 1, [\\d.]+ s\\)\\.\n("[^\\n]*\n)*$',
);
const writers = 6;
/** The pause between two writes of one writer, so that the gateway is busy and the machine is not. */
const pauseMilliseconds = 20;
/** How many writes are acknowledged before, between and after the migrations. */
const writesBetween = 60;
/** Helpers that the next versions have under another name, as a changed signature requires. */
const renamed = ['emit_event_at', 'new_id', 'leg', 'insert_payment_at', 'enqueue_at', 'store_idempotent_response'];
/** The migration that drops the functions whose parameters got other names. */
const dropsFunctions = fs.readFileSync(path.join(root, 'drizzle', '0031_parameter_names.sql'), 'utf8');

/**
 * A pending migration that changes the tables of every write, as 0007 did, and keeps them locked for longer than a
 * write waits.
 */
const pending = `ALTER TABLE "event" ADD COLUMN "emitted_by" text;--> statement-breakpoint
ALTER TABLE "account" ADD COLUMN "later" jsonb;--> statement-breakpoint
ALTER TABLE "deposit" ADD COLUMN "later" text;--> statement-breakpoint
ALTER TABLE "balance" ADD COLUMN "later" bigint;--> statement-breakpoint
ALTER TABLE "idempotency" ADD COLUMN "later" text;--> statement-breakpoint
CREATE INDEX "entry_later" ON "entry" USING btree ("tenant_id","livemode","created");--> statement-breakpoint
SELECT pg_sleep(3.5);`;

const children = useChildren();
let environment: { DATABASE_URL: string; API_KEY_PEPPER: string };
let gateway: Gateway;
let me: Speaker;
let sql: postgres.Sql;

beforeAll(async () => {
  environment = await children.database();
  expect((await children.command(environment, 'migrate')).code).toBe(0);
  gateway = await children.gateway({ ...environment, ...hasty, TRUSTED_PROXY: '127.0.0.1' });
  const create = ['account', 'create', '--type=user', '--edition=1', '--legal-name=Root Traders', '--json'];
  const { keys } = JSON.parse((await children.command(environment, ...create)).out);
  me = gateway.speaker(keys.test, { 'x-forwarded-proto': 'https' });
  const database = new URL(environment.DATABASE_URL).pathname.slice(1);
  sql = postgres({ ...inject('admin'), username: 'tidegate', database, max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await gateway?.stop();
  await sql?.end({ timeout: 1 });
});

/**
 * A later version of this program: every function has a different text, some helpers have other names, and so has the
 * parameter of the write envelope. There may be tables to change. Returns a function that runs its `tidegate migrate`.
 */
function laterProgram(version: number, changes?: string): () => Promise<{ code: number | null; errors: string }> {
  const folder = children.folder();
  for (const part of ['dist', 'drizzle', 'package.json'])
    fs.cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const drizzle = path.join(folder, 'drizzle');
  for (const name of functionFiles()) {
    const file = path.join(drizzle, name);
    let text = fs.readFileSync(file, 'utf8').replaceAll('as $$', () => `as $$ /* version ${version} */`);
    for (const helper of renamed) text = text.replaceAll(new RegExp(`\\b${helper}\\(`, 'g'), `${helper}_${version}(`);
    text = text.replaceAll(/\bp_envelope\b/g, `p_envelope_${version}`);
    if (changes && name === 'functions/event/event.sql') {
      const insert = /insert into event\s*\(([^)]*)\)\s*values\s*\(/;
      expect(text).toMatch(insert);
      text = text.replace(
        insert,
        (_, columns) => `insert into event (emitted_by, ${columns}) values ('version ${version}', `,
      );
    }
    fs.writeFileSync(file, text);
  }
  const journalFile = path.join(drizzle, 'meta', '_journal.json');
  const journal = JSON.parse(fs.readFileSync(journalFile, 'utf8'));
  const last = journal.entries.at(-1);
  const tag = `${String(last.idx + 1).padStart(4, '0')}_later`;
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + version, tag });
  fs.writeFileSync(journalFile, JSON.stringify(journal));
  // A helper under its old name stays, because calls that have begun use it.
  const names = ['p_envelope', `p_envelope_${version - 1}`];
  const dropped = `array['${names.join("', '")}'] and p.proname !~ '^(${renamed.join('|')})(_|$)'`;
  const drops = dropsFunctions.replace("array['p_call', 'p_context']", dropped);
  expect(drops).not.toBe(dropsFunctions);
  fs.writeFileSync(
    path.join(drizzle, `${tag}.sql`),
    [drops, ...(changes ? [changes] : [])].join('--> statement-breakpoint\n'),
  );
  fs.writeFileSync(path.join(drizzle, 'version.json'), JSON.stringify({ version, servesFrom: 1, sha256: '' }));
  return () =>
    new Promise((resolve, reject) => {
      // On a busy machine the writes leave it fewer pauses than it needs within the default of a minute.
      const env = { ...process.env, ...environment, MIGRATION_LOCK_SECONDS: '600' };
      const child = spawn(process.execPath, [path.join(folder, 'dist', 'cli.js'), 'migrate'], { env });
      let errors = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
      child.once('error', reject).once('close', (code) => resolve({ code, errors }));
    });
}

describe('while the functions are replaced and a migration is applied', () => {
  /** The acknowledged writes by their idempotency key: the id of the object, and the API's response. */
  const acknowledged = new Map<string, { id: string; text: string; kind: 'account' | 'deposit' }>();
  const answers = new Map<string, number>();
  /** The internal errors that the gateway has logged. */
  const faults = () => gateway.log().filter(({ level }) => Number(level) >= 50);
  let over = false;

  /**
   * Sends one write with one key until it is acknowledged. Any response but a success or a 503 with Retry-After ends
   * the test.
   */
  const write = async (
    key: string,
    kind: 'account' | 'deposit',
    send: () => Promise<Reply>,
    idIn: (body: any) => string,
  ) => {
    for (;;) {
      const reply = await send();
      const answer = `${reply.status} ${reply.codes.join(' ')}`.trim();
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      if (answer === '200') return void acknowledged.set(key, { id: idIn(reply.body), text: reply.text, kind });
      if (!/^(503|200) service_unavailable$/.test(answer)) {
        await until(() => faults().length > 0);
        throw new Error(`${reply.status} ${reply.text} ${JSON.stringify(faults())}`);
      }
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
      await sleep(50);
    }
  };
  const kinds: readonly ((key: string) => Promise<void>)[] = [
    (key) =>
      write(
        key,
        'account',
        () => me.post('/v1/accounts', partnerOf(key), { 'idempotency-key': key }),
        (body) => body.id,
      ),
    (key) =>
      write(
        key,
        'deposit',
        () => me.post('/v1/deposits', depositOf, { 'idempotency-key': key }),
        (body) => body.id,
      ),
    (key) =>
      write(
        key,
        'account',
        () =>
          me.graph(
            createAccount,
            { input: { type: 'PARTNER', nickname: key, businessDetails: graphDetails } },
            { 'idempotency-key': key },
          ),
        (body) => body.data.createAccount.account.id,
      ),
    (key) =>
      write(
        key,
        'deposit',
        () => me.graph(createDeposit, { input: depositOf }, { 'idempotency-key': key }),
        (body) => body.data.createDeposit.deposit.id,
      ),
  ];
  const writer = async (n: number) => {
    for (let nth = 0; !over; nth++) {
      await kinds[(n + nth) % kinds.length]!(`writer ${n} write ${nth}`);
      await sleep(pauseMilliseconds);
    }
  };
  const moreWrites = async (count: number) => {
    const from = acknowledged.size;
    await until(() => acknowledged.size >= from + count || over);
  };

  it('every write succeeds, or gets a 503 and can be repeated', async () => {
    const running = Promise.all(Array.from({ length: writers }, (_, n) => writer(n)));
    running.catch(() => {
      over = true;
    });
    const { version } = programVersion();
    const programs = [1, 2].map((later) => laterProgram(version + later));
    programs.push(laterProgram(version + 3, pending));
    for (const migrate of programs) {
      await moreWrites(writesBetween);
      expect(await migrate()).toEqual({
        code: 0,
        errors: expect.stringMatching(expectedLines),
      });
    }
    await moreWrites(writesBetween);
    over = true;
    await running;
    // GraphQL has the status in its errors.
    const codes = new Set([...answers.keys()].map((answer) => answer.replace(/^\d+ ?/, '') || 'success'));
    expect([...codes].toSorted()).toEqual(['service_unavailable', 'success']);
    expect(faults()).toEqual([]);
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);

    // Both versions of the functions have served writes, and the last one is complete.
    const emitted = await sql`select distinct emitted_by from event order by 1`;
    expect(emitted).toEqual([{ emitted_by: `version ${version + 3}` }, { emitted_by: null }]);
    const of = await sql`select proname from pg_proc where pronamespace = 'public'::regnamespace
      and prosrc not like ${`%/* version ${version + 3} */%`}
      and proname !~ ${`^(${renamed.join('|')})(_\\d+)?$|^tg_`}`;
    expect(of).toEqual([]);
  });

  it('and every acknowledged object exists once, and no other object does', async () => {
    for (const kind of ['account', 'deposit'] as const) {
      const ids = [...acknowledged.values()].filter((one) => one.kind === kind).map(({ id }) => id);
      const where = kind === 'account' ? sql`type = 'partner' and` : sql``;
      const rows = await sql`select id from ${sql(kind)} where ${where} not livemode order by id`;
      expect(rows.map(({ id }) => id)).toEqual(ids.toSorted());
    }
    const deposits = [...acknowledged.values()].filter(({ kind }) => kind === 'deposit').length;
    await until(async () => (await sql`select from deposit where status <> 'completed' limit 1`).length === 0);
    const [booked] = await sql`select pending::text as amount from balance where currency = 'USD' and not livemode`;
    expect(booked).toEqual({ amount: `${deposits * 100}` });
    // Each object has one event: a write that was repeated after a 503 has emitted one.
    const events = await sql`select type, count(*)::int as count, count(distinct object_id)::int as objects from event
      where type in ('deposit.initialized', 'deposit.completed') group by 1 order by 1`;
    expect(events).toEqual(
      ['deposit.completed', 'deposit.initialized'].map((type) => ({ type, count: deposits, objects: deposits })),
    );
    expect([...(await sql`select rule, what from violations`)]).toEqual([]);
  });

  it('and a key from before gets its stored response', async () => {
    const of = (kind: 'account' | 'deposit') =>
      [...acknowledged].filter(([, one]) => one.kind === kind && one.text.startsWith('{"id"')).slice(0, 5);
    for (const [key, { text }] of of('account'))
      expect((await me.post('/v1/accounts', partnerOf(key), { 'idempotency-key': key })).text).toBe(text);
    for (const [key, { text }] of of('deposit'))
      expect((await me.post('/v1/deposits', depositOf, { 'idempotency-key': key })).text).toBe(text);
  });
});

const partnerOf = (nickname: string) => ({ type: 'partner', nickname, business_details: details() });
const graphDetails = {
  legalName: 'Acme Exports',
  email: 'ap@acme.example',
  type: 'COMPANY',
  physicalAddress: { line1: '1 Wharf', city: 'Pune', state: 'MH', postalCode: '411001', country: 'IN' },
};
const createAccount = 'mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id } } }';
const depositOf = { amount: '1.00', currency: 'USD' };
const createDeposit = 'mutation ($input: CreateDepositInput!) { createDeposit(input: $input) { deposit { id } } }';
