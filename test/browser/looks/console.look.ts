import type { Page } from 'playwright-core';
import { afterAll, it } from 'vitest';
import { addOwnAccount } from '../../../src/operator/payment-order/accounts.js';
import { createPaymentOrder, rejectPaymentOrder } from '../../../src/operator/payment-order/orders.js';
import { storeBankFile } from '../../../src/operator/bank-file/import.js';
import { bytesOf, camt, today } from '../../support/bank-files.js';
import { browser } from '../../support/browser.js';
import { PayeeFixture } from '../../support/checkout-fixture.js';
import { ConsoleSeed, type Document, hostile, notice } from '../console-fixture.js';
import { receivableBody } from '../../support/bodies.js';
import { eventually, must, type Speaker, useWorld } from '../../support/world.js';
import { Camera, first, named, press, settled, type State, steps } from './camera.js';
import { createOperator } from '../../../src/operator/access/operators.js';
import { createRoot } from '../../../src/operator/account/accounts.js';

const OPERATOR_KEY = 'op_5f0d4c1f9b7e43a28c6d1e0f9a8b7c6d';
const world = useWorld({ worker: false, environment: { OPERATOR_KEY, REQUEST_LOG_DAYS: '1' } });
const chromium = await browser();
const camera = new Camera(() => chromium);
afterAll(async () => {
  await camera.close();
  await chromium.close();
});

const at = (address: string) => async (page: Page) => {
  await page.goto(`${world.origin}${address}`);
  await settled(page);
};

/** Signs in to the dashboard or the console with a key. */
const enter = (address: string, label: string, key: string) => async () => {
  const page = await camera.page();
  await at(address)(page);
  await page.getByLabel(label).fill(key);
  await press('Sign in')(page);
  await settled(page);
  return page;
};

/** An invoice of a very large amount with a long number, and a request that was refused; their ids. */
async function foundIn(speaker: Speaker): Promise<[string, string]> {
  const invoice = { amount: '9999999999.99', reference_number: `INV-${'R'.repeat(40)}` };
  const { id } = await must(speaker.post('/v1/receivables', receivableBody(invoice)));
  const refused = (await speaker.post('/v1/receivables', { currency: 'nothing' })).headers.get('request-id')!;
  await eventually(
    () => world.sql`select from request_log where id = ${refused}`,
    (rows) => rows.length === 1,
  );
  return [id, refused];
}

/** A picture and a PDF. */
async function documents(): Promise<Document[]> {
  const page = await camera.page({ viewport: { width: 420, height: 280 } });
  await page.setContent('<h1>Certificate of incorporation</h1><p>Lighthouse Courses Private Limited</p>');
  const contents = [await page.screenshot(), await page.pdf()];
  const names = ['certificate.png', 'tax-card.pdf'];
  return contents.map((content, i) => ({
    ...{ purpose: 'identity_document', content: new Uint8Array(content), filename: names[i]! },
  }));
}

