import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Speaker } from '../support/world.js';
import { faultsInThemes, rowsOf, useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();

const seller = 'Malabar Spice';

/** Chooses a file in the page that is open. */
const choose = (page: Page, content: string | Buffer, name = 'invoices.csv') =>
  page.getByLabel('CSV file').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content as string) });

/** The customers of an account by the names that pages show. */
async function customersOf(user: Speaker): Promise<{ id: string; nickname: string }[]> {
  const { body } = await user.graph(
    `query ($id: ID!) { partners(filter: { accountId: $id }, first: 100) { nodes { id nickname } } }`,
    { id: user.id },
  );
  return body.data.partners.nodes;
}

/** The receivables whose number begins with a text, the oldest first. */
async function receivablesOf(user: Speaker, start: string): Promise<any[]> {
  const { body } = await user.graph(
    `query ($search: String) { one: receivables(first: 100, search: $search) { nodes { ...R } } }
     fragment R on Receivable { id currency description customer { id } purposeCode transactionType
       invoice { referenceNumber amount currency creationDate dueDate } }`,
    { search: start },
  );
  return body.data.one.nodes;
}

const count = async (user: Speaker) =>
  (await user.graph('{ receivables { totalCount } }')).body.data.receivables.totalCount;

const check = (page: Page, rows: string) => page.getByRole('button', { name: `Check ${rows}` }).click();

