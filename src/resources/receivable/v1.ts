import { amountText } from '../../types/scalars.js';
import { purposeCodes } from './purpose.js';
import type { ReceivableRow } from './table.js';
import { declareKeys } from '../shape.js';

/** Formats a receivable for /v1. Spec: Receivable. */
export function receivableV1(r: ReceivableRow) {
  return {
    id: r.id,
    object: 'receivable',
    created: r.created,
    livemode: r.livemode,
    account_id: r.accountId,
    currency: r.currency,
    amount_locked: amountText(r.amountLocked),
    amount_maximum_reconcilable: amountText(r.amountMaximumReconcilable),
    amount_reconcilable: amountText(r.amountReconcilable),
    amount_settled_payouts: amountText(r.amountSettledPayouts),
    deposit_ids_amount_locked: r.depositIdsAmountLocked,
    description: r.description,
    invoice: {
      amount: amountText(r.invoice.amount),
      creation_date: r.invoice.creationDate,
      currency: r.invoice.currency,
      document: r.invoice.document ?? null,
      due_date: r.invoice.dueDate,
      reference_number: r.invoice.referenceNumber,
    },
    purpose_code: r.purposeCode,
    purpose_code_description: purposeCodes[r.purposeCode] ?? null,
    transaction_type: r.transactionType,
    status: r.status,
    system_message: r.systemMessage.map(({ code, message, created }) => ({ code, message, created })),
    metadata: r.metadata ?? {},
  };
}

declareKeys(receivableV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  account_id: 'value',
  currency: 'value',
  amount_locked: 'value',
  amount_maximum_reconcilable: 'value',
  amount_reconcilable: 'value',
  amount_settled_payouts: 'value',
  deposit_ids_amount_locked: 'value',
  description: 'value or null',
  invoice: {
    amount: 'value',
    creation_date: 'value',
    currency: 'value',
    document: 'value or null',
    due_date: 'value',
    reference_number: 'value',
  },
  purpose_code: 'value',
  purpose_code_description: 'value or null',
  transaction_type: 'value',
  status: 'value',
  system_message: { code: 'value', message: 'value', created: 'value' },
  metadata: 'value',
});
