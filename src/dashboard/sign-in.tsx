import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Mark } from './parts/mark';
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
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key')).trim();
    if (key === '') setReason('Enter an API key.');
    else void enter(`Bearer ${key}`);
  };
  return (
    <main className="alone">
      <Mark />
      <h1>Sign in to Tidegate</h1>
      {pending ? <p role="status">Signing in …</p> : <KeyForm submit={submit} reason={reason} />}
    </main>
  );
}

function KeyForm({
  submit,
  reason,
}: {
  submit: (event: FormEvent<HTMLFormElement>) => void;
  reason?: string | undefined;
}) {
  return (
    <form className="card sign-in" onSubmit={submit} noValidate>
      <div className="field">
        <label htmlFor="key">API key</label>
        <input
          id="key"
          name="key"
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder="sk_test_…"
          aria-invalid={reason !== undefined}
          aria-describedby={reason === undefined ? 'key-hint' : 'key-error key-hint'}
          autoFocus
        />
        {reason !== undefined && (
          <p className="field-error" id="key-error" role="alert">
            {reason}
          </p>
        )}
        <p className="hint" id="key-hint">
          The key is sent once and not kept by the browser. You stay signed in for at most 12 hours.
        </p>
      </div>
      <button type="submit" className="button primary">
        Sign in
      </button>
    </form>
  );
}
