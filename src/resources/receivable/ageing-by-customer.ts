import { sql } from 'drizzle-orm';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { refuseLimit } from '../../types/pagination.js';
import { Money } from '../balance/type.js';
import { AgeingBucket, AgeingOfBucket, type AgeingOfCurrency, agedReceivables, bucketsOf } from './ageing.js';

const p = sql.placeholder;

/** The most customers of a currency that one answer has, and the number by default. */
const customersMax = 100;
const customersDefault = 10;

@ArgsType()
export class AgeingCustomersArgs {
  @Field(() => Int, {
    defaultValue: customersDefault,
    description: `How many customers of each currency: 1 to ${customersMax}.`,
  })
  limit: number;
}

@ObjectType({
  simpleResolvers: true,
  description: 'The open receivables of a currency that bill one customer, by how long they are overdue.',
})
export class AgeingOfCustomer {
  customerId: string | null;
  @Field(() => Int, { description: 'The number of receivables of all buckets.' })
  count: number;
  @Field(() => Money, { description: 'The sum of all buckets.' })
  total: Money;
  @Field(() => Money, { description: 'The sum of the receivables that are overdue.' })
  overdue: Money;
  @Field(() => [AgeingOfBucket], {
    description: 'All buckets, in the order of the enum. Those without a customer lead to no `receivables`.',
  })
  buckets: AgeingOfBucket[];
}

/** The customers of a currency that owe, as a part of an ageing. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'The customers that owe a currency, by its open receivables.' })
export class AgeingCustomers {
  @Field(() => Int, {
    description:
      'How many customers there are, also those that `customers` leaves out. The receivables without a customer ' +
      'count as one.',
  })
  customerCount: number;
  @Field(() => [AgeingOfCustomer], {
    description: 'From the greatest overdue sum, and then from the greatest sum of all.',
  })
  customers: AgeingOfCustomer[];
}

const buckets = Object.values(AgeingBucket);

interface Row {
  key: string;
  customerId: string | null;
  customers: number;
  /** By bucket, in the order of the enum. */
  counts: number[];
  amounts: (string | null)[];
}

/**
 * The customers that owe the receivables of a currency of an ageing. One statement reads all currencies and accounts
 * that are requested in one tick, and each of their open receivables, as an expensive read. Silent: all of it.
 */
export async function ageingCustomers(
  { accountId, of, asOf, currency }: AgeingOfCurrency,
  { scope }: Context,
  { limit }: AgeingCustomersArgs,
): Promise<AgeingCustomers | null> {
  refuseLimit('ageing_of_currency', limit, customersMax);
  const name = `receivable_ageing_customers:${of}`;
  const each = (column: ReturnType<typeof sql>) =>
    sql`array[${sql.join(
      buckets.map((bucket) => sql`${column} filter (where x.bucket = ${sql.raw(`'${bucket}'`)})`),
      sql`, `,
    )}]`;
  const batch = async (keys: readonly string[]) => {
    const rows = await scope.read<Row>(
      name,
      (db) =>
        db
          .select({
            key: sql<string>`z.key`,
            customerId: sql<string | null>`z.customer_id`,
            customers: sql<number>`z.customers::int`,
            counts: sql<number[]>`to_jsonb(z.counts)`,
            amounts: sql<string[]>`to_jsonb(z.amounts::text[])`,
          })
          .from(
            sql`(with day as materialized (select ${p('asOf')}::date as today)
              select y.*, count(*) over (partition by y.key) as customers, row_number() over (partition by y.key
                order by y.overdue desc, y.total desc, y.customer_id nulls last) as rank
              from (select x.account_id || '/' || x.currency as key, x.customer_id,
                  ${each(sql`count(*)`)} as counts, ${each(sql`sum(x.amount)`)} as amounts, sum(x.amount) as total,
                  coalesce(sum(x.amount) filter (where x.bucket <> 'not_due'), 0) as overdue
                from (${agedReceivables(of)}) x where x.account_id || '/' || x.currency = any(${p('keys')}::text[])
                group by x.account_id, x.currency, x.customer_id) y) z`,
          )
          .where(sql`z.rank <= ${p('most')}`)
          .orderBy(sql`z.key, z.rank`),
      { ids: [...new Set(keys.map((key) => key.split('/')[0]!))], keys, asOf, most: limit },
    );
    return new Map(
      keys.map((key) => {
        const found = rows.filter((row) => row.key === key);
        return [
          key,
          {
            customerCount: found[0]?.customers ?? 0,
            customers: found.map((row) => customerOf(row, key.split('/')[1]!, asOf)),
          },
        ];
      }),
    );
  };
  return scope.many(`${name}:${asOf}:${limit}`, `${accountId}/${currency}`, batch);
}

/** All receivables that bill a customer are those of its owner, so they are the ones that this ageing has of it. */
function customerOf({ customerId, counts, amounts }: Row, currency: string, asOf: string): AgeingOfCustomer {
  const sums = bucketsOf({ accountId: customerId, of: 'billed', currency }, asOf, (_, i) => ({
    count: counts[i]!,
    amount: amounts[i]!,
  }));
  const sumOf = (of: readonly AgeingOfBucket[]) => ({
    amount: of.reduce((sum, { amount }) => sum + amount.amount, 0n),
    currency,
  });
  return {
    customerId,
    count: sums.reduce((sum, { count }) => sum + count, 0),
    total: sumOf(sums),
    overdue: sumOf(sums.filter(({ bucket }) => bucket !== AgeingBucket.NOT_DUE)),
    buckets: sums,
  };
}

/** How many customers of a currency an answer has at most, from the arguments that the client wrote. */
export function customersOfAgeing(argument: (name: string) => unknown): number {
  const limit = Number(argument('limit') ?? customersDefault);
  return Number.isFinite(limit) ? Math.min(Math.max(limit, 0), customersMax) : customersMax;
}
