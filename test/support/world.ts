import { randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import postgres from 'postgres';
import { afterAll, beforeAll, inject } from 'vitest';
import type { AccountRow } from '../../src/resources/account/table.js';
import { config } from '../../src/config/config.js';
import { patient } from './patient.js';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import type { Connection } from '../../src/db/connect/driver/connection.js';
import { Database } from '../../src/db/database.js';
import type { Embedded } from '../../src/db/embedded/lease.js';
import { poolsOf } from '../../src/db/connect/open.js';
import { Secrets } from '../../src/config/secrets.js';
import { startEmbedded } from '../../src/db/embedded/server.js';
import { gateway, type Parts } from '../../src/server/app.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { acquirersOf } from '../../src/hosted/adapter/client.js';
import { type Acquirers, acquirers as delivered } from '../../src/hosted/acquirer.js';
import { Operator } from '../../src/operator/operator.js';
import { retentionDefault } from '../../src/jobs/retention.js';
import { Worker } from '../../src/jobs/runner.js';
import { compareWithContract, recordEvents, saveExamples } from './contract.js';
import { WebhookRequests } from '../../src/jobs/webhook-request.js';
import { copyDataFolder } from './data-folders.js';

import type { Cost } from '../../src/limits/charge.js';
import { createRoot } from '../../src/operator/account/accounts.js';

export type Edition = 1 | 2;
/** Both APIs, for tests of what must be the same through each. */
export const transports = ['REST', 'GraphQL'] as const;
export type Transport = (typeof transports)[number];
type Json = any;

/**
 * The response of an API. `fieldNames` and `codes` are those of the errors of either API, in their order. `cost` is
 * that of `extensions`, which differs each time; `body` is without it.
 */
export interface Reply {
  status: number;
  headers: Headers;
  body: Json;
  cost?: Cost | undefined;
  text: string;
  codes: string[];
  fieldNames: (string | undefined)[];
}

/** What a gateway of a world has for itself. */
type OwnParts = Pick<Parts, 'acquirers' | 'links'> & { environment?: Record<string, string> };

export interface World {
  origin: string;
  database: Database;
  operator: Operator;
  app: FastifyInstance;
  /** All gateways of the world, in the order of their starts. */
  apps: FastifyInstance[];
  /** What each of them reads and writes with. */
  databases: Database[];
  /** A connection to the test database as its owner without privileges, to look at rows without the APIs. */
  sql: postgres.Sql;
  pepper: string;
  /**
   * Starts another gateway over the same database, like a second process, with its own acquirers, links to the
   * dashboard or settings if given; returns its origin.
   */
  another(parts?: OwnParts): Promise<string>;
  /** Ends the gateway that was started last, with its connections, unless it is the first. */
  endLast(): Promise<void>;
}

const schema = buildGraph();

/**
 * Costs are reported and refuse nothing, and an allowance is full again at once, so that answers do not differ by it.
 * Requests are logged only where a test is about that.
 */
const measured = { RATE_LIMIT: 'measure', RATE_LIMIT_PER_SECOND: '9999999', REQUEST_LOG_DAYS: '0' };

/**
 * A separate gateway for each test file: a clone of the migrated template database, real HTTP on its own port, and a
 * worker unless `worker: false`, for tests that look at states before the sandbox settles them. With `demo: true`, the
 * database has the demo, and is in a PostgreSQL of its own.
 */
export function useWorld({
  worker = true,
  demo = false,
  // Each connection plans a query anew, and tests have many that they ask a few times.
  readers = 1,
  environment = {},
  acquirers,
  log = pino({ level: process.env.TEST_LOG ?? 'silent' }),
}: {
  worker?: boolean;
  demo?: boolean;
  readers?: number;
  environment?: Record<string, string>;
  acquirers?: Acquirers;
  log?: pino.Logger;
} = {}): World {
  const world = {} as World;
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Files that share the database of a cluster share its pepper: a gateway has to read what all of them encrypted.
  let pepper = inject('distributed') ? 'pepper-of-all-tests-on-one-cluster' : randomBytes(32).toString('hex');
  const folder = path.join(inject('dataFolders'), name);
  let own: Embedded | undefined;
  const apps: FastifyInstance[] = [];
  let running: Worker | undefined;
  const databases: Database[] = [];
  // A hook that ran out of time goes on: what it opens after the end is closed at once.
  let over = false;
  const refusedIfOver = () => {
    if (over) throw new Error('The tests of this world are over.');
  };
  const closedIfOver = async (close: () => unknown) => {
    if (over) await close();
    refusedIfOver();
  };
  const distributed = inject('distributed');
  const connection = (): Connection =>
    distributed
      ? connectionOf(distributed)
      : (own?.options ?? { ...inject('admin'), username: 'tidegate', database: name });

  const open = async (
    { environment: ofItself = {}, ...parts }: OwnParts = { ...(acquirers && { acquirers }) },
  ): Promise<string> => {
    refusedIfOver();
    const settings = config({ serves: true }, { PORT: '0', ...measured, ...patient, ...environment, ...ofItself });
    const slow = { connections: settings.SLOW_CONNECTIONS, seconds: settings.SLOW_SECONDS };
    const database = new Database(connection(), undefined, { slow, pools: { ...poolsOf(settings), read: readers } });
    databases.push(database);
    const app = await gateway({
      config: settings,
      database,
      schema,
      pepper,
      log,
      ...parts,
    });
    await closedIfOver(() => app.close());
    apps.push(app);
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    await closedIfOver(() => app.close());
    return origin;
  };

  const removeFolder = () => fs.rmSync(folder, { recursive: true, force: true });
  const dropDatabase = () => asAdmin(`drop database if exists ${name} with (force)`);

  beforeAll(async () => {
    if (demo) {
      fs.mkdirSync(folder, { mode: 0o755 });
      pepper = await copyDataFolder(folder, 'demo');
      await closedIfOver(removeFolder);
      own = await startEmbedded({ dir: path.join(folder, 'postgres'), durable: false });
      await closedIfOver(() => own!.release().then(removeFolder));
    } else if (!distributed) {
      await asAdmin(`create database ${name} template tidegate_template owner tidegate strategy file_copy`);
      await closedIfOver(dropDatabase);
    }
    world.origin = await open();
    world.app = apps[0]!;
    world.apps = apps;
    world.databases = databases;
    world.database = databases[0]!;
    world.pepper = pepper;
    world.operator = new Operator(world.database, schema, pepper);
    world.sql = postgres({ ...connection(), max: 2, onnotice: () => {} });
    world.another = open;
    world.endLast = async () => {
      if (apps.length === 1) return;
      await apps.pop()!.close();
      await databases.pop()!.close();
    };
    const webhooks = {
      secrets: Secrets.of(pepper),
      requests: new WebhookRequests({ local: true }),
      queries: world.app.eventQueries,
    };
    if (worker) {
      const given = acquirers ?? acquirersOf(config({ serves: true }, { ...environment }));
      running = new Worker(world.database, log, retentionDefault, given, webhooks, undefined, world.app.bulk);
      running.start();
    }
  });
  afterAll(async () => {
    over = true;
    if (world.sql) await recordEvents(world.sql);
    saveExamples();
    await running?.stop();
    await Promise.all(apps.map((app) => app.close()));
    await Promise.all(databases.map((database) => database.close()));
    await world.sql?.end({ timeout: 1 });
    if (demo) {
      await own?.release();
      removeFolder();
    } else if (!distributed) await dropDatabase();
  });
  return world;
}

/** Runs a statement of the server's superuser. */
export async function asAdmin(statement: string): Promise<void> {
  const sql = postgres({ ...inject('admin'), max: 1 });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

/** Acquirers of a gateway whose live mode takes money, too: the sandbox acquirer serves both modes. */
export const withLiveAcquirer: Acquirers = {
  ...delivered,
  live: { ...delivered.test, vpaOf: async ({ id }) => `${id.slice(-12)}@acquirer` },
};

/** Details that pass every edition's creation rules. */
export const details = (legalName = 'Acme Exports') => ({
  legal_name: legalName,
  email: 'ap@acme.example',
  type: 'company',
  physical_address: { line1: '1 Wharf', city: 'Pune', state: 'MH', postal_code: '411001', country: 'IN' },
});

/** A file for an import of partners, with a row that is valid and one with faults. */
export const partnerRows = () => {
  const rows = [
    'nickname,business_details.legal_name,business_details.email,business_details.type,' +
      'business_details.physical_address.line1,business_details.physical_address.city,' +
      'business_details.physical_address.state,business_details.physical_address.postal_code,' +
      'business_details.physical_address.country',
    `${nickname()},Acme,ap@acme.example,company,1 Wharf,Pune,MH,411001,IN`,
    ',,,yacht,,,,,',
  ];
  return Buffer.from(rows.join('\n'));
};

/** The input type of a mutation. */
export const inputTypeOf = (mutation: string) => `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input`;

let count = 0;
/** A nickname that no other account has. */
export const nickname = () => `nick ${++count} ${randomUUID().slice(0, 8)}`;

/** A client of the APIs: an account, one of its keys, and the headers that each request carries. */
export class Speaker {
  constructor(
    readonly world: World,
    readonly id: string,
    readonly key: string,
    readonly edition: Edition,
    private readonly extra: Record<string, string> = {},
  ) {}

  /** The same account with other headers, such as On-Behalf-Of. */
  with(headers: Record<string, string>): Speaker {
    return new Speaker(this.world, this.id, this.key, this.edition, { ...this.extra, ...headers });
  }

  /** The same account with another key. */
  using(key: string): Speaker {
    return new Speaker(this.world, this.id, key, this.edition, this.extra);
  }

  /** The same account at another gateway of its database. */
  at(origin: string): Speaker {
    return new Speaker({ ...this.world, origin }, this.id, this.key, this.edition, this.extra);
  }

  actingFor(id: string): Speaker {
    return this.with({ 'on-behalf-of': id });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return send(`${this.world.origin}${path}`, { headers: this.#headers(headers) });
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const content: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const text = body === undefined || typeof body === 'string' ? (body as string | undefined) : JSON.stringify(body);
    return send(`${this.world.origin}${path}`, {
      method: 'POST',
      headers: this.#headers({ ...content, ...headers }),
      body: text ?? null,
    });
  }

  graph(query: string, variables: object = {}, headers: Record<string, string> = {}): Promise<Reply> {
    return this.post('/graphql', { query, variables }, headers);
  }

  upload(
    purpose: string,
    content: Uint8Array,
    filename = 'document.pdf',
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const form = new FormData();
    form.set('purpose', purpose);
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set('file', new Blob([content as BlobPart]), filename);
    return send(`${this.world.origin}/v1/files`, { method: 'POST', headers: this.#headers(headers), body: form });
  }

  /** Creates a connected user of this platform, in draft, and a key of its own; returns its client. */
  async connectedUser(input: object = {}): Promise<Speaker> {
    const made = await this.graph(
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }',
      {
        input: { nickname: nickname(), ...input },
      },
    );
    const id = made.body.data?.createConnectedUser.account.id;
    if (!id) throw new Error(made.text);
    const key = await this.graph('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
      input: { accountId: id },
    });
    const secret = key.body.data?.createApiKey.secret;
    if (!secret) throw new Error(key.text);
    return new Speaker(this.world, id, secret, this.edition);
  }

  /** Creates a partner of this account; returns its /v1 object. */
  async partner(body: object = {}): Promise<Json> {
    const reply = await this.post('/v1/accounts', {
      type: 'partner',
      nickname: nickname(),
      business_details: details(),
      ...body,
    });
    if (reply.status !== 200) throw new Error(reply.text);
    return reply.body;
  }

  #headers(more: Record<string, string>): Record<string, string> {
    return { authorization: `Bearer ${this.key}`, ...this.extra, ...more };
  }
}

interface Sent {
  method?: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | FormData | null;
}

async function send(url: string, sent: Sent): Promise<Reply> {
  const { status, headers, text } = await (sent.body instanceof FormData ? fetched : requested)(url, sent);
  const json = (headers.get('content-type') ?? '').includes('json');
  const body = json && text !== '' ? JSON.parse(text) : undefined;
  compareWithContract({ ...exchangeOf(url, sent), status, headers, body });
  const cost: Cost | undefined = body?.extensions?.cost;
  if (cost) delete body.extensions.cost;
  const errors: Json[] = body?.errors ?? [];
  const items = errors.map((e) => e.extensions?.error ?? e);
  // Errors of the GraphQL library itself have no item.
  const own = errors.flatMap((e) => (e.extensions && !e.extensions.error ? [] : [e, e.extensions?.error ?? e]));
  for (const { message } of own) if (!isSentence(message)) throw new Error(`no sentence: ${message}`);
  return {
    status,
    headers,
    body,
    cost,
    text,
    codes: items.map((e) => e.code),
    fieldNames: items.map((e) => e.metadata?.field_name),
  };
}

/** What was sent, for the comparison of its answer with the contract. */
function exchangeOf(url: string, { method = 'GET', body }: Sent) {
  const path = url.slice(url.indexOf('/', 'https://'.length));
  let request: Json;
  if (body instanceof FormData)
    request = Object.fromEntries([...body].map(([n, v]) => [n, v instanceof Blob ? '' : v]));
  else if (typeof body === 'string' && body.startsWith('{') && path.startsWith('/v1')) {
    try {
      request = JSON.parse(body);
    } catch {
      request = undefined;
    }
  }
  return { method, path, request };
}

type Received = Pick<Reply, 'status' | 'headers' | 'text'>;

async function fetched(url: string, sent: Sent): Promise<Received> {
  const response = await fetch(url, sent as RequestInit);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const agent = new http.Agent({ keepAlive: true });

/** Sends a request without `fetch`, which takes twice the processor time for the same. */
function requested(url: string, { method = 'GET', headers, body }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, agent, headers: { accept: '*/*', 'user-agent': 'node', ...headers } });
    request.on('error', reject).on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => void parts.push(part)).on('error', reject);
      const answered = () => {
        const received = new Headers();
        const raw = response.rawHeaders;
        for (let i = 0; i < raw.length; i += 2) received.append(raw[i]!, raw[i + 1]!);
        resolve({ status: response.statusCode!, headers: received, text: Buffer.concat(parts).toString() });
      };
      response.on('end', answered);
      // A stream does not end by itself: its headers are the answer.
      if (!response.headers['content-type']?.startsWith('text/event-stream')) return;
      answered();
      request.destroy();
    });
    request.end(body ?? undefined);
  });
}

