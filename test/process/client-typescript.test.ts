import { type ChildProcess, execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectionOptions, Event, Tidegate, TidegateError } from '../../clients/typescript/dist/client.js';
import { type Gateway, startGateway } from '../support/child.js';
import { answers, eventually } from '../support/world.js';

const run = promisify(execFile);
const folder = path.resolve('clients/typescript');
const pages = ['clients/typescript/README.md', 'docs/typescript.md'].map((name) => fs.readFileSync(name, 'utf8'));
/** The examples of the README and of the guide by their files, with what each prints. */
const examples = [...pages.join('\n').matchAll(/^```ts (\S+)\n([\s\S]*?)^```(?:\n\n```text\n([\s\S]*?)^```)?/gm)].map(
  ([, file, text, printed]) => ({ file: file!, text: text!, printed }),
);

const project = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-client-'));
let gateway: Gateway;
/** The client as the project has installed it. */
let library: typeof import('../../clients/typescript/dist/client.js');
const servers: http.Server[] = [];
const programs: ChildProcess[] = [];
beforeAll(async () => {
  if (!fs.existsSync(path.join(folder, 'node_modules')))
    await run('npm', ['ci', '--silent', '--no-audit', '--no-fund'], { cwd: folder });
  gateway = await startGateway();
  fs.writeFileSync(path.join(project, 'package.json'), '{ "private": true, "type": "module" }');
  await run('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', folder], { cwd: project });
  // What a reader has installed beside it.
  for (const name of ['@types', 'gql.tada', '@gql.tada', '@apollo', 'rxjs', 'graphql'])
    fs.symlinkSync(path.resolve('node_modules', name), path.join(project, 'node_modules', name));
  library = await import(path.join(project, 'node_modules/tidegate-client/dist/client.js'));
});
afterAll(async () => {
  for (const program of programs) program.kill('SIGKILL');
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await gateway?.stop();
  fs.rmSync(project, { recursive: true, force: true });
});

const environment = () => ({ ...process.env, ORIGIN: gateway.origin, KEY: gateway.keys[1]! });
const client = (options: Partial<ConnectionOptions> = {}): Tidegate =>
  new library.Tidegate({ origin: gateway.origin, key: gateway.keys[1]!, ...options });

