import { type SQL, sql } from 'drizzle-orm';
import { balance } from '../ledger/table.js';

const p = sql.placeholder;

/** What the argument `scope` of a figure does, for clients. */
export const scopeText = 'Whether the accounts below the account count, too.';

/**
 * The balances of accounts, each with the `id` of the account of `ids` that it counts for. With `descendants`, these
 * are also the balances of the accounts below, in parts that each follow an index: the own balances, those of partners,
 * and for a root account all others.
 */
export function balancesOfActingAccounts(descendants: boolean): SQL {
  const root = sql`('account_' || ${p('tenantId')}::text)`;
  const part = (id: SQL, where: SQL) =>
    sql`select ${id} as id, b.* from ${balance} b where b.tenant_id = ${p('tenantId')} and b.livemode = ${p('livemode')}
      and b.version > 0 and ${where}`;
  const own = part(sql`b.account_id`, sql`b.account_id = any(${p('ids')})`);
  if (!descendants) return own;
  const parts = [
    own,
    part(sql`b.context_id`, sql`b.of_partner and b.context_id = any(${p('ids')})`),
    part(root, sql`${root} = any(${p('ids')}) and b.context_id <> ${root}`),
  ];
  return sql.join(parts, sql` union all `);
}
