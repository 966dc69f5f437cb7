import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { Link } from 'wouter';
import { currenciesOf, formatMoney, type Money as Amount, sum } from '../../format/money';
import { counted } from '../../format/words';
import { graphql } from '../../graph/graphql';
import { useWrite } from '../../graph/write';
import { refusalWords } from '../../format/refusals';
import { Problem } from '../../parts/problem';
import type { Match, OpenPayment } from './query';

const MatchMutation = graphql(`
  mutation MatchPayments($input: ReconcileDepositsInput!) {
    reconcileDeposits(input: $input) {
      results {
        deposit { id status pendingRest receivables { id status } }
        problems { code message }
      }
    }
  }
`);

/** A payment that is matched with a receivable. */
export interface Pair {
  payment: OpenPayment;
  match: Match;
}

/** How long matches wait before they are sent, so that they can be taken back. */
const waitSeconds = 8;

/** The sums of some matches, one for each currency. */
function sumsOf(pairs: readonly Pair[]): Amount[] {
  const amounts = pairs.map(({ match }) => match.amount);
  const of = (currency: string) => amounts.filter((each) => each.currency === currency).map(({ amount }) => amount);
  return currenciesOf(amounts).map((currency) => ({ currency, amount: sum(of(currency)) }));
}

const sumWords = (pairs: readonly Pair[]): string => sumsOf(pairs).map(formatMoney).join(' + ');

/** What has become of matches: those that were done, and those that were refused with the reason. */
interface Done {
  matched: Pair[];
  refused: (Pair & { reason: string })[];
}

/**
 * Sends matches together, after a time in which they can be taken back. They are sent at once when the viewer goes to
 * another page, and the browser asks before it closes this one.
 */
export function useMatching(onBegin: () => void) {
  const { write, pending, failure } = useWrite(MatchMutation);
  const [waiting, setWaiting] = useState<readonly Pair[] | null>(null);
  // What had no answer: it may have been done, so the next try has the same idempotency key.
  const [unsent, setUnsent] = useState<readonly Pair[] | null>(null);
  const [done, setDone] = useState<Done>();
  const send = async (pairs: readonly Pair[]) => {
    setWaiting(null);
    setUnsent(null);
    const deposits = pairs.map(({ payment, match }) => ({
      id: payment.id,
      receivables: [{ id: match.receivable.id, amount: match.amount.amount }],
    }));
    const answer = await write({ input: { deposits } });
    if (!answer) return setUnsent(pairs);
    const outcome: Done = { matched: [], refused: [] };
    for (const [i, pair] of pairs.entries()) {
      const [problem] = answer.reconcileDeposits.results[i]?.problems ?? [];
      if (!problem) outcome.matched.push(pair);
      else outcome.refused.push({ ...pair, reason: refusalWords(problem.code?.toLowerCase(), problem.message) });
    }
    return setDone(outcome);
  };
  const left = useRef(waiting);
  left.current = waiting;
  const sendNow = useEffectEvent(() => {
    if (left.current) void send(left.current);
  });
  useEffect(() => {
    if (!waiting) return undefined;
    const timer = setTimeout(() => sendNow(), waitSeconds * 1000);
    const onClose = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', onClose);
    return () => {
      clearTimeout(timer);
      removeEventListener('beforeunload', onClose);
    };
  }, [waiting]);
  useEffect(() => () => sendNow(), []);
  const begin = (pairs: readonly Pair[]) => {
    setDone(undefined);
    setUnsent(null);
    setWaiting(pairs);
    onBegin();
  };
  return {
    ...{ waiting, unsent, pending, done, failure, begin },
    tryAgain: () => unsent && void send(unsent),
    sendNow: () => waiting && void send(waiting),
    undo: () => setWaiting(null),
  };
}

/** What waits to be sent, and what has become of what was sent. */
export function Outcome({ waiting, unsent, pending, done, failure, ...to }: ReturnType<typeof useMatching>) {
  return (
    <div role="status">
      {waiting && (
        <p className="note matching-note">
          <span>
            {counted(waiting.length, 'payment')} matched, {sumWords(waiting)}. This is sent in a few seconds.
          </span>
          <button type="button" className="button small" onClick={to.undo}>
            Undo
          </button>
          <button type="button" className="button small" onClick={to.sendNow}>
            Send now
          </button>
        </p>
      )}
      {pending && <p className="note">Matching …</p>}
      {done && done.matched.length > 0 && (
        <p className="note good">
          {counted(done.matched.length, 'payment')} reconciled, {sumWords(done.matched)}.
        </p>
      )}
      {unsent && failure && <Problem error={failure} onRetry={to.tryAgain} />}
      {done && done.refused.length > 0 && (
        <div className="note bad">
          <p>Not reconciled:</p>
          <ul>
            {done.refused.map(({ payment, match, reason }) => (
              <li key={payment.id}>
                <Link href={`/payments/${payment.id}`}>{formatMoney({ ...payment, amount: payment.pendingRest })}</Link>
                {` with ${match.receivable.invoice.referenceNumber}. ${reason}`}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

interface FootProps {
  pairs: readonly Pair[];
  /** How many payments of the page have an exact match. */
  exact: number;
  onExact: () => void;
  onNone: () => void;
  onMatch: () => void;
}

/** What is chosen, its sum, and the button that matches it. */
export function Foot({ pairs, exact, onExact, onNone, onMatch }: FootProps) {
  return (
    <div className="matching-foot">
      <span className="matching-chosen">
        {pairs.length === 0
          ? 'Choose the payments whose invoice is right.'
          : `${pairs.length} chosen · ${sumWords(pairs)}`}
      </span>
      {pairs.length > 0 && (
        <button type="button" className="button" onClick={onNone}>
          Clear
        </button>
      )}
      {exact > 0 && pairs.length === 0 && (
        <button type="button" className="button" onClick={onExact}>
          Choose {exact} exact
        </button>
      )}
      <button type="button" className="button primary" disabled={pairs.length === 0} onClick={onMatch}>
        Match {pairs.length || ''}
      </button>
    </div>
  );
}
