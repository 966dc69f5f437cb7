import fs from 'node:fs';
import http from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateway } from '../../src/server/app.js';
import { config } from '../../src/config/config.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { DashboardLinks } from '../../src/server/dashboard/links.js';
import type { Demo } from '../../src/server/demo/demo.js';
import pino from 'pino';
import { axeFaults } from '../support/axe.js';
import { browser } from '../support/browser.js';
import { useWorld, withLiveAcquirer } from '../support/world.js';

const world = useWorld({ worker: false });
const demos: Demo[] = [
  { edition: 1, name: 'Harborline', accountId: 'account_1', testKey: 'sk_test_first' },
  { edition: 2, name: 'Saffron <b>Collect', accountId: 'account_2', testKey: 'sk_test_second' },
];
const apps: { close(): Promise<unknown> }[] = [];
let chromium: Browser;

beforeAll(async () => {
  chromium = await browser();
});
afterAll(async () => {
  await chromium?.close();
  await Promise.all(apps.map((app) => app.close()));
});

/** The address of a gateway with these settings, which has the demos. */
async function started(environment: Record<string, string> = {}, live = false): Promise<string> {
  const settings = config({ serves: true }, { PORT: '0', ...environment });
  const app = await gateway({
    ...{ config: settings, database: world.database, schema: buildGraph(), pepper: world.pepper, demos },
    ...(live && { acquirers: withLiveAcquirer }),
    ...(settings.transport === 'local' && { links: new DashboardLinks(world.pepper, demos) }),
    log: pino({ level: 'silent' }),
  });
  apps.push(app);
  return app.listen({ port: 0, host: '127.0.0.1' });
}

/** The page as it is answered to a request with these headers. */
function pageAt(origin: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    http
      .get(`${origin}/`, { headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode!, text }));
      })
      .on('error', reject);
  });
}

describe('the start page', () => {
  it('says what runs here, and leads to what is served', async () => {
    const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8')) as { version: string };
    const { status, text } = await pageAt(await started());
    expect(status).toBe(200);
    for (const words of [`Version ${version}`, 'Edition 1', 'Edition 2', 'Test mode', 'there is no acquirer'])
      expect(text).toContain(words);
    for (const place of ['/dashboard', '/graphiql', '/docs', '/operator', '/openapi.json'])
      expect(text).toContain(`href="${place}"`);
    const bare = await pageAt(await started({ EXPLORER: 'false', DASHBOARD: 'false', OPERATOR_API: 'false' }, true));
    expect(bare.text).toContain('The payment page takes payments.');
    expect(bare.text).not.toMatch(/\/graphiql|href="\/(dashboard|operator)"/);
  });

  it('shows keys and the console on a local gateway alone, and under the names of this machine alone', async () => {
    const local = await started();
    const { port } = new URL(local);
    const keys = /sk_test_(first|second)|code=|href="\/operator"/;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
      expect((await pageAt(local, { host })).text).toMatch(keys);
    // Another site can lead its own name to this machine.
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', '192.168.0.7'])
      expect((await pageAt(local, { host })).text).not.toMatch(keys);
    const remote = await started({ TRUSTED_PROXY: '127.0.0.1', PUBLIC_URL: 'https://pay.example' });
    for (const host of ['pay.example', 'localhost']) {
      const { status, text } = await pageAt(remote, { host, 'x-forwarded-proto': 'https' });
      expect([status, keys.test(text)]).toEqual([200, false]);
    }
    expect((await pageAt(remote)).status).toBe(403);
  });

  it('has new links to the dashboard each time, so that one that has expired needs no new start', async () => {
    const origin = await started();
    const links = new Set<string>();
    for (let i = 0; i < 3; i++)
      for (const [code] of (await pageAt(origin)).text.matchAll(/(?<=sign-in#code=)[^"]+/g)) links.add(code);
    expect(links.size).toBe(3 * demos.length);
  });

  it('has a policy without scripts and without other hosts', async () => {
    const answer = await fetch(`${await started()}/`);
    expect(answer.headers.get('content-security-policy')!.split('; ')).toEqual([
      ...["default-src 'none'", expect.stringMatching(/^style-src 'sha256-[\w+/=]+'$/), 'img-src data:'],
      ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).not.toMatch(/<script|\sstyle=|https?:\/\/(?!www\.w3\.org)/);
  });

  it('has a page beside it for an address with nothing at it, for browsers alone', async () => {
    const origin = await started();
    const asked = (address: string, headers: Record<string, string>) => fetch(`${origin}${address}`, { headers });
    const shown = await asked('/nothing', { accept: 'text/html,*/*;q=0.8' });
    expect([shown.status, shown.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await shown.text()).toContain('There is nothing at this address');
    expect(shown.headers.get('request-id')).toMatch(/^req_/);
    for (const [address, headers] of [
      ['/nothing', {}],
      ['/nothing', { accept: 'application/json' }],
      ['/nothing', { accept: 'text/html', authorization: 'Bearer sk_test_none' }],
      ['/v1/nothing', { accept: 'text/html' }],
    ] as const) {
      const refused = await asked(address, headers);
      expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
    const context = await chromium.newContext();
    const page = await context.newPage();
    await page.goto(`${origin}/nothing<b>`);
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Start' }).click();
    await page.getByRole('heading', { name: 'Tidegate', exact: true }).waitFor();
    await context.close();
  });

  it('fits every screen in both themes, escapes names, and has no violation that axe finds', async () => {
    const origin = await started();
    const context = await chromium.newContext();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(origin);
      expect(await page.locator('b').count()).toBe(0);
      expect(await axeFaults(page)).toEqual([]);
      for (const width of [1440, 390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      }
    }
    expect(complaints).toEqual([]);
    await context.close();
  });
});
