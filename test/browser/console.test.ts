import fs from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { version } from '../../src/config/version.js';
import { camt, today } from '../support/bank-files.js';
import { browser } from '../support/browser.js';
import { importByColumns } from './console-csv.js';
import { beginAtHome, findTrail, seeMany, seeOrderAtHome } from './console-trail.js';
import { ConsoleSeed, documents, hostile, idsInCells, notice } from './console-fixture.js';
import { faultsInThemes, type Visit, visit } from './dashboard-fixture.js';
import { addressesOf, foreignOn, routesOf } from './dashboard-walk.js';
import { scale } from '../support/scale.js';
import { runDueJobs } from '../support/jobs.js';
import { must, type Speaker, useWorld } from '../support/world.js';
import { createOperator, revokeOperator } from '../../src/operator/access/operators.js';

const OPERATOR_KEY = 'op_5f0d4c1f9b7e43a28c6d1e0f9a8b7c6d';
const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });

let chromium: Browser;
let platform: Speaker;
/** Accounts that wait for a verdict: one with documents, one whose texts are hostile. */
let waiting: string;
let bad: string;
let paid: Awaited<ReturnType<ConsoleSeed['payout']>>;
/** A live payment of which a part is being refunded, and another part was disputed. */
let contested: string;
/** A live checkout with an attempt of which the acquirer says nothing. */
let undecided: Awaited<ReturnType<ConsoleSeed['undecided']>>;
const keys = {} as Record<'operate' | 'read', string>;

beforeAll(async () => {
  chromium = await browser();
  const seed = new ConsoleSeed(world, OPERATOR_KEY);
  const root = await seed.root('platform', 2, 'Harbour Marketplace');
  platform = root.live;
  const files = await documents(chromium);
  waiting = await seed.submitted(root.live, 'Lighthouse Courses', files);
  bad = await seed.submitted(root.test, hostile, [{ ...files[0]!, filename: `${hostile}.png` }]);
  paid = await seed.payout(hostile, '12500.00');
  await seed.troubles(paid, hostile);
  contested = await seed.returning(paid, hostile);
  undecided = await seed.undecided();
  const names = { operate: 'Priya Nair', read: 'Ola Reader' };
  for (const role of ['operate', 'read'] as const)
    keys[role] = (await createOperator(world.operator, names[role], role, 'a test')).key;
});
afterAll(() => chromium?.close());

const open = (address = '/operator') => visit({ chromium, origin: world.origin }, address);

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("Operator's key").fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function entered(role: 'operate' | 'read'): Promise<Visit> {
  const visited = await open();
  await signIn(visited.page, keys[role]);
  await visited.page.getByRole('heading', { name: 'Home' }).waitFor();
  return visited;
}

/** Presses a button that opens a dialog, and the button of the dialog; returns what is said when it is done. */
async function act(page: Page, button: string | RegExp, submit: string): Promise<string | null> {
  await page.getByRole('button', { name: button }).first().click();
  return send(page, submit);
}
async function send(page: Page, submit: string): Promise<string | null> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: submit, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  return page.locator('.announcement').textContent();
}

/**
 * The pages, with a text that is there when they have loaded. A page that the sources declare and that has no row here
 * is opened, too.
 */
const everyPage = (): (readonly [string, string])[] => {
  const listed = [
    ['', 'accounts wait for a verdict'],
    ['/verification', hostile],
    ['/webhooks', 'Every webhook takes its events'],
    [`/accounts/${bad}?mode=TEST`, 'Requirements'],
    [`/accounts/${paid.accountId}?mode=LIVE`, 'Service receive'],
    ['/accounts', 'Harbour Marketplace'],
    ['/bank', hostile],
    ['/bank?show=all', 'WIRE-12500.00'],
    ['/payouts?status=ALL', hostile],
    [`/payouts/${paid.payoutId}`, 'Way of the money'],
    [`/payments/${contested}`, 'All of it was refunded or taken back.'],
    ['/adjustments', hostile],
    ['/bank-files', 'Every transfer has its address'],
    ['/bank-files?show=files', 'No file was imported'],
    ['/bank-files?show=balances', 'No statement of this day'],
    ['/payment-orders', 'No payment order yet'],
    ['/payment-orders?show=accounts', 'No account at a bank'],
    ['/refunds', hostile],
    ['/disputes', hostile],
    ['/disputes?status=WON', 'No dispute matches'],
    ['/attempts', 'Processing'],
    ['/unexplained', 'More taken back than was left'],
    ['/mismatches', 'Credited'],
    ['/holds', 'No payouts are held'],
    [`/rates?tenant=${paid.accountId}`, '83.25'],
    ['/ledger', 'Passed'],
    ['/work', 'Gone'],
    ['/audit', 'Verify account'],
    ['/operators', 'Ola Reader'],
    ['/settings', 'Time zone'],
    ['/nothing', 'There is nothing at this address'],
  ] as const;
  const paths = new Set(listed.map(([path]) => path.replace(/\?.*/, '')));
  const others = addressesOf(routesOf('console'), {
    ...{ '/accounts/:id': [bad], '/payments/:id': [contested], '/payouts/:id': [paid.payoutId], '/found/:id': [bad] },
  }).filter((path) => path !== '/' && !paths.has(path as never));
  return [...listed, ...others.map((path) => [path, ''] as const)];
};

