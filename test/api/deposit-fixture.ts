import { expect } from 'vitest';
import { currencyOf, inputOf, receivableBody } from '../support/bodies.js';
import { advanceAndRun } from '../support/jobs.js';
import { inputTypeOf, type Transport, type Reply, type Speaker } from '../support/world.js';

export const verbs = ['process', 'complete', 'fail', 'cancel', 'reverse', 'dispute'] as const;
export type Verb = (typeof verbs)[number];

export const money = (amount: string, currency = 'USD') => [{ amount, currency }];

export interface Answer extends Reply {
  /** The deposit of a response, in the format of /v1. */
  deposit: any;
}

/** One operation through one API, with a result that can be compared between the APIs. */
export async function ask(
  speaker: Speaker,
  transport: Transport,
  [path, mutation, type]: [path: string, mutation: string, type: string],
  body: object,
  id?: string,
): Promise<Answer> {
  if (transport === 'REST') {
    const reply = await speaker.post(path, body);
    return { ...reply, deposit: reply.body };
  }
  const reply = await speaker.graph(
    `mutation ($input: ${type}!) { ${mutation}(input: $input) { deposit { id amount status reasonCode } } }`,
    { input: { ...inputOf(body), ...(id && { id }) } },
  );
  const status = reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status;
  const made = reply.body.data?.[mutation]?.deposit;
  if (!made) return { ...reply, status, deposit: undefined };
  const deposit = (await speaker.get(`/v1/deposits/${made.id}`)).body;
  // The mutation's response must already be the same as a later query's.
  expect([made.amount, made.status, made.reasonCode]).toEqual([
    deposit.amount,
    deposit.status.toUpperCase(),
    deposit.reason_code?.toUpperCase() ?? null,
  ]);
  return { ...reply, status, deposit };
}

export const reconcile = (
  speaker: Speaker,
  transport: Transport,
  id: string,
  receivables: [receivable: string, amount: string][],
) =>
  ask(
    speaker,
    transport,
    [`/v1/deposits/${id}/reconcile`, 'reconcileDeposit', 'ReconcileDepositInput'],
    { receivables: receivables.map(([receivable, amount]) => ({ id: receivable, amount })) },
    id,
  );

/** What the tests read of a deposit that a mutation of the graph has reconciled. */
export const reconciledFields = 'deposit { id status amount pendingRest receivables { id } }';
/** Reconciles several deposits in one call of the graph. */
export const reconcileAll = (me: Speaker, deposits: object[], key?: string): Promise<Reply> =>
  me.graph(
    `mutation ($input: ReconcileDepositsInput!) {
      reconcileDeposits(input: $input) { results { ${reconciledFields} problems { code message path } } } }`,
    { input: { deposits } },
    key === undefined ? {} : { 'idempotency-key': key },
  );

export const move = (speaker: Speaker, transport: Transport, id: string, verb: Verb, body: object = {}) =>
  ask(
    speaker,
    transport,
    [`/v1/test_helpers/deposits/${id}/${verb}`, `${verb}TestDeposit`, inputTypeOf(`${verb}TestDeposit`)],
    body,
    id,
  );

export async function activatedPartner(root: Speaker, owner: Speaker): Promise<{ id: string }> {
  const partner = await owner.partner();
  expect((await root.post(`/v1/accounts/${partner.id}/activate`)).status).toBe(200);
  await advanceAndRun(root, 61);
  return partner;
}

export const addressesOf = async (speaker: Speaker, id: string, category: string): Promise<any[]> =>
  (await speaker.get(`/v1/addresses?linked_id=${id}&category=${category}`)).body.data;

export async function receivableOf(speaker: Speaker, amount: string, more: object = {}): Promise<any> {
  const currency = currencyOf[speaker.edition];
  const reply = await speaker.post('/v1/receivables', receivableBody({ amount, currency }, more));
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
  return reply.body;
}

/** A valid body of a deposit in either edition, with defaults for everything except the amount. */
export const bodyOf = (speaker: Speaker, amount = '10.00', more: object = {}) => ({
  amount,
  currency: currencyOf[speaker.edition],
  ...(speaker.edition === 2 && { to: { account_id: speaker.id }, payment_method: 'upi' }),
  ...more,
});

export async function deposited(speaker: Speaker, amount = '10.00', more: object = {}): Promise<any> {
  const made = await speaker.post('/v1/deposits', bodyOf(speaker, amount, more));
  expect([made.fieldNames, made.status]).toEqual([[], 200]);
  return made.body;
}

export async function completed(speaker: Speaker, amount = '10.00', more: object = {}): Promise<any> {
  const { id } = await deposited(speaker, amount, more);
  const reply = await speaker.post(`/v1/test_helpers/deposits/${id}/complete`);
  expect([reply.status, reply.body.status]).toEqual([200, 'completed']);
  return reply.body;
}

export async function funds(speaker: Speaker, id = speaker.id) {
  const { available, pending, payout_processing, fee_advance } = (await speaker.get(`/v1/balance?account_id=${id}`))
    .body;
  return { available, pending, payout_processing, fee_advance };
}

// Decisions 5.6. A helper that ends an initialized deposit passes through `processing`.
export type State = 'initialized' | 'processing' | 'completed' | 'cancelled' | 'failed' | 'reversed' | 'a dispute';

export const ways: Record<State, Verb[]> = {
  initialized: [],
  processing: ['process'],
  completed: ['process', 'complete'],
  cancelled: ['cancel'],
  failed: ['process', 'fail'],
  reversed: ['complete', 'reverse'],
  'a dispute': ['complete', 'dispute'],
};
