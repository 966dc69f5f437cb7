import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { belowOf, isPair, pairOf, rootOf } from '../../db/schema/filter-index.js';
import { checkout, checkoutReceivable } from '../checkout/table.js';
import { deposit, unreconciledOf } from '../deposit/table.js';
import { dispute } from '../dispute/table.js';
import { dueDateOf, receivable } from '../receivable/table.js';
import { account } from '../account/table.js';
import { payout, payoutBlock } from '../payout/table.js';
import { accountSetting } from '../account-setting/table.js';
import { balance } from '../ledger/table.js';
import { webhookEndpoint } from '../webhook-endpoint/table.js';
import type { AttentionKind } from './kinds.js';

const p = sql.placeholder;

/** How many objects of a kind are counted, and how many are read to know whether there are more. */
export const readMax = 100;
const readRows = sql.raw(String(readMax + 1));
/** Of a checkout that expired, its invoices are looked up, so fewer are read. */
const checkoutRows = sql.raw('20');
const checkoutSeconds = sql.raw(String(7 * 86_400));

/** The objects of one kind, account and currency that wait at an account. */
export interface Row {
  of: string;
  /** Null in the row that each account has. */
  kind: AttentionKind | null;
  accountId: string;
  currency: string | null;
  count: number;
  amount: string | null;
  objectId: string;
  since: string | null;
  due: string | null;
  /** How many objects of the kind were found, of all accounts and currencies. */
  found: number;
  /** Whether there may be more of the kind, which were not read. */
  more: boolean;
  now: string;
}

/** Whose objects a part reads: those of the account `i.id`, those of its partners, or those of the whole tenant. */
type Whose = 'own' | 'partners' | 'tenant';

/** The id of the root account of the tenant. */
const rootId = sql`('account_' || ${p('tenantId')}::text)`;
const id = sql`i.id`;

interface Columns {
  tenantId: PgColumn;
  livemode: PgColumn;
  id: PgColumn;
  actingAccountId: PgColumn;
  onRootList: PgColumn;
}

const inTenant = (t: Pick<Columns, 'tenantId' | 'livemode'>) =>
  sql`${t.tenantId} = ${p('tenantId')} and ${t.livemode} = ${p('livemode')}`;

/** The rows with a value of a filter, by the index of the lists of accounts, of their partners, or of the root. */
function listed(t: Columns, own: PgColumn, whose: Whose, filter: PgColumn | SQL, value: string): SQL {
  const text = sql`${sql.raw(`'${value}'`)}::text`;
  const pair = (of: PgColumn) => isPair(pairOf(of, filter), sql`(${id} || ' ' || ${text})`);
  if (whose === 'tenant') return sql`${inTenant(t)} and ${rootOf(t.onRootList, filter)} = ${text}`;
  if (whose === 'own') return sql`${inTenant(t)} and ${pair(own)}`;
  return sql`${inTenant(t)} and ${pair(t.actingAccountId)} and ${t.actingAccountId} <> ${own}`;
}

interface Shown {
  currency?: SQL | PgColumn;
  amount?: SQL | PgColumn;
  since: SQL | PgColumn;
  due?: SQL | PgColumn;
}

/** The members of each row. */
const shown = (t: Pick<Columns, 'id' | 'actingAccountId'>, { currency, amount, since, due }: Shown): SQL =>
  sql`${t.actingAccountId} as account_id, ${t.id} as object_id, ${currency ?? sql`null::text`} as currency,
    ${amount ?? sql`null::bigint`} as amount, ${since}::bigint as since, ${due ?? sql`null::bigint`} as due,
    false as partial`;

function deposits(whose: Whose): SQL[] {
  const unreconciled = unreconciledOf(deposit.pendingRest);
  const select = (where: SQL) =>
    sql`select ${shown(deposit, {
      ...{ currency: deposit.currency, amount: deposit.pendingRest, since: deposit.created },
    })} from ${deposit} where ${where} order by ${deposit.created}, ${deposit.id} limit ${readRows}`;
  const first = select(listed(deposit, deposit.toAccountId, whose, unreconciled, 'true'));
  if (whose !== 'tenant') return [first];
  return [first, select(sql`${inTenant(deposit)} and ${belowOf(deposit.onRootList, unreconciled)} = 'true'::text`)];
}

