import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { formatMoney, sum } from '../../src/sites/dashboard/format/money.js';
import { receivableBody } from '../support/bodies.js';
import { must } from '../support/world.js';
import { asShown, brokenWords, faults, rowsOf, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

/** The ids of the rows of a list, in their order. */
const idsOf = (page: Page, table: string) =>
  rowsOf(page, table)
    .locator('td:first-child > a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')!.split('/').at(-1)));
const chip = (page: Page, name: string) => page.locator('.chip summary').filter({ hasText: name });
const addressOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** What the graph answers to a list: its ids and how many it has. */
async function listed(edition: 1 | 2, list: string) {
  const { body } = await dashboard
    .platform(edition)
    .graph(`{ list: ${list.replace('(', '(first: 25, ')} { totalCount nodes { id } } }`);
  expect(body.errors).toBe(undefined);
  return { ids: body.data.list.nodes.map(({ id }: { id: string }) => id), count: body.data.list.totalCount };
}

/** Waits until a list has the rows of the graph's, and says how many there are. */
async function shows(page: Page, table: string, { ids, count }: Awaited<ReturnType<typeof listed>>) {
  expect(ids.length).toBeGreaterThan(1);
  await expect.poll(() => idsOf(page, table)).toEqual(ids);
  await page.getByText(`1–${ids.length} of ${count}`, { exact: true }).waitFor();
}

describe('the filter of payments by method', () => {
  it.each([
    [1, 9, ['Domestic wire', 'Affirm'], 'UPI'],
    [2, 3, ['UPI', 'Card', 'Domestic wire'], 'Affirm'],
  ] as const)('offers the methods of Edition %s alone', async (edition, count, some, other) => {
    const { page, complaints, open } = await dashboard.signIn(edition);
    await open('/dashboard/payments');
    const method = page.locator('.filters').getByLabel('Method', { exact: true });
    await method.waitFor();
    const offered = await method.locator('option').allTextContents();
    expect(offered).toHaveLength(count + 1);
    expect(offered).toEqual(expect.arrayContaining(['All', ...some]));
    expect(offered).not.toContain(other);
    expect(complaints).toEqual([]);
  });
});

