import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOperator } from '../../src/operator/access/operators.js';
import { type Receiver, banksIn } from '../api/bank-fixture.js';
import { type Json, mutation, operatorIn } from '../api/operator-fixture.js';
import { AdapterProcess } from '../support/adapter.js';
import { auditLedger } from '../support/audit.js';
import { camt, type Statement, today } from '../support/bank-files.js';
import { receivableBody } from '../support/bodies.js';
import { booksOf, booksOfTheStory } from '../support/books.js';
import { cards, type PayeeFixture, payeesIn, submit } from '../support/checkout-fixture.js';
import { type Gateway, settingsOf, until, useChildren } from '../support/child.js';
import { must, nickname, payoutAddressBody, type Speaker, useWorld } from '../support/world.js';

/*
 * The story of test/process/live-story.test.ts, told to a gateway that is killed in each of its steps: in two of three
 * as soon as a request has reached it, in the others as soon as something of the step is stored. The next gateway gets
 * the step again, as a client repeats a request with its key, and as a person looks and goes on.
 */

const adapter = new AdapterProcess();
// The gateway beside it has no worker: all work is that of the gateway that is killed.
const world = useWorld({ worker: false });
const children = useChildren();
const { receiver } = banksIn(world);
auditLedger(world);

let environment: Record<string, string>;
let gateway: Gateway;
/** Is told of each request that the balancer has passed to the gateway. */
let onPassed = () => {};
/** The balancer before the gateways, which ends TLS: it is what clients and the adapter know. */
const balancer = http.createServer((request, response) => {
  const headers = { ...request.headers, 'x-forwarded-proto': 'https' };
  const asked = http.request(`${gateway.origin}${request.url}`, { method: request.method, headers }, (answered) => {
    response.writeHead(answered.statusCode!, answered.headers);
    answered.pipe(response);
    answered.on('error', () => response.destroy());
  });
  asked.on('error', () => response.destroy());
  asked.on('finish', () => onPassed());
  request.pipe(asked);
});
let origin = '';
const start = async () => {
  gateway = await children.gateway(environment);
};
/** The keys of two operators. */
let [ann, ben] = ['', ''];
beforeAll(async () => {
  await adapter.start();
  const operators = [nickname(), nickname()].map((name) => createOperator(world.operator, name, 'operate', 'a test'));
  [ann, ben] = (await Promise.all(operators)).map(({ key }) => key) as [string, string];
  environment = {
    ...(await settingsOf(world)),
    ...adapter.environment,
    TRUSTED_PROXY: '127.0.0.1',
    LOG_LEVEL: 'error',
  };
  await start();
  balancer.listen(0, '127.0.0.1');
  await once(balancer, 'listening');
  origin = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
  await adapter.gateway(origin);
});
afterAll(async () => {
  balancer.close().closeAllConnections();
  await adapter.stop();
});

/** How many rows tell that something has happened. */
const stored = async () =>
  (
    await world.sql`select (select count(*) from event)::int + (select count(*) from bank_line)::int
      + (select count(*) from operator_action)::int + (select count(*) from payment_order)::int
      + (select count(*) from payout where order_id is not null)::int as n`
  )[0]!.n as number;

let steps = 0;
/** How many gateways were killed with a request that they had not answered. */
let kills = 0;
/** Does a step while the gateway is killed, and again with the next one. */
async function killed<T>(step: () => Promise<T>): Promise<T> {
  const before = await stored();
  let over = false;
  const passed = new Promise<void>((resolve) => (onPassed = resolve));
  const attempt = step().then(
    () => (over = true),
    () => (over = true),
  );
  // A step that changes nothing any more ends by itself.
  if (steps++ % 3 === 2) await until(async () => over || (await stored()) > before, 1);
  else {
    await Promise.race([passed, attempt]);
    if (!over) kills += 1;
  }
  gateway.signal('SIGKILL');
  await gateway.ended;
  await attempt;
  await start();
  return step();
}

const operator = (key: string) => operatorIn({ ...world, origin }).at(key);
async function ask(key: string, query: string, variables: object = {}): Promise<Json> {
  const { status, body } = await operator(key).ask(query, variables);
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.data;
}

/** Makes the worker do now what is due later. */
const hurry = (kind: string) => world.sql`update job set due = 0 where kind = ${kind} and livemode`;
/** Waits until a question of the present gateway has an answer; an outage of it is none. */
async function answer<T>(question: () => Promise<T>, right: (answer: T) => boolean): Promise<T> {
  let given: T;
  await until(async () => right((given = await question())), 100);
  return given!;
}

