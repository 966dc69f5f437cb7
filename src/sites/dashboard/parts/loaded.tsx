import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { NotFound } from './empty';
import { Answered } from './part';
import { Problem } from './problem';
import { DetailSkeleton } from './skeleton';

interface LoadedProps<Data, Found> {
  /** The answer to the query of the page. */
  result: { data?: Data | undefined; error?: CombinedError | undefined; ask: () => void };
  /** The object of the page in the answer. */
  of: (data: Data) => Found | null | undefined;
  children: (found: Found) => ReactNode;
}

/**
 * The page of one object in each of its states: loading, failed, not found, and with the object, of which some parts
 * may be refused.
 */
export function Loaded<Data, Found>({ result, of, children }: LoadedProps<Data, Found>) {
  const { data, error, ask } = result;
  const found = data && of(data);
  if (found) return <Answered answer={result}>{children(found)}</Answered>;
  if (error && !isMissing(error)) return <Problem error={error} onRetry={ask} />;
  return data ? <NotFound /> : <DetailSkeleton />;
}

/** Whether an error says that there is no such object, and not that it could not be read. */
const isMissing = ({ networkError, graphQLErrors }: CombinedError) =>
  !networkError && graphQLErrors.every(({ extensions }) => extensions.httpStatus === 404);
