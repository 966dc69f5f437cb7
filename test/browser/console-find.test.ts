import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pdf, receivableBody } from '../support/bodies.js';
import { browser } from '../support/browser.js';
import { PayeeFixture } from '../support/checkout-fixture.js';
import { details as detailsOf, eventually, must, nickname, tenantOf, useWorld } from '../support/world.js';
import { ConsoleSeed } from './console-fixture.js';
import { faults, faultsInThemes, type Visit, visit } from './dashboard-fixture.js';

const OPERATOR_KEY = 'op_2b7d1c9e5f3a48609e4d6b1c0f9a8e7d';
const world = useWorld({ worker: false, environment: { OPERATOR_KEY, REQUEST_LOG_DAYS: '1' } });
const seed = () => new ConsoleSeed(world, OPERATOR_KEY);

let chromium: Browser;
let visited: Visit;
let paid: Awaited<ReturnType<ConsoleSeed['payout']>>;

beforeAll(async () => {
  chromium = await browser();
  paid = await seed().payout('Harbour Textiles', '900.00');
  visited = await visit({ chromium, origin: world.origin }, '/operator');
  await visited.page.getByLabel("Operator's key").fill(OPERATOR_KEY);
  await visited.page.getByRole('button', { name: 'Sign in' }).click();
  await visited.page.getByRole('heading', { name: 'Home' }).waitFor();
});
afterAll(() => chromium?.close());

/** Finds a text in the box, and opens the one hit of a kind; returns the address of its page. */
async function follow({ page, go }: Visit, text: string, kind: string): Promise<string> {
  await go('/operator');
  await page.keyboard.press('Control+k');
  const box = page.getByRole('dialog').getByRole('combobox');
  await box.fill(text);
  await page.getByRole('option').filter({ hasText: kind }).click();
  await page.waitForURL(/operator\/./);
  await page.waitForFunction(() => document.querySelector('.skeleton') === null);
  return page.url().replace(`${world.origin}/operator`, '');
}

/** The id of the one object of a table that a tenant has in live mode. */
async function idIn(table: string, tenant: string): Promise<string> {
  const [row] = await world.sql.unsafe(`select id from ${table} where tenant_id = '${tenant}' and livemode limit 1`);
  return String(row!.id);
}

