import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { DashboardLinks } from '../../src/server/dashboard/links.js';
import { type Demo, demos } from '../../src/server/demo/demo.js';
import { formatMoney } from '../../src/sites/dashboard/format/money.js';
import { browser } from '../support/browser.js';
import { scale } from '../support/scale.js';
import { axeFaults } from '../support/axe.js';
import { receivableBody } from '../support/bodies.js';
import { completeDeposit, must, Speaker, useWorld, type World } from '../support/world.js';

/** A browser that has opened the dashboard. */
export interface Visit {
  context: BrowserContext;
  page: Page;
  /** Requests to other hosts, errors of the console, and violations of the content security policy. */
  complaints: string[];
  /** Opens an address of the dashboard in the same page. */
  open(address: string): Promise<void>;
  /** Opens an address within the page that is open, as its links do: no document is loaded. */
  go(address: string): Promise<void>;
}

/** The dashboard of a gateway with the demo, and browsers that visit it. One gateway and one browser per test file. */
export class Dashboard {
  chromium: Browser;
  tenants: Demo[];
  links: DashboardLinks;
  /** A gateway like that of `npm start`, which has links to the dashboard. */
  origin: string;

  /** One page for each edition, whose sessions are those of the platforms. */
  readonly #visits = new Map<1 | 2, Promise<Visit>>();

  constructor(readonly world: World) {}

  /** A client with the key of the demo platform of an edition. */
  platform(edition: 1 | 2): Speaker {
    const { accountId, testKey } = this.tenants[edition - 1]!;
    return new Speaker(this.world, accountId, testKey, edition);
  }

  /** A client that acts as a user of the demo. */
  async user(edition: 1 | 2, nickname: string): Promise<Speaker> {
    const { body } = await this.platform(edition).graph(
      '{ accounts(type: [USER], first: 10) { nodes { id nickname } } }',
    );
    const found = body.data.accounts.nodes.find((account: { nickname: string }) => account.nickname === nickname);
    return new Speaker(this.world, found.id, this.platform(edition).key, edition, { 'on-behalf-of': found.id });
  }

  /** Opens an address without a session. */
  visit(address: string): Promise<Visit> {
    return visit(this, address);
  }

  /**
   * The page that the tests of a file share: of the platform of an edition, or of one of its users. It shows nothing
   * until an address is opened, which loads the dashboard anew. A test that ends its session, or that changes the
   * browser in a way that lasts, signs in alone: a context and a sign-in cost more processor time than most
   * tests.
   */
  async signIn(edition: 1 | 2, nickname?: string): Promise<Visit> {
    const known = this.#visits.get(edition) ?? this.#signedIn(edition);
    this.#visits.set(edition, known);
    const visit = await known;
    await this.#actAs(visit, edition, nickname);
    await visit.page.setViewportSize(desktop);
    await visit.page.emulateMedia({ media: null, colorScheme: 'light' });
    visit.complaints.length = 0;
    return visit;
  }

  /** The same in a browser context of its own. */
  async signInAlone(edition: 1 | 2, nickname?: string): Promise<Visit> {
    const visit = await this.#signedIn(edition);
    await this.#actAs(visit, edition, nickname);
    return visit;
  }

  /** Has the tab act as a user from the next document on, or as the platform. */
  async #actAs({ page }: Visit, edition: 1 | 2, nickname: string | undefined): Promise<void> {
    const actingAs = nickname === undefined ? null : (await this.user(edition, nickname)).id;
    await page.evaluate(
      (id) => (id === null ? sessionStorage.removeItem('acting-as') : sessionStorage.setItem('acting-as', id)),
      actingAs,
    );
  }

  async #signedIn(edition: 1 | 2): Promise<Visit> {
    const { headers } = await fetch(`${this.origin}/dashboard/session`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.tenants[edition - 1]!.testKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    const [name = '', value = ''] = headers.get('set-cookie')!.split(';')[0]!.split('=');
    const made = await newVisit(this, true);
    await made.context.addCookies([{ name, value, url: this.origin, httpOnly: true, sameSite: 'Strict' }]);
    // A small page of the same origin: whom the dashboard acts as is kept by the browser tab.
    await made.open('/healthz');
    return made;
  }

  /** Opens the dashboard by the one-time link of an edition. */
  enter(edition: number): Promise<Visit> {
    return this.visit(`/dashboard/sign-in#code=${this.links.newCode(edition)}`);
  }
}

