import fs from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { nextPayout, type PayoutDays } from '../../src/sites/dashboard/format/payout-days.js';
import { personBody, receivableBody } from '../support/bodies.js';
import { givenIn, must } from '../support/world.js';
import { faultsInThemes, rowsOf, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

/** Enters a key in the open dialog, and sends it. */
async function send(page: Page, key: string, button: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Secret key').fill(key);
  await dialog.getByRole('button', { name: button, exact: true }).click();
}

describe('the payout settings', () => {
  const key = () => dashboard.tenants[0]!.testKey;

  it('know the next payout of each interval as the gateway does', async () => {
    const intervals: PayoutDays[] = [
      { interval: 'DAILY', weeklyAnchor: null, monthlyAnchor: null },
      ...[1, 4, 7].map((day): PayoutDays => ({ interval: 'WEEKLY', weeklyAnchor: day, monthlyAnchor: null })),
      ...[1, 28, 30, 31].map((day): PayoutDays => ({ interval: 'MONTHLY', weeklyAnchor: null, monthlyAnchor: day })),
    ];
    const times = Array.from({ length: 800 }, (_, i) => Date.UTC(2027, 11, 1, 23, 59, 59) / 1000 + i * 43_201);
    for (const days of intervals) {
      const rows = await dashboard.world.sql<{ at: string; next: string }[]>`
        select t as at, t + seconds_to_payout(
          jsonb_populate_record(null::account_setting, ${dashboard.world.sql.json({
            payouts_interval: days.interval.toLowerCase(),
            payouts_weekly_anchor: days.weeklyAnchor,
            payouts_monthly_anchor: days.monthlyAnchor,
          })}), t) as next
        from unnest(${times}::bigint[]) t`;
      const iso = (seconds: string) => new Date(Number(seconds) * 1000).toISOString();
      expect(rows.map(({ at }) => nextPayout(days, iso(at)))).toEqual(rows.map(({ next }) => iso(next)));
    }
  });

  it('change the days of an account, and say before when the next payout then is', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, 'Malabar Spice');
    const user = await dashboard.user(1, 'Malabar Spice');
    const asked = async () => {
      const { body } = await user.graph(`{ viewer { account { nextPayoutAt
        setting { payouts { interval weeklyAnchor monthlyAnchor } } } } }`);
      return body.data.viewer.account;
    };
    await open('/dashboard/settings');
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Payouts' }).click();
    await page.getByText('paid out every day').waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Change the days of your payouts' }).click();
    await page.getByLabel('Paid out').selectOption('Every week');
    await page.getByLabel('Day of the week').selectOption('Friday');
    const said = await page.getByRole('dialog').getByRole('status').textContent();
    expect(said).toContain('paid out every Friday, at midnight UTC');
    expect(await faultsInThemes(page)).toEqual([]);
    await send(page, 'sk_test_wrong', 'Save');
    await page.getByRole('alert').getByText('The API key is not valid').waitFor();
    await send(page, key(), 'Save');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('paid out every Friday').waitFor();
    const weekly = await asked();
    expect(weekly.setting.payouts).toEqual({ interval: 'WEEKLY', weeklyAnchor: 5, monthlyAnchor: null });
    const shown = new Intl.DateTimeFormat('en-US', {
      ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZone: 'UTC' },
    }).format(new Date(weekly.nextPayoutAt));
    expect(said).toContain(`The next payout is then on ${shown}`);

    await page.getByRole('button', { name: 'Change the days of your payouts' }).click();
    // The dialog begins with what is stored, and not with what was chosen in it before.
    expect(await page.getByLabel('Day of the week').inputValue()).toBe('5');
    await page.getByLabel('Paid out').selectOption('Every month');
    await page.getByLabel('Day of the month').selectOption('31');
    await send(page, key(), 'Save');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('paid out on day 31 of each month, or on its last day if it is shorter').waitFor();
    expect((await asked()).setting.payouts).toEqual({ interval: 'MONTHLY', weeklyAnchor: null, monthlyAnchor: 31 });
    expect(complaints).toEqual([]);
  });

  it('let a platform disable and enable the payouts of a user, and change its days', async () => {
    const { page, complaints, open } = await dashboard.signIn(1);
    const user = await dashboard.user(1, 'Indigo Looms');
    const payouts = async () => {
      const { body } = await user.graph(
        '{ viewer { account { setting { payouts { enabled reasonCodeNotEnabled } } } } }',
      );
      return body.data.viewer.account.setting.payouts;
    };
    await open('/dashboard/settings/payouts');
    const row = rowsOf(page, 'Payouts of your users').filter({ hasText: 'Indigo Looms' });
    await row.getByRole('button', { name: 'Disable the payouts of Indigo Looms' }).click();
    await page.getByText('Indigo Looms is paid out nothing until you enable its payouts again').waitFor();
    // Closing the dialog changes nothing.
    await page.keyboard.press('Escape');
    expect(await payouts()).toEqual({ enabled: true, reasonCodeNotEnabled: null });
    await row.getByRole('button', { name: 'Disable the payouts of Indigo Looms' }).click();
    await send(page, key(), 'Disable payouts');
    await row.getByText('Disabled by you').waitFor();
    expect(await payouts()).toEqual({ enabled: false, reasonCodeNotEnabled: 'PLATFORM_HOLD' });
    expect(await faultsInThemes(page)).toEqual([]);

    await page.getByLabel('Payouts', { exact: true }).selectOption('Disabled by you');
    await expect.poll(() => rowsOf(page, 'Payouts of your users').count()).toBe(1);
    expect(new URL(page.url()).search).toBe('?payouts=PLATFORM_HOLD');
    await row.getByRole('button', { name: 'Change the days of payouts of Indigo Looms' }).click();
    await page.getByLabel('Paid out').selectOption('Every week');
    await send(page, key(), 'Save');
    await row.getByText('every Monday').waitFor();
    await row.getByRole('button', { name: 'Enable the payouts of Indigo Looms' }).click();
    await page.getByRole('dialog').getByText('What is available is paid out every Monday.').waitFor();
    await send(page, key(), 'Enable payouts');
    await page.getByText('No user matches').waitFor();
    expect(await payouts()).toEqual({ enabled: true, reasonCodeNotEnabled: null });
    expect(complaints).toEqual([]);
  });

  it.each([
    [1, 'a platform can stop those of its users, and the service those of every account.'],
    [2, 'the service alone can stop those of an account.'],
  ] as const)('of a direct user of Edition %i say that it cannot stop them', async (edition, who) => {
    const user = await givenIn(dashboard.world).directUser(edition);
    const { context, page, complaints } = await dashboard.visit('/dashboard/settings/payouts');
    await page.getByLabel('API key').fill(user.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(`You cannot stop your own payouts: ${who}`).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  describe('of a user with a key of its own', () => {
    let own: string;
    beforeAll(async () => {
      const { id } = await dashboard.user(1, 'Malabar Spice');
      const { body } = await dashboard
        .platform(1)
        .graph('mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }', {
          input: { accountId: id },
        });
      own = body.data.createApiKey.secret;
    });

    it('are shown, and say that its platform decides', async () => {
      const { context, page, complaints } = await dashboard.visit('/dashboard/settings/payouts');
      await page.getByLabel('API key').fill(own);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('Your platform decides on which days you are paid out').waitFor();
      expect(await page.getByText('You cannot stop your own payouts').count()).toBe(0);
      expect(await page.getByRole('button', { name: /^Change/ }).count()).toBe(0);
      expect(await page.getByText('Payouts of your users').count()).toBe(0);
      expect(complaints).toEqual([]);
      await context.close();
    });
  });
});

describe('automatic matching', () => {
  it('is switched on with a key, matches what waits and what comes, and is said in the timeline', async () => {
    const { page, complaints, open, go } = await dashboard.signIn(1, 'Malabar Spice');
    const user = await dashboard.user(1, 'Malabar Spice');
    const key = dashboard.tenants[0]!.testKey;
    const made = async (number: string, waits: boolean) => {
      const parts = { reference_number: number, amount: '77.70', currency: 'USD' };
      await must(user.post('/v1/receivables', receivableBody(parts)));
      const body = { amount: '77.70', currency: 'USD', payment_method: 'domestic_wire', statement_descriptor: number };
      const { id } = await must(user.post('/v1/deposits', body));
      await must(user.post(`/v1/test_helpers/deposits/${id}/complete`));
      await expect.poll(async () => (await restOf(id)) === '77.70').toBe(waits);
      return id as string;
    };
    const restOf = async (id: string) => {
      const { body } = await user.graph(`{ deposit(id: "${id}") { pendingRest } }`);
      return body.data.deposit.pendingRest;
    };
    const before = await made('AUTO-1', true);
    await open('/dashboard/settings');
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Matching' }).click();
    await page.getByText('Disabled').waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Enable automatic matching' }).click();
    await page.getByText('Payments that wait now are matched too').waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    await send(page, key, 'Enable');
    await page.getByText('Enabled', { exact: true }).waitFor();
    await expect.poll(() => restOf(before)).toBe('0.00');
    const later = await made('AUTO-2', false);
    for (const id of [before, later]) {
      await go(`/dashboard/payments/${id}`);
      const timeline = page.getByRole('region', { name: 'Timeline' });
      await timeline.getByText('Matched automatically by reference and amount', { exact: true }).waitFor();
    }
    await go('/dashboard/settings/matching');
    await page.getByRole('button', { name: 'Disable automatic matching' }).click();
    await send(page, key, 'Disable');
    await page.getByText('Disabled', { exact: true }).waitFor();
    await made('AUTO-3', true);
    expect(complaints).toEqual([]);
  });
});

describe('exports', () => {
  /** A customer of a user who owes something. */
  async function debtor(): Promise<{ id: string; nickname: string }> {
    const user = await dashboard.user(2, 'Lighthouse Courses');
    const { body } = await user.graph(
      '{ receivables(filter: { status: [OPEN] }, first: 50) { nodes { customer { id nickname } } } }',
    );
    return body.data.receivables.nodes.find(({ customer }: any) => customer).customer;
  }

  /** Presses the button, and reads the rows of the file that the browser saves. */
  async function exported(page: Page): Promise<{ name: string; head: string[]; rows: string[][] }> {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    await page.getByRole('link', { name: 'All exports' }).waitFor();
    const [head, ...rows] = fs
      .readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(','));
    return { name: file.suggestedFilename(), head: head!, rows };
  }

  it('have all rows that the filters of a list select, and are kept to be downloaded again', async () => {
    const { page, complaints, open, go } = await dashboard.signIn(2, 'Lighthouse Courses');
    const user = await dashboard.user(2, 'Lighthouse Courses');
    await open('/dashboard/settings');
    await page.getByRole('link', { name: /^Payments( \d+\+? waiting)?$/ }).click();
    await page.getByLabel('Status').selectOption('COMPLETED');
    await rowsOf(page, 'Payments').first().waitFor();
    const { name, head, rows } = await exported(page);
    expect(name).toMatch(/^payments-\d{4}-\d\d-\d\d\.csv$/);
    const { body } = await user.graph(
      '{ deposits(filter: { status: [COMPLETED] }, first: 100) { nodes { id amount } } }',
    );
    expect(rows.map((row) => [row[head.indexOf('id')], row[head.indexOf('amount')]])).toEqual(
      body.data.deposits.nodes.map(({ id, amount }: { id: string; amount: string }) => [id, amount]),
    );
    expect(await faultsInThemes(page)).toEqual([]);

    await page.getByRole('link', { name: 'All exports' }).click();
    const row = rowsOf(page, 'Exports').first();
    await row.getByText('Status: Completed').waitFor();
    await row.getByText(String(rows.length), { exact: true }).waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    const [again] = await Promise.all([page.waitForEvent('download'), row.getByRole('button').click()]);
    expect(again.suggestedFilename()).toBe(name);
    await go('/dashboard/settings/exports');
    expect(complaints).toEqual([]);
  });

  it.each([
    [
      'payments?show=unreconciled&currency=INR',
      'deposits(scope: DESCENDANTS, filter: { unreconciled: true, currency: [INR] }, first: 100)',
    ],
    [
      'payments?sort=least',
      'deposits(scope: DESCENDANTS, orderBy: AMOUNT_ASC, filter: { currency: [INR] }, first: 100)',
    ],
    ['payments?search=NAME', 'deposits(scope: DESCENDANTS, search: "NAME", first: 100)'],
    ['payments?show=disputes&status=OPEN', 'disputes(filter: { status: [NEEDS_RESPONSE] }, first: 100)'],
    ['receivables?sort=due', 'receivables(orderBy: DUE_DATE_ASC, first: 100)'],
    ['receivables?show=overdue', 'receivables(orderBy: DUE_DATE_ASC, filter: { overdue: true }, first: 100)'],
    ['payouts?status=COMPLETED', 'payouts(filter: { status: [COMPLETED] }, first: 100)'],
    ['checkouts?status=COMPLETED', 'checkouts(filter: { status: [COMPLETED] }, first: 100)'],
    ['customers?status=ACTIVATED', 'accounts(filter: { type: [PARTNER], status: [ACTIVATED] }, first: 100)'],
    ['users', 'accounts(filter: { type: [USER] }, first: 100)'],
    ['users?search=lighthouse', 'accounts(search: "lighthouse", first: 100)'],
    ['receivables?customer=ID', 'receivables(filter: { accountId: "ID" }, first: 100)'],
    ['accounts/ID', 'receivables(filter: { accountId: "ID", status: [OPEN] }, orderBy: DUE_DATE_ASC, first: 100)'],
    ['customers?search=NAME', 'accounts(search: "NAME", first: 100)'],
  ])('of %s have the rows of the page, in their order', async (...given) => {
    const customer = await debtor();
    const [address, list] = given.map((text) => text.replace('ID', customer.id).replace('NAME', customer.nickname)) as [
      string,
      string,
    ];
    const ofUser = !/^(payouts|users)/.test(address);
    const { page, complaints, open } = await dashboard.signIn(2, ofUser ? 'Lighthouse Courses' : undefined);
    const caller = ofUser ? await dashboard.user(2, 'Lighthouse Courses') : dashboard.platform(2);
    const field = list.split('(')[0]!;
    const { body } = await caller.graph(`{ ${list} { totalCount nodes { id } } }`);
    await open(`/dashboard/${address}`);
    const { head, rows } = await exported(page);
    const { totalCount, nodes } = body.data[field];
    expect(rows.length).toBe(totalCount);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.slice(0, 100).map((row) => row[head.indexOf('id')])).toEqual(nodes.map(({ id }: any) => id));
    expect(complaints).toEqual([]);
  });

  it('say what the file has where a search finds accounts of every type', async () => {
    const { page, open } = await dashboard.signIn(2);
    await open('/dashboard/users?search=lighthouse');
    await page.getByText('The file has all accounts that the search finds').waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    await page.getByLabel('Search').fill('');
    await page.getByText('The file has all accounts').waitFor({ state: 'detached' });
  });

  it('say why the gateway refused one, and can be tried again', async () => {
    const { page, open } = await dashboard.signIn(2);
    await open('/dashboard/payouts');
    await page.route('**/graphql', (route, request) => {
      const { query = '' } = (request.postDataJSON() ?? {}) as { query?: string };
      if (!query.includes('mutation CreateExport')) return route.fallback();
      return route.continue({
        postData: JSON.stringify({
          ...request.postDataJSON(),
          query: query.replace('createExport(', 'createExport(nothing: 1, '),
        }),
      });
    });
    await page.getByRole('button', { name: 'Export CSV' }).click();
    await page.getByRole('alert').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // The button can be pressed again.
    await exported(page);
  });
});

