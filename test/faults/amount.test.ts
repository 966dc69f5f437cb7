import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { Amount, amountText, Currency } from '../../src/types/scalars.js';
import { receivableBody } from '../support/bodies.js';
import { runDueJobs } from '../support/jobs.js';
import { givenIn, must, nickname, payoutAddressBody, type Speaker, useWorld } from '../support/world.js';
import { text } from './harness.js';
import { figures, patience, scale, secondsSince } from '../support/scale.js';

vi.setConfig(patience);

const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

const { seed } = scale;
const numRuns = scale.amounts.runs;

/** Parses an amount character by character, without regular expressions. Minor units; undefined if it is no amount. */
function read(given: unknown): bigint | undefined {
  if (typeof given !== 'string') return undefined;
  const [whole = '', cents, ...more] = given.split('.');
  const digits = (part: string) => part !== '' && [...part].every((c) => c.length === 1 && '0123456789'.includes(c));
  if (more.length > 0 || !digits(whole) || whole.length > 13 || (whole.length > 1 && whole[0] === '0'))
    return undefined;
  if (cents !== undefined && (!digits(cents) || cents.length !== 2)) return undefined;
  return [...whole, ...(cents ?? '00')].reduce((sum, c) => sum * 10n + BigInt('0123456789'.indexOf(c)), 0n);
}

/** Strings that look like amounts and often are none. */
const almost = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'0123456789..-+ e,_٣１\n\u0000'), maxLength: 20 }),
  fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.constantFrom('', '.00', '.5', '.999', ' ', '\n', 'e0'))
    .map(([n, end]) => `${n}${end}`),
  fc.bigInt({ min: 0n, max: 10n ** 16n }).map(text),
  fc.string(),
);

/** Valid amounts, with cents or without. */
const proper = fc
  .tuple(
    fc.bigInt({ min: 1n, max: 10n ** 13n - 1n }),
    fc.oneof(
      fc.constantFrom('', '.00'),
      fc.nat(99).map((n) => `.${`${n}`.padStart(2, '0')}`),
    ),
  )
  .map(([whole, cents]) => `${whole}${cents}`);

const attempt = (parse: () => unknown): unknown => {
  try {
    return parse();
  } catch {
    return undefined;
  }
};