/**
 * Whether an error's message is a complete sentence: it begins with no verb without a subject, and it ends with a full
 * stop.
 */
const isSentence = (message: string): boolean =>
  !/^(must|is|are|has|have|had|cannot|does|do|goes|names|differs|would|includes|add|contains|was)\b/.test(message) &&
  /[.!?]$/.test(message);

/** Functions that create root accounts, which only the operator can create. */
export function givenIn(world: World) {
  const root = async (
    type: 'platform' | 'user',
    edition: Edition,
    { live = false, subType }: { live?: boolean; subType?: 'aggregator' } = {},
  ) => {
    const { account, keys } = await createRoot(world.operator, {
      type,
      edition,
      subType,
      nickname: nickname(),
      businessDetails: { legalName: 'Root Traders', type: 'company' },
    });
    return {
      account: account as AccountRow,
      test: new Speaker(world, account.id, keys.test, edition),
      live: new Speaker(world, account.id, keys.live, edition),
      speaker: new Speaker(world, account.id, live ? keys.live : keys.test, edition),
    };
  };
  return {
    /** A platform with its test and live keys. */
    platformBoth: (edition: Edition, options = {}) => root('platform', edition, options),
    directUserBoth: (edition: Edition, options = {}) => root('user', edition, options),
    platform: async (edition: Edition = 1, options: { live?: boolean; subType?: 'aggregator' } = {}) =>
      (await root('platform', edition, options)).speaker,
    directUser: async (edition: Edition = 1, options: { live?: boolean } = {}) =>
      (await root('user', edition, options)).speaker,
  };
}