/** A receivable is overdue from the midnight after its due date. */
function receivables(whose: Whose): SQL[] {
  if (whose === 'partners') return [];
  const due = dueDateOf(receivable);
  const today = sql`(select to_char(to_timestamp(c.now) at time zone 'UTC', 'YYYY-MM-DD') from clock c)`;
  const since = sql`extract(epoch from (${due})::date + 1)`;
  return [
    sql`select ${shown(receivable, { currency: receivable.currency, amount: receivable.amountReconcilable, since })}
      from ${receivable} where ${listed(receivable, receivable.accountId, whose, receivable.status, 'open')}
        and ${due} < ${today}
      order by ${due}, ${receivable.id} limit ${readRows}`,
  ];
}

/**
 * A dispute whose time is over cannot be answered; the operator decides it soon, and the newest are read first. Those
 * of what partners of users received are not on the root list, so the whole tenant has an index of its own.
 */
function disputes(whose: Whose): SQL[] {
  const where =
    whose === 'tenant'
      ? sql`${inTenant(dispute)} and ${dispute.status} = 'needs_response'`
      : listed(dispute, dispute.accountId, whose, dispute.status, 'needs_response');
  return [
    sql`select y.account_id, y.object_id, y.currency, y.amount, y.since, y.due, y.whole as partial
      from (select x.*, count(*) over () >= ${readRows} as whole from (select ${shown(dispute, {
        ...{ currency: dispute.currency, amount: dispute.amount, since: dispute.created, due: dispute.respondBy },
      })} from ${dispute} where ${where}
        order by ${dispute.created} desc, ${dispute.id} desc limit ${readRows}) x) y
      where y.due is null or y.due >= (select c.now from clock c)`,
  ];
}

function payouts(whose: Whose): SQL[] {
  if (whose === 'partners') return [];
  const own = whose === 'own' ? sql`and ${payout.accountId} = ${id}` : sql``;
  return [
    sql`select ${shown(payout, { currency: payout.currency, amount: payout.amount, since: payout.updatedAt })}
      from ${payout} where ${inTenant(payout)} ${own} and status in ('failed', 'returned') and retried_by is null
      order by ${payout.updatedAt}, ${payout.id} limit ${readRows}`,
  ];
}

/**
 * Accounts whose available money was due and was not paid out, by currency, and those whose payouts are disabled, which
 * have no currency here. `payoutsBlocked` finds out whether it still is so, and how much it is. Accounts that are not
 * activated have kinds of their own. Each row looks up one of another table: a join might read a whole table.
 */
function blocked(whose: Whose): SQL[] {
  if (whose === 'partners') return [];
  const now = sql`(select c.now from clock c)`;
  const own = (of: PgColumn) => (whose === 'own' ? sql`and ${of} = ${id}` : sql``);
  const columns = (of: SQL | PgColumn, currency: SQL | PgColumn, since: SQL | PgColumn) =>
    sql`${of} as account_id, ${of} as object_id, ${currency} as currency, null::bigint as amount,
      ${since}::bigint as since, null::bigint as due, false as partial`;
  const { accountId, currency, created } = payoutBlock;
  return [
    sql`select ${columns(accountId, currency, created)} from ${payoutBlock}
      cross join lateral (select from ${accountSetting} where ${inTenant(accountSetting)}
        and ${accountSetting.accountId} = ${accountId} and account_activated limit 1) s
      where ${inTenant(payoutBlock)} ${own(accountId)} and reason_code <> 'amount_too_small'
      order by ${created}, ${payoutBlock.id} limit ${readRows}`,
    sql`select ${columns(sql`s.account_id`, sql`null::text`, now)}
      from (select ${accountSetting.accountId} from ${accountSetting}
        where ${inTenant(accountSetting)} ${own(accountSetting.accountId)}
          and account_activated and (platform_hold or service_hold)
        order by ${accountSetting.accountId} limit ${readRows}) s
      cross join lateral (select from ${balance} where ${inTenant(balance)} and ${balance.accountId} = s.account_id
        and ${balance.available} > 0 limit 1) b`,
  ];
}

function webhooks(whose: Whose): SQL[] {
  if (whose === 'partners') return [];
  const own = whose === 'own' ? sql`and ${webhookEndpoint.accountId} = ${id}` : sql``;
  return [
    sql`select ${shown(webhookEndpoint, { since: webhookEndpoint.failingSince })}
      from ${webhookEndpoint} where ${inTenant(webhookEndpoint)} ${own}
        and failing_since is not null and disabled_reason is distinct from 'by_request'
      order by ${webhookEndpoint.failingSince}, ${webhookEndpoint.id} limit ${readRows}`,
  ];
}

/**
 * The newest checkouts that expired without payment. One that no worker has marked yet is still stored as initialized.
 */
