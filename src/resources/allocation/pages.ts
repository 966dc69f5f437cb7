import { sql, type SQL } from 'drizzle-orm';
import type { Allocation, AllocationStatus } from './type.js';
import type { Scope } from '../../db/scope.js';
import {
  type CursorArgs,
  type Page,
  pageRequest,
  totalCountMax,
  type PageRequest,
  readOf,
} from '../../types/pagination.js';
import { allocationListing } from './listing.js';
import { presentRead } from '../../db/read/read-class.js';
import { deposit } from '../deposit/table.js';
import { receivable } from '../receivable/table.js';
import { DomainError, problem } from '../../errors/problems.js';

const p = sql.placeholder;

const tenantAndMode = (table: string) =>
  sql`${sql.raw(table)}.tenant_id = ${p('tenantId')} and ${sql.raw(table)}.livemode = ${p('livemode')}`;

const batch = sql`join lock_batch b on ${tenantAndMode('b')} and b.id = l.batch_id`;

/** The locks of a parent and their order: each has an index that begins with the parent and has this order. */
interface Source {
  from: SQL;
  order: readonly string[];
  cursor: SQL;
}

/** The parents of allocations. A payout has them by batches, because it takes its locks by batches. */
const sources = {
  deposit: {
    from: sql`receivable_lock l ${batch} where ${tenantAndMode('l')} and l.deposit_id = parent.id`,
    order: ['l.id'],
    cursor: sql`${p('cursor')}::text`,
  },
  receivable: {
    from: sql`receivable_lock l ${batch} where ${tenantAndMode('l')} and l.receivable_id = parent.id`,
    order: ['l.id'],
    cursor: sql`${p('cursor')}::text`,
  },
  payout: {
    from: sql`lock_batch b join receivable_lock l on ${tenantAndMode('l')} and l.batch_id = b.id
      where ${tenantAndMode('b')} and b.payout_id = parent.id`,
    order: ['b.id', 'l.id'],
    cursor: sql`(select c.batch_id from receivable_lock c where ${tenantAndMode('c')}
      and c.id = ${p('cursor')}), ${p('cursor')}::text`,
  },
} satisfies Record<string, Source>;

/** The column of a lock that has the value of a column of the order. */
const inRow = (alias: string, column: string) => `${alias}.${column === 'b.id' ? 'batch_id' : 'id'}`;

/** A kind of object that has allocations. */
export type Allocated = keyof typeof sources;

type AllocationRow = Allocation & { id: string };

interface Stored extends Record<'parent' | 'id' | 'created' | 'amount' | 'currency', string> {
  depositId: string;
  receivableId: string;
  payoutId: string | null;
  settled: boolean;
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

async function readPages(scope: Scope, of: Allocated, request: PageRequest, ids: readonly string[]) {
  const { from, order, cursor }: Source = sources[of];
  const { backward, size } = request;
  const after =
    request.cursor === undefined
      ? sql``
      : sql` and (${sql.raw(order.join(', '))}) ${sql.raw(backward ? '>' : '<')} (${cursor})`;
  const placed = (alias?: string) =>
    order.map((column) => `${alias ? inRow(alias, column) : column} ${backward ? 'asc' : 'desc'}`).join(', ');
  const rows = sql`select l.*, b.payout_id as taken_by from ${from} and l.amount > 0${after}
    order by ${sql.raw(`${placed()} limit ${readOf(size + 1)}`)}`;
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
          payoutId: sql<string | null>`x.taken_by`,
          settled: sql<boolean>`x.settled`,
        })
        .from(sql`unnest(${p('ids')}::text[]) as parent(id) cross join lateral (${rows}) x`)
        .orderBy(sql.raw(`parent.id, ${placed('x')}`)),
    { ids, ...(request.cursor !== undefined && { cursor: request.cursor }) },
    { ...presentRead, replicaOk: true },
  );
  const byParent = new Map<string, AllocationRow[]>(ids.map((id) => [id, []]));
  for (const { parent, settled, ...row } of found)
    byParent.get(parent)?.push({
      ...row,
      created: Number(row.created),
      amount: BigInt(row.amount),
      status: statusOf(row.payoutId, settled),
    });
  return byParent;
}

function statusOf(payoutId: string | null, settled: boolean): AllocationStatus {
  if (settled) return 'settled';
  return payoutId === null ? 'locked' : 'payout_processing';
}

async function readCounts(scope: Scope, of: Allocated, ids: readonly string[]): Promise<Map<string, number>> {
  const { from }: Source = sources[of];
  const rows = await scope.read<{ parent: string; total: number }>(
    `allocations_count:${of}`,
    (db) =>
      db.select({ parent: sql<string>`parent.id`, total: sql<number>`x.total` }).from(
        sql`unnest(${p('ids')}::text[]) as parent(id) cross join lateral (select count(*)::int as total from (select
            from ${from} and l.amount > 0 limit ${sql.raw(String(totalCountMax + 1))}) y) x`,
      ),
    { ids },
    { expensive: true, replicaOk: true, boundedBy: [], avoid: ['totalCount'] },
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
