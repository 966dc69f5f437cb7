import { sql } from 'drizzle-orm';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import type { Scope } from '../../db/scope.js';
import type { Context } from '../../operation/context.js';
import { Currency, DateTime } from '../../types/scalars.js';
import type { PayoutsDisabledReason } from '../account-setting/table.js';
import type { AccountRow } from '../account/table.js';
import { Money } from '../balance/type.js';

const p = sql.placeholder;

/** Why an account, or its money in one currency, would not be paid out at present. Silent: all codes. */
export const PayoutObstacleReason = {
  ACCOUNT_NOT_ACTIVATED: 'account_not_activated',
  ADDRESS_MISSING: 'address_missing',
  AMOUNT_TOO_LARGE: 'amount_too_large',
  AMOUNT_TOO_SMALL: 'amount_too_small',
  BALANCE_NEGATIVE: 'balance_negative',
  NOT_APPLICABLE: 'not_applicable',
  PLATFORM_HOLD: 'platform_hold',
  RATE_MISSING: 'rate_missing',
  SERVICE_HOLD: 'service_hold',
} as const;
export type PayoutObstacleReason = (typeof PayoutObstacleReason)[keyof typeof PayoutObstacleReason];

registerEnumType(PayoutObstacleReason, {
  name: 'PayoutObstacleReason',
  description: 'Why an account, or its money in one currency, would not be paid out at present.',
  valuesConfig: {
    ACCOUNT_NOT_ACTIVATED: { description: 'The account is not activated.' },
    ADDRESS_MISSING: { description: 'The account has no activated payout address.' },
    AMOUNT_TOO_LARGE: { description: 'The money is more than the largest payout in the currency of the address.' },
    AMOUNT_TOO_SMALL: {
      description:
        'The money is less than the smallest amount of the currency of the ' +
        'address. It is paid out together with later money.',
    },
    BALANCE_NEGATIVE: { description: 'The account owes money in some currency after a dispute or a reversal.' },
    NOT_APPLICABLE: {
      description: 'The account has no payouts: it is a partner, or a connected user whose aggregator is paid out.',
    },
    PLATFORM_HOLD: { description: 'Disabled by the platform.' },
    RATE_MISSING: { description: 'The operator has given no rate into the currency of the address.' },
    SERVICE_HOLD: { description: 'Disabled by the service.' },
  },
});

@ObjectType({
  simpleResolvers: true,
  description: 'A reason why an account, or its money in one currency, would not be paid out at present.',
})
export class PayoutObstacle {
  @Field(() => PayoutObstacleReason, { description: 'The reason.' })
  reasonCode: PayoutObstacleReason;
  @Field(() => Currency, {
    nullable: true,
    description: 'The currency of the money that it concerns. Null for a reason that concerns all payouts.',
  })
  currency: string | null;
}

@ObjectType({
  simpleResolvers: true,
  description: 'What the next payout of an account would be if it were made now, of its available money in a currency.',
})
export class NextPayout {
  @Field(() => Money, { description: 'The available money that it would take.' })
  sourceAmount: Money;
  @Field(() => Money, {
    description: 'What would arrive, in the currency of the address. It is another amount once the rate changes.',
  })
  amount: Money;
  @Field(() => String, {
    description:
      'What one unit of the source currency buys now, as a decimal, such as `83.25`. 1 without a conversion.',
  })
  rate: string;
  @Field(() => DateTime, {
    nullable: true,
    description: 'When the operator set the rate. Null without a conversion, and for the fixed rates of test mode.',
  })
  rateSetAt: number | null;
}

/** What decides about the payouts of an account: a row for each currency of available money, and at least one. */
interface Facts {
  accountId: string;
  applicable: boolean;
  reason: PayoutsDisabledReason | null;
  atOnce: boolean;
  owes: boolean;
  hasAddress: boolean;
  now: string;
  nextInterval: string;
  scheduled: string | null;
  currency: string | null;
  available: string;
  target: string;
  rate: string | null;
  rateSetAt: string | null;
  amount: string | null;
}

export interface PayoutPlan {
  nextAt: number | null;
  obstacles: PayoutObstacle[];
  payouts: NextPayout[];
  /** The available money that would not be paid out; less than the smallest payout waits for more, and is left out. */
  blocked: Money[];
}

/** When the account's next payout is due. Silent: the field. */
export async function nextPayoutAt({ id }: AccountRow, { scope }: Context): Promise<number | null> {
  return (await planOf(scope, id)).nextAt;
}

