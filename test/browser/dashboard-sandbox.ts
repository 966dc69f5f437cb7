import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Visit } from './dashboard-fixture.js';

/** What the stories need: a browser signed in to the demo of an edition, as its platform or as one of its users. */
export interface SignedIn {
  signIn: (edition: 1 | 2, nickname?: string) => Promise<Visit>;
  key: (edition: 1 | 2) => string;
  faults: (page: Page) => Promise<string[]>;
}

const tools = (page: Page) => page.getByRole('region', { name: 'Test tools' });

/** Fields of a form that its labels mark as required, and those that the gateway demands when all are empty. */
async function marks(form: Locator, submit: string): Promise<{ marked: string[]; demanded: string[] }> {
  const named = (selector: string) =>
    form.locator(selector).evaluateAll((inputs) => inputs.map((input) => input.getAttribute('name')!).sort());
  await form.getByRole('button', { name: submit }).waitFor();
  const marked = await named('[required]');
  for (const input of await form.locator('input[type="date"]').all()) await input.fill('');
  await form.getByRole('button', { name: submit }).click();
  await form.locator('[aria-invalid="true"]').first().waitFor();
  return { marked, demanded: await named('[aria-invalid="true"]') };
}

/** The stories of test mode: the bank and the payers of the sandbox, and its clock. */
export function sandboxStories({ signIn, key, faults }: SignedIn): void {
  const users = [
    [1, 'Malabar Spice'],
    [2, 'Fjord Software'],
  ] as const;
  for (const [edition, user] of users) {
    it(`get a new viewer of Edition ${edition} paid and paid out by the pages alone`, async () => {
      const { page, complaints, open } = await signIn(edition);
      await open('/dashboard/settings');
      let clicks = 0;
      const click = async (target: Locator) => {
        clicks++;
        await target.click();
      };
      const part = (name: string) => page.getByRole('region', { name });
      await click(page.getByRole('link', { name: /^Payments( \d+\+? waiting)?$/ }));
      await click(page.getByRole('button', { name: 'Test payment' }));
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Received by').selectOption({ label: user });
      await dialog.getByLabel('Paid by').selectOption({ index: 1 });
      await dialog.getByLabel('Amount').fill('431.09');
      await dialog.getByLabel('Text of the payment').fill('INV-5001');
      expect({ faults: await faults(page) }).toEqual({ faults: [] });
      await click(dialog.getByRole('button', { name: 'Pay' }));

      const reconcile = part('Reconcile');
      await reconcile.getByText('Reference matches').waitFor();
      await click(reconcile.getByRole('checkbox').first());
      await click(reconcile.getByRole('button', { name: /^Reconcile/ }));
      await part('Counts towards').getByText('Matched').waitFor();

      await click(page.getByRole('button', { name: 'Move the clock' }));
      expect({ faults: await faults(page) }).toEqual({ faults: [] });
      await click(page.getByRole('dialog').getByRole('button', { name: 'A day' }));
      await click(part('Counts towards').getByRole('link', { name: 'Paid out' }));
      const settle = tools(page).getByRole('button', { name: 'Settle' });
      const giveBack = tools(page).getByRole('button', { name: 'Return' });
      await settle.or(giveBack).waitFor();
      if (await settle.isVisible()) await click(settle);
      await page.locator('.amount-line').getByText('Completed').waitFor();
      await page.getByRole('table', { name: 'Settled invoices' }).getByText('INV-5001').first().waitFor();
      expect(clicks).toBeLessThanOrEqual(9);
      await giveBack.click();
      const why = page.getByRole('dialog');
      await why.getByLabel('Reason code').selectOption({ label: 'Account closed' });
      await why.getByRole('button', { name: 'Return' }).click();
      await page.locator('.amount-line').getByText('Returned').waitFor();
      await part('Details').getByText('The bank account is closed').waitFor();
      // Where the sandbox can do nothing more, the page says so.
      await tools(page).getByText('The bank has sent this payout back').waitFor();
      expect(complaints).toEqual([]);
    });
  }

  it('say why a payment is not counted towards the invoice that it was to pay, and lead to it', async () => {
    const { page, complaints, open } = await signIn(1, 'Indigo Looms');
    await open('/dashboard/receivables?status=OPEN&sort=due-last&currency=USD');
    const first = page.getByRole('table', { name: 'Receivables' }).locator('tbody td:first-child a').first();
    await first.click();
    await tools(page).getByRole('button', { name: 'Pay it' }).click();
    const dialog = page.getByRole('dialog');
    const reference = await dialog.getByLabel('Text of the payment').inputValue();
    await dialog.getByLabel('Amount').fill('9999999999.99');
    await dialog.getByRole('button', { name: 'Pay' }).click();
    await dialog.getByText(`The payment was made, but it does not count towards ${reference}:`).waitFor();
    const told = dialog.getByRole('alert');
    await told.getByText('This is more than is still open on the invoice.').waitFor();
    await told.getByText('Details').click();
    expect(await told.locator('details p').first().textContent()).toMatch(
      /^amount .*receivable|^The amount|^must be|^exceeds/i,
    );
    expect({ faults: await faults(page) }).toEqual({ faults: [] });
    // It is made once: nothing is left that makes another.
    expect(await dialog.getByRole('button', { name: 'Pay' }).count()).toBe(0);
    await dialog.getByRole('link', { name: 'Open the payment' }).click();
    await page.locator('.amount-line').getByText('$9,999,999,999.99').waitFor();
    await page.getByRole('region', { name: 'Reconcile' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('pay a receivable in part and in full as its customer, and show what the customer owes', async () => {
    const { page, complaints, open } = await signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    await page.getByRole('link', { name: 'Receivables' }).click();
    await page.getByRole('link', { name: 'New receivable' }).click();
    const form = page.getByRole('form', { name: 'New receivable' });
    const { marked, demanded } = await marks(form, 'Create receivable');
    expect(marked).toEqual(demanded);
    await form.getByLabel('Customer').selectOption('Maison Claire');
    await form.getByLabel('Invoice number').fill('INV-8100');
    await form.getByLabel('Amount (USD)').fill('9007199254740.93');
    await form.getByLabel('Invoice date').fill('2026-01-01');
    await form.getByLabel('Due date').fill('2031-01-31');
    await form.getByLabel('Goods or services').selectOption('GOODS');
    await form.getByLabel('Purpose').selectOption('P0102');
    await form.getByRole('button', { name: 'Create receivable' }).click();
    await page.getByRole('heading', { name: 'Invoice INV-8100' }).waitFor();

    for (const amount of ['4000000000000.01', undefined]) {
      await tools(page).getByRole('button', { name: 'Pay it' }).click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByLabel('Paid by').locator('option:checked').textContent()).toBe('Maison Claire');
      if (amount) await dialog.getByLabel('Amount').fill(amount);
      else expect(await dialog.getByLabel('Amount').inputValue()).toBe('5007199254740.92');
      await dialog.getByRole('button', { name: 'Pay' }).click();
      await dialog.waitFor({ state: 'detached' });
      if (!amount) break;
      await page.getByRole('region', { name: 'Paid' }).getByText('$5,007,199,254,740.92').waitFor();
      await page.getByRole('region', { name: 'Details' }).getByRole('link', { name: 'Maison Claire' }).click();
      await page.getByRole('region', { name: 'Owes' }).getByText('$5,007,199,254,740.92').first().waitFor();
      await page.getByRole('link', { name: 'INV-8100' }).click();
    }
    await tools(page).getByText('Nothing is open that could be paid').waitFor();
    expect(await page.getByRole('region', { name: 'Payments' }).getByRole('row').count()).toBe(3);
    expect(complaints).toEqual([]);
  });

  it('end a payment with a reason, and addresses and wallets with a key', async () => {
    const { page, complaints, open } = await signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    await page.getByRole('link', { name: 'Customers' }).click();
    await page.getByRole('link', { name: 'Maison Claire' }).click();
    await tools(page).getByRole('button', { name: 'Pay as this customer' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Amount').fill('12.34');
    await dialog.getByRole('button', { name: 'Pay' }).click();
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await dialog.getByLabel('Amount').fill('12.35');
    await dialog.getByRole('button', { name: 'Refund' }).click();
    await dialog.getByText('At most $12.34 is left of the payment.').waitFor();
    expect(await dialog.getByLabel('Amount').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Amount').fill('2.00');
    await dialog.getByLabel('Reason').fill('Looms came late');
    expect({ faults: await faults(page) }).toEqual({ faults: [] });
    await dialog.getByRole('button', { name: 'Refund' }).click();
    const refunds = page.getByRole('region', { name: 'Refunds' });
    await refunds.getByText('Looms came late').waitFor();
    // While a part is on its way back, the page does not know how much can be disputed.
    await tools(page).getByRole('button', { name: 'Dispute' }).click();
    await dialog.getByLabel('Reason code').selectOption('Duplicate');
    await dialog.getByLabel('Amount').fill('12.35');
    await dialog.getByRole('button', { name: 'Dispute' }).click();
    await expect.poll(() => dialog.getByLabel('Amount').getAttribute('aria-invalid')).toBe('true');
    expect(await dialog.getByText('At most').count()).toBe(0);
    await page.keyboard.press('Escape');
    await refunds.getByRole('button', { name: 'Fail: refund' }).click();
    await dialog.getByLabel('Failure reason').fill('Account closed');
    await dialog.getByRole('button', { name: 'Fail' }).click();
    await refunds.getByText('Failed: Account closed').waitFor();
    await refunds.getByText('Looms came late').waitFor();
    await tools(page).getByRole('button', { name: 'Dispute' }).click();
    await dialog.getByLabel('Reason code').selectOption('Duplicate');
    await dialog.getByLabel('Amount').fill('12.35');
    await dialog.getByRole('button', { name: 'Dispute' }).click();
    await dialog.getByText('At most $12.34 is left of the payment.').waitFor();
    await dialog.getByLabel('Amount').fill('2.34');
    await dialog.getByRole('button', { name: 'Dispute' }).click();
    await page.getByRole('region', { name: 'Dispute', exact: true }).getByText('$2.34').first().waitFor();
    // The refund that has failed counts no more, and the dispute does.
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await dialog.getByLabel('Amount').fill('10.01');
    await dialog.getByRole('button', { name: 'Refund' }).click();
    await dialog.getByText('At most $10.00 is left of the payment.').waitFor();
    await page.keyboard.press('Escape');
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('Refund of $2.00 USD created', { exact: true }).waitFor();
    await timeline.getByText('Refund of $2.00 USD failed: Account closed', { exact: true }).waitFor();
    await tools(page).getByRole('button', { name: 'Reverse' }).click();
    await dialog.getByLabel('Reason code').selectOption('High risk');
    await dialog.getByRole('button', { name: 'Reverse' }).click();
    await page.locator('.amount-line').getByText('Reversed').waitFor();
    await tools(page).getByText('a payment that has ended stays so').waitFor();
    await page.getByRole('region', { name: 'Details' }).getByText('High risk').waitFor();

    await page.getByRole('region', { name: 'Details' }).getByRole('link', { name: 'Maison Claire' }).first().click();
    await tools(page).getByRole('button', { name: 'Give it a wallet' }).click();
    await dialog.getByLabel('Provider').selectOption('Klarna');
    await dialog.getByLabel('Secret key').fill(key(1));
    await dialog.getByRole('button', { name: 'Give it a wallet' }).click();
    await dialog.waitFor({ state: 'detached' });
    const addresses = page.getByRole('region', { name: 'Addresses' });
    await addresses.getByRole('button', { name: 'Expire for testing' }).click();
    await dialog.getByLabel('Secret key').fill(key(1));
    await dialog.getByRole('button', { name: 'Expire for testing' }).click();
    await addresses.getByText('Expired').waitFor();
    expect(complaints).toEqual([]);
  });

  it('mark in each form what the gateway demands, and name countries', async () => {
    for (const [edition, user] of [
      [1, 'Indigo Looms'],
      [2, 'Lighthouse Courses'],
    ] as const) {
      const { page, complaints, open, go } = await signIn(edition, user);
      await open('/dashboard/customers/new');
      const form = page.getByRole('form', { name: 'New customer' });
      const customer = await marks(form, 'Create customer');
      expect(customer.marked).toEqual(customer.demanded);
      expect(await form.getByLabel('Country').locator('option').count()).toBe(251);
      if (edition === 2) {
        await go('/dashboard/checkouts/new');
        await page.getByLabel('Customer').waitFor();
        const checkout = await marks(page.getByRole('form', { name: 'New checkout' }), 'Create checkout');
        expect(checkout.marked).toEqual(checkout.demanded);
      }
      // The viewer's own account has an address of its own, and no list to which it would belong.
      await page.getByRole('complementary').getByRole('link', { name: user }).click();
      await page.getByRole('heading', { name: user }).waitFor();
      expect(await page.getByRole('link', { name: '← Users' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Add a payout account' }).click();
      const bank = page.getByRole('form', { name: 'Add a payout account' });
      await bank.getByLabel('Secret key').fill(key(edition));
      const { marked, demanded } = await marks(bank, 'Add bank account');
      expect(demanded.filter((name) => !marked.includes(name))).toEqual(
        edition === 1 ? [] : ['bankAccount.globalWire', 'bankAccount.number'],
      );
      await bank.getByLabel('Account holder').fill(user);
      await bank.getByLabel('Account number', { exact: true }).fill('004501559876');
      await bank.getByLabel('Account number again').fill('004501559876');
      await bank.getByLabel('Bank', { exact: true }).fill('Bank of the Coast');
      if (edition === 1) await bank.getByLabel('Routing code (IFSC)').fill('BOTC0000451');
      await bank.getByLabel('Currency').selectOption('INR');
      await bank.getByLabel('Secret key').fill(key(edition));
      await bank.getByRole('button', { name: 'Add bank account' }).click();
      await bank.waitFor({ state: 'detached' });
      await page.getByRole('region', { name: 'Addresses' }).getByText('004501559876').waitFor();
      expect(complaints).toEqual([]);
    }
  });
}
