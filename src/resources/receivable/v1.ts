import type { ReceivableRow } from './table.js';
import { value, noun, valueOrNull, schemas, stated } from '../shape.js';
import { amountText } from '../../types/scalars.js';
import { purposeCodes, type PurposeCode } from './purpose-codes.js';

/** Formats a receivable for /v1. Spec: Receivable. */
export function receivableV1(r: ReceivableRow) {
  return {
    id: value(r.id),
    object: noun('receivable'),
    created: value(r.created),
    livemode: value(r.livemode),
    account_id: value(r.accountId),
    currency: value(r.currency),
    amount_locked: value(amountText(r.amountLocked)),
    amount_maximum_reconcilable: value(amountText(r.amountMaximumReconcilable)),
    amount_reconcilable: value(amountText(r.amountReconcilable)),
    amount_settled_payouts: value(amountText(r.amountSettledPayouts)),
    deposit_ids_amount_locked: value(r.depositIdsAmountLocked),
    description: valueOrNull(r.description),
    invoice: {
      amount: value(amountText(r.invoice.amount)),
      creation_date: value(r.invoice.creationDate),
      currency: value(r.invoice.currency),
      document: valueOrNull(r.invoice.document ?? null),
      due_date: value(r.invoice.dueDate),
      reference_number: value(r.invoice.referenceNumber),
    },
    purpose_code: value(r.purposeCode),
    purpose_code_description: valueOrNull(purposeCodes[r.purposeCode] ?? null),
    transaction_type: value(r.transactionType),
    status: value(r.status),
    system_message: r.systemMessage.map(({ code, message, created }) => ({
      code: value(code),
      message: value(message),
      created: value(created),
    })),
    metadata: value(r.metadata ?? {}),
  };
}

const listSchemas = {
  object: { type: 'string', const: 'list' },
  data: {
    type: 'array',
    description: 'All purpose codes.',
    items: {
      type: 'object',
      properties: {
        object: { type: 'string', const: 'purpose_code' },
        code: schemas.string,
        description: schemas.string,
      },
      required: ['object', 'code', 'description'],
      additionalProperties: false,
    },
  },
  hasNext: { type: 'boolean', const: false },
};

/** Formats the purpose codes for /v1, as a list of one page. Silent: all of it. */
export function purposeCodesV1(codes: readonly PurposeCode[]) {
  return {
    object: stated(listSchemas.object, 'list'),
    data: stated(
      listSchemas.data,
      codes.map(({ code, description }) => ({ object: 'purpose_code', code, description })),
    ),
    has_next: stated(listSchemas.hasNext, false),
  };
}
