import { formatMoney } from '../../format/money';
import type { Happening } from '../../parts/timeline';
import type { PaymentDetail } from './query';

const begun = {
  PENDING: 'created; it is on its way',
  SUCCEEDED: 'created',
  FAILED: 'created',
};

/** What happened to the refunds and disputes of a payment, newest first, for its timeline. */
export function happeningsOf({ refunds, openedDisputes }: PaymentDetail): Happening[] {
  const ofRefunds = (refunds?.nodes ?? []).flatMap(
    ({ id, created, completedAt, failedAt, failureReason, status, ...money }) => [
      { id: `${id} end`, text: `Refund of ${shown(money)} succeeded`, created: completedAt },
      { id: `${id} failure`, text: `Refund of ${shown(money)} failed${because(failureReason)}`, created: failedAt },
      { id, text: `Refund of ${shown(money)} ${begun[status]}`, created },
    ],
  );
  const ofDisputes = (openedDisputes?.nodes ?? []).flatMap(
    ({ id, created, submittedAt, decidedAt, status, ...money }) => [
      { id: `${id} end`, text: `Dispute of ${shown(money)} ${status.toLowerCase()}`, created: decidedAt },
      { id: `${id} answer`, text: `Dispute of ${shown(money)} answered`, created: submittedAt },
      { id, text: `Dispute of ${shown(money)} opened`, created },
    ],
  );
  return [...ofRefunds, ...ofDisputes].flatMap(({ created, ...each }) =>
    created === null ? [] : [{ ...each, created }],
  );
}

const because = (reason: string | null) => (reason === null ? '' : `: ${reason}`);

const shown = ({ amount, currency }: { amount: string; currency: string }) =>
  `${formatMoney({ amount, currency })} ${currency}`;
