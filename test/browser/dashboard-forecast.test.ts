import { describe, expect, it } from 'vitest';
import { formatMoney, hundredths, sum } from '../../src/sites/dashboard/format/money.js';
import { receivableBody } from '../support/bodies.js';
import { activatedUser } from '../support/onboarding-profile.js';
import { completeDeposit, eventually, givenIn, must, payoutAddress, type Speaker } from '../support/world.js';
import { asShown, faults, useDashboard, type Visit } from './dashboard-fixture.js';

const dashboard = useDashboard();

/** Money of a user that a receivable explains, so that the next payout takes it. */
async function earned(user: Speaker, amount: string): Promise<void> {
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
}

/** Opens the payouts of a platform. */
async function payoutsOf(platform: Speaker): Promise<Visit> {
  const visit = await dashboard.visit('/dashboard');
  await visit.page.getByLabel('API key').fill(platform.key);
  await visit.page.getByRole('button', { name: 'Sign in' }).click();
  await visit.page.getByRole('heading', { name: 'Home' }).waitFor();
  await visit.open('/dashboard/payouts');
  return visit;
}

/** A platform with users that have earned these amounts. */
async function earning(amounts: readonly string[]) {
  const platform = await givenIn(dashboard.world).platform(2);
  // An activation takes days of the test clock, in which payouts would be made.
  const users: Speaker[] = [];
  for (let i = 0; i < amounts.length; i++) users.push(await activatedUser(platform));
  for (const [i, user] of users.entries()) {
    await payoutAddress(user);
    await earned(user, amounts[i]!);
  }
  return { platform, users };
}

describe('what is coming, for a platform', () => {
  it('is added up by day, and unfolds to the payouts of its users', async () => {
    const amounts = ['100.00', '20.50', '3.07', '1400.00'];
    const { platform } = await earning(amounts);
    const { context, page, complaints } = await payoutsOf(platform);
    const coming = page.getByRole('region', { name: 'Coming' });
    const day = coming.locator('summary').filter({ hasText: '4 payouts' });
    await day.getByText(formatMoney({ amount: sum(amounts), currency: 'INR' })).waitFor();
    await day.click();
    const shown = await coming.locator('.coming-entry .money').allTextContents();
    expect(shown.toSorted()).toEqual(amounts.map((amount) => asShown({ amount, currency: 'INR' })).toSorted());
    expect(await faults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('says of an account on hold why its money waits, however many drafts are newer', async () => {
    const { platform, users } = await earning(['70.00']);
    await must(platform.post(`/v1/test_helpers/accounts/${users[0]!.id}/hold`));
    for (let i = 0; i < 26; i++) await platform.connectedUser();
    const { context, page, complaints } = await payoutsOf(platform);
    const coming = page.getByRole('region', { name: 'Coming' });
    await coming.getByText(/Nothing is paid out: the account has been on hold since \w+ \d+\.$/).waitFor();
    await coming.getByText('There are more accounts that are not activated').waitFor();
    expect(await faults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('money in', () => {
  it('is by kind, for the period that is chosen, beside what came in before', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard');
    const card = page.getByRole('region', { name: 'Money in' });
    await card.getByText('in the last 90 days').waitFor();
    await card.getByLabel('Period').selectOption('30 days');
    await page.waitForURL((url) => url.search === '?period=30');
    await card.getByText('in the last 30 days').waitFor();
    const user = await dashboard.user(1, 'Indigo Looms');
    const query = `query ($from: DateTime!, $to: DateTime!) { viewer { account {
      depositTotals(from: $from, to: $to, interval: DAY, scope: DESCENDANTS) { method currency count amount } } } }`;
    const { body: clock } = await user.graph('{ viewer { now } }');
    const today = Date.parse(`${clock.data.viewer.now.slice(0, 10)}T00:00:00Z`);
    const totals = async (from: number, to: number) => {
      const at = (days: number) => new Date(today + days * 86_400_000).toISOString();
      const { body } = await user.graph(query, { from: at(from), to: at(to) });
      return body.data.viewer.account.depositTotals as { method: string; amount: string }[];
    };
    const [now, before] = [await totals(-29, 1), await totals(-59, -29)];
    const sumOf = (rows: { amount: string }[]) => sum(rows.map(({ amount }) => amount));
    await card
      .getByText(formatMoney({ amount: sumOf(now), currency: 'USD' }), { exact: false })
      .first()
      .waitFor();
    const change = Number(hundredths(sumOf(now))) / Number(hundredths(sumOf(before))) - 1;
    const percent = Math.round(Math.abs(change) * 100);
    const earlier = formatMoney({ amount: sumOf(before), currency: 'USD' });
    await card.getByText(`${change < 0 ? '−' : '+'}${percent} % on ${earlier} in the 30 before`).waitFor();
    const transfers = now.filter(({ method }) => /^DOMESTIC|WIRE/.test(method));
    const legend = card.getByRole('listitem').filter({ hasText: 'Bank transfer' });
    expect(await legend.locator('.money').textContent()).toBe(
      formatMoney({ amount: sumOf(transfers), currency: 'USD' }),
    );
    expect(await card.getByText('Other').count()).toBe(0);
    await card.getByText('Show as a table').click();
    await card.getByRole('columnheader', { name: 'Period before' }).waitFor();
    expect(await faults(page)).toEqual([]);
    await page.goBack();
    await card.getByText('in the last 90 days').waitFor();
    await card.getByLabel('Period').selectOption('This quarter');
    await card.getByText('of the quarter before').waitFor();
    expect(complaints).toEqual([]);
  });
});
