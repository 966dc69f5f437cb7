import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alive, behind, type Gateway, startGateway, until } from './child.js';
import { eventually, nickname, type Speaker } from './world.js';

let gateway: Gateway;
let platform: Speaker;

beforeAll(async () => {
  gateway = await startGateway({ WORKERS: '3' });
  platform = gateway.speaker(gateway.keys[1]!, { connection: 'close' });
}, 120_000);
afterAll(() => gateway.stop());

/** The processes that serve, below the one that supervises. */
const workers = (): number[] =>
  fs
    .readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
    .filter((pid) => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('main.js'));

const times = <T>(n: number, ask: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, i) => ask(i)));

describe.skipIf(process.platform !== 'linux')('several processes on one port', () => {
  it('announce themselves once', () => {
    expect(workers()).toHaveLength(3);
    expect(gateway.out.match(/Tidegate is listening/g)).toHaveLength(1);
  });

  it('write once for a key, whichever of them is asked', async () => {
    const input = { nickname: nickname(), businessDetails: { legalName: 'One of Many' } };
    const query =
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }';
    const key = { 'idempotency-key': nickname() };
    const ids = await times(24, () =>
      eventually(
        () => platform.graph(query, { input }, key),
        // The same key at the same time is told to come again.
        ({ status, codes }) => status === 200 && !codes.includes('idempotency_key_in_use'),
      ),
    );
    expect(new Set(ids.map(({ body }) => body.data.createConnectedUser.account.id)).size).toBe(1);
  });

  it('all refuse a revoked key within a second', async () => {
    const made = await platform.graph('mutation { createApiKey(input: {}) { secret apiKey { id } } }');
    const { secret, apiKey } = made.body.data.createApiKey;
    const other = platform.using(secret);
    for (const { status } of await times(12, () => other.get('/v1/accounts'))) expect(status).toBe(200);
    await platform.graph('mutation ($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { apiKey { id } } }', {
      input: { id: apiKey.id },
    });
    await new Promise((resume) => setTimeout(resume, 1_000));
    for (const { status } of await times(24, () => other.get('/v1/accounts'))) expect(status).toBe(401);
  });

  it('do each piece of work once between them', async () => {
    const deposits = await times(12, () => platform.post('/v1/deposits', { amount: '10.00', currency: 'USD' }));
    const ids = deposits.map(({ body }) => body.id);
    await eventually(
      () => times(ids.length, (i) => platform.get(`/v1/deposits/${ids[i]}`)),
      (answers) => answers.every(({ body }) => body.status === 'completed'),
    );
    const sql = behind(gateway.dataDir);
    expect(await sql`select rule, what from violations`).toEqual([]);
    await sql.end();
  });

  it('hold everybody to the same limits', async () => {
    const deep = `{ viewer ${'{ account { owner '.repeat(20)}${'} }'.repeat(20)} }`;
    const answers = await times(12, () => platform.graph(deep.replace('owner }', 'owner { id } }')));
    for (const { status } of answers) expect(status).toBe(400);
  });

  it('are followed by another when one is killed, and answer meanwhile', async () => {
    const [victim] = workers();
    process.kill(victim!, 'SIGKILL');
    await until(() => !alive(victim));
    for (const { status } of await times(12, () => platform.get('/v1/accounts'))) expect(status).toBe(200);
    await until(() => workers().length === 3);
  });

  it('end together, with what is under way, at one word', async () => {
    const pids = workers();
    gateway.signal('SIGTERM');
    expect(await gateway.ended).toBe(0);
    expect(pids.filter(alive)).toEqual([]);
  });
});
