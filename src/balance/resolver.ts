import { and, eq, sql } from 'drizzle-orm';
import { Arg, Ctx, Field, FieldResolver, ID, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { type AccountRow, account } from '../account/table.js';
import { Account } from '../account/type.js';
import type { Context } from '../context.js';
import { type BalanceRow, balance } from '../ledger/table.js';
import { Amount, Currency } from '../scalars.js';

@ObjectType({ simpleResolvers: true, description: 'Money: an amount in a currency.' })
export class Money {
  @Field(() => Amount)
  amount: bigint;
  @Field(() => Currency)
  currency: string;
}

/**
 * Funds of an account by compartment, one entry per currency; amounts are sums made in PostgreSQL, never numbers.
 * Refuses `resource_missing` when the account is out of reach. Spec: Balance.
 */
@ObjectType({ simpleResolvers: true, description: 'Funds of an account by compartment, one entry per currency.' })
export class Balance {
  @Field(() => ID)
  accountId: string;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => [Money], { description: 'Reconciled, not yet picked up for payout. May be negative after a dispute.' })
  available: Money[];
  @Field(() => [Money], { description: 'Received, not yet reconciled.' })
  pending: Money[];
  @Field(() => [Money], { description: 'On the way from one compartment to another.' })
  processing: Money[];
  @Field(() => [Money], { description: 'Being paid out.' })
  payoutProcessing: Money[];
  @Field(() => [Money], { description: 'Kept in advance for fees; empty for accounts that are no platform.' })
  feeAdvance: Money[];
}

@ObjectType({ simpleResolvers: true, description: "The pending funds of an account's partners together." })
export class BalanceAggregate {
  @Field(() => ID)
  accountId: string;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => [Money])
  pending: Money[];
}

@Resolver(() => Balance)
export class BalanceResolver {
  @Query(() => Balance, { description: "The context account's balance, or that of any account within reach." })
  async balance(
    @Arg('accountId', () => ID, { nullable: true }) id: string | undefined,
    @Ctx() context: Context,
  ): Promise<Balance> {
    return balanceOf(context, await contextAccount(context, id));
  }

  @Query(() => BalanceAggregate, {
    description:
      "The pending funds of the partners that the account owns; for a platform, its connected users' partners too.",
  })
  async balanceAggregate(
    @Arg('accountId', () => ID, { nullable: true }) id: string | undefined,
    @Ctx() context: Context,
  ): Promise<BalanceAggregate> {
    const owner = await contextAccount(context, id);
    const p = sql.placeholder;
    const whole = owner.kind === 'platform';
    const rows = await context.scope.read<{ currency: string; pending: string }>(
      `balance_aggregate:${whole}`,
      (db) =>
        db
          .select({ currency: balance.currency, pending: sql<string>`sum(${balance.pending})::text` })
          .from(balance)
          .where(
            and(
              eq(balance.tenantId, p('tenant')),
              eq(balance.livemode, p('live')),
              eq(balance.ofPartner, true),
              whole ? undefined : eq(balance.ownerId, p('owner')),
            ),
          )
          .groupBy(balance.currency)
          .orderBy(balance.currency),
      { owner: owner.id },
    );
    const pending = rows.map(({ currency, pending: sum }) => ({ currency, amount: BigInt(sum) }));
    return {
      accountId: owner.id,
      livemode: owner.livemode,
      pending: pending.length > 0 ? pending : [{ currency: context.edition.currency, amount: 0n }],
    };
  }
}

@Resolver(() => Account)
export class BalanceOfAccount {
  @FieldResolver(() => Balance, { description: "The account's funds in the caller's mode." })
  async balance(@Root() row: AccountRow, @Ctx() context: Context): Promise<Balance> {
    return balanceOf(context, row);
  }
}

function contextAccount({ scope, caller }: Context, id: string | null | undefined): Promise<AccountRow> {
  return scope.one(account, id ?? caller.contextId, 'balance.account_id');
}

/** All balances of the accounts that are asked for in one tick are one statement. */
async function balanceOf(context: Context, row: AccountRow): Promise<Balance> {
  const rows = (await context.scope.many('balances', row.id, (ids) => readBalances(context, ids))) ?? [];
  // Before the first movement there is one currency, with nothing in it.
  const shown =
    rows.length > 0
      ? rows
      : [
          {
            currency: context.edition.currency,
            available: 0n,
            pending: 0n,
            processing: 0n,
            payoutProcessing: 0n,
            feeAdvance: 0n,
          },
        ];
  const each = (compartment: 'available' | 'pending' | 'processing' | 'payoutProcessing' | 'feeAdvance') =>
    shown.map((b) => ({ amount: b[compartment], currency: b.currency }));
  return {
    accountId: row.id,
    livemode: row.livemode,
    available: each('available'),
    pending: each('pending'),
    processing: each('processing'),
    payoutProcessing: each('payoutProcessing'),
    feeAdvance: row.kind === 'platform' ? each('feeAdvance') : [],
  };
}

async function readBalances({ scope }: Context, ids: readonly string[]): Promise<Map<string, BalanceRow[]>> {
  const p = sql.placeholder;
  const rows = await scope.read<BalanceRow>(
    'balances',
    (db) =>
      db
        .select()
        .from(balance)
        .where(
          and(
            eq(balance.tenantId, p('tenant')),
            eq(balance.livemode, p('live')),
            sql`${balance.accountId} = any(${p('ids')})`,
          ),
        )
        .orderBy(balance.currency),
    { ids },
  );
  const byAccount = new Map<string, BalanceRow[]>(ids.map((id) => [id, []]));
  for (const row of rows) byAccount.get(row.accountId)?.push(row);
  return byAccount;
}
