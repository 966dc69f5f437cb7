import { Check, Copy as CopyIcon } from 'lucide-react';
import { type ReactNode, useState } from 'react';

interface FactsProps {
  facts: readonly (readonly [string, ReactNode])[];
  className?: string;
}

/** Names and values of an object. Facts without a value are left out. */
export function Facts({ facts, className = 'facts' }: FactsProps) {
  return (
    <dl className={className}>
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Copies a text, and says for two seconds that it is copied. */
export function useCopied(text: string) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return { copied, copy };
}

/** A text with a button that copies it, such as an id. */
export function Copy({ text, label }: { text: string; label: string }) {
  const { copied, copy } = useCopied(text);
  return (
    <span className="copy">
      <code>{text}</code>
      <button type="button" className="icon-button" aria-label={`Copy ${label}`} onClick={() => void copy()}>
        {copied ? <Check aria-hidden /> : <CopyIcon aria-hidden />}
      </button>
      <span className="unseen" role="status">
        {copied && 'Copied'}
      </span>
    </span>
  );
}
