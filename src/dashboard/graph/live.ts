import { useEffect, useEffectEvent } from 'react';
import { type AnyVariables, type TypedDocumentNode, useQuery } from 'urql';
import { useShown } from './shown';

/** How often a page asks again while it is visible. */
const secondsDefault = 10;

/**
 * The answer to a query, asked again every few seconds while the page is visible and the browser is online. `data` is
 * the last answer until a newer one has arrived.
 */
export function useLive<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { seconds = secondsDefault, pause = false } = {},
) {
  const [result, ask] = useQuery({ query, variables, pause });
  useShown(query, variables, pause);
  const again = useEffectEvent(() => {
    if (!document.hidden && navigator.onLine) ask({ requestPolicy: 'network-only' });
  });
  useEffect(() => {
    if (pause) return undefined;
    const timer = setInterval(() => again(), seconds * 1000);
    const onVisible = () => again();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [pause, seconds]);
  return { ...result, ask: () => ask({ requestPolicy: 'network-only' }) };
}
