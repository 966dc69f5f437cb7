import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimal, sum } from '../../src/sites/dashboard/format/money.js';
import { receivableBody } from '../support/bodies.js';
import { formatRate } from '../../src/sites/dashboard/format/money.js';
import { asShown, faults, rowsOf, useDashboard } from './dashboard-fixture.js';
import { sandboxStories } from './dashboard-sandbox.js';
import { accountIn } from '../support/onboarding-profile.js';
import { completeDeposit, Speaker } from '../support/world.js';
import { addressesOf, Answers, hostileTenant, routesOf, wrongOn } from './dashboard-walk.js';
import { createRoot } from '../../src/operator/account/accounts.js';

const dashboard = useDashboard();

/** The money of each row of a list, by the query that answers the same list. */
const lists = [
  ['/payments', 'Payments', 'deposits(scope: DESCENDANTS) { nodes { amount currency status pendingRest } }'],
  [
    '/payments?sort=amount',
    'Payments',
    'deposits(scope: DESCENDANTS, orderBy: AMOUNT_DESC, currency: ["INR"]) ' +
      '{ nodes { amount currency status pendingRest } }',
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
  status?: string;
  pendingRest?: string;
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
      const { page, complaints, open, go } = await dashboard.signIn(edition, name);
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
          ({ amount, currency, status, pendingRest, amountReconcilable, sourceAmount, sourceCurrency, invoice }) => [
            asShown({ amount: (amount ?? invoice?.amount)!, currency }),
            // What is left to reconcile stands below a payment of which a part is.
            ...(status === 'COMPLETED' && ![amount, '0.00'].includes(pendingRest)
              ? [asShown({ amount: pendingRest!, currency })]
              : []),
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
        `{ viewer { account { nextPayouts { amount { ...M } sourceAmount { ...M } rate }
          balance(scope: DESCENDANTS) { pending { ...M } available { ...M } processing { ...M }
            payoutProcessing { ...M } } } } }
      fragment M on Money { amount currency }`,
      );
      await go('/dashboard');
      const balances = page.getByRole('region', { name: 'Balances' });
      await balances.locator('.balance').first().waitFor();
      const compartments = Object.values(body.data.viewer.account.balance) as { amount: string; currency: string }[][];
      const amounts = compartments.map((money) => money.find((each) => each.currency === currency)?.amount ?? '0.00');
      const shown = await balances.locator('.balance').first().locator('.money').allTextContents();
      expect(shown).toEqual([sum(amounts), ...amounts].map((amount) => asShown({ amount, currency })));
      // What arrives, in its own currency.
      const payouts: { amount: Row; sourceAmount: Required<Row>; rate: string }[] =
        body.data.viewer.account.nextPayouts;
      const due = payouts.map(({ amount }) => amount);
      const next = page.getByRole('region', { name: 'Next payout' });
      await next.locator('p').first().waitFor();
      expect(await next.locator('.money').allTextContents()).toEqual(due.map((each) => asShown(each as Required<Row>)));
      expect({ edition, due: due.length }).toEqual({ edition, due: 1 });
      // From what it is converted, and at which rate.
      const [{ sourceAmount, rate }] = payouts as [(typeof payouts)[0]];
      const from = `from ${asShown(sourceAmount)} at ${formatRate(rate)}`;
      const converted = sourceAmount.currency !== due[0]!.currency;
      expect(await next.textContent()).toContain(converted ? from : 'so far');
      expect(complaints).toEqual([]);
    },
  );

  it('that waits for reconciliation is listed from all pages of the gateway', async () => {
    const platform = dashboard.platform(1);
    const waiting: string[] = [];
    let [after, pages]: [string | null, number] = [null, 0];
    do {
      const query = `query ($after: ID) { deposits(status: [COMPLETED], scope: DESCENDANTS, first: 100, after: $after) {
        nodes { id pendingRest } pageInfo { hasNextPage endCursor } } }`;
      const { body }: { body: any } = await platform.graph(query, { after });
      const { nodes, pageInfo } = body.data.deposits;
      waiting.push(...nodes.filter((each: any) => each.pendingRest !== '0.00').map(({ id }: { id: string }) => id));
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      pages++;
    } while (after !== null);
    expect(pages).toBeGreaterThan(1);
    const { page, complaints, open } = await dashboard.signIn(1);
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
});

describe('customers and receivables', () => {
  it('that are not among the 100 newest are found by typing, and by the text of a payment', async () => {
    const { account, keys } = await createRoot(dashboard.world.operator, {
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
      user.post(
        '/v1/receivables',
        receivableBody({
          amount: '50.00',
          currency: 'INR',
          reference_number: reference,
          creation_date: '2026-01-01',
          due_date: '2031-01-01',
        }),
      );
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
    const { account, keys } = await createRoot(dashboard.world.operator, {
      ...{ type: 'platform', edition: 1, nickname: 'Many', businessDetails: { legalName: 'Many', type: 'company' } },
    });
    const platform = new Speaker(dashboard.world, account.id, keys.test, 1);
    const create = (nickname: string, status: 'draft' | 'activated'): Promise<string> =>
      accountIn(platform, 'connected user', status, nickname);
    const oldest = await create('Zanskar Wool', 'activated');
    for (let tens = 0; tens < 100; tens += 10)
      await Promise.all(Array.from({ length: 10 }, (_, i) => create(`Weaver ${tens + i}`, 'activated')));
    // A draft cannot be paid, so it is not among those that are found.
    await create('Zanskar Draft', 'draft');
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
    // The form goes on with the user that was found.
    await expect
      .poll(() => dialog.getByLabel('Paid to').locator('option').allTextContents())
      .toEqual(expect.arrayContaining([expect.stringMatching(/^Zanskar Wool · USD · …/)]));
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('hostile texts and generated amounts', () => {
  /** Pages that show something else to a platform than to its user: their own forms, events and webhooks. */
  const ofOne = { platform: /^\/developers\/webhooks/, user: /^\/(.*\/new|developers\/events)$/ };
  /** Pages without money; every other page has to show some. */
  const withoutMoney = /^\/(settings.*|developers.*|.*\/(new|import)|imports\/.*|accounts\/.*|users|customers)$/;

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
    signIn: (edition, nickname) => dashboard.signIn(edition, nickname),
    key: (edition) => dashboard.tenants[edition - 1]!.testKey,
    faults,
  });
});
