import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from '../support/axe.js';
import { browser } from '../support/browser.js';
import { givenIn, type Speaker, useWorld } from '../support/world.js';

const world = useWorld();
const given = givenIn(world);
let chromium: Browser;
let platform: Speaker;
let context: BrowserContext | undefined;

beforeAll(async () => {
  [chromium, platform] = [await browser(), await given.platform(2)];
});
afterAll(() => chromium?.close());
afterEach(() => context?.close());

const desktop = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };

interface Opened {
  page: Page;
  /** The bytes that the browser received, as they were sent: compressed, with headers. */
  received: { bytes: number };
  complaints: string[];
}

/** Opens the explorer in a new browser session, whose cache is empty. */
async function opened(
  address: string,
  { viewport = desktop, dark = false, from = world.origin } = {},
): Promise<Opened> {
  const colorScheme = dark ? 'dark' : 'light';
  context = await chromium.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
  const [received, complaints] = [{ bytes: 0 }, [] as string[]];
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  network.on('Network.loadingFinished', ({ encodedDataLength }) => {
    received.bytes += encodedDataLength;
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${from}${address}`);
  return { page, received, complaints };
}

const withKey = () => `/graphiql#key=${platform.key}`;
const answer = (page: Page, text: string | RegExp) => page.locator('#answer', { hasText: text }).waitFor();

describe('before its editor is used, the explorer', () => {
  it('transfers at most 500 KB, and the first focus brings the editor', async () => {
    const { page, received, complaints } = await opened(withKey());
    await page.locator('#key-owner', { hasText: 'Edition 2 · test mode' }).waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await answer(page, /"edition": 2/);
    expect(await page.locator('#cost').innerText()).toMatch(/^Cost \d+ points, estimated \d+ · [\d,]+ left$/);
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    await page.locator('#code', { hasText: 'curl' }).waitFor();
    expect(received.bytes).toBeGreaterThan(10_000);
    expect(received.bytes).toBeLessThan(500_000);

    // What is typed before the editor is there goes on in it, at the same place.
    await page.locator('#query').focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.insertText('# Mine\n');
    await page.locator('#plain').waitFor({ state: 'hidden' });
    await page.locator('.graphiql-query-editor .view-lines', { hasText: 'Mine' }).waitFor();
    await page.keyboard.insertText('# More\n');
    await expect
      .poll(() => page.evaluate(() => sessionStorage.getItem('graphiql:query')))
      .toMatch(/^# Mine\n# More\n# Who am I/);
    expect(received.bytes).toBeGreaterThan(1_000_000);
    expect(complaints).toEqual([]);
  });

  it('is painted once its script has hidden what only a caller without a key needs', async () => {
    context = await chromium.newContext({ viewport: desktop });
    const page = await context.newPage();
    // Long enough for a paint before it.
    await page.route(/\/assets\/explorer[^/]*\.js$/, async (route) => {
      await setTimeout(1_000);
      await route.continue();
    });
    await page.goto(`${world.origin}${withKey()}`);
    await page.locator('#key-owner', { hasText: 'Edition 2 · test mode' }).waitFor();
    const times = await page.evaluate(() => {
      const [script] = performance
        .getEntriesByType('resource')
        .filter(({ name }) => /\/assets\/explorer[^/]*\.js$/.test(name)) as PerformanceResourceTiming[];
      const [painted] = performance.getEntriesByName('first-contentful-paint');
      return { loaded: script!.responseEnd, painted: painted!.startTime };
    });
    expect(times.loaded).toBeGreaterThan(1_000);
    expect(times.painted).toBeGreaterThan(times.loaded);
  });

  it('shows an answer and its cost on the screen of a phone, below a bar that is low once there is a key', async () => {
    const { page } = await opened('/graphiql', { viewport: phone });
    await page.getByRole('heading', { name: 'Paste a key to begin' }).waitFor();
    await page.getByLabel('API key').fill(platform.key);
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Use key' }).click()]);
    await page.locator('#key-owner', { hasText: 'test mode' }).waitFor();
    expect((await page.locator('#bar').boundingBox())!.height).toBeLessThan(160);
    await page.getByRole('button', { name: 'Run' }).click();
    await answer(page, /"edition": 2/);
    await expect.poll(() => onScreen(page, '#answer', 200)).toBe(true);
    await expect.poll(() => onScreen(page, '#cost', 10)).toBe(true);

    await page.locator('#query').focus();
    await page.locator('#plain').waitFor({ state: 'hidden' });
    await page.evaluate(() => scrollTo(0, 0));
    await page.getByRole('button', { name: 'Execute query' }).click();
    await expect.poll(() => onScreen(page, '.graphiql-response', 300)).toBe(true);
  });

  it('says what is wrong with variables, and sends nothing', async () => {
    const { page } = await opened(
      `/graphiql#key=${platform.key}&query=query%20Q%20%7B%20viewer%20%7B%20mode%20%7D%20%7D&variables=%7B%3Cimg`,
    );
    await page.getByRole('button', { name: 'Run' }).click();
    await answer(page, 'The variables are not valid JSON. Correct them and run this again.');
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    await page.locator('#code-state', { hasText: 'The variables are no JSON object.' }).waitFor();
    expect(await page.locator('#work img').count()).toBe(0);
  });

  it('is used by the keyboard alone', async () => {
    const { page } = await opened(withKey());
    await page.locator('#key-owner', { hasText: 'test mode' }).waitFor();
    await page.getByRole('button', { name: 'Code', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('curl').focus();
    await page.keyboard.press('ArrowDown');
    await page.locator('#code', { hasText: 'await fetch(' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('show-code');
    await page.getByRole('button', { name: 'Requirements' }).press('Enter');
    await page.getByRole('button', { name: 'Run' }).press('Enter');
    await answer(page, '"accounts"');
  });

  it.each([
    ['on a desktop in light', { viewport: desktop, dark: false }],
    ['on a phone in dark', { viewport: phone, dark: true }],
  ] as const)('has no fault that axe finds, and nothing beyond the edge: %s', async (_, screen) => {
    const { page } = await opened('/graphiql', screen);
    const faultless = async (state: string) => {
      expect([state, await axeFaults(page)]).toEqual([state, []]);
      const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      expect([state, content! <= window!]).toEqual([state, true]);
    };
    await faultless('without a key');
    await page.goto('about:blank');
    await page.goto(`${world.origin}${withKey()}`);
    await page.locator('#key-owner', { hasText: 'test mode' }).waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await answer(page, /"edition": 2/);
    for (const view of ['Code', 'Make it happen']) {
      await page.locator('#bar').getByRole('button', { name: view, exact: true }).click();
      await faultless(view);
    }
  });
});

/** Whether so many pixels of an element's height are on the screen. */
const onScreen = (page: Page, selector: string, pixels: number): Promise<boolean> =>
  page.locator(selector).evaluate((element, least) => {
    const { top, bottom } = element.getBoundingClientRect();
    return Math.min(bottom, innerHeight) - Math.max(top, 0) >= least;
  }, pixels);

describe('a subscription', () => {
  it('runs beside what makes its events happen, in both editors, and ends when it is stopped', async () => {
    const { page, complaints } = await opened(withKey());
    await page.locator('#bar').getByRole('button', { name: 'Make it happen' }).click();
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Open the subscription' }).click()]);
    await page.getByRole('button', { name: 'Run' }).click();
    await answer(page, '"received": 0');
    await page.locator('#event-type').selectOption('receivable.created');
    await page.locator('#happen').click();
    await page.locator('#happen-state', { hasText: /^receivable\.created has happened: it is event \d+\.$/ }).waitFor();
    await answer(page, '"type": "receivable.created"');
    expect(await page.locator('#happen-steps li').allInnerTexts()).toEqual([
      expect.stringMatching(/^POST \/v1\/accounts\/connected {1,2}account_/),
      expect.stringMatching(/^POST \/v1\/receivables {1,2}receivable_/),
    ]);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Run' }).waitFor();

    await page.locator('#query').focus();
    await page.locator('#plain').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Execute query' }).click();
    const result = page.locator('section.result-window .view-lines');
    await result.filter({ hasText: 'received' }).waitFor();
    await page.locator('#event-type').selectOption('file.created');
    await page.locator('#happen').click();
    await result.filter({ hasText: 'file.created' }).waitFor();
    await page.getByRole('button', { name: 'Stop query' }).click();
    await page.getByRole('button', { name: 'Execute query' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('whose connection is lost resumes where it was, and says so', async () => {
    // What happens while the page is away, before its next connection.
    let meanwhile: (() => Promise<unknown>) | undefined;
    const resumedAfter: (string | undefined)[] = [];
    const streams = new Set<Socket>();
    const network = http.createServer((request, response) => {
      const { headers, method, url, socket } = request;
      const isStream = headers.accept?.includes('text/event-stream') ?? false;
      const send = () => {
        const onward = http.request(`${world.origin}${url}`, { method: method!, headers }, (answered) => {
          response.writeHead(answered.statusCode!, answered.headers);
          answered.pipe(response);
        });
        response.on('close', () => onward.destroy());
        onward.on('error', () => response.destroy());
        request.pipe(onward);
      };
      if (!isStream) return send();
      streams.add(socket);
      resumedAfter.push(headers['last-event-id'] as string | undefined);
      void (meanwhile?.() ?? Promise.resolve()).then(send);
    });
    await new Promise<void>((resolve) => network.listen(0, '127.0.0.1', resolve));
    try {
      const { page } = await opened(withKey(), { from: `http://127.0.0.1:${(network.address() as AddressInfo).port}` });
      await page.locator('#bar').getByRole('button', { name: 'Make it happen' }).click();
      await Promise.all([
        page.waitForEvent('load'),
        page.getByRole('button', { name: 'Open the subscription' }).click(),
      ]);
      await page.getByRole('button', { name: 'Run' }).click();
      await answer(page, '"received": 0');
      const made = async () => platform.connectedUser();
      await made();
      await answer(page, '"type": "account.created"');
      const before = Number(/"received": (\d+)/.exec(await page.locator('#answer').innerText())![1]);
      meanwhile = made;
      for (const socket of streams) socket.destroy();
      await page.locator('#cost', { hasText: /^The connection was lost/ }).waitFor();
      await answer(page, '"reconnected": 1');
      const numbers = async () => {
        const text = await page.locator('#answer').innerText();
        return [...text.matchAll(/"number": (\d+)/g)].map(([, number]) => Number(number));
      };
      await expect.poll(async () => (await numbers()).length).toBeGreaterThan(before);
      const seen = await numbers();
      expect(seen).toEqual(seen.map((_, i) => seen[0]! - i));
      expect(resumedAfter[0]).toBeUndefined();
      expect(seen).toContain(Number(resumedAfter.at(-1)));
    } finally {
      network.closeAllConnections();
      network.close();
    }
  });

  it('that is refused shows why, and so does an event that the key cannot cause', async () => {
    const user = await given.directUser(1);
    const { page } = await opened(`/graphiql#key=${user.key}`);
    await page.locator('#bar').getByRole('button', { name: 'Make it happen' }).click();
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Open the subscription' }).click()]);
    await page.getByRole('button', { name: 'Run' }).click();
    await answer(page, '"errors"');
    await page.locator('#event-type').selectOption('checkout.completed');
    await page.locator('#happen').click();
    await page.locator('#happen-state', { hasText: 'Checkouts are part of Edition 2.' }).waitFor();
    await page.locator('#event-type').selectOption('webhook_endpoint.disabled');
    await page.locator('#happen').click();
    await page.locator('#happen-state', { hasText: 'The command line has one' }).waitFor();
    // Neither refusal came after an object had been made.
    expect((await user.get('/v1/accounts?type=partner')).body.data).toEqual([]);
    expect((await user.get('/v1/webhook_endpoints')).body.data).toEqual([]);
  });
});
