import { type SQL, sql } from 'drizzle-orm';
import { ArgsType, Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { AccountScope } from '../../types/account-scope.js';
import { Amount, Currency } from '../../types/scalars.js';
import type { AccountRow } from '../account/table.js';
import { now } from '../clock/now.js';
import { checkTimeZone, timeZoneText } from '../clock/time-zone.js';
import { receivable } from './table.js';
import { ReceivableTotalsArgs } from './totals.js';

const p = sql.placeholder;

/** How long open receivables are overdue. Silent: all values. */
export const AgeingBucket = {
  NOT_DUE: 'not_due',
  DAYS_1_TO_30: 'days_1_to_30',
  DAYS_31_TO_60: 'days_31_to_60',
  DAYS_61_TO_90: 'days_61_to_90',
  OVER_90_DAYS: 'over_90_days',
} as const;
export type AgeingBucket = (typeof AgeingBucket)[keyof typeof AgeingBucket];
const buckets = Object.values(AgeingBucket);

registerEnumType(AgeingBucket, {
  name: 'AgeingBucket',
  description: 'How many days open receivables are overdue.',
  valuesConfig: {
    NOT_DUE: { description: 'Due today or later.' },
    DAYS_1_TO_30: { description: 'Overdue by 1 to 30 days.' },
    DAYS_31_TO_60: { description: 'Overdue by 31 to 60 days.' },
    DAYS_61_TO_90: { description: 'Overdue by 61 to 90 days.' },
    OVER_90_DAYS: { description: 'Overdue by more than 90 days.' },
  },
});

@ArgsType()
export class ReceivableAgeingArgs extends ReceivableTotalsArgs {
  @Field(() => String, { defaultValue: 'UTC', description: `${timeZoneText} It decides which day is today.` })
  timeZone: string;
}

@ObjectType({
  simpleResolvers: true,
  description: 'The open receivables of a currency that are overdue equally long.',
})
export class ReceivableAgeing {
  @Field(() => AgeingBucket, { description: 'How long the receivables are overdue.' })
  bucket: AgeingBucket;
  @Field(() => Currency, { description: 'The currency of the amount.' })
  currency: string;
  @Field(() => Int, { description: 'The number of receivables.' })
  count: number;
  @Field(() => Amount, { description: 'The sum of what is still open.' })
  amount: bigint;
}

/**
 * The open receivables of an account by how long they are overdue, by the tenant's clock. One statement reads all
 * accounts that are requested in one tick, and each of their open receivables, as a slow question. Silent: all of it.
 */
export async function receivableAgeing(
  { id }: AccountRow,
  { scope }: Context,
  { scope: accountScope, timeZone }: ReceivableAgeingArgs,
): Promise<ReceivableAgeing[]> {
  await checkTimeZone(scope, 'account.time_zone', timeZone);
  const descendants = accountScope === AccountScope.DESCENDANTS;
  const name = `receivable_ageing${descendants ? ':descendants' : ''}`;
  const batch = async (ids: readonly string[]) => {
    const rows = await scope.read<Omit<ReceivableAgeing, 'amount'> & { accountId: string; amount: string }>(
      name,
      (db) =>
        db
          .select({
            accountId: sql<string>`x.account_id`,
            bucket: sql<AgeingBucket>`x.bucket`,
            currency: sql<string>`x.currency`,
            count: sql<number>`count(*)::int`,
            amount: sql<string>`sum(x.amount)::text`,
          })
          .from(sql`(${sql.join(partsOf(descendants), sql` union all `)}) x`)
          .groupBy(sql`1`, sql`2`, sql`3`)
          .orderBy(sql`1, 3`),
      { ids, timeZone },
    );
    const byId = new Map<string, ReceivableAgeing[]>(ids.map((each) => [each, []]));
    for (const { accountId, ...row } of rows) byId.get(accountId)?.push({ ...row, amount: BigInt(row.amount) });
    for (const found of byId.values())
      found.sort((one, other) => buckets.indexOf(one.bucket) - buckets.indexOf(other.bucket));
    return byId;
  };
  return (await scope.many(`${name}:${timeZone}`, id, batch)) ?? [];
}

/** The open receivables of the accounts, and for a root account those of all others. */
function partsOf(descendants: boolean): SQL[] {
  const days = sql`((to_timestamp(t.now) at time zone ${p('timeZone')}::text)::date - (r.invoice ->> 'dueDate')::date)`;
  const bucket = sql`case when ${days} < 1 then 'not_due' when ${days} < 31 then 'days_1_to_30'
    when ${days} < 61 then 'days_31_to_60' when ${days} < 91 then 'days_61_to_90' else 'over_90_days' end`;
  const part = (id: SQL, where: SQL) =>
    sql`select ${id} as account_id, ${bucket} as bucket, r.currency, r.amount_reconcilable as amount
      from ${receivable} r cross join (select ${now} as now) t
      where r.tenant_id = ${p('tenantId')} and r.livemode = ${p('livemode')} and r.status = 'open' and ${where}`;
  const root = sql`('account_' || ${p('tenantId')}::text)`;
  const own = part(sql`r.account_id`, sql`r.account_id = any(${p('ids')})`);
  const others = sql`r.on_root_list = any('{f,t}'::boolean[]) and ${root} = any(${p('ids')})
    and r.account_id <> ${root}`;
  return descendants ? [own, part(root, others)] : [own];
}
