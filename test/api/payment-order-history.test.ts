import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOperator } from '../../src/operator/access/operators.js';
import { bookLines } from '../../src/operator/bank-file/booking.js';
import { storeBankFile } from '../../src/operator/bank-file/import.js';
import { listLines } from '../../src/operator/bank-file/listing.js';
import type { Actor } from '../../src/operator/money/adjustments.js';
import { endPayout, payoutOf } from '../../src/operator/money/payouts.js';
import { addOwnAccount } from '../../src/operator/payment-order/accounts.js';
import { endToEndIdOf } from '../../src/operator/payment-order/file.js';
import {
  approvePaymentOrder,
  createPaymentOrder,
  listOrders,
  orderedPayouts,
  orderOf,
  rejectPaymentOrder,
  sendPaymentOrder,
} from '../../src/operator/payment-order/orders.js';
import { auditLedger } from '../support/audit.js';
import { bytesOf, camt, type Entry } from '../support/bank-files.js';
import { receivableBody } from '../support/bodies.js';
import { payOutLive } from '../support/jobs.js';
import { scale, seedsOf } from '../support/scale.js';
import { must, nickname, payoutAddress, useWorld } from '../support/world.js';
import { banksIn, type Receiver } from './bank-fixture.js';

const world = useWorld({ worker: false });
const { receiver, received, recordNotice } = banksIn(world);
auditLedger(world);

let people: Actor[];
/** An operator who has had nothing to do with any order. */
let other: Actor;
let tenants: Receiver[];
let ownAccountId: string;
/** The numbers of the operator's accounts: the one that pays, and another one. */
const [own, elsewhere] = ['501000', '502000'];
let references = 0;
/** The orders whose files the bank has had. */
const given = new Set<string>();
/** The payouts of the histories before. */
const ended = new Set<string>();

beforeAll(async () => {
  const named = async () => (await createOperator(world.operator, nickname(), 'operate', 'a test')).operator;
  people = [await named(), await named(), await named()];
  other = await named();
  tenants = [await receiver(2), await receiver(2)];
  for (const { live } of tenants) await payoutAddress(live);
  const given = { holder: 'Tidegate', currency: 'INR', number: own, ifsc: 'HDFC0000123' };
  ownAccountId = (await addOwnAccount(world.operator, given, 'Ann')).id;
  await addOwnAccount(world.operator, { ...given, number: elsewhere }, 'Ann');
});

const act = fc.record({
  what: fc.constantFrom(
    ...['earn', 'earn', 'earn', 'create', 'create', 'approve', 'approve', 'send', 'give', 'give'],
    ...['reject', 'answer', 'answer', 'answer', 'repeat', 'misstate', 'elsewhere', 'fail', 'complete', 'return'],
    ...['create both', 'create or reject', 'approve or reject', 'approve or reject', 'send and answer', 'both tell'],
  ),
  cents: fc.constantFrom(100n, 250n, 1_000n),
  which: fc.nat(20),
  person: fc.nat(2),
});

const text = (amount: bigint) => `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`;

/** What the bank did with a payout: it sent it, refused it, or sent it and took it back. */
interface Fate {
  id: string;
  amount: bigint;
  is: 'sent' | 'refused' | 'returned';
  /** The lines that say so, until a file has told them. */
  untold: Entry[];
}

/**
 * Two tenants earn, three operators gather, approve, reject and send orders as the bank has told them, also two of them
 * at once, and the bank sends each file once. Whatever the order of all this is, the bank pays no payout twice and none
 * that was given back, and in the end the ledger says of each payout what the bank did with it.
 */
