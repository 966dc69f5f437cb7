import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { browser } from '../support/browser.js';
import { shop } from '../support/checkout-fixture.js';
import { type World } from '../support/world.js';

/** What the pages of a visit do. */
export interface Seen {
  /** Every request to a host other than the gateway and the shop. The browser finds no other host. */
  foreign: string[];
  /** The requests to the shop when the payer returns. */
  returns: string[];
  /** The forms that were sent: the last part of each path. */
  posts: string[];
  /** The errors that the page logged, and what the browser's policy blocked. */
  complaints: string[];
}

export interface Visit extends Seen {
  context: BrowserContext;
  page: Page;
  leave(): Promise<void>;
}

/** `own`: for a test that changes the context, by routes, a clock or permissions. Its context serves no other visit. */
export type VisitOptions = BrowserContextOptions & { own?: boolean };

export interface Tab {
  context: BrowserContext;
  page: Page;
  seen: Seen;
}

const nothing = (): Seen => ({ foreign: [], returns: [], posts: [], complaints: [] });

/**
 * A page of a context, for which the shop answers. Only requests to the shop are intercepted: a route of the context
 * would intercept each request, and end the browser's cache.
 */
export async function pageIn(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const body = Buffer.from('<title>The shop</title><link rel="icon" href="data:,">').toString('base64');
  const responseHeaders = [{ name: 'content-type', value: 'text/html' }];
  session.on('Fetch.requestPaused', ({ requestId }) => {
    // A page that is closed meanwhile needs no answer.
    session.send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders, body }).catch(() => {});
  });
  await session.send('Fetch.enable', { patterns: [{ urlPattern: `${shop}/*` }] });
  return page;
}

export const state = (page: Page) => page.locator('main').getAttribute('data-state');
export const reach = (page: Page, name: string) => page.locator(`main[data-state^="${name}"]`).waitFor();
export const heading = async (page: Page) => (await page.locator('h1').innerText()).replaceAll(/\s+/g, ' ');
/** Shows the form of a method, if the page has several. */
export const choose = async (page: Page, way: 'upi' | 'cards') => {
  const tab = page.locator(`label[for="way-${way}"]`);
  if (await tab.count()) await tab.click();
};

export async function fill(page: Page, number: string): Promise<void> {
  await choose(page, 'cards');
  await page.getByLabel('Card number').fill(number);
  await page.getByLabel('Expiry date').fill('12/34');
  await page.getByLabel('Security code').fill('737');
  await page.getByLabel('Name on the card').fill('Asha Rao');
}
export const payByCard = (page: Page) => page.getByRole('button', { name: /^Pay ₹/ });
export const payByUpi = (page: Page) => page.getByRole('button', { name: 'Pay with UPI' });
export const payTheCode = (page: Page) => page.getByRole('button', { name: 'Pay this code' });

/** Payers in a browser: pages of checkouts, and what was seen in them. */
export function payersIn(world: World) {
  let chromium: Browser;
  /** The tabs that visits have left, by their options. A new one costs as much processor time as four pages. */
  const left = new Map<string, Tab[]>();

  beforeAll(async () => {
    chromium = await browser(['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']);
  });
  afterAll(() => chromium?.close());

  /** A separate browser; the payer returns to a shop of the test. */
  async function tabOf(options: BrowserContextOptions): Promise<Tab> {
    const context = await chromium.newContext(options);
    context.setDefaultTimeout(300_000);
    const tab = { context, seen: nothing() } as Tab;
    const { host } = new URL(world.origin);
    context.on('page', (page) => {
      page.on('websocket', (socket) => tab.seen.foreign.push(socket.url()));
      page.on('request', (request) => {
        const url = request.url();
        if (url.startsWith(shop)) tab.seen.returns.push(url);
        else if (/^(https?|wss?):/.test(url) && new URL(url).host !== host) tab.seen.foreign.push(url);
        const post = request.method() === 'POST' && new URL(url).pathname.split('/').slice(3).join('/');
        // The page also says that it was opened, which is no form.
        if (post && post !== 'opened') tab.seen.posts.push(post);
      });
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) tab.seen.complaints.push(message.text());
      });
      page.on('pageerror', (error) => tab.seen.complaints.push(error.message));
    });
    tab.page = await pageIn(context);
    return tab;
  }

  /** A tab with these options that no other visit has. What moves does not, unless the options say so. */
  async function visit({ own = false, ...given }: VisitOptions = {}): Promise<Visit> {
    const options: BrowserContextOptions = {
      viewport: { width: 1280, height: 900 },
      reducedMotion: 'reduce',
      ...given,
    };
    const known = JSON.stringify(options);
    const tab = (own ? undefined : left.get(known)?.pop()) ?? (await tabOf(options));
    const { context, page } = tab;
    tab.seen = nothing();
    const leave = async () => {
      if (own) return context.close();
      for (const other of context.pages()) if (other !== page) await other.close();
      // The page that is left reports nothing any more.
      await page.goto(`${world.origin}/healthz`);
      await page.setViewportSize(options.viewport!);
      left.set(known, [...(left.get(known) ?? []), tab]);
    };
    return { context, page, leave, ...tab.seen };
  }
  return { visit };
}