/** Why the account, or some of its money, would not be paid out. Silent: the field. */
export async function payoutsBlockedBy({ id }: AccountRow, { scope }: { scope: Scope }): Promise<PayoutObstacle[]> {
  return (await planOf(scope, id)).obstacles;
}

/** What the next payout would be now, by the currency of its money. Silent: the field. */
export async function nextPayouts({ id }: AccountRow, { scope }: Context): Promise<NextPayout[]> {
  return (await planOf(scope, id)).payouts;
}

/** When and whether an account is paid out. One statement reads all accounts that are requested in one tick. */
export async function planOf(scope: Scope, id: string): Promise<PayoutPlan> {
  const facts = await scope.many('payout_plans', id, (ids) => readFacts(scope, ids));
  return planFrom(facts ?? []);
}

/** The same rules as `pay_out`, in the same order, and `schedule_payout`. */
function planFrom(facts: readonly Facts[]): PayoutPlan {
  const [account] = facts;
  if (!account?.applicable)
    return { nextAt: null, obstacles: [{ reasonCode: 'not_applicable', currency: null }], payouts: [], blocked: [] };
  const all: (PayoutObstacleReason | null)[] = [
    account.reason,
    account.owes ? 'balance_negative' : null,
    account.hasAddress ? null : 'address_missing',
  ];
  const ofAccount = all.flatMap((reasonCode) => (reasonCode ? [{ reasonCode, currency: null }] : []));
  const money = facts.filter(({ currency }) => currency !== null);
  const ofMoney = account.hasAddress ? money.flatMap(obstacleOf) : [];
  const obstacles = [...ofAccount, ...ofMoney];
  const payouts = ofAccount.length > 0 ? [] : money.filter((each) => obstacleOf(each).length === 0).map(nextPayoutOf);
  const isBlocked = (of: Facts) =>
    ofAccount.length > 0 || obstacleOf(of).some(({ reasonCode }) => reasonCode !== 'amount_too_small');
  const plan = { obstacles, payouts, blocked: money.filter(isBlocked).map(availableOf) };
  if (ofAccount.length > 0 || (money.length > 0 && ofMoney.length === money.length)) return { ...plan, nextAt: null };
  if (account.scheduled !== null && money.length > 0)
    return { ...plan, nextAt: Math.max(Number(account.scheduled), Number(account.now)) };
  return { ...plan, nextAt: account.atOnce ? null : Number(account.nextInterval) };
}

const availableOf = ({ available, currency }: Pick<Facts, 'available' | 'currency'>): Money => ({
  amount: BigInt(available),
  currency: currency!,
});

const nextPayoutOf = ({ target, rate, rateSetAt, amount, ...facts }: Facts): NextPayout => ({
  sourceAmount: availableOf(facts),
  amount: { amount: BigInt(amount!), currency: target },
  rate: rate!,
  rateSetAt: rateSetAt === null ? null : Number(rateSetAt),
});

function obstacleOf({ currency, rate, amount }: Facts): PayoutObstacle[] {
  if (rate === null) return [{ reasonCode: 'rate_missing', currency }];
  if (amount === null) return [{ reasonCode: 'amount_too_large', currency }];
  return BigInt(amount) <= 0n ? [{ reasonCode: 'amount_too_small', currency }] : [];
}

/** `payout_facts` of the accounts, in one statement. */
async function readFacts(scope: Scope, ids: readonly string[]): Promise<Map<string, Facts[]>> {
  const rows = await scope.read<Facts>(
    'payout_plans',
    (db) =>
      db
        .select({
          accountId: sql<string>`z.account_id`,
          applicable: sql<boolean>`z.applicable`,
          reason: sql<PayoutsDisabledReason | null>`z.reason`,
          atOnce: sql<boolean>`z.at_once`,
          owes: sql<boolean>`z.owes`,
          hasAddress: sql<boolean>`z.has_address`,
          now: sql<string>`z.now::text`,
          nextInterval: sql<string>`z.next_interval::text`,
          scheduled: sql<string | null>`z.scheduled::text`,
          currency: sql<string | null>`z.currency`,
          available: sql<string>`z.available::text`,
          target: sql<string>`z.target`,
          rate: sql<string | null>`z.rate::text`,
          rateSetAt: sql<string | null>`z.rate_set_at::text`,
          amount: sql<string | null>`z.amount::text`,
        })
        .from(sql`payout_facts(${p('tenantId')}, ${p('livemode')}, ${p('ids')}::text[]) z`),
    { ids },
  );
  const byAccount = new Map<string, Facts[]>(ids.map((id) => [id, []]));
  for (const row of rows) byAccount.get(row.accountId)?.push(row);
  return byAccount;
}