function checkouts(whose: Whose): SQL[] {
  if (whose === 'partners') return [];
  const now = sql`(select c.now from clock c)`;
  const select = (status: string, more: SQL) => sql`(select x.*, count(*) over () >= ${checkoutRows} as partial
    from (select ${checkout}.* from ${checkout}
    where ${listed(checkout, checkout.toAccountId, whose, checkout.status, status)} ${more} limit ${checkoutRows}) x)`;
  const expired = select('expired', sql`order by ${checkout.created} desc, ${checkout.id} desc`);
  const due = select(
    'initialized',
    sql`and ${checkout.status} = 'initialized' and ${checkout.expiresAt} <= ${now}
      order by ${checkout.expiresAt} desc, ${checkout.id} desc`,
  );
  return [
    sql`select y.context_id as account_id, y.id as object_id, y.currency, y.amount, y.expires_at as since,
        null::bigint as due, y.partial
      from (${expired} union all ${due}) y
      where y.deposit_id is null and y.expires_at > ${now} - ${checkoutSeconds}
        and exists (select from unnest(y.receivable_ids) u(receivable_id)
        join ${receivable} r on r.tenant_id = ${p('tenantId')} and r.livemode = ${p('livemode')}
          and r.id = u.receivable_id and r.status = 'open')
        and not exists (select from unnest(y.receivable_ids) u(receivable_id)
          join ${checkoutReceivable} k on k.tenant_id = ${p('tenantId')} and k.livemode = ${p('livemode')}
            and k.receivable_id = u.receivable_id and k.created > y.created)`,
  ];
}

/** Accounts in a status. Of the accounts below, the deactivated ones do not count. */
const accounts =
  (status: string) =>
  (whose: Whose): SQL[] => {
    if (whose === 'partners') return [];
    const where =
      whose === 'own' || status === 'deactivated'
        ? sql`${account.id} = ${whose === 'own' ? id : rootId}`
        : sql`${inTenant(account)}`;
    return [
      sql`select ${account.id} as account_id, ${account.id} as object_id, null::text as currency,
          null::bigint as amount, ${account.statusSince} as since, null::bigint as due, false as partial
        from ${account} where ${inTenant(account)} and ${where} and ${account.status} = ${sql.raw(`'${status}'`)}
          and ${account.kind} <> 'partner' and ${account.status} <> 'activated'
        order by ${account.statusSince} nulls first, ${account.id} limit ${readRows}`,
    ];
  };

const reads: Readonly<Record<AttentionKind, (whose: Whose) => SQL[]>> = {
  account_deactivated: accounts('deactivated'),
  account_incomplete: accounts('draft'),
  account_on_hold: accounts('hold'),
  account_verifying: accounts('verifying'),
  checkout_expired: checkouts,
  deposit_unreconciled: deposits,
  dispute_open: disputes,
  payout_failed: payouts,
  payouts_blocked: blocked,
  receivable_overdue: receivables,
  webhook_failing: webhooks,
};

/**
 * What waits at the accounts `ids`, each object with its place among those of its kind: at most 101 of each kind, those
 * first that have waited longest, each read in the order of an index. With `descendants`, the objects of partners count
 * for their owner, and those of the whole tenant for the root account.
 */
export function waiting(descendants: boolean): SQL {
  const ofKind = (kind: AttentionKind, selects: SQL[], of: SQL, from: SQL) => sql`select ${of} as of,
      ${sql.raw(`'${kind}'`)} as kind, x.* from ${from} (select u.*,
        count(*) over () as found, bool_or(u.partial) over () as more,
        row_number() over (order by u.since nulls first, u.object_id) as place
      from (select * from (${sql.join(
        selects.map((select) => sql`(${select})`),
        sql` union all `,
      )}) w order by w.since nulls first, w.object_id limit ${readRows}) u) x`;
  const each = descendants ? sql`where n.id <> ${rootId}` : sql``;
  const ids = sql`(select n.id from unnest(${p('ids')}::text[]) n(id) ${each}) i cross join lateral`;
  const parts = Object.entries(reads).flatMap(([name, read]) => {
    const kind = name as AttentionKind;
    const own = [...read('own'), ...(descendants ? read('partners') : [])];
    const all = ofKind(kind, read('tenant'), rootId, sql``);
    const tenant = sql`${all} where ${rootId} = any(${p('ids')}::text[])`;
    return [ofKind(kind, own, id, ids), ...(descendants ? [tenant] : [])];
  });
  return sql.join(parts, sql` union all `);
}
