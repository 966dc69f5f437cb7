import fs from 'node:fs';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Operator } from '../../src/operator/operator.js';
import { approvePaymentOrder, createPaymentOrder } from '../../src/operator/payment-order/orders.js';
import { addOwnAccount } from '../../src/operator/payment-order/accounts.js';
import { endToEndIdOf, orderFile, orderFormats } from '../../src/operator/payment-order/file.js';
import { createOperator, listOperators } from '../../src/operator/access/operators.js';
import { endPayout } from '../../src/operator/money/payouts.js';
import { auditLedger } from '../support/audit.js';
import { banksIn } from '../api/bank-fixture.js';
import { camt, schemaFaults } from '../support/bank-files.js';
import { receivableBody } from '../support/bodies.js';
import { settingsOf, useChildren } from '../support/child.js';
import { payOutLive } from '../support/jobs.js';
import { figures } from '../support/scale.js';
import { must, nickname, payoutAddress, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const children = useChildren();
const { receiver, received, recordNotice } = banksIn(world);

auditLedger(world);

/** A payout of a tenant of its own, in INR. */
async function payout(amount: string): Promise<void> {
  const { live, ...to } = await receiver(2);
  await payoutAddress(live);
  const { deposit } = await recordNotice(received({ live, ...to }, { amount: BigInt(amount.replace('.', '')) }));
  const receivable = await must(live.post('/v1/receivables', receivableBody({ amount, currency: 'INR' })));
  await must(live.post(`/v1/deposits/${deposit!.id}/reconcile`, { receivables: [{ id: receivable.id, amount }] }));
  await payOutLive(live);
}

const count = 24;
beforeAll(async () => {
  for (let i = 1; i <= count; i++) await payout(`${i}.50`);
  // A command has begun the orders, so two named operators approve them.
  for (const name of [nickname(), nickname()]) await createOperator(world.operator, name, 'operate', 'a test');
});

describe('a payment order whose processes are killed', () => {
  it('has each payout once, and the answers of its bank end each once', async () => {
    const environment = await settingsOf(world);
    const run = async (...args: string[]) => {
      const { code, out, errors } = await children.quickCommand(environment, ...args, '--json');
      expect([code, errors]).toEqual([0, '']);
      return JSON.parse(out);
    };
    const account = await run('order', 'account', '--holder=Tidegate', '--currency=INR', '--number=501000');
    const create = ['order', 'create', '--account', account.id, '--value-date=2099-12-01'];
    const claimed = async () =>
      (await world.sql`select count(*)::int as n from payout where order_id is not null`)[0]!.n as number;
    for (let i = 1; i <= 3; i++) {
      const child = children.startCommand(environment, ...create);
      // The next one gives back what the one before has claimed.
      while (!child.over && (await claimed()) === 0);
      child.signal('SIGKILL');
      await child.ended;
    }
    await Promise.all([children.command(environment, ...create), children.command(environment, ...create)]);
    // Of two at once, one may have been rejected for the other, which then found what the first had not yet given back.
    const proposed = (await run('order', 'list', '--status=proposed')).orders;
    expect(proposed.reduce((sum: number, { payouts }: any) => sum + payouts, 0)).toBe(await claimed());
    for (const { id } of proposed) await run('order', 'reject', id, '--reason=A test');
    expect(await claimed()).toBe(0);
    const order = await run(...create);
    expect(order).toMatchObject({ status: 'proposed', payouts: count, total: `${(count * (count + 1)) / 2 + 12}.00` });
    expect(await claimed()).toBe(count);

    for (const operator of await listOperators(world.operator))
      await approvePaymentOrder(world.operator, order.id, operator);
    let file = '';
    for await (const piece of (await orderFile(world.operator, order.id, 'csv')).content) file += piece;
    const written = file.trimEnd().split('\r\n').slice(1);
    expect(written).toHaveLength(count);
    expect(await run('order', 'sent', order.id)).toMatchObject({ status: 'sent' });

    // The bank pays all, and sends every other one back.
    const shown = await run('order', 'show', order.id);
    const entries = shown.of.flatMap((each: { id: string; amount: string }, i: number) => {
      const of = { amount: each.amount, currency: 'INR', endToEndId: endToEndIdOf(each) };
      return [
        { ...of, reference: `D${i}`, direction: 'DBIT' as const },
        ...(i % 2 ? [{ ...of, reference: `R${i}`, isReversal: true, returnReason: 'AC04' }] : []),
      ];
    });
    const answer = path.join(children.folder(), 'answer.xml');
    fs.writeFileSync(answer, camt([{ account: '501000', currency: 'INR', entries }], { message: '054' }));
    const booked = async () =>
      (await world.sql`select count(*)::int as n from bank_line where state = 'booked'`)[0]!.n as number;
    for (let i = 0; i < 3; i++) {
      const before = await booked();
      const child = children.startCommand(environment, 'bank', 'import', answer);
      while (!child.over && (await booked()) < before + 5);
      child.signal('SIGKILL');
      await child.ended;
    }
    expect((await run('bank', 'import', answer)).booking.left).toBe(0);
    expect(await booked()).toBe(entries.length);
    const states = await world.sql`
      select status, count(*)::int as n, count(distinct bank_reference)::int as answers
      from payout group by 1 order by 1`;
    expect(states).toEqual([
      { status: 'completed', n: count / 2, answers: count / 2 },
      { status: 'returned', n: count / 2, answers: count / 2 },
    ]);
    expect((await run('order', 'accounts')).accounts).toHaveLength(1);
    expect(await run('order', 'close-account', account.id)).toMatchObject({ closed_at: expect.any(Number) });
    expect((await children.command(environment, 'order', 'reject', order.id, '--reason=A test')).code).toBe(1);
  });
});

/** The memory that this process needs, in MiB: without what it no longer does, which goes at no particular time. */
const needed = (): number => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 1_048_576;
};

