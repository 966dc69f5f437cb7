/** How requests are repeated. */
export interface RetryOptions {
  /** How often a request is sent at most, the first time included: 5 by default. */
  attempts?: number;
  /** The longest wait between two attempts in milliseconds: 30,000 by default. An answer that asks for more stays. */
  waitMax?: number;
  /** How long an attempt may take in milliseconds until its answer has arrived: 60,000 by default. */
  timeout?: number;
  /** What sends each attempt: the global `fetch` by default. */
  fetch?: typeof fetch;
}

/** Codes of an answer after which the same request with the same key may succeed. */
const passing = /"(?:idempotency_key_in_use|IDEMPOTENCY_KEY_IN_USE|SERVICE_UNAVAILABLE)"/;
/** Statuses that say that nothing was done, or, of a proxy, that the answer was lost. */
const temporary = [429, 502, 503, 504];

/**
 * A `fetch` that repeats requests by the rules of Tidegate, for `Tidegate` and for GraphQL clients such as Apollo's
 * `HttpLink` and urql. Each POST gets an `Idempotency-Key`, which all its attempts share, unless it has one. It is sent
 * again when the answer is lost, or is 429, 502, 503 or 504, or says that the key is in use, after `Retry-After` or a
 * growing pause. Every other answer, such as 400 or 500, is returned as it is.
 */
export function retrying(options: RetryOptions = {}): typeof fetch {
  const { attempts = 5, waitMax = 30_000, timeout = 60_000 } = options;
  return async (input, init) => {
    const request = new Request(input, init);
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', crypto.randomUUID());
    const isSafe = ['GET', 'HEAD', 'POST'].includes(request.method);
    for (let attempt = 1; ; attempt += 1) {
      const isLast = !isSafe || attempt >= attempts;
      try {
        const response = await answered(isLast ? request : request.clone(), options.fetch ?? fetch, timeout);
        const wait = isLast ? undefined : await waitAfter(response, attempt);
        if (wait === undefined || wait > waitMax) return response;
        await pause(wait, request.signal);
      } catch (error) {
        if (isLast || request.signal.aborted) throw error;
        await pause(growing(attempt), request.signal);
      }
    }
  };
}

/** One attempt. An answer in JSON is read to its end, so that one that breaks off counts as lost. */
async function answered(request: Request, send: typeof fetch, timeout: number): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('No answer arrived in time.', 'TimeoutError')), timeout);
  try {
    const response = await send(request, { signal: AbortSignal.any([request.signal, late.signal]) });
    if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return response;
    const { status, statusText, headers } = response;
    return new Response(await response.arrayBuffer(), { status, statusText, headers });
  } finally {
    clearTimeout(timer);
  }
}

/** The milliseconds until the next attempt, or undefined if the answer is final. */
async function waitAfter(response: Response, attempt: number): Promise<number | undefined> {
  if (!temporary.includes(response.status) && !(await isPassing(response))) return undefined;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  // A little later than asked, and not all clients at once.
  return Number.isFinite(seconds) ? seconds * 1000 + Math.random() * 250 : growing(attempt);
}

/** Whether a refusal is one that passes. A GraphQL answer that has data is final, whatever its errors are. */
async function isPassing(response: Response): Promise<boolean> {
  if (response.status !== 409 && response.status !== 200) return false;
  if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return false;
  const text = await response.clone().text();
  if (!passing.test(text)) return false;
  const { errors, data } = JSON.parse(text);
  return Array.isArray(errors) && Object.values(data ?? {}).every((value) => value === null);
}

/** A quarter of a second, doubled each time, up to 8 seconds, of which a part is left to chance. */
const growing = (attempt: number): number => Math.min(250 * 2 ** (attempt - 1), 8_000) * (0.5 + Math.random() / 2);

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
