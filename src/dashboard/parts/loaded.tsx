import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { NotFound } from './empty';
import { Problem } from './problem';
import { DetailSkeleton } from './skeleton';

interface LoadedProps<Data, Found> {
  /** The answer to the query of the page. */
  result: { data?: Data | undefined; error?: CombinedError | undefined; ask: () => void };
  /** The object of the page in the answer. */
  of: (data: Data) => Found | null | undefined;
  children: (found: Found) => ReactNode;
}

/** The page of one object in each of its states: loading, failed, not found, and with the object. */
export function Loaded<Data, Found>({ result: { data, error, ask }, of, children }: LoadedProps<Data, Found>) {
  const found = data && of(data);
  if (found) return children(found);
  if (data) return <NotFound />;
  return error ? <Problem error={error} onRetry={ask} /> : <DetailSkeleton />;
}
