import type { Page } from 'playwright-core';
import { afterAll, it } from 'vitest';
import { completeDeposit } from '../../support/world.js';
import { changeDocuments, refusedTotals, useDashboard } from '../dashboard-fixture.js';
import { Camera, first, named, press, printed, settled, type State, steps } from './camera.js';

const dashboard = useDashboard();
const camera = new Camera(() => dashboard.chromium);
afterAll(() => camera.close());

/** Opens an address of the dashboard. */
const at = (address: string) => async (page: Page) => {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.goto(`${dashboard.origin}/dashboard${address}`);
  await settled(page);
};

async function signedIn(edition: 1 | 2, user?: string): Promise<Page> {
  const page = await camera.page();
  await at(`/sign-in#code=${dashboard.links.newCode(edition)}`)(page);
  if (user) {
    const { id } = await dashboard.user(edition, user);
    await page.evaluate((acting) => sessionStorage.setItem('acting-as', acting), id);
  }
  return page;
}

/** Goes from a receivable to the customer that it bills. */
const toCustomer = async (page: Page) => {
  await page.locator('.facts div', { hasText: 'Customer' }).getByRole('link').first().click();
  await page.getByRole('region', { name: 'Owes' }).waitFor();
  await settled(page);
};

/** Goes from a customer to all that it has to pay. */
const toAll = async (page: Page) => {
  await page.locator('.owes dt a').first().click();
  await page.getByRole('heading', { name: /^Receivables of/ }).waitFor();
  await settled(page);
};

const lists = ['payments', 'receivables', 'payouts', 'customers'];
const listsAndObjects = (names: string[]): State[] =>
  names.flatMap((name): State[] => [
    [name, at(`/${name}`)],
    [`${name}-object`, steps(at(`/${name}`), first)],
  ]);

/** Searches a filtered list, which names the filters that go for it. */
const searched = (list: string, text: string) =>
  steps(at(list), async (page) => {
    await page.getByLabel('Search').fill(text);
    await page.waitForURL((url) => url.searchParams.has('search'));
    await settled(page);
  });

/** Pays more than is open on an invoice. */
const overpaid = steps(at('/receivables?status=OPEN&sort=due-last'), first, press('Pay it'), async (page) => {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Amount').fill('99999999999.99');
  await dialog.getByRole('button', { name: 'Pay' }).click();
  await dialog.getByText('Details').click();
});

/** A sheet of invoices is chosen, with long names and some errors. */
const sheetChosen = async (page: Page) => {
  await at('/customers')(page);
  const customer = await page.locator('.linked a strong').first().innerText();
  const currency = (await page.getByText('Edition 1').count()) > 0 ? 'USD' : 'INR';
  await at('/receivables/import')(page);
  const head =
    'Invoice,Customer,Amount,Currency,Date,Due date,Notes from the sales department,Goods or services,Purpose code';
  const rows = Array.from({ length: 14 }, (_, i) => {
    const name = i === 3 ? 'A name that no customer has, and that is very long, Incorporated in Delaware' : customer;
    const amount = i === 5 ? 'ten' : '1,234,567.89';
    const dates = `2026-10-0${(i % 9) + 1},2026-12-31`;
    return `LOOK-${i},"${name}","${amount}",${currency},${dates},${'x'.repeat(80)},goods,P0101`;
  });
  const buffer = Buffer.from([head, ...rows].join('\n'));
  await page.getByLabel('CSV file').setInputFiles({ name: 'invoices.csv', mimeType: 'text/csv', buffer });
  await settled(page);
};

/** What was checked of it is imported. */
const sheetChecked = async (page: Page) => {
  await page.getByRole('button', { name: /^Check/ }).click();
  await page.getByText('cannot be imported').waitFor();
  await settled(page);
};