const importing = mutation('importBankFile', 'ImportBankFileInput', 'import { file { id } }');
const booking = mutation('bookBankFile', 'BookBankFileInput', 'booking { left }');
const linesOf = async (fileId: string): Promise<Json[]> =>
  (
    await ask(
      ann,
      `query ($fileId: ID!) { bankLines(fileId: $fileId) { nodes { id state reason depositId payoutId } } }`,
      { fileId },
    )
  ).bankLines.nodes;
/** A message of a bank, imported and booked; its lines as they are then. */
async function fromBank(statement: Statement, message: '053' | '054' = '054'): Promise<Json[]> {
  const content = Buffer.from(camt([statement], { message })).toString('base64');
  const { importBankFile: made } = await ask(ann, importing, { input: { name: 'bank.xml', content } });
  await ask(ann, booking, { input: { id: made.import.file.id } });
  return linesOf(made.import.file.id);
}

let own: string;
const orders = async (): Promise<Json[]> =>
  (await ask(ann, '{ paymentOrders { nodes { id status payouts total valueDate } } }')).paymentOrders.nodes;
const creating = mutation('createPaymentOrder', 'CreatePaymentOrderInput', 'order { id }');
/** An order of all payouts that wait, unless a person sees that it is there already. */
async function ordered(valueDate: string): Promise<string> {
  const known = (await orders()).find((order) => order.status === 'PROPOSED' && order.valueDate === valueDate);
  if (known) return known.id;
  return (await ask(ann, creating, { input: { ownAccountId: own, valueDate } })).createPaymentOrder.order.id;
}
/** Moves an order on, unless it is there already. */
async function moved(key: string, id: string, verb: 'approve' | 'send', status: string): Promise<void> {
  const order = (await orders()).find((each) => each.id === id);
  if (order.status === status) return;
  const name = `${verb}PaymentOrder`;
  await ask(key, mutation(name, `${verb === 'send' ? 'Send' : 'Approve'}PaymentOrderInput`, 'order { status }'), {
    input: { id },
  });
}
/** The payments in the order's file: their references, with their amounts. */
async function paymentsOf(id: string): Promise<{ endToEndId: string; amount: string }[]> {
  const response = await fetch(`${origin}/operator/payment-orders/${id}/pain.001`, {
    headers: { authorization: `Bearer ${ann}` },
  });
  expect(response.status).toBe(200);
  const file = await response.text();
  return [...file.matchAll(/<EndToEndId>(\w+)<\/EndToEndId>.*?<InstdAmt Ccy="INR">([\d.]+)</g)].map(
    ([, endToEndId, amount]) => ({ endToEndId: endToEndId!, amount: amount! }),
  );
}

interface Sides {
  credit?: { amount: string; currency: string };
  debit?: { amount: string; currency: string };
}
/** What one operator proposes and another one approves, each unless it is there already. */
async function proposed(accountId: string, reason: string, sides: Sides): Promise<Json> {
  const { adjustments } = await ask(ann, '{ adjustments { nodes { id reason status } } }');
  const known = adjustments.nodes.find((each: Json) => each.reason === reason);
  if (known) return known;
  const propose = mutation('proposeAdjustment', 'ProposeAdjustmentInput', 'adjustment { id reason status }');
  const input = { accountId, mode: 'LIVE', reason, ...sides };
  return (await ask(ann, propose, { input })).proposeAdjustment.adjustment;
}
async function approved(accountId: string, reason: string): Promise<void> {
  const { id, status } = await proposed(accountId, reason, {});
  if (status === 'APPROVED') return;
  await ask(ben, mutation('approveAdjustment', 'ApproveAdjustmentInput', 'adjustment { status }'), { input: { id } });
}
const assigning = mutation('assignBankLine', 'AssignBankLineInput', 'line { state }');
async function assigned(line: Json, to: Receiver): Promise<void> {
  if ((await linesOf(line.fileId)).find(({ id }) => id === line.id).state === 'BOOKED') return;
  await ask(ann, assigning, { input: { id: line.id, addressId: to.addressId, originalReference: 'USD-1' } });
}

const there = (speaker: Speaker) => speaker.at(origin);
const keyed = (speaker: Speaker, key: string) => there(speaker).with({ 'idempotency-key': key });
const availableOf = async (live: Speaker): Promise<string[]> =>
  (await must(there(live).get('/v1/balance'))).available.map((m: Json) => `${m.amount} ${m.currency}`).sort();
