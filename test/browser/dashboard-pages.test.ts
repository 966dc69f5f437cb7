import fs from 'node:fs';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { csvLine } from '../../src/sites/dashboard/format/csv.js';
import { dayBefore, dayOf, startOfDay } from '../../src/sites/dashboard/format/days.js';
import { decimal, formatMoney, hundredths, sum } from '../../src/sites/dashboard/format/money.js';
import { eventWords } from '../../src/sites/dashboard/format/words.js';
import { DashboardLinks } from '../../src/server/dashboard/links.js';
import { developerPages, developerStories } from './dashboard-developers.js';
import { faults, faultsInThemes, useDashboard, type Visit } from './dashboard-fixture.js';
import { platformStories } from './dashboard-platform.js';
import { scale } from '../support/scale.js';

const dashboard = useDashboard();

const dashboardHeader = { 'x-tidegate-dashboard': '1' };
const post = (path: string, headers: Record<string, string>, body: object = {}) =>
  fetch(`${dashboard.origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const signIn = (credential: string) => post('/dashboard/session', { authorization: credential });
const cookieOf = (answer: Response) => answer.headers.get('set-cookie')!.split(';')[0]!;
const viewer = { query: '{ viewer { permission sessionRole } }' };

describe('a session of the dashboard', () => {
  it('is made by an API key, kept in a cookie that no script can read, and ended by signing out', async () => {
    const answer = await signIn(`Bearer ${dashboard.tenants[0]!.testKey}`);
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

  it('is shown to its page, which a browser without one learns without a refusal', async () => {
    const cookie = cookieOf(await signIn(`Bearer ${dashboard.tenants[0]!.testKey}`));
    const ask = (headers: Record<string, string>) => fetch(`${dashboard.origin}/dashboard/session`, { headers });
    const answers = await Promise.all([{}, { cookie }, dashboardHeader, { cookie, ...dashboardHeader }].map(ask));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 200]);
    expect(answers.map(({ headers }) => headers.get('cache-control'))).toEqual(Array(4).fill('no-store'));
    expect(await answers[3]!.text()).toBe('');
  });

  it('counts only with the header of the dashboard, and not for another origin', async () => {
    const cookie = cookieOf(await signIn(`Bearer ${dashboard.tenants[0]!.testKey}`));
    expect((await post('/graphql', { cookie }, viewer)).status).toBe(401);
    const elsewhere = { cookie, ...dashboardHeader, 'sec-fetch-site': 'same-site' };
    expect((await post('/graphql', elsewhere, viewer)).status).toBe(401);
    const twice = { cookie: `${cookie}; ${cookie}`, ...dashboardHeader };
    expect((await post('/graphql', twice, viewer)).status).toBe(401);
    const ofPage = { cookie, ...dashboardHeader, origin: 'https://evil.example' };
    expect((await post('/graphql', ofPage, viewer)).status).toBe(403);
    const own = { cookie, ...dashboardHeader, origin: dashboard.origin };
    expect((await post('/graphql', own, viewer)).status).toBe(200);
  });

  it('is not for the pages of CORS_ORIGINS, also where a browser sends no Sec-Fetch-Site', async () => {
    const origin = 'https://app.example.com';
    const open = await dashboard.world.another({ environment: { CORS_ORIGINS: origin } });
    const cookie = cookieOf(await signIn(`Bearer ${dashboard.tenants[0]!.testKey}`));
    const ask = (path: string, headers: Record<string, string>) =>
      fetch(`${open}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"query":"{ viewer { mode } }"}',
      });
    const sent = { cookie, ...dashboardHeader };
    expect((await ask('/graphql', sent)).status).toBe(200);
    for (const path of ['/graphql', '/v1/files', '/dashboard/session/end'])
      expect([path, (await ask(path, { ...sent, origin })).status]).toEqual([path, 403]);
    // The token of a session is for these pages.
    const token = cookie.replace('tidegate_session=', 'Bearer ');
    expect((await ask('/graphql', { authorization: token, origin })).status).toBe(200);
    await dashboard.world.endLast();
  });

  it('is refused for a wrong key, and cannot make another session', async () => {
    expect((await signIn('Bearer sk_test_wrong')).status).toBe(401);
    const cookie = cookieOf(await signIn(`Bearer ${dashboard.tenants[0]!.testKey}`));
    const again = await signIn(cookie.replace('tidegate_session=', 'Bearer '));
    expect(again.status).toBe(403);
  });

  it('is made by a link once, and not by one that has expired or that was changed', async () => {
    const code = dashboard.links.newCode(2);
    expect((await signIn(`Link ${code}`)).status).toBe(200);
    const again = await signIn(`Link ${code}`);
    expect(again.status).toBe(401);
    expect(await again.json()).toMatchObject({ errors: [{ message: expect.stringContaining('used before') }] });

    const late = new DashboardLinks(dashboard.world.pepper, dashboard.tenants, () => Date.now() - 16 * 60_000).newCode(
      2,
    );
    const refused = await signIn(`Link ${late}`);
    expect([refused.status, (await refused.json()).errors[0].message]).toEqual([
      401,
      'This link has expired. Open the start page of the gateway, at its address without a path: it has a new link.',
    ]);
    expect((await signIn(`Link ${dashboard.links.newCode(2).replace(/^2/, '1')}`)).status).toBe(401);
    // The first gateway of the world was started without links, like one that is not local.
    const closed = await fetch(`${dashboard.world.origin}/dashboard/session`, {
      method: 'POST',
      headers: { authorization: `Link ${dashboard.links.newCode(2)}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(closed.status).toBe(401);
  });
});

describe('the files of the dashboard', () => {
  it('are compressed and kept by browsers, and the page allows no other scripts', async () => {
    const page = await fetch(`${dashboard.origin}/dashboard/payments`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const [, script] = /src="(\/dashboard\/assets\/[^"]+\.js)"/.exec(await page.text())!;
    const asset = await fetch(`${dashboard.origin}${script}`, { headers: { 'accept-encoding': 'br' } });
    expect(asset.headers.get('content-encoding')).toBe('br');
    expect(asset.headers.get('cache-control')).toContain('immutable');
    for (const [address, { headers }] of [['/dashboard/payments', page] as const, [script!, asset] as const]) {
      // With a cache-control of its own, `fetch` does not ask for a new copy.
      const known = { 'if-none-match': headers.get('etag')!, 'accept-encoding': 'gzip', 'cache-control': 'max-age=0' };
      expect((await fetch(`${dashboard.origin}${address}`, { headers: known })).status).toBe(304);
    }
    expect((await fetch(`${dashboard.origin}/dashboard/assets/none.js`)).status).toBe(404);
  });

  it.each([
    ['index.html', 250],
    ['console/index.html', 100],
  ])('have for the first page of %s, compressed, at most %i KiB', (entry, kibibytes) => {
    const folder = 'dist/dashboard';
    interface Chunk {
      file: string;
      css?: string[];
      imports?: string[];
      isEntry?: boolean;
    }
    const manifest = JSON.parse(fs.readFileSync(`${folder}/manifest.json`, 'utf8')) as Record<string, Chunk>;
    const files = new Set<string>();
    const add = (name: string) => {
      const { file, css = [], imports = [] } = manifest[name]!;
      for (const each of [file, ...css]) files.add(each);
      imports.forEach(add);
    };
    add(entry);
    expect(files.size).toBeGreaterThan(1);
    const bytes = [...files].reduce((all, file) => all + fs.statSync(`${folder}/${file}.br`).size, 0);
    expect(bytes).toBeLessThan(kibibytes * 1024);
    // The other pages are loaded when they are opened; the other program of the build is none of them.
    const parts = Object.values(manifest).filter(({ isEntry }) => !isEntry);
    const others = parts.filter(({ file }) => file.endsWith('.js') && !files.has(file));
    expect(others.length).toBeGreaterThan(10);
    for (const { file } of others) expect(fs.statSync(`${folder}/${file}.br`).size).toBeLessThan(20 * 1024);
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

  it('is exported in cells that no spreadsheet runs as a formula', () => {
    expect(csvLine(['=1+1', '-12.50', '+44', '@a', 'a"b,c'])).toBe(`'=1+1,-12.50,+44,'@a,"a""b,c"\r\n`);
    expect(csvLine(['＝1', '＋a', '－a', '＠a', 'a;=1', 'a; "=1', 'a\t＝1', 'a;-12.50', 'a=1;b'])).toBe(
      `'＝1,'＋a,'－a,'＠a,a;'=1,"a; ""'=1",a\t'＝1,a;-12.50,a=1;b\r\n`,
    );
    // A spreadsheet that separates by semicolons or tabs sees several cells in one.
    const parts = fc.array(fc.oneof(fc.string(), fc.constantFrom(...'=+-@＝＋－＠;\t\r\n "1.')));
    fc.assert(
      fc.property(
        parts.map((some) => some.join('')),
        (text) => {
          const [cell = ''] = parse(csvLine([text]))[0] ?? [];
          for (const [i, part] of cell.split(/[;\t\r\n]/).entries())
            expect((i === 0 ? /^[=+\-@＝＋－＠]/ : /^[ "]*[=+\-@＝＋－＠]/).test(part)).toBe(
              (i === 0 ? /^[+-]\d+(\.\d+)?$/ : /^[ "]*[+-]\d+(\.\d+)?$/).test(part),
            );
        },
      ),
    );
  });
});

describe('the events of the dashboard', () => {
  it('say what happened to which object, and whether a payment was received or money taken back', () => {
    const said: [type: string, object: object, words: string][] = [
      ['deposit.completed', { amount: '1.00' }, 'Payment completed'],
      ['deposit.completed', { amount: '-1.00' }, 'Money taken back'],
      ['deposit.reversed', { amount: '-1.00' }, 'Money given back'],
      ['payment.completed', { type: 'transfer', amount: '-1.00' }, 'Transfer completed'],
      ['payment.completed', { type: 'adjustment' }, 'Adjustment completed'],
      ['refund.failed', {}, 'Refund failed'],
      ['dispute.opened', {}, 'Dispute opened'],
      ['payout.blocked', {}, 'Payout blocked'],
      ['checkout.late_payment', {}, 'Checkout late payment'],
    ];
    expect(said.map(([type, object]) => eventWords(type, object))).toEqual(said.map(([, , words]) => words));
  });
});

describe('the days of the dashboard', () => {
  it('begin at midnight of the time zone, also when its clocks change', () => {
    const zones = fc.constantFrom('UTC', 'Asia/Kolkata', 'America/New_York', 'Pacific/Auckland', 'Europe/Berlin');
    fc.assert(
      fc.property(zones, fc.integer({ min: 0, max: 3_000 }), (zone, days) => {
        const day = dayBefore('2030-01-01T12:00:00Z', 'UTC', days);
        const start = startOfDay(day, zone);
        expect(dayOf(start, zone)).toBe(day);
        expect(dayOf(new Date(Date.parse(start) - 1_000).toISOString(), zone)).toBe(dayBefore(start, zone, 1));
      }),
    );
  });
});

/** The ids of the objects of a list, from top to bottom. */
const idsOf = (page: Page) =>
  page
    .getByRole('row')
    .getByRole('link')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')!.split('/').at(-1)));

describe('a viewer of the dashboard', () => {
  it('signs in with a key, is told when it is wrong, and signs out', async () => {
    const { context, page, complaints } = await dashboard.visit('/dashboard');
    // Nothing was refused before something is asked for.
    await page.getByLabel('API key').waitFor();
    expect(complaints).toEqual([]);
    await page.getByLabel('API key').fill('sk_test_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('The API key is not valid').waitFor();
    await page.getByLabel('API key').fill(dashboard.tenants[1]!.testKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(await page.evaluate(() => document.cookie + JSON.stringify([localStorage, sessionStorage]))).not.toContain(
      '_test_',
    );
    await page.getByRole('complementary').getByText('Edition 2').waitFor();
    await page.getByText('no real money moves').waitFor();
    // Where the navigation is folded, whose account it is and its mode are beside its button.
    const name = (await page.getByRole('complementary').locator('.account-name').textContent())!;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('banner').getByText(name, { exact: true }).waitFor();
    await page.getByRole('banner').getByText('Test', { exact: true }).waitFor();
    await page.setViewportSize({ width: 1280, height: 900 });

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Tidegate' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in to Tidegate' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('does nothing for another account that signs in in another tab', async () => {
    const { context, page } = await dashboard.enter(1);
    await page.getByRole('link', { name: /^Users( \d+\+? waiting)?$/ }).click();
    await page.getByRole('link', { name: 'New user' }).click();
    await page.getByLabel('Legal name').fill('Meant for the first');
    const other = await context.newPage();
    await other.goto(`${dashboard.origin}/dashboard/sign-in#code=${dashboard.links.newCode(2)}`);
    await other.getByRole('complementary').getByText('Edition 2').waitFor();
    await page.getByRole('heading', { name: 'Another account has signed in' }).waitFor();
    expect(await page.getByRole('button').allTextContents()).toEqual(['Go on as that account']);
    await page.getByRole('button').click();
    await page.getByRole('complementary').getByText('Edition 2').waitFor();
    await context.close();
  });

  it('who may only read sees every page, and nothing that would change anything', async () => {
    const { body } = await dashboard
      .platform(2)
      .graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    const { secret } = body.data.createApiKey;
    // Its sign-in takes no idempotency key from the writes of the account.
    const signIn = (key: string, idempotency: string) =>
      fetch(`${dashboard.origin}/dashboard/session`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': idempotency },
        body: '{}',
      });
    expect((await signIn(secret, 'order-7')).status).toBe(200);
    const made = await dashboard.platform(2).post('/v1/sessions', { role: 'read' }, { 'idempotency-key': 'order-7' });
    expect(made.status).toBe(200);
    const { context, page, complaints, open, go } = await dashboard.visit('/dashboard');
    await page.getByLabel('API key').fill(secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    for (const [place, heading] of [
      ['payments', 'Payments'],
      ['receivables', 'Receivables'],
      ['checkouts', 'Checkouts'],
      ['payouts', 'Payouts'],
      ['users', 'Users'],
    ] as const) {
      await go(`/dashboard/${place}`);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await page.getByRole('table').first().waitFor();
      expect([place, await page.getByRole('link', { name: /^New / }).count()]).toEqual([place, 0]);
    }
    // An address that was kept shows no form either.
    for (const kind of ['receivable', 'checkout', 'user', 'customer']) {
      await open(`/dashboard/${kind}s/new`);
      await page.getByText('You may only read here').waitFor();
      expect([kind, await page.getByRole('form').count()]).toEqual([kind, 0]);
    }
    await go('/dashboard/developers/webhooks');
    await page.getByText('No endpoints yet').waitFor();
    expect(
      await page
        .getByRole('main')
        .getByText(/^(Add|Create|Send|Complete) /)
        .count(),
    ).toBe(0);
    await go('/dashboard/developers/keys');
    await page.getByRole('button', { name: 'Show the keys' }).waitFor();
    expect(await page.getByRole('button', { name: 'Create a key' }).count()).toBe(0);
    await go('/dashboard/payments?status=COMPLETED');
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    const changing = page
      .getByRole('main')
      .getByRole('button', { name: /reconcile|refund|dispute|reverse|complete|fail/i });
    expect(await changing.count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Test tools' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Move the clock' }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('finds payments, receivables and users by their texts, in place of other filters', async () => {
    const { page, complaints, open, go } = await dashboard.signIn(2);
    await open('/dashboard/settings');
    for (const [place, list, text] of [
      ['payments', 'deposits(scope: DESCENDANTS, ', 'Asha'],
      ['receivables', 'receivables(', 'INV'],
      ['users', 'accounts(', 'Lighthouse'],
    ] as const) {
      await go(`/dashboard/${place}`);
      await page.getByRole('table').first().waitFor();
      // The list is searched as the text is typed, and the field stays.
      await page.getByLabel('Search').pressSequentially(text, { delay: 5 });
      await page.waitForURL(`**/${place}?search=${text}`);
      const { body } = await dashboard
        .platform(2)
        .graph(`{ list: ${list} search: "${text}", first: 25) { nodes { id } } }`);
      const found = body.data.list.nodes.map(({ id }: { id: string }) => id);
      expect(found.length).toBeGreaterThan(0);
      await expect.poll(() => idsOf(page)).toEqual(found);
      await page.getByLabel('Search').pressSequentially(' nobody at all');
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.waitForURL((url) => url.pathname.endsWith(place) && url.search === '');
      await page.getByRole('table').first().waitFor();
      expect(await page.getByLabel('Search').inputValue()).toBe('');
    }

    // The users by their balances, in the currency of the edition.
    await go('/dashboard/users');
    await page.getByLabel('Sort').selectOption('Largest balance');
    await page.waitForURL('**/users?sort=balance');
    const { body } = await dashboard
      .platform(2)
      .graph('{ accounts(type: [USER], orderBy: BALANCE_DESC, orderCurrency: INR, first: 25) { nodes { id } } }');
    const ranked = body.data.accounts.nodes.map(({ id }: { id: string }) => id);
    expect(ranked.length).toBeGreaterThan(1);
    await expect.poll(() => idsOf(page)).toEqual(ranked);
    expect(complaints).toEqual([]);
  });

  it('has the pages of users for platforms alone', async () => {
    const { page, open } = await dashboard.signIn(2, 'Lighthouse Courses');
    for (const path of ['/dashboard/users', '/dashboard/users/new']) {
      await open(path);
      await page.getByText('There is nothing at this address').waitFor();
    }
  });

  it('has every cell of a list on a phone, and unused filters behind a button; the keyboard reaches all', async () => {
    const { page, complaints, open } = await dashboard.signIn(2);
    await open('/dashboard/payments?status=COMPLETED');
    // Escape closes a dialog, and the focus is again where it was.
    const acting = page.getByRole('button', { name: 'Act as a user' });
    await acting.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await acting.evaluate((button) => button === document.activeElement)).toBe(true);

    const table = page.getByRole('table', { name: 'Payments' });
    const first = table.getByRole('row').nth(1);
    const texts = async () => (await first.getByRole('cell').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    await first.waitFor();
    const desktop = await texts();
    await page.setViewportSize({ width: 320, height: 700 });
    // The status has moved below the amount.
    for (const text of desktop) expect((await texts()).join(' ')).toContain(text);
    expect(await first.locator('.status').filter({ visible: true }).count()).toBe(1);
    // The navigation is folded; whose account it is stays visible.
    const whose = await page.locator('.side .account-name').textContent();
    expect(await page.getByRole('banner').innerText()).toContain(whose);
    // A filter in use stays in sight.
    const [status, method] = [page.getByLabel('Status'), page.getByLabel('Method')];
    expect([await status.isVisible(), await method.isVisible()]).toEqual([true, false]);
    await page.getByRole('button', { name: 'Filters 1' }).press('Enter');
    expect(await method.isVisible()).toBe(true);
    await status.selectOption('');
    await page.waitForURL((url) => url.search === '');

    // The first stop is the way past the navigation; then arrows move from row to row.
    await page.reload();
    await first.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
    await first.getByRole('link').focus();
    await page.keyboard.press('ArrowDown');
    const second = table.getByRole('row').nth(2);
    expect(await second.getByRole('link').evaluate((link) => link === document.activeElement)).toBe(true);
    expect(await second.evaluate((row) => getComputedStyle(row).outlineStyle)).toBe('solid');
    expect(complaints).toEqual([]);
  });

  for (const edition of [1, 2]) {
    it(`of Edition ${edition} opens the link of the start, acts as a user, and reconciles a payment`, async () => {
      const { context, page, complaints } = await dashboard.enter(edition);
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      expect(new URL(page.url()).hash).toBe('');
      const balances = page.getByRole('region', { name: 'Balances' });
      await balances.getByText('Not reconciled').waitFor();

      await page.getByRole('button', { name: 'Act as a user' }).click();
      const user = edition === 1 ? 'Indigo Looms' : 'Lighthouse Courses';
      await page.getByRole('dialog').getByRole('button', { name: user }).click();
      await page.getByText(`Acting as ${user}`).waitFor();

      await page.getByRole('link', { name: /^Reconcile: \d+ payments to reconcile$/ }).click();
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
      await page.getByRole('region', { name: 'Counts towards' }).getByText('Matched').first().waitFor();
      await expect.poll(() => form.count()).toBe(0);
      expect(complaints).toEqual([]);
      await context.close();
    });
  }

  developerStories({
    signIn: () => dashboard.signIn(2),
    signInAlone: () => dashboard.signInAlone(2),
    origin: () => dashboard.origin,
    key: () => dashboard.tenants[1]!.testKey,
    otherKey: () => dashboard.tenants[0]!.testKey,
    faults,
  });
});

describe('a platform in the dashboard', () => {
  platformStories({
    signIn: () => dashboard.signIn(1),
    platform: () => dashboard.platform(1),
    user: () => dashboard.user(1, 'Indigo Looms'),
  });
});

/** The pages, with a text that is there when they have loaded. `:first` is the page of the first row of a list. */
const pages = [
  ['/', 'payments in the last 90 days'],
  ['/payments', 'Next page'],
  ['/receivables', 'Next page'],
  ['/receivables/new', 'Invoice document'],
  ['/receivables/:first', 'Receivable created'],
  ['/checkouts', 'Next page'],
  ['/checkouts/new', 'What is open'],
  ['/checkouts/:first', 'Checkout created'],
  ['/payouts', 'Next page'],
  ['/payouts/:first', 'Paid by'],
  ['/balance', 'Closing balance'],
  ['/customers', 'Asha Traders'],
  ['/customers/new', 'Legal form'],
  ['/users', 'Cedar Books'],
  ['/users/new', 'Legal form'],
  ['/users/:first', 'Bank account for payouts'],
  ['/settings', 'Time zone'],
  ...developerPages,
] as const;

/** The pages of a user of Edition 1, as far as they differ from those. */
const pagesOfUser = [
  ['/', 'Next payout'],
  ['/payments?show=unreconciled', 'Exact'],
  ['/payments?show=disputes', 'Opened'],
  ['/payments/:first', 'Timeline'],
  ['/payments?status=PROCESSING', 'No payment matches'],
  ['/receivables/new', 'Whom the invoice bills'],
  ['/receivables/:first', 'Test tools'],
  ['/payouts', 'Next page'],
  ['/payouts/:first', 'Print statement'],
  ['/balance', 'Next page'],
  ['/customers', 'Maison Claire'],
  ['/customers/:first', 'Kite & Barrel'],
] as const;

describe.each([
  ['a platform', pages, () => dashboard.signIn(2)],
  ['a user', pagesOfUser, () => dashboard.signIn(1, 'Indigo Looms')],
] as const)('the page of the dashboard for %s at', (_, places, sit) => {
  let visit: Visit;
  beforeAll(async () => {
    visit = await sit();
    await visit.open('/dashboard/settings');
    await visit.page.getByRole('heading', { name: 'Settings' }).waitFor();
  });

  for (const [path, ready] of places) {
    it(`${path} has no fault in both themes`, async () => {
      const { page, complaints, open, go } = visit;
      // The long form loads each page anew, too.
      await (scale.whole ? open : go)(`/dashboard${path.replace('/:first', '')}`);
      if (path.endsWith('/:first')) await page.getByRole('table').getByRole('link').first().click();
      await page.getByText(ready).first().waitFor();
      expect(await faultsInThemes(page)).toEqual([]);
      expect(complaints).toEqual([]);
    });
  }
});
