import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browser } from '../support/browser.js';
import { freePort } from '../support/ports.js';
import { answers, eventually, givenIn, type Speaker, useWorld } from '../support/world.js';

/**
 * A port that was free a moment ago: the gateway has to know the origin of the page before the page's server starts.
 */

const [port, otherPort] = [await freePort(), await freePort()];
const origin = `http://localhost:${port}`;
/** Another page that the gateway admits, such as that of another tenant. */
const otherOrigin = `http://localhost:${otherPort}`;
const world = useWorld({ worker: false, environment: { CORS_ORIGINS: `${origin},${otherOrigin}` } });
const given = givenIn(world);

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-dashboard-'));
const guide = fs.readFileSync('docs/dashboards.md', 'utf8');
const block = (language: string) => new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(guide)![1]!;

let platform: Speaker;
let user: Speaker;
let server: ChildProcess;
let hostile: http.Server;
let chromium: Browser;
beforeAll(async () => {
  fs.writeFileSync(path.join(folder, 'server.mjs'), block('js'));
  fs.writeFileSync(path.join(folder, 'page.html'), block('html'));
  platform = await given.platform(2);
  user = await platform.connectedUser({ nickname: 'Asha <Exports> & Co' });
  const environment = { GATEWAY: world.origin, API_KEY: platform.key, ACCOUNT: user.id, PORT: String(port) };
  server = spawn(process.execPath, ['server.mjs'], { cwd: folder, env: { ...process.env, ...environment } });
  hostile = http.createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Another page</title>');
  });
  await new Promise<void>((resolve) => hostile.listen(otherPort, resolve));
  chromium = await browser();
  await answers(origin);
});
afterAll(async () => {
  await chromium?.close();
  hostile?.close();
  server?.kill();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Opens the dashboard; returns the tokens that the page sends to the gateway, as they come. */
async function opened(): Promise<{ page: Page; tokens: string[] }> {
  const page = await chromium.newPage();
  const tokens: string[] = [];
  page.on('request', (request) => {
    const { authorization } = request.headers();
    if (authorization) tokens.push(authorization.replace('Bearer ', ''));
  });
  await page.goto(origin);
  await page.locator('li').first().waitFor();
  return { page, tokens };
}

const shown = async (page: Page) => [
  await page.locator('h1').textContent(),
  await page.locator('li').allTextContents(),
];
/** A request by a script of a page: its status, or why the page cannot see it. */
const fetchIn = (page: Page, token: string, url = `${world.origin}/v1/balance`) =>
  page.evaluate(
    async ([address, bearer]) => {
      try {
        return (await fetch(address, { headers: { authorization: `Bearer ${bearer}` } })).status;
      } catch (error) {
        return String(error);
      }
    },
    [url, token] as const,
  );

describe('the dashboard of the guide', () => {
  it('shows the balance of a user of the platform, in a page of another origin than the gateway', async () => {
    const { page, tokens } = await opened();
    const { body } = await user.graph('{ viewer { account { nickname balance { available { amount currency } } } } }');
    const { nickname, balance } = body.data.viewer.account;
    expect(await shown(page)).toEqual([
      nickname,
      balance.available.map(({ amount, currency }: Record<string, string>) => `${amount} ${currency}`),
    ]);
    expect(balance.available).not.toEqual([]);
    // No secret key ever reaches the browser.
    expect(tokens).toEqual([expect.stringMatching(/^ses_test_/)]);
    expect(await page.content()).not.toContain('sk_test_');
    const [session] = (await platform.get('/v1/sessions')).body.data;
    expect(session).toMatchObject({ account_id: user.id, role: 'read', allowed_origins: [origin] });
    await page.close();
  });

  it('gets another session from its server when the first is revoked', async () => {
    const { page, tokens } = await opened();
    const [session] = (await platform.get('/v1/sessions')).body.data;
    await platform.post(`/v1/sessions/${session.id}/revoke`);
    await eventually(
      () => fetchIn(page, tokens[0]!),
      (status) => status === 401,
    );
    await page.reload();
    await page.locator('li').first().waitFor();
    expect(tokens.length).toBeGreaterThan(1);
    expect(tokens.at(-1)).not.toBe(tokens[0]);
    await page.close();
  });

  it('says what was refused', async () => {
    const page = await chromium.newPage();
    await page.route(`${origin}/session`, (route) => route.fulfill({ status: 403, body: 'Sign in first.' }));
    await page.goto(origin);
    await expect.poll(() => page.locator('h1').textContent()).toBe('No session: 403 Sign in first.');
    await page.close();
  });

  it('gives no session to a page of another site', async () => {
    const page = await chromium.newPage();
    await page.goto(otherOrigin);
    const before = (await platform.get('/v1/sessions')).body.data.length;
    const taken = await page.evaluate(async (url) => {
      try {
        return await (await fetch(url, { method: 'POST' })).text();
      } catch (error) {
        return String(error);
      }
    }, `${origin}/session`);
    expect(taken).toBe('TypeError: Failed to fetch');
    expect((await platform.get('/v1/sessions')).body.data).toHaveLength(before);
    await page.close();
  });

  it('has a token that is worth nothing in another page, also in one that the gateway admits', async () => {
    const { page, tokens } = await opened();
    const [token = ''] = tokens;
    expect(await fetchIn(page, token)).toBe(200);
    const other = await chromium.newPage();
    await other.goto(otherOrigin);
    expect(await fetchIn(other, token)).toBe(403);
    // A page of an origin that the gateway does not admit sees no answer at all.
    await other.goto(`http://127.0.0.1:${otherPort}`);
    expect(await fetchIn(other, token)).toBe('TypeError: Failed to fetch');
    // A script in the dashboard's own page can do no more than the role allows.
    const sent = (path: string, body: object) =>
      page.evaluate(
        async ([url, bearer, text]) => {
          const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
          const answer = await fetch(url, { method: 'POST', headers, body: text });
          return [answer.status, (await answer.json()).errors?.[0]?.message];
        },
        [`${world.origin}${path}`, token, JSON.stringify(body)] as const,
      );
    expect(await sent('/v1/sessions', { role: 'operate' })).toEqual([
      403,
      'A session cannot make sessions; use an API key.',
    ]);
    expect(await sent('/v1/addresses', {})).toEqual([403, 'A session cannot create addresses; use an API key.']);
    expect((await sent('/v1/accounts', {}))[0]).toBe(403);
    await Promise.all([page.close(), other.close()]);
  });
});