const pagesOfUsers: State[] = [
  ['home', at('/')],
  ...listsAndObjects(lists),
  ['payments-none', at('/payments?search=nothing')],
  [
    'payments-filters',
    steps(at('/payments?status=COMPLETED'), (page) => page.locator('.filters-more').dispatchEvent('click')),
  ],
  ['payments-searched', searched('/payments?status=COMPLETED&receivedFrom=2020-01-01', 'inv')],
  ['payments-apart', at('/payments?amountFrom=10')],
  ['payouts-reference', at('/payouts?reference=UTR0000000001')],
  ['test-payment-refused', overpaid],
  ['disputes', at('/payments?show=disputes')],
  [
    'disputes-selected',
    steps(at('/payments?show=disputes'), (page) => page.getByLabel('Select all rows of the page').check()),
  ],
  ['dispute', steps(at('/payments?show=disputes&status=OPEN'), first)],
  ['dispute-answer', steps(at('/payments?show=disputes&status=OPEN'), first, press('Answer'))],
  ['dispute-accept', steps(at('/payments?show=disputes&status=OPEN'), first, press('Accept'))],
  ['dispute-decided', steps(at('/payments?show=disputes&status=DECIDED'), first)],
  ['balance', at('/balance')],
  ['balance-printed', steps(at('/balance'), printed)],
  ['payout-printed', steps(at('/payouts'), first, printed)],
  ['settings-matching', at('/settings/matching')],
  ['settings-payouts', at('/settings/payouts')],
  ['exported', steps(at('/payments'), press('Export CSV'), (page) => page.getByText('All exports').waitFor())],
  ['settings-exports', at('/settings/exports')],
  ['import', at('/receivables/import')],
  ['import-chosen', sheetChosen],
  ['import-checked', steps(sheetChosen, sheetChecked)],
  [
    'import-done',
    steps(sheetChosen, sheetChecked, press(/^Import the/), (page) => page.getByText('left out').first().waitFor()),
  ],
  ['debtor', steps(at('/receivables?show=overdue'), first, toCustomer)],
  ['debtor-printed', steps(at('/receivables?show=overdue'), first, toCustomer, printed)],
  ['debtor-receivables', steps(at('/receivables?show=overdue'), first, toCustomer, toAll)],
  ['receivable-new', steps(at('/receivables/new'), press(/^Create/))],
  ['customer-new', at('/customers/new')],
];

const daysChosen = steps(at('/settings/payouts'), press(/^Change/), (page) =>
  page.getByLabel('Paid out').selectOption('WEEKLY'),
);

const pagesOfPlatforms: State[] = [
  ...['home', ...lists].map((name): State => [name, at(name === 'home' ? '/' : `/${name}`)]),
  ...listsAndObjects(['users']),
  ['users-searched', searched('/users?status=ACTIVATED', 'lo')],
  ['user-new', at('/users/new')],
  ['user-draft', steps(at('/users?status=DRAFT'), first)],
  ['act-as', steps(at('/'), press('Act as a user'))],
  ['menu', steps(at('/'), (page) => page.locator('.top [aria-controls="navigation"]').dispatchEvent('click'))],
  ['key-new', steps(at('/developers/keys'), press(/^Create/))],
  ...['', 'keys', 'webhooks', 'events', 'sessions'].map(
    (name): State => [`developers${name && `-${name}`}`, at(`/developers/${name}`)],
  ),
  ['webhook-new', steps(at('/developers/webhooks'), press(/^Add/))],
  ['settings', at('/settings')],
  ['settings-payouts', at('/settings/payouts')],
  ['not-found', at('/nothing')],
];

it('the pages of a user and of a platform', async () => {
  for (const [edition, user] of [
    [1, 'Indigo Looms'],
    [2, 'Lighthouse Courses'],
  ] as const) {
    const checkouts: State[] =
      edition === 1 ? [] : [...listsAndObjects(['checkouts']), ['checkout-new', at('/checkouts/new')]];
    await camera.take(named(`e${edition}-user`, [...pagesOfUsers, ...checkouts]), () => signedIn(edition, user));
    // The days of payouts are those of the account in Edition 1 alone.
    const days: State[] = edition === 1 ? [['settings-payouts-days', daysChosen]] : [];
    await camera.take(named(`e${edition}-platform`, [...pagesOfPlatforms, ...days]), () => signedIn(edition));
  }
}, 1_800_000);

/** Goes to a page by its link, while the gateway does not answer. */
const unanswered = (from: string, link: string) => async (page: Page) => {
  await at(from)(page);
  await page.route('**/graphql', () => {});
  await page.locator(link).first().click();
  await page.locator('.skeleton').first().waitFor();
};

/** A part of the first page is refused, and the others are there. */
const refusedPart = async (page: Page) => {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await changeDocuments(page, refusedTotals);
  await page.goto(`${dashboard.origin}/dashboard`);
  await settled(page);
};

const failed = async (page: Page) => {
  await at('/')(page);
  await page.route('**/graphql', (route) =>
    route.fulfill({
      status: 500,
      json: { errors: [{ message: 'An internal error occurred.', extensions: { httpStatus: 500 } }] },
    }),
  );
  await page.getByRole('link', { name: 'Receivables' }).first().click();
  await page.getByRole('alert').first().waitFor();
};

it('pages that load, that have failed, for readers, and before signing in', async () => {
  const states: State[] = [
    ['loading-list', unanswered('/', '.side a[href$="/customers"]')],
    ['loading-home', unanswered('/settings', '.side a[href$="/dashboard/"], .side a[href$="/dashboard"]')],
    ['loading-object', unanswered('/payments', '.linked a')],
    ['failed', failed],
    ['refused-part', refusedPart],
  ];
  await camera.take(states, () => signedIn(1));
  await camera.take([
    ['sign-in', at('')],
    ['sign-in-wrong', steps(at(''), press('Sign in'))],
  ]);
  const reader: State[] = [
    ['home', at('/')],
    ['customer-new', at('/customers/new')],
    ['keys', at('/developers/keys')],
  ];
  await camera.take(named('reader', [...reader, ...listsAndObjects(['receivables', 'payments'])]), async () => {
    const made = await dashboard.platform(1).graph('mutation { createApiKey(input: { permission: READ }) { secret } }');
    const page = await camera.page();
    await at('')(page);
    await page.getByLabel('API key').fill(made.body.data.createApiKey.secret);
    await press('Sign in')(page);
    await settled(page);
    return page;
  });
}, 600_000);

