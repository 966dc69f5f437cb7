import { useEffect, useState, useSyncExternalStore } from 'react';
import { type AnyVariables, stringifyDocument, type TypedDocumentNode } from 'urql';

/** A query of the page that is being looked at. */
interface Shown {
  place: number;
  text: string;
  variables: string;
}

let places = 0;
let shown: readonly Shown[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Shown[]): void {
  // The parts of a page are drawn from the outside to the inside, so the page's own query has the first place.
  shown = next.toSorted((one, other) => one.place - other.place);
  for (const listener of listeners) listener();
}

/** Reports to the frame of the page which query a part of the page has asked. */
export function useShown(query: TypedDocumentNode<unknown, never>, variables: AnyVariables, pause: boolean): void {
  const [place] = useState(() => ++places);
  const json = JSON.stringify(variables ?? {}, null, 2);
  useEffect(() => {
    if (pause) return undefined;
    const entry = { place, text: stringifyDocument(query), variables: json };
    change([...shown, entry]);
    return () => change(shown.filter((each) => each !== entry));
  }, [query, json, pause, place]);
}

/** The address of the explorer with the query of this page; undefined where a page has asked none. */
export function useExplorerLink(): string | undefined {
  const first = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown[0],
  );
  return first && `/graphiql#${new URLSearchParams({ query: first.text, variables: first.variables })}`;
}
