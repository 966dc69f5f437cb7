import { type FormEvent, type ReactNode, useState } from 'react';
import type { Failure } from '../graph/write';
import { wrongKey } from '../graph/with-key';
import { useSession } from '../session';
import { Field } from './field';
import { Problem } from './problem';

interface KeyFormProps {
  /** What the button says. */
  submit: string;
  danger?: boolean | undefined;
  pending: boolean;
  failure?: Failure | undefined;
  onSubmit: (form: FormData, apiKey: string) => Promise<unknown>;
  /** The inputs above the key. */
  children?: ReactNode;
}

/**
 * A form for one action that needs an API key. The key is sent with this action and then forgotten: a session that
 * could do it alone would hand its powers to who steals it, or sits down at the screen.
 */
export function KeyForm({ submit, danger, pending, failure, onSubmit, children }: KeyFormProps) {
  const { viewer } = useSession();
  const [fault, setFault] = useState<string>();
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const element = event.currentTarget;
    const form = new FormData(element);
    const apiKey = String(form.get('apiKey')).trim();
    form.delete('apiKey');
    const wrong = wrongKey(apiKey, viewer.mode);
    setFault(wrong);
    if (wrong !== undefined) return;
    const input = element.elements.namedItem('apiKey');
    await onSubmit(form, apiKey);
    if (input instanceof HTMLInputElement) input.value = '';
  };
  return (
    <form className="key-form" onSubmit={(event) => void send(event)} noValidate>
      {children}
      <Field
        label="Secret key"
        error={fault}
        hint="Your session cannot do this, so that a stolen session cannot either. The key is sent once, for this action, and not kept."
      >
        {(input) => (
          <input
            {...input}
            name="apiKey"
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder={viewer.mode === 'TEST' ? 'sk_test_…' : 'sk_live_…'}
          />
        )}
      </Field>
      {failure && <Problem error={{ ...failure, messages: [...failure.messages, ...Object.values(failure.fields)] }} />}
      <button type="submit" className={`button ${danger ? 'danger' : 'primary'}`} disabled={pending}>
        {pending ? 'One moment …' : submit}
      </button>
    </form>
  );
}

/** A new secret, which is shown once. */
export function NewSecret({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="note" role="status">
      <p>
        <strong>{label}</strong> Copy it now: it is not shown again.
      </p>
      {children}
    </div>
  );
}
