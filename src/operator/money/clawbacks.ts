import { amountProblems } from '../../operation/amount-problems.js';
import { textProblems } from '../../operation/text-problems.js';
import { depositProblems } from '../../resources/deposit/rules.js';
import { type DepositReasonCode, type DepositRow, deposit } from '../../resources/deposit/table.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { operatorDeposit } from './bank.js';
import { referenceProblems } from './notice.js';

/** A chargeback, under the reference of the bank or the acquirer that has taken the money back. */
export interface Chargeback {
  id: string;
  /** By default all that is not disputed yet. */
  amount?: bigint | undefined;
  reasonCode: DepositReasonCode;
  reference: string;
  /** The tenant of the deposit, which makes the search for it faster. */
  tenantId?: string | undefined;
}

/**
 * Records a chargeback of a completed deposit in live mode, also of one that a checkout made. Returns the deposit with
 * the negative amount. The same chargeback again changes nothing; other content under its reference is a conflict.
 */
export async function disputeDeposit(operator: Operator, given: Chargeback): Promise<DepositRow> {
  const { id, amount, reasonCode, reference, tenantId } = given;
  refuse([
    ...textProblems({ id, reference }, 'deposit'),
    ...depositProblems({ amount: amount ?? null }),
    ...referenceProblems(reference, 'deposit.reference'),
  ]);
  const row = await operatorDeposit(operator, id, tenantId);
  if (!row.livemode)
    throw new OperatorError(
      'In test mode the test helper disputes deposits; this records chargebacks of live mode. Name a live deposit.',
      'parameter_invalid',
      'deposit.id',
    );
  refuse(amountProblems({ amount }, 'deposit', row.currency));
  const args = { id, reference, reasonCode, ...(amount !== undefined && { amount }) };
  return operator.write('record_chargeback', row, 'disputeDeposit', args, deposit);
}
