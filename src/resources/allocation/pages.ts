import { sql, type SQL } from 'drizzle-orm';
import { tenantAndMode } from '../../db/read/visibility.js';
import type { Allocation, AllocationStatus } from './type.js';
import type { Scope } from '../../db/scope.js';
import { type CursorArgs, type Page, totalCountMax, type PageRequest, readOf } from '../../types/pagination.js';
import { pageRequest } from '../../types/page-request.js';
import { allocationListing } from './listing.js';
import { presentRead } from '../../db/read/read-class.js';
import type { Columns, ComputedPages } from '../edges.js';
import { deposit } from '../deposit/table.js';
import { receivable } from '../receivable/table.js';
import { DomainError, problem } from '../../errors/problems.js';

const p = sql.placeholder;

// By `any`, PostgreSQL looks each batch up by its key. With `=`, it could read all batches of the tenant.
const batch = sql`join lock_batch b on ${tenantAndMode('b')} and b.id = any(array[l.batch_id])`;

/** The locks of a parent and their order: each has an index that begins with the parent and has this order. */
interface Source {
  from: SQL;
  order: readonly string[];
  cursor: SQL;
}

/** The locks of a deposit or receivable, by their column with its id. */
const locksOf = (column: string) => (parent: SQL) => ({
  from: sql`receivable_lock l ${batch} where ${tenantAndMode('l')} and l.${sql.raw(column)} = ${parent}`,
  order: ['l.id'],
  cursor: sql`${p('cursor')}::text`,
});

/** The parents of allocations. A payout has them by batches, because it takes its locks by batches. */
const sources = {
  deposit: locksOf('deposit_id'),
  receivable: locksOf('receivable_id'),
  payout: (parent: SQL) => ({
    from: sql`lock_batch b join receivable_lock l on ${tenantAndMode('l')} and l.batch_id = b.id
      where ${tenantAndMode('b')} and b.payout_id = ${parent}`,
    order: ['b.id', 'l.id'],
    cursor: sql`(select c.batch_id from receivable_lock c where ${tenantAndMode('c')}
      and c.id = ${p('cursor')}), ${p('cursor')}::text`,
  }),
} satisfies Record<string, (parent: SQL) => Source>;

/** The column of a lock that has the value of a column of the order. */
const inRow = (alias: string, column: string) => `${alias}.${column === 'b.id' ? 'batch_id' : 'id'}`;

/** A kind of object that has allocations. */
export type Allocated = keyof typeof sources;

type AllocationRow = Allocation & { id: string };

interface Stored extends Omit<AllocationRow, 'created' | 'amount'> {
  parent: string;
  created: string;
  amount: string;
}

/**
 * A page of the allocations of an object that the caller can see, newest first. One statement reads the pages of all
 * parents that are requested in one tick.
 */
export async function allocationsOf(
  scope: Scope,
  of: Allocated,
  parentId: string,
  args: CursorArgs,
): Promise<Page<AllocationRow>> {
  const request = pageRequest(allocationListing, args);
  const name = `allocations_${of}:${JSON.stringify(args)}`;
  const rows = (await scope.many(name, parentId, (ids) => readPages(scope, of, request, ids))) ?? [];
  if (request.cursor !== undefined) await checkCursor(scope, request.cursor, request.backward);
  const beyond = rows.length > request.size;
  const nodes = rows.slice(0, request.size);
  if (request.backward) nodes.reverse();
  // The allocation of the cursor is itself on the other side of the page.
  const behind = request.cursor !== undefined;
  return {
    nodes,
    hasNext: beyond,
    edges: () => nodes.map((node) => ({ cursor: node.id, node })),
    pageInfo: {
      hasNextPage: request.backward ? behind : beyond,
      hasPreviousPage: request.backward ? beyond : behind,
      startCursor: nodes.at(0)?.id ?? null,
      endCursor: nodes.at(-1)?.id ?? null,
    },
    totalCount: async () => {
      const total = await scope.many(`allocations_${of}:count`, parentId, (ids) => readCounts(scope, of, ids));
      return total !== null && total <= totalCountMax ? total : null;
    },
  };
}

/** The order of the rows of a page by the columns of a source, or by those of the rows themselves. */
const orderOf = (order: readonly string[], backward: boolean, alias?: string) =>
  order.map((column) => `${alias ? inRow(alias, column) : column} ${backward ? 'asc' : 'desc'}`).join(', ');

/** The rows of a page of a parent, in its order, and at least one more. */
function rowsOf({ from, order, cursor }: Source, { backward, size, cursor: given }: PageRequest): SQL {
  const after =
    given === undefined ? sql`` : sql` and (${sql.raw(order.join(', '))}) ${sql.raw(backward ? '>' : '<')} (${cursor})`;
  return sql`select l.id, l.batch_id, l.created, l.amount, l.currency, l.deposit_id, l.receivable_id,
      b.payout_id, case when l.settled then 'settled' when b.payout_id is null then 'locked'
        else 'payout_processing' end as status
    from ${from} and l.amount > 0${after} order by ${sql.raw(`${orderOf(order, backward)} limit ${readOf(size + 1)}`)}`;
}

