import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOperator } from '../../src/operator/access/operators.js';
import { ConsoleSeed } from './console-fixture.js';
import { rowsOf, trade, useDashboard, type Visit } from './dashboard-fixture.js';

const dashboard = useDashboard();

/** What a person does for a job. */
interface Work {
  clicks: number;
  /** Fields that are typed into, and choices. */
  fields: number;
  /** Keys that are no text, such as Ctrl K. */
  keys: number;
}

/** The hands of a person, which count what they do. */
class Hands {
  readonly work: Work = { clicks: 0, fields: 0, keys: 0 };

  constructor(readonly page: Page) {}

  async click(target: Locator): Promise<void> {
    this.work.clicks++;
    await target.click();
  }
  async type(field: Locator, text: string): Promise<void> {
    this.work.fields++;
    await field.fill(text);
  }
  async choose(field: Locator, option: Parameters<Locator['selectOption']>[0]): Promise<void> {
    this.work.fields++;
    await field.selectOption(option);
  }
  async press(key: string): Promise<void> {
    this.work.keys++;
    await this.page.keyboard.press(key);
  }
}

/**
 * Does a job from a page that is there, until its result can be seen; returns what it took. With JOBS=1 it also prints
 * for how long, which is a figure of `docs/measurements/faces.md`.
 */
async function count(name: string, page: Page, job: (hands: Hands) => Promise<unknown>): Promise<Work> {
  const hands = new Hands(page);
  const began = performance.now();
  await job(hands);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  if (process.env.JOBS) console.log(`${name}: ${JSON.stringify(hands.work)}, ${seconds} s`);
  return hands.work;
}

const main = (page: Page, name: string) =>
  page.getByRole('link', { name: new RegExp(`^${name}( \\d+\\+? waiting)?$`) });
const attention = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem').filter({ hasText: text });

/** The home of a user or of a platform, with what waits. */
async function home(edition: 1 | 2, user?: string): Promise<Visit> {
  const visit = await dashboard.signIn(edition, user);
  await visit.open('/dashboard');
  await visit.page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem').first().waitFor();
  return visit;
}

describe('the work of a job in the dashboard', () => {
  it('is one click to see who has not paid', async () => {
    const { page } = await home(1, 'Indigo Looms');
    const work = await count('Who has not paid', page, async (hands) => {
      await hands.click(attention(page, 'overdue').getByRole('link'));
      await rowsOf(page, 'Receivables').first().getByText('Overdue').first().waitFor();
    });
    expect(work).toEqual({ clicks: 1, fields: 0, keys: 0 });
  });

  it('is three clicks to reconcile fourteen payments, of which one opens their list', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    await trade(user, 'JOB', 14);
    const { page } = await home(1, 'Indigo Looms');
    const work = await count('Reconcile 14', page, async (hands) => {
      await hands.click(attention(page, 'to reconcile').getByRole('link'));
      await hands.click(page.getByRole('button', { name: /^Choose \d+ exact$/ }));
      await hands.click(page.getByRole('button', { name: /^Match \d+$/ }));
      await page.getByText(/^\d+ payments reconciled, \$/).waitFor();
    });
    expect(work).toEqual({ clicks: 3, fields: 0, keys: 0 });
    await expect.poll(() => rowsOf(page, 'Payments').filter({ hasText: 'JOB-' }).count()).toBe(0);
  });

  it('is two to see and print the statement of the month before', async () => {
    const { page } = await home(1, 'Malabar Spice');
    await page.evaluate(() => Object.assign(globalThis, { print: () => Object.assign(globalThis, { printed: true }) }));
    const work = await count('Close the month', page, async (hands) => {
      await hands.click(main(page, 'Balance'));
      const months = page.getByLabel('Month').locator('option');
      const before = (await months.nth(1).getAttribute('value'))!;
      await hands.choose(page.getByLabel('Month'), before);
      await page.waitForURL(`**/balance?month=${before}`);
      await rowsOf(page, 'Movements').first().waitFor();
      await hands.click(page.getByRole('button', { name: 'Print statement' }));
      await page.waitForFunction(() => 'printed' in globalThis, undefined, { polling: 50 });
    });
    expect(work).toEqual({ clicks: 2, fields: 1, keys: 0 });
  });

  it('is five to import 200 invoices, and two choices that the sheet leaves open', async () => {
    const seller = await dashboard.user(1, 'Malabar Spice');
    const { body } = await seller.graph('{ partners(status: [ACTIVATED], first: 1) { nodes { nickname } } }');
    const customer = body.data.partners.nodes[0].nickname;
    const rows = Array.from({ length: 200 }, (_, i) => `JOB-${i},${customer},1${i}.50,USD,2026-10-01,2026-12-01`);
    const sheet = ['Invoice No.,Client,Amount,Currency,Date,Due On', ...rows].join('\n');
    const { page } = await home(1, 'Malabar Spice');
    const work = await count('Import 200 invoices', page, async (hands) => {
      await hands.click(main(page, 'Receivables'));
      await hands.click(page.getByRole('link', { name: 'Import', exact: true }));
      const chooser = page.waitForEvent('filechooser');
      await hands.click(page.getByLabel('CSV file'));
      await (await chooser).setFiles({ name: 'invoices.csv', mimeType: 'text/csv', buffer: Buffer.from(sheet) });
      await hands.choose(page.getByLabel('Goods or services of all rows'), 'Goods');
      await hands.choose(page.getByLabel('Purpose code of all rows'), { index: 1 });
      await hands.click(page.getByRole('button', { name: 'Check 200 rows' }));
      await hands.click(page.getByRole('button', { name: 'Import 200 invoices' }));
      await page.getByRole('region', { name: '200 invoices imported' }).waitFor();
    });
    expect(work).toEqual({ clicks: 5, fields: 2, keys: 0 });
  });
});

