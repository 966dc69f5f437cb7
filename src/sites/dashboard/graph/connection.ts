import { useState, useSyncExternalStore } from 'react';
import type { CombinedError, Operation, OperationResult } from 'urql';

/** A time in which the gateway answers no query: it cannot be reached, or says that it has no time. */
interface Outage {
  /** When the first query got no answer, by the clock of the browser. */
  since: string;
  reached: boolean;
}

let outage: Outage | null = null;
const outageListeners = new Set<() => void>();
const againListeners = new Set<() => void>();

type Answer = { data?: unknown; error?: CombinedError | undefined };

/** Whether a query has no data, because it got no answer or each of its errors has such a status. */
const hasOnly = ({ data, error }: Answer, isSuch: (status: number) => boolean): boolean =>
  !data &&
  error !== undefined &&
  (error.networkError !== undefined ||
    (error.graphQLErrors.length > 0 &&
      error.graphQLErrors.every(({ extensions }) => isSuch(Number(extensions.httpStatus)))));

/** Whether a query got no answer at all, and the same query may get one soon. */
const isUnanswered = (answer: Answer): boolean => hasOnly(answer, (status) => status === 503);

/** Whether a query got no answer, or the gateway failed: the viewer and its account are as they were. */
export const isFailed = (answer: Answer): boolean => hasOnly(answer, (status) => status >= 500);

/** Takes from the answer to a query whether the gateway can be reached. */
export function noteAnswer(result: OperationResult): void {
  if (result.operation.kind !== 'query') return;
  const unanswered = isUnanswered(result);
  if (unanswered === (outage !== null)) return;
  outage = unanswered ? { since: new Date().toISOString(), reached: !result.error!.networkError } : null;
  for (const listener of outageListeners) listener();
}

const listening = (listeners: Set<() => void>) => (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};
const onOutage = listening(outageListeners);

/** The present outage; null while the gateway answers. */
export const useOutage = (): Outage | null => useSyncExternalStore(onOutage, () => outage);

/** Has the queries of the page asked again. */
export const askAgain = (): void => againListeners.forEach((listener) => listener());

/** Calls `listener` when the viewer wants to ask again; the result ends that. */
export const onAgain = listening(againListeners);

interface Result<Data> {
  data?: Data | undefined;
  error?: CombinedError | undefined;
  operation?: Operation | undefined;
}

/**
 * The result of a query, with the last answer to the same query while the gateway gives none: the frame says so.
 * `isLost` decides whether a result is none.
 */
export function useKept<Data>(result: Result<Data>, isLost = isUnanswered): Pick<Result<Data>, 'data' | 'error'> {
  const { data, error, operation } = result;
  const [kept, setKept] = useState<Pick<Result<Data>, 'data' | 'operation'>>({});
  if (data !== undefined && data !== kept.data) setKept({ data, operation });
  const isSame = kept.data !== undefined && kept.operation?.key === operation?.key;
  return isSame && isLost(result) ? { data: kept.data } : { data, error };
}
