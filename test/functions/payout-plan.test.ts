import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { setServiceHold } from '../../src/operator/money/payouts.js';
import { planOf } from '../../src/resources/payout/plan.js';
import { scale } from '../support/scale.js';
import { type Row, useFunctions } from './fixture.js';
import { payeesOf } from './payee.js';

const fixture = useFunctions();
const { world, of, call, write, stored } = fixture;
const payee = payeesOf(fixture);

/** Currencies with fixed rates of test mode, one of them without cents, and one without a fixed rate. */
const currency = fc.constantFrom('USD', 'INR', 'JPY', 'CHF');
/** Amounts in minor units of which a conversion may leave nothing, leave a rest, or make too much. */
const amount = fc.oneof(
  fc.bigInt({ min: 1n, max: 200n }),
  fc.bigInt({ min: 1n, max: 10n ** 9n }),
  fc.bigInt({ min: 10n ** 14n, max: 10n ** 15n }),
);
const rate = fc
  .tuple(fc.nat({ max: 199 }), fc.bigInt({ min: 1n, max: 10n ** 16n - 1n }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(16, '0')}`);
const state = fc.record({
  available: fc.uniqueArray(fc.tuple(currency, amount), { minLength: 1, maxLength: 3, selector: ([each]) => each }),
  addresses: fc.uniqueArray(currency, { maxLength: 3 }),
  rates: fc
    .uniqueArray(fc.tuple(currency, currency, rate), { maxLength: 6, selector: ([from, to]) => `${from} ${to}` })
    .map((all) => all.filter(([from, to]) => from !== to)),
  owes: fc.option(currency, { freq: 6 }),
  held: fc.integer({ min: 1, max: 8 }).map((one) => one === 8),
});
type State = typeof state extends fc.Arbitrary<infer Value> ? Value : never;

/** A root with money, addresses and rates, without a payout. */
async function madeOf({ available, addresses, rates, owes, held }: State) {
  const root = await payee(1n, null);
  const { tenantId, id } = root;
  const { payment_id: payment } = await stored('deposit', root, id, 'to_account_id');
  const book = async (kind: string, of: string, minor: bigint) => {
    await call('lock_balance', tenantId, false, id, of);
    const sides = [
      { account: id, category: 'available', currency: of, amount: String(minor) },
      { contra: 'bank', currency: of, amount: String(-minor) },
    ];
    await call('post', tenantId, false, kind, `${kind} ${of}`, payment, JSON.stringify(sides));
  };
  for (const [of, minor] of available) await book('deposit', of, of === 'JPY' ? minor * 100n : minor);
  if (owes !== null) await book('dispute', owes, -(10n ** 17n));
  for (const of of addresses) await root.payTo(of);
  for (const [source, target, value] of rates) await write(root, 'set_rate', { source, target, rate: value });
  if (held) await setServiceHold(world.operator, await world.operator.account(id, false), true);
  return root;
}

const reasonsOfAccount = ['balance_negative', 'address_missing'] as const;
const inOrder = (texts: string[]) => texts.toSorted();

of('payout_facts', () => {
  it('is a row for each currency of available money, and one of an account without any', async () => {
    const [rich, poor] = [await payee(100n, null), await payee(100n)];
    await poor.payOut();
    const facts = ({ tenantId }: Row, ...ids: string[]) =>
      call('payout_facts', tenantId, false, `{${ids.map((id) => `"${id}"`).join()}}`);
    const common = { applicable: true, reason: null, at_once: false, owes: false, rate_set_at: null };
    expect(await facts(rich, rich.id, poor.id)).toMatchObject([
      {
        ...common,
        account_id: rich.id,
        has_address: false,
        currency: 'USD',
        available: '100',
        target: null,
        rate: null,
      },
    ]);
    expect(await facts(poor, poor.id)).toMatchObject([
      { ...common, account_id: poor.id, has_address: true, currency: null, available: null },
    ]);
    expect(await facts(poor, 'account_1')).toEqual([]);
  });
});

describe('the next payouts of an account', () => {
  it('are those that are made at that moment, with their rates and amounts, and what is in their way', async () => {
    let [payouts, blocked] = [0, 0];
    const isAsPaid = async (tried: State) => {
      const { tenantId, id } = await madeOf(tried);
      const plan = await planOf(world.operator.scope({ tenantId, livemode: false }), id);
      const money = await world.sql<Row[]>`select currency from balance where tenant_id = ${tenantId}
        and account_id = ${id} and available > 0`;
      await call('pay_out', tenantId, false, '{}', id);
      const made = await world.sql<Row[]>`select * from payout where tenant_id = ${tenantId}`;
      expect(
        inOrder(
          plan.payouts.map(({ sourceAmount: from, amount: to, rate: at, rateSetAt }) => {
            const isSet = tried.rates.some(([source, target]) => source === from.currency && target === to.currency);
            expect([from.currency, to.currency, rateSetAt !== null]).toEqual([from.currency, to.currency, isSet]);
            return `${from.amount} ${from.currency} at ${at} is ${to.amount} ${to.currency}`;
          }),
        ),
      ).toEqual(
        inOrder(made.map((y) => `${y.source_amount} ${y.source_currency} at ${y.rate} is ${y.amount} ${y.currency}`)),
      );
      const blocks = await world.sql<Row[]>`select * from payout_block where tenant_id = ${tenantId}`;
      const reasons = plan.obstacles.map(({ reasonCode }) => reasonCode);
      expect(reasons.includes('service_hold')).toBe(tried.held);
      // What concerns the account is in the way of all its money, and a hold is told by the setting alone.
      const ofAccount = reasonsOfAccount.find((reason) => reasons.includes(reason));
      const told = ofAccount
        ? money.map(({ currency: of }) => `${of} ${ofAccount}`)
        : plan.obstacles.map(({ currency: of, reasonCode }) => `${of} ${reasonCode}`);
      expect(inOrder(blocks.map((each) => `${each.currency} ${each.reason_code}`))).toEqual(
        tried.held ? [] : inOrder(told),
      );
      payouts += made.length;
      blocked += blocks.length;
    };
    await fc.assert(fc.asyncProperty(state, isAsPaid), { seed: scale.seed, numRuns: scale.whole ? 2_000 : 60 });
    // Both were tried.
    expect([payouts > 10, blocked > 10]).toEqual([true, true]);
  });
});
