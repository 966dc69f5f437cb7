import { words } from '../format/words';

const tones: Record<string, 'good' | 'bad' | 'wait' | 'plain'> = {
  ACTIVATED: 'good',
  COMPLETED: 'good',
  SUCCEEDED: 'good',
  SETTLED: 'good',
  FAILED: 'bad',
  REFUSED: 'wait',
  ENABLED: 'good',
  FAILING: 'bad',
  ACTIVE: 'good',
  REVERSED: 'bad',
  RETURNED: 'bad',
  HOLD: 'bad',
  PROCESSING: 'wait',
  VERIFYING: 'wait',
  PENDING: 'wait',
  INITIALIZED: 'wait',
  LOCKED: 'wait',
  OVERDUE: 'bad',
  NEEDS_RESPONSE: 'bad',
  UNANSWERED: 'bad',
  UNDER_REVIEW: 'wait',
  WON: 'good',
  LOST: 'bad',
  UNRECONCILED: 'wait',
  REST_TO_RECONCILE: 'wait',
  PASSED: 'good',
  VIOLATED: 'bad',
  RUNNING: 'wait',
  ATTEMPTED: 'wait',
  ALIVE: 'good',
  OK: 'good',
  NOW: 'bad',
  GONE: 'bad',
};

/** A status in words, with a colour that repeats what the word says, and what else is to be said of it. */
export function Status({ value, more }: { value: string; more?: string | false }) {
  return (
    <span className={`status ${tones[value] ?? 'plain'}`}>
      {words(value)}
      {more && ` · ${more}`}
    </span>
  );
}
