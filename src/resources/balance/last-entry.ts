import { type SQL, sql } from 'drizzle-orm';
import { tenantAndMode } from '../../db/read/visibility.js';
import { isParent } from '../../db/schema/filter-index.js';
import { Compartment } from '../ledger/table.js';

const keyOf = (table: string) =>
  sql.raw(`(${['account_id', 'currency', 'category'].map((name) => `${table}.${name}`).join(" || ' ' || ")})`);

/** The categories of all compartments, as rows. */
export const categories = sql.raw(`unnest('{${Object.values(Compartment).join()}}'::text[])`);

/**
 * The last entry of a compartment within a bound on its time and version: two look-ups in indexes. The compartment is a
 * row with `account_id`, `currency`, `category` and `late`. The order of entries is their version. An entry counts at
 * the greatest `created` up to it, which is its own unless it is late; a late one counts at its `as_of`.
 */
export const lastEntryOf = (compartment: string, bound: (time: SQL, version: SQL) => SQL): SQL => sql`(
    select e.created as at, e.balance_after, e.version from entry e
    where ${tenantAndMode('e')} and ${isParent(keyOf('e'), keyOf(compartment))}
      and ${bound(sql`e.created`, sql`e.version`)}
      and (not ${sql.raw(compartment)}.late or (select true from late_entry x where ${tenantAndMode('x')}
        and x.account_id = e.account_id and x.currency = e.currency and x.version = e.version) is null)
    order by e.created desc, e.version desc limit 1)
  union all (
    select x.as_of, x.balance_after, x.version from late_entry x
    where ${sql.raw(compartment)}.late and ${tenantAndMode('x')} and ${isParent(keyOf('x'), keyOf(compartment))}
      and ${bound(sql`x.as_of`, sql`x.version`)}
    order by x.as_of desc, x.version desc limit 1)
  order by version desc limit 1`;
