import fs from 'node:fs';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decimal, formatMoney, hundredths, sum } from '../src/dashboard/format/money.js';
import { DashboardLinks } from '../src/server/dashboard-links.js';
import { type Demo, demos } from '../src/server/demo/demo.js';
import { browser } from './browser.js';
import { developerPages, developerStories } from './dashboard-developers.js';
import { useWorld } from './world.js';

const world = useWorld({ demo: true, environment: { REQUEST_LOG_DAYS: '7' } });
const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let chromium: Browser;
let tenants: Demo[];
let links: DashboardLinks;
/** A gateway like that of `npm start`, which has links to the dashboard. */
let origin: string;

beforeAll(async () => {
  tenants = await demos(world.operator, world.pepper);
  links = new DashboardLinks(world.pepper, tenants);
  origin = await world.another({ links });
  chromium = await browser();
});
afterAll(() => chromium?.close());

const dashboardHeader = { 'x-tidegate-dashboard': '1' };
const post = (path: string, headers: Record<string, string>, body: object = {}) =>
  fetch(`${origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const signIn = (credential: string) => post('/dashboard/session', { authorization: credential });
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')!.split(';')[0]!;
const viewer = { query: '{ viewer { permission sessionRole } }' };

describe('a session of the dashboard', () => {
  it('is made by an API key, kept in a cookie that no script can read, and ended by signing out', async () => {
    const answer = await signIn(`Bearer ${tenants[0]!.testKey}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^tidegate_session=ses_[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    expect(await answer.text()).not.toContain('ses_');
    const cookie = cookieOf(answer);
    const asked = await post('/graphql', { cookie, ...dashboardHeader }, viewer);
    expect(await asked.json()).toMatchObject({ data: { viewer: { permission: 'FULL', sessionRole: 'OPERATE' } } });

    const ended = await post('/dashboard/session/end', { cookie, ...dashboardHeader });
    expect(ended.headers.get('set-cookie')).toMatch(/^tidegate_session=; .*Max-Age=0$/);
    const bearer = cookie.replace('tidegate_session=', 'Bearer ');
    await expect.poll(async () => (await post('/graphql', { authorization: bearer }, viewer)).status).toBe(401);
  });

  it('counts only with the header of the dashboard, and not for another origin', async () => {
    const cookie = cookieOf(await signIn(`Bearer ${tenants[0]!.testKey}`));
    expect((await post('/graphql', { cookie }, viewer)).status).toBe(401);
    const elsewhere = { cookie, ...dashboardHeader, 'sec-fetch-site': 'same-site' };
    expect((await post('/graphql', elsewhere, viewer)).status).toBe(401);
    const twice = { cookie: `${cookie}; ${cookie}`, ...dashboardHeader };
    expect((await post('/graphql', twice, viewer)).status).toBe(401);
    const ofPage = { cookie, ...dashboardHeader, origin: 'https://evil.example' };
    expect((await post('/graphql', ofPage, viewer)).status).toBe(403);
  });

  it('is refused for a wrong key, and cannot make another session', async () => {
    expect((await signIn('Bearer sk_test_wrong')).status).toBe(401);
    const cookie = cookieOf(await signIn(`Bearer ${tenants[0]!.testKey}`));
    const again = await signIn(cookie.replace('tidegate_session=', 'Bearer '));
    expect(again.status).toBe(403);
  });

  it('is made by a link once, and not by one that has expired or that was changed', async () => {
    const code = links.newCode(2);
    expect((await signIn(`Link ${code}`)).status).toBe(200);
    const again = await signIn(`Link ${code}`);
    expect(again.status).toBe(401);
    expect(await again.json()).toMatchObject({ errors: [{ message: expect.stringContaining('used before') }] });

    const late = new DashboardLinks(world.pepper, tenants, () => Date.now() - 16 * 60_000).newCode(2);
    expect((await signIn(`Link ${late}`)).status).toBe(401);
    expect((await signIn(`Link ${links.newCode(2).replace(/^2/, '1')}`)).status).toBe(401);
    // The first gateway of the world was started without links, like one that is not local.
    const closed = await fetch(`${world.origin}/dashboard/session`, {
      method: 'POST',
      headers: { authorization: `Link ${links.newCode(2)}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(closed.status).toBe(401);
  });
});

describe('the files of the dashboard', () => {
  it('are compressed and kept by browsers, and the page allows no other scripts', async () => {
    const page = await fetch(`${origin}/dashboard/payments`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const [, script] = /src="(\/dashboard\/assets\/[^"]+\.js)"/.exec(await page.text())!;
    const asset = await fetch(`${origin}${script}`, { headers: { 'accept-encoding': 'br' } });
    expect(asset.headers.get('content-encoding')).toBe('br');
    expect(asset.headers.get('cache-control')).toContain('immutable');
    expect((await fetch(`${origin}/dashboard/assets/none.js`)).status).toBe(404);
  });

  it('have at most 250 KiB, compressed, for the first page', () => {
    const folder = 'dist/dashboard';
    interface Chunk {
      file: string;
      css?: string[];
      imports?: string[];
    }
    const manifest = JSON.parse(fs.readFileSync(`${folder}/manifest.json`, 'utf8')) as Record<string, Chunk>;
    const files = new Set<string>();
    const add = (name: string) => {
      const { file, css = [], imports = [] } = manifest[name]!;
      for (const each of [file, ...css]) files.add(each);
      imports.forEach(add);
    };
    add('index.html');
    expect(files.size).toBeGreaterThan(1);
    const bytes = [...files].reduce((all, file) => all + fs.statSync(`${folder}/${file}.br`).size, 0);
    expect(bytes).toBeLessThan(250 * 1024);
  });
});

describe('the money of the dashboard', () => {
  const cents = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n });

  it('is formatted to the cent, whatever its size', () => {
    fc.assert(
      fc.property(cents, fc.constantFrom('USD', 'INR', 'JPY', 'KWD'), (value, currency) => {
        const amount = decimal(value);
        const digits = formatMoney({ amount, currency }).replaceAll(/[^\d.-]/g, '');
        expect(digits).toBe(amount);
      }),
    );
  });

  it('is added up exactly', () => {
    fc.assert(
      fc.property(fc.array(cents), (values) => {
        expect(hundredths(sum(values.map(decimal)))).toBe(values.reduce((a, b) => a + b, 0n));
      }),
    );
  });
});

interface Visit {
  context: BrowserContext;
  page: Page;
  /** Requests to other hosts, errors of the console, and violations of the content security policy. */
  complaints: string[];
}

/** A new browser that has opened an address of the dashboard. */
async function visit(address: string, colorScheme: 'light' | 'dark' = 'light'): Promise<Visit> {
  const context = await chromium.newContext({
    viewport: { width: 1440, height: 1000 },
    colorScheme,
    timezoneId: 'UTC',
    locale: 'en-US',
  });
  context.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  const page = await context.newPage();
  page.on('request', (request) => {
    if (new URL(request.url()).host !== new URL(origin).host) complaints.push(request.url());
  });
  page.on('console', (message) => {
    // A refused sign-in is an answer with status 401, which the browser reports by itself.
    if (['error', 'warning'].includes(message.type()) && !message.text().includes('401'))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${origin}${address}`);
  return { context, page, complaints };
}

const enter = (edition: number, scheme?: 'light' | 'dark') =>
  visit(`/dashboard/sign-in#code=${links.newCode(edition)}`, scheme);

/** What axe finds on the page, and whether the page is wider than a phone. */
async function faults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: any[] }> } };
    const { violations } = await axe.run({ rules: { 'target-size': { enabled: true } } });
    return violations.map((v) => `${v.id}: ${v.nodes.map((n: any) => n.html.slice(0, 120)).join(' | ')}`);
  });
  const size = page.viewportSize()!;
  await page.setViewportSize({ width: 320, height: 700 });
  if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth))
    found.push('scrolls sideways');
  await page.setViewportSize(size);
  return found;
}

