import { expect } from 'vitest';
import { currencyOf, receivableBody } from '../support/bodies.js';
import { advanceClock, noon, runJobs } from '../support/jobs.js';
import {
  givenIn,
  must,
  payoutAddress,
  type Reply,
  type Speaker,
  statementsWaiting,
  tenantOf,
  type Transport,
  type World,
} from '../support/world.js';

export const day = 86_400;

/** Makes an amount available: a deposit that counts towards a receivable of the same amount. */
export async function earn(
  user: Speaker,
  amount: string,
  currency: string = currencyOf[user.edition],
  received = amount,
): Promise<any> {
  const second = user.edition === 2 && { to: { account_id: user.id }, payment_method: 'upi' };
  const deposit = await user.post('/v1/deposits', { amount: received, currency, ...second });
  expect([deposit.fieldNames, deposit.status]).toEqual([[], 200]);
  await must(user.post(`/v1/test_helpers/deposits/${deposit.body.id}/complete`));
  const receivable = await user.post('/v1/receivables', receivableBody({ amount, currency }));
  const receivables = [{ id: receivable.body.id, amount }];
  const reply = await user.post(`/v1/deposits/${deposit.body.id}/reconcile`, { receivables });
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
  return { deposit: deposit.body, receivable: receivable.body };
}

export const payoutsOf = async (speaker: Speaker, query = ''): Promise<any[]> =>
  (await speaker.get(`/v1/payouts${query}`)).body.data;

/** The amounts of a currency that are not zero. */
export async function funds(speaker: Speaker, id = speaker.id): Promise<Record<string, string>> {
  const { body } = await speaker.get(`/v1/balance?account_id=${id}`);
  return Object.fromEntries(
    ['available', 'pending', 'processing', 'payout_processing'].flatMap((compartment) =>
      body[compartment]
        .filter((m: any) => m.amount !== '0.00')
        .map((m: any) => [`${compartment} ${m.currency}`, m.amount] as const),
    ),
  );
}

export async function locksOf(speaker: Speaker, id: string) {
  const r = (await speaker.get(`/v1/receivables/${id}`)).body;
  return [r.amount_locked, r.amount_settled_payouts, r.deposit_ids_amount_locked];
}

export async function settingOf(speaker: Speaker, id = speaker.id): Promise<any> {
  return (await speaker.get(`/v1/account_settings?account_id=${id}`)).body.data[0];
}

export async function configure(speaker: Speaker, payouts: object, id = speaker.id): Promise<any> {
  const { id: setting } = await settingOf(speaker, id);
  const reply = await speaker.post(`/v1/account_settings/${setting}`, { payouts });
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
  return reply.body.payouts;
}

export async function end(
  speaker: Speaker,
  transport: Transport,
  id: string,
  verb: 'settle' | 'fail' | 'return',
): Promise<Reply> {
  if (transport === 'REST') return speaker.post(`/v1/test_helpers/payouts/${id}/${verb}`);
  const reply = await speaker.graph(`mutation { ${verb}TestPayout(input: { id: "${id}" }) { payout { id status } } }`);
  return { ...reply, status: reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status };
}

/** Advances the clock to the next midnight, and runs one round of the worker. */
export async function midnight(root: Speaker): Promise<void> {
  await advanceClock(root, day);
  await runJobs(root);
}

export const number = (root: Speaker) => root.world.database.call('number_events', [tenantOf(root), false, 1_000]);

/** Exporters that are paid out, and changes of their rows that others make meanwhile. */
export function payoutsIn(world: World) {
  const given = givenIn(world);
  /** A direct user at noon, with a payout address in INR. */
  async function exporter(edition: 1 | 2 = 2): Promise<Speaker> {
    const user = await given.directUser(edition);
    await noon(user);
    await payoutAddress(user);
    return user;
  }

  const waiting = (statements: number) => statementsWaiting(world, statements);

  /** Runs a step in a transaction of the test, and commits after the other step has started. */
  async function within(
    first: (sql: typeof world.sql) => Promise<unknown>,
    second: () => Promise<unknown>,
  ): Promise<void> {
    await world.sql.begin(async (sql) => {
      await first(sql as never);
      await second();
    });
  }
  return { exporter, waiting, within };
}