describe("what the console's box has found", () => {
  it('leads to the money that it is about, or to the list of its tenant', async () => {
    const { page } = visited;
    const { live, tenant, payoutId, accountId, addressId } = paid;
    await seed().troubles(paid, 'REV-1');
    const id = await seed().returning(paid, 'Two boxes came back');
    const ask = 'mutation ($input: RequestAccountChangeInput!) { requestAccountChange(input: $input) { __typename } }';
    await must(live.graph(ask, { input: { accountId, businessDetails: { dba: 'Harbour' } } }));
    const { data: deposits } = await must(live.get('/v1/deposits'));
    const first = deposits.find(({ amount }: { amount: string }) => amount === '900.00').id;
    const [invoice] = (await must(live.get('/v1/receivables'))).data;
    const [payment, contested] = [`/payments/${first}?tenant=${tenant}`, `/payments/${id}?tenant=${tenant}`] as const;
    const ofTenant = `?status=ALL&tenant=account_${tenant}`;
    const rows = (table: string) => page.getByRole('table', { name: table }).getByText('Harbour Textiles').first();
    const paths = [
      ...[[first, 'Payment', payment] as const, [invoice.id, 'Invoice', payment] as const],
      ...[['WIRE-900.00', 'Bank notice', payment] as const, [payoutId, 'Payout', `/payouts/${payoutId}`] as const],
      [await idIn('refund', tenant), 'Refund', contested],
      [await idIn('dispute', tenant), 'Dispute', contested],
      [addressId, 'Address', `/accounts/${accountId}?mode=LIVE`],
      [await idIn('adjustment', tenant), 'Adjustment', `/adjustments${ofTenant}`],
      [await idIn('change_request', tenant), 'Change', `/change-requests${ofTenant}`],
    ] as const;
    for (const [text, kind, path] of paths) {
      expect([kind, await follow(visited, text, kind)]).toEqual([kind, path]);
      if (path.includes('status=ALL')) await rows(`${kind}s`).waitFor();
    }
    // A reversal that waits has no payment yet.
    expect(await follow(visited, 'rev-1', 'Bank notice')).toBe('/bank?show=all&reference=REV-1');
    const notices = page.getByRole('table', { name: 'Bank notices' }).locator('tbody tr');
    await expect.poll(() => notices.allInnerTexts()).toEqual([expect.stringContaining('REV-1')]);
    await page.getByLabel('Reference').fill('WIRE-900');
    await page.keyboard.press('Enter');
    await page.getByText('No notice has this reference').waitFor();
    expect(visited.complaints).toEqual([]);
  });

  it('is shown without a fault while the box is open, also where there is nothing', async () => {
    const { page, go } = visited;
    await go('/operator');
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox').fill('Harbour Textiles');
    await dialog.getByRole('option').first().waitFor();
    expect(await faults(page)).toEqual([]);
    await dialog.getByRole('combobox').fill('UTR0000000000');
    await dialog.getByText(/^Nothing was found/).waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await faults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(visited.complaints).toEqual([]);
  });

  it('leads to what the gateway knows of an object without money on its way', async () => {
    const { page } = visited;
    const { live } = paid;
    const undecided = await seed().undecided();
    const tenant = tenantOf(undecided.payee.live);
    const open = await must(live.post('/v1/receivables', receivableBody({ amount: '12.00' })));
    const refused = (await live.post('/v1/receivables', { currency: 'nothing' })).headers.get('request-id')!;
    await eventually(
      () => world.sql`select from request_log where id = ${refused}`,
      (rows) => rows.length === 1,
    );
    const details = page.getByRole('region', { name: 'Details' });
    for (const [id, kind, shown] of [
      [open.id, 'Invoice', /Harbour Textiles[^]*\$12.00[^]*Open/],
      [undecided.checkoutId, 'Checkout', /Malabar Spice Traders LLP[^]*₹1,000.00[^]*Waiting for payment/],
      [await idIn('transaction', tenant), 'Attempt', /Malabar Spice Traders LLP[^]*Processing/],
      [refused, 'Request', /POST \/v1\/receivables\s+HTTP status\s+400\s+Errors\s+Parameter/],
    ] as const) {
      expect([kind, await follow(visited, id, kind)]).toEqual([kind, `/found/${id}`]);
      await page.getByRole('heading', { name: new RegExp(`^${kind} of `), level: 1 }).waitFor();
      expect(await details.innerText()).toMatch(shown);
      expect([kind, await faultsInThemes(page)]).toEqual([kind, []]);
    }
    const { id } = await must(live.upload('invoice', pdf, 'carpets.pdf'));
    const path = `/found/${id}?account=${live.id}`;
    expect(await follow(visited, `${id} ${live.id}`, 'File')).toBe(path);
    await page.getByRole('heading', { name: 'File of Harbour Textiles', level: 1 }).waitFor();
    expect(await details.innerText()).toMatch(/Reference\s+carpets\.pdf/);
    expect(visited.complaints).toEqual([]);
  });
});

