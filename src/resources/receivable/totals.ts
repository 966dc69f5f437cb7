import { type SQL, sql } from 'drizzle-orm';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { AccountScope } from '../../types/account-scope.js';
import { Currency, DateTime } from '../../types/scalars.js';
import type { AccountRow } from '../account/table.js';
import { grouped } from '../balance/range.js';
import { Money } from '../balance/type.js';
import { nowOfStatement } from '../clock/now.js';
import { ReceivableStatus, receivable } from './table.js';

const p = sql.placeholder;

@ArgsType()
export class ReceivableTotalsArgs {
  @Field(() => AccountScope, {
    defaultValue: AccountScope.SELF,
    description:
      'Whether the receivables of the accounts below the account count, too: of a platform, those of its users.',
  })
  scope: AccountScope;
}

@ObjectType({ simpleResolvers: true, description: 'The sums of receivables of a currency.' })
export class ReceivableSums {
  @Field(() => Int, { description: 'The number of receivables.' })
  count: number;
  @Field(() => Money, { description: 'The sum of what they may be paid.' })
  amountMaximumReconcilable: Money;
  @Field(() => Money, { description: 'The sum of what is still open.' })
  amountReconcilable: Money;
  @Field(() => Money, { description: 'The sum of what was received and is not paid out yet.' })
  amountLocked: Money;
  @Field(() => Money, { description: 'The sum of what was paid out.' })
  amountSettledPayouts: Money;
}

@ObjectType({
  simpleResolvers: true,
  description: 'The receivables of a status and currency together. What is still open is `amountReconcilable`.',
})
export class ReceivableTotalOfStatus extends ReceivableSums {
  @Field(() => ReceivableStatus, { description: 'The status that these receivables have.' })
  status: ReceivableStatus;
}

@ObjectType({ simpleResolvers: true, description: 'The receivables of a currency together.' })
export class ReceivableTotalOfCurrency {
  @Field(() => Currency, { description: 'The currency of the receivables.' })
  currency: string;
  @Field(() => ReceivableSums, { description: 'The sums of all statuses but VOID: a void receivable cannot be paid.' })
  total: ReceivableSums;
  @Field(() => [ReceivableTotalOfStatus], { description: 'All statuses, in the order of the enum.' })
  statuses: ReceivableTotalOfStatus[];
}

/** The receivables of an account by currency and status. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'Receivables together, by currency and status.' })
export class ReceivableTotals {
  @Field(() => DateTime, { description: 'When they were added up.' })
  asOf: number;
  @Field(() => [ReceivableTotalOfCurrency], {
    description: 'The currencies that have receivables, in the order of their codes.',
  })
  currencies: ReceivableTotalOfCurrency[];
}

const amounts = ['amountMaximumReconcilable', 'amountReconcilable', 'amountLocked', 'amountSettledPayouts'] as const;
type Sums = Record<(typeof amounts)[number], string>;

interface Row extends Sums {
  accountId: string;
  /** Null in the row that each account has. */
  status: ReceivableStatus | null;
  currency: string | null;
  count: number;
  now: string;
}

/**
 * Receivables of an account by currency and status. One statement reads all accounts that are requested in one tick,
 * and each of their receivables. Silent: all of it.
 */
export async function receivableTotals(
  { id }: AccountRow,
  { scope }: Context,
  { scope: accountScope }: ReceivableTotalsArgs,
): Promise<ReceivableTotals | null> {
  const descendants = accountScope === AccountScope.DESCENDANTS;
  const name = `receivable_totals${descendants ? ':descendants' : ''}`;
  const batch = async (ids: readonly string[]) => {
    const rows = await scope.read<Row>(
      name,
      (db) =>
        db
          .select({
            accountId: sql<string>`x.account_id`,
            status: sql<ReceivableStatus | null>`x.status`,
            currency: sql<string | null>`x.currency`,
            count: sql<number>`count(*)::int`,
            amountMaximumReconcilable: sql<string>`sum(x.amount_maximum_reconcilable)::text`,
            amountReconcilable: sql<string>`sum(x.amount_reconcilable)::text`,
            amountLocked: sql<string>`sum(x.amount_locked)::text`,
            amountSettledPayouts: sql<string>`sum(x.amount_settled_payouts)::text`,
            now: sql<string>`max(t.now)`,
          })
          .from(
            sql`(${sql.join(partsOf(descendants), sql` union all `)}) x cross join (select ${nowOfStatement} as now) t`,
          )
          .groupBy(sql`1`, sql`2`, sql`3`)
          .orderBy(sql`1, 3`),
      { ids },
    );
    const found = grouped(
      ids,
      rows.map((row) => [row.accountId, row]),
    );
    return new Map([...found].map(([each, of]) => [each, totalsOf(of)]));
  };
  return scope.many(name, id, batch);
}

/**
 * The receivables of the accounts, and for a root account those of all others, in parts that each follow an index; and
 * a row of each account.
 */
function partsOf(descendants: boolean): SQL[] {
  const part = (id: SQL, where: SQL) =>
    sql`select ${id} as account_id, r.status, r.currency, r.amount_maximum_reconcilable, r.amount_reconcilable,
      r.amount_locked, r.amount_settled_payouts
      from ${receivable} r where r.tenant_id = ${p('tenantId')} and r.livemode = ${p('livemode')} and ${where}`;
  const root = sql`('account_' || ${p('tenantId')}::text)`;
  const own = part(sql`r.account_id`, sql`r.account_id = any(${p('ids')})`);
  const others = sql`r.on_root_list = any('{f,t}'::boolean[]) and ${root} = any(${p('ids')})
    and r.account_id <> ${root}`;
  const each = sql`select i.id, null, null, 0, 0, 0, 0 from unnest(${p('ids')}::text[]) i(id)`;
  return [own, ...(descendants ? [part(root, others)] : []), each];
}

function totalsOf(rows: readonly Row[]): ReceivableTotals {
  const currencies = [...new Set(rows.flatMap(({ currency }) => currency ?? []))];
  return {
    asOf: Number(rows[0]!.now),
    currencies: currencies.map((currency) => {
      const found = rows.filter((each) => each.currency === currency);
      const statuses = Object.values(ReceivableStatus).map((status) => ({
        status,
        ...sumsOf(
          currency,
          found.filter((each) => each.status === status),
        ),
      }));
      const valid = found.filter(({ status }) => status !== 'void');
      return { currency, total: sumsOf(currency, valid), statuses };
    }),
  };
}

function sumsOf(currency: string, rows: readonly Row[]): ReceivableSums {
  const sums = amounts.map((name) => {
    const amount = rows.reduce((sum, row) => sum + BigInt(row[name]), 0n);
    return [name, { amount, currency }];
  });
  return { count: rows.reduce((sum, { count }) => sum + count, 0), ...Object.fromEntries(sums) } as ReceivableSums;
}
