import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { ArgsType, type ClassType, Field } from 'type-graphql';
import { partOf, type Rows } from '../../db/list/statement.js';
import { isAnyParent } from '../../db/schema/filter-index.js';
import type { Scope } from '../../db/scope.js';
import type { Context } from '../../operation/context.js';
import { AccountScope } from '../../types/account-scope.js';
import { CursorArgs, type Listing } from '../../types/pagination.js';
import { type AccountRow, account } from '../account/table.js';
import { checkoutListing } from '../checkout/listing.js';
import { checkoutNow } from '../checkout/now.js';
import { CheckoutStatus } from '../checkout/table.js';
import { CheckoutConnection } from '../checkout/type.js';
import { nowOfStatement } from '../clock/now.js';
import { defineResource } from '../define.js';
import { depositListing } from '../deposit/listing.js';
import { deposit, DepositStatus } from '../deposit/table.js';
import { DepositConnection } from '../deposit/type.js';
import { fields, fieldsOfType, value } from '../edges.js';
import { payoutListing } from '../payout/listing.js';
import { payout, PayoutStatus } from '../payout/table.js';
import { PayoutConnection } from '../payout/type.js';
import { receivableListing } from '../receivable/listing.js';
import { receivable, ReceivableStatus } from '../receivable/table.js';
import { ReceivableConnection } from '../receivable/type.js';
// These imports set the order in the schema: the fields come after those of the counted objects.
import '../checkout/resource.js';
import '../deposit/resource.js';
import '../payout/resource.js';
import '../receivable/resource.js';
import {
  CheckoutCount,
  DepositCount,
  PayoutCount,
  ReceivableCount,
  type StatusCount,
  StatusCounts,
  type StatusCountsOf,
} from './type.js';

const p = sql.placeholder;

@ArgsType()
class StatusCountsArgs {
  @Field(() => AccountScope, {
    defaultValue: AccountScope.SELF,
    description: 'Whether the objects of the accounts below the account count, too.',
  })
  scope: AccountScope;
}

/** What is counted: the rows, the column with the account of a row, whether its index has a hash, and the statuses. */
const counted = {
  checkouts: { rows: 'checkout_now', own: 'to_account_id', hashed: false, statuses: CheckoutStatus },
  deposits: { rows: 'deposit', own: 'to_account_id', hashed: true, statuses: DepositStatus },
  payouts: { rows: 'payout', own: 'account_id', hashed: false, statuses: PayoutStatus },
  receivables: { rows: 'receivable', own: 'account_id', hashed: false, statuses: ReceivableStatus },
} as const;
type Counted = keyof typeof counted;
const kinds = Object.keys(counted) as Counted[];

/**
 * The rows of a kind by account and status, in parts that each follow an index: those of the accounts, those of others
 * on their lists, and for a root account those on the lists of others.
 */
function partsOf(kind: Counted, descendants: boolean): SQL[] {
  const { rows, own, hashed } = counted[kind];
  const ownColumn = sql.raw(`r.${own}`);
  const root = sql`('account_' || ${p('tenantId')}::text)`;
  const part = (id: SQL, where: SQL) =>
    sql`select ${id} as account_id, ${sql.raw(`'${kind}'`)} as kind, r.status from ${sql.raw(rows)} r
      where r.tenant_id = ${p('tenantId')} and r.livemode = ${p('livemode')} and ${where}`;
  const ids = p('ids');
  const parts = [part(ownColumn, hashed ? isAnyParent(ownColumn, sql`${ids}`) : sql`${ownColumn} = any(${ids})`)];
  if (descendants)
    parts.push(
      part(sql`r.context_id`, sql`r.context_id = any(${p('ids')}) and r.context_id <> ${ownColumn}`),
      part(
        root,
        sql`r.on_root_list = any('{f,t}'::boolean[]) and ${root} = any(${p('ids')}) and r.context_id <> ${root}`,
      ),
    );
  return parts;
}

interface Row {
  accountId: string;
  /** Null in the row that each account has. */
  kind: Counted | null;
  status: string;
  count: number;
  now: string;
}