it("the operator's console", async () => {
  await camera.take([['console-sign-in', at('/operator')]]);
  const seed = new ConsoleSeed(world, OPERATOR_KEY);
  const root = await seed.root('platform', 2, 'Harbour Marketplace');
  const files = await documents();
  const waiting = await seed.submitted(root.live, 'Lighthouse Courses', files);
  const bad = await seed.submitted(root.test, hostile, [{ ...files[0]!, filename: `${hostile}.png` }]);
  const payout = await seed.payout('Coastal Weavers LLP', '12500.00');
  await seed.troubles(payout, 'REV-2041');
  const contested = await seed.returning(payout, 'Two of three boxes came back: the colour was wrong.');
  const undecided = await seed.undecided();
  // An earlier release credited a transfer again whose reference came with a blank.
  const { recordBankNotice: again } = await seed.ask(notice, {
    ...{ reference: 'WIRE-12500.00-2', addressId: payout.addressId, amount: '12500.00', currency: 'USD' },
  });
  await world.sql`
    update bank_notice set reference = 'WIRE-12500.00 '
    where tenant_id = ${payout.tenant} and deposit_id = ${again.notice.deposit.id}`;
  const statement = {
    ...{ account: 'POOL-USD-01', opening: '10000.00', closing: '23112.25' },
    entries: [
      { amount: '12500.00', reference: 'WIRE-88121', payee: '000123456789', payer: 'Northwind Traders Inc' },
      { amount: '450.25', reference: 'WIRE-88122', payee: '000999999999', payer: 'Fabrikam', text: 'Invoice 2041' },
      { amount: '162.00', payee: '000999999999', payer: hostile.slice(0, 60), text: 'R'.repeat(80) },
      { amount: '9.00', reference: 'WIRE-88124', direction: 'DBIT' as const, text: 'Charges' },
    ],
  };
  const content = camt([statement]);
  await storeBankFile(
    world.operator,
    { name: 'statement-2026-11-27.xml', open: () => bytesOf(content), mapping: undefined },
    'Priya Nair',
  );
  const choose = (page: Page) =>
    page.getByLabel('File', { exact: true }).setInputFiles({
      ...{ name: 'statement-2026-11-28.xml', mimeType: 'text/xml' },
      buffer: Buffer.from(content.replaceAll('2026-11-27', '2026-11-28').replaceAll('WIRE-8812', 'WIRE-8822')),
    });
  const rows = [
    'Date;UTR;Narration of the payer;Withdrawal;Deposit;Balance',
    `27/11/2026;UTR0099887766;${'N'.repeat(80)};;9,99,99,99,999.99;9,99,99,99,999.99`,
    '',
  ];
  const map = async (page: Page) => {
    const file = { name: 'bank.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\r\n')) };
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await press('Map its columns')(page);
  };
  const own = { holder: 'Harbor Services Ltd', currency: 'INR', iban: 'DE89370400440532013000', bic: 'COBADEFF' };
  const { id: ownAccountId } = await addOwnAccount(world.operator, own, 'Arjun Rao');
  const order = { ownAccountId, valueDate: '2099-12-01' };
  const arjun = { id: 'operator_arjun', name: 'Arjun Rao' };
  const rejected = await createPaymentOrder(world.operator, order, arjun);
  await rejectPaymentOrder(world.operator, rejected.id, 'The bank has a holiday on that day', arjun);
  await createPaymentOrder(world.operator, { ownAccountId, valueDate: '2099-12-02' }, arjun);
  const { key } = await createOperator(world.operator, 'Priya Nair', 'operate', 'pictures');
  const lists = [
    'accounts',
    'payouts',
    'bank',
    'bank-files',
    'payment-orders',
    'adjustments',
    'refunds',
    'disputes',
    'attempts',
    'unexplained',
    'mismatches',
    'holds',
    'ledger',
    'work',
    'audit',
    'operators',
  ];
  const find = (text: string) => async (page: Page) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill(text);
    await page.waitForTimeout(1_500);
  };
  const [large, refused] = await foundIn(payout.live);
  const [attempt] = await world.sql`select id from transaction where checkout_id = ${undecided.checkoutId}`;
  const foundStates = [large, refused, undecided.checkoutId, String(attempt!.id)].map(
    (id): State => [`found-${id.split('_')[0]}`, at(`/operator/found/${id}`)],
  );
  const account = at(`/operator/accounts/${waiting}?mode=LIVE`);
  const states: State[] = [
    ['home', at('/operator')],
    ['queue', at('/operator/verification')],
    ['webhooks', at('/operator/webhooks')],
    ...lists.map((name): State => [name, at(`/operator/${name}`)]),
    ['notices', at('/operator/bank?show=all')],
    ['duplicates', at('/operator/bank?show=duplicates')],
    ['duplicate-taken-back', steps(at('/operator/bank?show=duplicates'), press(/^Take back/))],
    ['notice-new', steps(at('/operator/bank'), press(/^Record/))],
    ['bank-files-list', at('/operator/bank-files?show=files')],
    ['bank-files-lines', steps(at('/operator/bank-files?show=files'), (page) => page.locator('.linked a').click())],
    ['bank-files-balances', at(`/operator/bank-files?show=balances&day=${today}`)],
    ['bank-files-new', steps(at('/operator/bank-files'), press('Import a file'), choose, settled)],
    ['bank-files-columns', steps(at('/operator/bank-files'), press('Import a file'), map)],
    ['bank-files-assign', steps(at('/operator/bank-files'), press(/^Assign/))],
    ['bank-files-return', steps(at('/operator/bank-files'), press(/^Return/))],
    ['payment-orders-accounts', at('/operator/payment-orders?show=accounts')],
    [
      'payment-orders-payouts',
      steps(at('/operator/payment-orders'), (page) => page.locator('.linked a').first().click()),
    ],
    ['payment-orders-approve', steps(at('/operator/payment-orders'), press(/^Approve/))],
    ['payment-orders-gather', steps(at('/operator/payment-orders'), press('Gather payouts'))],
    ['rates', at(`/operator/rates?tenant=${payout.accountId}`)],
    ['account', account],
    ['account-pdf', steps(account, press('Tax card of Meera Rao'))],
    ['account-hostile', at(`/operator/accounts/${bad}?mode=TEST`)],
    ['verdict', steps(account, press(/^Activate/))],
    ['hold', steps(account, press('Put on hold'))],
    ['approve', steps(at('/operator/adjustments'), press(/^Approve/))],
    ['propose', steps(at('/operator/adjustments'), press(/^Propose/))],
    ['refund-succeed', steps(at('/operator/refunds'), press(/^Succeed/))],
    ['refund-fail', steps(at('/operator/refunds'), press(/^Fail/))],
    ['dispute-answer', steps(at('/operator/disputes'), press('Show'))],
    ['dispute-win', steps(at('/operator/disputes'), press(/^Win/))],
    ['dispute-lose', steps(at('/operator/disputes'), press(/^Lose/))],
    ['dispute-open', steps(at('/operator/disputes'), press(/^Open/))],
    ['attempt-decide', steps(at('/operator/attempts'), press(/^Decide:/))],
    ['unexplained-resolve', steps(at('/operator/unexplained'), press(/^Resolve/))],
    ['trail-payout', at(`/operator/payouts/${payout.payoutId}`)],
    ['trail-payment', at(`/operator/payments/${contested}`)],
    [
      'trail-paid',
      steps(at('/operator/bank?show=all'), (page) => page.getByRole('link', { name: 'WIRE-12500.00' }).first().click()),
    ],
    ['find', steps(at('/operator'), find('WIRE-12500.00'))],
    ['find-name', steps(at('/operator'), find('coastal'))],
    ['find-nothing', steps(at('/operator'), find('UTR0000000000'))],
    ...foundStates,
    ['settle', steps(at('/operator/payouts'), press(/^Settle/))],
    ['audit-open', steps(at('/operator/audit'), (page) => page.locator('summary').nth(1).click())],
  ];
  await camera.take(named('console', states), enter('/operator', "Operator's key", key));
  const reader = await createOperator(world.operator, 'Ola Reader', 'read', 'pictures');
  const toRead = states.filter(([name]) => /^(queue|account|payouts|bank|holds|rates|operators)$/.test(name));
  await camera.take(named('console-reader', toRead), enter('/operator', "Operator's key", reader.key));
}, 900_000);

