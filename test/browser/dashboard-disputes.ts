import fs from 'node:fs';
import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { pdf } from '../support/bodies.js';
import { completeDeposit, must, type Speaker } from '../support/world.js';
import { faults, rowsOf, type Visit } from './dashboard-fixture.js';

/** What the stories need: a browser signed in to a user of the demo, one without a session, and clients of both. */
export interface DisputesDesk {
  signIn: () => Promise<Visit>;
  visit: () => Promise<Visit>;
  platform: () => Speaker;
  user: () => Promise<Speaker>;
}

/** What an account sees of the disputes of its payments, and does about them. */
export function disputeStories({ signIn, visit, platform, user }: DisputesDesk): void {
  /** A payment of 100.00 of which the payer disputes 30.00; its id. */
  async function disputed(): Promise<string> {
    const seller = await user();
    const { body } = await seller.graph('{ partners(status: [ACTIVATED], first: 1) { nodes { id } } }');
    const made = await must(
      seller.post('/v1/deposits', {
        ...{ amount: '100.00', currency: 'USD', payment_method: 'global_wire', statement_descriptor: 'DISPUTED' },
        ...{ from: { account_id: body.data.partners.nodes[0].id }, to: { account_id: seller.id } },
      }),
    );
    await completeDeposit(seller, made.id);
    await must(
      seller.post(`/v1/test_helpers/deposits/${made.id}/dispute`, { amount: '30.00', reason_code: 'duplicate' }),
    );
    return made.id as string;
  }

  const press = (within: Locator, name: string) => within.getByRole('button', { name, exact: true }).click();

  it('are found from the first page, answered with a text and files once, and won', async () => {
    const id = await disputed();
    const { page, complaints, open } = await signIn();
    await open('/dashboard');
    const waiting = page.getByRole('listitem').filter({ hasText: /disputes? to answer/i });
    await waiting.getByText(/^\d days left$/).waitFor();
    await waiting.getByRole('link', { name: /^Answer: / }).click();
    const rows = rowsOf(page, 'Disputes');
    await rows.first().getByText('Needs response').first().waitFor();
    await page.getByLabel('Status').selectOption('Decided');
    await expect.poll(() => rows.filter({ hasText: 'Needs response' }).count()).toBe(0);
    await page.getByLabel('Status').selectOption('Open');
    await rows.first().filter({ hasText: '$30.00' }).filter({ hasText: 'days left' }).waitFor();
    await rows.first().getByRole('link').click();
    expect(page.url()).toContain(id);

    const card = page.getByRole('region', { name: 'Dispute', exact: true });
    await card
      .getByText(/^The payer disputes this payment. It can be answered until .*: \d days left. \$30.00/)
      .waitFor();
    await card.getByText('Duplicate').waitFor();
    const details = page.getByRole('region', { name: 'Details' });
    await details.getByText('$70.00').waitFor();
    await press(card, 'Answer');
    const dialog = page.getByRole('dialog');
    await press(dialog, 'Send the answer');
    const text = dialog.getByLabel('What speaks against the dispute');
    await expect.poll(() => text.getAttribute('aria-invalid')).toBe('true');
    await text.fill('Both parcels were delivered.\nSee <b>the receipt</b>.');
    for (const [label, name] of [
      ['File 1', 'receipt<i>.pdf'],
      ['File 2', 'second.pdf'],
    ] as const) {
      await dialog.getByLabel(label).setInputFiles({ name, mimeType: 'application/pdf', buffer: pdf });
      await dialog.getByText(name).waitFor();
    }
    await dialog.getByLabel('File 3').waitFor({ state: 'attached' });
    expect({ faults: await faults(page) }).toEqual({ faults: [] });
    await press(dialog, 'Send the answer');
    await card.getByText('It was answered, and the bank or the acquirer decides.').waitFor();
    await card.getByText('Under review').waitFor();
    await card.getByText('See <b>the receipt</b>.').waitFor();
    expect(await card.getByRole('button', { name: /^(Answer|Accept)$/ }).count()).toBe(0);
    await card.getByRole('button', { name: 'second.pdf' }).waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), press(card, 'receipt<i>.pdf')]);
    expect(fs.readFileSync(await file.path())).toEqual(pdf);

    await press(card, 'Win: dispute');
    await card.getByText(/^The dispute was won. The \$30.00 USD that was taken came back on /).waitFor();
    await details.getByText('$100.00').waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    for (const verb of ['opened', 'answered', 'won'])
      await timeline.getByText(`Dispute of $30.00 USD ${verb}`, { exact: true }).waitFor();
    expect(await timeline.getByText('Payment disputed').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('are accepted after reading what is lost, and then leave no button', async () => {
    const id = await disputed();
    const { page, complaints, open } = await signIn();
    await open(`/dashboard/payments/${id}`);
    const card = page.getByRole('region', { name: 'Dispute', exact: true });
    await press(card, 'Accept');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('You give $30.00 USD up: the payer keeps it.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await card.getByText('Needs response').waitFor();
    await press(card, 'Accept');
    await press(dialog, 'Give the money up');
    await card.getByText('accepted without an answer. The payer keeps the $30.00 USD that was taken.').waitFor();
    expect(await card.getByRole('button').allTextContents()).toEqual(['']);
    // The payment that took the money says what it is, and leads back.
    await card.getByRole('link', { name: '-$30.00' }).click();
    await page.locator('.amount-line').getByText('-$30.00').waitFor();
    await page.getByRole('region', { name: 'Timeline' }).getByText('Money taken back').waitFor();
    await page.getByRole('region', { name: 'Details' }).getByRole('link', { name: 'a payment' }).click();
    await card.waitFor();
    expect(complaints).toEqual([]);
  });

  it('show no button to who may only read, and the time that is left is never more than there is', async () => {
    const id = await disputed();
    const made = await platform().graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    const { context, page, complaints, open } = await visit();
    await page.getByLabel('API key').fill(made.body.data.createApiKey.secret);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await open(`/dashboard/payments/${id}`);
    const card = page.getByRole('region', { name: 'Dispute', exact: true });
    await card.getByText('6 days left').waitFor();
    expect(await card.getByRole('button', { name: /Answer|Accept|Win|Lose/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });
}
