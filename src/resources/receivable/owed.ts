import { sql } from 'drizzle-orm';
import { Field, Int, ObjectType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { Count, CountPrecision, countUpTo } from '../../types/count.js';
import { totalCountMax } from '../../types/pagination.js';
import { Currency, DateTime } from '../../types/scalars.js';
import type { AccountRow } from '../account/table.js';
import { grouped } from '../balance/range.js';
import { Money } from '../balance/type.js';
import { nowOfStatement } from '../clock/now.js';
import { receivable } from './table.js';

const p = sql.placeholder;

@ObjectType({ simpleResolvers: true, description: 'What an account owes in a currency.' })
export class OwedOfCurrency {
  @Field(() => Currency, { description: 'The currency of the receivables.' })
  currency: string;
  @Field(() => Int, { description: 'The number of OPEN receivables.' })
  count: number;
  @Field(() => Money, { description: 'The sum of what is still open: their `amountReconcilable`.' })
  total: Money;
}

/** What an account owes by the invoices that bill it. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'What an account owes by the invoices that bill it.' })
export class Owed {
  @Field(() => DateTime, { description: 'When it was added up.' })
  asOf: number;
  @Field(() => Count, { description: `The number of OPEN receivables, counted up to ${totalCountMax}.` })
  receivables: Count;
  @Field(() => [OwedOfCurrency], {
    nullable: true,
    description:
      'The sums by currency; empty where nothing is open. Null where `receivables` is not exact: so many are ' +
      'not added up.',
  })
  currencies: OwedOfCurrency[] | null;
}

interface Row {
  accountId: string;
  /** Null in the only row of an account without open receivables. */
  currency: string | null;
  count: string;
  amount: string;
  now: string;
}

/**
 * What an account owes by the open invoices that bill it, by currency. One statement reads all accounts that are
 * requested in one tick, of each at most so many index entries as a count reads; beyond that there are no sums, since a
 * sum of some invoices would be wrong. Who sees a partner sees all receivables that bill it: they are those of its
 * owner. Silent: all of it.
 */
export async function owes({ id }: AccountRow, { scope }: Context): Promise<Owed | null> {
  const batch = async (ids: readonly string[]) => {
    const rows = await scope.read<Row>(
      'owed_by_customers',
      (db) =>
        db
          .select({
            accountId: sql<string>`x.id`,
            currency: sql<string | null>`x.currency`,
            count: sql<string>`count(x.currency)`,
            amount: sql<string>`coalesce(sum(x.amount_reconcilable), 0)::text`,
            now: sql<string>`max(x.now)`,
          })
          .from(
            sql`(select c.id, r.currency, r.amount_reconcilable, t.now from unnest(${p('ids')}::text[]) c(id)
              cross join (select ${nowOfStatement} as now) t
              left join lateral (select currency, amount_reconcilable from ${receivable}
                where tenant_id = ${p('tenantId')} and livemode = ${p('livemode')}
                  and customer_id = c.id and status = 'open'
                limit ${sql.raw(String(totalCountMax + 1))}) r on true) x`,
          )
          .groupBy(sql`1`, sql`2`)
          .orderBy(sql`1, 2`),
      { ids },
    );
    const found = grouped(
      ids,
      rows.map((row) => [row.accountId, row]),
    );
    return new Map([...found].map(([each, of]) => [each, owedOf(of)]));
  };
  return scope.many('owed_by_customers', id, batch);
}

function owedOf(rows: readonly Row[]): Owed {
  const receivables = countUpTo(
    totalCountMax,
    rows.reduce((all, { count }) => all + Number(count), 0),
  );
  const currencies = rows.flatMap(({ currency, count, amount }) =>
    currency === null ? [] : [{ currency, count: Number(count), total: { amount: BigInt(amount), currency } }],
  );
  const exact = receivables.precision === CountPrecision.EXACT;
  return { asOf: Number(rows[0]!.now), receivables, currencies: exact ? currencies : null };
}
