import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatMoney } from '../../src/sites/dashboard/format/money.js';
import { storeBankFile } from '../../src/operator/bank-file/import.js';
import { bytesOf, camt, today } from '../support/bank-files.js';
import { browser } from '../support/browser.js';
import { runDueJobs } from '../support/jobs.js';
import { details, must, nickname, tenantOf, useWorld } from '../support/world.js';
import { ConsoleSeed, notice } from './console-fixture.js';
import { brokenWords, faultsInThemes, type Visit, visit } from './dashboard-fixture.js';

const OPERATOR_KEY = 'op_9c1b7d5e3f2a48608e4d6b1c0f9a8e7d';
const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });

let chromium: Browser;
let visited: Visit;
let paid: Awaited<ReturnType<ConsoleSeed['payout']>>;
let partner: string;

beforeAll(async () => {
  chromium = await browser();
  paid = await new ConsoleSeed(world, OPERATOR_KEY).payout('Harbour Textiles', '900.00');
  const named = async (legalName: string) =>
    (await paid.live.partner({ nickname: nickname(), business_details: details(legalName) })).id as string;
  partner = await named('Rhein Import GmbH');
  await named('Rhein Export GmbH');
  visited = await visit({ chromium, origin: world.origin }, '/operator');
  await visited.page.getByLabel("Operator's key").fill(OPERATOR_KEY);
  await visited.page.getByRole('button', { name: 'Sign in' }).click();
  await visited.page.getByRole('heading', { name: 'Home' }).waitFor();
});
afterAll(() => chromium?.close());

describe("a list of the operator's console", () => {
  it('is filtered by a tenant that is found by the name of an account of it', async () => {
    const { page, go } = visited;
    await go('/operator/accounts?status=ACTIVATED');
    const root = `account_${tenantOf(paid.live)}`;
    await page.getByText('Tenant', { exact: true }).click();
    const typed = page.getByLabel('An account of the tenant');
    await typed.fill('nobody of this name');
    await page.getByText('No account has this name or id.').waitFor();
    await typed.fill('Rhein Export');
    await page.getByRole('group', { name: 'Tenant' }).getByRole('button', { name: 'Rhein Export GmbH' }).click();
    await page.waitForURL(`**/accounts?status=ACTIVATED&tenant=${root}`);
    await page.locator('summary', { hasText: 'Tenant Harbour Textiles' }).waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove Tenant' }).click();
    await page.waitForURL('**/accounts?status=ACTIVATED');
    await go(`/operator/rates?tenant=${root}`);
    await page.locator('summary', { hasText: 'Tenant Harbour Textiles' }).waitFor();
    expect(visited.complaints).toEqual([]);
  });
});

