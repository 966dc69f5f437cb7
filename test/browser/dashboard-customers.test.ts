import { describe, expect, it } from 'vitest';
import { receivableBody } from '../support/bodies.js';
import { must, type Speaker } from '../support/world.js';
import { asShown, faults, rowsOf, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

type Amount = { amount: string; currency: string };
interface Bucket {
  bucket: string;
  count: number;
  amount: Amount;
}

const billed = `query ($id: ID!) { account(id: $id) {
  billedAgeing { asOf currencies { currency count total { amount currency }
    buckets { bucket count amount { amount currency } } } }
  billedReceivables(filter: { status: [OPEN] }, orderBy: DUE_DATE_ASC, first: 100) {
    nodes { amountReconcilable currency invoice { referenceNumber dueDate } } }
  addresses(first: 20) { nodes { category status bankAccount { number } } } } }`;

/** A customer of the demo with overdue invoices, and what the graph says of it. */
async function debtor(seller: Speaker) {
  const { body } = await seller.graph(
    '{ receivables(filter: { overdue: true }, first: 1) { nodes { customer { id nickname } } } }',
  );
  const [{ customer }] = body.data.receivables.nodes;
  const { account } = (await seller.graph(billed, { id: customer.id })).body.data;
  return { ...customer, ...account };
}

/** Invoices that bill a customer, each with its due date. */
const bill = (seller: Speaker, customerId: string, numbers: readonly string[], dueDate: string) =>
  Promise.all(
    numbers.map((reference) =>
      must(
        seller.post(
          '/v1/receivables',
          receivableBody(
            {
              amount: '7.25',
              currency: 'USD',
              reference_number: reference,
              creation_date: '2026-01-01',
              due_date: dueDate,
            },
            { customer_id: customerId },
          ),
        ),
      ),
    ),
  );

describe('the page of a customer', () => {
  it('says by age what it owes, the worst first and in red, and leads to each age', async () => {
    const seller = await dashboard.user(1, 'Indigo Looms');
    const { id, billedAgeing, billedReceivables } = await debtor(seller);
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open(`/dashboard/accounts/${id}`);
    const card = page.getByRole('region', { name: 'Owes' });
    await card.locator('tbody tr').first().waitFor();
    const here = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current="page"]');
    expect(await here.innerText()).toBe('Customers');
    const { total, buckets } = billedAgeing.currencies[0] as { total: Amount; buckets: Bucket[] };
    expect(await card.locator('.balance-total .money').first().textContent()).toBe(asShown(total));
    expect(await card.locator('.balance-parts .money').allTextContents()).toEqual(
      buckets.map(({ amount }) => asShown(amount)),
    );
    const [first] = billedReceivables.nodes;
    const row = card.locator('tbody tr').first();
    expect(await row.textContent()).toContain(first.invoice.referenceNumber);
    expect(await row.locator('.status.bad').textContent()).toMatch(/^Overdue · \d+ days?$/);

    const worst = buckets.findLast(({ count }) => count > 0)!;
    await card.getByRole('link', { name: /days/ }).last().click();
    await rowsOf(page, 'Receivables').first().waitFor();
    expect(new URL(page.url()).search).toContain(`customer=${id}`);
    expect(await rowsOf(page, 'Receivables').count()).toBe(worst.count);
    expect(complaints).toEqual([]);
  });

  it('copies a reminder with each overdue invoice, and where the customer pays', async () => {
    const seller = await dashboard.user(1, 'Indigo Looms');
    const { id, billedAgeing, billedReceivables, addresses } = await debtor(seller);
    const { context, page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open(`/dashboard/accounts/${id}`);
    await page.getByRole('button', { name: 'Copy reminder' }).click();
    await page.getByRole('status').getByText('The reminder is copied.').waitFor({ state: 'attached' });
    const text = await page.evaluate(() => navigator.clipboard.readText());
    const overdue = billedReceivables.nodes.filter((each: any) => each.invoice.dueDate < billedAgeing.asOf);
    const plain = (amount: string) => `USD ${Number(amount).toLocaleString('en', { minimumFractionDigits: 2 })}`;
    const day = (text: string) =>
      new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(text));
    const lines = text.split('\n').filter((line) => line.startsWith('- '));
    expect(lines).toEqual(
      overdue.map(({ amountReconcilable, invoice: { referenceNumber, dueDate } }: any) => {
        const late = Math.round((Date.parse(billedAgeing.asOf) - Date.parse(dueDate)) / 86_400_000);
        const days = `${late} day${late === 1 ? '' : 's'} late`;
        return `- Invoice ${referenceNumber}: ${plain(amountReconcilable)}, due ${day(dueDate)}, ${days}`;
      }),
    );
    const sum = overdue.reduce((all: bigint, each: any) => all + BigInt(each.amountReconcilable.replace('.', '')), 0n);
    expect(text).toContain(`Overdue in total: ${plain(`${sum / 100n}.${String(sum % 100n).padStart(2, '0')}`)}.`);
    const pay = addresses.nodes.find((each: any) => each.category === 'SERVICE_RECEIVE' && each.bankAccount);
    expect(text).toContain(`Account number: ${pay.bankAccount.number}`);
    expect(text.split('\n')[0]).toBe('(Test mode: no real money is asked for.)');
    expect(complaints).toEqual([]);
  });

  it('lets nothing disappear behind 100 newer invoices, and prints all of them', async () => {
    const seller = await dashboard.user(1, 'Indigo Looms');
    const nickname = 'Sri Venkateswara Handloom Weavers and Exporters Cooperative Society of Kanchipuram';
    const customer = await seller.partner({ nickname });
    await bill(seller, customer.id, ['OLDEST-1'], '2026-01-31');
    await bill(
      seller,
      customer.id,
      Array.from({ length: 104 }, (_, i) => `NEWER-${i}`),
      '2031-01-31',
    );
    const { page, context, complaints, open } = await dashboard.signInAlone(1, 'Indigo Looms');
    await context.addInitScript(() => {
      (globalThis as any).print = () => {
        const texts = (rows: string) => [...document.querySelectorAll(rows)].map((row) => row.textContent);
        (globalThis as any).printed = [texts('.statement tbody tr').length, texts('.statement tfoot tr').at(-1)];
      };
    });
    await open(`/dashboard/accounts/${customer.id}`);
    const card = page.getByRole('region', { name: 'Owes' });
    await card.getByText('$761.25').first().waitFor();
    expect(await card.locator('tbody tr').first().textContent()).toContain('OLDEST-1');
    expect(await faults(page)).toEqual([]);

    await card.getByRole('button', { name: 'Print statement' }).click();
    const printed = await page.waitForFunction(() => (globalThis as any).printed, undefined, { polling: 50 });
    expect(await printed.jsonValue()).toEqual([105, 'Open in total$761.25 USD']);
    await page.emulateMedia({ media: 'print' });
    const statement = page.getByRole('region', { name: 'Statement of account' });
    expect(await statement.isVisible()).toBe(true);
    expect(await card.isVisible()).toBe(false);
    // Printed by the browser's own command it has a page of them, and says that it is not the whole.
    expect(await statement.getByText('The 100 invoices that are due first; more are open.').isVisible()).toBe(true);
    expect(await statement.locator('tfoot tr').last().textContent()).toBe('Sum of these$725.00 USD');
    await page.emulateMedia({ media: 'screen' });

    await card.getByRole('link', { name: 'Show all 105' }).click();
    await page.getByRole('heading', { name: `Receivables of ${nickname}` }).waitFor();
    await rowsOf(page, 'Receivables').getByText('OLDEST-1').waitFor();
    expect(await faults(page)).toEqual([]);
    await page.getByLabel('Sort').selectOption('Due last');
    await expect.poll(() => rowsOf(page, 'Receivables').first().textContent()).toContain('NEWER-');
    await page.getByLabel('Status').selectOption('SETTLED');
    await page.getByText('No receivable matches').waitFor();
    await page.getByRole('button', { name: 'Remove Status' }).click();
    await page.getByLabel('Sort').selectOption('Due first');
    await rowsOf(page, 'Receivables').getByText('OLDEST-1').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is overdue on the same day in all lists, that of the viewer, and keeps its list without filters', async () => {
    const seller = await dashboard.user(1, 'Indigo Looms');
    const nickname = 'Customer of two days';
    const { id } = await seller.partner({ nickname });
    // The zones are 26 hours apart, so the day before that of the first one is not yet over in the second.
    const { body } = await seller.graph('{ viewer { now } }');
    const yesterday = new Date(Date.parse(body.data.viewer.now) - 10 * 3_600_000).toISOString().slice(0, 10);
    await bill(seller, id, ['TWO-DAYS'], yesterday);
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    for (const [timeZone, shown] of [
      ['Pacific/Kiritimati', 'Overdue'],
      ['Etc/GMT+12', 'Open'],
    ] as const) {
      await open('/dashboard');
      await page.evaluate((zone) => localStorage.setItem('preferences', JSON.stringify({ timeZone: zone })), timeZone);
      await open(`/dashboard/accounts/${id}`);
      const owed = page.getByRole('region', { name: 'Owes' }).locator('tbody tr').first();
      expect(await owed.locator('.status').first().textContent()).toBe(`${shown}${shown === 'Open' ? '' : ' · 1 day'}`);
      await open(`/dashboard/receivables?customer=${id}`);
      const row = rowsOf(page, 'Receivables').first();
      expect(await row.locator('.status').first().textContent()).toBe(shown);
      await page.getByRole('button', { name: 'Overdue', exact: true }).click();
      if (shown === 'Overdue') await row.getByText('TWO-DAYS').waitFor();
      else await page.getByText('No receivable is overdue').waitFor();
    }
    await page.getByLabel('Currency').selectOption('USD');
    await page.getByText('No receivable matches').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('No receivable is overdue').waitFor();
    expect(new URL(page.url()).search).toContain(`customer=${id}`);
    await page.getByRole('heading', { level: 1, name: `Receivables of ${nickname}` }).waitFor();
    expect(complaints).toEqual([]);
  });
});