describe.each(seedsOf('api/payment-order-history'))('histories of payment orders, seed %i', (seed) => {
  it('pay each payout once, and end it as the bank did', async () => {
    const history = fc.asyncProperty(fc.array(act, { minLength: 30, maxLength: 60 }), async (acts) => {
      const fates = new Map<string, Fate>();
      /** What a person has recorded before the bank's file told it. */
      const byHand: string[] = [];
      const orders = async (...statuses: string[]) =>
        (await listOrders(world.operator, {})).nodes.filter(({ status }) => statuses.includes(status));
      const inOrder = async (id: string) => (await orderedPayouts(world.operator, id, { limit: 100 })).nodes;
      const payouts = () => world.sql<{ id: string; status: string }[]>`
        select id, status from payout where livemode order by id`;
      const tell = async (entries: Entry[], account = own) => {
        const statement = { account, currency: 'INR', opening: '0.00', closing: '0.00', entries };
        const message = camt([statement]).replace('<MsgId>M1<', `<MsgId>M${++references}<`);
        const file = { name: 'answer.xml', open: () => bytesOf(message), mapping: undefined, allowUnknown: true };
        const stored = await storeBankFile(world.operator, file, 'Ann');
        await bookLines(world.operator, stored.file.id);
        return (await listLines(world.operator, { fileId: stored.file.id })).nodes;
      };
      const lineOf = ({ id, amount }: Pick<Fate, 'id' | 'amount'>, more: Entry = {}): Entry => ({
        ...{ amount: text(amount), currency: 'INR', endToEndId: endToEndIdOf({ id }) },
        ...{ reference: `B${++references}`, direction: 'DBIT' as const, ...more },
      });
      const refused = (error: { problems?: unknown }) => expect(error.problems).toBeDefined();
      const gather = (actor: Actor) =>
        createPaymentOrder(world.operator, { ownAccountId, valueDate: '2099-12-01' }, actor).catch(refused);
      /** Whether what an operator asks was done. */
      const isDone = async (asked: Promise<unknown>) => {
        const [outcome] = await Promise.allSettled([asked]);
        if (outcome.status === 'rejected') refused(outcome.reason as object);
        return outcome.status === 'fulfilled';
      };

      for (const { what, cents: amount, which, person } of acts) {
        const [by, another] = [people[person]!, people[(person + 1) % 3]!];
        const pick = <T>(rows: readonly T[]): T | undefined => rows[which % Math.max(1, rows.length)];
        const [open, told] = [[...fates.values()].filter((f) => f.untold.length > 0), [...fates.values()]];
        if (what === 'earn') {
          const to = tenants[which % 2]!;
          const { deposit } = await recordNotice(received(to, { amount, currency: 'INR' }));
          const bill = receivableBody({ amount: text(amount), currency: 'INR' });
          const { id } = await must(to.live.post('/v1/receivables', bill));
          const allocation = { receivables: [{ id, amount: text(amount) }] };
          await must(to.live.post(`/v1/deposits/${deposit!.id}/reconcile`, allocation));
          await payOutLive(to.live);
        } else if (what === 'create') await gather(by);
        else if (what === 'create both') await Promise.all([gather(by), gather(another)]);
        else if (what === 'create or reject') {
          const order = pick((await orders('proposed', 'approved')).filter(({ id }) => !given.has(id)));
          const reject = order && rejectPaymentOrder(world.operator, order.id, 'A test', by).catch(refused);
          await Promise.all([gather(another), reject]);
        } else if (what === 'approve or reject') {
          const order = pick(await orders('proposed'));
          if (order) {
            const [isApproved, isRejected] = await Promise.all([
              isDone(approvePaymentOrder(world.operator, order.id, by)),
              isDone(rejectPaymentOrder(world.operator, order.id, 'A test', another)),
            ]);
            const { status } = await orderOf(world.operator, order.id);
            // An approved one may be rejected by a third person after that.
            expect(isApproved || isRejected).toBe(true);
            expect(status).toBe(isRejected ? 'rejected' : 'approved');
          }
        } else if (what === 'send and answer') {
          const fate = pick(open);
          const of = fate && (await payoutOf(world.operator, fate.id)).orderId;
          if (fate && of) {
            const entry = fate.untold.shift()!;
            const [[line]] = await Promise.all([
              tell([entry]),
              sendPaymentOrder(world.operator, of, by).catch(refused),
            ]);
            const known = byHand.includes(`${fate.id} ${entry.direction}`);
            expect([line!.state, line!.reason]).toEqual([known ? 'seen_before' : 'booked', null]);
          }
        } else if (what === 'both tell') {
          // A person and the bank's file say at once that a payout has arrived.
          const fate = pick(open.filter(({ untold }) => untold[0]!.direction === 'DBIT'));
          if (fate) {
            const hand = isDone(endPayout(world.operator, fate.id, 'completed'));
            const [[line]] = await Promise.all([tell([fate.untold.shift()!]), hand]);
            expect(['booked', 'seen_before']).toContain(line!.state);
            expect((await payoutOf(world.operator, fate.id)).status).toBe('completed');
          }
        } else if (what === 'approve') {
          const order = pick(await orders('proposed'));
          if (order) await approvePaymentOrder(world.operator, order.id, by).catch(refused);
        } else if (what === 'send') {
          // It is marked as sent once the bank has it.
          const order = pick((await orders('approved')).filter(({ id }) => given.has(id)));
          if (order) await sendPaymentOrder(world.operator, order.id, by).catch(refused);
        } else if (what === 'reject') {
          // Nobody rejects what the bank has carried out.
          const order = pick((await orders('proposed', 'approved')).filter(({ id }) => !given.has(id)));
          if (order) await rejectPaymentOrder(world.operator, order.id, 'A test', by).catch(refused);
        } else if (what === 'give') {
          const order = pick((await orders('approved')).filter(({ id }) => !given.has(id)));
          if (order) {
            given.add(order.id);
            for (const [i, { id, amount: of }] of (await inOrder(order.id)).entries()) {
              // The bank refuses some, and takes some back later.
              const is = (['sent', 'sent', 'refused', 'returned'] as const)[(which + i) % 4]!;
              const paid = { id, amount: BigInt(of) };
              expect(fates.get(id), 'a payout in two files').toBeUndefined();
              const untold = is === 'refused' ? [] : [lineOf(paid)];
              if (is === 'returned')
                untold.push(lineOf(paid, { direction: 'CRDT', isReversal: true, returnReason: 'AC04' }));
              fates.set(id, { ...paid, is, untold });
            }
          }
        } else if (what === 'answer') {
          const fate = pick(open);
          if (fate) {
            const entry = fate.untold.shift()!;
            const [line] = await tell([entry]);
            const known = byHand.includes(`${fate.id} ${entry.direction}`);
            expect([line!.state, line!.reason]).toEqual([known ? 'seen_before' : 'booked', null]);
          }
        } else if (what === 'repeat') {
          const fate = pick(told.filter(({ untold, is }) => untold.length === 0 && is === 'sent'));
          // A second payment of one payout is not its answer.
          if (fate) expect((await tell([lineOf(fate)])).map(({ state }) => state)).toEqual(['unmatched']);
        } else if (what === 'misstate') {
          const fate = pick(open);
          if (fate) {
            const lines = await tell([lineOf({ ...fate, amount: fate.amount + 1n })]);
            expect(lines.map(({ state }) => state)).toEqual(['unmatched']);
          }
        } else if (what === 'elsewhere') {
          // The bank's words about an account that has paid nothing.
          const fate = pick(open);
          if (fate) {
            const [line] = await tell([{ ...fate.untold[0]!, reference: `B${++references}` }], elsewhere);
            const { orderId } = await payoutOf(world.operator, fate.id);
            expect([orderId !== null, line!.state, line!.reason]).toEqual([true, 'unmatched', 'other_account']);
          }
        } else if (what === 'fail') {
          // By the bank's word: it has refused it, or has never had it.
          const all = (await payouts()).filter(({ id, status }) => {
            const fate = fates.get(id);
            return status === 'processing' && (fate === undefined || fate.is === 'refused');
          });
          const each = pick(all);
          if (each) await endPayout(world.operator, each.id, 'failed').catch(refused);
        } else if (what === 'complete') {
          const fate = pick(open.filter(({ untold, is }) => untold.length === (is === 'sent' ? 1 : 2)));
          if (fate)
            await endPayout(world.operator, fate.id, 'completed').then(() => byHand.push(`${fate.id} DBIT`), refused);
        } else {
          const fate = pick(open.filter(({ is }) => is === 'returned'));
          // Before it is known as completed, it is not returned.
          if (fate)
            await endPayout(world.operator, fate.id, 'returned').then(() => byHand.push(`${fate.id} CRDT`), refused);
        }
        // An order has its payouts, and each is in one that may be paid at most.
        for (const order of await orders('proposed', 'approved', 'sent')) {
          const of = await inOrder(order.id);
          expect([order.payouts, order.total]).toEqual([of.length, of.reduce((sum, p) => sum + BigInt(p.amount), 0n)]);
        }
        const kept = await world.sql`select y.id from payout y join payment_order o on o.id = y.order_id
          where o.status = 'rejected' and y.status = 'processing'`;
        expect([what, kept]).toEqual([what, []]);
      }

      for (const fate of fates.values()) {
        for (const entry of fate.untold.splice(0)) await tell([entry]);
        const now = (await payoutOf(world.operator, fate.id)).status;
        if (fate.is === 'refused') expect(['processing', 'failed']).toContain(now);
        else expect([fate.is, now]).toEqual([fate.is, fate.is === 'sent' ? 'completed' : 'returned']);
      }
      // What the bank has not sent is still to be paid, or was given back.
      for (const order of await orders('proposed', 'approved', 'sent')) {
        if (!given.has(order.id)) await rejectPaymentOrder(world.operator, order.id, 'The end', other);
        else if (order.status === 'approved') await sendPaymentOrder(world.operator, order.id, other);
      }
      for (const { id, status } of await payouts()) {
        if (status === 'processing') await endPayout(world.operator, id, 'failed');
        else if (status !== 'failed' && !ended.has(id)) expect(fates.get(id)?.is).toMatch(/^(sent|returned)$/);
        ended.add(id);
      }
    });
    await fc.assert(history, { seed, numRuns: Math.max(4, Math.min(40, scale.histories.runs)), endOnFailure: true });
  });
});
