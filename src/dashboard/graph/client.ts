import { cacheExchange, Client, fetchExchange, mapExchange } from 'urql';
import { consistentFetch } from './consistency';

/** The header that the gateway demands with the cookie: a page of another origin cannot send it. */
export const dashboardHeaders = { 'x-tidegate-dashboard': '1' };

/**
 * The client for one acting account. Each account gets a client of its own, because the same query has another answer
 * for another account.
 */
export function clientFor(actingAs: string | null, onSignedOut: () => void): Client {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    fetch: consistentFetch,
    fetchOptions: () => ({ headers: { ...dashboardHeaders, ...(actingAs && { 'on-behalf-of': actingAs }) } }),
    exchanges: [
      cacheExchange,
      mapExchange({
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
