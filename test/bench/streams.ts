/*
 * What idle streams cost, and how long an event takes from its commit to a client, for each kind of stream:
 *   npm run --silent build && node --import tsx test/bench/streams.ts
 * Each kind has a process with a gateway and an embedded PostgreSQL in a folder of its own, and its clients are in
 * another process.
 */
import 'reflect-metadata';
import { type ChildProcess, fork } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { WebSocket } from 'ws';
import { buildGraph } from '../../src/api/graphql/server.js';
import { config } from '../../src/config/config.js';
import { openStore } from '../../src/db/connect/open.js';
import { retentionDefault } from '../../src/jobs/retention.js';
import { Worker } from '../../src/jobs/runner.js';
import { createRoot } from '../../src/operator/account/accounts.js';
import { Operator } from '../../src/operator/operator.js';
import { gateway } from '../../src/server/app.js';

const streams = 1_000;
const writes = 100;
const details = {
  ...{ legal_name: 'Acme Exports', email: 'ap@acme.example', type: 'company' },
  physical_address: { line1: '1 Wharf', city: 'Pune', state: 'MH', postal_code: '411001', country: 'IN' },
};
const query = 'subscription { events(types: ["account.created"]) { objectId } }';

/** Opens a stream of a kind, calls `got` with each piece of text that arrives, and returns when it is open. */
type Open = (origin: string, key: string, got: (text: string) => void) => Promise<void>;
const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY });

const events = (address: string, options: http.RequestOptions, body: string, got: (text: string) => void) =>
  new Promise<void>((resolve, reject) => {
    const request = http.request(address, { agent, ...options }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.setEncoding('utf8').on('data', got);
      resolve();
    });
    request.on('error', reject).end(body);
  });

const kinds: Record<string, Open> = {
  'GET /v1/events/stream': (origin, key, got) =>
    events(
      `${origin}/v1/events/stream?types=account.created`,
      { headers: { authorization: `Bearer ${key}` } },
      '',
      got,
    ),
  'GraphQL over server-sent events': (origin, key, got) => {
    const headers = {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      accept: 'text/event-stream',
    };
    return events(`${origin}/graphql`, { method: 'POST', headers }, JSON.stringify({ query }), got);
  },
  'GraphQL over a WebSocket': (origin, key, got) =>
    new Promise<void>((resolve, reject) => {
      const socket = new WebSocket(`${origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      const say = (message: object) => socket.send(JSON.stringify(message));
      socket.on('error', reject).on('close', (code) => reject(new Error(`closed with ${code}`)));
      socket.on('open', () => say({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
      socket.on('message', (data: Buffer) => {
        const text = data.toString();
        got(text);
        if (!text.includes('connection_ack')) return;
        say({ id: '1', type: 'subscribe', payload: { query } });
        resolve();
      });
    }),
};

const [, , what, kind, origin, key] = process.argv;
if (what === 'clients') await clients(kinds[kind!]!);
else if (what === 'gateway') await measured(kind!);
else
  for (const each of Object.keys(kinds)) await new Promise((resolve) => child('gateway', each).once('exit', resolve));

function child(...args: string[]): ChildProcess {
  return fork(import.meta.filename, args, { execArgv: [...process.execArgv, '--expose-gc'] });
}

/** Opens streams that stay idle, and says when all of them are open. */
async function clients(open: Open): Promise<void> {
  for (let i = 0; i < streams; i += 50)
    await Promise.all(Array.from({ length: 50 }, () => open(origin!, key!, () => {})));
  process.send!('open');
}

async function measured(name: string): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-streams-'));
  const settings = config(
    { serves: true },
    {
      ...{ PORT: '0', DATA_DIR: folder, RATE_LIMIT: 'measure' },
      // A WebSocket is a stream itself, beside its subscription.
      ...{ STREAMS_OF_KEY_MAX: String(2 * streams + 10), STREAMS_MAX: String(2 * streams + 10) },
    },
  );
  const store = await openStore(settings, { migrates: true, progress: () => {}, say: () => {} });
  const { database, secrets } = store;
  const log = pino({ level: 'silent' });
  const schema = buildGraph();
  const app = await gateway({ config: settings, database, schema, pepper: secrets, log });
  const worker = new Worker(database, log, retentionDefault);
  worker.start();
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  const operator = new Operator(database, schema, secrets);
  const { keys } = await createRoot(operator, {
    ...{ type: 'user', edition: 1, nickname: 'Streams' },
    businessDetails: { legalName: 'Streams', type: 'company' },
  });

  const before = await resident();
  const idle = child('clients', name, address, keys.test);
  await new Promise((resolve) => idle.once('message', resolve));
  await sleep(5_000);
  console.log(`${name}: ${streams} idle streams take ${((await resident()) - before).toFixed(1)} MB`);
  idle.kill();
  await sleep(2_000);

  await latency(name, address, keys.test, 'with hints');
  Object.defineProperty(database.hints, 'working', { get: () => false });
  database.signals.removeAllListeners('hint');
  await latency(name, address, keys.test, 'without hints');

  await worker.stop();
  app.server.closeAllConnections();
  await app.close();
  await store.close();
  fs.rmSync(folder, { recursive: true, force: true });
  process.exit();
}

/** The resident memory after complete collections, in MB. */
async function resident(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    global.gc!();
    await sleep(200);
  }
  return process.memoryUsage().rss / 1_048_576;
}

/** From the answer of a write, which follows its commit, to the arrival of its event. */
async function latency(name: string, at: string, secret: string, how: string): Promise<void> {
  const arrived = new Map<string, number>();
  await kinds[name]!(at, secret, (text) => {
    for (const [id] of text.matchAll(/account_[0-9a-f]{32}/g)) if (!arrived.has(id)) arrived.set(id, performance.now());
  });
  await sleep(2_000);
  const taken: number[] = [];
  for (let i = 0; i < writes; i++) {
    const response = await fetch(`${at}/v1/accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'partner', nickname: `${how} ${i}`, business_details: details }),
    });
    const committed = performance.now();
    const { id } = (await response.json()) as { id?: string };
    if (id === undefined) throw new Error(`status ${response.status}`);
    for (let waited = 0; !arrived.has(id) && waited < 5_000; waited += 5) await sleep(5);
    taken.push(Math.max((arrived.get(id) ?? Number.POSITIVE_INFINITY) - committed, 0));
    await sleep(Math.random() * 100);
  }
  taken.sort((a, b) => a - b);
  const part = (of: number) => Math.round(taken[Math.floor(taken.length * of)]!);
  console.log(`${name}, ${how}: median ${part(0.5)} ms, p95 ${part(0.95)} ms of ${writes} writes`);
}
