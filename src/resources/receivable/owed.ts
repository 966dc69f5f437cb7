import { sql } from 'drizzle-orm';
import type { Context } from '../../operation/context.js';
import { totalCountMax } from '../../types/pagination.js';
import type { AccountRow } from '../account/table.js';
import type { Money } from '../balance/type.js';
import { receivable } from './table.js';

const p = sql.placeholder;

interface Row {
  accountId: string;
  currency: string;
  count: string;
  amount: string;
}

/**
 * What an account owes by the open invoices that bill it, by currency. One statement reads all accounts that are
 * requested in one tick, of each at most so many index entries as a count reads; beyond that it is null, since a sum of
 * some invoices would be wrong. Who sees a partner sees all receivables that bill it: they are those of its owner.
 * Silent: all of it.
 */
export async function owes({ id }: AccountRow, { scope }: Context): Promise<Money[] | null> {
  const batch = async (ids: readonly string[]) => {
    const rows = await scope.read<Row>(
      'owed_by_customers',
      (db) =>
        db
          .select({
            accountId: sql<string>`x.id`,
            currency: sql<string>`x.currency`,
            count: sql<string>`count(*)`,
            amount: sql<string>`sum(x.amount_reconcilable)::text`,
          })
          .from(
            sql`(select c.id, r.currency, r.amount_reconcilable from unnest(${p('ids')}::text[]) c(id)
              cross join lateral (select currency, amount_reconcilable from ${receivable}
                where tenant_id = ${p('tenantId')} and livemode = ${p('livemode')}
                  and customer_id = c.id and status = 'open'
                limit ${sql.raw(String(totalCountMax + 1))}) r) x`,
          )
          .groupBy(sql`1`, sql`2`)
          .orderBy(sql`1, 2`),
      { ids },
    );
    const byId = new Map<string, Row[]>(ids.map((each) => [each, []]));
    for (const row of rows) byId.get(row.accountId)?.push(row);
    return byId;
  };
  const rows = (await scope.many('owed_by_customers', id, batch)) ?? [];
  const count = rows.reduce((all, row) => all + Number(row.count), 0);
  return count > totalCountMax ? null : rows.map(({ currency, amount }) => ({ currency, amount: BigInt(amount) }));
}