/** What an onboarding asks for, in the forms of its steps. */
const onboarding = {
  'New user': {
    ...{ Name: 'Nilgiri Teas', 'Legal name': 'Nilgiri Teas Private Limited', 'E-mail': 'accounts@nilgiri.example' },
  },
  'Details of the business': { 'Business ID': 'U01132TZ2011PTC017586' },
  'Add a person': { 'Full name': 'Meera Rao', 'Tax card number': 'ABCPE1234F' },
  'Add a payout account': {
    ...{ 'Account number': '004501551234', 'Account number again': '004501551234' },
    ...{ 'Routing code (IFSC)': 'BOTC0000451', Bank: 'Bank of the Coast' },
    ...{ 'Street of the holder': '1 Tea Road', City: 'Coonoor', State: 'TN', 'Postal code': '643101' },
  },
};

describe('the work of an onboarding in the dashboard', () => {
  it('is seven clicks, and each field once', async () => {
    const { page } = await home(1);
    const work = await count('Onboard a user', page, async (hands) => {
      const form = (name: string) => page.getByRole('form', { name });
      const fill = async (name: keyof typeof onboarding) => {
        for (const [label, text] of Object.entries(onboarding[name]))
          await hands.type(form(name).getByLabel(label, { exact: true }), text);
      };
      const send = (name: string, button: string) => hands.click(form(name).getByRole('button', { name: button }));
      await hands.click(main(page, 'Users'));
      await hands.click(page.getByRole('link', { name: 'New user' }));
      await fill('New user');
      await hands.choose(form('New user').getByLabel('Legal form'), 'Company');
      await send('New user', 'Create user');
      await fill('Details of the business');
      await send('Details of the business', 'Save details');
      await fill('Add a person');
      await send('Add a person', 'Add person');
      await fill('Add a payout account');
      await hands.choose(form('Add a payout account').getByLabel('Country'), 'India');
      await hands.type(form('Add a payout account').getByLabel('Secret key'), dashboard.tenants[0]!.testKey);
      await send('Add a payout account', 'Add bank account');
      await hands.click(page.getByRole('button', { name: 'Activate', exact: true }));
      await page
        .locator('.amount-line')
        .getByText(/Verifying|Activated/)
        .waitFor();
    });
    expect(work).toEqual({ clicks: 7, fields: 17, keys: 0 });
  });
});

describe('the work of a question about live money', () => {
  const reference = 'WIRE-900.00';
  let operator: string;
  let paid: Awaited<ReturnType<ConsoleSeed['payout']>>;
  beforeAll(async () => {
    operator = (await createOperator(dashboard.world.operator, 'Priya Nair', 'operate', 'a test')).key;
    paid = await new ConsoleSeed(dashboard.world, operator).payout('Harbour Textiles', '900.00');
  });

  /** Finds the payment by the reference of its bank, wherever the box is. */
  const find = async (hands: Hands) => {
    await hands.press('Control+k');
    await hands.type(hands.page.getByRole('dialog').getByRole('combobox'), reference);
    await hands.press('Enter');
    await hands.page.waitForURL('**/payments/deposit_*');
    const way = hands.page.getByRole('region', { name: 'Way of the money' }).getByRole('listitem');
    await way.filter({ hasText: reference }).waitFor();
  };

  async function signedIn(address: string, label: string, key: string): Promise<Visit> {
    const visit = await dashboard.visit(address);
    await visit.page.getByLabel(label).fill(key);
    await visit.page.getByRole('button', { name: 'Sign in' }).click();
    await visit.page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    return visit;
  }

  it('is two keys and a text to find the reference of a bank, for its account and for the operator', async () => {
    for (const [who, address, label, key] of [
      ['exporter', '/dashboard', 'API key', paid.live.key],
      ['operator', '/operator', "Operator's key", operator],
    ] as const) {
      const { context, page } = await signedIn(address, label, key);
      const work = await count(`Find a bank reference, ${who}`, page, find);
      expect(work).toEqual({ clicks: 0, fields: 1, keys: 2 });
      await context.close();
    }
  });

  it('is one click to see why a payout is late', async () => {
    const fail = 'mutation ($input: FailPayoutInput!) { failPayout(input: $input) { payout { id } } }';
    const input = { id: paid.payoutId, reasonCode: 'NAME_MISMATCH', reason: 'The bank has called.' };
    await new ConsoleSeed(dashboard.world, operator).ask(fail, input);
    const { context, page } = await signedIn('/dashboard', 'API key', paid.live.key);
    const work = await count('Why is this payout late', page, async (hands) => {
      await hands.click(attention(page, 'Payout failed').getByRole('link'));
      const said = page.getByRole('region', { name: 'What happened' });
      await said.getByText('The name is not that of the account holder.').waitFor();
      await said.getByText(/^With the next payout/).waitFor();
    });
    expect(work).toEqual({ clicks: 1, fields: 0, keys: 0 });
    await context.close();
  });
});
