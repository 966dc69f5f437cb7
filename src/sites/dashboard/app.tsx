import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { Provider, useClient, useQuery } from 'urql';
import { Router } from 'wouter';
import { Shell, ShellSkeleton } from './shell';
import { Changes, ChangesContext } from './graph/changes';
import { clientFor } from './graph/client';
import { isFailed, onAgain, useKept } from './graph/connection';
import { Mark } from './parts/mark';
import { Problem } from './parts/problem';
import { Routes } from './routes';
import { endSession, hasSession, SessionContext, ViewerQuery } from './session';
import { SignIn } from './sign-in';
import { isReplaced, onReplaced } from './signed-in';

/** The dashboard: signing in, and then the pages of the acting account. */
export function App() {
  const [signedIn, setSignedIn] = useState(location.pathname.endsWith('/sign-in') ? false : undefined);
  const [actingAs, setActingAs] = useState(() => sessionStorage.getItem('acting-as'));
  const replaced = useSyncExternalStore(onReplaced, isReplaced);
  const onSignedOut = useCallback(() => setSignedIn(false), []);
  const client = useMemo(
    () => clientFor('/graphql', actingAs === null ? {} : { 'on-behalf-of': actingAs }, onSignedOut),
    [actingAs, onSignedOut],
  );
  useEffect(() => {
    if (signedIn === undefined) void hasSession().then(setSignedIn);
  }, [signedIn]);
  const actAs = (accountId: string | null) => {
    if (accountId === null) sessionStorage.removeItem('acting-as');
    else sessionStorage.setItem('acting-as', accountId);
    setActingAs(accountId);
  };
  const onSignedIn = () => {
    // The account may be another one, so its client begins with an empty cache.
    setActingAs(null);
    setSignedIn(true);
  };
  return (
    <Router base="/dashboard">
      {signedIn === undefined ? (
        <ShellSkeleton />
      ) : signedIn && replaced ? (
        <Replaced />
      ) : signedIn ? (
        <Provider value={client} key={actingAs}>
          <SignedIn actAs={actAs} onSignedOut={onSignedOut} />
        </Provider>
      ) : (
        <SignIn onSignedIn={onSignedIn} />
      )}
    </Router>
  );
}

/** What a tab shows instead of what it would do for an account that it does not show. */
function Replaced() {
  const go = () => {
    sessionStorage.removeItem('acting-as');
    location.assign('/dashboard');
  };
  return (
    <main className="alone">
      <Mark />
      <h1>Another account has signed in</h1>
      <p>It did so in another tab, and all tabs of a browser have the same account.</p>
      <button type="button" className="button primary" onClick={go}>
        Go on as that account
      </button>
    </main>
  );
}

function SignedIn({ actAs, onSignedOut }: { actAs: (id: string | null) => void; onSignedOut: () => void }) {
  const [result, ask] = useQuery({ query: ViewerQuery });
  // Each part of a page says itself that the gateway failed, within the shell.
  const { data, error } = useKept(result, isFailed);
  const client = useClient();
  const type = data?.viewer.account.type;
  const changes = useMemo(
    () => type && new Changes(client, type === 'PLATFORM' ? 'DESCENDANTS' : 'SELF'),
    [client, type],
  );
  const refresh = useCallback(() => ask({ requestPolicy: 'network-only' }), [ask]);
  // Another page may have moved the test clock, or the account may have been activated.
  useEffect(() => (changes ? changes.listen(refresh) : undefined), [changes, refresh]);
  useEffect(() => onAgain(refresh), [refresh]);
  if (error && !data) {
    const acting = sessionStorage.getItem('acting-as') !== null;
    return (
      <main className="alone">
        <Problem error={error} onRetry={refresh} />
        {acting && (
          <button type="button" className="button" onClick={() => actAs(null)}>
            Go on as yourself
          </button>
        )}
      </main>
    );
  }
  if (!data) return <ShellSkeleton />;
  const signOut = async () => {
    await endSession();
    onSignedOut();
  };
  return (
    <SessionContext value={{ viewer: data.viewer, actAs, refresh, signOut }}>
      <ChangesContext value={changes ?? null}>
        <Shell>
          <Routes />
        </Shell>
      </ChangesContext>
    </SessionContext>
  );
}
