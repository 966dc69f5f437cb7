import { and, asc, eq, sql } from 'drizzle-orm';
import type { AccountRow } from '../../resources/account/table.js';
import { type AccountSettingRow, accountSetting } from '../../resources/account-setting/table.js';
import { PayoutReasonCode, type PayoutRow, PayoutStatus, payout } from '../../resources/payout/table.js';
import { textProblems } from '../../operation/text-problems.js';
import { type Problem, problem } from '../../errors/problems.js';
import { type RateRow, rate } from '../../resources/exchange-rate/table.js';
import type { TenantAndMode } from '../../db/schema/tenant-and-mode.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { refuseInOrder } from '../payment-order/orders.js';
import { referenceProblems, withoutSpaceAround } from './notice.js';
import { tenantOf, listed, type ListPage, type ListFilter } from '../paging.js';

/** Lists payouts of all tenants. In live mode, those in status `processing` wait for the operator. */
export function listPayouts(operator: Operator, filter: ListFilter<PayoutStatus>): Promise<ListPage<PayoutRow>> {
  return listed(
    operator,
    'operator_payouts',
    payout,
    Object.values(PayoutStatus),
    filter,
    filter.status === 'processing',
  );
}

/** The payout with this id. */
export async function payoutOf(operator: Operator, id: string): Promise<PayoutRow> {
  const [row] = await operator.byId('operator_payout', payout, id);
  if (!row) throw new OperatorError('There is no such payout. Check the id.', 'resource_missing', 'payout.id');
  return row;
}

/** What a bank says of the end of a payout. */
export interface PayoutReport {
  reasonCode?: PayoutReasonCode | null | undefined;
  /** The bank's own reference of the transfer. White space around it is left out. */
  bankReference?: string | null | undefined;
}

/**
 * Records that a payout has arrived or failed, or that a completed one has come back, as the bank reports it: by the
 * word of an operator or by a file of the bank.
 */
export async function endPayout(
  operator: Operator,
  id: string,
  to: 'completed' | 'failed' | 'returned',
  { reasonCode, bankReference }: PayoutReport = {},
  by: 'operator' | 'bank' = 'operator',
): Promise<PayoutRow> {
  if (bankReference != null)
    refuse([
      ...textProblems({ bankReference }, 'payout'),
      ...referenceProblems(bankReference, 'payout.bank_reference'),
    ]);
  const row = await payoutOf(operator, id);
  if (row.status === PayoutStatus.PROCESSING) await refuseInOrder(operator, row, by);
  const args = {
    ...{ id, to },
    ...(row.orderId !== null && { orderId: row.orderId }),
    ...(reasonCode != null && { reasonCode }),
    ...(bankReference != null && { bankReference: withoutSpaceAround(bankReference) }),
  };
  return operator.write('move_payout', row, `payout_${to}`, args, payout);
}

/**
 * Places or lifts the service hold on an account's payouts. Only the operator can. Spec: AccountSetting, service_hold.
 */
export async function setServiceHold(operator: Operator, row: AccountRow, hold: boolean): Promise<AccountSettingRow> {
  return operator.write('set_service_hold', row, 'serviceHold', { accountId: row.id, hold }, accountSetting);
}

/** Sets how much of one currency a unit of another buys, for the live payouts of a tenant. */
export async function setRate(
  operator: Operator,
  { tenantId }: Pick<TenantAndMode, 'tenantId'>,
  source: string,
  target: string,
  value: string,
): Promise<RateRow> {
  refuse(rateProblems(source, target, value));
  const live = { tenantId, livemode: true };
  return operator.write('set_rate', live, 'setRate', { source, target, rate: value }, rate);
}

/** The problems of a rate that is impossible. */
function rateProblems(source: string, target: string, value: string): Problem[] {
  const problems: Problem[] = [];
  if (source === target) problems.push(problem('parameter_invalid', 'rate.target', 'must be another currency'));
  if (!/^\d{1,7}(\.\d{1,16})?$/.test(value) || /^0+(\.0+)?$/.test(value))
    problems.push(
      problem('parameter_invalid', 'rate.rate', 'must be a positive decimal below 10,000,000, such as 83.25'),
    );
  return problems;
}

/** The rates of a tenant, ordered by their currencies. */
export function listRates(operator: Operator, { tenantId }: Pick<TenantAndMode, 'tenantId'>): Promise<RateRow[]> {
  return operator.read<RateRow>(
    'operator_rates',
    (db) =>
      db
        .select()
        .from(rate)
        .where(and(eq(rate.tenantId, sql.placeholder('tenantId')), eq(rate.livemode, true)))
        .orderBy(asc(rate.source), asc(rate.target)),
    { tenantId: tenantOf(tenantId) },
  );
}
