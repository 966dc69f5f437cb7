import { useCallback, useEffect, useMemo, useState } from 'react';
import { Provider } from 'urql';
import { Router } from 'wouter';
import { clientFor } from '../graph/client';
import { SignInForm } from '../parts/sign-in-form';
import { Routes } from './routes';
import { type OperatorSession, operatorHeaders, session, SessionContext } from './session';
import { Shell } from './shell';

/** The operator's console: signing in, and then its pages. It works over all tenants, with its own sign-in. */
export function Console() {
  const [operator, setOperator] = useState<OperatorSession | null>();
  const [announcement, announce] = useState('');
  const onSignedOut = useCallback(() => setOperator(null), []);
  const client = useMemo(() => clientFor('/operator/graphql', operatorHeaders, onSignedOut), [onSignedOut]);
  useEffect(() => {
    void session('GET').then((found) => setOperator(found.operator ?? null));
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => announce(''), 8_000);
    return () => clearTimeout(timer);
  }, [announcement]);
  if (operator === undefined) return <main className="alone" aria-busy="true" />;
  if (operator === null) return <SignIn onSignedIn={setOperator} />;
  const signOut = async () => {
    await session('DELETE');
    // Nothing that was read stays in the memory of the page.
    location.reload();
  };
  return (
    <Router base="/operator">
      <Provider value={client}>
        <SessionContext value={{ operator, signOut, announce }}>
          <Shell announcement={announcement}>
            <Routes />
          </Shell>
        </SessionContext>
      </Provider>
    </Router>
  );
}

function SignIn({ onSignedIn }: { onSignedIn: (operator: OperatorSession) => void }) {
  const [reason, setReason] = useState<string>();
  const [pending, setPending] = useState(false);
  useEffect(() => {
    document.title = 'Operator · Tidegate';
  }, []);
  const enter = async (key: string) => {
    if (key === '') return setReason("Enter your operator's key.");
    setPending(true);
    const { operator, refusal } = await session('POST', key);
    setPending(false);
    setReason(refusal);
    if (operator) onSignedIn(operator);
  };
  return (
    <SignInForm
      title="Operator's console"
      label="Operator's key"
      placeholder="opk_…"
      hint="Your own key: what you do is logged with your name. It is sent once and not kept by the browser."
      help={
        <>
          No key yet? <code>npm run --silent tidegate -- operator create --name anna --role operate</code> makes one, in
          the folder of the program on a machine of the gateway.
        </>
      }
      reason={reason}
      pending={pending}
      onSubmit={(key) => void enter(key)}
    />
  );
}
