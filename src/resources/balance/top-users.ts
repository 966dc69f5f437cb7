import { type SQL, sql } from 'drizzle-orm';
import { tenantAndMode } from '../../db/read/visibility.js';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import type { Scope } from '../../db/scope.js';
import type { Context } from '../../operation/context.js';
import { DomainError, problem } from '../../errors/problems.js';
import { refuseLimit } from '../../types/pagination.js';
import { Currency, DateTime } from '../../types/scalars.js';
import type { AccountRow } from '../account/table.js';
import { nowOfStatement, readNow } from '../clock/now.js';
import { countedDeposits, boundsOf, partSpans, wholeSpans } from './totals.js';
import type { CountedRange } from './counted-deposits.js';
import { currenciesOfFigure } from './range.js';
import { totalSeconds } from './table.js';
import { Money } from './type.js';

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
export class UserTotal implements CountedRange {
  accountId: string;
  descendants: boolean;
  currency: string;
  start: number;
  end: number;
  @Field(() => Int, { description: 'The place of the user among the users of the currency, from 1.' })
  rank: number;
  @Field(() => Int, { description: 'How many deposits there were, disputes included.' })
  count: number;
  @Field(() => Money, { description: 'The sum of the deposits, minus the disputed amounts.' })
  amount: Money;
}

@ObjectType({ simpleResolvers: true, description: 'What the connected users of a platform received in a currency.' })
export class TopUsersOfCurrency {
  @Field(() => Currency, { description: 'The currency of the deposits.' })
  currency: string;
  @Field(() => Money, { description: 'What all connected users received, also those that `users` leaves out.' })
  total: Money;
  @Field(() => Int, { description: 'How many deposits all connected users had, disputes included.' })
  count: number;
  @Field(() => Int, { description: 'How many connected users had deposits.' })
  userCount: number;
  @Field(() => [UserTotal], { description: 'The users that received most, from the greatest amount.' })
  users: UserTotal[];
}

/** The connected users of a platform that received most. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'The connected users of a platform that received most in a range.' })
export class TopUsers {
  @Field(() => DateTime, { description: 'When the deposits were added up.' })
  asOf: number;
  @Field(() => DateTime, { description: 'The beginning of the range.' })
  from: number;
  @Field(() => DateTime, { description: 'The end of the range, which is excluded.' })
  to: number;
  @Field(() => [TopUsersOfCurrency], {
    description: 'The currencies that have deposits, in the order of their codes.',
  })
  currencies: TopUsersOfCurrency[];
}

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
  return sql`select y.*, row_number() over (partition by y.currency order by y.amount desc, y.account_id) as rank,
      count(*) over c as users, sum(y.count) over c as count_of_all, sum(y.amount) over c as amount_of_all
    from (select x.account_id, x.currency, sum(x.count) as count, sum(x.amount) as amount from (${parts()}) x${only}
      group by x.account_id, x.currency having sum(x.count) > 0) y window c as (partition by y.currency)`;
}

/** The connected users of a platform that received most. Silent: all of it. */
export async function topUsers(row: AccountRow, { scope }: Context, args: TopUsersArgs): Promise<TopUsers | null> {
  const { from, to, currency, limit } = args;
  if (to <= from) throw new DomainError(problem('parameter_invalid', 'account.to', 'must be later than from'));
  if (to - from > daysMax * totalSeconds.day)
    throw new DomainError(
      problem('parameter_invalid', 'account.to', `must be at most ${daysMax} days later than from`),
    );
  refuseLimit('account', limit, topUsersMax);
  const ofPlatform = row.kind === 'platform';
  // Only the root of a tenant is a platform, so all rows that are requested in one tick have the same users, or none.
  const key = `top_users:${ofPlatform}:${from}:${to}:${currency ?? ''}:${limit}`;
  const read = async (ids: readonly string[]) => {
    const top = ofPlatform ? await readTop(scope, args) : { asOf: await readNow(scope), from, to, currencies: [] };
    return new Map(ids.map((id) => [id, top]));
  };
  return scope.many(key, row.id, read);
}

interface Row {
  now: string;
  /** Null in the only row where no user had deposits. */
  accountId: string | null;
  rank: string;
  currency: string;
  count: number;
  amount: string;
  users: number;
  countOfAll: number;
  amountOfAll: string;
}

async function readTop(scope: Scope, { from, to, currency, limit }: TopUsersArgs): Promise<TopUsers> {
  const rows = await scope.read<Row>(
    `top_users${currency ? ':currency' : ''}`,
    (db) =>
      db
        .select({
          now: sql<string>`t.now`,
          accountId: sql<string | null>`z.account_id`,
          rank: sql<string>`z.rank`,
          currency: sql<string>`z.currency`,
          count: sql<number>`z.count::int`,
          amount: sql<string>`z.amount::text`,
          users: sql<number>`z.users::int`,
          countOfAll: sql<number>`z.count_of_all::int`,
          amountOfAll: sql<string>`z.amount_of_all::text`,
        })
        .from(
          sql`(select ${nowOfStatement} as now) t left join (${ranked(currency != null)}) z on z.rank <= ${p('most')}`,
        )
        .orderBy(sql`z.currency, z.rank`),
    { from, to, most: limit, ...boundsOf(from, to), ...(currency && { currency }) },
  );
  const currencies: TopUsersOfCurrency[] = [];
  for (const { accountId, rank, currency: of, count, amount, users, countOfAll, amountOfAll } of rows) {
    if (accountId === null) continue;
    if (currencies.at(-1)?.currency !== of) {
      const total = { amount: BigInt(amountOfAll), currency: of };
      currencies.push({ currency: of, total, count: countOfAll, userCount: users, users: [] });
    }
    const sum = { amount: BigInt(amount), currency: of };
    const counted = { accountId, descendants: true, currency: of, start: from, end: to };
    currencies.at(-1)!.users.push({ ...counted, rank: Number(rank), count, amount: sum });
  }
  return { asOf: Number(rows[0]!.now), from, to, currencies };
}

/** How many users of a currency an answer has at most, from the arguments that the client wrote. */
export function usersOfCurrency(argument: (name: string) => unknown): number {
  const limit = Number(argument('limit') ?? topUsersDefault);
  return Number.isFinite(limit) ? Math.min(Math.max(limit, 0), topUsersMax) : topUsersMax;
}

const unlessOne = (currencies: number) => (argument: (name: string) => unknown) =>
  argument('currency') == null ? currencies : 1;
/** How many currencies an answer counts with. */
export const currenciesOfTop = {
  nodes: unlessOne(currenciesOfFigure.nodes),
  points: unlessOne(currenciesOfFigure.points),
};
