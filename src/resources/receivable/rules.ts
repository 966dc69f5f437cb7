import type { Scope } from '../../db/scope.js';
import { account } from '../account/table.js';
import { DomainError, problem, type Problem, emptyOptional } from '../../errors/problems.js';
import type { CreateReceivableInput, UpdateReceivableInput } from './inputs.js';
import { purposeCodes } from './purpose-codes.js';

/** Refuses a customer that the caller does not see, or that is no partner of the account. */
export async function checkCustomer(scope: Scope, id: string | null | undefined, accountId: string): Promise<void> {
  if (!id) return;
  const customer = await scope.one(account, id, 'receivable.customer_id');
  if (customer.kind !== 'partner' || customer.ownerId !== accountId)
    throw new DomainError(
      problem('account_type_invalid', 'receivable.customer_id', 'The customer must be a partner of the account.'),
    );
}

/**
 * The problems of a receivable: an amount that is not positive, a due date before the invoice, another currency than
 * the invoice, an unknown purpose.
 */
export function receivableProblems({
  invoice,
  currency,
  purposeCode,
  amountMaximumReconcilable: maximum,
}: Partial<CreateReceivableInput>): Problem[] {
  const problems: Problem[] = [];
  if (invoice?.amount !== undefined) problems.push(...moneyProblems('receivable.invoice.amount', invoice.amount));
  if (maximum != null) problems.push(...moneyProblems('receivable.amount_maximum_reconcilable', maximum));
  // Dates are YYYY-MM-DD, so their order as texts is their order in time.
  if (invoice?.dueDate !== undefined && invoice.creationDate !== undefined && invoice.dueDate < invoice.creationDate)
    problems.push(
      problem('parameter_invalid', 'receivable.invoice.due_date', 'must not be before invoice.creation_date'),
    );
  if (invoice?.currency !== undefined && currency !== undefined && currency !== invoice.currency) {
    problems.push(problem('parameter_invalid', 'receivable.currency', "must be the invoice's currency"));
  }
  if (purposeCode !== undefined && purposeCode !== '' && !Object.hasOwn(purposeCodes, purposeCode)) {
    problems.push(
      problem('parameter_invalid', 'receivable.purpose_code', 'must be a purpose code of the RBI, such as P0802'),
    );
  }
  return problems;
}

export const receivableUpdateLimits = { amount_maximum_reconcilable: { notNull: true } } as const;

/** The problems of an update: a maximum that is null or zero. */
export function receivableUpdateProblems({
  amountMaximumReconcilable: maximum,
}: Partial<UpdateReceivableInput>): Problem[] {
  const field = 'receivable.amount_maximum_reconcilable';
  if (maximum === null) return [problem('parameter_invalid_empty', field, emptyOptional)];
  return maximum === undefined ? [] : moneyProblems(field, maximum);
}

/** The problem of an amount of a receivable that is not positive; `field` names it. */
function moneyProblems(field: string, amount: bigint): Problem[] {
  return amount <= 0n ? [problem('parameter_invalid', field, 'must be greater than zero')] : [];
}

/** Why a partner has no receivables, and which account has them. */
export const ofPartner =
  'A partner has no receivables. Name the partner that is billed as the ' +
  'customer; the account is the one that the money is owed to.';
