import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receivableBody } from '../support/bodies.js';
import { browser } from '../support/browser.js';
import { eventually, must, tenantOf, useWorld } from '../support/world.js';
import { ConsoleSeed } from './console-fixture.js';
import { faultsInThemes, type Visit, visit } from './dashboard-fixture.js';

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
    expect(visited.complaints).toEqual([]);
  });
});
