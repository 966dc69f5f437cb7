import { and, eq, sql } from 'drizzle-orm';
import { Arg, ArgsType, Ctx, Field, ID, Query, Resolver } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { DomainError, problem } from '../../errors/problems.js';
import { AccountScope } from '../../types/account-scope.js';
import { DateTime } from '../../types/scalars.js';
import { type AccountRow, account } from '../account/table.js';
import { type BalanceRow, balance, booked } from '../ledger/table.js';
import { balancesOfActingAccounts, scopeText } from './acting-accounts.js';
import { type Amounts, type CompartmentField, funds, fundsOf, ofEach, withShown } from './funds.js';
import { series } from './history.js';
import { Balance, BalanceAggregate } from './type.js';

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

function chosenAccount({ scope, caller }: Context, id: string | null | undefined): Promise<AccountRow> {
  return scope.one(account, id || caller.actingAccountId, 'balance.account_id');
}

@ArgsType()
export class AsOfArgs {
  @Field(() => DateTime, { nullable: true, description: 'The end of this second; answered from the ledger.' })
  asOf?: number | null;
  @Field(() => AccountScope, { defaultValue: AccountScope.SELF, description: scopeText })
  scope: AccountScope;
}

/** The funds of an account, now or as they were at a time. */
export async function balanceOfAccount(row: AccountRow, context: Context, { asOf, scope }: AsOfArgs): Promise<Balance> {
  if (asOf != null)
    return formatBalance(context, row, await series(context, row.id, { from: asOf, to: asOf + 1, scope }));
  return scope === AccountScope.DESCENDANTS ? balanceOfContext(context, row) : balanceOf(context, row);
}

/** One statement reads the balances of all accounts that are requested in one tick. */
async function balanceOf(context: Context, row: AccountRow): Promise<Balance> {
  const rows = (await context.scope.many('balances', row.id, (ids) => readBalances(context, ids))) ?? [];
  return formatBalance(context, row, rows);
}

type Owner = Pick<AccountRow, 'id' | 'livemode' | 'kind'>;

function formatBalance({ edition }: Context, row: Owner, rows: readonly Amounts[]): Balance {
  return { accountId: row.id, livemode: row.livemode, ...fundsOf(row, rows, edition) };
}

type Sums = Record<'accountId' | 'currency' | CompartmentField, string>;

/** The funds of an account and of the accounts below it. One statement reads all accounts requested in one tick. */
async function balanceOfContext(context: Context, row: AccountRow): Promise<Balance> {
  const rows = await context.scope.many('balances_of_acting_accounts', row.id, async (ids) => {
    const found = await readBalancesOfActingAccounts(context, ids);
    return new Map(ids.map((id) => [id, found.filter(({ accountId }) => accountId === id)]));
  });
  const amounts = (rows ?? []).map((sums) => ({
    currency: sums.currency,
    ...ofEach((compartment) => BigInt(sums[compartment])),
  }));
  return formatBalance(context, row, amounts);
}

/** The sums of the balances of each account and of the accounts below it. */
function readBalancesOfActingAccounts({ scope }: Context, ids: readonly string[]): Promise<Sums[]> {
  return scope.read<Sums>(
    'balances_of_acting_accounts',
    (db) =>
      db
        .select({
          accountId: sql<string>`x.id`,
          currency: sql<string>`x.currency`,
          ...ofEach((_, { name }) => sql<string>`sum(x.${sql.raw(name)})::text`),
        })
        .from(sql`(${balancesOfActingAccounts(true)}) x`)
        .groupBy(sql`1`, sql`2`)
        .orderBy(sql`1, 2`),
    { ids },
  );
}

/**
 * Reads an account that the caller can see, and its balances, in one statement. Without a balance, the one row has null
 * for `money`.
 */
function readBalance({ scope }: Context, id: string) {
  const p = sql.placeholder;
  return scope.readFrom<{ owner: Owner; money: Amounts | Record<keyof Amounts, null> }>(
    'balance_of_account',
    (db, visible) =>
      db
        .select({
          owner: { id: account.id, livemode: account.livemode, kind: account.kind },
          money: { currency: funds.currency, ...ofEach((_, column) => column) },
        })
        .from(account)
        .leftJoin(
          balance,
          and(
            eq(balance.tenantId, p('tenantId')),
            eq(balance.livemode, p('livemode')),
            eq(balance.accountId, account.id),
            booked,
          ),
        )
        .where(visible(account))
        .orderBy(balance.currency),
    { id },
  );
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
            eq(balance.tenantId, p('tenantId')),
            eq(balance.livemode, p('livemode')),
            sql`${balance.accountId} = any(${p('ids')})`,
            booked,
          ),
        )
        .orderBy(balance.currency),
    { ids },
  );
  const byAccount = new Map<string, BalanceRow[]>(ids.map((id) => [id, []]));
  for (const row of rows) byAccount.get(row.accountId)?.push(row);
  return byAccount;
}