describe('a row or a page', () => {
  it('has the reference of the bank where the payer gave no text, and the numbers of a business', async () => {
    const user = await dashboard.user(1, 'Indigo Looms');
    const made = { amount: '3.21', currency: 'USD', payment_method: 'domestic_wire' };
    const { id } = await must(user.post('/v1/deposits', made));
    const { sql } = dashboard.world;
    await sql`update deposit set statement_descriptor = '', bank_details = ${sql.json({ reference: 'UTR-LISTED-1' })}
      where id = ${id}`;
    const query = 'query ($id: ID!) { account(id: $id) { businessDetails { ids { business tax taxGst taxTrade } } } }';
    const { data } = await must(user.graph(query, { id: user.id }));
    const numbers = Object.values(data.account.businessDetails.ids).filter((each) => typeof each === 'string');
    expect(numbers.length).toBeGreaterThan(0);
    const { page, complaints, open, go } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/payments');
    await rowsOf(page, 'Payments').filter({ hasText: 'UTR-LISTED-1' }).getByText('$3.21').first().waitFor();
    await go(`/dashboard/accounts/${user.id}`);
    const about = page.getByRole('region', { name: 'Details' });
    for (const number of numbers) await about.getByText(number, { exact: true }).waitFor();
    expect(await faults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

describe('the filters of a list', () => {
  it('go together as chips, each of which can be removed, and the way back leads through them', async () => {
    const { page, complaints, open } = await dashboard.signIn(1);
    await open('/dashboard/payments');
    await page.getByLabel('Status').selectOption('Completed');
    await page.getByLabel('Currency').selectOption('USD');
    await chip(page, 'Amount').click();
    await page.getByLabel('Amount from').fill('2,000');
    await page.getByLabel('Amount from').press('Enter');
    await page.waitForURL('**/payments?status=COMPLETED&currency=USD&amountFrom=2000.00');
    await page.keyboard.press('Escape');
    await page.locator('.chip-panel').waitFor({ state: 'detached' });
    await page.getByText('from $2,000.00').waitFor();
    const filter = 'status: [COMPLETED], currency: ["USD"], amount: { gte: "2000.00" }';
    await shows(
      page,
      'Payments',
      await listed(1, `deposits(scope: DESCENDANTS, filter: { ${filter} }, orderBy: AMOUNT_DESC)`),
    );
    expect(await page.getByLabel('Sort').inputValue()).toBe('amount');
    expect(await faults(page)).toEqual([]);

    // No order has a range of amounts and of days, so the page says before and afterwards what has to go.
    const note = page.locator('.filters-note');
    const apart = 'Amount does not go together with Received, Method or Customer: choosing one removes the other.';
    await note.getByText(apart, { exact: true }).waitFor();
    await chip(page, 'Received').click();
    await page.getByLabel('Received from').fill('2020-01-01');
    await page.getByLabel('Received from').press('Enter');
    await note.getByText(/^Received takes the place of Amount: this list cannot be filtered by both at once/).waitFor();
    expect(addressOf(page)).toEqual({ status: 'COMPLETED', currency: 'USD', receivedFrom: '2020-01-01' });
    await page.getByRole('button', { name: 'Remove Currency' }).click();
    await page.waitForURL('**/payments?status=COMPLETED&receivedFrom=2020-01-01');
    await page.goBack();
    await page.goBack();
    await page.waitForURL('**/payments?status=COMPLETED&currency=USD&amountFrom=2000.00');
    await page.getByText('from $2,000.00').waitFor();
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.waitForURL((url) => url.search === '');
    await shows(page, 'Payments', await listed(1, 'deposits(scope: DESCENDANTS, orderBy: CREATED_DESC)'));
    expect(complaints).toEqual([]);
  });

  it('stay when only what is overdue is shown, and find the invoices of one customer', async () => {
    const { page, complaints, open } = await dashboard.signIn(1);
    await open('/dashboard/receivables?currency=USD');
    await page.getByRole('button', { name: 'Overdue' }).click();
    await shows(page, 'Receivables', await listed(1, 'receivables(filter: { overdue: true, currency: ["USD"] })'));
    await chip(page, 'Customer').click();
    await page.getByLabel('Name of the customer').fill('Rheing');
    await page.getByRole('button', { name: 'Rheingold Feinkost' }).click();
    await page.locator('.chip-said').getByText('Rheingold Feinkost').waitFor();
    const { customer, ...others } = addressOf(page);
    expect(others).toEqual({ currency: 'USD', show: 'overdue' });
    const filter = 'filter: { overdue: true, currency: ["USD"] }';
    const { body } = await dashboard
      .platform(1)
      .graph(
        `query ($id: ID!) { account(id: $id) { billedReceivables(first: 25, ${filter}) { totalCount nodes { id } } } }`,
        { id: customer },
      );
    const { nodes, totalCount } = body.data.account.billedReceivables;
    await shows(page, 'Receivables', { ids: nodes.map(({ id }: { id: string }) => id), count: totalCount });
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await page.waitForURL((url) => !url.searchParams.has('show'));
    expect(addressOf(page)).toEqual({ currency: 'USD', customer });
    expect(complaints).toEqual([]);
  });

  it('are named when a search takes their place, and the other way round, and are brought back', async () => {
    const { page, complaints, open } = await dashboard.signIn(1);
    const filtered = { show: 'overdue', currency: 'USD', dueFrom: '2020-01-01' };
    await open(`/dashboard/receivables?${new URLSearchParams(filtered)}`);
    await rowsOf(page, 'Receivables').first().waitFor();
    const note = page.locator('.filters-note');
    await page.getByLabel('Search').fill('inv 1');
    await note.getByText(/^Search takes the place of Overdue, Currency and Due: a search is of the whole/).waitFor();
    expect(addressOf(page)).toEqual({ search: 'inv 1' });
    await shows(page, 'Receivables', await listed(1, 'receivables(search: "inv 1")'));
    const sort = page.getByLabel('Sort').locator('option:checked');
    expect(await sort.textContent()).toBe('As found');
    expect(await faults(page)).toEqual([]);
    // More letters are the same search, and what went for it is still there to be brought back.
    await page.getByLabel('Search').fill('inv 10');
    await page.waitForURL((url) => url.searchParams.get('search') === 'inv 10');
    await note.getByRole('button', { name: 'Undo' }).click();
    expect(addressOf(page)).toEqual(filtered);
    const overdue = 'overdue: true, currency: ["USD"], dueDate: { gte: "2020-01-01" }';
    await shows(page, 'Receivables', await listed(1, `receivables(filter: { ${overdue} }, orderBy: DUE_DATE_ASC)`));
    expect(await page.getByLabel('Search').inputValue()).toBe('');
    expect(await sort.textContent()).toBe('Due first');
    await note.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });

    await page.getByLabel('Search').fill('inv 1');
    await note.getByText(/^Search takes the place/).waitFor();
    await page.getByLabel('Status').selectOption('Open');
    await note.getByText(/^Status takes the place of Search: a search is of the whole list/).waitFor();
    expect(addressOf(page)).toEqual({ status: 'OPEN' });
    await page.goBack();
    await page.waitForURL((url) => url.searchParams.get('search') === 'inv 1');
    await note.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
    await page.goBack();
    await page.waitForURL((url) => url.searchParams.get('show') === 'overdue');
    expect(addressOf(page)).toEqual(filtered);
    expect(complaints).toEqual([]);
  });

  it('of payouts and checkouts are those of the graph', async () => {
    const { page, complaints, open, go } = await dashboard.signIn(2);
    const { id } = await dashboard.user(2, 'Lighthouse Courses');
    await open(`/dashboard/payouts?user=${id}&status=COMPLETED&sort=least`);
    const filter = `accountId: "${id}", status: [COMPLETED], currency: ["INR"]`;
    await shows(page, 'Payouts', await listed(2, `payouts(filter: { ${filter} }, orderBy: AMOUNT_ASC)`));
    await page.locator('.chip-said').getByText('Lighthouse Courses').waitFor();
    const { body } = await dashboard.platform(2).graph('{ payouts(first: 1) { nodes { id } } }');
    const told = body.data.payouts.nodes[0].id;
    await dashboard.world.sql`update payout set bank_reference = 'UTR-LISTED-2' where id = ${told}`;
    await go('/dashboard/payouts');
    await page.getByLabel('Bank reference').fill(' utr-listed-2 ');
    await page.getByLabel('Bank reference').press('Enter');
    await expect.poll(() => idsOf(page, 'Payouts')).toEqual([told]);
    await page.getByText('Bank reference does not go together with Amount').waitFor();
    expect(await faults(page)).toEqual([]);
    await go('/dashboard/checkouts?createdFrom=2020-01-01&status=COMPLETED&sort=oldest');
    const created = 'created: { gte: "2020-01-01T00:00:00Z" }, status: [COMPLETED]';
    await shows(page, 'Checkouts', await listed(2, `checkouts(filter: { ${created} }, orderBy: CREATED_ASC)`));
    expect(complaints).toEqual([]);
  });
});

describe('the pages of a list', () => {
  it('are turned in both directions, and say which rows of how many they have', async () => {
    const { page, complaints, open } = await dashboard.signIn(1);
    await open('/dashboard/payments?status=COMPLETED');
    const { ids, count } = await listed(1, 'deposits(scope: DESCENDANTS, filter: { status: [COMPLETED] })');
    await shows(page, 'Payments', { ids, count });
    const [previous, next] = ['Previous page', 'Next page'].map((name) => page.getByRole('button', { name }));
    expect(await previous!.isDisabled()).toBe(true);
    await next!.click();
    await page.getByText(`26–50 of ${count}`, { exact: true }).waitFor();
    const second = await idsOf(page, 'Payments');
    expect(second.some((id) => ids.includes(id))).toBe(false);
    await next!.click();
    await page.getByText(`51–75 of ${count}`, { exact: true }).waitFor();
    await previous!.click();
    await page.getByText(`26–50 of ${count}`, { exact: true }).waitFor();
    await expect.poll(() => idsOf(page, 'Payments')).toEqual(second);
    expect(addressOf(page)).toMatchObject({ status: 'COMPLETED', from: '26' });
    await previous!.click();
    await page.waitForURL('**/payments?status=COMPLETED');
    await shows(page, 'Payments', { ids, count });
    await page.goBack();
    await expect.poll(() => idsOf(page, 'Payments')).toEqual(second);
    // The last page has its own numbers, whatever the address says.
    for (let at = 50; at < count; at += 25) {
      await next!.click();
      await page.getByText(new RegExp(`^${at + 1}–.* of ${count}$`)).waitFor();
    }
    expect(await next!.isDisabled()).toBe(true);
    expect(complaints).toEqual([]);
  });
});

describe('the rows of a list', () => {
  it('are gone through and selected with keys, and their sum is that of all pages', async () => {
    const { page, complaints, open, go } = await dashboard.signIn(1);
    await open('/dashboard/settings');
    await page.getByRole('link', { name: /^Receivables/ }).click();
    await rowsOf(page, 'Receivables').first().waitFor();
    // The page that was just opened has the focus.
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('x');
    const foot = page.getByRole('region', { name: 'Selected' });
    const query = `query ($after: ID) { receivables(first: 25, after: $after) {
      nodes { amountReconcilable invoice { amount } } pageInfo { endCursor } } }`;
    const pageAfter = async (after: string | null) =>
      (await dashboard.platform(1).graph(query, { after })).body.data.receivables;
    const first = await pageAfter(null);
    const second = await pageAfter(first.pageInfo.endCursor);
    const said = (rows: { amountReconcilable: string; invoice: { amount: string } }[]) => {
      const money = { amount: sum(rows.map(({ invoice }) => invoice.amount)), currency: 'USD' };
      const open = sum(rows.map(({ amountReconcilable }) => amountReconcilable));
      const rest = open === money.amount ? '' : `, ${formatMoney({ amount: open, currency: 'USD' })} of it open`;
      return `${asShown(money)}${rest}`;
    };
    const two = first.nodes.slice(0, 2);
    await foot.getByText(`2 selected · ${said(two)}`, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(/^26–50 of/).waitFor();
    await foot.getByText('2 selected, 2 on other pages').waitFor();
    await page.getByLabel('Select all rows of the page').check();
    await foot.getByText(`27 selected, 2 on other pages · ${said([...two, ...second.nodes])}`).waitFor();
    expect(await faults(page)).toEqual([]);
    // Another filter makes another list.
    await page.getByLabel('Status').selectOption('Settled');
    await foot.waitFor({ state: 'detached' });
    await page.goBack();
    await foot.getByText(/^27 selected/).waitFor();

    await go('/dashboard/payouts');
    await rowsOf(page, 'Payouts').first().waitFor();
    await page.locator('main').focus();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/payouts\/payout_/);
    expect(complaints).toEqual([]);
  });

  it('of disputes are counted and added up as those of payments are', async () => {
    const { page, complaints, open } = await dashboard.signIn(2, 'Lighthouse Courses');
    const user = await dashboard.user(2, 'Lighthouse Courses');
    const { body } = await user.graph('{ disputes(first: 25) { totalCount nodes { amount currency } } }');
    const { nodes, totalCount } = body.data.disputes;
    await open('/dashboard/payments?show=disputes');
    await page.getByText(`${nodes.length > 1 ? '1–' : ''}${nodes.length} of ${totalCount}`, { exact: true }).waitFor();
    await page.getByLabel('Select all rows of the page').check();
    const total = { amount: sum(nodes.map(({ amount }: any) => amount)), currency: 'INR' };
    expect(nodes.every(({ currency }: any) => currency === 'INR')).toBe(true);
    const foot = page.getByRole('region', { name: 'Selected' });
    await foot.getByText(`${nodes.length} selected · ${asShown(total)}`, { exact: true }).waitFor();
    expect(await faults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('have their boxes beside the text of the first cell, on each screen', async () => {
    const { page, open, go } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    for (const [path, name] of [
      ['payments', 'Payments'],
      ['receivables', 'Receivables'],
      ['payouts', 'Payouts'],
    ] as const) {
      await go(`/dashboard/${path}`);
      await rowsOf(page, name).first().waitFor();
      for (const width of [1440, 1000, 820, 768, 390]) {
        await page.setViewportSize({ width, height: 900 });
        const apart = await rowsOf(page, name).evaluateAll((rows) =>
          rows.every((row) => {
            const box = row.querySelector('.tick input')!.getBoundingClientRect();
            const text = document.createRange();
            text.selectNodeContents(row.querySelector('td:first-child > a')!);
            return [...text.getClientRects()].every(({ left }) => left >= box.right);
          }),
        );
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect([name, width, apart, wider]).toEqual([name, width, true, 0]);
      }
    }
  });
});

describe('the columns of a list', () => {
  const widths = [1440, 1280, 1200, 1057, 1056, 1000, 961, 960, 820, 768];
  const long = ['Sri Venkateswara Handloom Weavers '.repeat(3).slice(0, 80).trim(), 'Weavers'.repeat(11)];

  /** Customers with names of 80 letters, each with an invoice and a payment of a very large amount. */
  async function longNames() {
    const user = await dashboard.user(1, 'Indigo Looms');
    for (const nickname of long) {
      const { id: customer_id } = await user.partner({ nickname });
      const dates = { creation_date: '2026-01-01', due_date: '2026-02-01' };
      const invoice = { amount: '99999999999.99', currency: 'USD', reference_number: `INV ${nickname}`, ...dates };
      const terms = { currency: 'USD', purpose_code: 'P0102', transaction_type: 'goods', description: nickname };
      await must(user.post('/v1/receivables', { ...terms, invoice, customer_id }));
      const { body } = await user.graph(
        `mutation ($id: ID!, $to: ID!, $text: String!) { createDeposit(input: {
          amount: "99999999999.99", currency: "USD", from: { accountId: $id }, to: { accountId: $to }
          paymentMethod: GLOBAL_WIRE, statementDescriptor: $text }) { deposit { id } } }`,
        { id: customer_id, to: user.id, text: `INV ${nickname}` },
      );
      expect(body.errors).toBe(undefined);
    }
  }

  it('keep their words whole and their cells in the frame beside names of 80 letters, on each screen', async () => {
    await longNames();
    const { page, open, go } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    const found: unknown[] = [];
    for (const [path, name] of [
      ['payments', 'Payments'],
      ['receivables', 'Receivables'],
      ['customers', 'Customers'],
      ['payouts', 'Payouts'],
    ] as const) {
      await go(`/dashboard/${path}`);
      await rowsOf(page, name).first().waitFor();
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        const broken = await brokenWords(page.getByRole('table', { name }));
        if (broken.length > 0) found.push([name, width, broken.slice(0, 8)]);
      }
    }
    expect(found).toEqual([]);
  });
});

describe('a row on a phone', () => {
  it('has cells that begin in one line where they stand beside each other', async () => {
    const { page, open } = await dashboard.signIn(1);
    await open('/dashboard/users');
    await rowsOf(page, 'Users').first().waitFor();
    await page.setViewportSize({ width: 390, height: 900 });
    const apart = await rowsOf(page, 'Users').evaluateAll((rows) =>
      rows.flatMap((row) => {
        const cells = [...row.querySelectorAll('td:not(:first-child, :last-child)')]
          .map((cell) => ({ ...cell.getBoundingClientRect().toJSON(), base: textOf(cell) }))
          .filter(({ height }) => height > 0);
        return cells.slice(1).flatMap((cell, i) => (cell.top < cells[i]!.bottom ? [cell.base - cells[i]!.base] : []));
        function textOf(cell: Element) {
          const text = document.createRange();
          text.selectNodeContents(document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode() ?? cell);
          return text.getBoundingClientRect().bottom;
        }
      }),
    );
    expect(apart.length).toBeGreaterThan(2);
    expect(Math.max(...apart.map(Math.abs))).toBeLessThan(4);
  });
});

describe('a card', () => {
  it('has as much room below its last row as at its sides', async () => {
    const { page, open, go } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/payouts');
    await rowsOf(page, 'Payouts').first().waitFor();
    await go((await rowsOf(page, 'Payouts').locator('td:first-child > a').first().getAttribute('href'))!);
    for (const name of ['Settled invoices', 'Ledger']) {
      const table = page.getByRole('table', { name, exact: true });
      await table.waitFor();
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        const [below, side] = await table.evaluate((element) => {
          const card = element.closest('.card')!;
          const last = [...element.querySelectorAll('tr')].at(-1)!;
          const texts = [...last.querySelectorAll('td, th')].map((cell) => {
            const text = document.createRange();
            text.selectNodeContents(cell);
            return text.getBoundingClientRect().bottom;
          });
          return [card.getBoundingClientRect().bottom - Math.max(...texts), parseFloat(getComputedStyle(card).padding)];
        });
        expect([name, width, Math.abs(below! - side!) < 8]).toEqual([name, width, true]);
      }
    }
  });
});

describe('a statement on paper', () => {
  it('is as wide as the paper', async () => {
    const { page, open, go } = await dashboard.signIn(1, 'Indigo Looms');
    await open('/dashboard/settings');
    const first = async (path: string, name: string, hasText = '') => {
      await go(path);
      const link = rowsOf(page, name).filter({ hasText }).locator('td:first-child > a').first();
      await go((await link.getAttribute('href'))!);
    };
    const user = await dashboard.user(1, 'Indigo Looms');
    const { id: customer_id } = await user.partner();
    const large = { amount: '99999999999.99', currency: 'USD', reference_number: `INV-${'7'.repeat(40)}` };
    const due = { creation_date: '2026-01-01', due_date: '2026-02-01' };
    await must(user.post('/v1/receivables', receivableBody({ ...large, ...due }, { customer_id })));
    const ways: [string, () => Promise<unknown>][] = [
      ['Statement of account', () => go('/dashboard/balance')],
      ['Statement of inward remittance', () => first('/dashboard/payouts', 'Payouts')],
      [
        'Statement of account',
        async () => {
          await first('/dashboard/receivables?show=overdue', 'Receivables', 'INV-10');
          await page.locator('.facts div', { hasText: 'Customer' }).getByRole('link').first().click();
        },
      ],
    ];
    ways.push(['Statement of account', () => go(`/dashboard/accounts/${customer_id}`)]);
    for (const [title, way] of ways) {
      await way();
      await page.emulateMedia({ media: 'print' });
      await page.getByRole('heading', { name: title }).waitFor();
      for (const width of [794, 390]) {
        await page.setViewportSize({ width, height: 900 });
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect([page.url(), width, beyond]).toEqual([page.url(), width, 0]);
      }
      await page.emulateMedia({ media: 'screen' });
      await page.setViewportSize({ width: 1280, height: 900 });
    }
  });
});
