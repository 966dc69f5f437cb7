import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdapterProcess } from '../support/adapter.js';
import { auditLedger } from '../support/audit.js';
import {
  cards,
  type CheckoutFixture,
  type PayeeFixture,
  payeesIn,
  submit,
  upiCode,
} from '../support/checkout-fixture.js';
import { must, useWorld } from '../support/world.js';
import { type Checked, checkAdapter, type CheckOptions } from '../../src/hosted/adapter/conformance.js';
import { useChildren } from '../support/child.js';

type Json = any;

const adapter = new AdapterProcess();
const environment: Record<string, string> = {};
// The adapter comes first: the gateway and its worker get its address as settings.
beforeAll(async () => {
  await Promise.all([adapter.start(), testAdapter.start('test')]);
  Object.assign(environment, adapter.environment, testAdapter.testEnvironment);
});
const world = useWorld({ environment });
// Another one plays the acquirer of test mode.
const testAdapter = new AdapterProcess();
afterAll(() => Promise.all([adapter.stop(), testAdapter.stop()]));
auditLedger(world);

let payee: PayeeFixture;
let partnerId: string;
beforeAll(async () => {
  await adapter.gateway(world.origin);
  payee = await payeesIn(world).open();
  partnerId = await payee.goLive();
});

/** Waits until a question has the answer that the matcher behind it asks for. */
const poll = (ask: () => Promise<Json>) => expect.poll(ask, { timeout: 300_000, interval: 100 });

const liveCheckout = () => payee.checkoutFixture({ speaker: payee.live, partnerId });
const seen = async ({ id }: CheckoutFixture): Promise<Json> => (await payee.live.get(`/v1/checkouts/${id}`)).body;
const depositOf = async ({ id }: CheckoutFixture): Promise<Json> => {
  const [row] = await world.sql`select deposit_id as id from checkout where id = ${id}`;
  return (await payee.live.get(`/v1/deposits/${row!.id}`)).body;
};
const payCard = async ({ url }: CheckoutFixture, number: string) => {
  const fields = { attempt: `${randomUUID()}-card`, token: await adapter.token(number.replaceAll(' ', '')) };
  expect((await submit(`${url}/card`, fields)).status).toBe(303);
};
const completed = (checkout: CheckoutFixture) => poll(async () => (await seen(checkout)).status).toBe('completed');
/** Makes the worker ask the acquirer now. */
const hurry = (id: string) => world.sql`update job set due = 0 where subject_id = ${id}`;

