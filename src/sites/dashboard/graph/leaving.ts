/** What waits to be sent, and how long signing out waits for it. */
const [waiting, waitMilliseconds] = [new Set<() => Promise<void>>(), 5_000];

/** Has something sent before the session ends; the result forgets it. */
export function beforeSignOut(send: () => Promise<void>): () => void {
  waiting.add(send);
  return () => void waiting.delete(send);
}

/** Sends what waits, as the account that chose it. */
export async function sendWhatWaits(): Promise<void> {
  const late = new Promise((end) => setTimeout(end, waitMilliseconds));
  await Promise.race([Promise.allSettled([...waiting].map((send) => send())), late]);
}
