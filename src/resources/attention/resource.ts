import { sql } from 'drizzle-orm';
import type { Scope } from '../../db/scope.js';
import { refuseLimit } from '../../types/pagination.js';
import type { Context } from '../../operation/context.js';
import { AccountScope } from '../../types/account-scope.js';
import { type Count, CountPrecision, countUpTo } from '../../types/count.js';
import { Node } from '../../types/relay-node.js';
import { type AccountRow, account } from '../account/table.js';
import { grouped } from '../balance/range.js';
import { nowOfStatement } from '../clock/now.js';
import { defineResource, readableNode } from '../define.js';
import { fields, fieldsOfType, link, value } from '../edges.js';
import { type Blocked, payoutsBlocked } from './blocked.js';
import { AttentionKind, AttentionSeverity, kinds } from './kinds.js';
import {
  Attention,
  AttentionArgs,
  type AttentionCount,
  AttentionItem,
  AttentionItemsArgs,
  itemsDefault,
  itemsMax,
} from './type.js';
import { readMax, type Row, waiting } from './waiting.js';

/** One statement reads all accounts of one tick, as an expensive read. */
async function readWaiting(scope: Scope, descendants: boolean, ids: readonly string[]) {
  const first = sql`(array_agg(x.object_id order by x.due, x.since, x.object_id))[1]`;
  const rows = await scope.read<Row>(
    `attention${descendants ? ':descendants' : ''}`,
    (db) =>
      db
        .select({
          of: sql<string>`x.of`,
          kind: sql<AttentionKind | null>`x.kind`,
          accountId: sql<string>`x.account_id`,
          currency: sql<string | null>`x.currency`,
          count: sql<number>`count(x.object_id)::int`,
          amount: sql<string | null>`sum(x.amount)::text`,
          objectId: sql<string>`${first}`,
          since: sql<string | null>`min(x.since)`,
          due: sql<string | null>`min(x.due)`,
          found: sql<number>`max(x.found)::int`,
          more: sql<boolean>`bool_or(x.more)`,
          now: sql<string>`max(x.now)`,
        })
        .from(
          sql`(with clock as materialized (select ${nowOfStatement} as now)
            select y.*, c.now from (${waiting(descendants)} union all
              select n.id, null, null, null, null, null, null, null, null, 0, false, 1
              from unnest(${sql.placeholder('ids')}::text[]) n(id)) y cross join clock c) x`,
        )
        .where(sql`x.place <= ${sql.raw(String(readMax))}`)
        .groupBy(sql`1`, sql`2`, sql`3`, sql`4`)
        .orderBy(sql`1, 2, 3, 4`),
    { ids },
  );
  const byAccount = grouped(
    ids,
    rows.map((row) => [row.of, row]),
  );
  const blocked = await payoutsBlocked(scope, rows);
  return new Map([...byAccount].map(([of, found]) => [of, attentionOf(found, blocked(of))]));
}

const severities = Object.values(AttentionSeverity);
const rank = (kind: AttentionKind) => severities.indexOf(kinds[kind].severity);

/** An unknown time is before all others: the status began before such times were recorded. */
const time = (since: number | null) => since ?? 0;

/** When payouts were disabled is never recorded, so these are behind what is known to wait. */
const place = ({ kind, since }: AttentionItem) =>
  kind === 'payouts_blocked' ? (since ?? Number.MAX_SAFE_INTEGER) : time(since);

function attentionOf(rows: readonly Row[], blocked: Blocked): Attention {
  const items = new Map<string, AttentionItem>();
  const counts = new Map<AttentionKind, AttentionCount>();
  for (const row of rows) {
    if (row.kind === null || row.kind === 'payouts_blocked') continue;
    const item = itemOf(row.kind, row);
    const key = `${row.kind} ${row.accountId}`;
    const before = items.get(key);
    items.set(key, before ? together(before, item) : item);
    counts.set(row.kind, { kind: row.kind, severity: item.severity, count: countOf(row) });
  }
  if (blocked.count) counts.set('payouts_blocked', blocked.count);
  const all = [...items.values(), ...blocked.items].toSorted(
    (one, other) => rank(one.kind) - rank(other.kind) || place(one) - place(other),
  );
  return {
    asOf: Number(rows[0]!.now),
    all,
    counts: [...counts.values()].toSorted((one, other) => rank(one.kind) - rank(other.kind)),
  };
}

