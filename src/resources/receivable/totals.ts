import { type SQL, sql } from 'drizzle-orm';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { AccountScope } from '../../types/account-scope.js';
import { Amount, Currency } from '../../types/scalars.js';
import type { AccountRow } from '../account/table.js';
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

@ObjectType({
  simpleResolvers: true,
  description: 'The receivables of a status and currency together. What is still open is `amountReconcilable`.',
})
export class ReceivableTotal {
  @Field(() => ReceivableStatus, { description: 'The status that these receivables have.' })
  status: ReceivableStatus;
  @Field(() => Currency, { description: 'The currency of the amounts.' })
  currency: string;
  @Field(() => Int, { description: 'The number of receivables.' })
  count: number;
  @Field(() => Amount, { description: 'The sum of what they may be paid.' })
  amountMaximumReconcilable: bigint;
  @Field(() => Amount, { description: 'The sum of what is still open.' })
  amountReconcilable: bigint;
  @Field(() => Amount, { description: 'The sum of what was received and is not paid out yet.' })
  amountLocked: bigint;
  @Field(() => Amount, { description: 'The sum of what was paid out.' })
  amountSettledPayouts: bigint;
}

const amounts = ['amountMaximumReconcilable', 'amountReconcilable', 'amountLocked', 'amountSettledPayouts'] as const;
type Sums = Record<(typeof amounts)[number], string>;

/**
 * Receivables of an account by status and currency. One statement reads all accounts that are requested in one tick,
 * and each of their receivables. Silent: all of it.
 */
export async function receivableTotals(
  { id }: AccountRow,
  { scope }: Context,
  { scope: accountScope }: ReceivableTotalsArgs,
): Promise<ReceivableTotal[]> {
  const descendants = accountScope === AccountScope.DESCENDANTS;
  const name = `receivable_totals${descendants ? ':descendants' : ''}`;
  const batch = async (ids: readonly string[]) => {
    const rows = await scope.read<
      Sums & { accountId: string } & Pick<ReceivableTotal, 'status' | 'currency' | 'count'>
    >(
      name,
      (db) =>
        db
          .select({
            accountId: sql<string>`x.account_id`,
            status: sql<ReceivableStatus>`x.status`,
            currency: sql<string>`x.currency`,
            count: sql<number>`count(*)::int`,
            amountMaximumReconcilable: sql<string>`sum(x.amount_maximum_reconcilable)::text`,
            amountReconcilable: sql<string>`sum(x.amount_reconcilable)::text`,
            amountLocked: sql<string>`sum(x.amount_locked)::text`,
            amountSettledPayouts: sql<string>`sum(x.amount_settled_payouts)::text`,
          })
          .from(sql`(${sql.join(partsOf(descendants), sql` union all `)}) x`)
          .groupBy(sql`1`, sql`2`, sql`3`)
          .orderBy(sql`1, 2, 3`),
      { ids },
    );
    const byId = new Map<string, ReceivableTotal[]>(ids.map((each) => [each, []]));
    for (const { accountId, ...row } of rows) {
      const sums = Object.fromEntries(amounts.map((each) => [each, BigInt(row[each])]));
      byId.get(accountId)?.push({ ...row, ...(sums as Record<(typeof amounts)[number], bigint>) });
    }
    return byId;
  };
  return (await scope.many(name, id, batch)) ?? [];
}

/** The receivables of the accounts, and for a root account those of all others, in parts that each follow an index. */
function partsOf(descendants: boolean): SQL[] {
  const part = (id: SQL, where: SQL) =>
    sql`select ${id} as account_id, r.status, r.currency, r.amount_maximum_reconcilable, r.amount_reconcilable,
      r.amount_locked, r.amount_settled_payouts
      from ${receivable} r where r.tenant_id = ${p('tenantId')} and r.livemode = ${p('livemode')} and ${where}`;
  const root = sql`('account_' || ${p('tenantId')}::text)`;
  const own = part(sql`r.account_id`, sql`r.account_id = any(${p('ids')})`);
  const others = sql`r.on_root_list = any('{f,t}'::boolean[]) and ${root} = any(${p('ids')})
    and r.account_id <> ${root}`;
  return descendants ? [own, part(root, others)] : [own];
}
