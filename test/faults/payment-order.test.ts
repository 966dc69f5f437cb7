import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { approvePaymentOrder, createPaymentOrder } from '../../src/operator/payment-order/orders.js';
import { addOwnAccount } from '../../src/operator/payment-order/accounts.js';
import { endToEndIdOf, orderFile, orderFormats } from '../../src/operator/payment-order/file.js';
import { createOperator, listOperators } from '../../src/operator/access/operators.js';
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

describe('a payment order whose processes are killed', () => {
  it('has each payout once, and the answers of its bank end each once', async () => {
    const environment = await settingsOf(world);
    const run = async (...args: string[]) => {
      const { code, out, errors } = await children.quickCommand(environment, ...args, '--json');
      expect([code, errors]).toEqual([0, '']);
      return JSON.parse(out);
    };
    const count = 24;
    for (let i = 1; i <= count; i++) await payout(`${i}.50`);
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

    // A command has begun it, so two named operators approve it.
    for (const name of [nickname(), nickname()]) await createOperator(world.operator, name, 'operate', 'a test');
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

describe('a payment order of as many payouts as one can have', () => {
  it('is gathered, and written piece by piece', async () => {
    // Payouts as those above, which have ended, under other ids; they and their order are gone before the audit.
    await world.sql`
      insert into payout
      select (jsonb_populate_record(p, jsonb_build_object(
        'id', 'payout_' || md5(p.id || n), 'status', 'processing', 'order_id', null, 'bank_reference', null,
        'reason_code', null, 'version', 1))).*
      from payout p cross join generate_series(1, 420) n`;
    const own = { holder: 'Tidegate', currency: 'INR', number: '501001' };
    const { id: ownAccountId } = await addOwnAccount(world.operator, own, 'ann');
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
    // Written again without being kept, as for a client that takes it: how far the process grows meanwhile.
    const resident = () => process.memoryUsage().rss / 1_048_576;
    const [before, peaks] = [resident(), [] as number[]];
    for (const format of orderFormats)
      for await (const _ of (await orderFile(world.operator, order.id, format)).content) peaks.push(resident());
    const grown = Math.round(Math.max(...peaks) - before);
    figures('a payment order of 10,000 payouts of 24 tenants', { ...seconds, grownMebibytes: grown });
    await world.sql`delete from payout where order_id = ${order.id} or status = 'processing'`;
    await world.sql`delete from payment_order where id = ${order.id}`;
  });
});
