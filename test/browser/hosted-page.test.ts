import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { axeFaults } from '../support/axe.js';
import { pdf, png } from '../support/bodies.js';
import { scale } from '../support/scale.js';
import {
  cardForm,
  cards,
  shop,
  type CheckoutFixture,
  submitAccepted,
  type PayeeFixture,
  payeesIn,
  upiCode,
} from '../support/checkout-fixture.js';
import { eventually, must, useWorld } from '../support/world.js';
import { choose, fill, heading, payByCard, payByUpi, payersIn, payTheCode, reach, state } from './hosted-fixture.js';
import { updateRoot } from '../../src/operator/account/accounts.js';

const world = useWorld();
const payees = payeesIn(world);
const { visit } = payersIn(world);

afterEach(() => payees.agree());

/** Pictures for people, because a test cannot decide whether a page is pleasant. */
const pictures = path.join(os.tmpdir(), 'tidegate-hosted');

/** All rules of axe, that of the size of targets among them. */
const withTargets = { rules: { 'target-size': { enabled: true } } };

/** Targets that are narrower than 24 px, or lower than a height. */
const small = (page: Page, height: number) =>
  page.evaluate(
    (least) =>
      [...document.querySelectorAll('a, button, .tabs label, input[type=text], summary')]
        .map((element) => ({ element, box: element.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 0 && (box.width < 24 || box.height < least))
        .map(({ element, box }) => `${element.outerHTML.slice(0, 80)} ${box.width}x${box.height}`),
    height,
  );

/** Stops the clock of a page before the page is opened; the test moves it. */
async function pausedClock(page: Page): Promise<void> {
  await page.clock.install({ time: 0 });
  // It runs until it is paused, and a busy machine takes long.
  await page.clock.pauseAt(600_000);
}

/** Opens what is folded. On a desktop the summary is open, and has nothing to click. */
async function unfold(page: Page): Promise<void> {
  for (const folded of await page.locator('summary').all()) if (await folded.isVisible()) await folded.click();
}

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

describe('every state of the page', () => {
  const addresses: Record<string, string> = {};
  let payee: PayeeFixture;
  beforeAll(async () => {
    payee = await payees.open({ dba: 'Malabar Spice' });
    const checkoutFixtures = Object.fromEntries(
      await Promise.all(
        'summary invalid awaiting unknown confirming declined paid late expired cancelled again capped'
          .split(' ')
          .map(async (name) => {
            const receivableIds = [await payee.receivable('125000.00'), await payee.receivable('25000.50')];
            return [name, await payee.checkoutFixture({ amount: '150000.50', receivableIds })] as const;
          }),
      ),
    ) as Record<string, CheckoutFixture>;
    checkoutFixtures.part = await payee.checkoutFixture({
      amount: '400.00',
      receivableIds: [await payee.receivable('1000.00')],
    });
    for (const [name, { url }] of Object.entries(checkoutFixtures)) addresses[name] = url;
    for (const name of ['awaiting', 'unknown', 'again']) await upiCode(payee, checkoutFixtures[name]!);
    addresses.again += '?pay=again';
    await submitAccepted(`${checkoutFixtures.confirming!.url}/card`, cardForm(cards.pending));
    await submitAccepted(`${checkoutFixtures.declined!.url}/card`, cardForm(cards.declined));
    await payee.help(checkoutFixtures.expired!, 'expire');
    await payee.help(checkoutFixtures.late!, 'expire');
    for (const name of ['paid', 'late']) await payee.help(checkoutFixtures[name]!, 'pay');
    expect((await payee.user.post(`/v1/checkouts/${checkoutFixtures.cancelled!.id}/cancel`)).status).toBe(200);
    for (let i = 0; i < 30; i++) await payee.help(checkoutFixtures.capped!, 'decline');
    addresses.live = (await payee.liveCheckoutFixture()).url;
    addresses.missing = `${world.origin}/checkout/nobody-has-made-this`;
    await eventually(
      async () => (await (await fetch(`${addresses.declined}/state`)).json()).state as string,
      (name) => name.startsWith('declined'),
    );
  });

  const shown = {
    summary: ['summary', 'Pay Malabar Spice ₹1,50,000.50'],
    invalid: ['summary', 'Pay Malabar Spice ₹1,50,000.50'],
    awaiting: ['awaiting', 'Pay with your UPI app'],
    unknown: ['awaiting', 'Pay with your UPI app'],
    again: ['summary', 'Pay Malabar Spice ₹1,50,000.50'],
    confirming: ['confirming', 'Confirming your payment'],
    declined: ['declined', 'Your payment did not go through'],
    capped: ['declined', 'Your payment did not go through'],
    paid: ['paid', 'Payment received'],
    late: ['paid', 'Payment received'],
    expired: ['expired', 'This payment link has expired'],
    cancelled: ['cancelled', 'This payment request was cancelled'],
    part: ['summary', 'Pay Malabar Spice ₹400.00'],
    live: ['summary', 'Pay Malabar Spice ₹1,000.00'],
    missing: [undefined, 'This payment link is not valid'],
  } as const;

  const screens = { desktop: { width: 1280 }, narrow: { width: 320 }, phone: { width: 320, touch: true } };
  // The short form has a desktop in light and a phone in dark.
  const short: Record<string, ('light' | 'dark')[]> = { desktop: ['light'], phone: ['dark'] };
  const colorsOf = (screen: string) => (scale.whole ? (['light', 'dark'] as const) : (short[screen] ?? []));
  for (const [screen, { width, touch }] of Object.entries<{ width: number; touch?: boolean }>(screens))
    for (const colorScheme of colorsOf(screen))
      it(`has no violation that axe finds, and fits, on a ${screen} screen in ${colorScheme}`, async () => {
        const viewport = { width, height: 900 };
        const { leave, page, foreign, complaints } = await visit({
          ...{ viewport, colorScheme },
          ...(touch && { isMobile: true, hasTouch: true }),
        });
        const faults: string[] = [];
        for (const [name, [wanted, title]] of Object.entries(shown)) {
          await page.goto(addresses[name]!);
          if (name === 'invalid') {
            await choose(page, 'cards');
            await page.getByLabel('Expiry date').fill('99/99');
            await payByCard(page).click();
            await page.locator('#number[aria-invalid]').waitFor();
          }
          if (name === 'unknown') {
            await page.getByLabel('UPI ID').fill('somebody@bank');
            await payTheCode(page).click();
            await page.locator('#vpa[aria-invalid]').waitFor();
          }
          expect([name, await heading(page)]).toEqual([name, title]);
          expect((await state(page))?.split(':')[0]).toBe(wanted);
          // Elements for phones are shown only on a phone.
          if (wanted === 'awaiting') expect(await page.locator('.app.primary').isVisible()).toBe(touch === true);
          // One method at a time, and one button that pays.
          expect(await page.locator('button.primary:visible').count()).toBeLessThanOrEqual(1);
          await unfold(page);
          for (const fault of await axeFaults(page, withTargets)) faults.push(`${name}: ${fault}`);
          for (const target of await small(page, touch ? 43.5 : 24)) faults.push(`${name}: ${target}`);
          if ((await overflow(page)) > 0) faults.push(`${name}: ${await overflow(page)} px too wide`);
          if (!scale.whole) continue;
          fs.mkdirSync(pictures, { recursive: true });
          // A picture of the full page is taken without touch.
          const file = path.join(pictures, `${name}-${screen}-${colorScheme}.png`);
          await page.screenshot({ path: file, fullPage: touch !== true });
        }
        expect(faults).toEqual([]);
        expect(foreign).toEqual([]);
        // Chromium itself logs responses of 400 and up; the page logs nothing.
        expect(complaints.filter((text) => !/status of (400|404|429)/.test(text))).toEqual([]);
        await leave();
      });
});

describe.concurrent('the next step', () => {
  let payee: PayeeFixture;
  beforeAll(async () => {
    payee = await payees.open();
  });

  it('is a link back to the payee in every state without another step', async () => {
    const checkoutFixtures = {
      summary: await payee.checkoutFixture(),
      declined: await payee.checkoutFixture(),
      expired: await payee.checkoutFixture(),
    };
    const cancelled = await payee.checkoutFixture();
    await payee.help(checkoutFixtures.declined, 'decline');
    await payee.help(checkoutFixtures.expired, 'expire');
    expect((await payee.user.post(`/v1/checkouts/${cancelled.id}/cancel`)).status).toBe(200);
    for (const [name, words, checkoutFixture] of [
      ['summary', 'Return without paying', checkoutFixtures.summary],
      ['declined', 'Return without paying', checkoutFixtures.declined],
      ['expired', 'Return to Malabar Spice Traders LLP', checkoutFixtures.expired],
      ['cancelled', 'Return to Malabar Spice Traders LLP', cancelled],
    ] as const) {
      const { leave, page, returns } = await visit();
      await page.goto(checkoutFixture.url);
      expect((await state(page))?.split(':')[0]).toBe(name);
      // A page without anything to pay has one button and no amount.
      if (words !== 'Return without paying') {
        expect(await page.locator('main a:visible, main button:visible').count()).toBe(1);
        expect(await page.locator('main').innerText()).not.toContain('₹');
      }
      await page.getByRole('link', { name: words, exact: true }).click();
      await page.waitForURL(`${shop}/**`);
      expect(new URL(returns[0]!).searchParams.get('checkout_id')).toBe(checkoutFixture.id);
      await leave();
    }
  });

  it('is a redirect to the payee five seconds after the payment, and not before', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    await payee.help(checkoutFixture, 'pay');
    const { leave, page, returns } = await visit({ own: true });
    await pausedClock(page);
    await page.goto(checkoutFixture.url);
    await page.getByText('You will be taken back in 5 seconds.').waitFor();
    await page.clock.runFor(4_000);
    await page.getByText('You will be taken back in 1 second.').waitFor();
    expect(returns).toEqual([]);
    await page.clock.runFor(2_000);
    await page.waitForURL(`${shop}/**`);
    expect(new URL(returns[0]!).searchParams.get('checkout_id')).toBe(checkoutFixture.id);
    await leave();
  });

  it('is announced half a minute before a code expires', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    await upiCode(payee, checkoutFixture);
    const { leave, page } = await visit({ own: true });
    await pausedClock(page);
    await page.goto(checkoutFixture.url);
    const live = page.locator('#live');
    const left = page.locator('.upi [data-left]');
    const seconds = Number(await left.getAttribute('data-left'));
    await page.clock.runFor((seconds - 32) * 1_000);
    expect([await left.innerText(), await live.innerText()]).toEqual([expect.stringMatching(/3[1-3] s left/), '']);
    await page.clock.runFor(4_000);
    expect(await live.innerText()).toBe('This code expires in 30 seconds. You can get a new one then.');
    await leave();
  });

  it('is fetched as soon as the page is in front again', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, context, page } = await visit({ own: true });
    // Neither the stream nor the clock reports a change.
    await page.clock.install();
    await context.route(/\/events$/, (route) => route.abort());
    await page.goto(checkoutFixture.url);
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.waitForTimeout(500);
    await payee.help(checkoutFixture, 'pay');
    await page.waitForTimeout(1_500);
    expect(await state(page)).toBe('summary');
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await reach(page, 'paid');
    await leave();
  });

  it('is fetched again when a browser restores an old page', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    for (const persisted of [false, true]) {
      await page.evaluate((value) => {
        document.body.id = 'old';
        dispatchEvent(new PageTransitionEvent('pageshow', { persisted: value }));
      }, persisted);
      if (persisted) await page.locator('body:not(#old)').waitFor();
      else {
        await page.waitForTimeout(500);
        expect(await page.locator('body#old').count()).toBe(1);
      }
    }
    await leave();
  });
});