describe('what was given by mistake', () => {
  it('is mended for a person of a draft: edited, and removed', async () => {
    const { page, complaints, open } = await dashboard.signIn(1);
    const platform = dashboard.platform(1);
    const draft = await platform.connectedUser({ nickname: 'Mending & Sons' });
    const name = `Asha ${'Long'.repeat(15)}`;
    const made = await platform.post('/v1/persons', { ...personBody(draft.id), full_name: name });
    expect(made.status).toBe(200);
    const person = async () => (await platform.get(`/v1/persons/${made.body.id}`)).body;
    await open(`/dashboard/accounts/${draft.id}`);
    await page.getByRole('button', { name: `Edit ${name}` }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Full name').inputValue()).toBe(name);
    expect(await faultsInThemes(page)).toEqual([]);
    await dialog.getByLabel('Full name').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('This is required.').waitFor();
    await dialog.getByLabel('Full name').fill('Asha Rao');
    await dialog.getByLabel('Owner').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Asha Rao').waitFor();
    const { identification } = made.body;
    expect(await person()).toMatchObject({
      ...{ full_name: 'Asha Rao', relationship: { director: true, owner: true, representative: false } },
      identification,
    });
    await page.getByRole('button', { name: 'Remove Asha Rao' }).click();
    await dialog.getByRole('button', { name: 'Remove person' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Asha Rao').waitFor({ state: 'detached' });
    expect((await platform.get(`/v1/persons/${made.body.id}`)).status).toBe(404);
    expect(complaints).toEqual([]);
  });

  it('is mended for a bank account by another one, whose form is filled in with it', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, 'Malabar Spice');
    const user = await dashboard.user(1, 'Malabar Spice');
    const addresses = async () => {
      const { body } = await user.graph(
        `query ($id: ID!) { account(id: $id) { addresses(first: 20, filter: { category: [USER_PAYOUT] }) {
          nodes { id name currency bankAccount { number domesticCredit bankName } billingDetails { line1 country } }
        } } }`,
        { id: user.id },
      );
      return body.data.account.addresses.nodes;
    };
    const [before] = await addresses();
    await open(`/dashboard/accounts/${user.id}`);
    await page.getByRole('button', { name: 'Replace', exact: true }).first().click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Account holder').inputValue()).toBe(before.name);
    expect(await dialog.getByLabel('Routing code (IFSC)').inputValue()).toBe(before.bankAccount.domesticCredit);
    expect(await faultsInThemes(page)).toEqual([]);
    await dialog.getByLabel('Account number', { exact: true }).fill('998877665544');
    // The number is typed twice, also where the old one stands in the form.
    await send(page, dashboard.tenants[0]!.testKey, 'Add bank account');
    await dialog.getByText('Both account numbers have to be the same.').waitFor();
    await dialog.getByLabel('Account number again').fill('998877665544');
    await send(page, dashboard.tenants[0]!.testKey, 'Add bank account');
    await dialog.waitFor({ state: 'detached' });
    const [after] = await addresses();
    expect(after).toEqual({
      ...{ ...before, id: after.id, bankAccount: { ...before.bankAccount, number: after.bankAccount.number } },
    });
    expect(after.bankAccount.number).toMatch(/5544$/);
    expect(after.id).not.toBe(before.id);
    expect(complaints).toEqual([]);
  });
});
