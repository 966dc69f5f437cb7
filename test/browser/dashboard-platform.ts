import { expect, it } from 'vitest';
import { formatMoney, hundredths, sum } from '../../src/sites/dashboard/format/money.js';
import type { Visit } from './dashboard-fixture.js';
import { completeDeposit, type Speaker } from '../support/world.js';

type Sum = { currency: string };

/** What the stories need: a browser signed in to the demo platform of Edition 1, and clients of it and its user. */
export interface PlatformDesk {
  signIn: () => Promise<Visit>;
  platform: () => Speaker;
  user: () => Promise<Speaker>;
}

/** What a platform sees of its users, whose objects are not all on its own lists. */
export function platformStories({ signIn, platform, user }: PlatformDesk): void {
  /** A payment to the address of a customer of the user. It is on the lists of the user alone. */
  async function paidAtCustomer(): Promise<{ payment: string; customer: string }> {
    const seller = await user();
    const { body } = await seller.graph('{ partners(status: [ACTIVATED], first: 1) { nodes { id } } }');
    const customer = body.data.partners.nodes[0].id;
    const made = await seller.post('/v1/deposits', {
      ...{ amount: '41.07', currency: 'USD', payment_method: 'domestic_wire' },
      ...{ from: { account_id: customer }, to: { account_id: customer }, statement_descriptor: 'AT THE CUSTOMER' },
    });
    expect(made.status).toBe(200);
    await completeDeposit(seller, made.body.id);
    return { payment: made.body.id, customer };
  }

  it('sees what happened to the payments and customers of its users', async () => {
    const { payment, customer } = await paidAtCustomer();
    const { page, complaints, open, go } = await signIn();
    await open(`/dashboard/payments/${payment}`);
    await page.getByRole('region', { name: 'Timeline' }).getByText('Payment completed').waitFor();
    await go(`/dashboard/accounts/${customer}`);
    await page.getByRole('region', { name: 'Timeline' }).getByText('Account created').waitFor();
    // It has the same status as on its own page.
    const first = page.getByRole('table', { name: 'Latest payments' }).locator('tbody tr').first();
    await first.getByText('Unreconciled').waitFor();
    expect(complaints).toEqual([]);
  });

  it('has among what needs attention all payments that it and its users have to reconcile, and their sum', async () => {
    await paidAtCustomer();
    const { body } = await platform().graph(
      `{ deposits(filter: { unreconciled: true }, scope: DESCENDANTS, first: 100) {
        totalCount nodes { currency pendingRest } } }`,
    );
    const { totalCount, nodes } = body.data.deposits;
    const ofDollars = nodes.filter(({ currency }: Sum) => currency === 'USD');
    const amount = sum(ofDollars.map(({ pendingRest }: { pendingRest: string }) => pendingRest));
    const { page, complaints, open } = await signIn();
    await open('/dashboard');
    const card = page.getByRole('region', { name: 'Needs attention' });
    await card.getByRole('listitem').first().waitFor();
    const all = card.getByRole('button', { name: /^Show all/ });
    if (await all.isVisible()) await all.click();
    const rows = card.getByRole('listitem').filter({ hasText: 'to reconcile' });
    const counts = (await rows.allTextContents()).map((text) => Number(/(\d+) payments? to/.exec(text)![1]));
    expect(counts.reduce((total, count) => total + count, 0)).toBe(totalCount);
    const sums = await rows.locator('.attention-sums .money').filter({ hasText: 'USD' }).allTextContents();
    const shown = sum(sums.map((text) => /[\d,.]+/.exec(text)![0].replaceAll(',', '')));
    expect(formatMoney({ amount: shown, currency: 'USD' })).toBe(formatMoney({ amount, currency: 'USD' }));
    // The list has the same, those at the bank details of its users' customers among them.
    await open('/dashboard/payments?show=unreconciled');
    await page.getByText(` of ${totalCount}`).waitFor();
    expect(complaints).toEqual([]);
  });

  it('has no page that scrolls without need, whatever stands above it', async () => {
    const { page, open } = await signIn();
    for (const height of [700, 320]) {
      await page.setViewportSize({ width: 1280, height });
      for (const acting of [false, true]) {
        if (acting) await page.evaluate((id) => sessionStorage.setItem('acting-as', id), (await user()).id);
        await open('/dashboard/settings');
        await page.getByLabel('Time zone').waitFor();
        const [content, main, side] = await page.evaluate(() => [
          document.documentElement.scrollHeight,
          document.querySelector('main')!.getBoundingClientRect().bottom,
          document.querySelector('.side')!.getBoundingClientRect().bottom,
        ]);
        // What is higher than the window is the page itself, and not the navigation.
        expect([height, acting, content]).toEqual([height, acting, Math.max(height, Math.round(main!))]);
        expect(side).toBeLessThanOrEqual(Math.max(height, main!));
        if (height === 700) expect(content).toBe(height);
        await page.evaluate(() => sessionStorage.removeItem('acting-as'));
      }
    }
  });

  it('shows what a customer owes, what has been due the longest first, and for how long', async () => {
    const seller = await user();
    const { body } = await seller.graph(
      `{ receivables(filter: { overdue: true }, first: 1) {
        nodes { invoice { referenceNumber dueDate } customer { id billedReceivables(
          filter: { status: [OPEN] }, orderBy: DUE_DATE_ASC, first: 100) { nodes { amountReconcilable } } } } }
        viewer { now } }`,
    );
    const [{ invoice, customer }] = body.data.receivables.nodes;
    const { page, complaints, open } = await signIn();
    await open(`/dashboard/accounts/${customer.id}`);
    const rows = page.getByRole('region', { name: 'Owes' }).locator('tbody tr');
    await rows.first().waitFor();
    const billed = customer.billedReceivables.nodes.filter((each: { amountReconcilable: string }) => {
      return hundredths(each.amountReconcilable) > 0n;
    });
    expect(await rows.count()).toBe(billed.length);
    // The one that is due first of all lists of the account is also the first of its customer.
    const late = Math.round((Date.parse(body.data.viewer.now.slice(0, 10)) - Date.parse(invoice.dueDate)) / 86_400_000);
    const first = await rows.first().textContent();
    expect(first).toContain(invoice.referenceNumber);
    expect(first).toContain(`Overdue · ${late} days`);
    expect(complaints).toEqual([]);
  });

  it('says of a user on hold why nothing is paid out, on its own pages and on those of the platform', async () => {
    const held = await user();
    const helper = (verb: string) => platform().post(`/v1/test_helpers/accounts/${held.id}/${verb}`);
    expect((await helper('hold')).status).toBe(200);
    try {
      const { page, complaints, open } = await signIn();
      const said = /Nothing is paid out: the account has been on hold since \w+ \d+\.$/;
      await open('/dashboard/payouts');
      const coming = page.getByRole('region', { name: 'Coming' });
      await coming.getByText(said).waitFor();
      expect(await page.getByText('This account').count()).toBe(0);
      await page.evaluate((id) => sessionStorage.setItem('acting-as', id), held.id);
      await open('/dashboard/payouts');
      await page.getByText(/^This account has been on hold since .* until the operator of the service lifts/).waitFor();
      await coming.getByText(said).waitFor();
      await coming.getByText('Nothing is due in these seven days.').waitFor();
      await page.getByRole('link', { name: 'Home', exact: true }).click();
      await page.getByRole('region', { name: 'Next payout' }).getByText(said).waitFor();
      await page.getByText('This account has been on hold').waitFor();
      expect(complaints).toEqual([]);
    } finally {
      expect((await helper('verify')).status).toBe(200);
    }
  });

  it('lists the customers of its users, with whose they are', async () => {
    const { body } = await platform().graph(
      '{ accounts(scope: DESCENDANTS, type: [PARTNER], first: 25) { nodes { nickname owner { nickname } } } }',
    );
    const { page, complaints, open } = await signIn();
    await open('/dashboard/customers');
    const rows = page.getByRole('table', { name: 'Customers' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(body.data.accounts.nodes.length);
    const shown = await rows.locator('td:nth-child(2)').allTextContents();
    expect(shown).toEqual(body.data.accounts.nodes.map(({ owner }: { owner: { nickname: string } }) => owner.nickname));
    const [{ nickname }] = body.data.accounts.nodes;
    await page.getByLabel('Search').fill(nickname);
    await expect
      .poll(() => rows.locator('td:nth-child(1)').allTextContents())
      .toContainEqual(expect.stringContaining(nickname));
    await open('/dashboard/customers?search=nobody');
    await page.getByText('Nothing was found').waitFor();
    expect(complaints).toEqual([]);
  });
}
