import { useEffect, useRef, useState } from 'react';
import { SignInForm } from './parts/sign-in-form';
import { signIn } from './session';

/** The page that signs in, with an API key, or by itself with the code of a one-time link. */
export function SignIn({ onSignedIn }: { onSignedIn: () => void }) {
  const [code] = useState(() => /^#code=([\w.-]+)$/.exec(location.hash)?.[1]);
  const [reason, setReason] = useState<string>();
  const [pending, setPending] = useState(code !== undefined);
  const started = useRef(false);

  const enter = async (credential: string) => {
    setPending(true);
    const refusal = await signIn(credential);
    setPending(false);
    setReason(refusal);
    if (refusal !== undefined) return;
    if (location.pathname.endsWith('/sign-in')) history.replaceState(null, '', '/dashboard');
    onSignedIn();
  };
  useEffect(() => {
    document.title = 'Sign in · Tidegate';
    if (code === undefined || started.current) return;
    started.current = true;
    // The code works once; the address without it can be kept and shared.
    history.replaceState(null, '', location.pathname);
    void enter(`Link ${code}`);
  });
  return (
    <SignInForm
      title="Sign in to Tidegate"
      label="API key"
      placeholder="sk_test_…"
      hint="The key is sent once and not kept by the browser. You stay signed in for at most 12 hours."
      help={
        <>
          No key yet? A local gateway shows test keys on its <a href="/">start page</a>.
        </>
      }
      reason={reason}
      pending={pending}
      onSubmit={(key) => (key === '' ? setReason('Enter an API key.') : void enter(`Bearer ${key}`))}
    />
  );
}