const desktop = { width: 1440, height: 1000 };

/** Changes the documents that a page sends, so that the gateway refuses a part of them. */
export const changeDocuments = (page: Page, change: (query: string) => string) =>
  page.route('**/graphql', (route, request) => {
    const asked = request.postDataJSON() as { query?: string } | null;
    if (!asked?.query) return route.fallback();
    return route.continue({ postData: JSON.stringify({ ...asked, query: change(asked.query) }) });
  });

/** A change by which the totals of deposits are refused: their range ends before it begins. */
export const refusedTotals = (query: string): string =>
  query.replace(/from: \$from\b([^]*?)to: \$to\b/, 'from: $$to$1to: $$from');

/** Opens an address of a gateway in a browser without a session. */
export async function visit(served: { chromium: Browser; origin: string }, address: string): Promise<Visit> {
  const made = await newVisit(served);
  await made.open(address);
  return made;
}

/** A browser that has opened nothing yet; it is `signedIn` if it gets a session without asking for one. */
async function newVisit({ chromium, origin }: { chromium: Browser; origin: string }, signedIn = false): Promise<Visit> {
  const context = await chromium.newContext({
    viewport: desktop,
    colorScheme: 'light',
    timezoneId: 'UTC',
    locale: 'en-US',
    // Colours that are still changing are not those of the theme.
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(300_000);
  const complaints: string[] = [];
  const page = await context.newPage();
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol !== 'blob:' && host !== new URL(origin).host) complaints.push(request.url());
  });
  let asked = signedIn;
  page.on('request', (request) => {
    asked ||= /^\/(dashboard|operator)\/session/.test(new URL(request.url()).pathname) && request.method() === 'POST';
  });
  page.on('console', (message) => {
    // The browser reports refused sign-ins and forms, which have the status 401 or 400, by itself. A page that was only
    // opened has sent none.
    const refused = asked && /status of 40[01]/.test(message.text());
    if (['error', 'warning'].includes(message.type()) && !refused) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  const open = async (path: string) => void (await page.goto(`${origin}${path}`));
  const go = async (address: string) => {
    await page.evaluate((to) => history.pushState(null, '', to), address);
    await page.locator('main h1').first().waitFor();
    // Not at each frame, which is as often as the page is drawn.
    await page.waitForFunction(() => document.querySelector('.skeleton') === null, undefined, { polling: 50 });
  };
  return { context, page, complaints, open, go };
}

/** Starts the gateway and the browser before the tests of a file, and ends them after. */
export function useDashboard(): Dashboard {
  const world = useWorld({ demo: true, environment: { REQUEST_LOG_DAYS: '7' } });
  const dashboard = new Dashboard(world);
  beforeAll(async () => {
    dashboard.tenants = await demos(world.operator, world.pepper);
    dashboard.links = new DashboardLinks(world.pepper, dashboard.tenants);
    dashboard.origin = await world.another({ links: dashboard.links });
    dashboard.chromium = await browser();
  });
  afterAll(() => dashboard.chromium?.close());
  // What the pages showed says more than that something was not there.
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    for (const page of dashboard.chromium.contexts().flatMap((context) => context.pages()))
      console.error(`${page.url()} shows:\n${await page.locator('body').innerText({ timeout: 5_000 }).catch(String)}`);
  });
  return dashboard;
}

/** The rules of axe that can find on a narrow screen what they do not find on a desktop. */
const narrowRules = ['color-contrast', 'target-size', 'scrollable-region-focusable', 'aria-hidden-focus'];

/** What axe finds on the page by all its rules, and what is wrong with it at 320 px. */
export async function faults(page: Page): Promise<string[]> {
  return [...(await desktopFaults(page)), ...(await narrowFaults(page, narrowRules))];
}

/**
 * The same in both themes. In the short form a page is either on a desktop in light or at 320 px in dark, which its
 * address decides; the rules for narrow screens include the contrast of colours. Its width and the sizes of its targets
 * at 320 px are always checked.
 */
