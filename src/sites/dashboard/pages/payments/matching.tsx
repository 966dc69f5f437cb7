import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { type Client, useClient } from 'urql';
import { Link } from 'wouter';
import { currenciesOf, formatMoney, hundredths, type Money as Amount, sum } from '../../format/money';
import { counted } from '../../format/words';
import { graphql } from '../../graph/graphql';
import { beforeSignOut } from '../../graph/leaving';
import { useWrite } from '../../graph/write';
import { refusalWords } from '../../format/refusals';
import { Problem } from '../../parts/problem';
import { isReplaced } from '../../signed-in';
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

const OpenQuery = graphql(`
  query StillOpen($ids: [ID!]!) {
    nodes(ids: $ids) { __typename ... on Receivable { id amountReconcilable } }
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

/** How far matches are: they wait to be sent, are being sent, or were sent and got no answer. */
interface Round {
  stage: 'waiting' | 'sending' | 'unsent';
  pairs: readonly Pair[];
}

/**
 * Sends matches together, after a time in which they can be taken back: at once when the viewer leaves the page or
 * signs out. The browser asks before it closes the page. What waits is taken out before it is sent, so it is sent once,
 * and not at all when another account has signed in meanwhile.
 */
export function useMatching(onBegin: () => void, onUndo: (pairs: readonly Pair[]) => void) {
  const client = useClient();
  const { write, failure } = useWrite(MatchMutation);
  const [round, setRound] = useState<Round | null>(null);
  const [done, setDone] = useState<Done>();
  const waiting = useRef<readonly Pair[] | null>(null);
  const send = async (pairs: readonly Pair[]) => {
    setRound({ stage: 'sending', pairs });
    const deposits = pairs.map(({ payment, match }) => ({
      id: payment.id,
      receivables: [{ id: match.receivable.id, amount: match.amount.amount }],
    }));
    const answer = await write({ input: { deposits } });
    if (!answer) return setRound({ stage: 'unsent', pairs });
    const { results } = answer.reconcileDeposits;
    const open = await openOf(client, pairs, results);
    setRound(null);
    setDone(outcomeOf(pairs, results, open));
  };
  const sendWaiting = async () => {
    const pairs = waiting.current;
    waiting.current = null;
    if (pairs && !isReplaced()) await send(pairs);
  };
  const sendNow = useEffectEvent(sendWaiting);
  const stage = round?.stage;
  useEffect(() => {
    if (stage !== 'waiting') return undefined;
    const timer = setTimeout(() => void sendNow(), waitSeconds * 1000);
    const onClose = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', onClose);
    return () => {
      clearTimeout(timer);
      removeEventListener('beforeunload', onClose);
    };
  }, [stage]);
  useEffect(() => {
    const forget = beforeSignOut(() => sendNow());
    return () => {
      forget();
      void sendNow();
    };
  }, []);
  const begin = (pairs: readonly Pair[]) => {
    waiting.current = pairs;
    setDone(undefined);
    setRound({ stage: 'waiting', pairs });
    onBegin();
  };
  const undo = () => {
    if (waiting.current) onUndo(waiting.current);
    waiting.current = null;
    setRound(null);
  };
  const tryAgain = () => round?.stage === 'unsent' && void send(round.pairs);
  return { round, done, failure, begin, undo, tryAgain, sendNow: () => void sendWaiting() };
}

interface Result {
  /** As it is now. Null if the viewer does not see it any more. */
  deposit: { pendingRest: string } | null;
  problems: readonly { code: string | null; message: string }[];
}

const isTooMuch = ({ problems: [problem] }: Result) => problem?.code === 'AMOUNT_EXCEEDS_RECONCILABLE';

/** What is open now of the receivables for which an amount was too much, by their ids; nothing where it is not read. */
async function openOf(client: Client, pairs: readonly Pair[], results: readonly Result[]) {
  const ids = pairs.filter((_, i) => results[i] && isTooMuch(results[i])).map(({ match }) => match.receivable.id);
  const open = new Map<string, string>();
  if (ids.length === 0) return open;
  const { data } = await client.query(OpenQuery, { ids }, { requestPolicy: 'network-only' });
  for (const node of data?.nodes ?? [])
    if (node?.__typename === 'Receivable') open.set(node.id, node.amountReconcilable);
  return open;
}

function outcomeOf(pairs: readonly Pair[], results: readonly Result[], open: ReadonlyMap<string, string>): Done {
  const outcome: Done = { matched: [], refused: [] };
  for (const [i, pair] of pairs.entries()) {
    const result = results[i];
    if (result?.problems.length)
      outcome.refused.push({ ...pair, reason: reasonOf(pair, result, open.get(pair.match.receivable.id)) });
    else outcome.matched.push(pair);
  }
  return outcome;
}

/** Why a match was refused, with the figure that its amount exceeds, or else with the amount. */
function reasonOf({ match: { amount } }: Pair, result: Result, open: string | undefined): string {
  const { deposit, problems } = result;
  const { code, message } = problems[0]!;
  const words = refusalWords(code?.toLowerCase(), message);
  if (!isTooMuch(result)) return words;
  const isLeft = deposit && hundredths(deposit.pendingRest) < hundredths(amount.amount);
  if (isLeft) return `Only ${formatMoney({ ...amount, amount: deposit.pendingRest })} is left of the payment.`;
  if (open !== undefined && hundredths(open) < hundredths(amount.amount))
    return `At most ${formatMoney({ ...amount, amount: open })} is open on the invoice.`;
  return words.replace(/^This\b/, formatMoney(amount));
}

interface FootProps extends ReturnType<typeof useMatching> {
  pairs: readonly Pair[];
  /** How many payments of the page have an exact match. */
  exact: number;
  onExact: () => void;
  onNone: () => void;
}

/**
 * What is chosen and its sum, what waits and what has become of it, and the buttons for that: at the foot of the
 * window, where the viewer sees it wherever the list is.
 */
export function Foot({ pairs, exact, onExact, onNone, ...matching }: FootProps) {
  const { round, done } = matching;
  const foot = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that had the focus may be gone.
    if ((round ?? done) && document.activeElement === document.body) foot.current?.focus();
  }, [round?.stage, done]);
  return (
    <section className="list-foot" aria-label="Chosen matches" tabIndex={-1} ref={foot}>
      <div className="list-foot-said" role="status">
        <Said {...matching} />
        {(!round || round.stage === 'unsent') && pairs.length > 0 && (
          <p>
            {pairs.length} chosen · {sumWords(pairs)}
          </p>
        )}
        {!round && !done && pairs.length === 0 && <p>Choose the payments whose invoice is right.</p>}
      </div>
      {round?.stage === 'waiting' && (
        <div className="list-foot-do">
          <button type="button" className="button" onClick={matching.sendNow}>
            Send now
          </button>
          <button type="button" className="button" onClick={matching.undo}>
            Undo
          </button>
        </div>
      )}
      {(!round || round.stage === 'unsent') && (
        <div className="list-foot-do">
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
          <button
            type="button"
            className="button primary"
            disabled={pairs.length === 0}
            onClick={() => matching.begin(pairs)}
          >
            Match {pairs.length || ''}
          </button>
        </div>
      )}
    </section>
  );
}

/** What waits to be sent, and what has become of what was sent. */
function Said({ round, done, failure, tryAgain }: ReturnType<typeof useMatching>) {
  const { stage, pairs = [] } = round ?? {};
  return (
    <>
      {stage === 'waiting' && (
        <p>
          Matching {counted(pairs.length, 'payment')}, {sumWords(pairs)}, in a few seconds.
        </p>
      )}
      {stage === 'sending' && <p>Matching …</p>}
      {stage === 'unsent' && failure && (
        <>
          <Problem error={failure} onRetry={tryAgain} />
          <p>
            {counted(pairs.length, 'payment')}, {sumWords(pairs)}: it is not known whether they were matched. Trying
            again matches nothing twice.
          </p>
        </>
      )}
      {done && done.matched.length > 0 && (
        <p className="good">
          {counted(done.matched.length, 'payment')} reconciled, {sumWords(done.matched)}.
        </p>
      )}
      {done && done.refused.length > 0 && (
        <div className="bad">
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
    </>
  );
}