const lastPayout = async (live: Speaker): Promise<Json> => (await must(there(live).get('/v1/payouts'))).data[0];

it('ends with every figure to the cent, whichever gateway is killed', { timeout: 900_000 }, async () => {
  const account = '778000551';
  const to = await receiver(1, account);
  const { live } = to;
  const dollars = (more: object) => ({ account: 'POOL-USD', entries: [{ payee: account, ...more }] }) as Statement;
  const rupees = (more: object) =>
    ({ account: 'POOL-INR', currency: 'INR', entries: [{ currency: 'INR', ...more }] }) as Statement;

  const ownAccount = { holder: 'Tidegate Services', currency: 'INR', number: 'POOL-INR', ifsc: 'HDFC0000123' };
  const adding = mutation('addOwnAccount', 'AddOwnAccountInput', 'ownAccount { id }');
  own = (await ask(ann, adding, { input: ownAccount })).addOwnAccount.ownAccount.id;
  const rate = { accountId: to.row.id, source: 'USD', target: 'INR', rate: '83.25' };
  await killed(() => ask(ann, mutation('setRate', 'SetRateInput', 'rate { rate }'), { input: rate }));

  // Received by a file of the bank, and reconciled.
  const received = dollars({ amount: '1000.00', reference: 'USD-1', payer: 'Northwind', text: 'INV-1' });
  const [line] = await killed(() => fromBank(received));
  expect(line.state).toBe('BOOKED');
  // Who repeats a request sends the same body again.
  const [billed, bank] = [receivableBody({ amount: '1000.00' }), payoutAddressBody(live.id)];
  const invoice = await killed(() => must(keyed(live, 'an invoice').post('/v1/receivables', billed)));
  const receivables = [{ id: invoice.id, amount: '1000.00' }];
  await killed(() => must(keyed(live, 'its money').post(`/v1/deposits/${line.depositId}/reconcile`, { receivables })));
  expect(await availableOf(live)).toEqual(['1000.00 USD']);

  // Paid out by an order for the bank, whose answer completes it, and returned the next day.
  await killed(() => must(keyed(live, 'an address').post('/v1/addresses', bank)));
  const paidOut = async (amount: string) => {
    await hurry('pay_out');
    await answer(
      () => lastPayout(live),
      (payout) => payout?.status === 'processing' && payout.amount === amount,
    );
  };
  await killed(() => paidOut('83250.00'));
  const first = await killed(() => ordered('2099-12-01'));
  await killed(() => moved(ben, first, 'approve', 'APPROVED'));
  await killed(() => moved(ann, first, 'send', 'SENT'));
  const [payment, ...others] = await killed(() => paymentsOf(first));
  expect([payment!.amount, others]).toEqual(['83250.00', []]);
  const completed = rupees({ ...payment, reference: 'UTR-1', direction: 'DBIT' });
  expect(await killed(() => fromBank(completed))).toMatchObject([{ state: 'BOOKED' }]);
  expect(await lastPayout(live)).toMatchObject({ status: 'completed', bank_reference: 'UTR-1' });
  const returned = rupees({ ...payment, reference: 'UTR-2', isReversal: true, returnReason: 'AC04' });
  expect(await killed(() => fromBank(returned))).toMatchObject([{ state: 'BOOKED' }]);
  expect(await lastPayout(live)).toMatchObject({ status: 'returned', reason_code: 'account_closed' });

  // A recall is owed, a set-off pays it, and the rest is paid again.
  const recall = dollars({ amount: '10.00', reference: 'RC-1', direction: 'DBIT' });
  const [owed] = await killed(() => fromBank(recall));
  const fileOf = async (reference: string) =>
    (await world.sql`select file_id from bank_line where reference = ${reference}`)[0]!.file_id as string;
  const recalled = { ...owed, fileId: await fileOf('RC-1') };
  await killed(() => assigned(recalled, to));
  expect(await availableOf(live)).toEqual(['-10.00 USD', '83250.00 INR']);
  const setOff = {
    credit: { amount: '10.00', currency: 'USD' },
    debit: { amount: '832.50', currency: 'INR' },
  };
  await killed(() => proposed(to.row.id, 'Set-off of a recall', setOff));
  await killed(() => approved(to.row.id, 'Set-off of a recall'));
  expect(await availableOf(live)).toEqual(['0.00 USD', '82417.50 INR']);
  await killed(() => paidOut('82417.50'));
  const second = await killed(() => ordered('2099-12-02'));
  await killed(() => moved(ben, second, 'approve', 'APPROVED'));
  await killed(() => moved(ann, second, 'send', 'SENT'));
  const [again] = await paymentsOf(second);
  const answered = rupees({ ...again, reference: 'UTR-3', direction: 'DBIT' });
  await killed(() => fromBank(answered));
  expect(await lastPayout(live)).toMatchObject({ status: 'completed', amount: '82417.50' });

  // A second recall is written off.
  const [lost] = await killed(() => fromBank(dollars({ amount: '2.50', reference: 'RC-2', direction: 'DBIT' })));
  const unpaid = { ...lost, fileId: await fileOf('RC-2') };
  await killed(() => assigned(unpaid, to));
  await killed(() => proposed(to.row.id, 'Write-off', { credit: { amount: '2.50', currency: 'USD' } }));
  await killed(() => approved(to.row.id, 'Write-off'));
  expect(await availableOf(live)).toEqual(['0.00 INR', '0.00 USD']);
  for (const [pool, currency, closing] of [
    ['POOL-USD', 'USD', '987.50'],
    ['POOL-INR', 'INR', '-82417.50'],
  ] as const)
    await killed(() => fromBank({ account: pool, currency, opening: '0.00', closing, entries: [] }, '053'));
  const { bankReport } = await ask(ann, `{ bankReport(day: "${today}") { statements { account difference } } }`);
  expect(bankReport.statements.map((row: Json) => [row.account, row.difference])).toEqual([
    ['POOLINR', '0.00'],
    ['POOLUSD', '0.00'],
  ]);

  // A merchant is paid by a card, refunds a part, and loses a dispute.
  const payee: PayeeFixture = await payeesIn(world).open();
  const partnerId = await payee.goLive();
  const checkout = await payee.checkoutFixture({ speaker: there(payee.live), partnerId });
  const page = `${origin}${new URL(checkout.url).pathname}`;
  const fields = { attempt: `${randomUUID()}-card`, token: await adapter.token(cards.good.replaceAll(' ', '')) };
  await killed(async () => {
    await submit(`${page}/card`, fields);
    await answer(
      () => must(there(payee.live).get(`/v1/checkouts/${checkout.id}`)),
      ({ status }) => status === 'completed',
    );
  });
  const [deposit] = (await must(there(payee.live).get('/v1/deposits'))).data;
  expect(await availableOf(payee.live)).toEqual(['1000.00 INR']);
  const refund = await killed(() =>
    must(keyed(payee.live, 'a refund').post('/v1/refunds', { deposit_id: deposit.id, amount: '100.00' })),
  );
  await answer(
    () => adapter.look(`refunds/${refund.id}`),
    (state) => (state as Json).status === 'pending',
  );
  await killed(async () => {
    await adapter.decideRefund(refund.id, { state: 'paid', reference: 'ARN 1' });
    await answer(
      () => must(there(payee.live).get(`/v1/refunds/${refund.id}`)),
      ({ status }) => status === 'succeeded',
    );
  });
  const [{ id: attempt }] = (await payee.attempts(checkout)) as [Json];
  const contested = { payment: attempt, amount: '300.00', currency: 'INR', reason: 'card stolen' };
  const disputes = async (): Promise<Json[]> => (await must(there(payee.live).get('/v1/disputes'))).data;
  await killed(async () => {
    await adapter.contest('CB-1', contested);
    await answer(disputes, (list) => list.length === 1);
  });
  await killed(async () => {
    await adapter.contest('CB-1', { state: 'lost' });
    await answer(disputes, ([dispute]) => dispute.status === 'lost');
  });
  expect(await availableOf(payee.live)).toEqual(['600.00 INR']);
  const [bill] = (await must(there(payee.live).get('/v1/receivables'))).data;
  expect(bill).toMatchObject({ amount_locked: '600.00' });

  expect(kills).toBeGreaterThanOrEqual(20);
  // Nothing was booked, paid or taken twice.
  const [counts] = await world.sql`select (select count(*) from deposit)::int as deposits,
    (select count(*) from payout)::int as payouts, (select count(*) from refund)::int as refunds,
    (select count(*) from dispute)::int as disputes, (select count(*) from adjustment)::int as adjustments`;
  // Every compartment of all accounts, and the world outside, as after the story that no gateway is killed in.
  expect(await booksOf(world)).toEqual(booksOfTheStory);
  expect(counts).toEqual({ deposits: 5, payouts: 2, refunds: 1, disputes: 1, adjustments: 2 });
});
