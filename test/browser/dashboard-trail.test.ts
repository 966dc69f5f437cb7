import { describe, expect, it } from 'vitest';
import { formatMoney } from '../../src/sites/dashboard/format/money.js';
import { receivableBody } from '../support/bodies.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { completeDeposit, eventually, givenIn, must, payoutAddress, type Speaker } from '../support/world.js';
import { faultsInThemes, rowsOf, useDashboard, type Visit } from './dashboard-fixture.js';

const dashboard = useDashboard();

/** The entries of the ledger that the open page shows, sorted: which part, how much, and what it then had. */
async function ledger({ page }: Pick<Visit, 'page'>, entries: number): Promise<string[]> {
  const rows = rowsOf(page, 'Ledger');
  await expect.poll(() => rows.count()).toBe(entries);
  const cells = await rows.evaluateAll((all) =>
    all.map((row) => [...row.children].map((cell) => (cell as HTMLElement).innerText.trim().split('\n')[0])),
  );
  return cells.map(([part, , amount, then]) => `${part} ${amount} ${then}`).toSorted();
}

/** The stations of the way that the open page shows, as soon as one of them says a text. */
async function stations({ page }: Pick<Visit, 'page'>, at: number, text: string): Promise<string[]> {
  const way = page.getByRole('region', { name: 'Way of the money' }).getByRole('listitem');
  await way.nth(at).filter({ hasText: text }).waitFor();
  return (await way.allInnerTexts()).map((each) => each.replaceAll(/\s+/g, ' ').replace(' :', ':'));
}

/** A station that says when. */
const atTime = expect.stringMatching(/\d{1,2}:\d\d/);

async function signedIn(user: Speaker) {
  const visit = await dashboard.visit('/dashboard');
  await visit.page.getByLabel('API key').fill(user.key);
  await visit.page.getByRole('button', { name: 'Sign in' }).click();
  await visit.page.getByRole('heading', { name: 'Home' }).waitFor();
  return visit;
}

