import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { hostile } from './console-fixture.js';
import type { Visit } from './dashboard-fixture.js';

/** Opens the start page, and follows one of its queues. */
export async function beginAtHome({ page, go }: Visit): Promise<void> {
  await go('/operator');
  const queues = page.getByRole('table', { name: 'Queues' });
  await queues.getByRole('row', { name: /Verification 2 accounts wait for a verdict .*(now|ago)/ }).waitFor();
  await queues.getByRole('row', { name: /Payouts 1 live payout under way ₹1,040,625.00 INR/ }).waitFor();
  await queues.getByRole('row', { name: /Adjustments 1 adjustment to approve .*(now|ago)/ }).waitFor();
  await page.getByText('Nothing waits in').getByRole('link', { name: 'Webhooks' }).waitFor();
  await page.getByRole('region', { name: 'Control' }).getByText('No check was violated').waitFor();
  await queues.getByRole('link', { name: /^Refunds/ }).click();
  await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor();
}

/** The order that waits for a second operator is on the start page, with its age and the way to it. */
export async function seeOrderAtHome({ page, go }: Visit): Promise<void> {
  await go('/operator');
  const row = page.getByRole('table', { name: 'Queues' }).getByRole('row', { name: /^Payment orders/ });
  expect(await row.innerText()).toMatch(/1 order to approve[^]*(now|ago)/);
  await row.getByRole('link').click();
  await page.getByText('Waits for another operator', { exact: true }).waitFor();
}

/** Opens a payment of more invoices than a trail has: its figures are of the newest 50, and say so. */
export async function seeMany({ page, go }: Visit, paymentId: string): Promise<void> {
  await go(`/operator/payments/${paymentId}`);
  const way = page.getByRole('region', { name: 'Way of the money' }).getByRole('listitem');
  await expect.poll(() => way.count()).toBe(6);
  expect(await way.nth(3).innerText()).toMatch(/at least 50 invoices[^]*and at least 47 other amounts/);
  expect(await way.nth(4).innerText()).toContain('At least $50.00 USD waits');
}

/** Finds a payment by its bank's reference and follows its money to its payout; finds nothing, and then the payout. */
export async function findTrail(page: Page, payoutId: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await page.keyboard.insertText('wire-12500.00');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/operator/payments/deposit_*');
  const way = page.getByRole('region', { name: 'Way of the money' }).getByRole('listitem');
  await expect.poll(() => way.count()).toBe(6);
  expect(await way.nth(1).innerText()).toContain('WIRE-12500.00');
  expect(await way.nth(5).innerText()).toContain('waits to be put into a payment order');
  await way.nth(4).getByRole('link').click();
  await page.waitForURL(`**/operator/payouts/${payoutId}`);
  await page.getByRole('button', { name: /^Settle/ }).waitFor();
  await page.getByRole('table', { name: 'Counts towards' }).getByRole('link', { name: 'WIRE-12500.00' }).waitFor();

  const box = page.getByRole('dialog').getByRole('combobox');
  await page.keyboard.press('Control+k');
  await box.fill('UTR0000000000');
  await page.getByText(/^Nothing was found. Searched: bank notices, .* by reference; .* add the id/).waitFor();
  await box.fill(payoutId);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: `Payout to ${hostile}` }).waitFor();
}
