import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { scale } from '../support/scale.js';
import {
  cardForm,
  cards,
  shop,
  submit,
  submitAccepted,
  type PayeeFixture,
  payeesIn,
  upiCode,
} from '../support/checkout-fixture.js';
import { eventually, useWorld } from '../support/world.js';
import {
  choose,
  fill,
  heading,
  pageIn,
  payByCard,
  payByUpi,
  payersIn,
  payTheCode,
  reach,
  state,
} from './hosted-fixture.js';

const world = useWorld();
const payees = payeesIn(world);
const { visit } = payersIn(world);

afterEach(() => payees.agree());

const focused = (page: Page) => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);

describe.concurrent('paying', () => {
  let payee: PayeeFixture;
  beforeAll(async () => {
    payee = await payees.open();
  });

  it('by UPI: a code on a desktop, a link on a phone, and a redirect to the payee', async () => {
    const checkoutFixture = await payee.checkoutFixture({ amount: '123456.78' });
    const { leave, page, returns, foreign, complaints } = await visit();
    await page.goto(checkoutFixture.url);
    await payByUpi(page).click();
    await reach(page, 'awaiting');

    const [attempt] = await payee.attempts(checkoutFixture);
    expect(await page.title()).toBe('Pay ₹1,23,456.78 with your UPI app');
    expect(await heading(page)).toBe('Pay with your UPI app');
    expect(await focused(page)).toBe('H1');
    expect(await page.locator('.qr svg').isVisible()).toBe(true);
    // The links are for phones.
    expect(await page.locator('.app:visible').count()).toBe(0);
    expect(await page.locator('main').innerText()).not.toContain('upi://');
    const link = new URL((await page.locator('.app.primary').getAttribute('href'))!);
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      ...{ pa: expect.stringMatching(/^checkout\.[0-9a-f]{12}@sandbox$/), pn: 'Malabar Spice Traders LLP' },
      ...{ am: '123456.78', cu: 'INR', tr: attempt.id.replace('transaction_', '') },
    });
    expect(link.search).not.toContain('+');
    const words = await page.locator('.qr').getAttribute('aria-label');
    expect(words).toBe(`UPI code: pay ₹1,23,456.78 to ${link.searchParams.get('pa')}`);

    await payTheCode(page).click();
    await reach(page, 'paid');
    expect(await heading(page)).toBe('Payment received');
    expect(await page.locator('.result').innerText()).toContain('₹1,23,456.78');
    expect(await page.locator('.payee').innerText()).toBe('Malabar Spice Traders LLP');
    expect((await payee.seen(checkoutFixture)).status).toBe('completed');
    await page.getByRole('link', { name: 'Return to Malabar Spice Traders LLP' }).click();
    await page.waitForURL(`${shop}/**`);
    expect(returns).toHaveLength(1);
    const back = new URL(returns[0]!);
    expect([back.pathname, Object.fromEntries(back.searchParams)]).toEqual([
      '/back',
      { order: '7', note: 'a b', checkout_id: checkoutFixture.id },
    ]);
    expect([foreign, complaints]).toEqual([[], []]);
    await leave();
  });

  it('on a phone opens the app by a link, and is complete when the payer returns', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, context, page } = await visit({
      viewport: { width: 390, height: 800 },
      isMobile: true,
      hasTouch: true,
    });
    await page.goto(checkoutFixture.url);
    await payByUpi(page).tap();
    await reach(page, 'awaiting');
    const app = page.getByRole('link', { name: 'Open your UPI app' });
    expect(await app.isVisible()).toBe(true);
    expect(await app.getAttribute('href')).toMatch(/^upi:\/\/pay\?pa=/);
    const query = new URL((await app.getAttribute('href'))!).search;
    for (const [name, start] of [
      ['Google Pay', 'tez://upi/pay'],
      ['PhonePe', 'phonepe://pay'],
      ['Paytm', 'paytmmp://pay'],
    ] as const)
      expect(await page.getByRole('link', { name }).getAttribute('href')).toBe(`${start}${query}`);
    // The link comes before a code, which this phone cannot scan.
    const [button, code] = [(await app.boundingBox())!, (await page.locator('.qr').boundingBox())!];
    expect([button.height >= 44, button.width >= 200, button.y + button.height <= code.y]).toEqual([true, true, true]);
    expect(await page.getByText('on your phone').count()).toBe(0);

    // The app pays while another page is in front.
    const other = await pageIn(context);
    await other.bringToFront();
    const [{ id }] = (await payee.attempts(checkoutFixture)) as [any];
    await submitAccepted(`${checkoutFixture.url}/upi/${id}`, { vpa: 'success@test' });
    await page.bringToFront();
    await reach(page, 'paid');
    await leave();
  });

  it('on a phone opens the app that the payer chooses, with one tap', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit({ viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true });
    await page.goto(checkoutFixture.url);
    // A browser without the app stays where it is, so what it is asked for is read from the browser itself.
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Page.enable');
    const asked = new Promise<string>((resolve) =>
      devtools.on('Page.frameRequestedNavigation', ({ url }) => resolve(url)),
    );
    const button = page.getByRole('button', { name: 'Pay with PhonePe' });
    expect((await button.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    await button.tap();
    await reach(page, 'awaiting');
    const link = await page.getByRole('link', { name: 'PhonePe' }).getAttribute('href');
    expect(link).toMatch(/^phonepe:\/\/pay\?pa=/);
    expect(await asked).toBe(link);
    expect(await payee.attempts(checkoutFixture)).toHaveLength(1);
    await leave();
  });

  it('by card: the number is grouped, the date gets its slash, and neither is stored', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page, complaints } = await visit();
    await page.goto(checkoutFixture.url);
    await choose(page, 'cards');
    const [number, expiry] = [page.getByLabel('Card number'), page.getByLabel('Expiry date')];
    await number.pressSequentially('4242424242424242');
    await expiry.pressSequentially('1234');
    expect([await number.inputValue(), await expiry.inputValue()]).toEqual(['4242 4242 4242 4242', '12/34']);
    const fields = await page
      .locator('form[action$="/card"] input[type=text]')
      .evaluateAll((all) => all.map((f) => [f.id, f.getAttribute('autocomplete'), f.getAttribute('inputmode')]));
    expect(fields).toEqual([
      ['number', 'cc-number', 'numeric'],
      ['expiry', 'cc-exp', 'numeric'],
      ['code', 'cc-csc', 'numeric'],
      ['name', 'cc-name', null],
    ]);
    await page.getByLabel('Security code').fill('737');
    await page.getByLabel('Name on the card').fill('Asha Rao');
    await payByCard(page).click();
    await reach(page, 'paid');

    expect(await page.content()).not.toContain('4242 4242');
    expect(
      await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])),
    ).toBe('[{},{},""]');
    expect((await payee.attempts(checkoutFixture)).map((a) => [a.status, a.details.card.last4])).toEqual([
      ['succeeded', '4242'],
    ]);
    expect(complaints).toEqual([]);
    await leave();
  });

  it('by card: an expiry in any usual form is shown and accepted', async () => {
    const forms = [
      ['1234', '12/34'],
      ['12/34', '12/34'],
      ['12 / 34', '12 / 34'],
      ['122034', '12/2034'],
      ['12/2034', '12/2034'],
      ['2034-12', '2034-12'],
      ['1/34', '1/34'],
      ['134', '134'],
      ['12034', '12034'],
    ] as const;
    const checkoutFixtures = await Promise.all(forms.map(() => payee.checkoutFixture()));
    const { leave, page } = await visit();
    await page.goto(checkoutFixtures[0]!.url);
    await choose(page, 'cards');
    const expiry = page.getByLabel('Expiry date');
    for (const [typed, shown] of forms) {
      await expiry.clear();
      await expiry.pressSequentially(typed);
      expect(await expiry.inputValue()).toBe(shown);
    }
    // The form of the page sends exactly this; a date that is not accepted is a 400.
    const answers = await Promise.all(
      forms.map(([, shown], i) => submit(`${checkoutFixtures[i]!.url}/card`, cardForm(cards.good, { expiry: shown }))),
    );
    expect(answers.map(({ status }) => status)).toEqual(forms.map(() => 303));
    await reach(page, 'paid');
    await leave();
  });

  it('by card: digits are grouped as on the card, with its brand', async () => {
    const checkoutFixture = await payee.checkoutFixture({ methods: ['cards'] });
    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    const number = page.getByLabel('Card number');
    for (const [typed, shown, brand] of [
      ['4242', '4242', 'visa'],
      ['5555555555554444', '5555 5555 5555 4444', 'mastercard'],
      ['6074819900004939', '6074 8199 0000 4939', 'rupay'],
      ['378282246310005', '3782 822463 10005', 'american-express'],
      ['9', '9', ''],
    ] as const) {
      await number.clear();
      await number.pressSequentially(typed);
      expect(await number.inputValue()).toBe(shown);
      expect(await page.locator('.brands').getAttribute('data-brand')).toBe(brand);
      expect(await page.locator('.brands svg:visible').count()).toBe(brand === '' ? 4 : 1);
    }
    await leave();
  });

  it('shows one method at a time, in the order of the checkout, and UPI first on a phone', async () => {
    const checkoutFixture = await payee.checkoutFixture({ methods: ['cards', 'upi'] });
    const tabsOf = async (options: BrowserContextOptions) => {
      const { leave, page } = await visit({ ...options, javaScriptEnabled: false });
      await page.goto(checkoutFixture.url);
      const tabs = await page.locator('.tabs label').allInnerTexts();
      const first = await page.locator('button.primary:visible').allInnerTexts();
      await choose(page, 'upi');
      expect(await page.locator('button.primary:visible').allInnerTexts()).toEqual(['Pay with UPI']);
      await choose(page, 'cards');
      expect(await page.locator('button.primary:visible').allInnerTexts()).toEqual(['Pay ₹1,000.00']);
      // The arrow keys change the method, as in any group of radio inputs.
      await page.getByRole('radio', { name: 'Card' }).focus();
      await page.keyboard.press('ArrowRight');
      expect(await page.getByRole('radio', { name: 'UPI' }).isChecked()).toBe(true);
      await leave();
      return [...tabs, ...first];
    };
    expect(await tabsOf({})).toEqual(['Card', 'UPI', 'Pay ₹1,000.00']);
    const userAgent = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/147.0 Mobile Safari/537.36';
    const phone = { userAgent, viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true };
    expect(await tabsOf(phone)).toEqual(['UPI', 'Card', 'Pay with UPI']);
  });

  it('is possible again after a decline, and after a decline for lack of funds', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    for (const [number, words] of [
      [cards.declined, 'The bank declined the card ending in 0002. You have not been charged.'],
      [cards.short, 'There was not enough money in the account of the card ending in 9995. You have not been charged.'],
    ] as const) {
      const before = await state(page);
      await fill(page, number);
      await payByCard(page).click();
      await eventually(
        () => state(page),
        (now) => now !== before && (now ?? '').startsWith('declined'),
      );
      expect(await page.getByRole('alert').innerText()).toBe(words);
      expect(await focused(page)).toBe('H1');
      // The number and the code are typed again; the rest stays.
      expect(
        await page
          .locator('.cards input[type=text]')
          .evaluateAll((all) => all.map((f) => (f as HTMLInputElement).value)),
      ).toEqual(['', '12/34', '', 'Asha Rao']);
    }
    await page.reload();
    expect(await page.getByLabel('Expiry date').inputValue()).toBe('12/34');
    await fill(page, cards.good);
    await payByCard(page).click();
    await reach(page, 'paid');

    const ends = (await payee.attempts(checkoutFixture)).map((a) => [a.status, a.reason_code]);
    expect(ends).toEqual([
      ['failed', 'declined'],
      ['failed', 'insufficient_funds'],
      ['succeeded', null],
    ]);
    await leave();
  });

  it('shows each error at its field, moves the focus there, and keeps the valid input', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    await fill(page, '4242 4242 4242 4241');
    await payByCard(page).click();
    const number = page.locator('#number[aria-invalid="true"]');
    await number.waitFor();
    await page.waitForFunction(() => document.activeElement?.id === 'number');
    expect(await page.title()).toMatch(/^Error: /);
    const [id] = (await number.getAttribute('aria-describedby'))!.split(' ').slice(-1);
    expect(await page.locator(`#${id}`).innerText()).toContain('a digit is wrong or missing');
    expect(await page.locator('[aria-invalid]').count()).toBe(1);
    expect(await page.getByLabel('Name on the card').inputValue()).toBe('Asha Rao');

    await number.fill(cards.good);
    await payByCard(page).click();
    await reach(page, 'paid');
    expect(await payee.attempts(checkoutFixture)).toHaveLength(1);
    await leave();
  });

  it('works with only a keyboard', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit({ own: true });
    await page.clock.install();
    await page.goto(checkoutFixture.url);
    /** Presses Tab until an element has the focus; the focus must be visible. */
    const tabTo = async (selector: string) => {
      for (let i = 0; i < 30; i++) {
        await page.keyboard.press('Tab');
        if (await page.evaluate((s) => document.activeElement?.matches(s), selector)) break;
      }
      const style = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
      expect([selector, style]).toEqual([selector, 'solid']);
    };
    await tabTo('form[action$="/upi"] button');
    await page.keyboard.press('Enter');
    await reach(page, 'awaiting');
    await tabTo('a[href$="?pay=again"]');
    await page.keyboard.press('Enter');
    await page.waitForURL(/pay=again/);
    await tabTo('#number');
    await page.keyboard.press('Enter');
    await page.locator('#number[aria-invalid]').waitFor();
    await page.waitForFunction(() => document.activeElement?.id === 'number');
    await page.keyboard.type('4242424242424242');
    await tabTo('#expiry');
    await page.keyboard.type('1234');
    await tabTo('#code');
    await page.keyboard.type('737');
    await tabTo('#name');
    await page.keyboard.type('Asha Rao');
    await tabTo('form[action$="/card"] button');
    // The page would be left five seconds after the payment, which is not much on a busy machine.
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.keyboard.press('Space');
    await eventually(
      async () => {
        if (!(await state(page))?.startsWith('paid')) await page.clock.runFor(2_500);
        return state(page);
      },
      (now) => now?.startsWith('paid') === true,
    );
    expect(await focused(page)).toBe('H1');

    // The payer can stay: the redirect is announced, and a button stops it.
    expect(await page.locator('#live').innerText()).toContain('You will be taken back in 5 seconds');
    await tabTo('[data-return] button');
    await page.keyboard.press('Enter');
    await tabTo('body *');
    expect([await page.locator('[data-return]').count(), await page.locator('#live').innerText()]).toEqual([0, '']);
    await leave();
  });

  it('works without scripts, and shows errors in the page', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page, complaints } = await visit({ javaScriptEnabled: false });
    await page.goto(checkoutFixture.url);
    await choose(page, 'cards');
    await page.getByLabel('Card number').fill('1234');
    await page.getByLabel('Expiry date').fill('12/34');
    await page.getByLabel('Name on the card').fill('4242 4242 4242 4242');
    await payByCard(page).click();
    expect(await page.locator('#number-error').innerText()).toContain('Check the card number');
    expect(await page.locator('#code-error').innerText()).toContain('Enter the 3 digits');
    expect(await page.getByLabel('Card number').getAttribute('autofocus')).toBe('');
    expect(
      await page.locator('form[action$="/card"] input[type=text]').evaluateAll((all) => all.map((f: any) => f.value)),
    ).toEqual(['', '12/34', '', '']);
    // The address of a form redirects to the page.
    await page.goto(page.url());
    expect(page.url()).toBe(checkoutFixture.url);

    const look = page.getByRole('link', { name: 'Check the payment status' });
    const undecided = await payee.checkoutFixture();
    await page.goto(undecided.url);
    await fill(page, cards.pending);
    await payByCard(page).click();
    await page.getByRole('heading', { name: 'Confirming your payment' }).waitFor();
    expect([await page.locator('meta[http-equiv]').count(), await look.count()]).toEqual([0, 1]);

    await page.goto(checkoutFixture.url);
    await fill(page, cards.declined);
    await payByCard(page).click();
    await eventually(
      async () => {
        if (await look.isVisible()) await look.click();
        return heading(page);
      },
      (now) => now === 'Your payment did not go through',
    );
    await fill(page, cards.good);
    await payByCard(page).click();
    await eventually(
      async () => {
        if (await look.isVisible()) await look.click();
        return heading(page);
      },
      (now) => now === 'Payment received',
    );
    expect((await payee.seen(checkoutFixture)).status).toBe('completed');
    expect(complaints.filter((text) => !text.includes('status of 400'))).toEqual([]);
    await leave();
  });

  it('makes one attempt, for any number of clicks on the button', async () => {
    const [clicked, sent] = [await payee.checkoutFixture(), await payee.checkoutFixture()];
    const { leave, page, posts } = await visit();
    await page.goto(clicked.url);
    await fill(page, cards.good);
    await payByCard(page).dblclick();
    await reach(page, 'paid');
    expect([posts, (await payee.attempts(clicked)).length]).toEqual([['card'], 1]);
    await leave();

    // Without the script the browser sends both.
    const plain = await visit({ javaScriptEnabled: false });
    await plain.page.goto(sent.url);
    await fill(plain.page, cards.good);
    await payByCard(plain.page).dblclick();
    await eventually(
      () => payee.seen(sent),
      ({ status }) => status === 'completed',
    );
    expect(await payee.attempts(sent)).toHaveLength(1);
    await plain.leave();
  });

  it('in two tabs at the same time by card pays once, and both show it', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, context, page } = await visit();
    const other = await pageIn(context);
    for (const tab of [page, other]) {
      await tab.goto(checkoutFixture.url);
      await fill(tab, cards.good);
    }
    await Promise.all(
      [page, other].map((tab) =>
        tab.evaluate(() => document.querySelector<HTMLElement>('form[action$="/card"] button')!.click()),
      ),
    );
    for (const tab of [page, other]) await reach(tab, 'paid');
    expect((await payee.attempts(checkoutFixture)).map((a) => a.status)).toEqual(['succeeded']);
    await leave();
  });

  it('by a code and a card at the same time counts one, and records the other as a duplicate', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, context, page } = await visit();
    await page.goto(checkoutFixture.url);
    await payByUpi(page).click();
    await reach(page, 'awaiting');
    const other = await pageIn(context);
    await other.goto(`${checkoutFixture.url}?pay=again`);
    await fill(other, cards.good);
    await Promise.all([
      page.evaluate(() => document.querySelector<HTMLElement>('form.test button')!.click()),
      other.evaluate(() => document.querySelector<HTMLElement>('form[action$="/card"] button')!.click()),
    ]);
    for (const tab of [page, other]) await reach(tab, 'paid');
    // The card is charged, or it is refused because the code is already being confirmed.
    const attempts = await eventually(
      () => payee.attempts(checkoutFixture),
      (all) => all.every((a) => a.status !== 'processing'),
    );
    expect(attempts.filter((a) => a.status === 'succeeded')).toHaveLength(1);
    expect(attempts.filter((a) => a.status === 'failed').map((a) => a.reason_code)).toEqual(
      attempts.length === 2 ? ['duplicate'] : [],
    );
    const deposits = await world.sql`select d.status, d.reason_code from deposit d join payment p on p.deposit_id = d.id
      where p.checkout_id = ${checkoutFixture.id} order by d.status`;
    expect(deposits.map((d) => d.status)).toEqual(attempts.length === 2 ? ['completed', 'failed'] : ['completed']);
    await leave();
  });

  it('twice shows that the second payment is returned', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    for (let i = 0; i < 2; i++) await payee.help(checkoutFixture, 'pay');
    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    expect(await page.locator('.notice').innerText()).toBe(
      'We received a second payment for this request. It will be refunded to you.',
    );
    await leave();
  });

  it("survives a reload and the browser's back button in every state", async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page, posts } = await visit();
    const same = async () => {
      const before = [await state(page), await heading(page)];
      await page.reload();
      expect([await state(page), await heading(page)]).toEqual(before);
      await page.goto(`${world.origin}/healthz`);
      await page.goBack();
      await page.locator('main').waitFor();
      expect([await state(page), await heading(page), page.url()]).toEqual([...before, checkoutFixture.url]);
    };
    await page.goto(checkoutFixture.url);
    await same();
    await payByUpi(page).click();
    await reach(page, 'awaiting');
    await same();
    await page.getByLabel('UPI ID').fill('failure@test');
    await payTheCode(page).click();
    await reach(page, 'declined');
    await same();
    await fill(page, cards.pending);
    await payByCard(page).click();
    await reach(page, 'confirming');
    await same();
    await payee.help(checkoutFixture, 'pay');
    await reach(page, 'paid');
    await same();
    expect(posts).toEqual(['upi', expect.stringMatching(/^upi\/transaction_/), 'card']);
    await leave();
  });

  it.each([
    ['aborted', (url: string) => url.endsWith('/events')],
    [
      'aborted along with half of the news',
      (url: string, i: number) => url.endsWith('/events') || (url.endsWith('/state') && i % 2 === 0),
    ],
  ] as const)('is shown without the stream: %s', async (_, cut) => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, context, page } = await visit({ own: true });
    let asked = 0;
    await context.route(/\/(events|state)$/, (route) =>
      cut(route.request().url(), asked++) ? route.abort() : route.fallback(),
    );
    await page.goto(checkoutFixture.url);
    await payee.help(checkoutFixture, 'pay');
    await reach(page, 'paid');
    await leave();
  });

  it('is shown when a proxy delays the stream or refuses it', async () => {
    const { leave, context, page } = await visit({ own: true });
    for (const hold of [() => new Promise<void>(() => {}), async (route: any) => route.fulfill({ status: 503 })]) {
      const checkoutFixture = await payee.checkoutFixture();
      await context.route(/\/events$/, hold as never, { times: 1 });
      await page.goto(checkoutFixture.url);
      await payee.help(checkoutFixture, 'pay');
      await reach(page, 'paid');
    }
    await leave();
  });

  // A change that arrives while a form is being sent, or when the page cannot be fetched, must not be lost.
  it('is shown although the page could not be fetched when the event arrived', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, context, page } = await visit({ own: true });
    await page.goto(checkoutFixture.url);
    let failures = 0;
    await context.route(checkoutFixture.url, (route) => {
      failures++;
      return failures <= 2
        ? route.fulfill({ status: 500, contentType: 'text/html', body: '<main><h1>Busy</h1></main>' })
        : route.fallback();
    });
    await payee.help(checkoutFixture, 'pay');
    await reach(page, 'paid');
    expect(failures).toBeGreaterThan(2);
    await leave();
  });

  it('elsewhere keeps what is being typed, until the checkout is decided', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, context, page } = await visit();
    await page.goto(checkoutFixture.url);
    await fill(page, cards.good);
    const other = await pageIn(context);
    await other.goto(checkoutFixture.url);
    await payByUpi(other).click();
    await reach(other, 'awaiting');
    await page.waitForTimeout(1_500);
    expect(await page.getByLabel('Card number').inputValue()).toBe(cards.good);
    await payTheCode(other).click();
    for (const tab of [page, other]) await reach(tab, 'paid');
    await leave();
  });

  it('tells the payee when the page is open in a browser, and when an attempt begins', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const times = async () => {
      const query = `{ checkout(id: "${checkoutFixture.id}") { openedAt lastTriedAt } }`;
      return (await payee.user.graph(query)).body.data.checkout;
    };
    // As a preview of the link in a messenger would.
    const preview = await visit({ javaScriptEnabled: false });
    await preview.page.goto(checkoutFixture.url);
    expect(await times()).toEqual({ openedAt: null, lastTriedAt: null });

    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    const { openedAt } = await eventually(times, ({ openedAt }) => openedAt !== null);
    await upiCode(payee, checkoutFixture);
    const [attempt] = await payee.attempts(checkoutFixture);
    const { openedAt: still, lastTriedAt } = await times();
    expect([still, Date.parse(lastTriedAt)]).toEqual([openedAt, Number(attempt.created) * 1_000]);
    await preview.leave();
    await leave();
  });

  it('is visible at once in another tab and through the APIs', async () => {
    const rounds = scale.whole ? 30 : 3;
    const { leave, page } = await visit();
    const waits: { tab: number[]; question: number[] } = { tab: [], question: [] };
    for (let round = 0; round < rounds; round++) {
      const checkoutFixture = await payee.checkoutFixture();
      await page.goto(checkoutFixture.url);
      const id = await upiCode(payee, checkoutFixture);
      await reach(page, 'awaiting');
      await submitAccepted(`${checkoutFixture.url}/upi/${id}`, { vpa: 'success@test' });
      const clock = async (what: () => Promise<unknown>) => {
        await what();
        return Date.now();
      };
      const [tab, question] = await Promise.all([
        clock(() => reach(page, 'paid')),
        clock(async () => {
          while ((await payee.seen(checkoutFixture)).status !== 'completed')
            await new Promise((resume) => setTimeout(resume, 25));
        }),
      ]);
      // The id of the deposit contains the time of its creation, in microseconds.
      const [{ deposit_id }] = (await payee.attempts(checkoutFixture)) as [any];
      const credited = Number.parseInt(deposit_id.split('_')[1].slice(0, 14), 16) / 1_000;
      waits.tab.push(tab - credited);
      waits.question.push(question - credited);
    }
    const p95 = (all: number[]) => Math.round([...all].sort((a, b) => a - b)[Math.ceil(all.length * 0.95) - 1]!);
    const median = (all: number[]) => Math.round([...all].sort((a, b) => a - b)[Math.floor(all.length / 2)]!);
    if (scale.whole)
      console.info(
        `credited to seen, ms, median and p95 of ${rounds}: tab ${median(waits.tab)} ${p95(waits.tab)}, query ` +
          `${median(waits.question)} ${p95(waits.question)}`,
      );
    await leave();
  });
});