describe(`amounts, seed ${seed}`, () => {
  it('are parsed exactly if they are valid, and are formatted as they were given', () => {
    const began = Date.now();
    fc.assert(
      fc.property(fc.oneof(almost, fc.anything()), (value) => {
        expect(attempt(() => Amount.parseValue(value))).toBe(read(value));
      }),
      { seed, numRuns },
    );
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (minor) => {
        const shown = amountText(minor);
        expect(shown).toMatch(/^-?(0|[1-9]\d*)\.\d\d$/);
        expect(shown).toBe(text(minor));
        expect(BigInt(shown.replace('.', ''))).toBe(minor);
        if (minor >= 0n && minor < 10n ** 15n) expect(Amount.parseValue(shown)).toBe(minor);
      }),
      { seed, numRuns },
    );
    figures('amounts', { strings: numRuns, numbers: numRuns, took: secondsSince(began) });
  });

  it('have currencies in use, of three capital letters, and no code that only looks like one', () => {
    const used = ['USD', 'EUR', 'INR', 'GBP', 'JPY', 'KRW', 'KWD', 'SGD', 'AED', 'XCG', 'VES', 'ZWG'];
    const gone = ['DEM', 'FRF', 'ITL', 'BGN', 'HRK', 'ANG', 'XXX', 'XTS', 'ZZZ', 'TRL'];
    for (const code of used) expect(Currency.parseValue(code)).toBe(code);
    for (const code of gone) expect(attempt(() => Currency.parseValue(code))).toBe(undefined);
    fc.assert(
      fc.property(fc.constantFrom(...used), fc.string({ maxLength: 3 }), fc.nat(3), (code, extra, at) => {
        const other = code.slice(0, at) + extra + code.slice(at);
        if (extra !== '') expect(attempt(() => Currency.parseValue(other))).toBe(undefined);
        for (const twin of [code.toLowerCase(), ` ${code}`, `${code}\n`, [code], { code }])
          expect(attempt(() => Currency.parseValue(twin))).toBe(undefined);
      }),
      { seed, numRuns: Math.ceil(numRuns / 10) },
    );
  });

  // Receivables accept every currency, so this test can send all of them through the APIs.
  it('are stored and shown to the cent if an API accepts them; otherwise the error names the amount', async () => {
    const began = Date.now();
    const user = await given.directUser(1);
    const noMinor = ['JPY', 'KRW', 'VND', 'CLP', 'ISK', 'UGX', 'XAF', 'XOF', 'XPF', 'PYG', 'RWF', 'VUV'];
    const currency = fc.constantFrom('USD', 'EUR', 'INR', 'KWD', 'BHD', 'AED', ...noMinor);
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(almost, proper, proper), currency, fc.boolean(), async (amount, code, graph) => {
        const minor = read(amount);
        const wanted = minor !== undefined && minor > 0n && (!noMinor.includes(code) || minor % 100n === 0n);
        const dates = { creation: '2026-10-01', due: '2026-12-01' };
        const reply = graph
          ? await user.graph(
              `mutation ($amount: Amount!, $code: Currency!) { createReceivable(input: { currency: $code, purposeCode:
                "P0802", transactionType: SERVICES,
                 invoice: { amount: $amount, currency: $code, creationDate: "${dates.creation}", dueDate:
                 "${dates.due}", referenceNumber: "A" } }) {
                 receivable { id amountReconcilable } } }`,
              { amount, code },
            )
          : await user.post('/v1/receivables', receivableBody({ amount, currency: code }));
        const status = reply.body.errors?.[0]?.extensions?.httpStatus ?? reply.status;
        if (!wanted) {
          expect([status, [...new Set(reply.fieldNames)]]).toEqual([400, ['receivable.invoice.amount']]);
          return;
        }
        taken++;
        const made = reply.body.data?.createReceivable.receivable ?? reply.body;
        const shown = (await must(user.get(`/v1/receivables/${made.id}`))) as any;
        expect([status, shown.invoice.amount, shown.amount_reconcilable]).toEqual([200, text(minor), text(minor)]);
        expect(made.amountReconcilable ?? made.amount_reconcilable).toBe(text(minor));
        const [row] = await world.sql`select amount_maximum_reconcilable as n from receivable where id = ${made.id}`;
        expect(BigInt(row!.n)).toBe(minor);
      }),
      { seed, numRuns: scale.amounts.sent },
    );
    figures('amounts through the APIs', { sent: scale.amounts.sent, taken, took: secondsSince(began) });
  });
});