const numberOf = (text: string | null) => (text === null ? null : Number(text));

/** How many there are: at least those that were found where others were not read. */
const countOf = ({ found, more }: Pick<Row, 'found' | 'more'>): Count =>
  more ? { value: Math.min(found, readMax), precision: CountPrecision.AT_LEAST } : countUpTo(readMax, found);

function itemOf(kind: AttentionKind, { accountId, objectId, currency, amount, count, found, more, ...row }: Row) {
  const { precision } = countOf({ found, more });
  const exact = precision === CountPrecision.EXACT;
  const money = currency === null ? [] : [{ amount: BigInt(amount!), currency }];
  return {
    ...{ kind, accountId, objectId, ...kinds[kind] },
    count: { value: count, precision },
    amounts: exact ? money : null,
    since: numberOf(row.since),
    dueBy: numberOf(row.due),
  };
}

/** The objects of two currencies as one item, which names the object that is due first, or has waited longest. */
function together(one: AttentionItem, other: AttentionItem): AttentionItem {
  const late = Number.POSITIVE_INFINITY;
  const order = (one.dueBy ?? late) - (other.dueBy ?? late) || time(one.since) - time(other.since);
  const first = order > 0 ? other : one;
  return {
    ...first,
    count: { value: one.count.value + other.count.value, precision: one.count.precision },
    amounts: one.amounts && other.amounts && [...one.amounts, ...other.amounts],
    since: Math.min(time(one.since), time(other.since)),
  };
}

async function attention(
  { id }: AccountRow,
  { scope }: Context,
  { scope: accountScope }: AttentionArgs,
): Promise<Attention | null> {
  const descendants = accountScope === AccountScope.DESCENDANTS;
  return scope.many(`attention:${accountScope}`, id, (ids) => readWaiting(scope, descendants, ids));
}

function itemsOf({ all }: Attention, _: Context, { limit }: AttentionItemsArgs): AttentionItem[] {
  refuseLimit('attention', limit, itemsMax);
  return all.slice(0, limit);
}

/** How many items an answer has at most, from the arguments that the client wrote. */
function sizeOf(argument: (name: string) => unknown): number {
  const limit = Number(argument('limit') ?? itemsDefault);
  return Number.isFinite(limit) ? Math.min(Math.max(limit, 0), itemsMax) : itemsMax;
}

export default defineResource({
  object: 'attention',
  fields: [
    fields(account, {
      attention: value(() => Attention, attention, {
        nullable: true,
        args: AttentionArgs,
        description:
          'What waits for the account, the most urgent first. Of each kind the objects that have waited longest are ' +
          `read, at most ${readMax}.`,
      }),
    }),
    fieldsOfType(Attention, {
      items: value(() => [AttentionItem], itemsOf, {
        args: AttentionItemsArgs,
        description: 'By severity, and then by `since`, the longest first.',
      }),
    }),
    fieldsOfType(AttentionItem, {
      account: link(account, 'accountId', {
        description: 'The account at which it waits: for what partners received, their owner.',
      }),
      object: value(
        () => Node,
        ({ objectId }: AttentionItem, { scope, caller }) => {
          const found = readableNode(objectId, caller);
          return found ? scope.find(found.rows, objectId) : null;
        },
        {
          nullable: true,
          description:
            'The object that is due first, or has waited longest: an account, payout, dispute, deposit, receivable, ' +
            'checkout or webhook endpoint. Null if it is no longer there.',
        },
      ),
    }),
  ],
  weights: { 'Account.attention': 'figure' },
  sizes: {
    'Attention.items': sizeOf,
    'Attention.counts': Object.keys(AttentionKind).length,
    'AttentionItem.amounts': 0,
  },
});
