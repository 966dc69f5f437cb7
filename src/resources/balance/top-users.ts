import { type SQL, sql } from 'drizzle-orm';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import type { Scope } from '../../db/scope.js';
import type { Context } from '../../operation/context.js';
import { DomainError, problem } from '../../request/problems.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import type { AccountRow } from '../account/table.js';
import { countedDeposits } from './counted.js';
import { currenciesUsual } from './range.js';
import { totalSeconds } from './table.js';
import { boundsOf, partSpans, wholeSpans } from './totals.js';

const p = sql.placeholder;

/** The most users of a currency that one answer has, the number by default, and the longest range in days. */
const topUsersMax = 100;
const topUsersDefault = 10;
const daysMax = 400;

@ArgsType()
export class TopUsersArgs {
  @Field(() => DateTime, { description: 'The beginning of the range.' })
  from: number;
  @Field(() => DateTime, { description: `The end of the range, which is excluded; at most ${daysMax} days later.` })
  to: number;
  @Field(() => Currency, { nullable: true, description: 'Only deposits in this currency; each currency by default.' })
  currency?: string | null;
  @Field(() => Int, {
    defaultValue: topUsersDefault,
    description: `How many users of each currency: 1 to ${topUsersMax}.`,
  })
  limit: number;
}

@ObjectType({
  simpleResolvers: true,
  description:
    'What a connected user and its partners received in a currency: completed deposits, minus the disputed amounts.',
})
export class UserTotal {
  accountId: string;
  @Field(() => Int, { description: 'The place of the user among the users of the currency, from 1.' })
  rank: number;
  @Field(() => Currency, { description: 'The currency of the deposits.' })
  currency: string;
  @Field(() => Int, { description: 'How many deposits there were, disputes included.' })
  count: number;
  @Field(() => Amount, { description: 'The sum of the deposits, minus the disputed amounts.' })
  amount: bigint;
}

const tenantAndMode = (table: string) =>
  sql`${sql.raw(table)}.tenant_id = ${p('tenantId')} and ${sql.raw(table)}.livemode = ${p('livemode')}`;
const root = sql`('account_' || ${p('tenantId')}::text)`;

/**
 * The rows whose sums are the totals of all connected users of a platform, from the same parts as `depositTotals`. The
 * account on whose list a deposit is (`context_id`) is the user that it counts for, whether the user or one of its
 * partners received it. The cost grows with the users and the days, and not with the deposits.
 */
function parts(): SQL {
  const totals = sql`select x.* from state cross join ${wholeSpans} cross join lateral (
      select t.account_id, t.currency, t.count, t.amount from deposit_total t
      where ${tenantAndMode('t')} and t.account_id = any((select ids from users)::text[])
        and t.of_others = any('{f,t}'::boolean[])
        and t.seconds = s.seconds and t.start >= s.first and t.start < s.last offset 0) x
    where state.summed and s.first < s.last`;
  const changes = sql`select c.context_id, c.currency, c.count, c.amount from deposit_total_change c
      where ${tenantAndMode('c')} and c.created >= ${p('firstHour')} and c.created < ${p('lastHour')}
        and c.context_id <> ${root} and (select summed from state)`;
  const deposits = sql`select x.* from state cross join lateral ${partSpans} cross join lateral (
      select d.context_id, d.currency, 1, d.amount from ${countedDeposits}
      where ${tenantAndMode('d')} and d.on_root_list = any('{f,t}'::boolean[]) and d.created >= s.first
        and d.created < s.last and d.context_id <> ${root} offset 0) x
    where s.first < s.last`;
  return sql`with state as materialized (
      select not exists (select from deposit_total_backfill b where ${tenantAndMode('b')}) as summed),
    users as materialized (select coalesce(array_agg(a.id), '{}') as ids from account a
      where ${tenantAndMode('a')} and a.owner_id = ${root} and a.type = 'user')
    ${sql.join([totals, changes, deposits], sql` union all `)}`;
}

/** Ranks the totals of the users of each currency. Equal amounts are in the order of the ids. */
function ranked(ofCurrency: boolean): SQL {
  const only = ofCurrency ? sql` where x.currency = ${p('currency')}` : sql``;
  return sql`select y.*, row_number() over (partition by y.currency order by y.amount desc, y.account_id) as rank
    from (select x.account_id, x.currency, sum(x.count) as count, sum(x.amount) as amount from (${parts()}) x${only}
      group by x.account_id, x.currency having sum(x.count) > 0) y`;
}

/** The connected users of a platform that received most. Silent: all of it. */
export async function topUsers(row: AccountRow, { scope }: Context, args: TopUsersArgs): Promise<UserTotal[]> {
  const { from, to, currency, limit } = args;
  if (to <= from) throw new DomainError(problem('parameter_invalid', 'account.to', 'must be later than from'));
  if (to - from > daysMax * totalSeconds.day)
    throw new DomainError(
      problem('parameter_invalid', 'account.to', `must be at most ${daysMax} days later than from`),
    );
  if (limit < 1 || limit > topUsersMax)
    throw new DomainError(problem('parameter_invalid', 'account.limit', `must be from 1 to ${topUsersMax}`));
  if (row.kind !== 'platform') return [];
  // Only the root of a tenant is a platform, so all rows that are requested in one tick are the same account.
  const key = `top_users:${from}:${to}:${currency ?? ''}:${limit}`;
  const read = async (ids: readonly string[]) => {
    const totals = await readTotals(scope, args);
    return new Map(ids.map((id) => [id, totals]));
  };
  return (await scope.many(key, row.id, read)) ?? [];
}

async function readTotals(scope: Scope, { from, to, currency, limit }: TopUsersArgs): Promise<UserTotal[]> {
  const rows = await scope.read<{ accountId: string; rank: string; currency: string; count: number; amount: string }>(
    `top_users${currency ? ':currency' : ''}`,
    (db) =>
      db
        .select({
          accountId: sql<string>`z.account_id`,
          rank: sql<string>`z.rank`,
          currency: sql<string>`z.currency`,
          count: sql<number>`z.count::int`,
          amount: sql<string>`z.amount::text`,
        })
        .from(sql`(${ranked(currency != null)}) z`)
        .where(sql`z.rank <= ${p('most')}`)
        .orderBy(sql`z.currency, z.rank`),
    { from, to, most: limit, ...boundsOf(from, to), ...(currency && { currency }) },
  );
  return rows.map((each) => ({ ...each, rank: Number(each.rank), amount: BigInt(each.amount) }));
}

/** How many totals an answer usually has, from the arguments that the client wrote. */
export function usersUsual(argument: (name: string) => unknown): number {
  const limit = Number(argument('limit') ?? topUsersDefault);
  const ofCurrency = Number.isFinite(limit) ? Math.min(Math.max(limit, 0), topUsersMax) : topUsersMax;
  return ofCurrency * (argument('currency') == null ? currenciesUsual : 1);
}

/** The connected user of a total. */