it('names and references that are very long, with and without spaces', async () => {
  const user = await dashboard.user(1, 'Indigo Looms');
  const [words, word] = ['Sri Venkateswara Handloom Weavers '.repeat(3).trim().slice(0, 100), 'Weavers'.repeat(14)];
  const { sql } = dashboard.world;
  const customers = [];
  for (const nickname of [words, word]) {
    const customer = await user.partner({ nickname });
    customers.push(customer.id);
    const dates = { creation_date: '2026-01-01', due_date: '2026-02-01' };
    const invoice = { amount: '99999999999.99', currency: 'USD', reference_number: `INV ${nickname}`, ...dates };
    const terms = { currency: 'USD', purpose_code: 'P0102', transaction_type: 'goods', description: nickname };
    await user.post('/v1/receivables', { ...terms, invoice, customer_id: customer.id });
    const { body } = await user.graph(
      `mutation ($id: ID!, $to: ID!, $text: String!) { createDeposit(input: {
        amount: "99999999999.99", currency: "USD", from: { accountId: $id }, to: { accountId: $to }
        paymentMethod: GLOBAL_WIRE, statementDescriptor: $text }) { deposit { id } } }`,
      { id: customer.id, to: user.id, text: `INV ${nickname}` },
    );
    const { id } = body.data.createDeposit.deposit;
    await completeDeposit(user, id);
    const told = { reference: 'UTR20261130', payerName: nickname, remittanceText: `/INV/${nickname}/RFB/${word}` };
    await sql`update deposit set bank_details = ${sql.json(told)} where id = ${id}`;
  }
  const states = [
    ...listsAndObjects(['payments', 'receivables', 'customers']),
    ['home', at('/')] as const,
    ['to-reconcile', at('/payments?show=unreconciled')] as const,
    ['balance', at('/balance')] as const,
    ['balance-printed', steps(at('/balance'), printed)] as const,
    ['debtor-printed', steps(at(`/accounts/${customers[0]}`), printed)] as const,
    ['debtor-word-printed', steps(at(`/accounts/${customers[1]}`), printed)] as const,
    ['find', steps(at('/'), press('Find'), (page) => page.keyboard.type('UTR20261130'))] as const,
    ['receivable-new', at('/receivables/new')] as const,
  ];
  await camera.take(named('long', states), () => signedIn(1, 'Indigo Looms'));
}, 600_000);

it('the explorer, the start page and the documentation', async () => {
  const open = (address: string, ready: string) => async (page: Page) => {
    await page.goto('about:blank');
    await page.goto(`${dashboard.origin}${address}`);
    await page.locator(ready).first().waitFor();
    await page.waitForTimeout(1_000);
  };
  const answered = async (page: Page) => {
    await press('Run')(page);
    await page.locator('#answer').getByText('Harborline').waitFor();
  };
  const editing = async (page: Page) => {
    await page.locator('#query').focus();
    await page.locator('#plain').waitFor({ state: 'hidden' });
    await page.waitForTimeout(1_000);
  };
  // A page that is opened again shows what was open beside it.
  const beside = (name: string) => async (page: Page) => {
    const button = page.locator('#bar').getByRole('button', { name, exact: true, expanded: false });
    if ((await button.count()) > 0) await button.click();
  };
  const withKey = (page: Page) => open(`/graphiql#key=${key()}`, '#key-owner:not(:empty)')(page);
  const key = () => dashboard.tenants[0]!.testKey;
  await camera.take([
    ['start-page', open('/', 'h1')],
    ['explorer', open('/graphiql', '#welcome')],
    ['explorer-answer', steps(withKey, answered)],
    ['explorer-code', steps(withKey, answered, beside('Code'))],
    ['explorer-happen', steps(withKey, beside('Make it happen'))],
    ['explorer-editor', steps(withKey, editing, press('Execute query'))],
    ['explorer-history', steps(withKey, editing, press(/history/i))],
    ['docs', open('/docs', 'h1')],
    ['docs-guide', open('/docs/webhooks', 'h1')],
    ['docs-graphql', open('/docs/reference/graphql/mutations/createConnectedUser', 'h1')],
    ['docs-rest', open('/docs/reference/rest/deposits', 'h1')],
    ['docs-missing', open('/docs/none', 'h1')],
  ]);
}, 300_000);
