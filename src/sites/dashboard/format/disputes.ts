import { gatewayNow } from './time';

/** The members of a dispute that say how far it has come. */
interface Progress {
  status: string;
  respondBy: string | null;
}

/** The statuses of a dispute that is decided. */
const decided = ['WON', 'LOST', 'ACCEPTED'] as const;
/** The statuses that a list of disputes is filtered by. */
export const disputeStatuses = { OPEN: ['NEEDS_RESPONSE', 'UNDER_REVIEW'], DECIDED: decided } as const;

/** Whether a dispute can be answered or accepted now. `respondBy` is the last second of an answer. */
export function isAnswerable({ status, respondBy }: Progress): boolean {
  return status === 'NEEDS_RESPONSE' && (respondBy === null || Date.parse(gatewayNow()) < Date.parse(respondBy) + 1000);
}

/** The status of a dispute, or that the time to answer it is over. */
export function disputeState(dispute: Progress): string {
  return dispute.status === 'NEEDS_RESPONSE' && !isAnswerable(dispute) ? 'UNANSWERED' : dispute.status;
}