/** The tenant of a root account: their ids differ only in the prefix. */
export const tenantOf = (root: { id: string } | string): string =>
  (typeof root === 'string' ? root : root.id).replace('account_', '');

/**
 * Leaves the totals of a tenant's deposits to be computed from the deposits, as after an upgrade: for tests that change
 * or insert deposits by themselves.
 */
export async function withoutTotals({ sql }: World, tenantId: string): Promise<void> {
  await sql.begin(async (tx) => {
    for (const table of ['deposit_total', 'deposit_total_change', 'deposit_total_backfill'])
      await tx`delete from ${tx(table)} where tenant_id = ${tenantId}`;
    await tx`insert into deposit_total_backfill values (${tenantId}, false, '', 0)`;
  });
}

/** The body of a payout address that passes both editions, with other members if given. */
export const payoutAddressBody = (linkedId: string, more: object = {}) => ({
  ...{ category: 'user_payout', type: 'bank_account', currency: 'INR', linked_id: linkedId, linked_object: 'account' },
  name: 'Acme Exports',
  bank_account: { bank_name: 'Bank of the Coast', number: '004501551234', domestic_credit: 'BOTC0000451' },
  billing_details: details().physical_address,
  ...more,
});

/** The same payout address as the input of a mutation. */
export const payoutAddressInput = (linkedId: string, more: object = {}) => ({
  ...{ category: 'USER_PAYOUT', type: 'BANK_ACCOUNT', currency: 'INR', linkedId, linkedObject: 'ACCOUNT' },
  name: 'Acme Exports',
  bankAccount: { bankName: 'Bank of the Coast', number: '004501551234', domesticCredit: 'BOTC0000451' },
  billingDetails: { line1: '1 Wharf', city: 'Pune', state: 'MH', postalCode: '411001', country: 'IN' },
  ...more,
});

