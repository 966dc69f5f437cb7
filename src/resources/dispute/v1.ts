import { amountText } from '../../types/scalars.js';
import { noun, value, valueOrNull } from '../shape.js';
import type { DisputeRow } from './table.js';

/** Formats a dispute for /v1. Silent: all fields. */
export function disputeV1(r: DisputeRow) {
  return {
    id: value(r.id),
    object: noun('dispute'),
    created: value(r.created),
    livemode: value(r.livemode),
    account_id: value(r.accountId),
    deposit_id: value(r.depositId),
    debit_deposit_id: value(r.debitDepositId),
    amount: value(amountText(r.amount)),
    currency: value(r.currency),
    status: value(r.status),
    reason_code: value(r.reasonCode),
    acquirer_reason: valueOrNull(r.acquirerReason),
    respond_by: valueOrNull(r.respondBy),
    evidence_text: valueOrNull(r.evidenceText),
    evidence_file_ids: value(r.evidenceFileIds),
    submitted_at: valueOrNull(r.submittedAt),
    decided_at: valueOrNull(r.decidedAt),
    reference: valueOrNull(r.reference),
  };
}
