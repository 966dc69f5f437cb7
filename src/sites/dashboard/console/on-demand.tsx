import { useState } from 'react';
import { type TypedDocumentNode, useQuery } from 'urql';

/** Asks a query that takes long, when its button is pressed. */
export function useOnDemand<Data>(query: TypedDocumentNode<Data, Record<string, never>>) {
  const [asked, setAsked] = useState(false);
  const [{ data, error, fetching }, ask] = useQuery({
    ...{ query, variables: {}, pause: !asked },
    requestPolicy: 'network-only',
  });
  const start = () => (asked ? ask() : setAsked(true));
  return { data, error, fetching, start };
}

/** The button that asks such a query. */
export function Run({ name, fetching, start }: { name: string; fetching: boolean; start: () => void }) {
  return (
    <button type="button" className="button small" disabled={fetching} onClick={start}>
      {fetching ? 'Checking …' : name}
    </button>
  );
}
