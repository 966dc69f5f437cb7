import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { cents } from '../support/bodies.js';
import { asShown, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

describe('the balance page', () => {
  const zones = ['UTC', 'Asia/Calcutta', 'America/Los_Angeles'];

  it.each(zones)('shows each month from its opening to its closing balance, in %s', async (timeZone) => {
    const { page, complaints, open, go } = await dashboard.signIn(1, 'Malabar Spice');
    const user = await dashboard.user(1, 'Malabar Spice');
    await open('/dashboard/settings');
    await page.getByLabel('Time zone').selectOption(timeZone.replace('Calcutta', 'Kolkata'));
    await go('/dashboard/balance');
    const summary = page.locator('.sums');
    // A browser's own name of a zone may be an old one.
    const named = `, ${timeZone.replace('Calcutta', 'Kolkata')}`;
    expect(await page.locator('.letterhead').getByText(named).count()).toBe(1);
    const months = await page
      .getByLabel('Month')
      .locator('option')
      .evaluateAll((all) => all.slice(1, 3).map((each) => each.getAttribute('value')!));
    let closing: string | undefined;
    for (const month of months.toReversed()) {
      await go(`/dashboard/balance?month=${month}&currency=USD`);
      const name = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' });
      await page.getByRole('region', { name: name.format(new Date(`${month}-01T00:00:00Z`)) }).waitFor();
      const shown = await summary.locator('.money').allTextContents();
      const [year, number] = month.split('-').map(Number) as [number, number];
      const local = (at: number) => {
        const text = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(at);
        return new Date(2 * at - Date.parse(`${text.replace(' ', 'T')}Z`)).toISOString();
      };
      const { body } = await user.graph(
        `query ($from: DateTime!, $to: DateTime!) { viewer { account { balanceStatement(
          from: $from, to: $to, currency: "USD") { opening { total { amount currency } }
          closing { total { amount currency } }
          totals { in { amount currency } out { amount currency } } } } } }`,
        { from: local(Date.UTC(year, number - 1, 1)), to: local(Date.UTC(year, number, 1)) },
      );
      const statement = body.data.viewer.account.balanceStatement;
      const moved = statement.totals.flatMap((each: any) => [each.in, each.out]);
      expect(shown[0]).toBe(asShown(statement.opening.total));
      expect(shown.at(-1)).toBe(asShown(statement.closing.total));
      expect(shown.slice(1, -1).toSorted()).toEqual(
        moved
          .filter(({ amount }: any) => amount !== '0.00')
          .map(asShown)
          .toSorted(),
      );
      const sum = moved.reduce((all: bigint, { amount }: any) => all + cents(amount), 0n);
      expect(cents(statement.opening.total.amount) + sum).toBe(cents(statement.closing.total.amount));
      if (closing !== undefined) expect(statement.opening.total.amount).toBe(closing);
      closing = statement.closing.total.amount;
    }
    expect(complaints).toEqual([]);
  });

  it('leads through a month with more movements than a page, and saves and prints all of them', async () => {
    const { page, complaints, open, context } = await dashboard.signInAlone(1, 'Malabar Spice');
    await open('/dashboard/balance');
    const month = await page.getByLabel('Month').locator('option').nth(1).getAttribute('value');
    await page.getByLabel('Month').selectOption(month);
    const rows = page.getByRole('table', { name: 'Movements' }).locator('tbody tr');
    const next = page.getByRole('button', { name: 'Next page' });
    await next.waitFor();
    const seen: string[] = [];
    /** How many rows were before each page. */
    const starts: number[] = [];
    for (let pages = 1; ; pages++) {
      await rows.first().waitFor();
      starts.push(seen.length);
      seen.push(...(await rows.locator('.after .money').allTextContents()));
      if (!(await next.isEnabled())) break;
      const before = await rows.first().textContent();
      await next.click();
      await page.waitForFunction(
        (text) => document.querySelector('.balance-statement tbody tr')?.textContent !== text,
        before,
        { polling: 50 },
      );
      expect(pages).toBeLessThan(20);
    }
    expect(seen.length).toBeGreaterThan(25);
    // Back to the first page by the pages between, also after a load.
    const amounts = rows.locator('.after .money');
    const previous = page.getByRole('button', { name: 'Previous page' });
    const first = page.locator('.balance-statement tbody tr:first-child .after .money');
    await page.reload();
    for (let at = starts.length - 2; at >= 0; at--) {
      await previous.click();
      await first.getByText(seen[starts[at]!]!, { exact: true }).waitFor();
      expect(await amounts.allTextContents()).toEqual(seen.slice(starts[at], starts[at + 1]));
    }
    expect(await page.getByRole('button', { name: 'First page' }).isEnabled()).toBe(false);
    const closing = await page.locator('.sums .money').last().textContent();
    expect(seen.at(-1)).toBe(closing);

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`statement-${month}-USD.csv`);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    expect(lines[0]).toBe('booked,local time,movement,note,bank reference,payment,amount,balance,currency');
    const balances = lines.slice(1).map((line) => line.split(',').at(-2)!);
    expect(balances.map((amount) => asShown({ amount, currency: 'USD' }))).toEqual(seen);

    // A phone shows the amount first, and the balance below it.
    const wide = page.viewportSize()!;
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await rows.first().locator('td:last-child').innerText()).toMatch(/^[-$\d,.]+ USD\s+balance [-$\d,.]+ USD$/);
    expect(await rows.first().locator('td:nth-last-child(2)').isVisible()).toBe(false);
    await page.setViewportSize(wide);

    await context.addInitScript(() => {
      (globalThis as any).print = () => {
        (globalThis as any).printed = [...document.querySelectorAll('.balance-statement tbody tr')].length;
      };
    });
    await page.reload();
    await page.getByRole('button', { name: 'Print statement' }).click();
    const printed = await page.waitForFunction(() => (globalThis as any).printed, undefined, { polling: 50 });
    expect(await printed.jsonValue()).toBe(seen.length);
    await page.emulateMedia({ media: 'print' });
    await page.getByRole('heading', { name: 'Statement of account (test mode: no real money)' }).waitFor();
    expect(await page.getByRole('button', { name: 'Print statement' }).isVisible()).toBe(false);
    // The browser's own command prints a page of them, which says so.
    const note = page.getByText('These are not all movements of the month.');
    expect(await note.isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });
    expect(await note.isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });
});
