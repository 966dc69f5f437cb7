import { expect } from 'vitest';
import { currencyOf, receivableBody } from '../support/bodies.js';
import { advanceAndRun } from '../support/jobs.js';
import { type Speaker } from '../support/world.js';

export const day = 86_400;
export const money = (amount: string, currency = 'USD') => [{ amount, currency }];
export const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');

/** Creates a partner that is activated and can receive money. */
export async function activatedPartner(root: Speaker, owner: Speaker): Promise<{ id: string }> {
  const partner = await owner.partner();
  expect((await root.post(`/v1/accounts/${partner.id}/activate`)).status).toBe(200);
  await advanceAndRun(root, 5);
  return partner;
}

export async function deposited(speaker: Speaker, amount: string, more: object = {}): Promise<any> {
  const second = speaker.edition === 2 && { to: { account_id: speaker.id }, payment_method: 'upi' };
  const currency = currencyOf[speaker.edition];
  const made = await speaker.post('/v1/deposits', { amount, currency, ...second, ...more });
  expect([made.fieldNames, made.status]).toEqual([[], 200]);
  return made.body;
}

export async function completed(speaker: Speaker, amount: string, more: object = {}): Promise<any> {
  const { id } = await deposited(speaker, amount, more);
  const reply = await speaker.post(`/v1/test_helpers/deposits/${id}/complete`);
  expect([reply.status, reply.body.status]).toEqual([200, 'completed']);
  return reply.body;
}

/** Reconciles a deposit with a new receivable. */
export async function reconciled(
  speaker: Speaker,
  deposit: { id: string; currency: string },
  amount: string,
): Promise<void> {
  const { currency } = deposit;
  const made = await speaker.post('/v1/receivables', receivableBody({ amount, currency }));
  const receivables = [{ id: made.body.id, amount }];
  const reply = await speaker.post(`/v1/deposits/${deposit.id}/reconcile`, { receivables });
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
}
