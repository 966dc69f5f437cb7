import { idempotency } from './table.js';
import { whenOld } from './work.js';

/** The database keeps the stored responses of idempotency keys for a day at least. */
const secondsMin = 86_400;

/** The deletion of stored responses to idempotency keys, which belong to no resource. */
export const oldAnswers = whenOld({
  does: 'Deletes old responses to idempotency keys.',
  fn: 'delete_old_responses',
  table: idempotency,
  order: [idempotency.created],
  created: idempotency.created,
  kept: ({ idempotencySeconds: seconds }) => ({ seconds: Math.max(seconds, secondsMin), given: true }),
});