describe('an internal error', () => {
  let payee: PayeeFixture;
  beforeAll(async () => {
    payee = await payees.open();
  });

  /** Makes a step of an attempt fail while `work` runs. */
  const without = async (step: 'begin' | 'decide', what: () => Promise<void>) => {
    await world.sql.unsafe(`alter function ${step}_transaction rename to ${step}_transaction_away`);
    try {
      await what();
    } finally {
      await world.sql.unsafe(`alter function ${step}_transaction_away rename to ${step}_transaction`);
    }
  };
  const unsure = 'We are checking your payment';

  it('while a card is being charged shows a next step, and does not ask the payer to pay again', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    await fill(page, cards.good);
    await without('begin', async () => {
      await payByCard(page).click();
      await page.getByRole('heading', { name: unsure }).waitFor();
    });
    expect(await page.locator('main').innerText()).toContain('Please do not pay again');
    expect(await page.locator('main').innerText()).not.toMatch(/try again/i);
    expect(await page.locator('#live').innerText()).toBe(unsure);
    expect(await axeFaults(page, withTargets)).toEqual([]);
    // The state before is no change, so the message stays.
    await page.waitForTimeout(3_000);
    expect(await heading(page)).toBe(unsure);
    await page.getByRole('link', { name: 'Check the payment status' }).click();
    await reach(page, 'summary');
    await leave();
  });

  it('after a card was charged is recovered: the page shows the result by itself', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    await fill(page, cards.good);
    await without('decide', async () => {
      await payByCard(page).click();
      await reach(page, 'confirming');
      expect(await page.locator('main').innerText()).toContain('Please do not pay again.');
      expect(await page.locator('.summary').innerText()).not.toContain('Pay by');
    });
    await reach(page, 'paid');
    expect((await payee.attempts(checkoutFixture)).map((a) => a.status)).toEqual(['succeeded']);
    await leave();
  });

  it('shows a next step without scripts too', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit({ javaScriptEnabled: false });
    await page.goto(checkoutFixture.url);
    await without('begin', async () => {
      await payByUpi(page).click();
      expect(await heading(page)).toBe(unsure);
    });
    await page.getByRole('link', { name: 'Check the payment status' }).click();
    expect(await heading(page)).toBe('Pay Malabar Spice Traders LLP ₹1,000.00');
    await leave();
  });

  it('while the page is fetched is shown as an error, and the page then appears by itself', async () => {
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit();
    await world.sql`revoke select on receivable from tidegate`;
    try {
      await page.goto(checkoutFixture.url);
      expect(await heading(page)).toBe('This page could not be loaded');
      expect(await page.locator('main').innerText()).toContain('please do not pay again');
      expect(await page.getByRole('link', { name: 'Load the page again' }).getAttribute('href')).toBe(
        checkoutFixture.path,
      );
    } finally {
      await world.sql`grant all on receivable to tidegate`;
    }
    await reach(page, 'summary');
    await leave();
  });
});