describe('an import of invoices', () => {
  it('takes 200 rows of a sheet as people write it, after it has shown what it read', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, seller);
    const user = await dashboard.user(1, seller);
    const customers = await customersOf(user);
    expect(customers.length).toBeGreaterThan(1);
    const before = await count(user);
    const rows = Array.from({ length: 200 }, (_, i) => {
      const { nickname } = customers[i % customers.length]!;
      const amount = (i + 1) % 7 === 0 ? '1,25,000.50' : `1,0${i % 10}0.25`;
      const day = (i % 28) + 1;
      const client = `"${nickname.toUpperCase()} "`;
      return `SHEET-${i},${client},"${amount}",usd,${day}/10/2026,${day}/12/2026,"=note ${i}"`;
    });
    const sheet = ['Invoice No.,Client,Amount,Ccy,Date,Due On,Memo', ...rows].join('\r\n');
    await open('/dashboard/receivables');
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    await choose(page, sheet);
    await page.getByText('200 rows', { exact: false }).first().waitFor();
    const columns = rowsOf(page, 'Columns of the sheet');
    expect(await columns.getByRole('combobox').evaluateAll((all) => all.map((each) => (each as any).value))).toEqual([
      'invoice.reference_number',
      'customer_id',
      'invoice.amount',
      'currency',
      'invoice.creation_date',
      'invoice.due_date',
      'description',
    ]);
    const button = page.getByRole('button', { name: 'Check 200 rows' });
    expect(await button.isDisabled()).toBe(true);
    await page.getByText('Choose first: Goods or services, Purpose code.').waitFor();
    await page.getByLabel('Goods or services of all rows').selectOption('Goods');
    await page.getByLabel('Purpose code of all rows').selectOption({ index: 1 });
    const preview = rowsOf(page, 'The first rows');
    expect(await preview.count()).toBe(10);
    const seventh = (await preview.nth(6).textContent())!;
    for (const part of ['SHEET-6', '$125,000.50 USD', 'Oct 7, 2026', 'Dec 7, 2026', '=note 6'])
      expect(seventh).toContain(part);
    const total = rows.reduce((sum, row) => sum + BigInt(/"([\d,.]+)",usd/.exec(row)![1]!.replaceAll(/\D/g, '')), 0n);
    const shown = await page.locator('.import-sums .money').textContent();
    expect(shown!.replaceAll(/\D/g, '')).toBe(String(total));
    await page.getByText('All 200 rows · ').waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    await check(page, '200 rows');
    await page.getByText('All 200 rows can be imported.').waitFor();
    // Nothing is stored by then.
    expect(await count(user)).toBe(before);
    await page.getByRole('button', { name: 'Import 200 invoices' }).click();
    await page.getByRole('region', { name: '200 invoices imported' }).waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    expect(await count(user)).toBe(before + 200);
    const [made] = await receivablesOf(user, 'SHEET-6');
    expect(made).toMatchObject({
      ...{ currency: 'USD', description: '=note 6', transactionType: 'GOODS' },
      customer: { id: customers[6 % customers.length]!.id },
      invoice: { referenceNumber: 'SHEET-6', amount: '125000.50', currency: 'USD' },
    });
    expect([made.invoice.creationDate, made.invoice.dueDate]).toEqual(['2026-10-07', '2026-12-07']);
    await rowsOf(page, 'Rows that were imported').first().getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: /SHEET-0/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows every error by its row before anything is stored, and imports the other rows', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, seller);
    const user = await dashboard.user(1, seller);
    const [customer] = await customersOf(user);
    const before = await count(user);
    const good = `${customer!.nickname},10.00,USD,2026-10-01,2026-12-01,services,P0802`;
    const head = 'invoice number,customer,amount,currency,invoice date,due date,type,purpose code';
    const lines = [
      head,
      `MEND-1,${good}`,
      '',
      `MEND-2,${good.replace('10.00', 'ten')}`,
      `MEND-3,${good.replace('2026-12-01', '2026-02-31').replace('USD', 'XXX')}`,
      `MEND-4,Nobody Ltd${good.slice(customer!.nickname.length)}`,
      `,${good}`,
      `MEND-1,${good}`,
    ];
    await open('/dashboard/receivables/import');
    await choose(page, lines.join('\n'));
    await check(page, '6 rows');
    await page.getByText('Of 6 rows, 4 rows cannot be imported, and 1 row exists already.').waitFor();
    const left = rowsOf(page, 'Rows that are left out');
    const texts = (await left.allTextContents()).map((text) => text.replaceAll(/\s+/g, ' '));
    expect(texts.map((text) => /^Row \d+/.exec(text)?.[0])).toEqual([4, 5, 6, 7, 8].map((line) => `Row ${line}`));
    expect(texts[0]).toContain('Amount: “ten” cannot be read as an amount.');
    expect(texts[1]).toContain('Due date: “2026-02-31” cannot be read as a day');
    expect(texts[1]).toContain('Currency: ');
    expect(texts[2]).toContain('Customer: No customer is called “Nobody Ltd”.');
    expect(texts[3]).toContain('Invoice number: This is required.');
    expect(texts[4]).toContain('An earlier row has it.');
    expect(await faultsInThemes(page)).toEqual([]);
    expect(await count(user)).toBe(before);
    await page.getByRole('button', { name: 'Import the other 1 invoice' }).click();
    await page.getByRole('region', { name: '1 invoice imported' }).waitFor();
    await page.getByRole('region', { name: '5 rows left out' }).waitFor();
    expect(await count(user)).toBe(before + 1);

    // The same sheet again makes nothing twice.
    await open('/dashboard/receivables/import');
    await rowsOf(page, 'Imports').first().waitFor();
    await choose(page, lines.slice(0, 2).join('\n'));
    await check(page, '1 row');
    await page.getByText('The only row exists already.').waitFor();
    await left.getByRole('link', { name: 'It exists already.' }).waitFor();
    expect(await page.getByRole('button', { name: /^Import/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('says how far the check and the import are while they are under way', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, seller);
    const user = await dashboard.user(1, seller);
    const [customer] = await customersOf(user);
    const row = `${customer!.nickname},10.00,USD,2026-10-01,2026-12-01,services,P0802`;
    const head = 'invoice number,customer,amount,currency,invoice date,due date,type,purpose code';
    // The answers to the page are those of the gateway, as it gives them before the last row.
    let rowsDone: number | undefined = 1;
    await page.route('**/graphql', async (route, request) => {
      if (rowsDone === undefined || !/query Import\(/.test(request.postData() ?? '')) return route.fallback();
      const answer = await (await route.fetch()).json();
      Object.assign(answer.data.import, { status: 'RUNNING', rowsDone });
      return route.fulfill({ json: answer });
    });
    const bar = (doing: string) => page.getByRole('progressbar', { name: doing });
    const position = (doing: string) => bar(doing).evaluate((each: any) => each.position);
    await open('/dashboard/receivables/import');
    await choose(page, [head, `BAR-1,${row}`, `BAR-2,${row}`, `BAR-3,${row}`, `BAR-4,${row}`].join('\n'));
    await check(page, '4 rows');
    await page.getByText('Checking: 1 of 4 rows').waitFor();
    expect(await position('Checking')).toBe(0.25);
    expect(await faultsInThemes(page)).toEqual([]);
    rowsDone = 3;
    await page.getByText('Checking: 3 of 4 rows').waitFor();
    expect(await position('Checking')).toBe(0.75);
    rowsDone = undefined;
    await page.getByText('All 4 rows can be imported.').waitFor();
    expect(await bar('Checking').count()).toBe(0);

    rowsDone = 2;
    await page.getByRole('button', { name: 'Import 4 invoices' }).click();
    await page.getByRole('region', { name: 'Under way' }).getByText('Importing: 2 of 4 rows').waitFor();
    expect(await position('Importing')).toBe(0.5);
    expect(await faultsInThemes(page)).toEqual([]);
    rowsDone = undefined;
    await page.getByRole('region', { name: '4 invoices imported' }).waitFor();
    expect(await bar('Importing').count()).toBe(0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(complaints).toEqual([]);
  });

  it('asks how days are written that can be read in both ways, and checks again what was changed', async () => {
    const { page, complaints, open } = await dashboard.signIn(1, seller);
    const sheet = 'Invoice,Total,Created,Due,Extra\nDAYS-1,5,01/02/2026,03/02/2026,x\n';
    await open('/dashboard/receivables/import');
    await choose(page, sheet);
    await page.getByText('Choose first: Currency, Goods or services, Purpose code, how days are written.').waitFor();
    await page.getByLabel('Currency of all rows').selectOption('EUR');
    await page.getByLabel('Goods or services of all rows').selectOption('Services');
    await page.getByLabel('Purpose code of all rows').selectOption({ index: 2 });
    await page.getByLabel('Days are written').selectOption('MONTH_FIRST');
    await rowsOf(page, 'The first rows').getByText('Mar 2, 2026').waitFor();
    await page.getByLabel('Days are written').selectOption('DAY_FIRST');
    await rowsOf(page, 'The first rows').getByText('Feb 3, 2026').waitFor();
    await check(page, '1 row');
    await page.getByText('All 1 row can be imported.').waitFor();
    // Another choice needs another check.
    await page.getByLabel('Extra is imported as').selectOption('Description');
    await page.getByRole('button', { name: 'Check 1 row' }).waitFor();
    // A member has one column.
    await page.getByLabel('Due is imported as').selectOption('Invoice date');
    await page.getByText('No column of the sheet is “Due date”.').waitFor();
    expect(await page.getByLabel('Created is imported as').inputValue()).toBe('');
    expect(complaints).toEqual([]);
  });

  it.each([
    ['a workbook', Buffer.from('PK\u0003\u0004\u0014'), 'book.xlsx', 'Save the sheet as CSV (UTF-8)'],
    ['an empty file', '', 'empty.csv', 'The file is empty.'],
    ['another encoding', Buffer.from([0x61, 0xe9, 0x0a, 0x31]), 'latin.csv', 'not text in UTF-8'],
    ['too many rows', `a\n${'1\n'.repeat(10_001)}`, 'long.csv', 'has 10,001 rows'],
    ['a text of markup', '<img src=x onerror=alert(1)>', '<b>"x.csv', 'at least one row'],
  ])('refuses %s in words', async (_, content, name, said) => {
    const { page, complaints, open } = await dashboard.signIn(1, seller);
    await open('/dashboard/receivables/import');
    await choose(page, content, name);
    await page.getByText(said).waitFor();
    await page.getByText(`${name}:`).waitFor();
    expect(await page.getByRole('button', { name: /^Check/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describe('an import of customers', () => {
  it('makes drafts of them, with their addresses', async () => {
    const { page, complaints, open } = await dashboard.signIn(2, 'Lighthouse Courses');
    const user = await dashboard.user(2, 'Lighthouse Courses');
    await open('/dashboard/customers');
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    const long = 'L'.repeat(80);
    await choose(
      page,
      `Company;E-mail;Street;City;PIN;Country;Remark\n${long};a@b.example;1 Road;Pune;411001;India;x\n` +
        `Sheet <b>Two</b>;nonsense;2 Road;Berlin;10115;de;\n;;;;;;total\n`,
      'customers.csv',
    );
    await rowsOf(page, 'The first rows').getByText('IN', { exact: true }).waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    await page.getByLabel('Legal form of all rows').selectOption('Business');
    await check(page, '2 rows');
    await page.getByText('Of 2 rows, 1 row cannot be imported.').waitFor();
    await rowsOf(page, 'Rows that are left out').getByText('E-mail:').waitFor();
    await page.getByRole('button', { name: 'Import the other 1 customer' }).click();
    await page.getByRole('region', { name: '1 customer imported' }).getByRole('link', { name: long }).click();
    await page.getByRole('heading', { level: 1, name: long }).waitFor();
    const { body } = await user.graph(
      `query ($id: ID!) { account(id: $id) { status
        businessDetails { legalName email physicalAddress { line1 country } } } }`,
      { id: new URL(page.url()).pathname.split('/').at(-1) },
    );
    expect(body.data.account).toEqual({
      status: 'DRAFT',
      businessDetails: {
        ...{ legalName: long, email: 'a@b.example', physicalAddress: { line1: '1 Road', country: 'IN' } },
      },
    });
    expect(complaints).toEqual([]);
  });
});
