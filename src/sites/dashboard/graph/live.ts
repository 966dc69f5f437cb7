import { useContext, useEffect, useEffectEvent, useState } from 'react';
import { type AnyVariables, type CombinedError, type TypedDocumentNode, useQuery } from 'urql';
import { ChangesContext } from './changes';
import { onAgain, useKept } from './connection';
import { useShown } from './shown';

/** How often a page asks again while it is visible and no stream reports that something has happened. */
const secondsDefault = 10;
/** How often it asks again all the same: what passes with the time alone is no event. */
const secondsWithStream = 60;
/** How often it asks again after a failure that may pass by itself. */
const secondsAfterFailure = 3;

/** Whether the same question may be answered soon: the gateway was not reached, or had no time. */
const mayPass = (error: CombinedError | undefined) =>
  error !== undefined &&
  (error.networkError !== undefined || error.graphQLErrors.some(({ extensions }) => extensions.httpStatus === 503));

interface LiveOptions {
  /** How often it is asked again while no stream brings events. */
  seconds?: number;
  pause?: boolean;
  /** What it answers changes without an event, so it is polled all the same. */
  withoutEvents?: boolean;
  /** Whether it is of the frame around the page, whose queries are not those of the page. */
  ofFrame?: boolean;
}

/**
 * The answer to a query, asked again when something has happened in the acting account, while the page is visible and
 * the browser is online. Without a stream of events it is asked again every few seconds, and so it is after a failure
 * that may pass. `data` is the last answer until a newer one has arrived, also while the gateway gives none, and
 * `error` is what was refused of it.
 */
export function useLive<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { seconds = secondsDefault, pause = false, withoutEvents = false, ofFrame = false }: LiveOptions = {},
) {
  const [result, ask] = useQuery({ query, variables, pause });
  useShown(query, variables, pause || ofFrame);
  const changes = useContext(ChangesContext);
  const [streaming, setStreaming] = useState(false);
  // While a question is asked again, urql keeps the data and drops the error that came with them.
  const [refused, setRefused] = useState<{ data?: Data | undefined; error?: CombinedError }>({});
  if (result.error && result.error !== refused.error) setRefused({ data: result.data, error: result.error });
  const kept = useKept(result);
  const error = kept.error ?? (result.data && result.data === refused.data ? refused.error : undefined);
  const again = useEffectEvent(() => {
    if (!document.hidden && navigator.onLine) ask({ requestPolicy: 'network-only' });
  });
  useEffect(() => {
    if (pause) return undefined;
    return changes?.listen(() => {
      setStreaming(changes.open);
      again();
    });
  }, [pause, changes]);
  const pace = streaming && !withoutEvents ? secondsWithStream : seconds;
  const pauseSeconds = mayPass(result.error ?? error) ? Math.min(secondsAfterFailure, pace) : pace;
  useEffect(() => {
    if (pause) return undefined;
    const timer = setInterval(() => again(), pauseSeconds * 1000);
    const onReady = () => again();
    const forget = onAgain(onReady);
    document.addEventListener('visibilitychange', onReady);
    addEventListener('online', onReady);
    return () => {
      clearInterval(timer);
      forget();
      document.removeEventListener('visibilitychange', onReady);
      removeEventListener('online', onReady);
    };
  }, [pause, pauseSeconds]);
  return { ...result, data: kept.data, error, ask: () => ask({ requestPolicy: 'network-only' }) };
}