describe('the way of the money in the console', () => {
  const way = () => visited.page.getByRole('region', { name: 'Way of the money' }).getByRole('listitem');
  const details = () => visited.page.getByRole('region', { name: 'Details' });

  it('says what the payer of a checkout has paid with the fee', async () => {
    const fees = await world.another({ environment: { CHECKOUT_FEE_BASIS_POINTS: '250' } });
    const payee = await PayeeFixture.open(world);
    const receivableIds = [await payee.receivable('1000.00')];
    const given = { amount: '1000.00', receivableIds, speaker: payee.user.at(fees) };
    const checkout = await payee.checkoutFixture(given);
    await payee.help(checkout, 'pay');
    expect(await follow(visited, checkout.id, 'Checkout')).toContain('/payments/deposit_');
    await expect.poll(() => way().count()).toBe(6);
    expect(await way().first().innerText()).toContain('Paid ₹1,025.00 INR with the fee');
    expect(visited.complaints).toEqual([]);
  });

  it('names the tenant, the accounts of the ledger and the payment order', async () => {
    const { page, go } = visited;
    const { live, tenant, payoutId } = paid;
    const partner = await live.partner({ nickname: nickname(), business_details: detailsOf('Rhein Import GmbH') });
    const [{ payment_id: paymentId }] = (await world.sql`select payment_id from payout where id = ${payoutId}`) as any;
    const side = { account: partner.id, category: 'available', currency: 'USD', amount: 1 };
    const sides = JSON.stringify([side, { contra: 'bank', currency: 'USD', amount: -1 }]);
    await world.sql`select lock_balance(${tenant}, true, ${partner.id}, 'USD')`;
    await world.database.call('post', [tenant, true, 'deposit', 'by hand', paymentId, sides]);
    const add = 'mutation ($input: AddOwnAccountInput!) { addOwnAccount(input: $input) { ownAccount { id } } }';
    const order = 'mutation ($input: CreatePaymentOrderInput!) { createPaymentOrder(input: $input) { order { id } } }';
    const own = { holder: 'Tidegate', currency: 'INR', iban: 'DE89370400440532013000' };
    const { addOwnAccount } = await seed().ask(add, own);
    const input = { ownAccountId: addOwnAccount.ownAccount.id, valueDate: '2099-12-01' };
    const { id } = (await seed().ask(order, input)).createPaymentOrder.order;

    expect(await follow(visited, id, 'Payment order')).toBe(`/payment-orders?order=${id}`);
    await follow(visited, `${paymentId} ${live.id}`, 'Entry of a balance');
    await page.getByRole('heading', { name: 'Entry of a balance of Harbour Textiles' }).waitFor();
    await go(`/operator/payouts/${payoutId}`);
    await page.getByRole('list', { name: 'Postings' }).getByText('Available of Rhein Import GmbH').waitFor();
    expect(await details().innerText()).toMatch(/Tenant\s+Harbour Textiles/);
    const link = details().getByRole('link', { name: 'Payment order' });
    expect(await link.getAttribute('href')).toBe(`/operator/payment-orders?order=${id}`);
    expect(await way().last().getByRole('link', { name: 'payment order' }).getAttribute('href')).toBe(
      `/operator/payment-orders?order=${id}`,
    );
    await way()
      .last()
      .getByText('waits until operators have approved and sent that, and the bank has answered')
      .waitFor();
    await go('/operator/payment-orders');
    await page.getByRole('button', { name: /^Reject/ }).click();
    await page.getByRole('dialog').getByText('Tidegate, DE89 3704 0044 0532 0130 00').waitFor();
    await page.keyboard.press('Escape');
    await go(`/operator/payouts/${payoutId}`);
    await link.click();
    await page.getByRole('table', { name: 'Payouts of the order' }).getByText('Harbour Textiles').waitFor();
    const [{ id: depositId }] = (await must(live.get('/v1/deposits'))).data;
    await go(`/operator/payments/${depositId}`);
    await details().waitFor();
    expect(await details().innerText()).toMatch(/Tenant\s+Harbour Textiles/);
    expect(await details().innerText()).not.toContain(tenant);
    expect(await faultsInThemes(page)).toEqual([]);
    expect(visited.complaints).toEqual([]);
  });
});

describe("the console's start page", () => {
  it('has the queue first whose oldest waits the longest', async () => {
    const { page, go } = visited;
    const { sql } = world;
    const day = 86_400;
    await sql`update payout set created = created - ${day}`;
    await sql`update refund set created = created - ${2 * day}`;
    await sql`update adjustment set created = created - ${3 * day}`;
    await go('/operator/settings');
    await go('/operator');
    const aged = ['Adjustments', 'Refunds', 'Payouts'];
    const rows = page.getByRole('table', { name: 'Queues' }).locator('tbody tr');
    const names = async () => {
      const texts = await rows.allInnerTexts();
      return texts.map((text) => aged.find((name) => text.startsWith(name))).filter(Boolean);
    };
    await expect.poll(names).toEqual(aged);
  });
});
