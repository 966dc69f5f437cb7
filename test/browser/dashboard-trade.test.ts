import fs from 'node:fs';
import fc from 'fast-check';
import type { BrowserContext, Locator, Page, Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { decimal, formatMoney, sum } from '../../src/sites/dashboard/format/money.js';
import { changeDocuments, faults, refusedTotals, useDashboard } from './dashboard-fixture.js';
import { sandboxStories } from './dashboard-sandbox.js';
import { completeDeposit, Speaker, tenantOf } from '../support/world.js';
import { addressesOf, Answers, hostileTenant, routesOf, wrongOn } from './dashboard-walk.js';

const dashboard = useDashboard();

const pdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF');
type Named = { id: string; nickname: string };
const rowsOf = (page: Page, table: string) => page.getByRole('table', { name: table }).locator('tbody tr');

describe('receivables in the dashboard', () => {
  it('are listed by age, created with a document, changed and voided', async () => {
    const { page, complaints, open } = await dashboard.desk(1, 'Indigo Looms');
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
    await form.getByLabel('Amount (USD)').fill(' 1250.10 ');
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

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Description').fill('Rugs');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('region', { name: 'Details' }).getByText('Rugs').waitFor();
    await page.getByRole('button', { name: 'Void' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Void receivable' }).click();
    await page.locator('.amount-line').getByText('Void').waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describe('a part of a page that the gateway refuses', () => {
  it('shows its error in its place, and the other parts stay', async () => {
    const { page, open } = await dashboard.ownDesk(1, 'Indigo Looms');
    await changeDocuments(page, refusedTotals);
    await open('/dashboard');
    const part = (name: string) => page.getByRole('region', { name });
    const alert = part('Money in').getByRole('alert');
    await alert.getByText('must be later than').waitFor();
    expect(await alert.getByText(/^Request req_/).count()).toBe(1);
    await part('Balances').locator('.balance-total').first().waitFor();
    await part('To reconcile').waitFor();
    await part('Latest events').locator('li').first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    // What was refused is asked for again.
    await page.unrouteAll();
    await alert.getByRole('button', { name: 'Try again' }).click();
    await part('Money in').getByRole('img').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('of which null says something else is not said to be that', async () => {
    const { page, open } = await dashboard.ownDesk(1, 'Indigo Looms');
    await page.route('**/graphql', async (route, request) => {
      if (!request.postData()?.includes('query Work(')) return route.fallback();
      const answer = await (await route.fetch()).json();
      answer.data.deposits.totalCount = null;
      const error = { message: 'Too slow.', path: ['deposits', 'totalCount'], extensions: { httpStatus: 503 } };
      return route.fulfill({ json: { ...answer, errors: [error] } });
    });
    await open('/dashboard');
    await page.getByRole('region', { name: 'To reconcile' }).getByText('number not known').waitFor();
    expect(await page.getByText('over 10,000').count()).toBe(0);
  });

  it('of an object leaves the object, and an object that cannot be read is not said to be missing', async () => {
    const { page, open } = await dashboard.ownDesk(1, 'Indigo Looms');
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
    const { context, page, open } = await dashboard.ownDesk(1);
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
    const { page, complaints, open } = await dashboard.desk(1, 'Indigo Looms');
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
    await page.getByRole('region', { name: 'Counts towards' }).getByText('Locked').first().waitFor();
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
    await page.setViewportSize({ width: 320, height: 700 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  });
});

describe('payouts in the dashboard', () => {
  it('are announced, and list the invoices that they settle, also on paper', async () => {
    const { page, complaints, open } = await dashboard.desk(2, 'Lighthouse Courses');
    await open('/dashboard/settings');
    await page.getByRole('link', { name: 'Payouts', exact: true }).first().click();
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
    await page.getByRole('heading', { name: 'Statement of inward remittance' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });
});

describe('users in the dashboard', () => {
  it('are onboarded by the requirements of the gateway, and activated', async () => {
    const { page, complaints, open } = await dashboard.desk(1);
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

    const person = page.getByRole('form', { name: 'Add a person' });
    await person.getByLabel('Full name').fill('Meera Rao');
    await person.getByLabel('Tax card number').fill('ABCPE1234F');
    await person.getByRole('button', { name: 'Add person' }).click();
    await page.getByText('1 thing missing').waitFor();

    const bank = page.getByRole('form', { name: 'Add a payout account' });
    const values = {
      'Account holder': 'Deccan',
      'Account number': '004501551234',
      'Routing code (IFSC)': 'BOTC0000451',
    };
    const place = { 'Street of the holder': '1 Wharf', City: 'Pune', State: 'MH', 'Postal code': '411001' };
    for (const [label, value] of Object.entries({ ...values, ...place, Bank: 'Bank of the Coast' }))
      await bank.getByLabel(label, { exact: true }).fill(value);
    await bank.getByLabel('Country').selectOption({ label: 'India' });
    await bank.getByRole('button', { name: 'Add bank account' }).click();
    await bank.getByText('Enter a secret key').waitFor();
    await bank.getByLabel('Secret key').fill('sk_live_1');
    await bank.getByRole('button', { name: 'Add bank account' }).click();
    await bank.getByText('it begins with sk_test_').waitFor();
    await bank.getByLabel('Secret key').fill(dashboard.tenants[0]!.testKey);
    await bank.getByRole('button', { name: 'Add bank account' }).click();
    await page.getByRole('region', { name: 'Addresses' }).getByText('004501551234').waitFor();
    await activate.click();
    await page
      .locator('.amount-line')
      .getByText(/Verifying|Activated/)
      .waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('checkouts in the dashboard', () => {
  it('are made from three fields, shown as a link and a code, and followed live', async () => {
    const { page, complaints, open } = await dashboard.desk(2, 'Lighthouse Courses');
    await open('/dashboard/settings');
    await page.getByRole('link', { name: 'Checkouts' }).click();
    await page.getByRole('link', { name: 'New checkout' }).click();
    const form = page.getByRole('form', { name: 'New checkout' });
    await form.getByRole('button', { name: 'Create checkout' }).click();
    await expect.poll(() => form.getByLabel('Amount (INR)').getAttribute('aria-invalid')).toBe('true');
    await form.getByLabel('Customer').selectOption('Asha Traders');
    await form.getByLabel('Invoice').selectOption({ index: 1 });
    await form.getByLabel('Amount (INR)').fill('1.50');
    await form.getByRole('button', { name: 'Create checkout' }).click();
    await page.getByRole('img', { name: 'QR code of the payment page' }).waitFor();
    const link = await page.getByRole('link', { name: 'Open the page' }).getAttribute('href');
    expect(await page.getByText(link!).count()).toBe(1);
    await page.getByRole('region', { name: 'Test tools' }).getByRole('button', { name: 'Pay' }).click();
    await page.getByRole('dialog').getByLabel('Payment method').selectOption('UPI');
    await page.getByRole('dialog').getByRole('button', { name: 'Pay' }).click();
    await page.getByRole('status').getByText('Completed').waitFor();
    await page.getByRole('region', { name: 'Attempts' }).getByText('Succeeded').waitFor();
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
    const { page, complaints, open } = await dashboard.desk(2);
    await open('/dashboard/checkouts/new');
    const form = page.getByRole('form', { name: 'New checkout' });
    const invoices = form.getByLabel('Invoice', { exact: true });
    const amount = form.getByLabel('Amount (INR)');
    await form.getByLabel('Received by').selectOption('Lighthouse Courses');
    await form.getByLabel('Customer').selectOption('Vindhya Textiles');
    await invoices.selectOption('OF-VINDHYA · ₹20.00 open');
    expect(await amount.inputValue()).toBe('20.00');
    expect(await invoices.textContent()).toContain('OF-NOBODY');
    expect(await invoices.textContent()).not.toContain('OF-ASHA');
    // With another customer the choice is another, too.
    await form.getByLabel('Customer').selectOption('Asha Traders');
    await invoices.locator('option', { hasText: 'OF-ASHA' }).waitFor({ state: 'attached' });
    expect(await invoices.textContent()).not.toContain('OF-VINDHYA');
    expect([await invoices.inputValue(), await amount.inputValue()]).toEqual(['', '']);
    await invoices.selectOption('OF-NOBODY · ₹20.00 open');
    await form.getByRole('button', { name: 'Create checkout' }).click();
    await page.getByRole('heading', { name: 'Checkout for Asha Traders' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('a page', () => {
  it('asks again when something has happened, else only every minute; without a stream every few seconds', async () => {
    const { context, page, open } = await dashboard.ownDesk(2, 'Lighthouse Courses');
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

const asShown = (money: { amount: string; currency: string }) => `${formatMoney(money)} ${money.currency}`;

/** The money of each row of a list, by the query that answers the same list. */
const lists = [
  ['/payments', 'Payments', 'deposits { nodes { amount currency } }'],
  [
    '/payments?sort=amount',
    'Payments',
    'deposits(orderBy: AMOUNT_DESC, currency: ["INR"]) { nodes { amount currency } }',
  ],
  ['/receivables', 'Receivables', 'receivables { nodes { currency amountReconcilable invoice { amount } } }'],
  [
    '/receivables?show=overdue',
    'Receivables',
    'receivables(overdue: true, orderBy: DUE_DATE_ASC) { nodes { currency amountReconcilable invoice { amount } } }',
  ],
  ['/checkouts', 'Checkouts', 'checkouts { nodes { amount currency } }'],
  ['/payouts', 'Payouts', 'payouts { nodes { amount currency sourceAmount sourceCurrency } }'],
] as const;

interface Row {
  amount?: string;
  currency: string;
  amountReconcilable?: string;
  sourceAmount?: string;
  sourceCurrency?: string;
  invoice?: { amount: string };
}

describe('the money of the pages', () => {
  const cents = fc.bigInt({ min: 1n, max: 99_999_999_999_999n });

  const traders = [
    [1, 'Malabar Spice', 'USD', { method: 'global_wire', purpose: 'P0102' }],
    [2, 'Lighthouse Courses', 'INR', { method: 'upi', purpose: 'P0802' }],
  ] as const;
  it.each(traders)(
    'equals that of the graph to the cent, in every list of Edition %i',
    async (edition, name, currency, way) => {
      const { page, complaints, open, go } = await dashboard.desk(edition, name);
      await open('/dashboard/settings');
      const user = await dashboard.user(edition, name);
      for (const amount of fc.sample(cents, 2).map(decimal)) {
        const dates = { creation_date: '2026-01-01', due_date: '2026-02-01' };
        const invoice = { amount, currency, reference_number: `GEN-${amount}`, ...dates };
        const made = await Promise.all([
          user.post('/v1/deposits', { amount, currency, to: { account_id: user.id }, payment_method: way.method }),
          user.post('/v1/receivables', { currency, purpose_code: way.purpose, transaction_type: 'goods', invoice }),
        ]);
        expect(made.map(({ status }) => status)).toEqual([200, 200]);
        await go(`/dashboard/payments/${made[0].body.id}`);
        await page.locator('.amount-line .money').waitFor();
        const shown = [await page.locator('.amount-line .money').textContent()];
        await go(`/dashboard/receivables/${made[1].body.id}`);
        await page.getByRole('region', { name: 'Paid' }).waitFor();
        shown.push(...(await page.getByRole('region', { name: 'Paid' }).locator('.money').allTextContents()));
        const zero = asShown({ amount: '0.00', currency });
        const whole = asShown({ amount, currency });
        expect(shown).toEqual([whole, zero, zero, whole]);
      }
      for (const [path, table, list] of lists) {
        // The orders and filters of the lists are those of both editions.
        if (edition === 1 && (path.includes('?') || path === '/checkouts')) continue;
        const query = list.replace('["INR"]', `["${currency}"]`);
        // A list shows its last rows until it has those of another order or filter.
        await (path.includes('?') ? open : go)(`/dashboard${path}`);
        await rowsOf(page, table).first().waitFor();
        const shown = await rowsOf(page, table).locator('.money').allTextContents();
        const { body } = await user.graph(
          `{ ${query.replace(/[({]/, (found) => (found === '(' ? '(first: 25, ' : '(first: 25) {'))} }`,
        );
        const [{ nodes }] = Object.values(body.data) as [{ nodes: Row[] }];
        const amounts = nodes.flatMap(
          ({ amount, currency, amountReconcilable, sourceAmount, sourceCurrency, invoice }) => [
            asShown({ amount: (amount ?? invoice?.amount)!, currency }),
            // What is open stands below the amount of an invoice that was paid in part.
            ...(amountReconcilable && ![invoice?.amount, '0.00'].includes(amountReconcilable)
              ? [asShown({ amount: amountReconcilable, currency })]
              : []),
            ...(sourceAmount && sourceCurrency !== currency
              ? [asShown({ amount: sourceAmount, currency: sourceCurrency! })]
              : []),
          ],
        );
        expect({ path, shown }).toEqual({ path, shown: amounts });
      }
      const { body } = await user.graph(
        `{ viewer { account { nextPayoutAt payoutsBlockedBy { currency } balance(scope: DESCENDANTS) { pending { ...M }
          available { ...M } processing { ...M } payoutProcessing { ...M } } } } }
      fragment M on Money { amount currency }`,
      );
      await go('/dashboard');
      const balances = page.getByRole('region', { name: 'Balances' });
      await balances.locator('.balance').first().waitFor();
      const compartments = Object.values(body.data.viewer.account.balance) as { amount: string; currency: string }[][];
      const amounts = compartments.map((money) => money.find((each) => each.currency === currency)?.amount ?? '0.00');
      const shown = await balances.locator('.balance').first().locator('.money').allTextContents();
      expect(shown).toEqual([sum(amounts), ...amounts].map((amount) => asShown({ amount, currency })));
      const { nextPayoutAt, payoutsBlockedBy, balance } = body.data.viewer.account;
      const stopped = payoutsBlockedBy.map((each: { currency: string | null }) => each.currency ?? currency);
      const due = (nextPayoutAt ? balance.available : []).filter(
        (each: Row) => each.amount !== '0.00' && !stopped.includes(each.currency),
      );
      const next = page.getByRole('region', { name: 'Next payout' });
      await next.locator('p').first().waitFor();
      expect(await next.locator('.money').allTextContents()).toEqual(due.map(asShown));
      expect({ edition, due: due.length }).toEqual({ edition, due: 1 });
      expect(complaints).toEqual([]);
    },
  );

  it('that waits for reconciliation is listed from all pages of the gateway', async () => {
    const platform = dashboard.platform(1);
    const waiting: string[] = [];
    let [after, pages]: [string | null, number] = [null, 0];
    do {
      const query = `query ($after: ID) { deposits(status: [COMPLETED], first: 100, after: $after) {
        nodes { id pendingRest } pageInfo { hasNextPage endCursor } } }`;
      const { body }: { body: any } = await platform.graph(query, { after });
      const { nodes, pageInfo } = body.data.deposits;
      waiting.push(...nodes.filter((each: any) => each.pendingRest !== '0.00').map(({ id }: { id: string }) => id));
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      pages++;
    } while (after !== null);
    expect(pages).toBeGreaterThan(1);
    const { page, complaints, open } = await dashboard.desk(1);
    await open('/dashboard/payments?show=unreconciled');
    await rowsOf(page, 'Payments').first().waitFor();
    const shown = await rowsOf(page, 'Payments')
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')!.split('/').at(-1)));
    expect(shown.length).toBeGreaterThan(waiting.length > 25 ? 24 : 0);
    expect(shown).toEqual(waiting.slice(0, shown.length));
    expect(shown.length === waiting.length || (await page.getByRole('button', { name: 'Next page' }).isEnabled())).toBe(
      true,
    );
    expect(complaints).toEqual([]);
  });

  it('is exported completely, with the filters of the list', async () => {
    const { page, open } = await dashboard.desk(2, 'Lighthouse Courses');
    await open('/dashboard/settings');
    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.getByLabel('Status').selectOption('COMPLETED');
    await rowsOf(page, 'Payments').first().waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const lines = fs
      .readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    const user = await dashboard.user(2, 'Lighthouse Courses');
    const { body } = await user.graph('{ deposits(status: [COMPLETED], first: 100) { nodes { id amount } } }');
    const cells = lines.slice(1).map((line) => line.split(','));
    expect(cells.map(([id, ...rest]) => [id, rest.at(-3)])).toEqual(
      body.data.deposits.nodes.map(({ id, amount }: { id: string; amount: string }) => [id, amount]),
    );
  });
});

describe('customers and receivables', () => {
  it('that are not among the 100 newest are found by typing, and by the text of a payment', async () => {
    const { account, keys } = await dashboard.world.operator.createRoot({
      ...{ type: 'user', edition: 2, nickname: 'Typing', businessDetails: { legalName: 'Typing', type: 'company' } },
    });
    const user = new Speaker(dashboard.world, account.id, keys.test, 2);
    const oldest = await user.partner({ nickname: 'Zanskar Wool Traders' });
    await Promise.all(Array.from({ length: 100 }, () => user.partner()));
    const { context, page, complaints, open } = await dashboard.visit('/dashboard/receivables/new');
    await page.getByLabel('API key').fill(keys.test);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const select = page.getByLabel('Customer', { exact: true });
    await expect.poll(() => select.locator('option').count()).toBe(101);
    expect(await select.getByText('Zanskar').count()).toBe(0);
    await page.getByLabel('Find a customer').fill('zanskar wo');
    await expect.poll(() => select.locator('option').count()).toBe(2);
    await select.selectOption('Zanskar Wool Traders');
    // What is chosen stays chosen while another one is sought.
    await page.getByLabel('Find a customer').fill('nobody');
    await page.getByText('0 found').waitFor();
    expect(await select.inputValue()).toBe(oldest.id);

    const bill = (reference: string) =>
      user.post('/v1/receivables', {
        ...{ currency: 'INR', purpose_code: 'P0802', transaction_type: 'services' },
        invoice: {
          ...{ amount: '50.00', currency: 'INR', reference_number: reference },
          ...{ creation_date: '2026-01-01', due_date: '2031-01-01' },
        },
      });
    for (const reference of ['ZAN-1', 'ZAN-2']) expect((await bill(reference)).status).toBe(200);
    await Promise.all(Array.from({ length: 100 }, (_, i) => bill(`NEW-${i}`)));
    const made = await user.post('/v1/deposits', {
      ...{ amount: '70.00', currency: 'INR', to: { account_id: user.id } },
      ...{ payment_method: 'upi', statement_descriptor: 'ZAN-1' },
    });
    await completeDeposit(user, made.body.id);
    await open(`/dashboard/payments/${made.body.id}`);
    const form = page.getByRole('region', { name: 'Reconcile' });
    await form.getByText('Reference matches').waitFor();
    await form.getByLabel('ZAN-1').check();
    await form.getByLabel('Find by invoice number').fill('zan-2');
    await form.getByLabel('ZAN-2').check();
    await form.getByRole('button', { name: 'Reconcile ₹70.00' }).click();
    await page.getByRole('table', { name: 'Counts towards' }).getByText('ZAN-2').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('users', () => {
  it('that are not among the 100 newest are found by typing, for a receivable and a payment', async () => {
    const { account, keys } = await dashboard.world.operator.createRoot({
      ...{ type: 'platform', edition: 1, nickname: 'Many', businessDetails: { legalName: 'Many', type: 'company' } },
    });
    const platform = new Speaker(dashboard.world, account.id, keys.test, 1);
    const create = async (nickname: string): Promise<string> => {
      const { body } = await platform.graph(
        'mutation ($input: CreateConnectedUserInput!) { createConnectedUser(input: $input) { account { id } } }',
        { input: { nickname } },
      );
      return body.data.createConnectedUser.account.id;
    };
    const oldest = await create('Zanskar Wool');
    await Promise.all(Array.from({ length: 100 }, (_, i) => create(`Weaver ${i}`)));
    await dashboard.world.sql`update account set status = 'activated' where tenant_id = ${tenantOf(account)}`;
    // A draft cannot be paid, so it is not among those that are found.
    await create('Zanskar Draft');
    const { context, page, complaints, go } = await dashboard.visit('/dashboard/receivables/new');
    await page.getByLabel('API key').fill(keys.test);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const owedTo = page.getByLabel('Owed to');
    // The platform itself, and the newest users.
    await expect.poll(() => owedTo.locator('option').count()).toBe(101);
    expect(await owedTo.getByText('Zanskar').count()).toBe(0);
    await page.getByLabel('Find a user').fill('zanskar');
    await expect.poll(() => owedTo.locator('option').allTextContents()).toEqual(['Many', 'Zanskar Wool']);
    await owedTo.selectOption('Zanskar Wool');
    await page.getByLabel('Find a user').fill('nobody');
    await page.getByText('0 found').waitFor();
    expect(await owedTo.inputValue()).toBe(oldest);

    await go('/dashboard/payments');
    await page.getByRole('button', { name: 'Test payment' }).first().click();
    const dialog = page.getByRole('dialog');
    const receivedBy = dialog.getByLabel('Received by');
    await expect.poll(() => receivedBy.locator('option:checked').textContent()).toMatch(/^Weaver \d+$/);
    await dialog.getByLabel('Find a user').fill('zanskar');
    await receivedBy.selectOption('Zanskar Wool');
    // The form goes on with the user that was found. It was activated without its addresses.
    await dialog.getByText('Zanskar Wool has no receiving address yet').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('hostile texts and generated amounts', () => {
  /** Pages that show something else to a platform than to its user: their own forms, events and webhooks. */
  const ofOne = { platform: /^\/developers\/webhooks/, user: /^\/(.*\/new|developers\/events)$/ };
  /** Pages without money; every other page has to show some. */
  const withoutMoney = /^\/(settings|developers.*|.*\/new|accounts\/.*|users|customers)$/;

  it('are shown as they are on every page of the dashboard, by a platform and by its user', async () => {
    const { platform, objects, shown } = await hostileTenant(dashboard.world);
    const addresses = addressesOf(routesOf('dashboard'), objects);
    expect(addresses.length).toBeGreaterThan(25);
    const visit = await dashboard.visit('/dashboard');
    const { context, page, complaints, open, go } = visit;
    const answers = new Answers(page);
    await page.getByLabel('API key').fill(platform.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const wrong: string[] = [];
    for (const acting of [false, true]) {
      if (acting) {
        // The user is chosen by its name, which is hostile, too.
        await go('/dashboard/');
        await page.getByRole('button', { name: 'Act as a user' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'User' }).click();
        await page.getByRole('region', { name: 'Acting account' }).waitFor();
      }
      for (const address of addresses) {
        await go(`/dashboard${address}`);
        // What no session sees is shown with a key.
        const show = page.getByRole('button', { name: /^Show the (keys|sessions)$/ });
        if (await show.isVisible()) {
          await page.getByLabel('Secret key').fill(platform.key);
          await show.click();
          await page.getByRole('table').or(page.getByText('This account has no')).first().waitFor();
        }
        // The form has the invoices of the customer that is chosen.
        if (acting && address === '/checkouts/new') await page.getByLabel('Customer').selectOption({ index: 1 });
        const elsewhere = ofOne[acting ? 'platform' : 'user'].test(address);
        const found = await wrongOn(visit, (!elsewhere && shown[address]) || [], answers);
        if (!withoutMoney.test(address) && !(await page.getByText(/₹[\d,]+\.\d\d/).count())) found.push('no money');
        wrong.push(...found.map((what) => `${acting ? 'user' : 'platform'} ${address}: ${what}`));
      }
    }
    expect(wrong).toEqual([]);
    // The bank has not confirmed the payout yet, so its statement proves nothing.
    await open(`/dashboard${addresses.find((address) => address.startsWith('/payouts/'))}`);
    await page.getByRole('button', { name: 'Print provisional statement' }).waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.getByText('Not valid as a proof of remittance').waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('the tools of the sandbox', () => {
  sandboxStories({
    desk: (edition, nickname) => dashboard.desk(edition, nickname),
    key: (edition) => dashboard.tenants[edition - 1]!.testKey,
    faults,
  });
});
