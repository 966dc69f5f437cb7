import { sql } from 'drizzle-orm';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import type { Scope } from '../../db/scope.js';
import type { Context } from '../../operation/context.js';
import { Currency } from '../../types/scalars.js';
import type { PayoutsDisabledReason } from '../account-setting/table.js';
import type { AccountRow } from '../account/table.js';
import { clockOffset, now } from '../clock/now.js';

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
  rate: string | null;
  amount: string | null;
}

export interface PayoutPlan {
  nextAt: number | null;
  obstacles: PayoutObstacle[];
}

/** When the account's next payout is due. Silent: the field. */
export async function nextPayoutAt({ id }: AccountRow, { scope }: Context): Promise<number | null> {
  return (await planOf(scope, id)).nextAt;
}

/** Why the account, or some of its money, would not be paid out. Silent: the field. */
export async function payoutsBlockedBy({ id }: AccountRow, { scope }: Context): Promise<PayoutObstacle[]> {
  return (await planOf(scope, id)).obstacles;
}

/** When and whether an account is paid out. One statement reads all accounts that are requested in one tick. */
export async function planOf(scope: Scope, id: string): Promise<PayoutPlan> {
  const facts = await scope.many('payout_plans', id, (ids) => readFacts(scope, ids));
  return planFrom(facts ?? []);
}

/** The same rules as `pay_out`, in the same order, and `schedule_payout`. */
function planFrom(facts: readonly Facts[]): PayoutPlan {
  const [account] = facts;
  if (!account?.applicable) return { nextAt: null, obstacles: [{ reasonCode: 'not_applicable', currency: null }] };
  const all: (PayoutObstacleReason | null)[] = [
    account.reason,
    account.owes ? 'balance_negative' : null,
    account.hasAddress ? null : 'address_missing',
  ];
  const ofAccount = all.flatMap((reasonCode) => (reasonCode ? [{ reasonCode, currency: null }] : []));
  const money = facts.filter(({ currency }) => currency !== null);
  const ofMoney = account.hasAddress ? money.flatMap(obstacleOf) : [];
  const obstacles = [...ofAccount, ...ofMoney];
  if (ofAccount.length > 0 || (money.length > 0 && ofMoney.length === money.length)) return { nextAt: null, obstacles };
  if (account.scheduled !== null && money.length > 0)
    return { nextAt: Math.max(Number(account.scheduled), Number(account.now)), obstacles };
  return { nextAt: account.atOnce ? null : Number(account.nextInterval), obstacles };
}

function obstacleOf({ currency, rate, amount }: Facts): PayoutObstacle[] {
  if (rate === null) return [{ reasonCode: 'rate_missing', currency }];
  if (amount === null) return [{ reasonCode: 'amount_too_large', currency }];
  return BigInt(amount) <= 0n ? [{ reasonCode: 'amount_too_small', currency }] : [];
}

/**
 * The first ten look-ups of an account are by keys; those of its money are one per currency. The address of a payout is
 * chosen as `payout_address` chooses it.
 */
async function readFacts(scope: Scope, ids: readonly string[]): Promise<Map<string, Facts[]>> {
  const own = (table: string) =>
    sql`${sql.raw(table)}.tenant_id = ${p('tenantId')} and ${sql.raw(table)}.livemode = ${p('livemode')}`;
  const usable = sql`${own('a')} and a.linked_id = s.account_id and a.category = 'user_payout'
    and a.status = 'activated'`;
  const liveFx = sql`s.of_connected_user and exists (select from account_setting g where ${own('g')}
    and g.account_id = 'account_' || ${p('tenantId')}::text and g.live_fx)`;
  const scheduled = sql`(select j.due + ${clockOffset} from job j where ${own('j')} and j.kind = 'pay_out'
    and j.subject_id = s.account_id order by j.due limit 1)`;
  const money = sql`select b.currency, e.rate::text as rate, e.amount::text as amount from balance b
      left join lateral (select a.currency from address a
          where ${usable} order by (a.currency = b.currency) desc, a.created desc, a.id desc limit 1) d on true
      left join lateral exchanged(${p('tenantId')}, ${p('livemode')}, b.available, b.currency, d.currency) e on true
      where ${own('b')} and b.account_id = s.account_id and b.available > 0`;
  const rows = await scope.read<Facts>(
    'payout_plans',
    (db) =>
      db
        .select({
          accountId: sql<string>`s.account_id`,
          applicable: sql<boolean>`s.payouts_applicable`,
          reason: sql<PayoutsDisabledReason | null>`s.payouts_reason`,
          atOnce: sql<boolean>`${liveFx}`,
          owes: sql<boolean>`exists (select from balance b where ${own('b')} and b.account_id = s.account_id
            and b.available < 0)`,
          hasAddress: sql<boolean>`exists (select from address a where ${usable})`,
          now: sql<string>`n.now`,
          nextInterval: sql<string>`n.now + seconds_to_payout(s, n.now)`,
          scheduled: sql<string | null>`${scheduled}`,
          currency: sql<string | null>`m.currency`,
          rate: sql<string | null>`m.rate`,
          amount: sql<string | null>`m.amount`,
        })
        .from(
          sql`account_setting s cross join (select ${now} as now) n left join lateral (${money}) m on true
            where ${own('s')} and s.account_id = any(${p('ids')})`,
        )
        .orderBy(sql`s.account_id, m.currency`),
    { ids },
  );
  const byAccount = new Map<string, Facts[]>(ids.map((id) => [id, []]));
  for (const row of rows) byAccount.get(row.accountId)?.push(row);
  return byAccount;
}