async function listening(server: http.Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A program of a client that uses what the contract does not have. */
const refused = `import { Tidegate, type Deposit } from 'tidegate-client';
declare const tidegate: Tidegate;
// @ts-expect-error An amount is a string.
export const amount: Deposit['amount'] = 80;
// @ts-expect-error There is no such status.
export const status: Deposit['status'] = 'lost';
// @ts-expect-error There is no such filter.
tidegate.deposits({ colour: ['red'] });
// @ts-expect-error A deposit has an amount.
void tidegate.createDeposit({ currency: 'USD' });
// @ts-expect-error There is no such operation.
void tidegate.createColour({});
`;

describe('the README and the guide of the client', () => {
  it('has examples that compile strictly, and print what it shows', async () => {
    expect(examples.map(({ file }) => file)).toEqual([
      ...['start.ts', 'client.ts', 'first.ts', 'lists.ts', 'errors.ts', 'receiver.ts', 'graph.ts', 'apollo.ts'],
    ]);
    for (const { file, text } of examples) fs.writeFileSync(path.join(project, file), text);
    fs.writeFileSync(path.join(project, 'refused.ts'), refused);
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const kind = ['--module', 'nodenext', '--target', 'es2022', '--types', 'node', '--skipLibCheck'];
    const files = [...examples.map(({ file }) => file), 'refused.ts'];
    const compiler = path.join(folder, 'node_modules/typescript/bin/tsc');
    const compiled = await run(process.execPath, [compiler, ...strict, ...kind, ...files], { cwd: project }).catch(
      (error: { stdout: string }) => error,
    );
    expect(compiled.stdout).toBe('');
    for (const { file, printed } of examples) {
      if (printed === undefined) continue;
      const script = file.replace('.ts', '.js');
      const { stdout } = await run(process.execPath, [script], { cwd: project, env: environment() });
      expect([file, stdout]).toEqual([file, printed]);
    }
  });

  it('has a receiver that takes deliveries of the gateway and refuses others', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/hooks`;
    const user = await activeUser();
    const endpoint = await user.createWebhookEndpoint({ url, event_types: ['deposit.completed'] });
    const env = { ...environment(), PORT: String(port), WEBHOOK_SECRETS: endpoint.secret! };
    const receiver = spawn(process.execPath, ['receiver.js'], { cwd: project, env });
    programs.push(receiver);
    let out = '';
    receiver.stdout.on('data', (text) => (out += text));
    await answers(url);
    const deposit = await user.createDeposit({ amount: '41.00', currency: 'USD' });
    await eventually(
      async () => out,
      (text) => text.includes('deposit.completed\n'),
    );
    const forged = { 'webhook-id': 'event_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
    const signed = { ...forged, 'webhook-signature': `v1,${'A'.repeat(43)}=` };
    for (const headers of [forged, signed]) {
      const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(deposit) });
      expect(status).toBe(400);
    }
  });
});

/** The client acting for an activated user of the demo's platform. */
async function activeUser(options: Partial<ConnectionOptions> = {}): Promise<Tidegate> {
  const { data } = await client()
    .accounts({ type: ['user'], status: ['activated'] })
    .page();
  return client(options).as(data[0]!.id);
}

async function freePort(): Promise<number> {
  const server = http.createServer();
  const origin = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return Number(new URL(origin).port);
}

/** What a proxy does to one request: it answers by itself, or passes on and then loses the answer or a part of it. */
type Fault = 'lose' | 'cut' | 'refuse' | 'hang' | { status: number; headers?: Record<string, string> } | undefined;

interface Seen {
  method: string;
  path: string;
  key: string | undefined;
  status: number | undefined;
}

/**
 * A proxy before the gateway that does a fault to each request in turn. `lose` ends the connection once the gateway has
 * answered, `cut` in the middle of the answer, and `refuse` before the gateway has the request.
 */
async function proxy(faults: Fault[]): Promise<{ origin: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const server = http.createServer((request, response) => {
    const fault = faults[seen.length];
    const entry: Seen = {
      method: request.method!,
      path: request.url!.split('?')[0]!,
      key: request.headers['idempotency-key'] as string | undefined,
      status: undefined,
    };
    seen.push(entry);
    if (fault === 'refuse') return void request.socket.destroy();
    if (fault === 'hang') return void sockets.add(request.socket);
    if (typeof fault === 'object') return void response.writeHead(fault.status, fault.headers).end();
    const { headers, method, url } = request;
    const onward = http.request(new URL(url!, gateway.origin), { method, headers }, (answer) => {
      entry.status = answer.statusCode;
      const parts: Buffer[] = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => {
        if (fault === 'lose') return request.socket.destroy();
        const body = Buffer.concat(parts);
        const { 'transfer-encoding': _, ...kept } = answer.headers;
        response.writeHead(answer.statusCode!, { ...kept, 'content-length': body.length });
        if (fault !== 'cut') return response.end(body);
        response.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
      });
    });
    request.pipe(onward);
  });
  return { origin: await listening(server), seen };
}

/** The ids of the newest deposits of a user with this amount. */
async function depositsOf(user: Tidegate, amount: string): Promise<string[]> {
  const { data } = await user.deposits().page();
  return data.filter((deposit) => deposit.amount === amount).map(({ id }) => id);
}

describe('a call whose answer is lost', () => {
  it.each<[string, string, Fault[]]>([
    ['after the write', '1.01', ['lose', 'lose']],
    ['in the middle', '1.02', ['cut', 'cut']],
    ['before the write', '1.03', ['refuse']],
    ['by a proxy that says so', '1.04', ['lose', { status: 502 }, { status: 504 }]],
    ['while the service is overloaded', '1.05', [{ status: 503, headers: { 'retry-after': '0' } }, 'lose']],
    ['beyond the allowance', '1.06', [{ status: 429, headers: { 'retry-after': '1' } }]],
    ['and never comes', '1.07', ['hang', 'lose']],
  ])('is made again under one key, and done once: %s', async (_, amount, faults) => {
    const { origin, seen } = await proxy(faults);
    const user = await activeUser({ origin, timeout: faults.includes('hang') ? 2_000 : 60_000 });
    const deposit = await user.createDeposit({ amount, currency: 'USD' });
    expect(deposit.amount).toBe(amount);
    expect(seen).toHaveLength(faults.length + 1);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
    expect(await depositsOf(await activeUser(), amount)).toEqual([deposit.id]);
  });

  it('is made no more often than its attempts', async () => {
    const { origin, seen } = await proxy(Array.from({ length: 9 }, (): Fault => 'lose'));
    const user = await activeUser({ origin, attempts: 3 });
    await expect(user.createDeposit({ amount: '1.08', currency: 'USD' })).rejects.toThrow('fetch failed');
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await depositsOf(await activeUser(), '1.08')).toHaveLength(1);
  });

  it('is one write with a key of the caller, also from another client', async () => {
    const { origin, seen } = await proxy(['lose', 'lose']);
    const options = { idempotencyKey: `order ${Date.now()}` };
    const first = await activeUser({ origin, attempts: 1 });
    await expect(first.createDeposit({ amount: '1.09', currency: 'USD' }, options)).rejects.toThrow();
    const second = await activeUser({ origin });
    await second.createDeposit({ amount: '1.09', currency: 'USD' }, options);
    expect(seen.map(({ key }) => key)).toEqual(Array.from({ length: 3 }, () => options.idempotencyKey));
    expect(await depositsOf(second, '1.09')).toHaveLength(1);
  });

  it('is one write in the graph, and a read is read again', async () => {
    const { origin, seen } = await proxy(['lose', { status: 503 }, undefined, 'lose']);
    const user = await activeUser({ origin });
    const { data } = await user.graph(
      'mutation ($input: CreateDepositInput!) { createDeposit(input: $input) { deposit { id } } }',
      { input: { amount: '1.10', currency: 'USD' } },
    );
    expect(await depositsOf(user, '1.10')).toEqual([data.createDeposit.deposit.id]);
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'GET', 'GET']);
  });

  it('is one write when another attempt with its key is still under way', async () => {
    const user = await activeUser();
    const options = { idempotencyKey: `twice ${Date.now()}` };
    const make = () => user.createDeposit({ amount: '1.11', currency: 'USD' }, options);
    const made = await Promise.all(Array.from({ length: 8 }, make));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await depositsOf(user, '1.11')).toEqual([made[0]!.id]);
  });

  it('ends at once when the caller no longer wants it', async () => {
    const { origin, seen } = await proxy(['hang', 'hang']);
    const wanted = new AbortController();
    const user = await activeUser({ origin });
    const call = user.createDeposit({ amount: '1.12', currency: 'USD' }, { signal: wanted.signal });
    await eventually(
      async () => seen.length,
      (count) => count === 1,
    );
    wanted.abort();
    await expect(call).rejects.toThrow(/abort/i);
    expect(seen).toHaveLength(1);
  });
});

describe('an answer that is final', () => {
  it.each([
    [400, 'parameter_invalid', { amount: '0.00', currency: 'USD' as const }],
    [400, 'idempotency_key_reused', { amount: '1.14', currency: 'USD' as const }],
  ])('is thrown without another attempt: %s %s', async (status, code, body) => {
    const { origin, seen } = await proxy([]);
    const user = await activeUser({ origin });
    const options = { idempotencyKey: `final ${code} ${Date.now()}` };
    if (code === 'idempotency_key_reused')
      await (await activeUser()).createDeposit({ amount: '1.13', currency: 'USD' }, options);
    const error: TidegateError = await user.createDeposit(body, options).then(undefined, (thrown) => thrown);
    expect(error).toBeInstanceOf(library.TidegateError);
    expect([error.status, error.code, seen.length]).toEqual([status, code, 1]);
  });

  it.each<[string, Fault, number]>([
    ['a fault', { status: 500 }, 500],
    ['a wait that is too long', { status: 429, headers: { 'retry-after': '3600' } }, 429],
  ])('is also %s', async (_, fault, status) => {
    const { origin, seen } = await proxy([fault]);
    const user = await activeUser({ origin });
    await expect(user.createDeposit({ amount: '1.15', currency: 'USD' })).rejects.toMatchObject({ status });
    expect(seen).toHaveLength(1);
  });

  it('of the graph has its problems beside the data, or is thrown without data', async () => {
    const { data, problems } = await client().graph(
      'mutation ($input: CreateDepositInput!) { createDeposit(input: $input) { deposit { id } } }',
      { input: { amount: '0.00', currency: 'USD' } },
    );
    expect([data, problems]).toEqual([
      { createDeposit: null },
      [{ code: 'parameter_invalid', message: expect.any(String), param: 'deposit.amount' }],
    ]);
    await expect(client().graph('{ colour }')).rejects.toMatchObject({
      status: 400,
      code: 'GRAPHQL_VALIDATION_FAILED',
    });
    const unknown = client({ key: 'sk_test_unknown' });
    await expect(unknown.graph('{ viewer { edition } }')).rejects.toMatchObject({ status: 401 });
    await expect(unknown.accounts().page()).rejects.toMatchObject({ status: 401, code: 'api_key_invalid' });
  });
});

describe('a list', () => {
  it('is read page after page in both directions, once each, and no further than it is looped over', async () => {
    const { origin, seen } = await proxy(['lose']);
    const tidegate = client({ origin });
    const newestFirst: string[] = [];
    for await (const { id } of tidegate.deposits({ status: ['completed'] })) {
      newestFirst.push(id);
      if (newestFirst.length === 25) break;
    }
    expect(seen).toHaveLength(4);
    expect(new Set(newestFirst).size).toBe(25);
    const known = newestFirst.at(-1)!;
    const pages: string[][] = [];
    for await (const { data } of tidegate.deposits({ status: ['completed'], ending_before: known }).pages())
      pages.unshift(data.map(({ id }) => id));
    expect(pages.flat().slice(-24)).toEqual(newestFirst.slice(0, 24));
  });

  it('goes through files and downloads as well', async () => {
    const content = 'nickname,email\n';
    const blob = new Blob([content], { type: 'text/csv' });
    const file = await client().createFile({ purpose: 'import', file: blob, metadata: { batch: '7' } });
    expect(file.metadata).toEqual({ batch: '7' });
    const download = await client().fileContent(file.id);
    expect(await download.text()).toBe(content);
  });
});

describe('a delivery of a webhook', () => {
  it('is verified by the secrets before and after a rotation, and by no other, and not when it is old', async () => {
    const got: { body: Buffer; headers: http.IncomingHttpHeaders }[] = [];
    const origin = await listening(
      http.createServer((request, response) => {
        const parts: Buffer[] = [];
        request.on('data', (part) => parts.push(part));
        request.on('end', () => {
          got.push({ body: Buffer.concat(parts), headers: request.headers });
          response.writeHead(204).end();
        });
      }),
    );
    const user = await activeUser();
    const { id, secret: old } = await user.createWebhookEndpoint({
      url: `${origin}/hooks`,
      event_types: ['webhook_endpoint.tested'],
    });
    const delivery = async (index: number) => {
      await user.testWebhookEndpoint(id);
      return eventually(
        async () => got[index]!,
        (each) => each !== undefined,
      );
    };
    const { verifyWebhook, WebhookError } = library;
    const first = await delivery(0);
    const event: Event = await verifyWebhook({ ...first, secret: old! });
    expect([event.id, event.type]).toEqual([first.headers['webhook-id'], 'webhook_endpoint.tested']);
    // A test event is sent at once, and may get its number only after that.
    const read = await user.event(event.id);
    expect({ ...event, number: read.number }).toEqual(read);
    expect([null, read.number]).toContain(event.number);

    const { secret: young } = await user.rotateWebhookSecret(id);
    const second = await delivery(1);
    const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    for (const secret of [old!, young!, [other, young!]])
      expect(await verifyWebhook({ ...second, secret })).toMatchObject({ type: 'webhook_endpoint.tested' });
    const text = second.body.toString();
    const headers = new Headers(second.headers as Record<string, string>);
    expect(await verifyWebhook({ body: text, headers, secret: young! })).toEqual(JSON.parse(text));

    const timestamp = String(Number(second.headers['webhook-timestamp']) - 400);
    const wrong = [
      { ...second, secret: other },
      { ...second, secret: [] },
      { ...second, body: `${text} `, secret: young! },
      { ...second, headers: { ...second.headers, 'webhook-id': 'event_1' }, secret: young! },
      { ...second, headers: { ...second.headers, 'webhook-timestamp': timestamp }, secret: young! },
      { ...second, headers: { ...second.headers, 'webhook-timestamp': timestamp }, secret: young!, tolerance: 900 },
      { ...second, headers: { ...second.headers, 'webhook-timestamp': 'soon' }, secret: young! },
      { ...second, headers: { ...second.headers, 'webhook-signature': 'v1,AAAA v2,x ,' }, secret: young! },
      { ...second, headers: {}, secret: young! },
    ];
    for (const each of wrong) await expect(verifyWebhook(each)).rejects.toThrow(WebhookError);
  });
});

/** What a client of Edition 2 may write, and what it may not. */
const ofEditionTwo = `import type { components, paths } from './own.js';
type Deposit = components['schemas']['Deposit'];
type Query = NonNullable<paths['/v1/deposits']['get']['parameters']['query']>;
type Body = paths['/v1/deposits']['post']['requestBody']['content']['application/json'];
export const paid: Deposit['payment_method'] = 'upi';
export const query: Query = { payment_method: ['card', 'upi'] };
export const body: Body = {
  ...{ amount: '1.00', currency: 'INR', payment_method: 'upi' },
  ...{ from: { account_id: 'a' }, to: { account_id: 'b' } },
};
export type Checkouts = paths['/v1/checkouts']['get'];
// @ts-expect-error It has no such payment method.
export const method: Deposit['payment_method'] = 'klarna';
// @ts-expect-error Nor does a filter.
export const filter: Query = { payment_method: ['klarna'] };
// @ts-expect-error A deposit requires how it is paid, and to whom.
export const lacking: Body = { amount: '1.00', currency: 'INR', from: { account_id: 'a' } };
// @ts-expect-error An account has no such amount.
export type Volume = components['schemas']['Account']['business_details']['estimated_monthly_volume'];
`;

describe('the contract of a key of Edition 2', () => {
  it('makes types that have nothing of Edition 1', async () => {
    const file = (name: string) => path.join(project, name);
    const headers = { authorization: `Bearer ${gateway.keys[2]}` };
    fs.writeFileSync(file('own.json'), await (await fetch(`${gateway.origin}/openapi.json`, { headers })).text());
    fs.writeFileSync(file('edition-two.ts'), ofEditionTwo);
    const bin = (name: string) => path.join(folder, 'node_modules', name);
    await run(process.execPath, [bin('openapi-typescript/bin/cli.js'), file('own.json'), '-o', file('own.d.ts')]);
    const flags = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--module', 'nodenext', '--types', 'node'];
    const compiled = await run(process.execPath, [bin('typescript/bin/tsc'), ...flags, 'edition-two.ts'], {
      cwd: project,
    }).catch(({ stdout }) => ({ stdout }));
    expect(compiled.stdout).toBe('');
  });
});