/** The body of an answer that has to be 200 for the test to make sense. */
export async function must(reply: Promise<{ status: number; body: any; text: string }>): Promise<any> {
  const { status, body, text } = await reply;
  if (status !== 200 || body?.errors) throw new Error(text);
  return body;
}

/** Creates a bank account to which an account's money is paid out; returns its /v1 object. */
export async function payoutAddress(speaker: Speaker, currency = 'INR', linkedId = speaker.id): Promise<Json> {
  return must(speaker.post('/v1/addresses', payoutAddressBody(linkedId, { currency })));
}

/**
 * Sends a write with a key of its own, and again while its answer is one that a client has to repeat. Where many write
 * at once on a busy machine, some wait too long for their turn.
 */
export async function repeated(write: (headers: Record<string, string>) => Promise<Reply>): Promise<Reply> {
  const headers = { 'idempotency-key': randomUUID() };
  for (;;) {
    const reply = await write(headers);
    if (reply.status !== 503 && reply.codes[0] !== 'idempotency_key_in_use') return reply;
    await sleep(20);
  }
}

/**
 * Completes a test deposit by the sandbox's helper; returns it. The sandbox completes it by itself a second or two
 * after it was made, which comes first where the machine is busy.
 */
export async function completeDeposit(speaker: Speaker, id: string): Promise<Json> {
  const reply = await speaker.post(`/v1/test_helpers/deposits/${id}/complete`);
  if (reply.status === 200) return reply.body;
  const { body } = await speaker.get(`/v1/deposits/${id}`);
  if (body.status !== 'completed') throw new Error(reply.text);
  return body;
}

