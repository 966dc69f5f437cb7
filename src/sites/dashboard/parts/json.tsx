import { Check, Copy } from 'lucide-react';
import { useState } from 'react';

/** A value as JSON, with a button that copies it. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const [copied, setCopied] = useState(false);
  const text = JSON.stringify(value, null, 2);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <div className="json">
      <button type="button" className="button small" onClick={() => void copy()}>
        {copied ? <Check aria-hidden /> : <Copy aria-hidden />} {copied ? 'Copied' : 'Copy'}
      </button>
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
