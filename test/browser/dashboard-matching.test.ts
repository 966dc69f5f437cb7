import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { receivableBody } from '../support/bodies.js';
import { completeDeposit, eventually, must, type Speaker } from '../support/world.js';
import { faults, rowsOf, trade, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

const statusesOf = async (user: Speaker, ids: string[]) => {
  const all = await Promise.all(ids.map((id) => must(user.get(`/v1/receivables/${id}`))));
  return new Set(all.map(({ status }) => status as string));
};

const boxesOf = (page: Page, prefix: string) => rowsOf(page, 'Payments').filter({ hasText: prefix });

describe('payments to reconcile', () => {
  it('are matched together: fourteen with two clicks, and taken back before they are sent', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const { invoices } = await trade(user, 'ALL', 14);
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/payments?show=unreconciled');
    await expect.poll(() => boxesOf(page, 'ALL-').count()).toBe(14);
    const choose = page.getByRole('button', { name: /^Choose \d+ exact$/ });
    const exact = Number(/\d+/.exec((await choose.textContent()) ?? '')![0]);
    expect(exact).toBeGreaterThanOrEqual(14);

    await choose.click();
    await page.getByText(`${exact} chosen · $`).waitFor();
    await page.getByRole('button', { name: `Match ${exact}` }).click();
    await page.getByText(`Matching ${exact} payments, $`).waitFor();
    expect(await boxesOf(page, 'ALL-').getByRole('checkbox', { disabled: true, checked: true }).count()).toBe(14);
    // The button that was pressed is gone, and the keyboard goes on where it was.
    const foot = page.getByRole('region', { name: 'Chosen matches' });
    expect(await foot.evaluate((each) => each === document.activeElement)).toBe(true);
    await page.getByRole('button', { name: 'Undo' }).click();
    // The choice is as before, to leave one out.
    await page.getByText(`${exact} chosen · $`).waitFor();
    expect(await statusesOf(user, invoices)).toEqual(new Set(['open']));
    expect(await faults(page)).toEqual([]);

    await page.getByRole('button', { name: `Match ${exact}` }).click();
    // They are sent by themselves.
    await page.getByText(`${exact} payments reconciled, $`).waitFor();
    await expect.poll(() => boxesOf(page, 'ALL-').count()).toBe(0);
    expect(await statusesOf(user, invoices)).toEqual(new Set(['locked']));
    expect(complaints).toEqual([]);
  });

  it('are matched by keys, and sent at once when the page is left', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const { invoices } = await trade(user, 'KEY', 3);
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/payments?show=unreconciled');
    await expect.poll(() => boxesOf(page, 'KEY-').count()).toBe(3);
    const boxes = boxesOf(page, 'KEY-').getByRole('checkbox');
    // The newest stands first.
    await boxes.nth(0).focus();
    for (const key of ['Enter', 'j', 'k', 'Enter', 'ArrowDown']) await page.keyboard.press(key);
    expect(await boxes.evaluateAll((all) => all.map((box) => (box as HTMLInputElement).checked))).toEqual([
      ...[true, true, false],
    ]);
    await page.getByText('2 chosen · $').waitFor();
    await page.getByRole('button', { name: 'Match 2' }).click();
    await page.getByRole('button', { name: 'Send now' }).waitFor();
    await page
      .getByRole('link', { name: /^Receivables( \d+\+? waiting)?$/ })
      .first()
      .click();
    await eventually(
      () => statusesOf(user, invoices.slice(1)),
      (found) => found.size === 1 && found.has('locked'),
    );
    expect(await statusesOf(user, invoices.slice(0, 1))).toEqual(new Set(['open']));
    await open('/dashboard/payments?show=unreconciled');
    await boxes.first().focus();
    await page.keyboard.press('e');
    await page.getByRole('region', { name: 'Reconcile' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('say which match was refused and why, and what is left of a payment', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const { invoices, payments } = await trade(user, 'GONE', 2);
    const { page, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/payments?show=unreconciled');
    await expect.poll(() => boxesOf(page, 'GONE-').count()).toBe(2);
    for (const box of await boxesOf(page, 'GONE-').getByRole('checkbox').all()) await box.check();
    await page.getByRole('button', { name: 'Match 2' }).click();
    // While they wait, somebody else voids one of the invoices.
    await must(user.post(`/v1/receivables/${invoices[0]}/void`));
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByText('1 payment reconciled, $102.02.').waitFor();
    await page.getByText('Not reconciled').waitFor();
    await page.getByRole('status').getByText('with GONE-1. This invoice is void.').waitFor();
    expect(await faults(page)).toEqual([]);

    const { id } = await must(
      user.post('/v1/receivables', receivableBody({ amount: '1.01', reference_number: 'PART' })),
    );
    await must(user.post(`/v1/deposits/${payments[0]}/reconcile`, { receivables: [{ id, amount: '1.01' }] }));
    await boxesOf(page, 'GONE 1').getByText('$100.00').waitFor();
    await boxesOf(page, 'GONE 1').getByText('of $101.01').waitFor();
    await boxesOf(page, 'GONE 1').getByText('No invoice found').waitFor();
  });

  it('say with figures what was too much for an invoice or for a payment', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const { invoices, payments } = await trade(user, 'LESS', 2);
    const other = await trade(user, 'ELSE', 1);
    const { page, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/payments?show=unreconciled');
    await expect.poll(() => boxesOf(page, 'LESS-').count()).toBe(2);
    for (const box of await boxesOf(page, 'LESS-').getByRole('checkbox').all()) await box.check();
    await page.getByRole('button', { name: 'Match 2' }).click();
    // While they wait, somebody else counts other money towards an invoice, and a payment towards another one.
    const count = (payment: string, id: string) =>
      must(user.post(`/v1/deposits/${payment}/reconcile`, { receivables: [{ id, amount: '1.00' }] }));
    await count(other.payments[0]!, invoices[0]!);
    await count(payments[1]!, other.invoices[0]!);
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByText('Not reconciled').waitFor();
    const said = page.getByRole('status');
    await said.getByText('with LESS-1. At most $100.01 is open on the invoice.').waitFor();
    await said.getByText('with LESS-2. Only $101.02 is left of the payment.').waitFor();
    expect(await statusesOf(user, invoices)).toEqual(new Set(['open']));
  });

  it('can be chosen by keys without that the foot covers the box', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    await trade(user, 'LOW', 12);
    const { page, open } = await dashboard.signIn(1, 'Indigo Looms');
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 640 });
      await open('/dashboard/payments?show=unreconciled');
      await expect.poll(() => boxesOf(page, 'LOW-').count()).toBe(12);
      const boxes = page.locator('input[data-payment]');
      await boxes.first().focus();
      for (let i = 1; i < 12; i++) {
        await page.keyboard.press('j');
        const [box, foot] = await Promise.all([
          boxes.nth(i).boundingBox(),
          page.getByRole('region', { name: 'Chosen matches' }).boundingBox(),
        ]);
        expect(box!.y + box!.height).toBeLessThan(foot!.y);
      }
    }
  });

  it('have on their pages the suggestion of the list first, and the other invoices without a reason', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    // The text of the payment has the number SAME-1 as well, but as a part of the word that names SAME-12.
    const { id: customer_id } = await user.partner({ nickname: 'Maison Verte' });
    const part = receivableBody(
      { amount: '5.00', reference_number: 'SAME-1', due_date: '2026-10-02' },
      { customer_id },
    );
    const named = receivableBody({ amount: '7.00', reference_number: 'SAME-12', due_date: '2031-01-02' });
    for (const body of [part, named]) await must(user.post('/v1/receivables', body));
    const { id } = await must(
      user.post('/v1/deposits', {
        ...{ amount: '6.00', currency: 'USD', payment_method: 'domestic_wire', statement_descriptor: 'SAME-12' },
      }),
    );
    await completeDeposit(user, id);
    const { page, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/payments?show=unreconciled');
    await boxesOf(page, 'SAME-12').getByText('Reference matches').waitFor();
    await open(`/dashboard/payments/${id}`);
    const lines = page.getByRole('region', { name: 'Reconcile' }).getByRole('listitem');
    await lines.filter({ hasText: 'SAME-12' }).waitFor();
    expect(await lines.first().textContent()).toMatch(/^SAME-12.*Reference matches$/);
    await page.getByLabel('Find by invoice number').fill('SAME-1');
    await expect.poll(() => lines.count()).toBe(2);
    expect(await lines.last().textContent()).toMatch(/^SAME-1Maison Verte · due .* open$/);
  });

  it('have no boxes for those who may only read', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    await trade(user, 'READ', 1);
    const { body } = await dashboard
      .platform(1)
      .graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    const { context, page, go } = await dashboard.visit('/dashboard');
    await page.getByLabel('API key').fill(body.data.createApiKey.secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await go('/dashboard/payments?show=unreconciled');
    await expect.poll(() => boxesOf(page, 'READ-').count()).toBe(1);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Match|^Choose/ }).count()).toBe(0);
    await context.close();
  });
});

