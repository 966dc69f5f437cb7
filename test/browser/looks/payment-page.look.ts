import type { Page } from 'playwright-core';
import { afterAll, it } from 'vitest';
import { AdapterProcess } from '../../support/adapter.js';
import { browser } from '../../support/browser.js';
import {
  cardForm,
  cards,
  type CheckoutFixture,
  PayeeFixture,
  submit,
  upiCode,
} from '../../support/checkout-fixture.js';
import { useWorld } from '../../support/world.js';
import { Camera, named, press, printed, type State, steps } from './camera.js';

const world = useWorld();
const second = new AdapterProcess();
const chromium = await browser();
const camera = new Camera(() => chromium);
afterAll(async () => {
  await camera.close();
  await chromium.close();
});

const amount = '125000.00';

it('the payment page', async () => {
  const payee = await PayeeFixture.open(world, { dba: 'Lighthouse Courses' });
  /** Opens the page of a new checkout, after something has happened to it. */
  const after =
    (happens: (checkout: CheckoutFixture) => Promise<unknown> = async () => {}, options = {}) =>
    async (page: Page) => {
      const receivableIds = [await payee.receivable(amount, 'INV-2041')];
      const checkout = await payee.checkoutFixture({ amount, receivableIds, ...options });
      await happens(checkout);
      await page.goto(checkout.url, { waitUntil: 'domcontentloaded' });
      await page.waitForTimeout(400);
    };
  const many = async (page: Page) => {
    const receivableIds: string[] = [];
    for (let i = 1; i <= 5; i++) receivableIds.push(await payee.receivable(`${i}0000.00`, `INV-204${i}`));
    await after(undefined, { amount: '120000.00', receivableIds })(page);
  };
  const unfold = async (page: Page) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator('.fold > summary').click();
    await page.locator('.more > summary').click();
  };
  const byCard = (page: Page) => page.locator('label[for="way-cards"]').click();
  const type = async (page: Page) => {
    await page.getByLabel('Card number').pressSequentially('6074819900004939');
    await page.getByLabel('Expiry date').pressSequentially('1231');
  };
  const wrong = async (page: Page) => {
    await press(/^Pay ₹/)(page);
    await page.locator('[aria-invalid]').first().waitFor();
  };
  const paid = after((checkout) => payee.help(checkout, 'pay'));
  const declined = after((checkout) => payee.help(checkout, 'decline'));
  const declinedCard = after(async ({ url }) => {
    await submit(`${url}/card`, cardForm('4000000000000002'));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await payee.work();
  });
  const unpayable = await PayeeFixture.open(world);
  /** Long names and references, a logo, a fee, and a payment that is more than its invoices can take. */
  const fees = await world.another({ environment: { CHECKOUT_FEE_BASIS_POINTS: '250' } });
  const long = async (page: Page) => {
    const name = `Sri Venkateswara Handloom Weavers' Producer Company ${'Mahabubnagar'.repeat(4)}`;
    const other = await PayeeFixture.open(world, { dba: name });
    // Not on a payment page, whose policy would take the colour away.
    await page.goto('about:blank');
    await page.setContent('<body style="margin:0;background:#c2410c"></body>');
    const file = await other.user.upload('logo', await page.screenshot(), 'logo.png');
    await world.sql`update account set logo_id = ${file.body.id} where id = ${other.user.id} and not livemode`;
    const speaker = other.user.at(fees);
    const receivableIds = [await other.receivable('99999999.99', `INV-${'2026/11/'.repeat(4)}0042`)];
    const checkout = await other.checkoutFixture({ amount: '99999999.99', receivableIds, speaker });
    await page.goto(checkout.url, { waitUntil: 'domcontentloaded' });
    await page.waitForFunction(() => document.querySelector<HTMLImageElement>('header img')?.naturalWidth !== 0);
  };
  /** The refusal of a payer who has tried too many cards. */
  const capped = async (page: Page) => {
    const { url } = await payee.checkoutFixture({ amount });
    for (let i = 0; i < 30; i++) {
      await submit(`${url}/card`, cardForm(cards.declined));
      await payee.pass(2);
    }
    await page.goto(url, { waitUntil: 'domcontentloaded' });
  };
  /** A fault of the gateway while it begins to charge a card. */
  const fault = async (page: Page) => {
    await steps(after(), byCard)(page);
    await page.getByLabel('Card number').fill(cards.good);
    await page.getByLabel('Expiry date').fill('12/34');
    await page.getByLabel('Security code').fill('123');
    await page.getByLabel('Name on the card').fill('Asha Rao');
    await world.sql`alter function begin_transaction rename to begin_transaction_away`;
    await press(/^Pay ₹/)(page);
    await page.getByRole('heading', { name: 'We are checking your payment' }).waitFor();
    await world.sql`alter function begin_transaction_away rename to begin_transaction`;
  };
  const code = (checkout: CheckoutFixture) => upiCode(payee, checkout);
  const states: State[] = [
    ['unpaid', after()],
    ['upi-alone', after(undefined, { methods: ['upi'] })],
    ['many', many],
    ['many-unfolded', steps(many, unfold)],
    ['card', steps(after(), byCard, type)],
    ['card-wrong', steps(after(), byCard, wrong)],
    ['declined-card', declinedCard],
    ['declined-upi', declined],
    ['upi', after(code)],
    [
      'upi-expired',
      after(async (checkout) => {
        await code(checkout);
        await payee.pass(500);
      }),
    ],
    ['confirming', after(({ url }) => submit(`${url}/card`, cardForm(cards.pending)))],
    ['paid', steps(paid, press('Stay on this page'))],
    ['paid-printed', steps(paid, press('Stay on this page'), printed)],
    ['expired', after((checkout) => payee.help(checkout, 'expire'))],
    ['cancelled', after(({ id }) => payee.user.post(`/v1/checkouts/${id}/cancel`))],
    ['missing', (page) => page.goto(`${world.origin}/checkout/none`)],
    ['long', long],
    ['capped', capped],
    ['no-acquirer', async (page) => page.goto((await unpayable.liveCheckoutFixture()).url)],
    ['fault', fault],
  ];
  await camera.take(named('pay', states));
  await camera.take(
    named(
      'pay-touch',
      states.filter(([name]) => /^(unpaid|upi)$/.test(name)),
    ),
    () => camera.page({ hasTouch: true, isMobile: true }),
  );
  await camera.take(
    named('pay-plain', [
      ['many', many],
      ['declined', declinedCard],
      ['upi', after(code)],
      ['paid', paid],
      ['fault', fault],
    ]),
    () => camera.page({ javaScriptEnabled: false }),
  );
}, 900_000);

it('the payment page of live mode, with the card fields of an acquirer', async () => {
  // The acquirer must know the gateway's origin, and the gateway the acquirer's.
  await second.start();
  const origin = await world.another({ environment: second.environment });
  await second.gateway(origin);
  const payee = await PayeeFixture.open(world);
  const partnerId = await payee.goLive();
  const speaker = payee.live.at(origin);
  const { url } = await payee.checkoutFixture({ speaker, partnerId });
  const card = async (page: Page) => {
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    await page.locator('label[for="way-cards"]').click();
    await page.locator('iframe[height="150"]').waitFor();
  };
  try {
    await camera.take([['pay-live', card]]);
  } finally {
    await second.stop();
  }
}, 300_000);
