import type { CombinedError } from 'urql';
import { Lines } from './skeleton';
import { type Failure, failureOf } from '../graph/write';

/** What stands in the place of an answer until it is there: grey lines, or what went wrong. */
export function Pending({
  result,
  lines,
}: {
  result: { error?: CombinedError | undefined; ask?: () => void };
  lines: number;
}) {
  return result.error ? <Problem error={result.error} onRetry={result.ask} /> : <Lines count={lines} />;
}

/** What went wrong, with the gateway's own sentences and the request id that its log has. */
export function Problem({ error, onRetry }: { error: CombinedError | Failure; onRetry?: (() => void) | undefined }) {
  const failure = 'graphQLErrors' in error ? failureOf(error) : error;
  const messages = [...failure.messages, ...('graphQLErrors' in error ? Object.values(failure.fields) : [])];
  const details = failure.details && (
    <details className="told">
      <summary>Details</summary>
      {failure.details.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </details>
  );
  // The messages may all stand beside their fields.
  if (messages.length === 0) return details ?? null;
  return (
    <div className="problem" role="alert">
      {[...new Set(messages)].map((message) => (
        <p key={message}>{message}</p>
      ))}
      {details}
      {failure.requestId && (
        <p className="problem-id">
          Request <code>{failure.requestId}</code>
        </p>
      )}
      {onRetry && (
        <button type="button" className="button small" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