describe('an adapter as a process of its own', () => {
  it('charges a card by its token', async () => {
    const checkout = await liveCheckout();
    await payCard(checkout, cards.good);
    await completed(checkout);
    expect(await depositOf(checkout)).toMatchObject({ amount: '1000.00', payment_method: 'card', status: 'completed' });
    const [attempt] = await payee.attempts(checkout);
    expect(attempt.details.card).toMatchObject({ brand: 'visa', last4: '4242' });
  });

  it('declines a card', async () => {
    const checkout = await liveCheckout();
    await payCard(checkout, cards.declined);
    await poll(() => payee.attempts(checkout)).toMatchObject([{ status: 'failed', reason_code: 'declined' }]);
  });

  it('gives the UPI address of codes, and without one there is no code', async () => {
    const checkout = await liveCheckout();
    const [{ id }] = (await world.sql`select to_address_id as id from checkout where id = ${checkout.id}`) as [Json];
    const stored = async () => (await payee.live.get(`/v1/addresses/${id}`)).body.vpa;
    expect(await stored()).toBeNull();
    const port = Number(new URL(adapter.origin).port);
    await adapter.stop();
    const refused = await submit(`${checkout.url}/upi`, { attempt: `${randomUUID()}-upi` });
    expect(refused.status).toBe(503);
    const text = await refused.text();
    expect(text).toContain('UPI cannot be used for this payment at the moment. You have not been charged.');
    expect(text).not.toContain('upi://pay');
    expect([await payee.attempts(checkout), await stored()]).toEqual([[], null]);
    await adapter.start('live', port);
    await adapter.gateway(world.origin);
    await upiCode(payee, checkout);
    const page = await (await fetch(checkout.url)).text();
    const vpa = `${id.slice(-12)}@acquirer`;
    expect(page).toContain(`"UPI code: pay ₹1,000.00 to ${vpa}"`);
    expect(page).toContain(`pa&#61;${encodeURIComponent(vpa)}&#38;`);
    expect(await stored()).toEqual({ id: vpa, upi: { onetime: 'enabled', recurring: 'disabled' } });
    // The next checkout of the customer has the same one.
    await upiCode(payee, await liveCheckout());
    await poll(async () =>
      (await must(payee.live.get(`/v1/events?object_id=${id}`))).data.map(({ type }: Json) => type),
    ).toEqual(['address.updated', 'address.created']);
  });

  it('reports a code that a payer has paid, with what was really taken', async () => {
    const checkout = await liveCheckout();
    const id = await upiCode(payee, checkout);
    await adapter.decide(id, { state: 'paid', amount: '750.00', currency: 'INR', vpa: 'asha@bank' });
    await completed(checkout);
    expect(await depositOf(checkout)).toMatchObject({ amount: '750.00', payment_method: 'upi' });
  });

  it('is asked for what it has not reported', async () => {
    const checkout = await liveCheckout();
    await payCard(checkout, cards.pending);
    const [{ id }] = (await payee.attempts(checkout)) as [Json];
    await adapter.gateway('http://127.0.0.1:9');
    await adapter.decide(id, { state: 'paid' });
    await hurry(id);
    await completed(checkout);
    await adapter.gateway(world.origin);
  });

  it('gets the second payment of a checkout back to its payer', async () => {
    const checkout = await liveCheckout();
    const [one, two] = [await upiCode(payee, checkout), await upiCode(payee, checkout)];
    const paid = { state: 'paid', amount: '1000.00', currency: 'INR', vpa: 'asha@bank' };
    await adapter.decide(one, paid);
    await completed(checkout);
    await adapter.decide(two, paid);
    const refunds = async (): Promise<Json[]> =>
      (await payee.live.get('/v1/refunds')).body.data.filter((each: Json) => each.checkout_id === checkout.id);
    await poll(refunds).toMatchObject([{ amount: '1000.00', status: 'pending', from_pending: '0.00' }]);
    const [{ id }] = (await refunds()) as [Json];
    await poll(() => adapter.look(`refunds/${id}`)).toEqual({ status: 'pending' });
    await adapter.decideRefund(id, { state: 'paid', reference: 'ARN 9' });
    await poll(refunds).toMatchObject([{ status: 'succeeded', bank_reference: 'ARN 9' }]);
  });

  it('reports a dispute, and how it was decided', async () => {
    const checkout = await liveCheckout();
    await payCard(checkout, cards.good);
    await completed(checkout);
    const [{ id: payment }] = (await payee.attempts(checkout)) as [Json];
    const { id: depositId } = await depositOf(checkout);
    const disputes = async (): Promise<Json[]> =>
      (await payee.live.get('/v1/disputes')).body.data.filter((each: Json) => each.deposit_id === depositId);
    const contested = { payment, amount: '300.00', currency: 'INR', reason: 'charged twice' };
    await adapter.contest('D 1', { ...contested, deadline: '2050-01-01T00:00:00Z' });
    await poll(disputes).toMatchObject([
      {
        ...{ status: 'needs_response', amount: '300.00', reason_code: 'duplicate', acquirer_reason: 'charged twice' },
        ...{ reference: 'D 1', respond_by: 2_524_608_000 },
      },
    ]);
    await must(payee.live.post(`/v1/disputes/${(await disputes())[0].id}/respond`, { text: 'Two orders.' }));
    await adapter.contest('D 1', { state: 'won' });
    await poll(disputes).toMatchObject([{ status: 'won' }]);
  });

  it('carries refunds out, also after it was away', async () => {
    const checkout = await liveCheckout();
    await payCard(checkout, cards.good);
    await completed(checkout);
    const { id: deposit_id } = await depositOf(checkout);
    const refunded = async (amount: string) => (await must(payee.live.post('/v1/refunds', { deposit_id, amount }))).id;
    const look = async (id: string) => (await payee.live.get(`/v1/refunds/${id}`)).body;
    const submitted = (id: string) => poll(() => adapter.look(`refunds/${id}`)).toEqual({ status: 'pending' });
    const [one, other] = [await refunded('100.00'), await refunded('50.00')];
    await submitted(one);
    await adapter.decideRefund(one, { state: 'paid', reference: 'ARN 7' });
    await poll(() => look(one)).toMatchObject({ status: 'succeeded', bank_reference: 'ARN 7' });
    // What it does not report is asked for.
    await submitted(other);
    await adapter.gateway('http://127.0.0.1:9');
    await adapter.decideRefund(other, { state: 'refused', refusal: 'Card closed' });
    await hurry(other);
    await poll(() => look(other)).toMatchObject({ status: 'failed', failure_reason: 'Card closed' });
    // While it is away, the refund waits; it has lost what it knew, so it cannot refund.
    const port = Number(new URL(adapter.origin).port);
    await adapter.stop();
    const late = await refunded('25.00');
    await poll(async () =>
      Number((await world.sql`select attempts from job where subject_id = ${late}`)[0]!.attempts),
    ).toBeGreaterThan(0);
    expect((await look(late)).status).toBe('pending');
    await adapter.start('live', port);
    await hurry(late);
    await poll(async () => (await look(late)).status).toBe('failed');
  });
});

