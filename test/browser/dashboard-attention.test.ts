import { beforeAll, describe, expect, it } from 'vitest';
import { formatMoney } from '../../src/sites/dashboard/format/money.js';
import { configure } from '../api/payout-fixture.js';
import { receivableBody } from '../support/bodies.js';
import { advanceClock } from '../support/jobs.js';
import { completeDeposit, eventually, givenIn, must, payoutAddress, type Speaker } from '../support/world.js';
import { faults, rowsOf, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const name = 'Indigo Looms';

/** The next payout of the user, which the sandbox settles a minute after it was made. */
async function nextPayout(user: Speaker): Promise<any> {
  await advanceClock(dashboard.platform(1), 86_400);
  const [payout] = await eventually(
    async () => (await must(user.get('/v1/payouts?status=processing&limit=1'))).data,
    (found) => found.length > 0,
  );
  return payout;
}

/** The dashboard of a user of its own, which has nothing but what its test has made. */
async function signedIn(alone: Speaker) {
  const visit = await dashboard.visit('/dashboard');
  await visit.page.getByLabel('API key').fill(alone.key);
  await visit.page.getByRole('button', { name: 'Sign in' }).click();
  await visit.page.getByRole('heading', { name: 'Home' }).waitFor();
  return visit;
}

/** A completed payment to such a user, and the invoice that it names. */
async function paid(alone: Speaker, number: string, amount: string) {
  const parts = { reference_number: number, amount, currency: 'INR' };
  const { id: receivable } = await must(alone.post('/v1/receivables', receivableBody(parts)));
  const sent = { amount, currency: 'INR', to: { account_id: alone.id }, payment_method: 'upi' };
  // The sandbox issues the address of the user in steps of some seconds.
  const { id: deposit } = await must(
    eventually(
      () => alone.post('/v1/deposits', { ...sent, statement_descriptor: number }),
      ({ status }) => status !== 402,
    ),
  );
  await completeDeposit(alone, deposit);
  return { deposit, receivable };
}

/** A payout of the user that the bank does not take; its account is then put on hold. */
let failed: any;
let user: Speaker;
beforeAll(async () => {
  user = await dashboard.user(1, name);
  const payout = await nextPayout(user);
  failed = await must(user.post(`/v1/test_helpers/payouts/${payout.id}/fail`, { reason_code: 'account_closed' }));
});

describe('what needs attention', () => {
  it('is the first card of the home of a user, with the way to each, and counts in the navigation', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, name);
    await open('/dashboard');
    const card = page.getByRole('region', { name: 'Needs attention' });
    const first = card.getByRole('listitem').filter({ hasText: 'Payout failed' });
    await first.waitFor();
    expect(await page.locator('main .card').first().getByRole('heading').first().textContent()).toBe('Needs attention');
    expect(await first.textContent()).toContain(formatMoney(failed));
    expect(await first.textContent()).toContain('Urgent');
    await card.getByText(/payments? to reconcile/).waitFor();
    await card.getByText(/invoices? overdue/).waitFor();
    expect(await card.textContent()).not.toContain(name);
    const place = page.getByRole('link', { name: /^Payouts 1 waiting$/ });
    await place.waitFor();
    await page.getByRole('link', { name: /^Receivables \d+ waiting$/ }).waitFor();
    expect(await faults(page)).toEqual([]);
    await first.getByRole('link', { name: /^See why: Payout failed$/ }).click();
    await page.waitForURL(`**/payouts/${failed.id}`);
    expect(complaints).toEqual([]);
  });

  it('says of a failed payout what happened, where the money is, what to check and when it goes again', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, name);
    await open(`/dashboard/payouts/${failed.id}`);
    const said = page.getByRole('region', { name: 'What happened' });
    await said.getByText(/^This payout did not arrive/).waitFor();
    await said.getByText('The bank account is closed.').waitFor();
    await said.getByText(/went back to what is available\. It stays in INR\.$/).waitFor();
    await said.getByText(/….?\d{4}/).waitFor();
    await said.getByRole('link', { name: 'Change the bank account' }).waitFor();
    await said.getByText(/^With the next payout/).waitFor();
    await page.getByText('No invoice was settled').waitFor();
    expect(await faults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('names the user in the row of a platform, and opens it as that user', async () => {
    const { page, complaints, open } = await dashboard.signIn(1);
    await open('/dashboard');
    const card = page.getByRole('region', { name: 'Needs attention' });
    const row = card.getByRole('listitem').filter({ hasText: 'Payout failed' });
    await row.getByText(name).waitFor();
    expect(await faults(page)).toEqual([]);
    await row.getByRole('button', { name: `See why: Payout failed, ${name}` }).click();
    await page.getByText(`Acting as ${name}`).waitFor();
    await page.waitForURL(`**/payouts/${failed.id}`);
    await page.getByRole('region', { name: 'What happened' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('is a column of the users of a platform, which are in its order where that is asked for', async () => {
    const { page, complaints, open } = await dashboard.signIn(1);
    await open('/dashboard/users');
    const rows = page.getByRole('table', { name: 'Users' }).locator('tbody tr');
    const own = rows.filter({ hasText: name });
    await own.getByText('Dispute to answer').waitFor();
    await own.getByText(/^\$[\d,.]+ USD to reconcile$/).waitFor();
    await rows
      .filter({ hasText: 'Deccan' })
      .getByText(/^\d+ details? missing$/)
      .waitFor();
    expect(await faults(page)).toEqual([]);
    await page.getByLabel('Sort').selectOption('Needs attention');
    await expect.poll(() => rows.first().textContent()).toContain(name);
    await page.waitForURL('**/users?sort=needs');
    expect(complaints).toEqual([]);
  });

  it('says that more waits where it has as many rows as are read', async () => {
    const { page, complaints, open, go } = await dashboard.signIn(1);
    const most = { Home: 50, UsersInNeed: 100 } as const;
    await page.route('**/graphql', async (route, request) => {
      const asked = /query (Home|UsersInNeed)\b/.exec(request.postData() ?? '')?.[1] as keyof typeof most | undefined;
      if (!asked) return route.fallback();
      const answer = await (await route.fetch()).json();
      const { attention } = answer.data.viewer.account;
      const [item] = attention.items.filter(({ account }: any) => account.type !== 'PLATFORM');
      attention.items = Array.from({ length: most[asked] }, (_, i) => {
        return { ...item, account: { ...item.account, id: `account_${String(i).padStart(32, '0')}` } };
      });
      return route.fulfill({ json: answer });
    });
    await open('/dashboard');
    const card = page.getByRole('region', { name: 'Needs attention' });
    await card.getByRole('button', { name: 'Show the first 50' }).waitFor();
    await card.getByText('More waits than these 50.').waitFor();
    expect(await faults(page)).toEqual([]);
    await card.getByRole('link', { name: 'Users by what they need' }).click();
    await page.waitForURL('**/users?sort=needs');
    await page.getByText(/^More waits than is shown/).waitFor();
    await expect.poll(() => page.getByRole('table', { name: 'Users' }).locator('tbody tr').count()).toBe(100);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await go('/dashboard');
    await card.getByRole('listitem').first().waitFor();
    expect(await page.getByText('More waits').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('says what blocks the payouts of a user, and leads to its payouts', async () => {
    const platform = dashboard.platform(1);
    await configure(platform, { enabled: false }, user.id);
    const { page, complaints, open, go } = await dashboard.signIn(1, name);
    const row = page.getByRole('listitem').filter({ hasText: 'Payouts blocked' });
    await open('/dashboard');
    await row.getByText('The platform has disabled payouts', { exact: true }).waitFor();
    expect(await row.textContent()).toContain(formatMoney(failed));
    await page.getByRole('link', { name: /^Payouts 2 waiting$/ }).waitFor();
    expect(await faults(page)).toEqual([]);
    await row.getByRole('link', { name: 'See payouts: Payouts blocked' }).click();
    await page.getByText('Nothing is paid out: the platform has disabled payouts.').waitFor();
    await configure(platform, { enabled: true }, user.id);
    await go('/dashboard');
    await page.getByRole('link', { name: /^Payouts 1 waiting$/ }).waitFor();
    expect(await row.count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('names the invoice that one payment may pay, and of several that of the oldest', async () => {
    const alone = await givenIn(dashboard.world).directUser(2);
    await paid(alone, 'BEST-1', '77.10');
    const { context, page, complaints, go } = await signedIn(alone);
    const row = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem');
    await row.filter({ hasText: '1 payment to reconcile' }).getByText('Best match BEST-1').waitFor();
    expect(await faults(page)).toEqual([]);
    await advanceClock(alone, 60);
    await paid(alone, 'BEST-2', '78.20');
    await go('/dashboard');
    await row.filter({ hasText: '2 payments to reconcile' }).getByText('The oldest may pay BEST-1').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('leads to all payouts that did not arrive, those that failed and those that were returned', async () => {
    const alone = await givenIn(dashboard.world).directUser(2);
    await payoutAddress(alone);
    const payouts: string[] = [];
    for (const [number, amount] of [
      ['GONE-1', '70.00'],
      ['GONE-2', '80.00'],
    ] as const) {
      const { deposit, receivable } = await paid(alone, number, amount);
      await must(alone.post(`/v1/deposits/${deposit}/reconcile`, { receivables: [{ id: receivable, amount }] }));
      await advanceClock(alone, 86_400);
      const [{ id }] = await eventually(
        async () => (await must(alone.get('/v1/payouts?limit=1'))).data,
        ([newest]) => newest && !payouts.includes(newest.id),
      );
      payouts.push(id);
    }
    const [first, second] = payouts;
    await eventually(
      async () => (await must(alone.get(`/v1/payouts/${first}`))).status,
      (status) => status === 'completed',
    );
    await must(alone.post(`/v1/test_helpers/payouts/${first}/return`));
    await must(alone.post(`/v1/test_helpers/payouts/${second}/fail`));
    const { context, page, complaints } = await signedIn(alone);
    const row = page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem');
    await row.getByRole('link', { name: 'See why: 2 payouts did not arrive' }).click();
    const rows = rowsOf(page, 'Payouts');
    await expect.poll(() => rows.count()).toBe(2);
    expect((await rows.allTextContents()).map((text) => /Failed|Returned/.exec(text)?.[0]).toSorted()).toEqual([
      ...['Failed', 'Returned'],
    ]);
    expect(await page.getByLabel('Status').locator('option:checked').textContent()).toBe('Not arrived');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('says since when an account is on hold, everywhere', async () => {
    const helper = (verb: string) => dashboard.platform(1).post(`/v1/test_helpers/accounts/${user.id}/${verb}`);
    expect((await helper('hold')).status).toBe(200);
    try {
      const { page, complaints, open, go } = await dashboard.signIn(1, name);
      await open('/dashboard');
      await page.getByText(/^This account has been on hold since .*\. Payouts wait until the operator/).waitFor();
      const card = page.getByRole('region', { name: 'Needs attention' });
      await card.getByText('On hold').waitFor();
      expect(await faults(page)).toEqual([]);
      await page
        .getByRole('region', { name: 'Next payout' })
        .getByText(/^Nothing is paid out: the account has been on hold since \w+ \d+\.$/)
        .waitFor();
      await go(`/dashboard/payouts/${failed.id}`);
      const said = page.getByRole('region', { name: 'What happened' });
      await said.getByText(/^Nothing is paid out: the account has been on hold since/).waitFor();
      expect(complaints).toEqual([]);
    } finally {
      expect((await helper('verify')).status).toBe(200);
    }
  });

  it('leads from a failed payout to the one that took its money', async () => {
    const next = await nextPayout(user);
    const { page, complaints, open } = await dashboard.signIn(1, name);
    await open(`/dashboard/payouts/${failed.id}`);
    const said = page.getByRole('region', { name: 'What happened' });
    await said.getByText('It went out again with').waitFor();
    await said.getByRole('link', { name: 'another payout' }).click();
    await page.waitForURL(`**/payouts/${next.id}`);
    expect(complaints).toEqual([]);
  });

  it.each([
    ['is one calm line where nothing waits', 0],
    ['is a list of rows where something waits', 2],
  ])('%s, and moves nothing as it arrives', async (_, count) => {
    const { page, complaints, open } = await dashboard.signIn(1, name);
    await page.route('**/graphql', async (route, request) => {
      if (!/query Home\b/.test(request.postData() ?? '')) return route.fallback();
      const answer = await (await route.fetch()).json();
      const { attention } = answer.data.viewer.account;
      attention.items = attention.items.slice(0, count);
      expect(attention.items).toHaveLength(count);
      return route.fulfill({ json: answer });
    });
    await page.addInitScript(() => {
      const shifts: number[] = [];
      Object.assign(globalThis, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await open('/dashboard');
    const card = page.getByRole('region', { name: 'Needs attention' });
    if (count === 0) await page.getByText('Nothing needs your attention.').waitFor();
    else await expect.poll(() => card.getByRole('listitem').count()).toBe(count);
    await page.getByRole('region', { name: 'Latest events' }).getByRole('listitem').first().waitFor();
    const shifts: number[] = await page.evaluate(() => (globalThis as any).shifts);
    expect(shifts.reduce((sum, each) => sum + each, 0)).toBeLessThan(0.02);
    expect(complaints).toEqual([]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it.each([
    ['draft', undefined, 'the account is not activated'],
    ['verifying', 'in verification', undefined],
    ['hold', 'on hold', undefined],
    ['deactivated', 'deactivated', undefined],
  ])('says why nothing is paid out for an account that is %s, on each page of payouts', async (...row) => {
    const [status, words, reason] = row;
    const nickname = `Stopped as ${status}`;
    const { id } = await dashboard.platform(1).connectedUser({ nickname });
    const { body } = await user.graph('{ viewer { now } }');
    const since = new Date(Date.parse(body.data.viewer.now) - 3 * 86_400_000);
    // The sandbox would decide a verification within a second.
    await dashboard.world.sql`update account set status = ${status}, status_since = ${Math.floor(+since / 1000)}
      where id = ${id} and not livemode`;
    const day = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' }).format(since);
    const said = `Nothing is paid out: ${reason ?? `the account has been ${words} since ${day}`}.`;
    const { page, complaints, open } = await dashboard.signIn(1, nickname);
    for (const [path, card] of [
      ['', 'Next payout'],
      ['/settings/payouts', 'Next payout'],
      ['/payouts', 'Coming'],
    ] as const) {
      await open(`/dashboard${path}`);
      await page.getByRole('region', { name: card }).getByText(said).waitFor();
      const bar = page.getByRole('region', { name: 'Status of the account' });
      const told = words && new RegExp(`^This account has been ${words} since ${day}, \\d{4}\\. [A-Z].*\\.`);
      if (told) expect(await bar.textContent()).toMatch(told);
      else expect(await bar.count()).toBe(0);
    }
    expect(await faults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