describe('99,999,999,999.99', () => {
  const largest = '99999999999.99';
  const inRupees = '8299999999999.17';

  it('stays exact to the cent on every path, and back', async () => {
    const user = await given.directUser(1);
    const partner = await user.partner();
    await must(user.post('/v1/addresses', payoutAddressBody(user.id)));
    const { now } = await must(user.post('/v1/test_helpers/clock', { advance_seconds: 1 }));
    const noon = await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 + 43_200 - (now % 86_400) }));
    const tenant = user.id.replace('account_', '');
    const key = { 'idempotency-key': nickname() };
    const made = await must(
      user.post('/v1/deposits', { amount: largest, currency: 'USD', from: { account_id: partner.id } }, key),
    );
    const again = await user.graph(
      'mutation ($from: ID!) { createDeposit(input: { amount: "99999999999.99", currency: "USD", from: { ' +
        'accountId: $from } }) { deposit { id amount } } }',
      { from: partner.id },
      key,
    );
    expect(again.body.data.createDeposit.deposit).toEqual({ id: made.id, amount: largest });
    const { id } = await must(user.post(`/v1/test_helpers/deposits/${made.id}/complete`));

    const receivable = await must(user.post('/v1/receivables', receivableBody({ amount: largest })));
    expect([receivable.invoice.amount, receivable.amount_reconcilable]).toEqual([largest, largest]);
    expect(await balances(user)).toEqual({ pending: largest });

    const from = new Date((noon.now - 3 * 86_400) * 1000).toISOString();
    const to = new Date((noon.now + 3 * 86_400) * 1000).toISOString();
    const { data } = await must(
      user.graph(
        `query ($deposit: ID!, $from: DateTime!, $to: DateTime!) { deposit(id: $deposit) { amount pendingRest
           payment { amount balanceTransactions { nodes { amount balanceAfter } } }
           toAccount { balance(asOf: $to) { pending { amount } } balanceHistory(from: $from, to: $to, interval: WEEK) {
           pending }
             depositTotals(from: $from, to: $to, interval: MONTH) { amount count } } } }`,
        { deposit: id, from, to },
      ),
    );
    expect([data.deposit.amount, data.deposit.pendingRest, data.deposit.payment.amount]).toEqual([
      largest,
      largest,
      largest,
    ]);
    expect(data.deposit.payment.balanceTransactions.nodes).toEqual([{ amount: largest, balanceAfter: largest }]);
    expect(data.deposit.toAccount.balance.pending).toEqual([{ amount: largest }]);
    expect(data.deposit.toAccount.balanceHistory.at(-1).pending).toBe(largest);
    expect(data.deposit.toAccount.depositTotals).toEqual([{ amount: largest, count: 1 }]);
    expect((await must(user.get('/v1/deposits'))).data[0].amount).toBe(largest);
    expect((await must(user.get('/v1/payments'))).data[0].amount).toBe(largest);

    const receivables = [{ id: receivable.id, amount: largest }];
    await must(user.post(`/v1/deposits/${id}/reconcile`, { receivables }));
    expect(await balances(user)).toEqual({ available: largest });
    const locked = await must(user.get(`/v1/receivables/${receivable.id}`));
    expect([locked.amount_locked, locked.amount_reconcilable, locked.status]).toEqual([largest, '0.00', 'locked']);

    await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
    await runDueJobs(world, tenant);
    const [payout] = (await must(user.get('/v1/payouts'))).data;
    expect([payout.amount, payout.currency]).toEqual([inRupees, 'INR']);
    expect(await balances(user)).toEqual({ payout_processing: inRupees });
    await must(user.post(`/v1/test_helpers/payouts/${payout.id}/settle`));
    const settled = await must(user.get(`/v1/receivables/${receivable.id}`));
    expect([settled.amount_settled_payouts, settled.status]).toEqual([largest, 'settled']);

    const dispute = await must(user.post(`/v1/test_helpers/deposits/${id}/dispute`));
    expect(dispute.amount).toBe(`-${largest}`);
    expect(await balances(user)).toEqual({ available: `-${largest}` });
    const [moved] = (await must(user.get(`/v1/balance_transactions?currency=USD`))).data;
    expect(moved.amount).toBe(`-${largest}`);

    // Every event of these operations has the amounts of its time.
    await world.database.call('number_events', [tenant, false, 500]);
    const events = (await must(user.get('/v1/events'))).data.map(({ type, data: { object } }: any) => [type, object]);
    const of = (type: string) => events.find(([each]: [string]) => each === type)?.[1];
    expect(of('deposit.completed').amount).toBe(`-${largest}`);
    expect(of('deposit.disputed').amount).toBe(largest);
    expect(of('payout.completed').amount).toBe(inRupees);
    expect(of('receivable.updated').amount_settled_payouts).toBe(largest);
  });

  it('is summed exactly over 20 deposits', async () => {
    const platform = await given.platform(1);
    const [fee] = (await must(platform.get('/v1/addresses?category=service_fee_advance'))).data;
    for (const to of [{ account_id: platform.id }, { address_id: fee.id }])
      for (let n = 0; n < 20; n++) {
        const { id } = await must(platform.post('/v1/deposits', { amount: largest, currency: 'USD', to }));
        await must(platform.post(`/v1/test_helpers/deposits/${id}/complete`));
      }
    const sum = text(20n * 9_999_999_999_999n);
    expect(await balances(platform)).toEqual({ pending: sum, fee_advance: sum });
  });
});

/** The compartments that are not empty. */
async function balances(speaker: Speaker): Promise<Record<string, string>> {
  const { object, account_id, livemode, ...held } = await must(speaker.get('/v1/balance'));
  expect([object, account_id, livemode]).toEqual(['balance', speaker.id, false]);
  return Object.fromEntries(
    Object.entries(held as Record<string, { amount: string }[]>).flatMap(([name, list]) =>
      list.filter(({ amount }) => amount !== '0.00').map(({ amount }) => [name, amount]),
    ),
  );
}
