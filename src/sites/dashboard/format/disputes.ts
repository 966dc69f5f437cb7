import { gatewayNow } from './time';
import { words } from './words';

/** The members of a dispute that say how far it has come. */
interface Progress {
  status: string;
  respondBy: string | null;
}

/** The statuses of disputes that are open, and of those that are decided. */
export const disputeStatuses = {
  OPEN: ['NEEDS_RESPONSE', 'UNDER_REVIEW'],
  DECIDED: ['WON', 'LOST', 'ACCEPTED'],
} as const;

/** Whether a dispute is not decided yet. */
export const isOpen = ({ status }: { status: string }) => disputeStatuses.OPEN.some((each) => each === status);

/** Whether a dispute can be answered or accepted now. `respondBy` is the last second of an answer. */
export function isAnswerable({ status, respondBy }: Progress): boolean {
  return status === 'NEEDS_RESPONSE' && (respondBy === null || Date.parse(gatewayNow()) < Date.parse(respondBy) + 1000);
}

/** The status of a dispute, or that the time to answer it is over. */
export function disputeState(dispute: Progress): string {
  return dispute.status === 'NEEDS_RESPONSE' && !isAnswerable(dispute) ? 'UNANSWERED' : dispute.status;
}

/** Why a payer disputes, in words. */
export const disputeReason = (code: string): string => (code === 'GENERAL' ? 'No certain reason' : words(code));
