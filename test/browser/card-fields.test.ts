import { randomUUID } from 'node:crypto';
import pino from 'pino';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdapterProcess } from '../support/adapter.js';
import { browser } from '../support/browser.js';
import {
  cardForm,
  cards,
  type CheckoutFixture,
  payeesIn,
  type PayeeFixture,
  submit,
} from '../support/checkout-fixture.js';
import { useWorld } from '../support/world.js';

const lines: string[] = [];
const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
const world = useWorld({ worker: false, log });
const payees = payeesIn(world);
const second = new AdapterProcess();
let chromium: Browser;
let payee: PayeeFixture;
let partnerId: string;
let origin: string;

beforeAll(async () => {
  chromium = await browser();
  // The acquirer must know the gateway's origin, and the gateway the acquirer's: the fields learn theirs afterwards.
  await second.start();
  origin = await world.another({ environment: second.environment });
  await second.gateway(origin);
  payee = await payees.open();
  partnerId = await payee.goLive();
});
afterAll(async () => {
  await chromium?.close();
  await second.stop();
});

/** A live checkout on the gateway with the acquirer. */
const liveCheckout = (): Promise<CheckoutFixture> =>
  payee.checkoutFixture({ speaker: payee.live.at(origin), partnerId });

async function open(url: string, options = {}): Promise<{ page: Page; complaints: string[]; hosts: Set<string> }> {
  const context = await chromium.newContext(options);
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('request', (request) => hosts.add(new URL(request.url()).origin));
  await page.goto(url);
  await page.locator('label[for="way-cards"]').click();
  return { page, complaints, hosts };
}

const pay = (page: Page) => page.getByRole('button', { name: /^Pay ₹/ }).click();

describe('the card fields of an acquirer', () => {
  it('take the card in a frame of their own origin, and return a token, with which the payment succeeds', async () => {
    const checkout = await liveCheckout();
    const { page, complaints, hosts } = await open(checkout.url);
    const posted: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().startsWith(origin)) posted.push(request.postData() ?? '');
    });
    const fields = page.frameLocator('iframe');
    // The frame states its height, and the page has no field for a card.
    await page.locator('iframe[height="150"]').waitFor();
    expect(await page.locator('main input[type=text]').count()).toBe(0);
    await pay(page);
    await fields.getByText('Enter the card number.').waitFor();
    expect(posted).toEqual([]);
    await fields.getByLabel('Card number').fill(cards.good);
    await fields.getByLabel('Expiry date').fill('12/34');
    await pay(page);
    await page.locator('main[data-state^="confirming"], main[data-state^="paid"]').waitFor();

    const [attempt] = await payee.attempts(checkout);
    expect(attempt.details.card).toEqual({ brand: 'visa', last4: '4242', expiry_month: 12, expiry_year: 2034 });
    expect(await second.look(`attempts/${attempt.id}`)).toEqual({
      ...{ status: 'succeeded', amount: '1000.00', currency: 'INR', details: attempt.details },
    });
    expect(posted).toHaveLength(1);
    expect(posted.join()).not.toContain('4242');
    expect([complaints, [...hosts].toSorted()]).toEqual([[], [origin, second.origin].toSorted()]);
    await page.context().close();
  });

  it('are framed by a policy that names their origin, on live pages alone', async () => {
    const [checkout, test] = [await liveCheckout(), await payee.checkoutFixture()];
    const policyAt = async (url: string) => (await fetch(url)).headers.get('content-security-policy') ?? '';
    expect(await policyAt(checkout.url)).toContain(`; frame-src ${second.origin}; form-action 'self'`);
    for (const url of [`${origin}${test.path}`, `${world.origin}${checkout.path}`])
      expect(await policyAt(url)).not.toContain('frame-src');
  });

  it('are the only ones that the page hears: a token of another origin or window is not sent', async () => {
    const checkout = await liveCheckout();
    const { page } = await open(checkout.url);
    const posted: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && posted.push(request.url()));
    await page.locator('iframe[height="150"]').waitFor();
    await pay(page);
    // The page's own window, and a message that claims the acquirer's origin but comes from this window.
    await page.evaluate((claimed) => {
      const data = { type: 'tidegate:token', token: 'tok_stolen' };
      postMessage(data, '*');
      dispatchEvent(new MessageEvent('message', { data, origin: claimed, source: window }));
      const frame = document.querySelector('iframe')!.contentWindow!;
      dispatchEvent(new MessageEvent('message', { data, origin: 'https://other.example', source: frame }));
    }, second.origin);
    await page.frameLocator('iframe').getByText('Enter the card number.').waitFor();
    expect([posted, await page.locator('[name=token]').inputValue()]).toEqual([[], '']);
    await page.context().close();
  });

  it('need scripts, and UPI does not', async () => {
    const checkout = await liveCheckout();
    const { page } = await open(checkout.url, { javaScriptEnabled: false });
    expect(await page.locator('.cards noscript').innerText()).toBe('Paying by card needs JavaScript.');
    expect(await page.getByRole('button', { name: /^Pay ₹/ }).count()).toBe(0);
    await page.locator('label[for="way-upi"]').click();
    await page.getByRole('button', { name: 'Pay with UPI' }).click();
    expect(await page.locator('h1').innerText()).toBe('Pay with your UPI app');
    await page.context().close();
  });
});

describe('a live form', () => {
  it('with a card number is refused by the name of its field, and stores and logs nothing', async () => {
    const checkout = await liveCheckout();
    const attempt = `${randomUUID()}-card`;
    const digits = '4242424242424242';
    for (const [fields, named] of [
      [cardForm(cards.good), 'The field number was refused'],
      [{ attempt, token: digits }, 'The field token was refused'],
      [{ attempt, token: '4242-4242 4242.4242' }, 'The field token was refused'],
      [{ attempt, [digits]: digits }, 'A field of the form was refused'],
      [{ attempt, token: 'tok_000000', code: '737' }, 'The field code was refused'],
    ] as const) {
      const answer = await submit(`${checkout.url}/card`, fields as Record<string, string>);
      const text = await answer.text();
      expect([answer.status, text]).toEqual([400, expect.stringContaining(named)]);
      expect(text.replaceAll(/\D/g, '')).not.toContain(digits);
    }
    expect(await payee.attempts(checkout)).toEqual([]);
    expect(lines.join().replaceAll(/[^\d]/g, '')).not.toContain(digits);
    expect(lines.some((line) => line.includes('/checkout/:token/card'))).toBe(true);
  });

  it('with a token that the acquirer does not know is shown again, and begins no attempt', async () => {
    const checkout = await liveCheckout();
    for (const token of ['', 'tok_unknown_000', 'x'.repeat(300), '<script>']) {
      const answer = await submit(`${checkout.url}/card`, { attempt: `${randomUUID()}-card`, token });
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.stringContaining('The card could not be read. You have not been charged.'),
      ]);
    }
    expect((await submit(`${checkout.url}/card`, { token: 'tok_unknown_000' })).status).toBe(303);
    expect(await payee.attempts(checkout)).toEqual([]);
  });
});
