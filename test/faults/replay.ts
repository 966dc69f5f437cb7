import { expect } from 'vitest';
import type { Reply } from '../support/world.js';
import { type Act, enter, type Harness, shown } from './harness.js';

/** An operation and its response. */
export interface Done {
  act: Act;
  reply: Reply;
  /** The id of the request that had the effect: an earlier attempt with the same key may have had it. */
  request: string;
}

/** An event, as it is stored. */
export interface StoredEvent {
  id: string;
  type: string;
  object_id: string;
  data: Record<string, string>;
  request_id: string | null;
}

export const textOf = (act: Act) => JSON.stringify(act, (_, v) => (typeof v === 'bigint' ? `${v}` : v));

/**
 * Applies everything to the model again, in the order of the events. Nothing outside the database knows which of two
 * operations came first. But a statement writes its events while it holds all of its locks, so the order of events is a
 * possible order of the operations, in which the model must accept each of them with its response.
 */
export function replay({ model }: Harness, events: StoredEvent[], done: Done[]): void {
  const byRequest = new Map(done.map((each) => [each.request, each]));
  // An operation takes effect at its last event, when it has all of its locks.
  const last = new Map(events.map(({ id, request_id }) => [request_id ?? id, id]));
  const acknowledged = done.filter(({ act, reply }) => reply.status === 200 && act.do !== 'pass');
  expect(acknowledged.filter(({ request }) => !last.has(request))).toEqual([]);

  for (const { id, type, object_id: object, data, request_id: request } of events) {
    // The model's clock advances with the operations.
    if (last.get(request ?? id) !== id || type === 'clock.advanced') continue;
    if (request !== null) {
      const each = byRequest.get(request);
      if (!each) throw new Error(`${type} of a request that was not sent`);
      const { act, reply } = each;
      expect([reply.status, textOf(act), enter(model, act, reply.body.id)]).toEqual([200, textOf(act), undefined]);
      expect(reply.body, textOf(act)).toMatchObject(shown(model, act, reply.body.id));
    } else if (type === 'deposit.processing') expect(model.sandboxProcesses(object)).toBe(true);
    else if (type === 'deposit.completed') expect(model.sandboxCompletes(object)).toBe(true);
    else if (type === 'refund.succeeded') expect(model.endRefund(object, 'succeed')).toBe(undefined);
    else if (type === 'payout.completed') expect(model.endPayout(object, 'settle')).toBe(undefined);
    else if (type === 'payout.processing') {
      const { account_id: account, source_currency: source, amount, currency } = data as Record<string, string>;
      expect(model.payable(account!, source!)).toEqual({ amount: BigInt(amount!), currency });
      model.pay(account!, source!, object);
    } else if (type === 'payout.blocked') {
      const { account_id: account, currency } = data as Record<string, string>;
      expect(model.payable(account!, currency!)).toBe(undefined);
    } else expect(type).toBe('receivable.updated');
  }
}
