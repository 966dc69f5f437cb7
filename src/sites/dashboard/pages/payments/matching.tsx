import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { Link } from 'wouter';
import { decimal, formatMoney, hundredths, type Money as Amount } from '../../format/money';
import { counted } from '../../format/words';
import { useWrite } from '../../graph/write';
import type { Match, OpenPayment } from './query';
import { ReconcileMutation } from './reconcile';

/** A payment that is matched with a receivable. */
export interface Pair {
  payment: OpenPayment;
  match: Match;
}

/** How long matches wait before they are sent, so that they can be taken back. */
const waitSeconds = 8;

/** The sums of some matches, one for each currency. */
function sumsOf(pairs: readonly Pair[]): Amount[] {
  const sums = new Map<string, bigint>();
  for (const { match } of pairs) {
    const { amount, currency } = match.amount;
    sums.set(currency, (sums.get(currency) ?? 0n) + hundredths(amount));
  }
  return [...sums].map(([currency, sum]) => ({ currency, amount: decimal(sum) }));
}

const sumWords = (pairs: readonly Pair[]): string => sumsOf(pairs).map(formatMoney).join(' + ');

/**
 * Sends matches one after the other, after a time in which they can be taken back. Whoever leaves the page sends them
 * at once, and whoever closes it is asked first.
 */
export function useMatching(onBegin: () => void) {
  const { write, failure } = useWrite(ReconcileMutation);
  const [waiting, setWaiting] = useState<readonly Pair[] | null>(null);
  const [pending, setPending] = useState(false);
  const [done, setDone] = useState<{ matched: Pair[]; refused: Pair[] }>();
  const send = async (pairs: readonly Pair[]) => {
    setWaiting(null);
    setPending(true);
    const outcome: { matched: Pair[]; refused: Pair[] } = { matched: [], refused: [] };
    for (const pair of pairs) {
      const { payment, match } = pair;
      const receivables = [{ id: match.receivable.id, amount: match.amount.amount }];
      const answer = await write({ input: { id: payment.id, receivables } });
      outcome[answer ? 'matched' : 'refused'].push(pair);
    }
    setPending(false);
    setDone(outcome);
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
    setWaiting(pairs);
    onBegin();
  };
  return {
    waiting,
    pending,
    done,
    failure,
    begin,
    sendNow: () => waiting && void send(waiting),
    undo: () => setWaiting(null),
  };
}

/** What waits to be sent, and what has become of what was sent. */
export function Outcome({ waiting, pending, done, failure, undo, sendNow }: ReturnType<typeof useMatching>) {
  return (
    <div role="status">
      {waiting && (
        <p className="note matching-note">
          <span>
            {counted(waiting.length, 'payment')} matched, {sumWords(waiting)}. Sent in a few seconds.
          </span>
          <button type="button" className="button small" onClick={undo}>
            Undo
          </button>
          <button type="button" className="button small" onClick={sendNow}>
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
      {done && done.refused.length > 0 && (
        <div className="note bad">
          <p>
            Not reconciled
            {failure?.messages[0] ? `: ${failure.messages[0]}` : ', since the invoice or the payment has changed:'}
          </p>
          <ul>
            {done.refused.map(({ payment, match }) => (
              <li key={payment.id}>
                <Link href={`/payments/${payment.id}`}>{formatMoney({ ...payment, amount: payment.pendingRest })}</Link>{' '}
                with {match.receivable.invoice.referenceNumber}
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