describe('the way of the money', () => {
  it('says where a payment waits and why, until it has arrived', async () => {
    const user = await givenIn(dashboard.world).directUser(2);
    await payoutAddress(user);
    const sent = {
      ...{ amount: '70.00', currency: 'INR', to: { account_id: user.id }, payment_method: 'upi' },
      statement_descriptor: 'TRAIL-1 <b>',
    };
    // The sandbox issues the address of the user in steps of some seconds.
    const { id } = await must(
      eventually(
        () => user.post('/v1/deposits', sent),
        ({ status }) => status !== 402,
      ),
    );
    await completeDeposit(user, id);
    const parts = { reference_number: 'TRAIL-1', amount: '50.00', currency: 'INR' };
    const receivable = await must(user.post('/v1/receivables', receivableBody(parts)));

    const visit = await signedIn(user);
    const { context, page, complaints, go } = visit;
    await go(`/dashboard/payments/${id}`);
    const begun = await stations(visit, 2, '₹70.00 INR waits for an invoice that it counts towards.');
    expect(begun).toHaveLength(5);
    expect(begun[0]).toContain('Not known');
    expect(begun[0]).toContain('TRAIL-1 <b>');
    expect(begun.slice(3)).toEqual(['Payout: not yet', 'Bank account: not yet']);
    expect(await faultsInThemes(page)).toEqual([]);

    // The page follows what happens.
    const receivables = [{ id: receivable.id, amount: '50.00' }];
    await must(user.post(`/v1/deposits/${id}/reconcile`, { receivables }));
    const counted = await stations(visit, 3, '₹50.00 INR waits for the next payout,');
    expect(await ledger(visit, 3)).toEqual([
      'Available ₹50.00 INR ₹50.00 INR',
      'Not reconciled -₹50.00 INR ₹20.00 INR',
      'Not reconciled ₹70.00 INR ₹70.00 INR',
    ]);
    await page.getByRole('region', { name: 'Timeline' }).getByText('Payment matched with invoices').waitFor();
    expect(counted[2]).toContain('TRAIL-1 ₹50.00 INR ₹20.00 INR waits for an invoice');

    await must(user.post(`/v1/test_helpers/accounts/${user.id}/hold`));
    await stations(visit, 3, '₹50.00 INR waits. Nothing is paid out: the account has been on hold since ');
    await must(user.post(`/v1/test_helpers/accounts/${user.id}/verify`));

    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    const under = await stations(visit, 4, 'It is on the way, and expected');
    expect(under[3]).toContain('Payout: done ₹50.00 INR');
    expect([under[1], under[3]]).toEqual([atTime, atTime]);
    await page.getByRole('region', { name: 'Way of the money' }).getByRole('link', { name: '₹50.00' }).click();
    await page.waitForURL('**/dashboard/payouts/payout_*');
    const payout = page.url().split('/').at(-1)!;
    const own = await stations(visit, 0, '1 payment');
    expect(own[1]).toContain('1 invoice TRAIL-1 · ₹50.00 INR');
    expect(own[3]).toContain('Bank account: money waits here');
    expect(await ledger(visit, 2)).toEqual(['Available -₹50.00 INR ₹0.00 INR', 'In payout ₹50.00 INR ₹50.00 INR']);
    expect(await faultsInThemes(page)).toEqual([]);

    await must(user.post(`/v1/test_helpers/payouts/${payout}/fail`));
    await stations(visit, 3, 'Its money is available to the account again.');
    await go(`/dashboard/payments/${id}`);
    // Its invoice waits for another payout, and its timeline says how it came to that.
    const again = await stations(visit, 3, '₹50.00 INR waits for the next payout,');
    expect(again[4]).toBe('Bank account: not yet');
    await must(user.post(`/v1/receivables/${receivable.id}`, { description: 'Tea' }));
    await go(`/dashboard/receivables/${receivable.id}`);
    const events = page.getByRole('region', { name: 'Timeline' });
    await events.getByText('Description changed').waitFor();
    await events.getByText('₹50.00 INR paid', { exact: true }).waitFor();
    expect(await events.getByText('updated').count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('says at which rate a payout was exchanged, and what it moved in the ledger', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const { body } = await user.graph(
      `{ payouts(first: 1, filter: { status: COMPLETED }) { nodes {
        id amount currency sourceAmount sourceCurrency rate
        payment { balanceTransactions(first: 50) { nodes { id } } }
      } } }`,
    );
    const [payout] = body.data.payouts.nodes;
    const shown = (amount: string, currency: string) => `${formatMoney({ amount, currency })} ${currency}`;
    const [sold, bought] = [shown(payout.sourceAmount, 'USD'), shown(payout.amount, 'INR')];
    const visit = await dashboard.signIn(1, 'Indigo Looms');
    await visit.open(`/dashboard/payouts/${payout.id}`);
    const way = await stations(visit, 2, ' at ');
    expect(way[2]).toContain(`Payout: done ${bought} ${sold} at ${payout.rate}`);
    expect(way[3]).toContain('Bank account: done');
    expect(way.slice(2)).toEqual([atTime, atTime]);
    // Money of one currency is taken, and that of the other is given and paid out.
    const entries = await ledger(visit, payout.payment.balanceTransactions.nodes.length);
    for (const entry of [`Available -${sold}`, `Available ${bought}`, `Available -${bought}`, `In payout -${bought}`])
      expect(entries.filter((each) => each.startsWith(`${entry} `))).toHaveLength(1);
    expect(await faultsInThemes(visit.page)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('says what the payer of a checkout has paid with the fee', async () => {
    const { world } = dashboard;
    const fees = await world.another({ environment: { CHECKOUT_FEE_BASIS_POINTS: '250' } });
    const payee = await PayeeFixture.open(world);
    const receivableIds = [await payee.receivable('1000.00')];
    const checkout = await payee.checkoutFixture({
      ...{ amount: '1000.00', receivableIds, speaker: payee.user.at(fees) },
    });
    await payee.help(checkout, 'pay');
    const { body } = await payee.user.graph('{ deposits(first: 1) { nodes { id } } }');
    const visit = await signedIn(payee.user);
    await visit.go(`/dashboard/payments/${body.data.deposits.nodes[0].id}`);
    const way = await stations(visit, 0, 'with the fee');
    expect(way[0]).toContain('Paid ₹1,025.00 INR with the fee');
    expect(way[1]).toContain('Payment: done ₹1,000.00 INR');
    expect(visit.complaints).toEqual([]);
    await visit.context.close();
  });

  it('is none of money that is taken back', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const made = { amount: '12.00', currency: 'USD', payment_method: 'domestic_wire' };
    const { id } = await must(user.post('/v1/deposits', made));
    await completeDeposit(user, id);
    const debit = await must(user.post(`/v1/test_helpers/deposits/${id}/dispute`, { amount: '12.00' }));
    const visit = await dashboard.signIn(1, 'Indigo Looms');
    await visit.open(`/dashboard/payments/${id}`);
    await stations(visit, 2, 'All of it was refunded or taken back.');
    await visit.go(`/dashboard/payments/${debit.id}`);
    await visit.page.getByRole('main').getByText(debit.id).waitFor();
    await visit.page.getByRole('heading', { name: /^Money taken back by / }).waitFor();
    expect(await visit.page.getByRole('region', { name: 'Way of the money' }).count()).toBe(0);
    await visit.go('/dashboard/payments');
    await rowsOf(visit.page, 'Payments').filter({ hasText: 'Money taken back' }).getByText('-$12.00').waitFor();
    expect(visit.complaints).toEqual([]);
  });
});