/** The rows of the whole list of a parent, at most one more than are counted. */
const idsOf = ({ from }: Source): SQL =>
  sql`select l.id from ${from} and l.amount > 0 limit ${sql.raw(String(totalCountMax + 1))}`;

/** The columns of the rows by the properties of an allocation. */
const columns = {
  id: { name: 'id', notNull: true },
  created: { name: 'created', notNull: true },
  amount: { name: 'amount', notNull: true },
  currency: { name: 'currency', notNull: true },
  depositId: { name: 'deposit_id', notNull: true },
  receivableId: { name: 'receivable_id', notNull: true },
  payoutId: { name: 'payout_id', notNull: false },
  status: { name: 'status', notNull: true },
} satisfies Record<keyof AllocationRow, Columns[string]>;

const classes = {
  page: { ...presentRead, replicaOk: true },
  count: { expensive: true, replicaOk: true, boundedBy: [], avoid: ['totalCount'] },
};

/** The pages of an object's allocations, for the query compiler. */
export const allocationPages = (of: Allocated): ComputedPages => ({
  listing: allocationListing,
  columns,
  rows: (request, parent) => rowsOf(sources[of](parent), request),
  ids: (parent) => idsOf(sources[of](parent)),
  classes,
});

async function readPages(scope: Scope, of: Allocated, request: PageRequest, ids: readonly string[]) {
  const source: Source = sources[of](sql`parent.id`);
  const { backward, size } = request;
  const key = [of, backward ? 'back' : 'on', request.cursor === undefined ? '' : 'from', readOf(size + 1)].join(':');
  const found = await scope.read<Stored>(
    `allocations:${key}`,
    (db) =>
      db
        .select({
          parent: sql<string>`parent.id`,
          id: sql<string>`x.id`,
          created: sql<string>`x.created`,
          amount: sql<string>`x.amount::text`,
          currency: sql<string>`x.currency`,
          depositId: sql<string>`x.deposit_id`,
          receivableId: sql<string>`x.receivable_id`,
          payoutId: sql<string | null>`x.payout_id`,
          status: sql<AllocationStatus>`x.status`,
        })
        .from(sql`unnest(${p('ids')}::text[]) as parent(id) cross join lateral (${rowsOf(source, request)}) x`)
        .orderBy(sql.raw(`parent.id, ${orderOf(source.order, backward, 'x')}`)),
    { ids, ...(request.cursor !== undefined && { cursor: request.cursor }) },
    classes.page,
  );
  const byParent = new Map<string, AllocationRow[]>(ids.map((id) => [id, []]));
  for (const { parent, ...row } of found)
    byParent.get(parent)?.push({ ...row, created: Number(row.created), amount: BigInt(row.amount) });
  return byParent;
}

async function readCounts(scope: Scope, of: Allocated, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await scope.read<{ parent: string; total: number }>(
    `allocations_count:${of}`,
    (db) =>
      db.select({ parent: sql<string>`parent.id`, total: sql<number>`x.total` }).from(
        sql`unnest(${p('ids')}::text[]) as parent(id) cross join lateral (select count(*)::int as total from
          (${idsOf(sources[of](sql`parent.id`))}) y) x`,
      ),
    { ids },
    classes.count,
  );
  return new Map(rows.map(({ parent, total }) => [parent, total]));
}

/** Refuses a cursor that is no allocation of an object that the caller can see. */
async function checkCursor(scope: Scope, cursor: string, backward: boolean): Promise<void> {
  const lock = await scope.many('allocation_of_cursor', cursor, (ids) => readLocks(scope, ids));
  const visible =
    lock && ((await scope.find(deposit, lock.depositId)) ?? (await scope.find(receivable, lock.receivableId)));
  if (visible) return;
  const name = backward ? 'ending_before' : 'starting_after';
  throw new DomainError(
    problem('parameter_invalid', `allocation.${name}`, 'must be the cursor of an allocation of this list'),
  );
}

async function readLocks(scope: Scope, ids: readonly string[]) {
  const rows = await scope.read<{ id: string; depositId: string; receivableId: string }>(
    'allocation_of_cursor',
    (db) =>
      db
        .select({
          id: sql<string>`l.id`,
          depositId: sql<string>`l.deposit_id`,
          receivableId: sql<string>`l.receivable_id`,
        })
        .from(sql`receivable_lock l`)
        .where(sql`${tenantAndMode('l')} and l.id = any(${p('ids')}::text[])`),
    { ids },
  );
  return new Map(rows.map((row) => [row.id, row]));
}
