import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receivableBody } from '../support/bodies.js';
import { browser } from '../support/browser.js';
import { activatedUser } from '../support/onboarding-profile.js';
import { freePort } from '../support/ports.js';
import { answers, completeDeposit, eventually, givenIn, must, type Speaker, useWorld } from '../support/world.js';

const port = await freePort();
const origin = `http://localhost:${port}`;
const world = useWorld({ environment: { CORS_ORIGINS: origin } });
const given = givenIn(world);

const example = path.resolve('examples/dashboard');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-example-'));
let platform: Speaker;
let user: Speaker;
let other: Speaker;
let payer: string;
let server: ChildProcess;

/** A request of a page, as the gateway got it. */
interface Asked {
  operation: string;
  headers: http.IncomingHttpHeaders;
}
let asked: Asked[] = [];
/** Those over HTTP: what opens a WebSocket has its identity in its first message. */
const posts = () => asked.filter(({ headers }) => !headers.upgrade);
/** Holds a request before it goes to the gateway. */
let arrives: (request: Asked) => Promise<void> | void = () => {};
/** Decides about an answer of the gateway before it goes to the page: what is false is lost. */
let passes: (request: Asked) => Promise<boolean> | boolean = () => true;
/** The network between the pages and the gateway. It can hold an answer, or lose it. */
const network = http.createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const { headers, method } = request;
  const query = body.length > 0 ? JSON.parse(body.toString()).query : '';
  const one = { operation: /^\s*\w+ (\w+)/.exec(query)?.[1] ?? '', headers };
  if (one.operation !== '') asked.push(one);
  await arrives(one);
  const onward = http.request(`${world.origin}${request.url}`, { method: method!, headers }, async (answer) => {
    if (!(await passes(one))) return request.socket.destroy();
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  response.on('close', () => onward.destroy());
  onward.on('error', () => response.destroy()).end(body);
});
network.on('upgrade', async (request, socket, head) => {
  const one = { operation: 'Changes', headers: request.headers };
  asked.push(one);
  await arrives(one);
  const onward = net.connect(Number(new URL(world.origin).port), '127.0.0.1');
  const lines = request.rawHeaders.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  onward.write(`GET ${request.url} HTTP/1.1\r\n${lines}\r\n`);
  onward.write(head);
  socket.pipe(onward).pipe(socket);
  for (const side of [socket, onward]) side.on('error', () => {});
});
let chromium: Browser;
beforeAll(async () => {
  await build({
    ...{ root: example, configFile: path.join(example, 'vite.config.mjs'), logLevel: 'warn' },
    // Its own `npm install` would put the client there.
    resolve: { alias: { 'tidegate-client/retries': path.resolve('clients/typescript/dist/retries.js') } },
    build: { outDir: folder, emptyOutDir: true },
  });
  platform = await given.platform(1);
  [user, other] = [await activatedUser(platform), await activatedUser(platform)];
  payer = (await user.partner({ nickname: 'Nordwind Imports' })).id;
  for (let i = 1; i <= 42; i++) await paid(user, `${i}.00`);
  await paid(other, '500.00');
  await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve));
  const between = `http://127.0.0.1:${(network.address() as AddressInfo).port}`;
  const environment = { GATEWAY: between, API_KEY: platform.key, PORT: String(port), DIST: folder };
  server = spawn(process.execPath, [path.join(example, 'server.mjs')], { env: { ...process.env, ...environment } });
  chromium = await browser();
  await answers(origin);
});
afterAll(async () => {
  await chromium?.close();
  server?.kill();
  network.closeAllConnections();
  network.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** A deposit to a user, from the payer if it is that user's; returns its id. */
async function paid(to: Speaker, amount: string): Promise<string> {
  const from = to === user ? { from: { account_id: payer } } : {};
  return (await must(to.post('/v1/deposits', { amount, currency: 'USD', ...from }))).id;
}

/** A completed deposit, and an open invoice that bills its payer; returns their ids. */
async function paidWithInvoice(amount: string): Promise<{ deposit: string; receivable: string }> {
  const body = { ...receivableBody({ amount, currency: 'USD' }), customer_id: payer };
  const { id: receivable } = await must(user.post('/v1/receivables', body));
  const deposit = await paid(user, amount);
  await completeDeposit(user, deposit);
  return { deposit, receivable };
}

interface Visit {
  page: Page;
  /** What scripts of the page reported. */
  complaints: string[];
}

async function opened(name: string): Promise<Visit> {
  const page = await chromium.newPage();
  page.setDefaultTimeout(300_000);
  asked = [];
  [arrives, passes] = [() => {}, () => true];
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.goto(`${origin}/${name}.html`);
  await page.locator('tbody tr').first().waitFor();
  return { page, complaints };
}

const idsIn = (page: Page): Promise<(string | null)[]> =>
  page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-id')));
const rowOf = (page: Page, id: string) => page.locator(`tr[data-id="${id}"]`);
/** The ids of all deposits that an account lists, newest first. */
async function listed(speaker: Speaker): Promise<string[]> {
  const { body } = await speaker.graph('{ deposits(first: 100) { nodes { id } } }');
  return body.data.deposits.nodes.map(({ id }: { id: string }) => id);
}

/** Waits until a page has shown what its users' last deposits are. */
const shows = (page: Page, ids: readonly string[]) =>
  eventually(
    () => idsIn(page),
    (shown) => shown.join() === ids.join(),
  );

describe.each(['apollo', 'urql'])('the dashboard with %s', (name) => {
  it('shows the first page of payments, and with a loop over pages all of them', async () => {
    const { page, complaints } = await opened(name);
    const all = await listed(platform);
    expect(all.length).toBeGreaterThan(42);
    await shows(page, all.slice(0, 20));
    await page.getByRole('button', { name: 'Show all' }).click();
    await shows(page, all);
    expect(await page.getByRole('button', { name: 'Show all' }).count()).toBe(0);
    const pages = asked.filter(({ operation }) => operation === 'Payments');
    expect(pages).toHaveLength(Math.ceil(all.length / 20));
    expect(complaints).toEqual([]);
    // No API key reaches the browser.
    for (const { headers } of posts()) expect(headers.authorization).toMatch(/^Bearer ses_test_/);
    await page.close();
  });

  it('shows a reconciliation before its answer, which was lost and is repeated and done once', async () => {
    const { deposit, receivable } = await paidWithInvoice('77.10');
    const { page } = await opened(name);
    let lose = () => {};
    const held = new Promise<void>((resolve) => (lose = resolve));
    const reconciliations = () => asked.filter(({ operation }) => operation === 'Reconcile');
    passes = async ({ operation }) => {
      if (operation !== 'Reconcile' || reconciliations().length > 1) return true;
      await held;
      return false;
    };
    const row = rowOf(page, deposit);
    expect(await row.locator('.rest').textContent()).toBe('77.10 USD');
    const replayed = page.waitForResponse((response) => response.headers()['idempotent-replayed'] === 'true');
    await row.getByRole('button').click();
    await eventually(
      () => row.locator('.rest').textContent(),
      (rest) => rest === '0.00 USD',
    );
    lose();
    const answer = await replayed;
    expect((await answer.json()).data.reconcileDeposit.deposit).toMatchObject({ id: deposit, pendingRest: '0.00' });
    const keys = reconciliations().map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{36}$/), keys[0]]);
    expect(await row.locator('.rest').textContent()).toBe('0.00 USD');
    // No other payment of the payer offers the invoice any more, once the page has the answer.
    await eventually(
      () => page.getByRole('button', { name: 'Reconcile' }).count(),
      (offers) => offers === 0,
    );
    expect(await page.getByRole('alert').count()).toBe(0);
    const { body } = await user.get(`/v1/receivables/${receivable}`);
    expect([body.amount_locked, body.amount_reconcilable]).toEqual(['77.10', '0.00']);
    const address = `/v1/events?type=deposit.reconciled&object_id=${deposit}`;
    const events = await eventually(
      async () => (await user.get(address)).body.data,
      (list) => list.length > 0,
    );
    expect(events).toHaveLength(1);
    await page.close();
  });

  it('takes back what it showed when the reconciliation is refused, and says why', async () => {
    const { deposit, receivable } = await paidWithInvoice('8.20');
    const { page } = await opened(name);
    await must(user.post(`/v1/receivables/${receivable}/void`));
    const row = rowOf(page, deposit);
    await row.getByRole('button').click();
    expect(await page.getByRole('alert').textContent()).toMatch(/void/i);
    expect(await row.locator('.rest').textContent()).toBe('8.20 USD');
    await page.close();
  });

  it('shows a payment when it is announced and when it arrives, also after its session was revoked', async () => {
    const { page } = await opened(name);
    const first = await paid(user, '31.00');
    await rowOf(page, first).waitFor();
    expect((await idsIn(page))[0]).toBe(first);
    // The session and with it the stream ends, and the next stream is held until something has happened.
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const streams = () => asked.filter(({ operation }) => operation === 'Changes').length;
    const before = streams();
    arrives = ({ operation }) => (operation === 'Changes' ? held : undefined);
    const [session] = (await platform.get('/v1/sessions')).body.data;
    await must(platform.post(`/v1/sessions/${session.id}/revoke`));
    await eventually(
      async () => streams(),
      (count) => count > before,
    );
    const second = await paid(user, '32.00');
    await completeDeposit(user, first);
    release();
    await rowOf(page, second).waitFor();
    await rowOf(page, first).getByText('completed').waitFor();
    expect((await platform.get('/v1/sessions')).body.data[0].id).not.toBe(session.id);
    await page.close();
  });

  it('acts for a user with nothing of the platform, and again for the platform', async () => {
    const { page } = await opened(name);
    const own = await listed(platform.actingFor(other.id));
    expect(own.length).toBeLessThan(20);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const ofUser = ({ headers }: Asked) => headers['on-behalf-of'] === other.id;
    arrives = (request) => (ofUser(request) ? held : undefined);
    asked = [];
    await page.getByLabel('Act for').selectOption(other.id);
    await eventually(
      async () => asked.some(ofUser),
      (came) => came,
    );
    // Nothing is answered yet, so what is on the page would be of the platform.
    expect(await idsIn(page)).toEqual([]);
    expect(await page.locator('main').textContent()).not.toContain('USD');
    release();
    await shows(page, own);
    const names = await page.locator('tbody td[data-name="To"]').allTextContents();
    expect(new Set(names)).toEqual(new Set([(await other.get(`/v1/accounts/${other.id}`)).body.nickname]));
    expect(posts().filter(ofUser)).toEqual(posts());
    // Events are that user's, too.
    await paid(user, '33.00');
    const next = await paid(other, '501.00');
    await shows(page, [next, ...own]);
    await page.getByLabel('Act for').selectOption({ label: 'The platform' });
    await shows(page, (await listed(platform)).slice(0, 20));
    await page.close();
  });
});
