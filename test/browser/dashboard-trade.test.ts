import fs from 'node:fs';
import type { BrowserContext, Locator, Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { pdf, receivableBody } from '../support/bodies.js';
import { completeDeposit, eventually, givenIn, must, payoutAddress, type Speaker } from '../support/world.js';
import { disputeStories } from './dashboard-disputes.js';
import { asShown, changeDocuments, refusedTotals, rowsOf, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

type Named = { id: string; nickname: string };

describe('receivables in the dashboard', () => {
  it('are listed by age, created with a document, changed and voided', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    await page.getByRole('link', { name: 'Receivables' }).click();
    await page.getByRole('region', { name: 'Open' }).getByRole('link', { name: '1 to 30 days' }).click();
    expect(new URL(page.url()).search).toMatch(
      /^\?sort=due&status=OPEN&dueTo=\d{4}-\d\d-\d\d&dueFrom=\d{4}-\d\d-\d\d$/,
    );
    await rowsOf(page, 'Receivables').getByText('Overdue').first().waitFor();

    await page.getByRole('link', { name: 'New receivable' }).click();
    const form = page.getByRole('form', { name: 'New receivable' });
    await form.getByRole('button', { name: 'Create receivable' }).click();
    // Each error stands beside its field, and the first one has the focus.
    const number = form.getByLabel('Invoice number');
    await expect.poll(() => number.evaluate((input) => input === document.activeElement)).toBe(true);
    expect(await number.getAttribute('aria-invalid')).toBe('true');
    expect(await form.getByText('This is required.').count()).toBe(5);
    await number.fill('INV-<b>9000</b>');
    await form.getByLabel('Amount (USD)').fill(' $1,250.1 ');
    await form.getByLabel('Due date').fill('2031-01-31');
    // Both choices are asked for at once.
    await form.getByRole('button', { name: 'Create receivable' }).click();
    await expect.poll(() => form.getByText('This is required.').count()).toBe(2);
    await form.getByLabel('Goods or services').selectOption('GOODS');
    await form.getByLabel('Purpose').selectOption('P0102');
    await form
      .getByLabel('Invoice document')
      .setInputFiles({ name: 'no.pdf', mimeType: 'text/plain', buffer: Buffer.from('no') });
    await form.getByText('must be a PDF, PNG or JPEG').waitFor();
    await form
      .getByLabel('Invoice document')
      .setInputFiles({ name: 'in<i>voice.pdf', mimeType: 'application/pdf', buffer: pdf });
    await form.getByText('in<i>voice.pdf').waitFor();
    await form.getByRole('button', { name: 'Create receivable' }).click();
    await page.getByRole('heading', { name: 'Invoice INV-<b>9000</b>' }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'in<i>voice.pdf' }).click(),
    ]);
    expect(fs.readFileSync(await file.path())).toEqual(pdf);

    const details = page.getByRole('region', { name: 'Details' });
    const edit = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Edit' }).click();
    await edit.getByLabel('Customer').selectOption({ index: 1 });
    const customer = (await edit.getByLabel('Customer').locator('option:checked').textContent())!;
    await edit.getByRole('button', { name: 'Save' }).click();
    await details.getByRole('link', { name: customer }).waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText(`Customer changed to ${customer}`, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await edit.getByLabel('Customer').selectOption({ index: 2 });
    const other = (await edit.getByLabel('Customer').locator('option:checked').textContent())!;
    await edit.getByRole('button', { name: 'Save' }).click();
    await timeline.getByText(`Customer changed from ${customer} to ${other}`, { exact: true }).waitFor();
    // Another change keeps it.
    await page.getByRole('button', { name: 'Edit' }).click();
    await edit.getByLabel('Description').fill('Rugs');
    await edit.getByRole('button', { name: 'Save' }).click();
    await details.getByText('Rugs').waitFor();
    await details.getByRole('link', { name: other }).waitFor();
    await timeline.getByText('Description changed', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Void' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Void receivable' }).click();
    await page.locator('.amount-line').getByText('Void').waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describe('a part of a page that the gateway refuses', () => {
  it('shows its error in its place, and the other parts stay', async () => {
    const { page, open } = await dashboard.signInAlone(1, 'Indigo Looms');
    await changeDocuments(page, refusedTotals);
    await open('/dashboard');
    const part = (name: string) => page.getByRole('region', { name });
    const alert = part('Money in').getByRole('alert');
    await alert.getByText('must be later than').waitFor();
    expect(await alert.getByText(/^Request req_/).count()).toBe(1);
    await part('Balances').locator('.balance-total').first().waitFor();
    await part('Needs attention').waitFor();
    await part('Latest events').locator('li').first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    // What was refused is asked for again.
    await page.unrouteAll();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await part('Money in').getByRole('img').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('of an object leaves the object, and an object that cannot be read is not said to be missing', async () => {
    const { page, open } = await dashboard.signInAlone(1, 'Indigo Looms');
    await changeDocuments(page, (query) => query.replace('partners(first: 10)', 'partners(first: 0)'));
    const { id } = await dashboard.user(1, 'Indigo Looms');
    await open(`/dashboard/accounts/${id}`);
    await page.getByRole('region', { name: 'Customers' }).getByText('must be from 1 to 100').waitFor();
    await page.getByRole('region', { name: 'Details' }).waitFor();
    await page.unrouteAll();
    await page.route('**/graphql', (route, request) => {
      if (!request.postData()?.includes('query Account(')) return route.fallback();
      const error = { message: 'Try again later.', path: ['account'], extensions: { httpStatus: 503 } };
      return route.fulfill({ json: { data: { account: null }, errors: [error] } });
    });
    await open(`/dashboard/accounts/${id}`);
    await page.getByRole('alert').getByText('Try again later.').waitFor();
    expect(await page.getByText('There is nothing at this address').count()).toBe(0);
  });
});

describe('a form of the dashboard', () => {
  /** Answers the first try of a mutation in a way that says nothing of the outcome. Returns the keys of all tries. */
  async function lost(context: BrowserContext, mutation: string) {
    const keys: (string | undefined)[] = [];
    await context.route('**/graphql', async (route, request) => {
      if (!request.postData()?.includes(mutation)) return route.fallback();
      keys.push(request.headers()['idempotency-key']);
      if (keys.length > 1) return route.fallback();
      // The gateway has done it, and could not learn that in time.
      await route.fetch();
      const error = { message: 'Try again later.', extensions: { httpStatus: 503 } };
      return route.fulfill({ status: 503, json: { errors: [error] } });
    });
    return keys;
  }

  it('creates nothing twice after an answer that says nothing of the outcome', async () => {
    const { context, page, open } = await dashboard.signInAlone(1);
    await open('/dashboard/users/new');
    await page.getByLabel('Legal name').fill('Once Weavers');
    const keys = await lost(context, 'createConnectedUser');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByText('Try again later.').waitFor();
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('heading', { name: 'Once Weavers' }).waitFor();
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    const { body } = await dashboard.platform(1).get('/v1/accounts?search=Once%20Weavers');
    expect(body.data).toHaveLength(1);

    // A secret was lost with the answer, and no later answer has it.
    await open('/dashboard/developers/keys');
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog');
    await lost(context, 'createApiKey');
    for (const shown of ['Try again later.', 'the key was lost with its answer']) {
      await dialog.getByLabel('Secret key').fill(dashboard.tenants[0]!.testKey);
      await dialog.getByRole('button', { name: 'Create the key' }).click();
      await dialog.getByText(shown).waitFor();
    }
    await context.close();
  });
});

/** Presses Tab until an element has the focus. */
async function tabTo(target: Locator): Promise<void> {
  for (let presses = 0; presses < 100; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await target.page().keyboard.press('Tab');
  }
  throw new Error(`Tab does not come to ${target}`);
}

describe('payments in the dashboard', () => {
  it('are reconciled by keys alone, and say why they cannot be yet', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/payments?show=unreconciled');
    const first = rowsOf(page, 'Payments').getByRole('link').first();
    await first.waitFor();
    await tabTo(first);
    await page.keyboard.press('Enter');
    const form = page.getByRole('region', { name: 'Reconcile' });
    await form.getByText('Reference matches').first().waitFor();
    const send = form.getByRole('button', { name: /^Reconcile/ });
    expect(await send.isDisabled()).toBe(true);
    const why = await send.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${why}"]`).textContent()).toBe('Choose an invoice that the payment pays.');
    await tabTo(form.getByRole('checkbox').first());
    await page.keyboard.press('Space');
    await tabTo(send);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Counts towards' }).getByText('Matched').first().waitFor();
    expect(complaints).toEqual([]);

    // The number of an invoice may be as long as it wants, and have no spaces.
    const user = await dashboard.user(1, 'Indigo Looms');
    const dates = { creation_date: '2026-01-01', due_date: '2026-02-01' };
    const invoice = { amount: '1.00', currency: 'USD', reference_number: 'LONG'.repeat(25), ...dates };
    const terms = { currency: 'USD', purpose_code: 'P0102', transaction_type: 'goods' };
    expect((await user.post('/v1/receivables', { ...terms, invoice })).status).toBe(200);
    await open('/dashboard/payments?show=unreconciled');
    await first.click();
    await form.getByLabel('Find by invoice number').fill('LONGLONG');
    await form.getByText(invoice.reference_number).waitFor();

    // A refusal has the figure that it is about, and the gateway's own sentence behind it.
    await form.getByRole('checkbox').first().check();
    await form.getByLabel(/^Amount for LONG/).fill('1.01');
    await send.click();
    await form.getByText(/^At most \$1\.00 is open on LONG/).waitFor();
    await form.getByText('Details', { exact: true }).click();
    await form.locator('details p').waitFor();
    await page.setViewportSize({ width: 320, height: 700 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  });
});

describe('payouts in the dashboard', () => {
  it('are announced, and list the invoices that they settle, also on paper', async () => {
    const { page, complaints, open } = await dashboard.signIn(2, 'Lighthouse Courses');
    await open('/dashboard/settings');
    await page
      .getByRole('link', { name: /^Payouts( \d+\+? waiting)?$/ })
      .first()
      .click();
    await page.getByRole('region', { name: 'Coming' }).getByText('Daily payout').waitFor();
    await page.getByLabel('Status').selectOption('COMPLETED');
    const first = rowsOf(page, 'Payouts').getByRole('link').first();
    await first.focus();
    // The arrow keys move from row to row.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const invoices = page.getByRole('table', { name: 'Settled invoices' });
    await invoices.waitFor();
    const id = page.url().split('/').at(-1);
    const user = await dashboard.user(2, 'Lighthouse Courses');
    const { body } = await user.graph(
      '($id: ID!) { payout(id: $id) { amount currency allocations(first: 50) { nodes { amount currency } } } }'.replace(
        /^/,
        'query ',
      ),
      { id },
    );
    const { amount, currency, allocations } = body.data.payout;
    const shown = await invoices.locator('.money').allTextContents();
    expect(shown).toEqual([...allocations.nodes, { amount, currency }].map(asShown));
    await page.emulateMedia({ media: 'print' });
    await page.getByRole('heading', { name: 'Statement of inward remittance (test mode: no real money)' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });
});

describe('the statement of a payout', () => {
  /** Money of a direct user that a receivable explains. */
  async function earned(user: Speaker, amount: string): Promise<string> {
    const sent = { amount, currency: 'INR', to: { account_id: user.id }, payment_method: 'upi' };
    // The sandbox issues the address of the user in steps of some seconds.
    const { id } = await must(
      eventually(
        () => user.post('/v1/deposits', sent),
        ({ status }) => status !== 402,
      ),
    );
    await completeDeposit(user, id);
    const receivable = await must(user.post('/v1/receivables', receivableBody({ amount, currency: 'INR' })));
    await must(user.post(`/v1/deposits/${id}/reconcile`, { receivables: [{ id: receivable.id, amount }] }));
    return id;
  }
  /** The newest payout of the next day. */
  async function paidOut(user: Speaker, sourceAmount: string): Promise<string> {
    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    const query = '{ payouts(first: 1) { nodes { id sourceAmount } } }';
    const [payout] = await eventually(
      async () => (await user.graph(query)).body.data.payouts.nodes,
      ([newest]) => newest?.sourceAmount === sourceAmount,
    );
    return payout.id;
  }

  it('tells adjustments from money taken back, also after a payout that failed', async () => {
    const user = await givenIn(dashboard.world).directUser(2);
    const dispute = (id: string, amount: string) =>
      must(user.post(`/v1/test_helpers/deposits/${id}/dispute`, { amount }));
    const adjust = (side: 'credit' | 'debit', amount: string, reason: string) =>
      must(
        user.post('/v1/test_helpers/adjustments', {
          ...{ account_id: user.id, [side]: { amount, currency: 'INR' }, reason },
        }),
      );
    await payoutAddress(user);
    const deposit = await earned(user, '100.00');
    await adjust('debit', '7.50', 'Courier <b>fee</b>');
    const failed = await paidOut(user, '92.50');
    await must(user.post(`/v1/test_helpers/payouts/${failed}/fail`));
    await adjust('credit', '2.25', 'Its return');
    await dispute(deposit, '10.00');
    // What was taken back before the payout is no part of its invoices any more.
    const settled = await paidOut(user, '84.75');
    await must(user.post(`/v1/test_helpers/payouts/${settled}/settle`));
    // This is of an invoice that is settled, so the next payout has less than its invoices.
    await dispute(deposit, '20.00');
    await earned(user, '50.00');
    await adjust('debit', '0.30', 'Stamp');
    const last = await paidOut(user, '29.70');
    // The second may change between a payout and the movement of its money.
    const payouts = [settled, last];
    await dashboard.world.sql`update payout set created = created - 1 where id = any(${payouts})`;

    const { context, page, complaints, open } = await dashboard.visit('/dashboard');
    await page.getByLabel('API key').fill(user.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const lines = async (id: string) => {
      await open(`/dashboard/payouts/${id}`);
      await page
        .getByRole('button', { name: /^Print/ })
        .and(page.locator(':enabled'))
        .waitFor();
      const rows = rowsOf(page, 'Settled invoices');
      return (await rows.allInnerTexts()).map((text) => text.split(/\s*[\n\t]\s*/).filter(Boolean));
    };
    expect((await lines(settled)).map(([name, ...more]) => [name, ...more].slice(-3))).toEqual([
      [expect.anything(), expect.anything(), '₹90.00 INR'],
      ['Adjustment', 'Its return', '₹2.25 INR'],
      ['Adjustment', 'Courier <b>fee</b>', '-₹7.50 INR'],
    ]);
    expect((await lines(last)).slice(1)).toEqual([
      ['Adjustment', 'Stamp', '-₹0.30 INR'],
      ['Money taken back', '-₹20.00 INR'],
    ]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('disputes in the dashboard', () => {
  disputeStories({
    signIn: () => dashboard.signIn(1, 'Indigo Looms'),
    visit: () => dashboard.visit('/dashboard'),
    platform: () => dashboard.platform(1),
    user: () => dashboard.user(1, 'Indigo Looms'),
  });
});

describe('users in the dashboard', () => {
  it('are onboarded by the requirements of the gateway, and activated', async () => {
    const { page, complaints, open } = await dashboard.signIn(1);
    await open('/dashboard/settings');
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByLabel('Status').selectOption('DRAFT');
    await page.getByRole('link', { name: 'Deccan Robotics' }).click();
    const activate = page.getByRole('button', { name: 'Activate', exact: true });
    await page.getByText('5 things missing').waitFor();
    expect(await activate.isDisabled()).toBe(true);
    expect(await page.locator(`#${await activate.getAttribute('aria-describedby')}`).textContent()).toBe(
      '5 things missing',
    );
    const details = page.getByRole('form', { name: 'Details of the business' });
    await details.getByLabel('Instead of Business ID').selectOption({ label: 'GST ID' });
    await details.getByLabel('GST ID').fill('29ABCDE1234F1Z5');
    await details.getByRole('button', { name: 'Save details' }).click();
    await page.getByText('4 things missing').waitFor();
    // A step stays, with a tick and what was given.
    const step = (title: string) => page.locator('.step', { has: page.locator('summary', { hasText: title }) });
    await step('Business').getByText('29ABCDE1234F1Z5').waitFor();
    await step('Business').getByText('Done').waitFor();
    expect(await step('Review').getByRole('listitem').count()).toBe(4);

    const person = page.getByRole('form', { name: 'Add a person' });
    await person.getByLabel('Full name').fill('Meera Rao');
    await person.getByLabel('Tax card number').fill('ABCPE1234F');
    await person.getByRole('button', { name: 'Add person' }).click();
    await page.getByText('1 thing missing').waitFor();
    await step('Persons').getByText('Meera Rao').waitFor();

    const bank = page.getByRole('form', { name: 'Add a payout account' });
    const values = {
      'Account number': '0045 0155 1234',
      'Account number again': '004501551243',
      'Routing code (IFSC)': 'BOTC0000451',
      Bank: 'Bank of the Coast',
    };
    const place = { 'Street of the holder': '1 Wharf', City: 'Pune', State: 'MH', 'Postal code': '411001' };
    // What the account has is not asked for again.
    expect(await bank.getByLabel('Account holder').inputValue()).toBe('Deccan Robotics Private Limited');
    expect(await bank.getByLabel('Currency').locator('option').allTextContents()).toEqual(['INR']);
    await bank.getByLabel('Routing code (IFSC)').fill('XX');
    await bank.getByLabel('City').focus();
    await bank.getByText('An IFSC has 11 characters').waitFor();
    for (const [label, value] of Object.entries({ ...values, ...place }))
      await bank.getByLabel(label, { exact: true }).fill(value);
    await bank.getByLabel('Country').selectOption({ label: 'India' });
    await bank.getByRole('button', { name: 'Add bank account' }).click();
    await bank.getByText('Enter a secret key').waitFor();
    await bank.getByLabel('Secret key').fill(dashboard.tenants[0]!.testKey);
    await bank.getByRole('button', { name: 'Add bank account' }).click();
    await bank.getByText('Both account numbers have to be the same').waitFor();
    await bank.getByLabel('Account number', { exact: true }).fill('004501551234');
    await bank.getByLabel('Account number again').fill('0045 0155 1234');
    await bank.getByLabel('Secret key').fill('sk_live_1');
    await bank.getByRole('button', { name: 'Add bank account' }).click();
    await bank.getByText('it begins with sk_test_').waitFor();
    await bank.getByLabel('Secret key').fill(dashboard.tenants[0]!.testKey);
    await bank.getByRole('button', { name: 'Add bank account' }).click();
    await page.getByRole('region', { name: 'Addresses' }).getByText('004501551234').waitFor();
    await step('Bank account for payouts').getByText('Done').waitFor();
    await step('Review').getByText('Everything that the activation needs is there.').waitFor();
    await activate.click();
    await page
      .locator('.amount-line')
      .getByText(/Verifying|Activated/)
      .waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('a user in India in the dashboard', () => {
  it('hears of mistyped numbers as fields are left, and again until they are right', async () => {
    const platform = dashboard.platform(1);
    const mutation =
      'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }';
    const physicalAddress = { line1: '1 Wharf', city: 'Pune', postalCode: '411001', country: 'IN' };
    const ids = { tax: 'bad', taxGst: 'bad', business: 'bad' };
    const businessDetails = { legalName: 'Konkan Spices', type: 'COMPANY', ids, physicalAddress };
    const { body } = await platform.graph(mutation, { input: { nickname: 'Konkan Spices', businessDetails } });
    const { page, complaints, open } = await dashboard.signIn(1);
    await open(`/dashboard/accounts/${body.data.createConnectedUser.account.id}`);
    const details = page.getByRole('form', { name: 'Details of the business' });
    const tax = details.getByLabel('Tax ID');
    await details.getByText('A PAN has 10 characters').waitFor();
    await tax.fill('AAACA12345');
    await details.getByText('A PAN has 10 characters').waitFor({ state: 'detached' });
    await tax.blur();
    await details.getByText('A PAN has 10 characters').waitFor();
    await tax.fill('AAPFU0939F');
    for (const [label, wrong, right, sentence] of [
      ['GST ID', '27AAPFU0939F1ZW', '27AAPFU0939F1ZV', 'A character of this one is wrong.'],
      ['Business ID', 'U52100RJ2014PTC04123', 'U52100RJ2014PTC041234', 'A CIN has 21 characters'],
    ] as const) {
      await details.getByLabel(label).fill(wrong);
      await details.getByLabel(label).blur();
      await details.getByText(sentence).waitFor();
      await details.getByLabel(label).fill(right);
      await details.getByText(sentence).waitFor({ state: 'detached' });
    }
    await details.getByRole('button', { name: 'Save details' }).click();
    await details.waitFor({ state: 'detached' });
    const person = page.getByRole('form', { name: 'Add a person' });
    await person.getByLabel('Tax card number (PAN)').fill('ABCPE1234');
    await person.getByLabel('Full name').focus();
    await person.getByText('A PAN has 10 characters').waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('checkouts in the dashboard', () => {
  it('are made from three fields, shown as a link and a code, shared, and followed live', async () => {
    const { page, complaints, open } = await dashboard.signIn(2, 'Lighthouse Courses');
    const user = await dashboard.user(2, 'Lighthouse Courses');
    await open('/dashboard/settings');
    await page.getByRole('link', { name: 'Checkouts' }).click();
    await page.getByRole('link', { name: 'New checkout' }).click();
    const form = page.getByRole('form', { name: 'New checkout' });
    await form.getByRole('button', { name: 'Create checkout' }).click();
    await expect.poll(() => form.getByLabel('Amount (INR)').getAttribute('aria-invalid')).toBe('true');
    await form.getByLabel('Customer').selectOption('Asha Traders');
    await form.getByLabel('Invoice').selectOption({ index: 1 });
    const amount = form.getByLabel('Amount (INR)');
    const left = await amount.inputValue();
    await amount.fill('9999999.00');
    await form.getByRole('button', { name: 'Create checkout' }).click();
    const told = (await form.getByText(/At most ₹[\d,.]+ is open on INV-\d+\./).textContent())!;
    expect(told.replaceAll(',', '')).toContain(`₹${left} is`);
    await amount.fill('1.50');
    await form.getByRole('button', { name: 'Create checkout' }).click();
    await page.getByRole('img', { name: 'QR code of the payment page' }).waitFor();
    const link = await page.getByRole('link', { name: 'Open the page' }).getAttribute('href');
    expect(await page.getByText(link!).count()).toBe(1);
    const attempts = page.getByRole('region', { name: 'Attempts' });
    await attempts.getByText('The customer has not opened the page yet.').waitFor();
    const facts = page.getByRole('region', { name: 'Details' });
    expect(await facts.getByText(/^(Opened|Last tried)$/).count()).toBe(0);
    const listed = rowsOf(page, 'Checkouts').filter({ hasText: '₹1.50' });
    const detail = new URL(page.url()).pathname;
    await open('/dashboard/checkouts');
    await listed.getByText(/^INV-\d+ · not opened yet$/).waitFor();
    const payer = await page.context().newPage();
    await payer.goto(link!);
    await payer.locator('main[data-state]').waitFor();
    const times = async () => {
      const query = 'query ($id: ID!) { checkout(id: $id) { openedAt lastTriedAt } }';
      const { body } = await user.graph(query, { id: detail.split('/').at(-1) });
      return body.data.checkout as { openedAt: string | null; lastTriedAt: string | null };
    };
    await expect.poll(async () => (await times()).openedAt).not.toBe(null);
    await payer.close();
    await open('/dashboard/checkouts');
    await listed.getByText(/^INV-\d+ · opened \w/).waitFor();
    await open(detail);
    await attempts
      .getByText(/^The customer has opened the page, last on .*, and has not tried to pay yet\.$/)
      .waitFor();
    const { openedAt } = await times();
    expect(
      await facts
        .locator('div', { hasText: /^Opened/ })
        .locator('time')
        .getAttribute('datetime'),
    ).toBe(openedAt);
    expect(await facts.getByText('Last tried').count()).toBe(0);
    // A browser that cannot share has links with the text instead.
    const sent = async (name: string) => (await page.getByRole('link', { name }).getAttribute('href'))!;
    expect(await sent('WhatsApp')).toMatch(/^https:\/\/wa\.me\/\?text=Please%20pay%20/);
    const mail = new URL(await sent('Mail'));
    expect([mail.protocol, mail.searchParams.get('subject')]).toEqual(['mailto:', 'Payment to Lighthouse Courses']);
    expect(mail.searchParams.get('body')).toMatch(
      new RegExp(`^Please pay ₹1.50 to Lighthouse Courses for INV-\\d+: ${link!}$`),
    );
    await page.getByRole('region', { name: 'Test tools' }).getByRole('button', { name: 'Pay' }).click();
    await page.getByRole('dialog').getByLabel('Payment method').selectOption('UPI');
    await page.getByRole('dialog').getByRole('button', { name: 'Pay' }).click();
    await page.getByRole('status').getByText('Completed').waitFor();
    await attempts.getByText('Succeeded').waitFor();
    const tried = facts.locator('div', { hasText: /^Last tried/ }).locator('time');
    expect(await tried.getAttribute('datetime')).toBe((await times()).lastTriedAt);
    expect(complaints).toEqual([]);
  });

  it('of a platform are for one of its users, and offer what the chosen customer owes', async () => {
    const user = await dashboard.user(2, 'Lighthouse Courses');
    const { body } = await user.graph('{ partners(first: 10) { nodes { id nickname } } }');
    const idOf = (name: string) => body.data.partners.nodes.find((each: Named) => each.nickname === name).id;
    const customers = {
      'OF-ASHA': idOf('Asha Traders'),
      'OF-VINDHYA': idOf('Vindhya Textiles'),
      'OF-NOBODY': undefined,
    };
    for (const [reference_number, customer_id] of Object.entries(customers)) {
      const dates = { creation_date: '2026-01-01', due_date: '2026-02-01' };
      const invoice = { amount: '20.00', currency: 'INR', reference_number, ...dates };
      const terms = { currency: 'INR', purpose_code: 'P0802', transaction_type: 'services' };
      expect((await user.post('/v1/receivables', { ...terms, invoice, customer_id })).status).toBe(200);
    }
    const { page, complaints, open } = await dashboard.signIn(2);
    await open('/dashboard/checkouts/new');
    const form = page.getByRole('form', { name: 'New checkout' });
    const invoices = form.getByLabel('Invoice', { exact: true });
    const amount = form.getByLabel('Amount (INR)');
    await form.getByLabel('Received by').selectOption('Lighthouse Courses');
    await form.getByLabel('Customer').selectOption('Vindhya Textiles');
    await invoices.selectOption('OF-VINDHYA · ₹20.00 open');
    expect(await amount.inputValue()).toBe('20.00');
    const another = form.getByLabel('Another invoice');
    await another.locator('option', { hasText: 'OF-NOBODY' }).waitFor({ state: 'attached' });
    expect(await another.textContent()).not.toMatch(/OF-ASHA|OF-VINDHYA/);
    await another.selectOption('OF-NOBODY · ₹20.00 open');
    expect(await amount.inputValue()).toBe('40.00');
    await form.getByRole('button', { name: 'Remove OF-NOBODY' }).click();
    expect(await amount.inputValue()).toBe('20.00');
    // With another customer the choice is another, too.
    await form.getByLabel('Customer').selectOption('Asha Traders');
    await invoices.locator('option', { hasText: 'OF-ASHA' }).waitFor({ state: 'attached' });
    expect(await invoices.textContent()).not.toContain('OF-VINDHYA');
    expect([await invoices.inputValue(), await amount.inputValue()]).toEqual(['', '']);
    await invoices.selectOption('OF-NOBODY · ₹20.00 open');
    await another.selectOption('OF-ASHA · ₹20.00 open');
    await form.getByLabel('Cards').uncheck();
    expect(await form.getByLabel('UPI').isDisabled()).toBe(true);
    await form.getByLabel('Can be paid for').selectOption('3 days');
    // A device that can share does so by its own dialog.
    await page.evaluate(() => {
      const shared: ShareData[] = [];
      Object.assign(window, { shared });
      Object.defineProperty(navigator, 'share', {
        configurable: true,
        value: async (it: ShareData) => shared.push(it),
      });
    });
    await form.getByRole('button', { name: 'Create checkout' }).click();
    await page.getByRole('heading', { name: 'Checkout for Asha Traders' }).waitFor();
    const [checkout] = /checkout_\w+/.exec(page.url())!;
    const asked = await user.graph('query ($id: ID!) { checkout(id: $id) { created expiresAt } }', { id: checkout });
    const { created, expiresAt } = asked.body.data.checkout;
    expect(Date.parse(expiresAt) - Date.parse(created)).toBe(3 * 86_400_000);
    const details = page.getByRole('region', { name: 'Details' });
    for (const name of ['OF-NOBODY', 'OF-ASHA']) await details.getByRole('link', { name }).waitFor();
    await details.getByText('UPI', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Share' }).click();
    const [shared] = await page.evaluate(() => (window as unknown as { shared: ShareData[] }).shared);
    expect(shared!.text).toBe('Please pay ₹40.00 to Lighthouse Courses for OF-NOBODY, OF-ASHA:');
    expect(shared!.url).toMatch(/^https?:/);
    // A browser that cannot share has links to WhatsApp and to a mail.
    await page.reload();
    const addressOf = (name: string) => page.getByRole('link', { name, exact: true }).getAttribute('href');
    const said = encodeURIComponent(`${shared!.text} ${shared!.url}`);
    expect([await addressOf('WhatsApp'), await addressOf('Mail')]).toEqual([
      `https://wa.me/?text=${said}`,
      `mailto:?subject=Payment%20to%20Lighthouse%20Courses&body=${said}`,
    ]);
    expect(complaints).toEqual([]);
  });
});

describe('a page', () => {
  it('asks again when something has happened, else only every minute; without a stream every few seconds', async () => {
    const { context, page, open } = await dashboard.signInAlone(2, 'Lighthouse Courses');
    const user = await dashboard.user(2, 'Lighthouse Courses');
    let asked = 0;
    page.on('request', (request) => {
      if (request.postData()?.includes('query Checkouts')) asked++;
    });
    const timesAfter = async (milliseconds: number) => {
      const before = asked;
      await page.clock.fastForward(milliseconds);
      await page.evaluate(() => fetch('/healthz').then((answer) => answer.text()));
      return asked - before;
    };
    await page.clock.install();
    const stream = page.waitForResponse((answer) => /event-stream/.test(answer.headers()['content-type'] ?? ''));
    await open('/dashboard/checkouts');
    await page.getByRole('cell').first().waitFor();
    expect((await stream).status()).toBe(200);
    // Once to show the list, and soon after the stream has opened, for what has happened until then.
    await expect
      .poll(async () => {
        await timesAfter(2_500);
        return asked;
      })
      .toBe(2);
    // From here on the page's time passes in steps alone, however long they take here.
    await page.clock.pauseAt(await page.evaluate(() => Date.now() + 3_000));
    expect(await timesAfter(40_000)).toBe(0);
    expect(await timesAfter(20_000)).toBe(1);

    await page.clock.resume();
    const known = asked;
    await user.partner();
    await expect.poll(() => asked).toBeGreaterThan(known);

    await context.route('**/graphql', (route, request) =>
      request.headers().accept?.startsWith('text/event-stream') ? route.abort() : route.fallback(),
    );
    await page.reload();
    await page.getByRole('cell').first().waitFor();
    await timesAfter(2_500);
    for (let i = 0; i < 3; i++) expect(await timesAfter(10_000)).toBeGreaterThan(0);

    // A list that did not reach the gateway is there again when the gateway can be reached.
    const list = (request: Request) => request.postData()?.includes('query Checkouts') === true;
    await context.route('**/graphql', (route, request) => (list(request) ? route.abort() : route.fallback()));
    await page.reload();
    await page.getByText('could not be reached').waitFor();
    await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000));
    for (let i = 0; i < 2; i++) expect(await timesAfter(3_500)).toBeGreaterThan(0);
    await context.unrouteAll();
    await timesAfter(3_500);
    await page.getByRole('cell').first().waitFor();
    await context.close();
  });
});
