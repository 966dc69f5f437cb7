import type { FormEvent, ReactNode } from 'react';
import { Mark } from './mark';

interface SignInFormProps {
  title: string;
  /** What is entered, such as `API key`, and how it begins. */
  label: string;
  placeholder: string;
  hint: string;
  /** Where somebody who has none gets one. */
  help: ReactNode;
  /** Why the last try was refused. */
  reason?: string | undefined;
  pending: boolean;
  onSubmit: (key: string) => void;
}

/** The page on which a key is entered. It is sent once and not kept by the browser. */
export function SignInForm({ title, pending, ...form }: SignInFormProps) {
  return (
    <main className="alone">
      <Mark />
      <h1>{title}</h1>
      {pending ? <p role="status">Signing in …</p> : <KeyForm {...form} />}
    </main>
  );
}

function KeyForm({ label, placeholder, hint, help, reason, onSubmit }: Omit<SignInFormProps, 'title' | 'pending'>) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(String(new FormData(event.currentTarget).get('key')).trim());
  };
  return (
    <form className="card sign-in" onSubmit={submit} noValidate>
      <div className="field">
        <label htmlFor="key">{label}</label>
        <input
          id="key"
          name="key"
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholder}
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
          {hint}
        </p>
      </div>
      <button type="submit" className="button primary">
        Sign in
      </button>
      <p className="hint">{help}</p>
    </form>
  );
}