describe.concurrent('the passage of time', () => {
  it('expires an open page, and shows a later success as late', async () => {
    const payee = await payees.open();
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    expect(await page.locator('.summary .left').innerText()).toMatch(/^Pay by .+ IST \((24 h|23 h 59 min) left\)$/);
    const whiteSpace = await page.locator('.summary [data-left]').evaluate((e) => getComputedStyle(e).whiteSpace);
    expect(whiteSpace).toBe('nowrap');
    await payByUpi(page).click();
    await reach(page, 'awaiting');
    await page.getByLabel('UPI ID').fill('late@test');
    await payTheCode(page).click();
    await reach(page, 'confirming');

    // The attempt expires first, and then the checkout; the money arrives after both.
    await payee.pass(500);
    await reach(page, 'declined');
    expect(await page.getByRole('alert').innerText()).toContain('do not pay again');
    await must(payee.user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    await reach(page, 'paid');
    expect(await page.locator('.notice').innerText()).toContain('Your payment arrived after the link had expired.');
    const { status, effective_transaction } = await payee.seen(checkoutFixture);
    expect([status, effective_transaction.status]).toEqual(['expired', 'succeeded']);
    await leave();
  });

  it('expires a code, and the payer can request a new one', async () => {
    const payee = await payees.open();
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    await payByUpi(page).click();
    await reach(page, 'awaiting');
    expect(await page.locator('.upi .left').innerText()).toMatch(/\(([78] min \d\d s) left\)$/);
    expect(Number((await page.locator('[data-ring]').getAttribute('stroke-dasharray'))!.split(' ')[0])).toBeGreaterThan(
      90,
    );
    await payee.pass(481);
    await reach(page, 'declined');
    expect(await heading(page)).toBe('This UPI code has expired');
    expect(await page.getByRole('alert').innerText()).toContain('do not pay again');
    await payByUpi(page).click();
    await reach(page, 'awaiting');
    await payTheCode(page).click();
    await reach(page, 'paid');
    expect((await payee.attempts(checkoutFixture)).map((a) => a.reason_code)).toEqual(['expired', null]);
    await leave();
  });

  it('expires a checkout that is not paid, and later forms start no attempt', async () => {
    const payee = await payees.open();
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page } = await visit({ javaScriptEnabled: false });
    await page.goto(checkoutFixture.url);
    await payee.pass(86_401);
    await fill(page, cards.good);
    await payByCard(page).click();
    expect(await heading(page)).toBe('This payment link has expired');
    expect(await payee.attempts(checkoutFixture)).toEqual([]);
    await leave();
  });
});

