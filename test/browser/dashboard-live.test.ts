import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browser } from '../support/browser.js';
import { receivableBody } from '../support/bodies.js';
import { must, useWorld } from '../support/world.js';
import { ConsoleSeed, notice } from './console-fixture.js';
import { faultsInThemes, rowsOf, type Visit, visit } from './dashboard-fixture.js';

const OPERATOR_KEY = 'op_2a7c4e9b1d3f45608c7e9a1b3d5f7091';
const world = useWorld({ environment: { OPERATOR_KEY } });
const seed = new ConsoleSeed(world, OPERATOR_KEY);

let chromium: Browser;
let visited: Visit;
let paid: Awaited<ReturnType<ConsoleSeed['payout']>>;

/** What the bank says of a payer that is no customer yet. */
const payer = { name: 'Nordwind Handels GmbH', country: 'DE' };

beforeAll(async () => {
  chromium = await browser();
  paid = await seed.payout('Harbour Textiles', '900.00', { payer, text: 'Invoice 77' });
  const { addressId } = paid;
  await seed.ask(notice, {
    ...{ reference: 'UTR20261128000077', addressId, amount: '45.00', currency: 'USD', payer, text: 'For INV-9 <b>' },
  });
  visited = await visit({ chromium, origin: world.origin }, '/dashboard');
  const { page } = visited;
  await page.getByLabel('API key').fill(paid.live.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
});
afterAll(() => chromium?.close());

describe('a payer whom only the bank names', () => {
  it('is named on each page of the money', async () => {
    const { page, complaints, go } = visited;
    const events = page.getByRole('region', { name: 'Latest events' });
    await events.getByText(`${payer.name} paid`).first().waitFor();
    await go('/dashboard/payments');
    const rows = rowsOf(page, 'Payments').filter({ hasText: payer.name });
    await expect.poll(() => rows.count()).toBe(2);
    await rows.first().getByText('For INV-9 <b>').waitFor();
    await go('/dashboard/payments?show=unreconciled');
    await expect.poll(() => rows.count()).toBe(1);
    await rows.getByText('For INV-9 <b>').waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    await rows.getByRole('link', { name: payer.name }).click();
    await page.getByRole('heading', { name: `Payment from ${payer.name}` }).waitFor();

    const found = page.getByRole('listbox', { name: 'Found' }).getByRole('option');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Id, bank reference/ }).fill('nordwind');
    await expect.poll(() => found.filter({ hasText: payer.name }).count()).toBe(2);
    await page.keyboard.press('Escape');

    await go(`/dashboard/payouts/${paid.payoutId}`);
    await page.getByRole('region', { name: 'Way of the money' }).getByRole('link', { name: payer.name }).waitFor();
    await rowsOf(page, 'Settled invoices').first().getByRole('link', { name: payer.name }).waitFor();
    const { data } = await must(paid.live.get('/v1/receivables'));
    await go(`/dashboard/receivables/${data[0].id}`);
    await rowsOf(page, 'Payments').getByRole('link', { name: payer.name }).waitFor();
    await go('/dashboard/balance?currency=USD');
    await rowsOf(page, 'Movements')
      .filter({ hasText: `Payment · ${payer.name}` })
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it('stands on the statement of a payout and of the balance, with its country and the references', async () => {
    const { page, complaints, go } = visited;
    const settle = 'mutation ($input: SettlePayoutInput!) { settlePayout(input: $input) { payout { id } } }';
    await seed.ask(settle, { id: paid.payoutId, bankReference: 'HDFCN52026112800' });
    await go(`/dashboard/payouts/${paid.payoutId}`);
    const statement = page.locator('.statement');
    await statement.getByText('Statement of inward remittance').waitFor({ state: 'attached' });
    await statement.getByText('HDFCN52026112800').waitFor({ state: 'attached' });
    await rowsOf(page, 'Settled invoices')
      .first()
      .getByText(/ · Germany · WIRE-900\.00$/)
      .waitFor();
    await go('/dashboard/balance?currency=USD');
    await rowsOf(page, 'Movements').getByText('WIRE-900.00 · Invoice 77').first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    const [head, ...lines] = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    expect(head).toContain(',note,bank reference,');
    expect(lines.join('\n')).toContain(`Payment · ${payer.name},Invoice 77,WIRE-900.00,`);
    expect(complaints).toEqual([]);
  });

  it('is named in the list of disputes', async () => {
    const { page, complaints, go } = visited;
    await seed.returning(paid, 'The goods were not as described');
    await go('/dashboard/payments?show=disputes');
    await rowsOf(page, 'Disputes').getByText('The goods were not as described').waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('the next payout of live mode', () => {
  it('says at which rate money would be converted, and since when the rate is set', async () => {
    const { page, complaints, go } = visited;
    const { addressId, live } = paid;
    const { recordBankNotice } = await seed.ask(notice, {
      ...{ reference: 'UTR20261128000078', addressId, amount: '30.00', currency: 'USD' },
    });
    const { id } = await must(live.post('/v1/receivables', receivableBody({ amount: '30.00' })));
    await must(
      live.post(`/v1/deposits/${recordBankNotice.notice.deposit.id}/reconcile`, {
        receivables: [{ id, amount: '30.00' }],
      }),
    );
    await go('/dashboard');
    const next = page.getByRole('region', { name: 'Next payout' });
    await next.getByText(/^from \$\d+\.00 USD at 83\.25, the rate of \w+ \d+/).waitFor();
    expect(complaints).toEqual([]);
  });
});