describe('a viewer of the dashboard', () => {
  it('signs in with a key, is told when it is wrong, and signs out', async () => {
    const { context, page, complaints } = await visit('/dashboard');
    await page.getByLabel('API key').fill('sk_test_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('The API key is not valid').waitFor();
    await page.getByLabel('API key').fill(tenants[1]!.testKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(await page.evaluate(() => document.cookie + JSON.stringify([localStorage, sessionStorage]))).not.toContain(
      '_test_',
    );
    await page.getByText('Edition 2').waitFor();
    await page.getByText('no real money moves').waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Tidegate' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in to Tidegate' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  for (const edition of [1, 2]) {
    it(`of Edition ${edition} opens the link of the start, acts as a user, and reconciles a payment`, async () => {
      const { context, page, complaints } = await enter(edition);
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      expect(new URL(page.url()).hash).toBe('');
      const balances = page.getByRole('region', { name: 'Balances' });
      await balances.getByText('Not reconciled').waitFor();

      await page.getByRole('button', { name: 'Act as a user' }).click();
      const user = edition === 1 ? 'Indigo Looms' : 'Lighthouse Courses';
      await page.getByRole('dialog').getByRole('button', { name: user }).click();
      await page.getByText(`Acting as ${user}`).waitFor();

      await page.getByRole('link', { name: 'Show all' }).click();
      await page.getByRole('heading', { name: 'Payments' }).waitFor();
      expect(new URL(page.url()).search).toBe('?show=unreconciled');
      await page.getByRole('table', { name: 'Payments' }).getByRole('link').first().click();
      const form = page.getByRole('region', { name: 'Reconcile' });
      await form.getByText('Reference matches').waitFor();
      // The gateway names the amount that is wrong, and the form shows it beside the input.
      await form.getByRole('checkbox').first().check();
      const amount = form.getByRole('textbox', { name: /^Amount for/ });
      const whole = await amount.inputValue();
      await amount.fill('0.00');
      await form.getByRole('button', { name: /^Reconcile/ }).click();
      await expect.poll(() => amount.getAttribute('aria-invalid')).toBe('true');
      await amount.fill(whole);
      await form.getByRole('button', { name: /^Reconcile/ }).click();
      await page.getByRole('region', { name: 'Counts towards' }).getByText('Locked').first().waitFor();
      await expect.poll(() => form.count()).toBe(0);
      expect(complaints).toEqual([]);
      await context.close();
    });
  }

  developerStories({
    enter: () => enter(2),
    origin: () => origin,
    key: () => tenants[1]!.testKey,
    otherKey: () => tenants[0]!.testKey,
    faults,
  });

  it('finds no fault on any page, in both themes', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const { context, page, complaints } = await enter(2, scheme);
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      for (const [path, ready] of pages) {
        await page.goto(`${origin}/dashboard${path}`);
        await page.getByText(ready).first().waitFor();
        expect({ path, faults: await faults(page) }).toEqual({ path, faults: [] });
      }
      expect(complaints).toEqual([]);
      await context.close();
    }
  });
});

/** The pages, with a text that is there when they have loaded. */
const pages = [
  ['/', 'payments in the last 90 days'],
  ['/payments', 'Older'],
  ['/settings', 'Time zone'],
  ...developerPages,
] as const;
