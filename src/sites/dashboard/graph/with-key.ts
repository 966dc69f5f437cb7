import { useState } from 'react';
import { type AnyVariables, CombinedError, stringifyDocument, type TypedDocumentNode } from 'urql';
import { useSession } from '../session';
import { consistentFetch } from './consistency';
import { type Done, type Failure, failureOf } from './write';

/**
 * Asks one query with an API key in place of the session, for what no session may read. The key is in this request
 * alone: it does not go through the client of the pages, which keeps the requests whose answers it caches.
 */
export function useKeyedQuery<Data, Variables extends AnyVariables>(query: TypedDocumentNode<Data, Variables>) {
  const { viewer } = useSession();
  const [state, setState] = useState<{ pending: boolean; failure?: Failure }>({ pending: false });
  const ask = async (variables: Variables, apiKey: string): Promise<Done<Data> | undefined> => {
    setState({ pending: true });
    const headers: Record<string, string> = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    if (viewer.onBehalf) headers['on-behalf-of'] = viewer.account.id;
    try {
      const body = JSON.stringify({ query: stringifyDocument(query), variables });
      const answer = await consistentFetch('/graphql', { method: 'POST', headers, body, credentials: 'omit' });
      const { data, errors } = (await answer.json()) as { data?: Done<Data>; errors?: { message: string }[] };
      if (!errors) {
        setState({ pending: false });
        return data;
      }
      setState({ pending: false, failure: failureOf(new CombinedError({ graphQLErrors: errors })) });
    } catch (error) {
      setState({ pending: false, failure: failureOf(new CombinedError({ networkError: error as Error })) });
    }
    return undefined;
  };
  return { ...state, ask };
}

/** Why a key cannot be used here; undefined when it can. A live key would act in live mode, whatever the page shows. */
export function wrongKey(apiKey: string, mode: 'TEST' | 'LIVE'): string | undefined {
  const start = mode === 'TEST' ? 'sk_test_' : 'sk_live_';
  if (apiKey === '') return 'Enter a secret key.';
  return apiKey.startsWith(start) ? undefined : `Enter a key of this mode: it begins with ${start}.`;
}