describe('an adapter in test mode', () => {
  it('takes the place of the sandbox, for payments and for refunds', async () => {
    await testAdapter.gateway(world.origin);
    const checkout = await payee.checkoutFixture();
    // Its card fields are framed in the page.
    const page = await fetch(`${world.origin}${checkout.path}`);
    expect(page.headers.get('content-security-policy')).toContain(`; frame-src ${testAdapter.origin};`);
    const [one, two] = [await upiCode(payee, checkout), await upiCode(payee, checkout)];
    const paid = { state: 'paid', amount: '1000.00', currency: 'INR', vpa: 'asha@bank' };
    await testAdapter.decide(one, paid);
    await poll(async () => (await payee.user.get(`/v1/checkouts/${checkout.id}`)).body.status).toBe('completed');
    const refunds = async (): Promise<Json[]> =>
      (await payee.user.get('/v1/refunds')).body.data.filter((each: Json) => each.checkout_id === checkout.id);
    const submitted = (id: string) => poll(() => testAdapter.look(`refunds/${id}`)).toEqual({ status: 'pending' });
    // The second payment goes back through the adapter.
    await testAdapter.decide(two, paid);
    await poll(refunds).toMatchObject([{ amount: '1000.00', status: 'pending' }]);
    const [{ id: second }] = (await refunds()) as [Json];
    await submitted(second);
    const given = { checkout_id: checkout.id, amount: '100.00' };
    const { id } = await must(payee.user.post('/v1/refunds', given));
    await submitted(id);
    // The sandbox completes none of them: no job of its own waits.
    const jobs = await world.sql`select kind from job where subject_id in (${id}, ${second})`;
    expect(jobs).toEqual([{ kind: 'send_refund' }, { kind: 'send_refund' }]);
    await testAdapter.decideRefund(second, { state: 'paid', reference: 'ARN 1' });
    await testAdapter.decideRefund(id, { state: 'refused', refusal: 'Account closed' });
    await poll(async () => (await refunds()).map(({ id: of, status }) => [of, status])).toEqual([
      [id, 'failed'],
      [second, 'succeeded'],
    ]);
  });
});

describe('tidegate acquirer check', () => {
  const children = useChildren();
  const check = async (...args: string[]) => {
    const { secret } = adapter;
    const done = await children.quickCommand({ ACQUIRER_SECRET: secret }, 'acquirer', 'check', ...args, '--json');
    return { code: done.code, checks: JSON.parse(done.out).checks as Checked[] };
  };
  const failing = (checks: Checked[]) => checks.filter(({ result }) => result === 'failed').map((each) => each.check);

  it('passes the example, with its reports', async () => {
    const listen = await freePort();
    await adapter.gateway(`http://127.0.0.1:${listen}`);
    const token = await adapter.token('4242424242424242');
    const { code, checks } = await check(adapter.origin, '--token', token, '--listen', String(listen));
    await adapter.gateway(world.origin);
    expect([code, checks.filter(({ result }) => result !== 'passed')]).toEqual([0, []]);
    expect(checks).toHaveLength(12);
  });

  it('charges nothing without a token', async () => {
    const { code, checks } = await check(adapter.origin);
    expect([code, failing(checks)]).toEqual([0, []]);
    expect(checks.filter(({ result }) => result === 'skipped')).toHaveLength(7);
  });

  it('fails an adapter that knows everything, and anybody', async () => {
    const server = await answering(() => ({ status: 'succeeded', amount: '2.00', currency: 'INR' }));
    const { code, checks } = await check(server.url, '--token', 'tok_00000000');
    server.close();
    expect(code).toBe(1);
    expect(failing(checks)).toEqual([
      'refuses another secret, and does nothing then',
      'does not know an attempt that was never submitted',
      'does not know a refund that was never submitted',
      'does not know a token that it never made',
      'knows the card behind a token',
      'says the same UPI address of a payee each time',
      'says what it took',
      'refunds more than it took to nobody',
    ]);
  });

  it.each<[string, object, string]>([
    ['a success that changes', { broken: 'changes' }, 'takes the same attempt again as one'],
    ['a refund that is gone', { broken: 'forgets' }, 'takes the same refund again as one'],
    ['another secret', { secret: `whsec_${Buffer.alloc(32, 9).toString('base64')}` }, 'takes an attempt'],
    ['an address where nothing is', { url: 'http://127.0.0.1:9' }, 'takes an attempt'],
  ])('says what is wrong with %s', async (_, { broken, ...more }: { broken?: string }, failed) => {
    let asked = 0;
    const server = await answering((method, path, isGateway) => {
      if (!isGateway) return 401;
      if (path.includes('unknown') || path.includes('other')) return 404;
      if (path.startsWith('/refunds')) return method === 'PUT' ? { status: 'pending' } : 404;
      const changed = broken === 'changes' && method === 'PUT' && ++asked > 1;
      if (changed) return { status: 'failed', reason_code: 'declined' };
      return { status: 'succeeded', amount: '1.00', currency: 'INR' };
    }, adapter.secret);
    const options: CheckOptions = {
      ...{ url: server.url, secret: adapter.secret, token: 'tok_00000000', amount: '1.00', currency: 'INR' },
      ...{ seconds: 1, ...more },
    };
    const checks = await checkAdapter(options);
    server.close();
    expect(failing(checks)).toContain(failed);
  });
});

/** A port of this machine that nothing uses. */
async function freePort(): Promise<number> {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A server that answers all requests as a function says: with a status or a body. */
async function answering(answer: (method: string, path: string, isGateway: boolean) => object | number, secret = '') {
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      const body = answer(request.method!, request.url!, request.headers.authorization === `Bearer ${secret}`);
      const status = typeof body === 'number' ? body : 200;
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(status === 200 ? body : {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