it('the dashboard of an account with nothing, and of one with hostile names', async () => {
  const pages = ['', 'payments', 'receivables', 'checkouts', 'payouts', 'customers', 'users'];
  const empty = pages.map((name): State => [`empty-${name || 'home'}`, at(`/dashboard/${name}`)]);
  const { keys } = await createRoot(world.operator, {
    ...{ type: 'platform', edition: 2, nickname: 'Harbour Marketplace' },
    businessDetails: { legalName: 'Harbour Marketplace', type: 'company' },
  });
  await camera.take(empty, enter('/dashboard', 'API key', keys.test));
  const payee = await PayeeFixture.open(world, { legalName: `${hostile} ${'W'.repeat(60)}` });
  const partner = await payee.user.partner({ nickname: `${hostile.slice(0, 60)}${'M'.repeat(40)}` });
  const amount = '99999999999.99';
  const receivable = await payee.receivable(amount, 'R'.repeat(40));
  await payee.checkoutFixture({ amount, receivableIds: [receivable], partnerId: partner.id });
  const hostilePages = ['customers', 'receivables', 'checkouts'].flatMap((name): State[] => [
    [`hostile-${name}`, at(`/dashboard/${name}`)],
    [`hostile-${name}-object`, steps(at(`/dashboard/${name}`), first)],
  ]);
  await camera.take(hostilePages, enter('/dashboard', 'API key', payee.user.key));
}, 600_000);