describe('the rates of a tenant', () => {
  it('are set by currencies in small letters, too', async () => {
    const { page, complaints, go } = visited;
    await go(`/operator/rates?tenant=${paid.accountId}`);
    await page.getByRole('button', { name: 'Set a rate' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Currency sold').fill('usd');
    await dialog.getByLabel('Currency bought').fill('inr');
    await dialog.getByLabel('Rate').last().fill('84.35');
    await dialog.getByRole('button', { name: 'Set the rate' }).click();
    await page.getByRole('row').filter({ hasText: 'USD → INR' }).getByText('84.35').waitFor();
    expect(complaints).toEqual([]);
  });
});

describe("a table of the operator's console", () => {
  it('keeps its buttons within its frame on each screen', async () => {
    const { page, go } = visited;
    const propose =
      'mutation ($input: ProposeAdjustmentInput!) { proposeAdjustment(input: $input) { adjustment { id } } }';
    const reason = 'A fee of the bank that the account was charged twice';
    await new ConsoleSeed(world, OPERATOR_KEY).ask(propose, {
      ...{ accountId: paid.accountId, mode: 'LIVE', credit: { amount: '4.00', currency: 'USD' }, reason },
    });
    await go('/operator/adjustments');
    const table = page.getByRole('table', { name: 'Adjustments' });
    await table.getByRole('button', { name: 'Reject' }).waitFor();
    for (const width of [1280, 1210, 1199, 1040, 1000, 820, 768]) {
      await page.setViewportSize({ width, height: 900 });
      const beyond = await table.evaluate((each) => each.scrollWidth - each.parentElement!.clientWidth);
      expect([width, beyond]).toEqual([width, 0]);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(visited.complaints).toEqual([]);
  });
});

describe("a page of the operator's console", () => {
  it.each(['', '/work', '/operators'])('moves nothing as its answers arrive: /operator%s', async (path) => {
    const page = await visited.context.newPage();
    await page.addInitScript(() => {
      const shifts: number[] = [];
      Object.assign(globalThis, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
      }).observe({ type: 'layout-shift', buffered: true });
    });
    // What is shown until then is painted.
    await page.route('**/operator/graphql', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.fallback();
    });
    await page.goto(`${world.origin}/operator${path}`);
    await page
      .getByRole('heading', { name: { '': 'Queues', '/work': 'Gateways' }[path] ?? 'Make or revoke' })
      .waitFor();
    await page.waitForFunction(() => document.querySelector('.skeleton') === null);
    await page.waitForTimeout(500);
    const shifts: number[] = await page.evaluate(() => (globalThis as any).shifts);
    expect(shifts.reduce((sum, each) => sum + each, 0)).toBeLessThan(0.02);
    await page.close();
  });
});

describe("a form of the operator's console", () => {
  it('records no notice while the partner that paid is not one account', async () => {
    const { page, go } = visited;
    await go('/operator/bank');
    await page.getByRole('button', { name: 'Record a notice' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel("The bank's reference").fill('WIRE-RHEIN');
    await dialog.getByLabel('Receiving address').fill('000123456789');
    await dialog.getByText(/USD · 000123456789$/).waitFor();
    await dialog.getByLabel('Amount').fill('75.00');
    await dialog.getByLabel('Currency', { exact: true }).fill('usd');
    const payer = dialog.getByLabel('Partner that paid', { exact: true });
    const record = dialog.getByRole('button', { name: 'Record it' });
    const payers = async () => {
      const { data } = await must(paid.live.graph('{ deposits(first: 9) { nodes { amount fromAccount { id } } } }'));
      const nodes: { amount: string; fromAccount: { id: string } | null }[] = data.deposits.nodes;
      return nodes.filter(({ amount }) => amount === '75.00').map(({ fromAccount }) => fromAccount?.id);
    };
    for (const [typed, said] of [
      ['Nobody of this name', 'Nothing was found.'],
      ['Rhein', 'Choose …'],
    ] as const) {
      await payer.fill(typed);
      await dialog.getByText(said).first().waitFor({ state: 'attached' });
      await record.click();
      await expect.poll(() => payer.getAttribute('aria-invalid')).toBe('true');
      expect(await payers()).toEqual([]);
    }
    await dialog.getByLabel('Partner that paid: which one').selectOption(partner);
    await record.click();
    await dialog.waitFor({ state: 'detached' });
    expect(await payers()).toEqual([partner]);
  });

  it('shows of an account where its money goes, and whose it is', async () => {
    const { page, go } = visited;
    await go(`/operator/accounts/${paid.accountId}?mode=LIVE`);
    const row = page.getByRole('table', { name: 'Addresses' }).getByRole('row', { name: /User payout, INR/ });
    await row.waitFor();
    expect((await row.innerText()).replaceAll(/\s+/g, ' ')).toMatch(
      /Name Acme Exports Bank Bank of the Coast Account number 004501551234 IFSC BOTC0000451/,
    );
    await go(`/operator/accounts/${partner}?mode=LIVE`);
    await page.getByText('Owner', { exact: true }).waitFor();
    const owner = page.getByRole('definition').filter({ hasText: 'Harbour Textiles' });
    expect(await owner.count()).toBe(2);
    expect(await faultsInThemes(page)).toEqual([]);
    await owner.first().getByRole('link').click();
    await page.getByRole('heading', { name: 'Harbour Textiles', level: 1 }).waitFor();
    expect(visited.complaints).toEqual([]);
  });

  it('records that the account has won a dispute of which nothing was left', async () => {
    const { page, go } = visited;
    const seed = new ConsoleSeed(world, OPERATOR_KEY);
    const { data } = await must(paid.live.get('/v1/deposits?limit=1'));
    await must(paid.live.post('/v1/refunds', { deposit_id: data[0].id }));
    const input = { depositId: data[0].id, amount: '5.00', reference: 'CB-5', note: 'After its refunds' };
    const record = 'recordUnexplained(input: $input) { unexplained { id } }';
    await seed.ask(`mutation ($input: RecordUnexplainedInput!) { ${record} }`, input);
    await go('/operator/unexplained');
    await page.getByRole('button', { name: /^Win: -\$5.00 USD/ }).waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    // Whose it is, is said by name and with a link; ids are small.
    const table = page.getByRole('table', { name: 'Unexplained' });
    const owner = table.getByRole('link', { name: 'Harbour Textiles' });
    expect(await owner.getAttribute('href')).toBe(`/operator/accounts/${paid.accountId}?mode=LIVE`);
    expect(await table.innerText()).not.toMatch(/[a-z]+_[0-9a-f]{20}/);
    await page.getByRole('button', { name: /^Win: / }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.locator('dl').innerText()).toMatch(/CB-5\s+Note\s+After its refunds/);
    const payment = dialog.getByRole('link', { name: 'Payment', exact: true });
    expect(await payment.getAttribute('href')).toContain(`/operator/payments/${data[0].id}?tenant=`);
    expect(await dialog.getByRole('link', { name: 'Harbour Textiles' }).count()).toBe(2);
    await dialog.getByRole('button', { name: 'The account has won' }).click();
    await page.getByText('All money is explained').waitFor();
    await page.getByLabel('Status').selectOption('Resolved');
    await page.getByRole('table', { name: 'Unexplained' }).getByText('the money came back').waitFor();
    expect(visited.complaints).toEqual([]);
  });
});

describe('names instead of ids in the console', () => {
  it('are those of the account and the tenant in stuck work', async () => {
    const { page, go } = visited;
    await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      values (${paid.tenant}, true, 'job_bad', 1, 'no_such_kind', ${paid.payoutId}, '{}', 1)`;
    await world.database.call('run_jobs', [paid.tenant, true, 50]);
    await go('/operator/work');
    const work = page.getByRole('list', { name: 'Stuck work' });
    await work.locator('summary', { hasText: 'No such kind' }).click();
    const about = work.getByRole('definition').filter({ hasText: paid.payoutId });
    expect((await about.innerText()).split('\n')[0]).toBe('Payout · Harbour Textiles');
    const links = await about.getByRole('link').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    expect(links).toEqual([`/operator/payouts/${paid.payoutId}`, `/operator/accounts/${paid.accountId}?mode=LIVE`]);
    expect(await work.locator('summary').innerText()).toContain('Harbour Textiles');
    expect(await work.getByRole('link', { name: 'Harbour Textiles' }).count()).toBe(2);
    expect(await faultsInThemes(page)).toEqual([]);
    expect(visited.complaints).toEqual([]);
  });

  it('are those of what was done to a payment and to an account, in the audit log', async () => {
    const { page, go } = visited;
    await go('/operator/audit?operation=reconcileDeposit');
    const actions = page.getByRole('list', { name: 'Actions' });
    const reconciled = actions.locator('details', { hasText: 'Reconcile deposit' }).first();
    const summary = reconciled.locator('summary');
    await summary.getByText('Payment of Harbour Textiles').waitFor();
    expect(await summary.innerText()).not.toMatch(/[a-z]+_[0-9a-f]{8}/);
    await summary.click();
    const object = reconciled.getByRole('definition').filter({ hasText: /deposit_/ });
    expect((await object.innerText()).split('\n')[0]).toBe('Payment · Harbour Textiles');
    await object.getByRole('link', { name: 'Payment' }).click();
    await page.waitForURL('**/operator/payments/deposit_*');
    await go(`/operator/audit?object=${paid.accountId}`);
    await actions.getByText('· Harbour Textiles', { exact: true }).first().waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    // On a phone the tenant stands below what was done, which has the line with its outcome.
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 900 });
      const places = await actions.locator('summary:has(> .of-tenant)').evaluateAll((all) =>
        all.map((each) => {
          const box = (part: string) => each.querySelector(`:scope > ${part}`)!.getBoundingClientRect();
          const [done, outcome, tenant] = [box('.two-lines'), box('.status'), box('.of-tenant')];
          return [done.right <= outcome.left, outcome.top < done.bottom, tenant.top >= done.bottom];
        }),
      );
      expect(new Set(places.flat())).toEqual(new Set([true]));
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(visited.complaints).toEqual([]);
  });
});

describe('a payout of live mode that has failed, in the dashboard of its account', () => {
  it('says what happened, where the money is, what to check and when it goes out again', async () => {
    const fail = 'mutation ($input: FailPayoutInput!) { failPayout(input: $input) { payout { id } } }';
    const why = { reasonCode: 'NAME_MISMATCH', reason: 'The bank has called.' };
    await new ConsoleSeed(world, OPERATOR_KEY).ask(fail, { id: paid.payoutId, ...why });
    const { context, page, complaints, go } = await visit({ chromium, origin: world.origin }, '/dashboard');
    await page.getByLabel('API key').fill(paid.live.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByRole('region', { name: 'Needs attention' }).getByText('Payout failed').waitFor();
    await go(`/dashboard/payouts/${paid.payoutId}`);
    const said = page.getByRole('region', { name: 'What happened' });
    await said.getByText(/^This payout did not arrive/).waitFor();
    await said.getByText('The name is not that of the account holder.').waitFor();
    const where = said.getByText(/went back to what is available\. It stays in INR\.$/);
    expect(await where.textContent()).toContain(formatMoney({ amount: '74925.00', currency: 'INR' }));
    await said.getByText(/^Bank of the Coast ….?1234, held by Acme Exports: are the number and the name/).waitFor();
    await said.getByRole('link', { name: 'Change the bank account' }).waitFor();
    await said.getByText(/^With the next payout/).waitFor();
    await page.getByText('No invoice was settled').waitFor();
    // Nothing that the browser prints says that the bank may still confirm it.
    await page.emulateMedia({ media: 'print' });
    await page.getByText('This payout has failed: its money did not arrive.').waitFor();
    expect(
      await page
        .getByText(/Provisional|not confirmed/)
        .filter({ visible: true })
        .count(),
    ).toBe(0);
    await page.emulateMedia({ media: 'screen' });
    // Nothing of it is said by the tools of test mode, which live mode does not have.
    expect(await page.getByText(/^Test (mode|tools)$/).count()).toBe(0);
    expect(await faultsInThemes(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });
});

describe('a field for money in a dialog of the console', () => {
  it('takes the payment of a dispute by the reference of its bank', async () => {
    const { page, go } = visited;
    const notice = 'recordBankNotice(input: $input) { notice { deposit { id } } }';
    const received = { reference: 'CARD-77', addressId: paid.addressId, amount: '70.00', currency: 'USD' };
    const seed = new ConsoleSeed(world, OPERATOR_KEY);
    const { recordBankNotice } = await seed.ask(`mutation ($input: RecordBankNoticeInput!) { ${notice} }`, received);
    await go('/operator/disputes');
    await page.getByRole('button', { name: 'Open a dispute' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Payment').fill('card-77');
    await dialog.getByText('Harbour Textiles · $70.00 USD · CARD-77').waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    await dialog.getByLabel("The bank's reference of the dispute").fill('CB-77');
    await dialog.getByRole('button', { name: 'Open it' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [dispute] = (await must(paid.live.get('/v1/disputes?limit=1'))).data;
    expect(dispute).toMatchObject({ amount: '70.00', deposit_id: recordBankNotice.notice.deposit.id });
    // The dispute has the reference as well, and is not the payment.
    await page.getByRole('button', { name: 'Open a dispute' }).click();
    await dialog.getByLabel('Payment').fill('CB-77');
    await dialog.getByText('Nothing was found.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(visited.complaints).toEqual([]);
  });

  it('says whose attempt is named by its id, and takes a checkout for the payment of a dispute', async () => {
    const { page, go } = visited;
    const { payee, checkoutId } = await new ConsoleSeed(world, OPERATOR_KEY).undecided();
    const [row] = await world.sql`select id from transaction where tenant_id = ${payee.tenantId} and livemode`;
    await go('/operator/attempts');
    await page.getByRole('button', { name: 'Decide an attempt' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Attempt', { exact: true }).fill(String(row!.id));
    await dialog.getByText('Malabar Spice Traders LLP · ₹1,000.00 INR').waitFor();
    await dialog.getByLabel('The acquirer says').selectOption({ label: 'The payer has been charged' });
    await dialog.getByLabel('Reason').fill('Their statement of today');
    await dialog.getByRole('button', { name: 'Record it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await runDueJobs(world, payee.tenantId, true);
    await go('/operator/disputes');
    await page.getByRole('button', { name: 'Open a dispute' }).click();
    await dialog.getByLabel('Payment').fill(checkoutId);
    await dialog.getByText('Malabar Spice Traders LLP · ₹1,000.00 INR').waitFor();
    await dialog.getByLabel("The bank's reference of the dispute").fill('CB-78');
    await dialog.getByRole('button', { name: 'Open it' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await must(payee.live.get('/v1/disputes'))).data).toMatchObject([{ amount: '1000.00' }]);
    expect(visited.complaints).toEqual([]);
  });
});

describe('what banks report', () => {
  it('names what no line of a file explains', async () => {
    const [address] =
      await world.sql`select bank_account ->> 'number' as number from address where id = ${paid.addressId}`;
    const statement = {
      ...{ account: 'POOL-USD-09', opening: '10.00', closing: '90.00' },
      entries: [
        { amount: '50.00', reference: 'WIRE-90', payee: address!.number, payer: 'Fabrikam' },
        { amount: '20.00', reference: 'WIRE-91', payee: '000999999999', payer: 'Fabrikam' },
        { amount: '9.00', reference: 'WIRE-92', direction: 'DBIT' as const, text: 'Charges' },
      ],
    };
    const content = camt([statement]);
    const file = { name: 'statement.xml', open: () => bytesOf(content), mapping: undefined };
    await storeBankFile(world.operator, file, 'Priya Nair');
    const { page, go } = visited;
    await go(`/operator/bank-files?show=balances&day=${today}`);
    const row = page.getByRole('row').filter({ hasText: 'POOLUSD09' });
    const cell = row.getByRole('cell').last();
    await expect
      .poll(() => cell.innerText())
      .toMatch(/^\$80\.00 USD\s+\$50\.00 waiting\s+\$11\.00 unmatched\s+\$19\.00 in no line$/);
    expect(visited.complaints).toEqual([]);
  });

  it('is shown before the money of a duplicate is taken back', async () => {
    const { page, go } = visited;
    const { addressId, tenant } = paid;
    const again = { addressId, amount: '900.00', currency: 'USD', reference: 'WIRE-900.00-2' };
    const { recordBankNotice } = await new ConsoleSeed(world, OPERATOR_KEY).ask(notice, again);
    const { id } = recordBankNotice.notice.deposit;
    // An earlier release credited a transfer again whose reference came with a blank.
    await world.sql`update bank_notice set reference = 'WIRE-900.00 '
      where tenant_id = ${tenant} and deposit_id = ${id}`;
    await go('/operator/bank?show=duplicates');
    const row = page.getByRole('row').filter({ has: page.locator(`a[href*="${id}"]`) });
    await row.getByRole('button', { name: /^Take back/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Live mode: real money.').waitFor();
    expect((await dialog.locator('.facts').innerText()).split('\n').map((line) => line.trim())).toEqual(
      expect.arrayContaining(['$900.00 USD', 'Harbour Textiles', id]),
    );
    expect(await faultsInThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Take it back' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await must(paid.live.get(`/v1/deposits/${id}`))).status).toBe('reversed');
    expect(visited.complaints).toEqual([]);
  });
});

// Last, since its names would be on the pages of the others.
describe("the tables of the operator's console", () => {
  it('keep their words whole and their cells in the frame beside names of 80 letters, on each screen', async () => {
    const { page, go } = visited;
    const seed = new ConsoleSeed(world, OPERATOR_KEY);
    for (const [name, amount] of [
      ['Sri Venkateswara Handloom Weavers '.repeat(3).slice(0, 80).trim(), '99999999.99'],
      ['Weavers'.repeat(11), '99999998.99'],
    ] as const) {
      const long = await seed.payout(name, amount);
      await seed.troubles(long, `REV-${amount}`);
      await seed.returning(long, 'Two of three boxes came back, and the colour was wrong');
      await seed.ask(
        'mutation ($input: PlaceServiceHoldInput!) { placeServiceHold(input: $input) { accountSetting { id } } }',
        { accountId: long.accountId, mode: 'LIVE', reason: 'A complaint of its bank.' },
      );
    }
    await seed.undecided();
    const found: unknown[] = [];
    for (const path of ['payouts', 'bank', 'adjustments', 'refunds', 'disputes', 'attempts', 'accounts', 'holds']) {
      await go(`/operator/${path}`);
      const table = page.getByRole('table').first();
      await page.locator('main h1').waitFor();
      await page.waitForFunction(() => document.querySelector('.skeleton') === null);
      await table.locator('tbody tr').first().waitFor();
      for (const width of [1440, 1280, 1057, 1000, 820, 768]) {
        await page.setViewportSize({ width, height: 900 });
        const broken = await brokenWords(table);
        if (broken.length > 0) found.push([path, width, broken.slice(0, 8)]);
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(found).toEqual([]);
  });
});