describe('a payment order of as many payouts as one can have', () => {
  // Payouts as those above, which have ended, under other ids; they and their order are gone before the audit.
  const due = (timesOfEach: number) => world.sql`
    insert into payout
    select (jsonb_populate_record(p, jsonb_build_object(
      'id', 'payout_' || md5(p.id || n), 'status', 'processing', 'order_id', null, 'bank_reference', null,
      'reason_code', null, 'version', 1))).*
    from payout p cross join generate_series(1, ${timesOfEach}::int) n`;
  const forget = async (order: { id: string }) => {
    await world.sql`delete from payout where order_id = ${order.id} or status = 'processing'`;
    await world.sql`delete from payment_order where id = ${order.id}`;
  };
  const accountOf = async (number: string) =>
    (await addOwnAccount(world.operator, { holder: 'Tidegate', currency: 'INR', number }, 'ann')).id;

  beforeAll(async () => {
    const left = await world.sql`select id from payout where status = 'processing' order by id`;
    for (const { id } of left)
      await endPayout(world.operator, id, 'completed', { bankReference: `END ${id}`.slice(0, 30) });
  });

  it('is gathered, and written piece by piece', async () => {
    await due(420);
    const ownAccountId = await accountOf('501001');
    const [ann, ben] = await listOperators(world.operator);
    const seconds: Record<string, number> = {};
    const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const began = performance.now();
      const done = await work();
      seconds[name] = Math.round(performance.now() - began) / 1_000;
      return done;
    };
    const order = await timed('gathered', () =>
      createPaymentOrder(world.operator, { ownAccountId, valueDate: '2099-12-01' }, ann!),
    );
    expect(order.payouts).toBe(10_000);
    await approvePaymentOrder(world.operator, order.id, ben!);
    for (const format of orderFormats) {
      const { content } = await orderFile(world.operator, order.id, format);
      let [text, pieces, longest] = ['', 0, 0];
      await timed(format, async () => {
        for await (const piece of content) {
          text += piece;
          pieces++;
          longest = Math.max(longest, piece.length);
        }
      });
      // One for each payout, and the beginning and the end: the file is never in memory.
      expect([pieces <= 10_002, longest < 1_500]).toEqual([true, true]);
      const ids = text.match(/\b[0-9a-f]{32}\b/g) ?? [];
      expect(new Set(ids).size).toBe(format === 'csv' ? 10_000 : 10_001);
      if (format === 'pain.001') expect(await schemaFaults('pain.001.001.09', text)).toEqual([]);
    }
    figures('a payment order of 10,000 payouts of 24 tenants', seconds);
    await forget(order);
  });

  it('needs at most 4 MiB more memory than one of 1,008 payouts, at each step', async () => {
    const ownAccountId = await accountOf('501002');
    const [ann, ben] = await listOperators(world.operator);
    /** By how many MiB the process grows at most while an order is gathered, and while its files are written. */
    const growthOf = async (timesOfEach: number): Promise<[payouts: number, gathered: number, written: number]> => {
      await due(timesOfEach);
      let [before, most] = [needed(), 0];
      const look = () => (most = Math.max(most, needed() - before));
      const claims = ['claim_payouts', 'propose_payment_order'];
      let calls = 0;
      const watched: Operator = Object.assign(Object.create(world.operator) as Operator, {
        call: (...given: Parameters<Operator['call']>) => {
          // A read of 500 payouts has a call for each of some twenty tenants.
          if (claims.includes(given[0]) && calls++ % 40 === 20) look();
          return world.operator.call(...given);
        },
      });
      const order = await createPaymentOrder(watched, { ownAccountId, valueDate: '2099-12-01' }, ann!);
      const gathered = most;
      await approvePaymentOrder(world.operator, order.id, ben!);
      [before, most] = [needed(), 0];
      for (const format of orderFormats) {
        let pieces = 0;
        for await (const _ of (await orderFile(world.operator, order.id, format)).content)
          if (pieces++ % 1_000 === 250) look();
      }
      await forget(order);
      return [order.payouts!, gathered, most];
    };
    const [few, many] = [await growthOf(42), await growthOf(420)];
    expect([few[0], many[0]]).toEqual([1_008, 10_000]);
    figures('the memory of payment orders, MiB', {
      ...{ gatheredFew: few[1], gatheredMany: many[1], writtenFew: few[2], writtenMany: many[2] },
    });
    // The two files of 10,000 payouts have 5.4 MiB, and their rows several times that.
    for (const step of [1, 2] as const) expect(many[step] - few[step]).toBeLessThan(4);
  });
});
