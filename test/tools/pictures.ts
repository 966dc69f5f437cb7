import fs from 'node:fs';
import { browser } from '../support/browser.js';

/**
 * Takes the pictures of docs/images from a running gateway: `npm start` in one terminal, and in another
 * `npx tsx test/tools/pictures.ts ORIGIN FIRST SECOND`, with the test keys of the demo platforms of Edition 1 and
 * Edition 2.
 */
const [origin = 'http://127.0.0.1:4000', first = '', second = ''] = process.argv.slice(2);
const keys = { first, second };
const folder = new URL('../../docs/images/', import.meta.url);

type Reply = { id: string; data: { id: string }[] };

/** Sends a request to /v1 with the key of Edition 2, on behalf of a user if one is given. */
async function v1(path: string, { user, body }: { user?: string; body?: object } = {}) {
  const response = await fetch(`${origin}/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      Authorization: `Bearer ${keys.second}`,
      'Content-Type': 'application/json',
      ...(user && { 'On-Behalf-Of': user }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const reply = (await response.json()) as Reply;
  if (!response.ok) throw new Error(JSON.stringify(reply));
  return { reply, link: response.headers.get('link') };
}

/** Creates a checkout for an open receivable of a demo user; returns the address of its page. */
async function checkoutPage(): Promise<string> {
  const users = await v1('/accounts?type=user&status=activated');
  for (const { id: user } of users.reply.data) {
    const [partner] = (await v1('/accounts?type=partner&status=activated', { user })).reply.data;
    if (!partner) continue;
    const invoice = {
      amount: '125000.00',
      currency: 'INR',
      creation_date: '2026-11-01',
      due_date: '2026-12-01',
      reference_number: 'INV-2041',
    };
    const receivable = await v1('/receivables', {
      user,
      body: { currency: 'INR', purpose_code: 'P0802', transaction_type: 'services', invoice },
    });
    const { link } = await v1('/checkouts', {
      user,
      body: {
        amount: '125000.00',
        currency: 'INR',
        from: { account_id: partner.id },
        payment_methods: ['upi', 'cards'],
        receivables: [{ id: receivable.reply.id }],
        redirect_url: 'https://shop.example/thanks',
      },
    });
    return /<(.*)>/.exec(link ?? '')![1]!;
  }
  throw new Error('No activated user of the demo has an activated partner.');
}

// Not indented, because the editor indents each line that it gets; the explorer's own button formats the query.
const query = `# Who paid, and for which invoice?
query Deposits {
deposits(first: 3, status: [COMPLETED]) {
nodes {
amount
currency
fromAccount { nickname }
toAccount { nickname balance { available { amount currency } } }
receivables { amountLocked status invoice { referenceNumber amount } }
}
}
}`;

const chromium = await browser();
try {
  fs.mkdirSync(folder, { recursive: true });
  const page = await chromium.newPage({ viewport: { width: 960, height: 760 }, deviceScaleFactor: 1.5 });
  const shoot = (name: string) => page.screenshot({ path: new URL(name, folder).pathname, fullPage: true });
  // The page keeps an event stream open, so the network is never idle.
  await page.goto(await checkoutPage(), { waitUntil: 'domcontentloaded' });
  await page.waitForTimeout(500);
  await shoot('payment-page.png');
  await page.getByRole('button', { name: 'Pay with UPI' }).click();
  await page.getByRole('heading', { level: 1, name: /UPI app/ }).waitFor();
  await page.waitForTimeout(500);
  await shoot('payment-page-upi.png');

  const explorer = await chromium.newPage({ viewport: { width: 1440, height: 840 }, deviceScaleFactor: 1.5 });
  await explorer.goto(`${origin}/graphiql#key=${keys.first}`);
  await explorer.locator('#query').focus();
  await explorer.locator('#plain').waitFor({ state: 'hidden' });
  await explorer.getByRole('button', { name: 'Hide editor tools' }).click();
  const editor = explorer.locator('.graphiql-query-editor .view-lines').first();
  await editor.click();
  await explorer.keyboard.press('Control+A');
  await explorer.keyboard.insertText(query);
  await explorer.getByRole('button', { name: /Prettify/ }).click();
  await explorer.getByRole('button', { name: 'Execute query' }).click();
  await explorer.locator('.result-window').getByText('referenceNumber').first().waitFor();
  await explorer.waitForTimeout(1_000);
  await explorer.screenshot({ path: new URL('explorer.png', folder).pathname });

  const dashboard = await chromium.newPage({ viewport: { width: 1280, height: 860 } });
  await dashboard.goto(`${origin}/dashboard`);
  await dashboard.getByLabel('API key').fill(keys.second);
  await dashboard.getByRole('button', { name: 'Sign in' }).click();
  await dashboard.getByRole('button', { name: 'Act as a user' }).click();
  await dashboard.getByRole('dialog').getByRole('button', { name: 'Lighthouse Courses' }).click();
  await dashboard.getByRole('region', { name: 'Latest events' }).getByRole('listitem').first().waitFor();
  await dashboard.waitForTimeout(1_000);
  await dashboard.screenshot({ path: new URL('dashboard.png', folder).pathname });
} finally {
  await chromium.close();
}
