import { and, asc, eq, sql } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { isTextOfAccount, searchEntry as entry } from '../../db/schema/table.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { DomainError } from '../../errors/problems.js';
import { accountListing } from '../../resources/account/listing.js';
import { type AccountRow, account } from '../../resources/account/table.js';
import { searchProblems } from '../../types/list-search.js';
import type { Operator } from '../operator.js';
import { type ListFilter, type ListPage, listedMax, pageOf, valuesOf } from '../paging.js';

const { placeholder } = sql;
const { texts, metadata } = accountListing.search!;

/** A text of an account that a search finds. */
interface Found extends TenantAndMode {
  id: string;
  start: string;
  age: number;
}

/**
 * Searches the accounts of all tenants, as a list of `accounts` is searched by its tenant: in the order of the texts
 * that are found, and then the newest first. It goes with `livemode` alone. Silent: all of it.
 */
export async function searchedAccounts(
  operator: Operator,
  search: string,
  {
    livemode,
    after,
    limit = listedMax,
    newestFirst,
    ...others
  }: ListFilter<string> & { newestFirst?: boolean | undefined },
): Promise<ListPage<AccountRow>> {
  const given = Object.entries({ ...others, newestFirst: newestFirst || undefined, search });
  const problems = searchProblems('account', {}, Object.fromEntries(given.filter(([, value]) => value !== undefined)));
  if (problems.length > 0) throw new DomainError(...problems);
  const from = after === undefined ? undefined : valuesOf(after, 'account', 4);
  const [ofMode, isAfter] = [livemode !== undefined, from !== undefined];
  const rows = await operator.read<Found>(
    `operator_account_search:${[ofMode && 'mode', isAfter && 'after'].filter(Boolean).join(':')}`,
    (db) => entriesOf(db, ofMode, isAfter),
    { search, livemode, limit: limit + 1, ...from },
  );
  const { nodes, next } = pageOf(rows, limit, (row) => [row.age, row.start, row.livemode, row.id]);
  const related = operator.related();
  const accounts = await Promise.all(nodes.map((row) => related.one(account, account.id, row, row.id)));
  return { nodes: accounts.filter((row) => row !== null), next };
}

/** The entries that a search finds, one for each account. */
function entriesOf(db: PostgresJsDatabase, ofMode: boolean, isAfter: boolean) {
  const { tenantId, livemode, id, start, age } = entry;
  const searched = sql`left(search_text(${placeholder('search')}::text), 32)`;
  // An account with several texts in the range is found by the first of them. A subquery for each entry tells it, and
  // no join: PostgreSQL would read and sort all entries of the range for one.
  const isFirst = sql`(select search_position(${texts((column) => column)}, ${metadata((column) => column)},
    ${placeholder('search')}::text) = ${start} from ${account} where ${account.tenantId} = ${tenantId}
    and ${account.livemode} = ${livemode} and ${account.id} = ${id})`;
  return db
    .select({ tenantId, livemode, id, start, age })
    .from(entry)
    .where(
      and(
        isTextOfAccount(entry),
        ofMode ? eq(livemode, placeholder('livemode')) : undefined,
        // With the lower bound beside a cursor, PostgreSQL could read all entries up to the cursor.
        isAfter
          ? sql`(${start}, ${age}, ${id}, ${livemode}) > (${placeholder('v1')}::text, ${placeholder('v0')}::bigint,
              ${placeholder('v3')}::text, ${placeholder('v2')}::boolean)`
          : sql`${start} >= ${searched}`,
        sql`${start} < ${searched} || chr(1114111)`,
        isFirst,
      ),
    )
    .orderBy(asc(start), asc(age), asc(id), asc(livemode))
    .limit(placeholder('limit'));
}
