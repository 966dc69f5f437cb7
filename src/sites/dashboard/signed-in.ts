/**
 * Whose session the browser has. Its tabs share one cookie, which no script can read, so a tab tells the others when
 * somebody has signed in.
 */
const name = 'signed-in';

let known = localStorage.getItem(name);

/** Notes who has signed in, for this tab and for the others. */
export function noteSignIn({ account_id, livemode }: { account_id: string; livemode: boolean }): void {
  known = `${account_id} ${livemode ? 'live' : 'test'}`;
  localStorage.setItem(name, known);
}

/** Whether another account or mode has signed in in another tab, so that the session is not that of this tab. */
export const isReplaced = (): boolean => localStorage.getItem(name) !== known;

/** Calls `listener` when that may have changed; the result ends it. */
export function onReplaced(listener: () => void): () => void {
  // A page that the browser had frozen gets no event of the storage.
  const events = ['storage', 'pageshow'] as const;
  for (const event of events) addEventListener(event, listener);
  return () => {
    for (const event of events) removeEventListener(event, listener);
  };
}
