const header = 'tidegate-consistency';
/** The token of the last write of this page. */
let last: string | null = null;

/**
 * `fetch` for requests to the gateway. It keeps the token of the last write and sends it with every request, so that
 * lists have that write whichever process of the gateway answers.
 */
export const consistentFetch: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers);
  if (last !== null) headers.set(header, last);
  const response = await fetch(input, { ...init, headers });
  remember(response.headers.get(header));
  return response;
};

/** Keeps the token of a write that was sent in another way. */
export function remember(token: string | null): void {
  last = token ?? last;
}