/**
 * Repeats a query until its answer is the wanted one, for what the sandbox does on its own; fails with the last answer
 * before the test's time is over. The limit is for what does not come: a busy machine may take long.
 */
export async function eventually<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean, seconds = 300): Promise<T> {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > until) throw new Error(`it did not come to pass: ${JSON.stringify(answer)}`);
    await new Promise((resume) => setTimeout(resume, 100));
  }
}

/** Waits until a server that a test has started answers at an address. */
export async function answers(address: string): Promise<void> {
  const asked = () =>
    fetch(address).then(
      () => true,
      () => false,
    );
  await eventually(asked, (answered) => answered);
}

/** Does work for each item, for at most `size` at the same time; returns what it returns, in the order of the items. */
export async function inTurns<T, R>(items: readonly T[], size: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let i = 0; i < items.length; i += size) done.push(...(await Promise.all(items.slice(i, i + size).map(work))));
  return done;
}

/**
 * Waits until at least `count` statements of gateways wait for a lock in the test's database. On a cluster a statement
 * waits on the node of its tenant.
 */
export async function statementsWaiting({ sql }: { sql: postgres.ISql }, count: number): Promise<void> {
  const [activity, names] = inject('distributed')
    ? ['citus_stat_activity', 'citus_internal%']
    : ['pg_stat_activity', 'tidegate%'];
  await eventually(
    () => sql`select pid from ${sql(activity)}
      where datname = current_database() and application_name like ${names} and wait_event_type = 'Lock'`,
    (rows) => rows.length >= count,
  );
}

/** Stores a request in the request log of an account, as a gateway does; returns its id. */
export async function loggedRequest({ world, id: accountId, key }: Speaker, more: object = {}): Promise<string> {
  const [, mode, tenantId = ''] = /^sk_(test|live)_([^_]+)_/.exec(key) ?? [];
  const id = `req_${Date.now().toString(16).padStart(12, '0')}${randomBytes(6).toString('hex')}`;
  const entry = { id, accountId, age: 0, api: 'rest', operation: 'GET /v1/balance', status: 200, ...more };
  const ended = { outcome: 'succeeded', codes: [], milliseconds: 3 };
  await world.database.call('store_requests', [tenantId, mode === 'live', JSON.stringify([{ ...ended, ...entry }])]);
  return id;
}
