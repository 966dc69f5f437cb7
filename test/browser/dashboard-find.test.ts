import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { pdf, personBody, receivableBody } from '../support/bodies.js';
import { advanceClock } from '../support/jobs.js';
import { completeDeposit, eventually, must, type Speaker } from '../support/world.js';
import { faults, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

const seller = () => dashboard.user(1, 'Indigo Looms');
const box = (page: Page) => page.getByRole('combobox', { name: /^Id, bank reference/ });
const hits = (page: Page) => page.getByRole('listbox', { name: 'Found' }).getByRole('option');

/** A completed payment with a text by which it is found. */
async function payment(user: Speaker, text: string, amount: string): Promise<string> {
  const { id } = await must(
    user.post('/v1/deposits', {
      ...{ amount, currency: 'USD', payment_method: 'domestic_wire', statement_descriptor: text },
    }),
  );
  await completeDeposit(user, id);
  return id;
}

describe('the box that finds objects', () => {
  it('opens the only hit of a text with Ctrl K and Enter', async () => {
    const id = await payment(await seller(), 'UTR998877665544', '393.27');
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/payouts');
    await page.getByRole('heading', { name: 'Payouts', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.insertText('UTR998877665544');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/payments/${id}`);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('finds a payout by the reference of the bank, also in small letters', async () => {
    const user = await seller();
    await advanceClock(dashboard.platform(1), 86_400);
    const [{ id: payout }] = await eventually(
      async () => (await must(user.get('/v1/payouts?status=processing&limit=1'))).data,
      (found) => found.length > 0,
    );
    await must(user.post(`/v1/test_helpers/payouts/${payout}/settle`, { bank_reference: 'SBIN20261128' }));
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await box(page).fill('sbin20261128');
    await hits(page).filter({ hasText: 'SBIN20261128' }).click();
    await page.waitForURL(`**/payouts/${payout}`);
    expect(complaints).toEqual([]);
  });

  it('finds a request by its id, as an answer and an error say it', async () => {
    const platform = dashboard.platform(1);
    const { headers } = await platform.get('/v1/balance');
    const id = headers.get('request-id')!;
    // A request can be found once the gateway has written it down.
    await eventually(
      () => platform.get(`/v1/request_logs/${id}`),
      ({ status }) => status === 200,
    );
    const { page, complaints, open } = await dashboard.signIn(1);
    await open('/dashboard/settings');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await box(page).fill(id);
    await hits(page).filter({ hasText: '/v1/balance' }).click();
    await page.waitForURL(`**/developers?id=${id}`);
    await page.getByText(id).first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('finds a payment by its exact amount, and shows nothing of another amount', async () => {
    const user = await seller();
    const id = await payment(user, 'EXACTLY', '8123.45');
    await payment(user, 'NEARLY', '8123.46');
    const { page, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    await page.getByRole('button', { name: 'Find' }).click();
    await box(page).fill('$8,123.45');
    await hits(page).filter({ hasText: 'EXACTLY' }).click();
    await page.waitForURL(`**/payments/${id}`);
    await page.getByRole('button', { name: 'Find' }).click();
    await box(page).fill('8123.45');
    await expect.poll(() => hits(page).count()).toBe(1);
  });

  it('finds an invoice by its number, an object by its id, and goes through hits with the arrows', async () => {
    const user = await seller();
    const invoice = async (reference_number: string) =>
      (await must(user.post('/v1/receivables', receivableBody({ reference_number })))).id as string;
    const [first, second] = [await invoice('FIND-ONE'), await invoice('FIND-TWO')];
    const { page, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    await page.getByRole('button', { name: 'Find' }).click();
    await box(page).fill('FIND');
    await expect.poll(() => hits(page).count()).toBe(2);
    await page.keyboard.press('ArrowDown');
    const chosen = (await hits(page).nth(1).textContent())!.includes('FIND-ONE') ? first : second;
    await expect.poll(() => hits(page).nth(1).getAttribute('aria-selected')).toBe('true');
    expect(await faults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/receivables/${chosen}`);
    await page.keyboard.press('Control+k');
    await box(page).fill(first);
    await hits(page).filter({ hasText: 'FIND-ONE' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  it('leads from the id of a refund, a dispute, a payment and a webhook endpoint to where it is shown', async () => {
    const user = await seller();
    const [refunded, disputed] = [await payment(user, 'BY ID', '40.00'), await payment(user, 'BY ID', '50.00')];
    const refund = await must(user.post('/v1/refunds', { deposit_id: refunded, amount: '4.00' }));
    await must(user.post(`/v1/test_helpers/deposits/${disputed}/dispute`, { amount: '5.00' }));
    const [dispute] = (await must(user.get('/v1/disputes?limit=1'))).data;
    const { data } = await must(
      user.graph('query ($id: ID!) { deposit(id: $id) { payment { id } } }', { id: refunded }),
    );
    const endpoint = await must(
      user.post('/v1/webhook_endpoints', { url: 'https://hooks.example/by-id', event_types: ['deposit.completed'] }),
    );
    const credit = { amount: '1.00', currency: 'USD' };
    await must(user.post('/v1/test_helpers/adjustments', { account_id: user.id, credit, reason: 'A fee given back' }));
    const { nodes } = (await must(user.graph('{ payments(first: 5) { nodes { id type } } }'))).data.payments;
    const adjusted = nodes.find(({ type }: { type: string }) => type === 'ADJUSTMENT');
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    for (const [id, kind, path] of [
      [refund.id, 'Refund', `/payments/${refunded}`],
      [dispute.id, 'Dispute', `/payments/${disputed}`],
      [data.deposit.payment.id, 'Movement', `/payments/${refunded}`],
      [adjusted.id, 'Correction', '/balance?month=M&currency=USD'],
      [endpoint.id, 'https://hooks.example/by-id', `/developers/webhooks/${endpoint.id}`],
    ]) {
      await page.keyboard.press('Control+k');
      await box(page).fill(id);
      await hits(page).filter({ hasText: kind }).click();
      // The month is that of the display's time zone.
      const search = (url: URL) => url.search.replace(/month=\d{4}-\d\d/, 'month=M');
      await page.waitForURL((url) => `${url.pathname}${search(url)}` === `/dashboard${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    expect(complaints).toEqual([]);
  });

  it('leads from every other id that pages show to its page, and says which kinds have no such way', async () => {
    const [platform, user] = [dashboard.platform(2), await dashboard.user(2, 'Lighthouse Courses')];
    const draft = await platform.connectedUser();
    const person = await must(platform.post('/v1/persons', personBody(draft.id)));
    const partner = await user.partner();
    const [document, logo] = [
      await must(user.upload('invoice', pdf)),
      await must(user.upload('identity_document', pdf)),
    ];
    const sheet = await must(user.upload('import', new TextEncoder().encode('currency\nUSD')));
    const rows = await must(user.post('/v1/imports', { kind: 'receivables', file_id: sheet.id, dry_run: true }));
    const exports = { list: '/v1/deposits', format: 'csv' };
    const [own, theirs] = [
      await must(platform.post('/v1/exports', exports)),
      await must(user.post('/v1/exports', exports)),
    ];
    const invoice = await must(
      user.post(
        '/v1/receivables',
        receivableBody({ currency: 'INR', document: document.id }, { customer_id: partner.id }),
      ),
    );
    const checkout = await must(
      user.post('/v1/checkouts', {
        ...{ amount: '7.31', currency: 'INR', from: { account_id: partner.id }, payment_methods: ['upi'] },
        ...{ receivables: [{ id: invoice.id }], redirect_url: 'https://shop.example/' },
      }),
    );
    await must(user.post(`/v1/test_helpers/checkouts/${checkout.id}/pay`));
    const ask = 'query ($id: ID!) { checkout(id: $id) { transactions(first: 1) { nodes { id } } } }';
    const attempts = (await must(user.graph(ask, { id: checkout.id }))).data.checkout.transactions.nodes;
    const change = await must(
      user.post('/v1/change_requests', { account_id: user.id, business_details: { dba: 'Harbour' } }),
    );
    const [address] = (await must(user.get('/v1/addresses?limit=1'))).data;
    const { page, complaints, open } = await dashboard.signIn(2);
    await open('/dashboard/settings');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    for (const [id, kind, path] of [
      [address.id, 'Address', `/accounts/${address.linked_id}`],
      [attempts[0].id, 'Attempt to pay', `/checkouts/${checkout.id}`],
      [change.id, 'Requested change', `/accounts/${user.id}`],
      [own.id, 'Export', '/settings/exports'],
      [theirs.id, 'Export', `/accounts/${user.id}`],
      [document.id, 'File', `/receivables/${invoice.id}`],
      [sheet.id, 'File', `/imports/${rows.id}`],
      [logo.id, 'File', `/accounts/${user.id}`],
      [rows.id, 'Check of an import', `/imports/${rows.id}`],
      [person.id, 'Meera Rao', `/accounts/${draft.id}`],
    ]) {
      await page.keyboard.press('Control+k');
      await box(page).fill(id);
      await hits(page).filter({ hasText: kind }).click();
      await page.waitForURL(`**/dashboard${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    const [event] = (await must(user.get('/v1/events?limit=1'))).data;
    await page.keyboard.press('Control+k');
    await box(page).fill(event.id);
    await page.getByText('This kind of object cannot be found by its id.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('finds an account by its name', async () => {
    const { id } = await (await seller()).partner({ nickname: 'Quayside Carpets' });
    const { page, complaints, open } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await box(page).fill('quayside');
    const hit = hits(page).filter({ hasText: 'Quayside Carpets' });
    await hit.getByText('Customer').waitFor();
    await hit.click();
    await page.waitForURL(`**/accounts/${id}`);
    expect(complaints).toEqual([]);
  });

  it('finds what a user has as the platform, and says where it looked for what another user has', async () => {
    const id = await payment(await seller(), 'UTR555444333222', '17.31');
    const platform = await dashboard.signIn(1);
    await platform.open('/dashboard/settings');
    await platform.page.getByRole('button', { name: 'Find' }).click();
    await box(platform.page).fill('UTR555444333222');
    await hits(platform.page).filter({ hasText: 'UTR555444333222' }).waitFor();
    // Another tenant finds neither the text nor the id.
    const other = await dashboard.signIn(2);
    await other.open('/dashboard/settings');
    await other.page.getByRole('button', { name: 'Find' }).click();
    await box(other.page).fill('UTR555444333222');
    await other.page.getByText(/^Nothing was found in the payers, descriptions/).waitFor();
    await box(other.page).fill(id);
    await other.page.getByText('Nothing that you can see has this id.').waitFor();
    await box(other.page).fill('17.31');
    await other.page.getByText(/no payment, invoice or payout has this amount/).waitFor();
    expect(await hits(other.page).count()).toBe(0);
    expect(other.complaints).toEqual([]);
  });

  it('keeps its field in place while hits come, and shows the hit that the arrows choose', async () => {
    const user = await seller();
    for (let i = 0; i < 5; i++)
      await must(user.post('/v1/receivables', receivableBody({ reference_number: `SHOWN-${'long-'.repeat(12)}${i}` })));
    const { page, open } = await dashboard.signIn(1, 'Indigo Looms');
    await page.setViewportSize({ width: 390, height: 480 });
    await open('/dashboard/settings');
    await page.getByRole('button', { name: 'Find' }).click();
    const dialog = page.getByRole('dialog');
    const place = () => dialog.evaluate((each) => each.getBoundingClientRect().top);
    const before = await place();
    await box(page).fill('SHOWN');
    await expect.poll(() => hits(page).count()).toBe(5);
    expect(await place()).toBe(before);
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown');
    await expect.poll(() => hits(page).nth(4).getAttribute('aria-selected')).toBe('true');
    const isShown = () =>
      hits(page)
        .nth(4)
        .evaluate((hit) => {
          const [{ top, bottom }, frame] = [
            hit.getBoundingClientRect(),
            hit.closest('dialog')!.getBoundingClientRect(),
          ];
          return top >= frame.top && bottom <= Math.min(frame.bottom, innerHeight);
        });
    await expect.poll(isShown).toBe(true);
  });

  it('is opened by its button on a phone', async () => {
    const { page, open } = await dashboard.signIn(1, 'Indigo Looms');
    await page.setViewportSize({ width: 390, height: 800 });
    await open('/dashboard/payments');
    await page.getByRole('button', { name: 'Find' }).click();
    await box(page).fill('Nothing that anybody has');
    await page.getByText(/^Nothing was found in /).waitFor();
    expect(await faults(page)).toEqual([]);
  });
});