describe.concurrent('the content of the page', () => {
  const hostile = '"><script>document.title="x"</script><img src=x onerror=alert(1)>\'& ₹ अमृत';

  it('is escaped text, for all names and references', async () => {
    const payee = await payees.open({ dba: hostile, legalName: `</title>${hostile}` });
    const receivableIds = [await payee.receivable('1000.00', `${hostile}</li>`)];
    const redirect = `${shop}/back?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&'=%27#'"><b>`;
    const checkoutFixture = await payee.checkoutFixture({ receivableIds, redirect });
    const { leave, page, foreign, complaints, returns } = await visit();
    await page.goto(checkoutFixture.url);
    expect(await page.locator('.payee').innerText()).toBe(hostile);
    expect(await page.locator('.reference').innerText()).toBe(`${hostile}</li>`);
    expect(await page.title()).toBe(`Pay ₹1,000.00 to ${hostile}`);
    expect(await page.locator('script:not([src]), img, b').count()).toBe(0);
    await payByUpi(page).click();
    await reach(page, 'awaiting');
    const pn = new URL((await page.locator('.app.primary').getAttribute('href'))!).searchParams.get('pn');
    expect(pn).toBe(hostile.slice(0, 50));
    await payTheCode(page).click();
    await reach(page, 'paid');
    expect(await page.locator('script:not([src]), img').count()).toBe(0);
    await page.locator('[data-leave]').click();
    await page.waitForURL(`${shop}/**`);
    const back = new URL(returns[0]!);
    expect([back.searchParams.get('q'), back.searchParams.get("'"), back.searchParams.get('checkout_id')]).toEqual([
      '"><script>alert(1)</script>',
      "'",
      checkoutFixture.id,
    ]);
    expect([foreign, complaints]).toEqual([[], []]);
    await leave();
  });

  it('fits with the longest names and references, which also fit into a code', async () => {
    const long = 'नमस्ते-Traders-And-Sons-Of-Malabar-🎉'.repeat(40);
    const payee = await payees.open({ dba: long });
    const receivableIds = [await payee.receivable('99999999999.99', `${'x'.repeat(49)}🎉${'y'.repeat(400)}`)];
    const checkoutFixture = await payee.checkoutFixture({ amount: '99999999999.99', receivableIds });
    const { leave, page } = await visit({ viewport: { width: 320, height: 700 } });
    await page.goto(checkoutFixture.url);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    await payByUpi(page).click();
    await reach(page, 'awaiting');
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await page.title()).toBe('Pay ₹99,99,99,99,999.99 with your UPI app');
    const link = new URL((await page.locator('.app.primary').getAttribute('href'))!);
    expect(link.searchParams.get('tn')).toBe(`${'x'.repeat(49)}🎉`);
    await leave();
  });

  it('shows what is invoiced, when it is due, and the part that is paid', async () => {
    const payee = await payees.open();
    const receivableIds = [await payee.receivable('1000.00', 'INV 1'), await payee.receivable('250.50', 'INV 2')];
    const [part, whole] = [
      await payee.checkoutFixture({ amount: '400.00', receivableIds }),
      await payee.checkoutFixture({ amount: '1250.50', receivableIds }),
    ];
    const { leave, page } = await visit();
    const lines = async () => (await page.locator('.lines').innerText()).split(/\s*\n\s*/);
    await page.goto(part.url);
    expect(await lines()).toEqual([
      ...['Invoices', 'INV 1', '₹400.00', 'Due 1 Dec 2026', 'of ₹1,000.00'],
      ...['INV 2', '₹0.00', 'Due 1 Dec 2026', 'of ₹250.50'],
      ...['Part payment: ₹400.00 of ₹1,250.50', 'Total', '₹400.00'],
    ]);
    await page.goto(whole.url);
    const all = ['INV 1', '₹1,000.00', 'Due 1 Dec 2026', 'INV 2', '₹250.50', 'Due 1 Dec 2026'];
    expect(await lines()).toEqual(['Invoices', ...all, 'Total', '₹1,250.50']);
    // After the payment, the lines are what was credited; the other checkout can only fill what is left.
    await payee.help(part, 'pay');
    await page.goto(whole.url);
    expect((await lines()).filter((text) => text.includes('₹'))).toEqual([
      ...['₹600.00', 'of ₹1,000.00, ₹400.00 already paid', '₹250.50'],
      ...['₹400.00 on account of Malabar Spice Traders LLP', '₹1,250.50'],
    ]);
    await page.goto(part.url);
    await unfold(page);
    expect((await lines()).filter((text) => text.includes('₹')).slice(0, 2)).toEqual(['₹400.00', 'of ₹1,000.00']);
    // A payment of the rest leaves nothing due, so it is no part payment; its receipt says the same.
    const rest = await payee.checkoutFixture({ amount: '850.50', receivableIds });
    const paidBefore = ['₹600.00', 'of ₹1,000.00, ₹400.00 already paid', '₹250.50', '₹850.50'];
    await page.goto(rest.url);
    expect((await lines()).filter((text) => text.includes('₹'))).toEqual(paidBefore);
    await payee.help(rest, 'pay');
    await page.goto(rest.url);
    await unfold(page);
    expect((await lines()).filter((text) => text.includes('₹'))).toEqual(paidBefore);
    await leave();
  });

  it('folds more than three invoices, and on a phone the whole summary', async () => {
    const payee = await payees.open();
    const names = ['INV 1', 'INV 2', 'INV 3', 'INV 4'];
    const receivableIds = await Promise.all(names.map((name) => payee.receivable('10.00', name)));
    const checkoutFixture = await payee.checkoutFixture({ amount: '40.00', receivableIds });
    const { leave, page } = await visit();
    await page.goto(checkoutFixture.url);
    expect(await page.locator('.reference:visible').allInnerTexts()).toEqual(['INV 1', 'INV 2']);
    await page.getByText('2 more invoices').click();
    expect(await page.locator('.reference:visible').allInnerTexts()).toEqual(names);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.reload();
    expect(await page.locator('.reference:visible, .total:visible').count()).toBe(0);
    await page.getByText('Invoices and total').click();
    expect(await page.locator('.total').innerText()).toMatch(/^Total\s+₹40.00$/);
    // The amount is large, has digits of one width, and does not depend on the fold.
    const style = await page.locator('.amount').evaluate((e) => {
      const { fontSize, fontVariantNumeric } = getComputedStyle(e);
      return [Number.parseFloat(fontSize), fontVariantNumeric];
    });
    expect(style).toEqual([expect.any(Number), 'tabular-nums']);
    expect(style[0]).toBeGreaterThanOrEqual(32);
    await leave();
  });

  it('shows the time and the method of the payment', async () => {
    const payee = await payees.open();
    const checkoutFixture = await payee.checkoutFixture();
    await payee.help(checkoutFixture, 'pay', { payment_method: 'card' });
    const [{ deposit_id, id }] = (await payee.attempts(checkoutFixture)) as [any];
    const [row] = await world.sql`select created from deposit where id = ${deposit_id}`;
    const { leave, context, page } = await visit({ own: true });
    await page.goto(checkoutFixture.url);
    const receipt = page.locator('.receipt');
    const iso = new Date(Number(row!.created) * 1_000).toISOString();
    expect(await receipt.locator('time').getAttribute('datetime')).toBe(iso);
    const rows = await receipt
      .locator('div')
      .evaluateAll((all) => all.map((row) => (row as HTMLElement).innerText.replaceAll(/\s+/g, ' ')));
    expect(rows).toEqual([
      expect.stringMatching(/^Date \d{1,2} \w+ \d{4}, \d{1,2}:\d\d [ap]m IST$/),
      'Paid with card ending in 4242',
      `Reference …${id.slice(-10)} Copy the reference`,
    ]);
    // The whole reference is copied and printed, and the receipt stays while the payer uses it.
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: world.origin });
    await page.getByRole('button', { name: 'Copy the reference' }).click();
    await page.locator('button', { hasText: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(id);
    expect(await page.locator('[data-return]').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Print receipt' }).isVisible()).toBe(true);
    await page.emulateMedia({ media: 'print' });
    expect([await receipt.innerText(), await page.locator('button:visible, a:visible').count()]).toEqual([
      expect.stringContaining(id),
      0,
    ]);
    expect(await page.locator('.total').isVisible()).toBe(true);
    expect(await page.getByText('Test mode: no money moves.').isVisible()).toBe(true);
    await leave();
  });

  it('has no animation for payers who prefer reduced motion, and has one otherwise', async () => {
    const payee = await payees.open();
    const checkoutFixture = await payee.checkoutFixture();
    await submitAccepted(`${checkoutFixture.url}/card`, cardForm(cards.pending));
    const { leave, page } = await visit({ own: true });
    for (const [reducedMotion, animation] of [
      ['reduce', 'none'],
      ['no-preference', 'turn'],
    ] as const) {
      await page.emulateMedia({ reducedMotion });
      await page.goto(checkoutFixture.url);
      expect(await page.locator('.busy').evaluate((e) => getComputedStyle(e).animationName)).toBe(animation);
    }
    await leave();
  });

  it('is dark for payers who prefer that', async () => {
    const checkoutFixture = await (await payees.open()).checkoutFixture();
    const grounds = [];
    const { leave, page } = await visit({ own: true });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(checkoutFixture.url);
      grounds.push(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor));
    }
    await leave();
    expect(grounds).toEqual(['rgb(245, 247, 248)', 'rgb(12, 18, 21)']);
  });

  it('has no violation that axe finds, also without scripts', async () => {
    const payee = await payees.open();
    const [waiting, confirming] = [await payee.checkoutFixture(), await payee.checkoutFixture()];
    await upiCode(payee, waiting);
    await submitAccepted(`${confirming.url}/card`, cardForm(cards.pending));
    const { leave, context, page } = await visit({ own: true });
    // Axe is a script, so it gets a copy of the page as it is without scripts.
    await context.route(/page\.js/, (route) => route.abort());
    await context.route(/\/checkout\/[\w-]+$/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll(/<\/?noscript>/g, '') });
    });
    for (const { url } of [waiting, confirming]) {
      await page.goto(url);
      expect(await page.getByRole('link', { name: 'Check the payment status' }).isVisible()).toBe(true);
      expect(await axeFaults(page, withTargets)).toEqual([]);
    }
    await leave();
  });

  it("shows the payee’s own logo, from the gateway's origin", async () => {
    const payee = await payees.open();
    const file = await payee.user.upload('logo', png, 'logo.png');
    const row = await world.operator.account(payee.user.id, false);
    await updateRoot(world.operator, row, { logoId: file.body.id });
    const checkoutFixture = await payee.checkoutFixture();
    const { leave, page, complaints } = await visit();
    await page.goto(checkoutFixture.url);
    const logo = page.locator('header img');
    expect(await logo.evaluate((e: HTMLImageElement) => [e.naturalWidth, new URL(e.src).pathname])).toEqual([
      1,
      `${checkoutFixture.path}/logo`,
    ]);
    expect(complaints).toEqual([]);
    // If it is opened by its address, nothing in it can run.
    // An amount is never broken into two lines, whatever its size.
    for (const amount of ['1.00', '9999999.99', '99999999.99', '99999999999.99']) {
      const { url } = await payee.checkoutFixture({ amount });
      await page.goto(url);
      for (const width of [320, 390, 1440]) {
        await page.setViewportSize({ width, height: 800 });
        const [lines, over] = await page.locator('.amount').evaluate((element) => {
          const [box, style] = [element.getBoundingClientRect(), getComputedStyle(element)];
          return [box.height / Number.parseFloat(style.lineHeight), document.body.scrollWidth > innerWidth];
        });
        expect([amount, width, Math.round(lines as number), over]).toEqual([amount, width, 1, false]);
      }
    }

    const alone = await fetch(`${checkoutFixture.url}/logo`);
    expect([alone.headers.get('content-security-policy'), alone.headers.get('x-content-type-options')]).toEqual([
      "default-src 'none'; sandbox",
      'nosniff',
    ]);

    // A file of another purpose, of another type, or too large is not shown as a logo.
    const large = Buffer.concat([png, Buffer.alloc(1_048_577 - png.length)]);
    const others = [
      await payee.user.upload('invoice', png, 'invoice.png'),
      await payee.user.upload('logo', pdf, 'logo.pdf'),
      await payee.user.upload('logo', large, 'large.png'),
    ];
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { body } of others) {
      await world.sql`update account set logo_id = ${body.id} where id = ${payee.user.id} and not livemode`;
      await page.goto(checkoutFixture.url);
      expect(await page.locator('header img').count()).toBe(0);
      expect(await page.locator('header .initial').innerText()).toBe('M');
      expect((await fetch(`${checkoutFixture.url}/logo`)).status).toBe(404);
    }
    await leave();
  });
});
