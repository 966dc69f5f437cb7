import { Query, Arg, ID, Ctx, Resolver } from 'type-graphql';
import { sql, and, eq } from 'drizzle-orm';
import { Balance, BalanceAggregate } from './type.js';
import type { Context } from '../../operation/context.js';
import { readBalance, formatBalance, chosenAccount } from './sums.js';
import { DomainError, problem } from '../../errors/problems.js';
import { type Amounts, withShown } from './funds.js';
import { balance, booked } from '../ledger/table.js';

@Resolver(() => Balance)
export class BalanceResolver {
  @Query(() => Balance, {
    nullable: true,
    description: "The acting account's balance, or that of any account that the caller can see.",
  })
  async balance(
    @Arg('accountId', () => ID, {
      nullable: true,
      description: 'Any account that the caller can see; the acting account by default.',
    })
    id: string | undefined,
    @Ctx() context: Context,
  ): Promise<Balance> {
    const rows = await readBalance(context, id || context.caller.actingAccountId);
    const owner = rows[0]?.owner;
    if (!owner) throw new DomainError(problem('resource_missing', 'balance.account_id'));
    return formatBalance(
      context,
      owner,
      rows.flatMap(({ money }) => (money.currency === null ? [] : [money as Amounts])),
    );
  }

  @Query(() => BalanceAggregate, {
    nullable: true,
    description:
      "The pending funds of the partners that the account owns; for a platform, its connected users' partners too.",
  })
  async balanceAggregate(
    @Arg('accountId', () => ID, {
      nullable: true,
      description: 'Any account that the caller can see; the acting account by default.',
    })
    id: string | undefined,
    @Ctx() context: Context,
  ): Promise<BalanceAggregate> {
    const owner = await chosenAccount(context, id);
    const p = sql.placeholder;
    const ofTenant = owner.kind === 'platform';
    const rows = await context.scope.read<{ currency: string; pending: string }>(
      `balance_aggregate:${ofTenant}`,
      (db) =>
        db
          .select({ currency: balance.currency, pending: sql<string>`sum(${balance.pending})::text` })
          .from(balance)
          .where(
            and(
              eq(balance.tenantId, p('tenantId')),
              eq(balance.livemode, p('livemode')),
              eq(balance.ofPartner, true),
              booked,
              ofTenant ? undefined : eq(balance.ownerId, p('owner')),
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
      pending: [...withShown(pending, context.edition, (currency) => ({ currency, amount: 0n }))],
    };
  }
}