export async function faultsInThemes(page: Page): Promise<string[]> {
  const onDesktop = new URL(page.url()).pathname.length % 2 === 0;
  if (!scale.whole) {
    await page.emulateMedia({ colorScheme: onDesktop ? 'light' : 'dark' });
    return [
      ...(onDesktop ? await desktopFaults(page) : []),
      ...(await narrowFaults(page, onDesktop ? [] : narrowRules)),
    ];
  }
  await page.emulateMedia({ colorScheme: 'light' });
  const found = await faults(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...found, ...(await desktopFaults(page, ['color-contrast'])), ...(await narrowFaults(page, narrowRules))];
}

/** What axe finds by all its rules, or by some. */
async function desktopFaults(page: Page, runOnly?: string[]): Promise<string[]> {
  return axeFaults(page, runOnly ? { runOnly } : { rules: { 'target-size': { enabled: true } } });
}

/** What axe finds at 320 px; whether the page is wider than a phone; and what is too small there for a finger. */
async function narrowFaults(page: Page, runOnly: string[]): Promise<string[]> {
  const size = page.viewportSize()!;
  await page.setViewportSize({ width: 320, height: 700 });
  const found = runOnly.length > 0 ? (await axeFaults(page, { runOnly })).map((fault) => `narrow: ${fault}`) : [];
  found.push(...(await page.evaluate(wideOrSmall)));
  await page.setViewportSize(size);
  return found;
}

/** Runs in the page: whether it scrolls sideways, and its buttons, links and inputs that are less than 44 px high. */
function wideOrSmall(): string[] {
  const wide = document.documentElement.scrollWidth > window.innerWidth ? ['scrolls sideways'] : [];
  const targets =
    'button, .button, select, summary, nav a, main a, input:not([type="checkbox"], [type="radio"], [type="file"])';
  const small = [...document.querySelectorAll(targets)].filter((target) => {
    const { height } = target.getBoundingClientRect();
    // The row of a list is the target of its link.
    if (target.matches('.linked td:first-child > a')) return false;
    return target.checkVisibility({ visibilityProperty: true }) && height > 1 && height < 43.5;
  });
  return [...wide, ...small.map((target) => `small: ${target.outerHTML.slice(0, 120)}`)];
}

/** The rows of a table of a page. */
export const rowsOf = (page: Page, table: string) => page.getByRole('table', { name: table }).locator('tbody tr');

/** The words of up to ten letters in a table that are broken into parts, and its cells that go beyond its frame. */
export const brokenWords = (table: Locator) =>
  table.evaluate((element) => {
    const frame = element.parentElement!.getBoundingClientRect();
    const words = [...element.querySelectorAll('th, td')].flatMap((cell) => {
      const beyond = Math.round(cell.getBoundingClientRect().right - frame.right);
      const found = beyond > 0 ? [`${cell.textContent}: ${beyond} px beyond the frame`] : [];
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        for (const { index, 0: word } of text.textContent!.matchAll(/[\p{L}\p{N}_]{2,10}(?![\p{L}\p{N}_])/gu)) {
          // The rest of a word that is longer than that.
          if (/[\p{L}\p{N}_]$/u.test(text.textContent!.slice(0, index))) continue;
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word);
        }
      }
      return found;
    });
    return [...new Set(words)];
  });

/** An amount as the dashboard shows it. */
export const asShown = (money: { amount: string; currency: string }) => `${formatMoney(money)} ${money.currency}`;

/** Invoices, each with a payment that names it and pays it. */
export async function trade(
  user: Speaker,
  prefix: string,
  count: number,
): Promise<{ invoices: string[]; payments: string[] }> {
  const made = { invoices: [] as string[], payments: [] as string[] };
  for (let i = 1; i <= count; i++) {
    const amount = `${100 + i}.0${i % 10}`;
    const { id } = await must(
      user.post('/v1/receivables', receivableBody({ amount, reference_number: `${prefix}-${i}` })),
    );
    const paid = await must(
      user.post('/v1/deposits', {
        ...{ amount, currency: 'USD', payment_method: 'domestic_wire', statement_descriptor: `${prefix} ${i} thanks` },
      }),
    );
    await completeDeposit(user, paid.id);
    made.invoices.push(id);
    made.payments.push(paid.id);
  }
  return made;
}
