import { type SQL, sql } from 'drizzle-orm';
import { ArgsType, Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { AccountScope } from '../../types/account-scope.js';
import { Currency, LocalDate } from '../../types/scalars.js';
import type { AccountRow } from '../account/table.js';
import { grouped } from '../balance/range.js';
import { Money } from '../balance/type.js';
import { nowOfStatement } from '../clock/now.js';
import { checkTimeZone, timeZoneText } from '../clock/time-zone.js';
import type { CursorArgs } from '../../types/pagination.js';
import { bucketListing } from './listing.js';
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

/** The first and the last number of days overdue of each bucket. */
const days: readonly { bucket: AgeingBucket; first: number | null; last: number | null }[] = [
  { bucket: 'not_due', first: null, last: 0 },
  { bucket: 'days_1_to_30', first: 1, last: 30 },
  { bucket: 'days_31_to_60', first: 31, last: 60 },
  { bucket: 'days_61_to_90', first: 61, last: 90 },
  { bucket: 'over_90_days', first: 91, last: null },
];

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

const todayText = `${timeZoneText} It decides which day is today.`;

@ArgsType()
export class BilledAgeingArgs {
  @Field(() => String, { defaultValue: 'UTC', description: todayText })
  timeZone: string;
}

@ArgsType()
export class ReceivableAgeingArgs extends ReceivableTotalsArgs {
  @Field(() => String, { defaultValue: 'UTC', description: todayText })
  timeZone: string;
}

/**
 * Whose receivables an ageing has: those that an account is owed, with those of the accounts below it or without, or
 * those that bill it.
 */
export type AgeingOf = 'self' | 'descendants' | 'billed';

@ObjectType({ simpleResolvers: true, description: 'The open receivables of a currency that are overdue equally long.' })
export class AgeingOfBucket {
  /** Null for the receivables of a customer that is not known. */
  accountId: string | null;
  of: AgeingOf;
  currency: string;
  @Field(() => AgeingBucket, { description: 'How long the receivables are overdue.' })
  bucket: AgeingBucket;
  @Field(() => LocalDate, { nullable: true, description: 'The first due date of the bucket; null for OVER_90_DAYS.' })
  dueFrom: string | null;
  @Field(() => LocalDate, { nullable: true, description: 'The last due date of the bucket; null for NOT_DUE.' })
  dueTo: string | null;
  @Field(() => Int, { description: 'The number of receivables; 0 for none.' })
  count: number;
  @Field(() => Money, { description: 'The sum of what is still open: their `amountReconcilable`.' })
  amount: Money;
}

@ObjectType({ simpleResolvers: true, description: 'The open receivables of a currency by how long they are overdue.' })
export class AgeingOfCurrency {
  accountId: string;
  of: AgeingOf;
  asOf: string;
  @Field(() => Currency, { description: 'The currency of the receivables.' })
  currency: string;
  @Field(() => Int, { description: 'The number of receivables of all buckets.' })
  count: number;
  @Field(() => Money, { description: 'The sum of all buckets.' })
  total: Money;
  @Field(() => [AgeingOfBucket], { description: 'All buckets, in the order of the enum.' })
  buckets: AgeingOfBucket[];
}

/** Open receivables by how long they are overdue. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'Open receivables by currency and by how long they are overdue.' })
export class ReceivableAgeing {
  @Field(() => LocalDate, { description: 'Today, from which the days overdue are counted, in the time zone.' })
  asOf: string;
  @Field(() => [AgeingOfCurrency], {
    description: 'The currencies that have open receivables, in the order of their codes.',
  })
  currencies: AgeingOfCurrency[];
}

interface Row {
  accountId: string;
  /** Null in the row that each account has. */
  currency: string | null;
  bucket: AgeingBucket | null;
  count: number;
  amount: string;
  today: string;
}

/** The open receivables of an account by how long they are overdue, by the tenant's clock. Silent: all of it. */
export const receivableAgeing = (
  { id }: AccountRow,
  context: Context,
  { scope, timeZone }: ReceivableAgeingArgs,
): Promise<ReceivableAgeing | null> =>
  ageing(id, context, scope === AccountScope.DESCENDANTS ? 'descendants' : 'self', timeZone);

/**
 * The open receivables that bill an account by how long they are overdue. A caller who sees a partner sees all
 * receivables that bill it: they are those of its owner. Silent: all of it.
 */
export const billedAgeing = (
  { id }: AccountRow,
  context: Context,
  { timeZone }: BilledAgeingArgs,
): Promise<ReceivableAgeing | null> => ageing(id, context, 'billed', timeZone);

/**
 * One statement reads all accounts that are requested in one tick, and each of their open receivables, as an expensive
 * read.
 */