/** The matches that a page sends: the account that it says, and the idempotency key. */
function sentBy(page: Page): { as: string | undefined; key: string | undefined }[] {
  const sent: { as: string | undefined; key: string | undefined }[] = [];
  page.on('request', (request) => {
    if (!request.postData()?.includes('MatchPayments')) return;
    const headers = request.headers();
    sent.push({ as: headers['on-behalf-of'], key: headers['idempotency-key'] });
  });
  return sent;
}

/** Chooses the payments with a text, and matches them: they wait to be sent. */
async function match(page: Page, prefix: string, count: number): Promise<void> {
  await expect.poll(() => boxesOf(page, `${prefix}-`).count()).toBe(count);
  for (const box of await boxesOf(page, `${prefix}-`).getByRole('checkbox').all()) await box.check();
  await page.getByRole('button', { name: `Match ${count}` }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
}

const locked = (user: Speaker, invoices: string[]) =>
  eventually(
    () => statusesOf(user, invoices),
    (found) => found.size === 1 && found.has('locked'),
  );

describe('matches that wait while the page is left', () => {
  const address = '/dashboard/payments?show=unreconciled';

  it('are sent once as the account that chose them, when another one is shown', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const { invoices } = await trade(user, 'ACT', 2);
    const { page, complaints, open } = await dashboard.signInAlone(1, 'Indigo Looms');
    const sent = sentBy(page);
    await open(address);
    await match(page, 'ACT', 2);
    await page.getByRole('button', { name: 'Stop acting' }).click();
    await locked(user, invoices);
    await page.getByRole('button', { name: 'Act as a user' }).waitFor();
    expect(sent.map(({ as }) => as)).toEqual([user.id]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('are sent once when the browser goes back, and not again when it goes forward', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const { invoices } = await trade(user, 'BACK', 1);
    const { page, complaints, open, go } = await dashboard.signInAlone(1, 'Indigo Looms');
    const sent = sentBy(page);
    await open('/dashboard/payouts');
    await page.getByRole('heading', { name: 'Payouts', level: 1 }).waitFor();
    await go(address);
    await match(page, 'BACK', 1);
    await page.goBack();
    await page.getByRole('heading', { name: 'Payouts', level: 1 }).waitFor();
    await locked(user, invoices);
    await page.goForward();
    await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor();
    expect(sent.length).toBe(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('are sent before the session ends when the viewer signs out', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const { invoices } = await trade(user, 'OUT', 1);
    const { page, complaints, open } = await dashboard.signInAlone(1, 'Indigo Looms');
    const sent = sentBy(page);
    await open(address);
    await match(page, 'OUT', 1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await statusesOf(user, invoices)).toEqual(new Set(['locked']));
    expect(sent.length).toBe(1);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('are not sent when another account has signed in in the browser', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const { invoices } = await trade(user, 'OTHER', 1);
    const { page, context, open } = await dashboard.signInAlone(1, 'Indigo Looms');
    const sent = sentBy(page);
    await open(address);
    await match(page, 'OTHER', 1);
    const other = await context.newPage();
    await other.goto(`${dashboard.origin}/dashboard/sign-in#code=${dashboard.links.newCode(2)}`);
    await page.getByRole('heading', { name: 'Another account has signed in' }).waitFor();
    await other.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Go on as that account' }).click();
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    expect(sent).toEqual([]);
    expect(await statusesOf(user, invoices)).toEqual(new Set(['open']));
    await context.close();
  });

  it('are sent again with the same key after an answer that did not arrive', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const { invoices } = await trade(user, 'LOST', 2);
    const { page, context, open } = await dashboard.signInAlone(1, 'Indigo Looms');
    const sent = sentBy(page);
    await open(address);
    await match(page, 'LOST', 2);
    await page.route('**/graphql', async (route, request) => {
      if (!request.postData()?.includes('MatchPayments') || sent.length > 1) return route.fallback();
      await route.fetch();
      return route.abort();
    });
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByText('it is not known whether they were matched').waitFor();
    expect(await statusesOf(user, invoices)).toEqual(new Set(['locked']));
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('2 payments reconciled, $203.03.').waitFor();
    expect(sent.length).toBe(2);
    expect(sent[0]!.key).toBe(sent[1]!.key);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  });
});
