import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { givenIn, must } from '../support/world.js';
import { faults, rowsOf, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

/** Has the page ask again, as when its viewer comes back to it. */
const askAgain = (page: Page) => page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange')));

describe('the dashboard while the gateway cannot be reached', () => {
  it('keeps its frame and what it has, says since when, and goes on by itself or at once', async () => {
    const { context, page, open } = await dashboard.signInAlone(1, 'Indigo Looms');
    await open('/dashboard/payments');
    await rowsOf(page, 'Payments').first().waitFor();
    const before = await rowsOf(page, 'Payments').allInnerTexts();
    await context.route('**/graphql', (route) => route.abort());
    await askAgain(page);
    const bar = page.getByText(/^No connection since \d\d:\d\d [AP]M/);
    await bar.waitFor();
    expect(await rowsOf(page, 'Payments').allInnerTexts()).toEqual(before);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await faults(page)).toEqual([]);
    // A page that was not opened before has nothing to show yet, in the same frame.
    await page.getByRole('link', { name: /^Receivables/ }).click();
    await page.getByRole('alert').first().getByText('could not be reached').waitFor();
    await bar.waitFor();
    await page.goBack();
    await rowsOf(page, 'Payments').first().waitFor();
    await context.unrouteAll();
    await bar.getByRole('button', { name: 'Try again' }).click();
    await bar.waitFor({ state: 'detached' });

    // So it is of a gateway that has no time.
    const error = { message: 'Try again later.', extensions: { httpStatus: 503 } };
    await context.route('**/graphql', (route) => route.fulfill({ status: 503, json: { errors: [error] } }));
    await askAgain(page);
    await page.getByText(/^The gateway is too busy to answer since/).waitFor();
    expect(await rowsOf(page, 'Payments').allInnerTexts()).toEqual(before);
    await context.unrouteAll();
    await page.locator('.outage-bar').waitFor({ state: 'detached' });

    // A fault of the gateway is said where its data would be, in the same frame.
    const fault = { message: 'An internal error occurred.', extensions: { httpStatus: 500 } };
    await context.route('**/graphql', (route) => route.fulfill({ status: 500, json: { errors: [fault] } }));
    await askAgain(page);
    await page.getByRole('link', { name: /^Customers/ }).click();
    await page.getByRole('main').getByRole('alert').getByText('An internal error occurred.').waitFor();
    await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor();
    await context.unrouteAll();
    await page.getByRole('main').getByRole('button', { name: 'Try again' }).click();
    await rowsOf(page, 'Customers').first().waitFor();
    await context.close();
  });

  it('is tried again after a load without an answer, as oneself only while acting', async () => {
    const { context, page, open } = await dashboard.signInAlone(1, 'Indigo Looms');
    await context.route('**/graphql', (route) => route.abort());
    await open('/dashboard/payments');
    const own = page.getByRole('button', { name: 'Go on as yourself' });
    await own.waitFor();
    await own.click();
    await own.waitFor({ state: 'detached' });
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await context.unrouteAll();
    await again.click();
    await rowsOf(page, 'Payments').first().waitFor();
    expect(await page.getByRole('region', { name: 'Acting account' }).count()).toBe(0);
    await context.close();
  });
});

describe('the test clock', () => {
  it('shows the time of the gateway from the first moment on', async () => {
    const user = await givenIn(dashboard.world).directUser(2);
    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 31 * 86_400 }));
    const { context, page } = await dashboard.visit('/dashboard');
    await page.getByLabel('API key').fill(user.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.addInitScript(() => {
      const seen = new Set<string>();
      Object.assign(window, { seen });
      const look = () => {
        for (const time of document.querySelectorAll<HTMLTimeElement>('.test-clock time')) seen.add(time.dateTime);
      };
      new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const times = await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen]);
    expect(times.length).toBeGreaterThan(0);
    const soonest = Date.now() + 30 * 86_400_000;
    expect(times.filter((time) => Date.parse(time) < soonest)).toEqual([]);
    await context.close();
  });
});