async function ageing(id: string, { scope }: Context, of: AgeingOf, timeZone: string) {
  await checkTimeZone(scope, 'account.time_zone', timeZone);
  const name = `receivable_ageing:${of}`;
  const today = sql`(to_timestamp((select now from clock)) at time zone ${p('timeZone')}::text)::date`;
  const batch = async (ids: readonly string[]) => {
    const rows = await scope.read<Row>(
      name,
      (db) =>
        db
          .select({
            accountId: sql<string>`x.account_id`,
            currency: sql<string | null>`x.currency`,
            bucket: sql<AgeingBucket | null>`x.bucket`,
            count: sql<number>`count(*)::int`,
            amount: sql<string>`sum(x.amount)::text`,
            today: sql<string>`max(x.today)::text`,
          })
          .from(
            sql`(with clock as materialized (select ${nowOfStatement} as now), day as materialized (select ${today} as
              today) ${agedReceivables(of)} union all
              select i.id, null, null, null, 0, d.today from unnest(${p('ids')}::text[]) i(id) cross join day d) x`,
          )
          .groupBy(sql`1`, sql`2`, sql`3`)
          .orderBy(sql`1, 2`),
      { ids, timeZone },
    );
    const found = grouped(
      ids,
      rows.map((row) => [row.accountId, row]),
    );
    return new Map([...found].map(([each, ofAccount]) => [each, ageingOf(each, of, ofAccount)]));
  };
  return scope.many(`${name}:${timeZone}`, id, batch);
}

/**
 * The open receivables of the accounts of an ageing, each with its bucket at the date of `day`; for a root account also
 * those of all others, and of these with the root as their account.
 */
export function agedReceivables(of: AgeingOf): SQL {
  const overdue = sql`(d.today - (r.invoice ->> 'dueDate')::date)`;
  const bucket = sql`case when ${overdue} < 1 then 'not_due' when ${overdue} < 31 then 'days_1_to_30'
    when ${overdue} < 61 then 'days_31_to_60' when ${overdue} < 91 then 'days_61_to_90' else 'over_90_days' end`;
  const part = (id: SQL, where: SQL) =>
    sql`select ${id} as account_id, r.customer_id, ${bucket} as bucket, r.currency, r.amount_reconcilable as amount,
        d.today
      from ${receivable} r cross join day d
      where r.tenant_id = ${p('tenantId')} and r.livemode = ${p('livemode')} and r.status = 'open' and ${where}`;
  if (of === 'billed') return part(sql`r.customer_id`, sql`r.customer_id = any(${p('ids')})`);
  const own = part(sql`r.account_id`, sql`r.account_id = any(${p('ids')})`);
  if (of === 'self') return own;
  const root = sql`('account_' || ${p('tenantId')}::text)`;
  const others = sql`r.on_root_list = any('{f,t}'::boolean[]) and ${root} = any(${p('ids')})
    and r.account_id <> ${root}`;
  return sql`${own} union all ${part(root, others)}`;
}

function ageingOf(accountId: string, of: AgeingOf, rows: readonly Row[]): ReceivableAgeing {
  const asOf = rows[0]!.today;
  const currencies = [...new Set(rows.flatMap(({ currency }) => currency ?? []))];
  return {
    asOf,
    currencies: currencies.map((currency) => {
      const buckets = bucketsOf({ accountId, of, currency }, asOf, (bucket) =>
        rows.find((each) => each.currency === currency && each.bucket === bucket),
      );
      const amount = buckets.reduce((sum, each) => sum + each.amount.amount, 0n);
      const count = buckets.reduce((sum, each) => sum + each.count, 0);
      return { ...{ accountId, of, asOf, currency }, count, total: { amount, currency }, buckets };
    }),
  };
}

/** All buckets of receivables, in the order of the enum, from the sums of those that have any. */
export const bucketsOf = (
  counted: Pick<AgeingOfBucket, 'accountId' | 'of' | 'currency'>,
  asOf: string,
  sumOf: (bucket: AgeingBucket, index: number) => { count: number; amount: string | null } | undefined,
): AgeingOfBucket[] =>
  days.map(({ bucket, first, last }, index) => {
    const { count = 0, amount } = sumOf(bucket, index) ?? {};
    return {
      ...counted,
      bucket,
      dueFrom: last === null ? null : daysBefore(asOf, last),
      dueTo: first === null ? null : daysBefore(asOf, first),
      count,
      amount: { amount: BigInt(amount ?? 0), currency: counted.currency },
    };
  });

const daysBefore = (date: string, days: number): string =>
  new Date(Date.parse(date) - days * 86_400_000).toISOString().slice(0, 10);

/** A page of the receivables of a bucket, the earliest due date first; null where no index has them. */
export async function receivablesOfBucket(
  { accountId, of, currency, dueFrom, dueTo }: AgeingOfBucket,
  { scope }: Context,
  args: CursorArgs,
) {
  if (accountId === null) return null;
  const counted = {
    figure: 'ageing',
    counted: of === 'billed' ? receivable.customerId : receivable.accountId,
    descendants: of === 'descendants',
    key: 'currency',
  };
  const id = [accountId, currency, dueFrom ?? '0000-01-01', dueTo ?? '9999-12-31'].join('/');
  return scope.edge(receivable, bucketListing, counted, id, { ...args, orderBy: 'due_date_asc' });
}
