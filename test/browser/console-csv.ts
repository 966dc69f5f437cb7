import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { must, type Speaker } from '../support/world.js';
import { hostile } from './console-fixture.js';

/** Imports a CSV file of a bank on the page of bank files by columns that are mapped there, for who reads its money. */
export async function importByColumns(
  page: Page,
  live: Speaker,
  send: (page: Page, name: string) => Promise<string | null>,
): Promise<void> {
  await page.getByRole('button', { name: 'Import a file' }).click();
  const dialog = page.getByRole('dialog');
  const rows = [
    'Statement of;Harbor Services',
    '',
    'Date;UTR;"Narration; of the payer";Withdrawal;Deposit;Balance',
    `27/11/2026;CSV-1;"${hostile.replaceAll('"', '""')}${'N'.repeat(80)}";;1,00,000.50;1,00,000.50`,
    '',
  ];
  const file = { name: 'bank.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\r\n')) };
  await dialog.getByLabel('File', { exact: true }).setInputFiles(file);
  await dialog.getByText('a CSV file needs the name of its mapping').waitFor();
  await dialog.getByRole('button', { name: 'Map its columns' }).click();
  const value = (label: string) => dialog.getByLabel(label, { exact: true }).inputValue();
  expect(await value('Line with the names')).toBe('3');
  expect([await value('Day'), await value("The bank's reference")]).toEqual(['Date', 'UTR']);
  expect([await value('Amount that came in'), await value('Amount that went out')]).toEqual(['Deposit', 'Withdrawal']);
  await dialog.getByText('First line: 1,00,000.50').waitFor();
  await dialog.getByLabel('Text of the payer').selectOption('Narration; of the payer');
  await dialog.getByText('NNNNN').waitFor();
  expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  // What is missing is refused beside its field.
  await dialog.getByRole('button', { name: 'Save the columns' }).click();
  await expect.poll(() => dialog.getByLabel('Name', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  await dialog.getByLabel('Name', { exact: true }).fill('A bank');
  await dialog.getByLabel('Currency of all lines').fill('usd');
  await dialog.getByLabel('Account of all lines').fill('000123456789');
  await dialog.getByRole('button', { name: 'Save the columns' }).click();
  await dialog.getByText('Nothing is stored until you import it.').waitFor();
  expect(await dialog.locator('dl').innerText()).toMatch(/Format\s+csv\s+Lines\s+1\s+New\s+1/);
  expect(await send(page, 'Import and book 1 line')).toBe('1 line booked.');
  const { data } = await must(live.get('/v1/deposits'));
  expect(data.map(({ amount }: { amount: string }) => amount)).toContain('100000.50');
  // It is there for the next file.
  await page.getByRole('button', { name: 'Import a file' }).click();
  await dialog.getByLabel('Columns of a CSV file').selectOption('A bank');
  await page.keyboard.press('Escape');
}
