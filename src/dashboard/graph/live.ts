import { useContext, useEffect, useEffectEvent, useState } from 'react';
import { type AnyVariables, type TypedDocumentNode, useQuery } from 'urql';
import { ChangesContext } from './changes';
import { useShown } from './shown';

/** How often a page asks again while it is visible and no stream tells it that something has happened. */
const secondsDefault = 10;
/** How often it asks again all the same: what passes with the time alone is no event. */
const secondsWithStream = 60;

interface LiveOptions {
  /** How often it is asked again while no stream tells of events. */
  seconds?: number;
  pause?: boolean;
  /** What it answers changes without an event, so it is polled all the same. */
  untold?: boolean;
}

/**
 * The answer to a query, asked again when something has happened in the acting account, while the page is visible and
 * the browser is online. Without a stream of events it is asked again every few seconds. `data` is the last answer
 * until a newer one has arrived.
 */
export function useLive<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { seconds = secondsDefault, pause = false, untold = false }: LiveOptions = {},
) {
  const [result, ask] = useQuery({ query, variables, pause });
  useShown(query, variables, pause);
  const changes = useContext(ChangesContext);
  const [told, setTold] = useState(false);
  const again = useEffectEvent(() => {
    if (!document.hidden && navigator.onLine) ask({ requestPolicy: 'network-only' });
  });
  useEffect(() => {
    if (pause) return undefined;
    return changes?.listen(() => {
      setTold(changes.open);
      again();
    });
  }, [pause, changes]);
  useEffect(() => {
    if (pause) return undefined;
    const timer = setInterval(() => again(), (told && !untold ? secondsWithStream : seconds) * 1000);
    const onVisible = () => again();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [pause, seconds, told, untold]);
  return { ...result, ask: () => ask({ requestPolicy: 'network-only' }) };
}
