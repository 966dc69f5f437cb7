import { describe, expect, it } from 'vitest';
import { completeDeposit, must, type Speaker } from '../support/world.js';
import { receivableBody } from '../support/bodies.js';
import { faults, rowsOf, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

/** A draft user of the platform of an edition that lacks most of what an activation needs. */
async function draftUser(nickname: string, edition: 1 | 2 = 1): Promise<string> {
  const physicalAddress = { line1: '1 Wharf', city: 'Pune', state: 'MH', postalCode: '411001', country: 'IN' };
  const businessDetails = { legalName: `${nickname} Private Limited`, type: 'COMPANY', physicalAddress };
  const { body } = await dashboard
    .platform(edition)
    .graph('mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }', {
      input: { nickname, businessDetails },
    });
  return body.data.createConnectedUser.account.id;
}

const stored = () => JSON.stringify({ ...sessionStorage, ...localStorage });

describe('a form that was left', () => {
  it('has what was typed when it is opened again, but no secrets, until it is sent', async () => {
    const id = await draftUser('Drafted Looms');
    const { context, page, complaints, open, go } = await dashboard.signInAlone(1);
    await open(`/dashboard/accounts/${id}`);
    const bank = page.getByRole('form', { name: 'Add a payout account' });
    const place = ['Account holder', 'Street of the holder', 'City', 'State', 'Postal code', 'Country'];
    expect(await Promise.all(place.map((label) => bank.getByLabel(label, { exact: true }).inputValue()))).toEqual([
      ...['Drafted Looms Private Limited', '1 Wharf', 'Pune', 'MH', '411001', 'IN'],
    ]);
    await bank.getByLabel('Account holder').fill('Drafted Holder');
    for (const label of ['Account number', 'Account number again', 'Secret key'])
      await bank.getByLabel(label, { exact: true }).fill('004501551234');
    const person = page.getByRole('form', { name: 'Add a person' });
    await person.getByLabel('Full name').fill('Meera Rao');
    await person.getByLabel('Director').uncheck();
    await person.getByLabel('Tax card number (PAN)').fill('ABCPE1234F');
    const kept = await page.evaluate(stored);
    expect(kept).toContain('Drafted Holder');
    for (const secret of ['004501551234', 'ABCPE1234F']) expect(kept).not.toContain(secret);

    await page.reload();
    await person.getByText('This is what you had typed before.').waitFor();
    expect(await person.getByLabel('Full name').inputValue()).toBe('Meera Rao');
    expect(await person.getByLabel('Director').isChecked()).toBe(false);
    expect(await bank.getByLabel('Account holder').inputValue()).toBe('Drafted Holder');
    expect(await bank.getByLabel('Account number', { exact: true }).inputValue()).toBe('');
    expect(await faults(page)).toEqual([]);
    await bank.getByRole('button', { name: 'Start again' }).click();
    expect(await bank.getByLabel('Account holder').inputValue()).toBe('Drafted Looms Private Limited');

    await person.getByLabel('Director').check();
    await person.getByLabel('Tax card number (PAN)').fill('ABCPE1234F');
    await person.getByRole('button', { name: 'Add person' }).click();
    await page.locator('.step').getByText('Meera Rao').waitFor();
    expect(await page.evaluate(stored)).not.toMatch(/Meera Rao|Drafted Holder/);

    // Another account has other drafts, and who signs out leaves none.
    await go('/dashboard/receivables/new');
    const receivable = page.getByRole('form', { name: 'New receivable' });
    await receivable.getByLabel('Invoice number').fill('INV-DRAFT');
    const { id: user } = await dashboard.user(1, 'Indigo Looms');
    await page.evaluate((acting) => sessionStorage.setItem('acting-as', acting), user);
    await page.reload();
    expect(await receivable.getByLabel('Invoice number').inputValue()).toBe('');
    await receivable.getByLabel('Invoice number').fill('INV-OTHER');
    await page.getByRole('button', { name: 'Stop acting' }).click();
    await page.getByRole('region', { name: 'Acting account' }).waitFor({ state: 'detached' });
    await open('/dashboard/receivables/new');
    await receivable.getByText('This is what you had typed before.').waitFor();
    expect(await receivable.getByLabel('Invoice number').inputValue()).toBe('INV-DRAFT');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Tidegate' }).waitFor();
    expect(await page.evaluate(stored)).not.toContain('INV-');
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('is filled in with what depends on other fields, as the invoices of its customer', async () => {
    const user = await dashboard.user(2, 'Lighthouse Courses');
    const found = await must(user.get('/v1/accounts?search=Vindhya'));
    const { id } = found.data[0];
    for (const number of ['DRAFT-1', 'DRAFT-2', 'DRAFT-3'])
      await must(
        user.post(
          '/v1/receivables',
          receivableBody({ currency: 'INR', reference_number: number }, { customer_id: id }),
        ),
      );
    const { page, complaints, open } = await dashboard.signIn(2, 'Lighthouse Courses');
    await open('/dashboard/checkouts/new');
    const form = page.getByRole('form', { name: 'New checkout' });
    const customer = form.getByLabel('Customer');
    const [value] = await customer.selectOption('Vindhya Textiles');
    const invoices = form.getByRole('list', { name: 'Invoices of the checkout' }).getByRole('listitem');
    const choose = async (number: string) => {
      const field = form.getByRole('combobox', { name: /^(Invoice|Another invoice)/ });
      const option = field.locator('option', { hasText: number });
      await field.selectOption((await option.getAttribute('value'))!);
      await invoices.filter({ hasText: number }).waitFor();
    };
    for (const number of ['DRAFT-2', 'DRAFT-1', 'DRAFT-3']) await choose(number);
    await form.getByRole('button', { name: 'Remove DRAFT-1' }).click();
    await form.getByLabel('Amount (INR)').fill('1.23');
    const chosen = () => invoices.allTextContents().then((texts) => texts.map((text) => text.replace(/ .*/, '')));
    for (let times = 0; times < 2; times++) {
      await page.reload();
      await expect.poll(chosen).toEqual(['DRAFT-2', 'DRAFT-3']);
      expect(await customer.inputValue()).toBe(value);
      expect(await form.getByLabel('Amount (INR)').inputValue()).toBe('1.23');
      if (times === 1) continue;
      // What is taken away stays away, without another word typed.
      await form.getByRole('button', { name: 'Remove DRAFT-3' }).click();
      await choose('DRAFT-3');
      await form.getByRole('button', { name: 'Remove DRAFT-3' }).click();
      await page.reload();
      await expect.poll(chosen).toEqual(['DRAFT-2']);
      await choose('DRAFT-3');
      await form.getByLabel('Amount (INR)').fill('1.23');
    }
    // Other invoices have their own amount again.
    await form.getByRole('button', { name: 'Start again' }).click();
    expect(await form.getByLabel('Amount (INR)').inputValue()).toBe('');
    expect(await invoices.count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describe('the form of a payout account', () => {
  it('leads a person with a key to it by a link that has no details', async () => {
    const id = await draftUser('Linked Looms');
    const { context, page, complaints, open } = await dashboard.signInAlone(1);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.setViewportSize({ width: 390, height: 844 });
    await open(`/dashboard/accounts/${id}`);
    await page.locator('summary', { hasText: 'Bank account for payouts' }).click();
    const bank = page.getByRole('form', { name: 'Add a payout account' });
    await bank.getByLabel('Account number', { exact: true }).fill('004501551234');
    await bank.getByRole('button', { name: 'Copy the link' }).click();
    await page.getByRole('status').getByText('The link is copied.').waitFor({ state: 'attached' });
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toBe(`${dashboard.origin}/dashboard/accounts/${id}?add=payout-account`);
    await page.goto(link);
    await bank.waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('name');
    expect(await bank.getByLabel('Account number', { exact: true }).inputValue()).toBe('');

    const { id: user } = await dashboard.user(1, 'Indigo Looms');
    await open(`/dashboard/accounts/${user}?add=payout-account`);
    await page.getByRole('dialog').getByRole('form', { name: 'Add a payout account' }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('of Edition 2 takes the IFSC of an account in INR, and of no other, and says what is wrong with it', async () => {
    const id = await draftUser('Routed Courses', 2);
    const { page, complaints, open } = await dashboard.signIn(2);
    await open(`/dashboard/accounts/${id}`);
    const bank = page.getByRole('form', { name: 'Add a payout account' });
    const routing = bank.getByLabel('Routing code (IFSC)');
    await bank.getByLabel('Currency').selectOption('USD');
    await routing.waitFor({ state: 'detached' });
    await bank.getByLabel('Currency').selectOption('INR');
    await routing.fill('XX');
    await bank.getByLabel('City').focus();
    await bank.getByText('An IFSC has 11 characters').waitFor();
    expect(await faults(page)).toEqual([]);
    for (const label of ['Account number', 'Account number again'])
      await bank.getByLabel(label, { exact: true }).fill('004501551234');
    await bank.getByLabel('Bank', { exact: true }).fill('Bank of the Coast');
    await bank.getByLabel('Secret key').fill(dashboard.tenants[1]!.testKey);
    await bank.getByRole('button', { name: 'Add bank account' }).click();
    const review = page.locator('.step', { hasText: 'Review' });
    await review.getByText('The IFSC of the bank account is wrong: add the account again').waitFor();
    // The right one is added in its place.
    await routing.fill('BOTC0000451');
    for (const label of ['Account number', 'Account number again'])
      await bank.getByLabel(label, { exact: true }).fill('004501551234');
    await bank.getByLabel('Bank', { exact: true }).fill('Bank of the Coast');
    await bank.getByLabel('Secret key').fill(dashboard.tenants[1]!.testKey);
    await bank.getByRole('button', { name: 'Add bank account' }).click();
    await page.getByText('BOTC0000451').first().waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('a receivable for a payment', () => {
  /** A completed payment to a user, which the bank's text describes. */
  async function paid(user: Speaker, amount: string, text: string, from?: string): Promise<string> {
    const to = { account_id: user.id };
    const sent = { amount, currency: 'USD', to, payment_method: 'global_wire', statement_descriptor: text };
    const { id } = await must(user.post('/v1/deposits', { ...sent, ...(from && { from: { account_id: from } }) }));
    await completeDeposit(user, id);
    return id;
  }

  it('is filled in from the payment, and chosen there when it is made', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const customer = await user.partner({ nickname: 'Rug Importers' });
    const id = await paid(user, '1234.50', 'Payment for RUG-77/B', customer.id);
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open(`/dashboard/payments/${id}`);
    const reconcile = page.getByRole('region', { name: 'Reconcile' });
    await reconcile.getByRole('link', { name: 'New receivable' }).click();
    const form = page.getByRole('form', { name: 'New receivable' });
    await form.getByText("The bank's text: Payment for RUG-77/B").waitFor();
    const value = (label: string) => form.getByLabel(label, { exact: true }).inputValue();
    expect(await Promise.all(['Amount (USD)', 'Currency', 'Invoice number'].map((each) => value(each)))).toEqual([
      ...['1,234.50', 'USD', 'RUG-77/B'],
    ]);
    expect(await form.getByLabel('Customer').locator('option:checked').textContent()).toBe('Rug Importers');
    expect(await faults(page)).toEqual([]);
    await form.getByLabel('Goods or services').selectOption('GOODS');
    await form.getByLabel('Purpose').selectOption('P0102');
    await form.getByRole('button', { name: 'Create receivable' }).click();
    await reconcile.getByRole('checkbox', { name: /RUG-77\/B/, checked: true }).waitFor();
    await reconcile.getByRole('button', { name: 'Reconcile $1,234.50' }).click();
    await page.getByRole('region', { name: 'Counts towards' }).getByText('RUG-77/B').waitFor();
    // What was done is said when the form is gone, with the way to the next payment.
    await page.getByRole('status').getByText('$1,234.50 reconciled with RUG-77/B.').waitFor();
    await page.getByRole('link', { name: 'Next payment to reconcile →' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    await reconcile.waitFor();
    // Home says it in one sentence.
    await open('/dashboard');
    const events = page.getByRole('region', { name: 'Latest events' }).getByRole('listitem');
    await expect
      .poll(() => events.first().textContent())
      .toMatch(/^Rug Importers paidmatched with RUG-77\/B · .*\$1,234\.50/);
    expect(await events.filter({ has: page.locator(`a[href$="/payments/${id}"]`) }).count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('names an unknown payer as a new customer, and is chosen on the list from which it was made', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const id = await paid(user, '77.10', 'STRANGER-9');
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/payments?show=unreconciled');
    const row = rowsOf(page, 'Payments').filter({ hasText: 'STRANGER-9' });
    await row.getByRole('link', { name: 'New receivable' }).click();
    const form = page.getByRole('form', { name: 'New receivable' });
    await form.getByLabel('Description').fill('Kept meanwhile');
    await form.getByRole('link', { name: 'Name the payer as a new customer' }).click();
    const customer = page.getByRole('form', { name: 'New customer' });
    await customer.getByLabel('Name', { exact: true }).fill('Outsider Traders');
    await customer.getByLabel('Legal name').fill('Outsider Traders Inc');
    await customer.getByLabel('E-mail').fill('ap@outsider.example');
    await customer.getByLabel('Legal form').selectOption('Company');
    await customer.getByLabel('Country').selectOption({ label: 'United States' });
    await customer.getByRole('button', { name: 'Create customer' }).click();
    await expect
      .poll(() =>
        form
          .getByLabel('Customer')
          .locator('option:checked')
          .textContent()
          .catch(() => ''),
      )
      .toBe('Outsider Traders');
    expect(await form.getByLabel('Description').inputValue()).toBe('Kept meanwhile');
    await form.getByLabel('Goods or services').selectOption('GOODS');
    await form.getByLabel('Purpose').selectOption('P0102');
    await form.getByRole('button', { name: 'Create receivable' }).click();
    await row.getByRole('checkbox', { checked: true }).waitFor();
    await page.getByText('1 chosen · $77.10').waitFor();
    await page.waitForURL((url) => url.search === '?show=unreconciled');
    const { body } = await user.graph('query ($id: ID!) { deposit(id: $id) { status pendingRest } }', { id });
    expect(body.data.deposit.pendingRest).toBe('77.10');
    expect(complaints).toEqual([]);
  });
});