/** One statement reads the counts of all accounts of one tick, and each row, as an expensive read. */
async function readCounts(scope: Scope, descendants: boolean, ids: readonly string[]) {
  const each = sql`select i.id, null, null from unnest(${p('ids')}::text[]) i(id)`;
  const parts = [...kinds.flatMap((kind) => partsOf(kind, descendants)), each];
  const rows = await scope.read<Row>(
    `status_counts${descendants ? ':descendants' : ''}`,
    (db) =>
      db
        .select({
          accountId: sql<string>`x.account_id`,
          kind: sql<Counted | null>`x.kind`,
          status: sql<string>`x.status`,
          count: sql<number>`count(*)::int`,
          now: sql<string>`max(t.now)`,
        })
        .from(sql`(${sql.join(parts, sql` union all `)}) x cross join (select ${nowOfStatement} as now) t`)
        .groupBy(sql`1`, sql`2`, sql`3`),
    { ids },
  );
  const found = new Map(rows.map((row) => [`${row.accountId} ${row.kind} ${row.status}`, row.count]));
  const asOf = Number(rows[0]!.now);
  const countOf = (id: string) => (kind: Counted, status: string) => found.get(`${id} ${kind} ${status}`) ?? 0;
  return new Map(ids.map((id) => [id, { asOf, ...countsOf({ accountId: id, descendants }, countOf(id)) }]));
}

/** The counts of an account, in the order of the enums. */
function countsOf(
  of: { accountId: string; descendants: boolean },
  countOf: (kind: Counted, status: string) => number,
): Omit<StatusCounts, 'asOf'> {
  const each = <S extends string>(kind: Counted, statuses: Record<string, S>): StatusCountsOf<S> => {
    const counts = Object.values(statuses).map((status) => ({ ...of, status, count: countOf(kind, status) }));
    return { total: counts.reduce((sum, { count }) => sum + count, 0), statuses: counts };
  };
  return {
    checkouts: each('checkouts', CheckoutStatus),
    deposits: each('deposits', DepositStatus),
    payouts: each('payouts', PayoutStatus),
    receivables: each('receivables', ReceivableStatus),
  };
}

async function statusCounts(
  { id }: AccountRow,
  { scope }: Context,
  { scope: accountScope }: StatusCountsArgs,
): Promise<StatusCounts | null> {
  const descendants = accountScope === AccountScope.DESCENDANTS;
  return scope.many(`status_counts:${accountScope}`, id, (ids) => readCounts(scope, descendants, ids));
}

/** The edge to the objects of a status, as a page: the id of the parent says whose they are, and the status. */
function pageOfStatus(kind: Counted, table: Rows, own: PgColumn, all: Listing, connection: () => ClassType<object>) {
  const columns: Record<string, PgColumn> = getTableColumns(table);
  const listing: Listing = {
    ...all,
    fixed: { status: '' },
    where: sql`array_position(array[${partOf(2)}], ${columns.status}) is not null`,
  };
  const resolve = (
    { accountId, descendants, status }: StatusCount<string>,
    { scope }: Context,
    args: CursorArgs,
  ): Promise<unknown> =>
    scope.edge(
      table,
      listing,
      { figure: kind, counted: own, descendants, key: 'status' },
      `${accountId}/${status}`,
      args,
    );
  return { [kind]: value(connection, resolve, { args: CursorArgs, description: 'These objects, newest first.' }) };
}

const sizeOf = (kind: Counted) => Object.keys(counted[kind].statuses).length;

export default defineResource({
  object: 'status_count',
  fields: [
    fields(account, {
      statusCounts: value(() => StatusCounts, statusCounts, {
        args: StatusCountsArgs,
        description: "The numbers of the account's checkouts, deposits, payouts and receivables by status.",
      }),
    }),
    fieldsOfType(
      CheckoutCount,
      pageOfStatus('checkouts', checkoutNow, checkoutNow.toAccountId, checkoutListing, () => CheckoutConnection),
    ),
    fieldsOfType(
      DepositCount,
      pageOfStatus('deposits', deposit, deposit.toAccountId, depositListing, () => DepositConnection),
    ),
    fieldsOfType(
      PayoutCount,
      pageOfStatus('payouts', payout, payout.accountId, payoutListing, () => PayoutConnection),
    ),
    fieldsOfType(
      ReceivableCount,
      pageOfStatus('receivables', receivable, receivable.accountId, receivableListing, () => ReceivableConnection),
    ),
  ],
  weights: { 'Account.statusCounts': 'figure' },
  sizes: {
    'CheckoutStatusCounts.statuses': sizeOf('checkouts'),
    'DepositStatusCounts.statuses': sizeOf('deposits'),
    'PayoutStatusCounts.statuses': sizeOf('payouts'),
    'ReceivableStatusCounts.statuses': sizeOf('receivables'),
  },
});