describe("the operator's console", () => {
  it('is signed in to with the key of an operator, which the browser does not keep', async () => {
    const { context, page, complaints } = await open('/operator/payouts');
    await page.getByText('npm run --silent tidegate -- operator create --name anna --role operate').waitFor();
    await signIn(page, 'opk_wrong');
    await page.getByRole('alert').getByText("This is not an operator's key.").waitFor();
    await signIn(page, keys.operate);
    await page.getByRole('heading', { name: 'Payouts' }).waitFor();
    const navigation = page.getByRole('complementary', { name: 'Account and pages' });
    await navigation.getByText('Priya Nair').waitFor();
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
    expect(kept).not.toContain('op');
    await page.reload();
    await page.getByRole('heading', { name: 'Payouts' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: "Operator's console" }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: "Operator's console" }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('has a page for each of its addresses, and does not exist with OPERATOR_API=false', async () => {
    const page = await fetch(`${world.origin}/operator/accounts/none`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    const [, script] = /src="(\/operator\/assets\/[^"]+\.js)"/.exec(await page.text())!;
    expect((await fetch(`${world.origin}${script}`)).status).toBe(200);
    const closed = await world.another({ environment: { OPERATOR_API: 'false' } });
    for (const path of ['/operator', '/operator/payouts', script])
      expect((await fetch(`${closed}${path}`)).status).toBe(404);
    await world.endLast();
  });
});

/** How buttons begin that change something. */
const actions = [
  ...[
    'Activate',
    'Add',
    'Approve',
    'Assign',
    'Book',
    'Close',
    'Deactivate',
    'Decide',
    'Fail',
    'File$',
    'Gather',
    'Hold',
    'Import',
  ],
  ...['Issue', 'Lift', 'Lose', 'Mark', 'Open a', 'Place', 'Propose', 'Put on', 'Record', 'Reject', 'Resolve', 'Return'],
  ...['Set a', 'Settle', 'Succeed', 'Try', 'Win', 'Withdraw'],
];

describe('an operator that only reads', () => {
  it('sees every page without a button that changes something, until it is revoked', async () => {
    const { context, page, complaints, open: load, go } = await entered('read');
    const acts = new RegExp(`^(${actions.join('|')})`);
    for (const [path, ready] of everyPage()) {
      // The long form loads each page anew, too.
      await (scale.whole ? load : go)(`/operator${path}`);
      await page.locator('main').getByText(ready).filter({ visible: true }).first().waitFor();
      const buttons = page.getByRole('button', { name: acts });
      expect([path, await buttons.allTextContents()]).toEqual([path, []]);
      // Nor is it told to do what it may not.
      expect(await page.locator('main').innerText()).not.toMatch(/\b(until you|you hold|you say|operator create)\b/);
      expect(await page.getByRole('columnheader', { name: /^(Outcome|Action|Decision)$/ }).allTextContents()).toEqual(
        [],
      );
    }
    await revokeOperator(world.operator, 'Ola Reader');
    await page.getByRole('link', { name: 'Payouts' }).click();
    await page.getByRole('heading', { name: "Operator's console" }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('an operator', () => {
  let visited: Visit;
  let page: Page;
  beforeAll(async () => {
    visited = await entered('operate');
    ({ page } = visited);
  });
  afterAll(() => visited?.context.close());
  const go = async (place: string) => {
    await page.getByRole('link', { name: place }).first().click();
    await page.getByRole('heading', { name: place, level: 1 }).waitFor();
  };

  it('has pages without a fault in both themes, which take hostile texts as texts', async () => {
    const found: string[] = [];
    for (const [path, ready] of everyPage()) {
      await (scale.whole ? visited.open : visited.go)(`/operator${path}`);
      await page.locator('main').getByText(ready).filter({ visible: true }).first().waitFor();
      for (const element of await foreignOn(page)) found.push(`${path}: a text became ${element}`);
      for (const id of await idsInCells(page)) found.push(`${path}: shows ${id}`);
      found.push(...(await faultsInThemes(page)).map((fault) => `${path}: ${fault}`));
    }
    expect([found, visited.complaints]).toEqual([[], []]);
  });

  /** A live payment that a bank reports; its id. */
  const received = async (reference: string, amount: string): Promise<string> => {
    const given = { reference, addressId: paid.addressId, amount, currency: 'USD' };
    return (await new ConsoleSeed(world, OPERATOR_KEY).ask(notice, given)).recordBankNotice.notice.deposit.id;
  };

  it('begins with its queues, each with the age of its oldest and the way to its page', () => beginAtHome(visited));

  it('finds a payment by the reference of its bank with Ctrl K, and shows the way of its money', () =>
    findTrail(page, paid.payoutId));

  it('compares an account with its documents and activates it', async () => {
    await go('Verification');
    await page.getByRole('link', { name: 'Lighthouse Courses' }).focus();
    await page.keyboard.press('Enter');
    const requirements = page.getByRole('region', { name: 'Requirements' });
    await requirements.getByText('201412345N').waitFor();
    const shown = page.getByRole('region', { name: 'Documents' });
    const width = () => shown.getByRole('img').evaluate((image: HTMLImageElement) => image.naturalWidth);
    await expect.poll(width).toBe(320);
    await requirements.getByRole('button', { name: 'tax-card.pdf' }).click();
    await shown.getByRole('button', { name: 'Tax card of Meera' }).waitFor();
    await shown.locator('iframe').waitFor();

    await page.getByRole('button', { name: 'Activate' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Activate' }).click();
    const reason = page.getByRole('dialog').getByLabel('Reason');
    await reason.fill('x'.repeat(201));
    await page.getByRole('dialog').getByRole('button', { name: 'Activate', exact: true }).click();
    await page.getByText('at most 200 characters').waitFor();
    expect(await reason.getAttribute('aria-invalid')).toBe('true');
    await reason.fill('The certificate matches.');
    expect(await send(page, 'Activate')).toBe('Lighthouse Courses is activated.');
    await page.getByRole('button', { name: 'Deactivate' }).waitFor();
    expect((await must(platform.get(`/v1/accounts/${waiting}`))).status).toBe('activated');
  });

  it('records a bank notice, with errors beside their fields, and withdraws a reversal', async () => {
    await go('Bank notices');
    await page.getByRole('button', { name: 'Record a notice' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByText('Fields with * are required.').isVisible()).toBe(true);
    await dialog.getByLabel("The bank's reference").fill('WIRE-2');
    await dialog.getByLabel('Receiving address').fill('0001 2345 6789');
    await dialog.getByText(/USD · 000123456789$/).waitFor();
    await dialog.getByLabel('Amount').fill('1.234');
    await dialog.getByLabel('Currency', { exact: true }).fill('USD');
    await dialog.getByRole('button', { name: 'Record it' }).click();
    await expect.poll(() => dialog.getByLabel('Amount').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Amount').fill('40.00');
    expect(await send(page, 'Record it')).toBe('The notice is recorded.');
    const { data } = await must(paid.live.get('/v1/deposits'));
    expect(data.map(({ amount }: { amount: string }) => amount)).toContain('40.00');

    expect(await act(page, /^Withdraw/, 'Withdraw')).toBe(`The reversal ${hostile} is withdrawn.`);
    await page.getByText('No reversal waits').waitFor();
  });

  it('imports a file of a bank after saying what becomes of it, and decides what fits no address', async () => {
    await go('Bank files');
    await page.getByRole('button', { name: 'Import a file' }).click();
    const dialog = page.getByRole('dialog');
    const choose = (content: string, name = `${hostile}.xml`) =>
      dialog
        .getByLabel('File', { exact: true })
        .setInputFiles({ name, mimeType: 'text/xml', buffer: Buffer.from(content) });
    await choose('no XML');
    await dialog.getByText('a CSV file needs the name of its mapping').waitFor();
    await choose(' '.repeat(3_200_000));
    await dialog.getByText('This file has 3,200,000 bytes. The console takes 3,100,000 at most').waitFor();
    // More than other requests may have.
    await choose('no XML'.padEnd(3_100_000));
    await dialog.getByText('a CSV file needs the name of its mapping').waitFor();
    const entries = [
      { amount: '61.00', reference: 'FILE-1', payer: hostile, text: 'Invoice 7' },
      { amount: '62.00', reference: 'FILE-2', payee: 'ELSEWHERE' },
      { amount: '63.00', payee: 'ELSEWHERE' },
      { amount: '64.00', reference: 'FILE-4', direction: 'DBIT' as const },
    ];
    const account = '000123456789';
    const content = camt([
      {
        account: 'POOL',
        opening: '0.00',
        closing: '122.00',
        entries: entries.map((entry) => ({ payee: account, ...entry })),
      },
    ]);
    await choose(content);
    await dialog.getByText('Nothing is stored until you import it.').waitFor();
    expect(await dialog.locator('dl').innerText()).toMatch(/Lines\s+4\s+New\s+1\s+Seen before\s+0\s+Unmatched\s+3: /);
    expect(await send(page, 'Import and book 1 line')).toBe('1 line booked.');
    const lines = page.getByRole('table', { name: 'Lines of banks' });
    await lines.getByText('FILE-1').waitFor();
    await expect.poll(() => lines.locator('tbody tr').count()).toBe(4);

    await page.getByRole('button', { name: 'Unmatched' }).click();
    await expect.poll(() => lines.locator('tbody tr').count()).toBe(3);
    await page.getByRole('button', { name: 'Assign: FILE-2' }).click();
    await dialog.getByLabel('Receiving address').fill(account);
    await dialog.getByText(/USD · 000123456789$/).waitFor();
    expect(await send(page, 'Assign it')).toBe('The transfer FILE-2 is booked.');
    await page.getByRole('button', { name: /^Return: line / }).click();
    await dialog.getByLabel('Reason').fill('Nobody knows the payer');
    expect(await send(page, 'Record it')).toMatch(/^The transfer line \d+ is returned.$/);
    await expect.poll(() => lines.locator('tbody tr').count()).toBe(1);
    const { data } = await must(paid.live.get('/v1/deposits'));
    const amounts = data.map(({ amount }: { amount: string }) => amount);
    expect(amounts).toEqual(expect.arrayContaining(['61.00', '62.00']));
    expect(amounts).not.toContain('63.00');

    await page.getByRole('button', { name: 'Closing balances' }).click();
    await page.getByLabel('Day').fill(today);
    const balances = page.getByRole('table', { name: 'Closing balances' });
    await balances.getByText('$122.00').waitFor();
  });

  it('maps the columns of a CSV file by those that it has, and imports it', async () => {
    await go('Bank files');
    await importByColumns(page, paid.live, send);
  });

  it('gathers payouts, approves an order of another operator, and gives its file to the bank', async () => {
    await go('Payment orders');
    await page.getByRole('button', { name: 'Your accounts' }).click();
    await page.getByRole('button', { name: 'Add an account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Holder').fill(hostile.slice(0, 70));
    await dialog.getByLabel('Currency').fill('INR');
    await dialog.getByLabel('IBAN').fill('DE88 3704 0044 0532 0130 00');
    await dialog.getByRole('button', { name: 'Add it' }).click();
    await dialog.getByText('checksum is wrong').waitFor();
    await dialog.getByLabel('IBAN').fill('DE89 3704 0044 0532 0130 00');
    expect(await send(page, 'Add it')).toBe('The account is added.');
    await page.getByRole('button', { name: 'Orders', exact: true }).click();
    await page.getByRole('button', { name: 'Gather payouts' }).click();
    await dialog.getByLabel('Pay on').fill('2099-12-01');
    expect(await send(page, 'Gather them')).toBe('The order waits for another operator.');
    await page.getByText('Waits for another operator', { exact: true }).waitFor();
    await seeOrderAtHome(visited);
    await page.getByRole('table', { name: 'Payment orders' }).getByRole('link').click();
    await page.getByRole('table', { name: 'Payouts of the order' }).getByText(hostile).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: /^Reject/ }).click();
    await dialog.getByLabel('Reason').fill('Wrong day');
    expect(await send(page, 'Reject it')).toMatch(/^The order of 1 payout, .* is rejected.$/);

    const { key } = await createOperator(world.operator, 'Third One', 'operate', 'a test');
    const other = new ConsoleSeed(world, key);
    const { ownAccounts } = await other.ask('{ ownAccounts { id } }', {});
    const input = { ownAccountId: ownAccounts[0].id, valueDate: '2099-12-02' };
    const gather = 'mutation ($input: CreatePaymentOrderInput!) { createPaymentOrder(input: $input) { order { id } } }';
    await other.ask(gather, input);
    await page.reload();
    await page.getByRole('button', { name: /^Approve/ }).click();
    expect(await send(page, 'Approve it')).toMatch(/is approved.$/);
    await page.getByRole('button', { name: 'File', exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'pain.001' }).click(),
    ]);
    const content = await fs.readFile(await download.path(), 'utf8');
    expect([download.suggestedFilename(), content.match(/<CdtTrfTxInf>/g)?.length]).toEqual([
      ...['payouts-2099-12-02.xml', 1],
    ]);
    await dialog.waitFor({ state: 'detached' });
    expect(await act(page, /^Mark as sent/, 'It was sent')).toMatch(/is sent.$/);
    await page.getByRole('button', { name: /^Reject/ }).click();
    await dialog.getByText('The bank may have the file.').waitFor();
    await dialog.getByLabel('Reason').fill('The bank refused it');
    await dialog.getByRole('button', { name: 'Reject it' }).click();
    await dialog.getByRole('alert').getByText('who has not proposed, approved, sent or read it').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await revokeOperator(world.operator, 'Third One');
  });

  it('settles a payout after reading its amount and payee', async () => {
    await go('Payouts');
    await page.getByRole('button', { name: `Settle: ₹1,040,625.00 INR to ${hostile}` }).click();
    await page.getByRole('dialog').getByText('₹1,040,625.00').waitFor();
    await page.getByRole('dialog').getByLabel("The bank's reference").fill('UTR-77');
    expect(await send(page, 'It has arrived')).toBe(`Settled: ₹1,040,625.00 INR to ${hostile}.`);
    await page.getByText('No payout is under way').waitFor();
    expect(await must(paid.live.get(`/v1/payouts/${paid.payoutId}`))).toMatchObject({
      ...{ status: 'completed', bank_reference: 'UTR-77' },
    });
  });

  it('returns a payout that the bank has sent back, with a reason', async () => {
    await page.getByLabel('Status').selectOption({ label: 'Completed' });
    await page.getByRole('button', { name: `Return: ₹1,040,625.00 INR to ${hostile}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('its invoices are no longer settled').waitFor();
    await dialog.getByLabel('What the account is told').selectOption({ label: 'Account closed' });
    await dialog.getByLabel('Reason').fill('The account is closed.');
    expect(await send(page, 'It has come back')).toBe(`Returned: ₹1,040,625.00 INR to ${hostile}.`);
    await page.getByText('No payout matches').waitFor();
    expect(await must(paid.live.get(`/v1/payouts/${paid.payoutId}`))).toMatchObject({
      ...{ status: 'returned', reason_code: 'account_closed', bank_reference: 'UTR-77' },
    });
  });

  it('records that a refund has arrived, or failed with a reason that the account reads', async () => {
    await go('Refunds');
    await page.getByRole('button', { name: `Succeed: $30.00 USD of ${hostile}` }).click();
    const dialog = page.getByRole('dialog');
    // What the operator needs to send it.
    for (const text of ['$90.00', 'CARD-1']) await dialog.getByText(text).waitFor();
    await dialog.getByLabel("The bank's reference").fill('ARN-1');
    expect(await send(page, 'The payer has it')).toBe(`Refunded: $30.00 USD of ${hostile}.`);
    await page.getByText('No refund is under way').waitFor();
    const [succeeded] = (await must(paid.live.get('/v1/refunds'))).data;
    expect(succeeded).toMatchObject({ status: 'succeeded', bank_reference: 'ARN-1' });

    const other = await received('CARD-2', '50.00');
    await must(paid.live.post('/v1/refunds', { deposit_id: other, amount: '20.00' }));
    await page.reload();
    await page.getByRole('button', { name: `Fail: $20.00 USD of ${hostile}` }).click();
    await dialog.getByRole('button', { name: 'It has failed' }).click();
    await dialog.getByText('This is required.').waitFor();
    await dialog.getByLabel('What the account is told').fill('Card closed');
    await dialog.getByLabel('Reason').fill('The acquirer called.');
    expect(await send(page, 'It has failed')).toBe(`Failed: $20.00 USD of ${hostile}.`);
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByRole('table', { name: 'Refunds' }).getByText('Card closed').waitFor();
    const [failed] = (await must(paid.live.get('/v1/refunds'))).data;
    expect(failed).toMatchObject({ status: 'failed', failure_reason: 'Card closed' });
  });

  it('sends the answer of a dispute on and records that it is won, opens another one and loses it', async () => {
    for (const place of ['Attempts', 'Disputes', 'Unexplained', 'Mismatches'])
      await page.getByRole('link', { name: `${place} 1 waiting` }).waitFor();
    await go('Disputes');
    const rows = page.getByRole('table', { name: 'Disputes' }).locator('tbody tr');
    await rows.getByRole('button', { name: 'Show' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('.answer').getByText(hostile, { exact: true }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: /\.pdf$/ }).click(),
    ]);
    expect((await fs.readFile(await file.path())).toString()).toContain('evidence');
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(await act(page, /^Win/, 'The account has won')).toBe(`Won: $60.00 USD of ${hostile}.`);
    await page.getByText('No answer waits for a decision').waitFor();
    // What was refunded is not back.
    const query = 'query ($id: ID!) { deposit(id: $id) { pendingRest } }';
    const { data } = (await paid.live.graph(query, { id: contested })).body;
    expect(data.deposit.pendingRest).toBe('60.00');

    await page.getByRole('button', { name: 'Open a dispute' }).click();
    await dialog.getByRole('button', { name: 'Open it' }).click();
    await expect.poll(() => dialog.getByText('This is required.').count()).toBe(2);
    await dialog.getByLabel('Payment').fill(await received('CARD-3', '70.00'));
    await dialog.getByLabel("The bank's reference of the dispute").fill('CB-2');
    await dialog.getByLabel('Amount').fill('70.01');
    await dialog.getByLabel('Why the payer disputes').selectOption({ label: 'High risk' });
    await dialog.getByLabel('In the words of the bank').fill(hostile);
    await dialog.getByLabel('Last moment of an answer (UTC)').fill('2031-01-31T12:00');
    await dialog.getByRole('button', { name: 'Open it' }).click();
    await expect.poll(() => dialog.getByLabel('Amount').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Amount').fill('40.00');
    expect(await send(page, 'Open it')).toBe('The dispute is open. Its account can answer it.');
    await page.getByLabel('Status').selectOption('Needs response');
    await rows.getByText('days left to answer').waitFor();
    const [opened] = (await must(paid.live.get('/v1/disputes'))).data;
    expect(opened).toMatchObject({ amount: '40.00', reason_code: 'high_risk', respond_by: 1_927_627_200 });
    await page.getByRole('button', { name: /^Lose/ }).click();
    await dialog.getByText('The account has not answered').waitFor();
    await dialog.getByLabel('Reason').fill('Their letter of today.');
    expect(await send(page, 'The payer has won')).toBe(`Lost: $40.00 USD of ${hostile}.`);
    await page.getByText('No dispute matches').waitFor();
    expect((await must(paid.live.get(`/v1/disputes/${opened.id}`))).status).toBe('lost');
  });

  it('records what the acquirer says of an attempt, which pays its checkout in part', async () => {
    const { payee, checkoutId } = undecided;
    await go('Attempts');
    await page.getByRole('button', { name: 'Decide an attempt' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Attempt', { exact: true }).fill('transaction_none');
    await dialog.getByLabel('The acquirer says').selectOption({ label: 'The payer has not been charged' });
    await dialog.getByLabel('Reason').fill('Nothing');
    await dialog.getByRole('button', { name: 'Record it' }).click();
    await dialog.getByText('There is no such attempt in live mode').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: /^Decide: / }).click();
    await dialog.getByText(checkoutId).waitFor();
    await dialog.getByLabel('The acquirer says').selectOption({ label: 'The payer has been charged' });
    await dialog.getByLabel('What it took').fill('0.00');
    await dialog.getByLabel('Reason').fill('Their statement of today');
    await dialog.getByRole('button', { name: 'Record it' }).click();
    await expect.poll(() => dialog.getByLabel('What it took').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('What it took').fill('40.00');
    expect(await send(page, 'Record it')).toMatch(/^What the acquirer says of the attempt of .* is recorded.$/);
    await page.getByText('Every attempt is decided').waitFor();
    await runDueJobs(world, payee.tenantId, true);
    const checkout = await must(payee.live.get(`/v1/checkouts/${checkoutId}`));
    expect(checkout.status).toBe('completed');
    const { data } = await must(payee.live.get('/v1/deposits'));
    expect(data.map(({ amount }: { amount: string }) => amount)).toEqual(['40.00']);
  });

  it('records what became of unexplained money, once', async () => {
    // What the dispute that was won had taken beyond its payment has come back.
    await go('Unexplained');
    await page.getByText('All money is explained').waitFor();
    await page.getByLabel('Status').selectOption('Resolved');
    const table = page.getByRole('table', { name: 'Unexplained' });
    await table.getByText('the money came back').waitFor();

    // A part of what was taken beyond refunds is covered when one of them fails.
    const other = await received('CARD-4', '50.00');
    const refund = (amount: string) => must(paid.live.post('/v1/refunds', { deposit_id: other, amount }));
    const [first] = [await refund('10.00'), await refund('15.00')];
    const seed = new ConsoleSeed(world, OPERATOR_KEY);
    const dispute = { id: other, amount: '50.00', reasonCode: 'GENERAL', reference: 'CB-4' };
    await seed.ask('mutation ($input: OpenDisputeInput!) { openDispute(input: $input) { dispute { id } } }', dispute);
    const end = 'mutation ($input: FailRefundInput!) { failRefund(input: $input) { refund { id } } }';
    await seed.ask(end, { id: first.id });
    await page.reload();
    await page.getByLabel('Status').selectOption('Open');
    await table.getByText('-$15.00 left').waitFor();
    await page.getByRole('button', { name: 'Resolve: -$25.00 USD' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.locator('dl').innerText()).toMatch(/since\s+\$10.00 USD\s+Left\s+-\$15.00 USD/);
    await dialog.getByRole('button', { name: 'Record it' }).click();
    await dialog.getByText('This is required.').waitFor();
    await dialog.getByLabel('What became of it').fill(hostile);
    expect(await send(page, 'Record it')).toBe('-$25.00 USD: recorded.');
    await page.getByText('All money is explained').waitFor();
    await page.getByLabel('Status').selectOption('Resolved');
    await table.getByText('Priya Nair').waitFor();
    await table.getByText(hostile).first().waitFor();
  });

  it('approves an adjustment that another operator has proposed, and not its own', async () => {
    await go('Adjustments');
    await page.getByRole('button', { name: `Approve: ${hostile}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('$4.00').waitFor();
    // There is one named operator.
    await dialog.getByRole('button', { name: 'Approve it' }).click();
    await dialog.getByText('needs two named operators').waitFor();
    const { key } = await createOperator(world.operator, 'Another One', 'operate', 'a test');
    const taken = `The adjustment of ${hostile} is your proposal now, and waits for another named operator.`;
    expect(await send(page, 'Approve it')).toBe(taken);
    await page.getByText('Waits for another operator', { exact: true }).waitFor();
    const other = new ConsoleSeed(world, key);
    const { adjustments } = await other.ask('{ adjustments(status: PROPOSED) { nodes { id } } }', {});
    await other.ask(
      'mutation ($input: ApproveAdjustmentInput!) { approveAdjustment(input: $input) { adjustment { id } } }',
      {
        id: adjustments.nodes[0].id,
      },
    );
    await page.reload();
    await page.getByText('No adjustment matches').waitFor();
    const payments = (await must(paid.live.get('/v1/payments'))).data;
    expect(payments.map(({ type, amount }: { type: string; amount: string }) => `${type} ${amount}`)).toContain(
      'adjustment 4.00',
    );

    await page.getByRole('button', { name: 'Propose an adjustment' }).click();
    await dialog.getByLabel('Account').fill(paid.accountId);
    await dialog.getByLabel('Gives').fill('1.00');
    await dialog.getByLabel('Currency').last().fill('USD');
    await dialog.getByLabel('Reason').fill('Courier');
    expect(await send(page, 'Propose it')).toBe('The adjustment is proposed. It waits for another operator.');
    await page.getByText('Waits for another operator', { exact: true }).waitFor();
    expect(await act(page, /^Withdraw/, 'Withdraw it')).toBe(`The adjustment of ${hostile} is withdrawn.`);
    await page.getByText('No adjustment matches').waitFor();
  });

  it('finds an account by a word of its name, and says when there is none', async () => {
    await go('Accounts');
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.fill('malabar spi');
    const table = page.getByRole('table', { name: 'Accounts' });
    const names = () => table.locator('tbody strong').allTextContents();
    await expect.poll(async () => new Set(await names())).toEqual(new Set(['Malabar Spice Traders LLP']));
    expect(new URL(page.url()).search).toBe('?search=malabar+spi');
    expect(await page.getByLabel('Status').count()).toBe(0);
    await search.fill('nobody at all');
    await page.getByText('No account matches').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Status').waitFor();
  });

  it('sets a rate, and places and lifts a hold', async () => {
    await visited.go(`/operator/rates?tenant=${paid.accountId}`);
    await page.getByRole('button', { name: 'Set a rate' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Currency sold').fill('USD');
    await dialog.getByLabel('Currency bought').fill('INR');
    await dialog.getByLabel('Rate').last().fill('84.10');
    await send(page, 'Set the rate');
    await page.getByRole('table', { name: 'Rates' }).getByText('84.10').waitFor();

    await visited.go(`/operator/accounts/${paid.accountId}?mode=LIVE`);
    const setting = async () =>
      (await must(paid.live.get('/v1/account_settings'))).data[0].payouts.reason_code_not_enabled;
    await page.getByRole('button', { name: /^Hold payouts/ }).click();
    const why = dialog.getByLabel('Reason');
    for (const nothing of ['', ' ']) {
      await why.fill(nothing);
      await dialog.getByRole('button', { name: 'Hold the payouts' }).click();
      await dialog.getByText('This is required.').waitFor();
    }
    expect(await setting()).not.toBe('service_hold');
    await why.fill('A complaint of its bank.');
    await send(page, 'Hold the payouts');
    expect(await setting()).toBe('service_hold');
    for (const text of ['Nothing is paid out: the service has disabled payouts.', 'The bank account is closed.'])
      await page.getByText(text).waitFor();
    await go('Holds');
    await page.getByRole('table', { name: 'Holds' }).getByRole('link', { name: hostile }).waitFor();
    await page.getByRole('button', { name: /^Lift the hold/ }).click();
    await why.fill('The complaint is settled.');
    await send(page, 'Lift the hold');
    expect(await setting()).not.toBe('service_hold');
  });

  it('compares a success with its attempt, sees which gateways run, and tries a job again', async () => {
    await go('Mismatches');
    await page.getByText('Credited').click();
    await page.getByText('"last4": "0002"').waitFor();
    await page.getByText('"last4": "4242"').waitFor();
    // A gateway says every 2 seconds that it runs.
    await world.database.work('report_gateway_process', ['gateway_alive', 'pay-1', 4_243, version]);
    await go('Work');
    const gateways = page.getByRole('table', { name: 'Gateways' });
    await gateways.getByRole('row', { name: /pay-1.*Alive/ }).waitFor();
    await gateways.getByRole('row', { name: /onerror.*Gone/ }).waitFor();
    await page.getByRole('button', { name: 'Check the deployment' }).click();
    const findings = page.getByRole('table', { name: 'Health' });
    await findings.getByRole('row', { name: /tidegate backup.*Look/ }).waitFor();
    await page.getByText('No such kind').click();
    await page.getByText('no such job: no_such_kind').waitFor();
    expect(await act(page, /^Try again now/, 'Try again')).toBe('The job is due now.');
  });

  it('checks the ledger, and finds in the audit log what was done by whom', async () => {
    await go('Ledger');
    await page.getByRole('button', { name: 'Check all ledgers' }).click();
    await page.getByText('All invariants hold', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Verify the seal' }).click();
    await page.getByText('All blocks match').waitFor();

    await go('Audit log');
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByText('The log is whole').waitFor();
    await page.getByLabel('Operator').fill('Priya Nair');
    await page.keyboard.press('Enter');
    const actions = page.getByRole('list', { name: 'Actions' });
    await expect.poll(() => actions.getByText('OPERATOR_KEY').count()).toBe(0);
    const done = ['Approve payment order', 'Settle payout', 'Return payout', 'Set rate', 'Lift service hold'];
    for (const name of done) await actions.getByText(name, { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    const verified = actions.locator('details', { hasText: 'Verify account' }).first();
    await verified.locator('summary').click();
    await verified.getByText('"reason": "The certificate matches."').waitFor();
    await page.getByLabel('Object').fill(paid.payoutId);
    await page.keyboard.press('Enter');
    await expect.poll(() => actions.locator('summary').count()).toBe(2);
    await actions.locator('summary').first().click();
    await actions.getByText('"reason": "The account is closed."').waitFor();
    await actions.getByText(paid.payoutId).first().waitFor();
    expect(visited.complaints).toEqual([]);
  });

  it('says of a payment of very many invoices that its figures are not of all', async () =>
    seeMany(visited, await new ConsoleSeed(world, OPERATOR_KEY).divided(paid)));
});
