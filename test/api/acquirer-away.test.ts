import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { config } from '../../src/config/config.js';
import type { Acquirers } from '../../src/hosted/acquirer.js';
import { acquirersOf } from '../../src/hosted/adapter/client.js';
import { payerScope } from '../../src/hosted/session.js';
import { pollStatus, sendRefunds } from '../../src/hosted/status-poll.js';
import { refund } from '../../src/resources/refund/table.js';
import { transaction } from '../../src/resources/transaction/table.js';
import { auditLedger } from '../support/audit.js';
import { type CheckoutFixture, type PayeeFixture, payeesIn, submitAccepted } from '../support/checkout-fixture.js';
import { advanceClock, runAllJobs } from '../support/jobs.js';
import { must, useWorld } from '../support/world.js';
import { secret, StandIn } from './acquirer-fixture.js';

const world = useWorld({ worker: false });
const acquirer = new StandIn();
let acquirers: Acquirers;
let payee: PayeeFixture;
let origin: string;

auditLedger(world);
beforeAll(async () => {
  const [TEST_ACQUIRER_URL, TEST_ACQUIRER_FIELDS_URL] = [await acquirer.start(), 'https://fields.example'];
  const settings = { PORT: '0', TEST_ACQUIRER_URL, TEST_ACQUIRER_SECRET: secret, TEST_ACQUIRER_FIELDS_URL };
  acquirers = acquirersOf(config({ serves: true }, settings));
  payee = await payeesIn(world).open();
  origin = await world.another({ acquirers });
});
afterAll(() => acquirer.stop());

/** A checkout whose payer has sent a card, with the id of the attempt. */
async function attempted(): Promise<{ checkout: CheckoutFixture; id: string }> {
  const checkout = await payee.checkoutFixture();
  await submitAccepted(`${origin}${checkout.path}/card`, { attempt: `${randomUUID()}-card`, token: 'tok_00000000' });
  const [attempt] = await payee.attempts(checkout);
  expect(attempt).toMatchObject({ status: 'processing', reason_code: null });
  return { checkout, id: attempt.id };
}

/** What the worker does of an hour: it asks about attempts, submits refunds, and runs the due jobs. */
async function hour(): Promise<{ asked: number; faults: number }> {
  await advanceClock(payee.user, 3_600);
  const { database } = world;
  const place = [payee.tenantId, false, null] as const;
  const attempts = await database.write('claim_status_polls', ...place, { limit: 50 }, transaction);
  const args = { limit: 50, duplicates: true, submits: true };
  const refunds = await database.write('claim_refunds', ...place, args, refund);
  const scope = payerScope(database, { tenantId: payee.tenantId, livemode: false });
  let faults = 0;
  await pollStatus(scope, attempts, () => faults++, acquirers);
  await sendRefunds(scope, refunds, () => faults++, acquirers);
  await runAllJobs(payee.user);
  return { asked: attempts.length + refunds.length, faults };
}

it('asks about each attempt and refund in every hour of a day that the acquirer is away, and loses none', async () => {
  const paid = await attempted();
  const taken = { status: 'succeeded', amount: '1000.00', currency: 'INR' };
  acquirer.attempts.set(paid.id, taken);
  expect(await hour()).toEqual({ asked: 1, faults: 0 });
  const [deposit] = (await must(payee.user.get('/v1/deposits'))).data;
  const begun = [await attempted(), await attempted(), await attempted()];
  const sent = await must(payee.user.at(origin).post('/v1/refunds', { deposit_id: deposit.id, amount: '100.00' }));
  const ids = [...begun.map(({ id }) => id), sent.id as string];

  acquirer.away = 'hangs up';
  acquirer.asked.clear();
  // On the day after an attempt has expired, which it does in the first of these hours.
  const hours = 23;
  for (let n = 1; n <= hours; n++) {
    if (n === 12) acquirer.away = 'refuses';
    expect([n, await hour()]).toEqual([n, { asked: ids.length, faults: ids.length }]);
  }
  expect(Object.fromEntries(acquirer.asked)).toEqual(Object.fromEntries(ids.map((id) => [id, hours])));
  for (const { checkout } of begun)
    expect(await payee.attempts(checkout)).toMatchObject([{ status: 'failed', reason_code: 'expired' }]);
  expect(await must(payee.user.get(`/v1/refunds/${sent.id}`))).toMatchObject({ status: 'pending' });

  // Meanwhile it has taken the money of two, declined one, and sent the refund.
  const [one, other, declined] = begun as [(typeof begun)[0], (typeof begun)[0], (typeof begun)[0]];
  for (const { id } of [one, other]) acquirer.attempts.set(id, taken);
  acquirer.attempts.set(declined.id, { status: 'failed', reason_code: 'declined' });
  acquirer.refunds.set(sent.id, { status: 'succeeded', reference: 'ARN 1' });
  acquirer.away = undefined;
  expect(await hour()).toEqual({ asked: ids.length, faults: 0 });
  for (const { checkout } of [one, other])
    expect(await payee.attempts(checkout)).toMatchObject([{ status: 'succeeded', deposit_id: expect.any(String) }]);
  expect(await payee.attempts(declined.checkout)).toMatchObject([{ status: 'failed', deposit_id: null }]);
  expect(await must(payee.user.get(`/v1/refunds/${sent.id}`))).toMatchObject({ status: 'succeeded' });
  expect((await must(payee.user.get('/v1/balance'))).available).toMatchObject([{ amount: '2900.00', currency: 'INR' }]);
  // Nothing is open any more.
  expect(await hour()).toEqual({ asked: 0, faults: 0 });
});
