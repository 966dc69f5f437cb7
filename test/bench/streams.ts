/*
 * What idle streams cost, and how long an event takes from its commit to a client:
 *   npm run --silent build && node --expose-gc --import tsx test/bench/streams.ts
 * The gateway runs in this process with an embedded PostgreSQL in a folder of its own, its clients in another process.
 */
import 'reflect-metadata';
import { fork } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { buildGraph } from '../../src/api/graphql/server.js';
import { config } from '../../src/config.js';
import { openStore } from '../../src/db/open.js';
import { retentionDefault } from '../../src/jobs/retention.js';
import { Worker } from '../../src/jobs/runner.js';
import { Operator } from '../../src/operator/operator.js';
import { followEvents } from '../../src/operator/event-client.js';
import { gateway } from '../../src/server/app.js';

const streams = 1_000;
const writes = 100;
const details = {
  ...{ legal_name: 'Acme Exports', email: 'ap@acme.example', type: 'company' },
  physical_address: { line1: '1 Wharf', city: 'Pune', state: 'MH', postal_code: '411001', country: 'IN' },
};

if (process.argv[2] === 'clients') await clients(process.argv[3]!, process.argv[4]!);
else await measured();

/** Opens streams that stay idle, and says when all of them are open. */
async function clients(origin: string, key: string): Promise<void> {
  const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY });
  for (let i = 0; i < streams; i += 50)
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const request = http.get(`${origin}/v1/events/stream`, { agent, headers: { authorization: `Bearer ${key}` } });
        await new Promise<void>((resume, reject) => {
          request.on('error', reject).on('response', (response) => response.once('data', () => resume()));
        });
      }),
    );
  process.send!('open');
}

async function measured(): Promise<void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-streams-'));
  const settings = config(
    { serves: true },
    { PORT: '0', DATA_DIR: folder, STREAMS_OF_KEY_MAX: String(streams + 10), RATE_LIMIT: 'measure' },
  );
  const store = await openStore(settings, { migrates: true, progress: () => {}, say: () => {} });
  const { database, secrets } = store;
  const log = pino({ level: 'silent' });
  const schema = buildGraph();
  const app = await gateway({ config: settings, database, schema, pepper: secrets, log });
  const worker = new Worker(database, log, retentionDefault);
  worker.start();
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const operator = new Operator(database, schema, secrets);
  const { keys } = await operator.createRoot({
    ...{ type: 'user', edition: 1, nickname: 'Streams' },
    businessDetails: { legalName: 'Streams', type: 'company' },
  });
  const key = keys.test;

  await latency(origin, key, 'with hints');
  Object.defineProperty(database.hints, 'working', { get: () => false });
  database.hints.heard = () => {};
  await latency(origin, key, 'without hints');

  const before = await resident();
  const child = fork(import.meta.filename, ['clients', origin, key], { execArgv: process.execArgv });
  await new Promise((resume) => child.once('message', resume));
  await sleep(5_000);
  const after = await resident();
  console.log(`${streams} idle streams: ${((after - before) / 1_048_576).toFixed(1)} MB`);
  child.kill();
  await worker.stop();
  await app.close();
  await store.close();
  fs.rmSync(folder, { recursive: true, force: true });
}

/** The resident memory after complete collections. */
async function resident(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    global.gc!();
    await sleep(200);
  }
  return process.memoryUsage().rss;
}

/** From the answer of a write, which follows its commit, to the arrival of its event. */
async function latency(origin: string, key: string, name: string): Promise<void> {
  const arrived = new Map<string, number>();
  const events = followEvents({ gateway: origin, key, types: 'account.created', say: () => {} });
  void (async () => {
    for await (const { data } of events) arrived.set(data.object.id!, performance.now());
  })();
  await sleep(2_000);
  const taken: number[] = [];
  for (let i = 0; i < writes; i++) {
    const response = await fetch(`${origin}/v1/accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'partner', nickname: `${name} ${i}`, business_details: details }),
    });
    const committed = performance.now();
    const { id } = (await response.json()) as { id?: string };
    if (id === undefined) throw new Error(`status ${response.status}`);
    for (let waited = 0; !arrived.has(id) && waited < 5_000; waited += 5) await sleep(5);
    taken.push(Math.max((arrived.get(id) ?? Number.POSITIVE_INFINITY) - committed, 0));
    await sleep(Math.random() * 100);
  }
  taken.sort((a, b) => a - b);
  const at = (part: number) => Math.round(taken[Math.floor(taken.length * part)]!);
  console.log(`${name}: median ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(0.999)} ms of ${writes} writes`);
}
