import { sql, and, eq } from 'drizzle-orm';
import type { Context } from '../../operation/context.js';
import { type AccountRow, account } from '../account/table.js';
import type { AsOfArgs } from './inputs.js';
import type { Balance } from './type.js';
import { series } from './history.js';
import { AccountScope } from '../../types/account-scope.js';
import { type Amounts, fundsOf, type CompartmentField, ofEach, funds } from './funds.js';
import { balancesOfActingAccounts } from './acting-accounts.js';
import { balance, booked, type BalanceRow } from '../ledger/table.js';

/** The account whose balance is asked for; the acting account by default. */
export function chosenAccount({ scope, caller }: Context, id: string | null | undefined): Promise<AccountRow> {
  return scope.one(account, id || caller.actingAccountId, 'balance.account_id');
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

/** The balance of an account, from its rows by currency. */
export function formatBalance({ edition }: Context, row: Owner, rows: readonly Amounts[]): Balance {
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
export function readBalance({ scope }: Context, id: string) {
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
