import { cacheExchange, Client, fetchExchange, mapExchange } from 'urql';
import { setGatewayTime } from '../format/time';
import { noteAnswer } from './connection';
import { consistentFetch } from './consistency';

/** The header that the gateway demands with the cookie: a page of another origin cannot send it. */
export const dashboardHeaders = { 'x-tidegate-dashboard': '1' };

/**
 * The client for one graph and one acting account. Each account gets a client of its own, because the same query has
 * another answer for another account.
 */
export function clientFor(url: string, headers: Record<string, string>, onSignedOut: () => void): Client {
  return new Client({
    url,
    preferGetMethod: false,
    // Over server-sent events, which need no connection of another kind and carry the cookie.
    fetchSubscriptions: true,
    requestPolicy: 'cache-and-network',
    fetch: consistentFetch,
    fetchOptions: () => ({ headers: { ...dashboardHeaders, ...headers } }),
    exchanges: [
      cacheExchange,
      mapExchange({
        onResult: (result) => {
          noteAnswer(result);
          // Before any part of the page draws a time from the answer.
          const now = (result.data as { viewer?: { now?: string } } | undefined)?.viewer?.now;
          if (now) setGatewayTime(now);
        },
        onError: (error, { context }) => {
          // A key that was typed for this request alone says nothing about the session.
          if (typeof context.fetchOptions === 'object' && 'authorization' in { ...context.fetchOptions.headers })
            return;
          const signedOut = error.graphQLErrors.some(({ extensions }) => extensions.httpStatus === 401);
          if (signedOut || (error.response as Response | undefined)?.status === 401) onSignedOut();
        },
      }),
      fetchExchange,
    ],
  });
}
