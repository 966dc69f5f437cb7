import { type DocumentNode, getOperationAST, parse } from 'graphql';
import { createClient, NetworkError } from 'graphql-sse';
import { clean, enter, isKnown, key, mask, session, stored } from './key.js';
import { element, setup } from './setup.js';

/** What an answer says besides its data. */
interface Answer {
  data?: unknown;
  errors?: { message: string }[];
  extensions?: { cost?: Cost };
}

interface Cost {
  requested: number;
  actual: number;
  remaining: number;
}

/** An operation, as GraphiQL gives it. */
export interface Asked {
  query: string;
  variables?: object | undefined;
  operationName?: string | null | undefined;
}

/** What a subscription has sent so far; the newest is first. */
interface Received {
  received: number;
  /** How often its connection was lost and made again, if it was. */
  reconnected?: number;
  results: object[];
}

/** The results of a subscription that are shown. */
const resultsMax = 50;

const listeners: ((status: number, used: string) => void)[] = [];
/** Calls a function with the status of each answer, and with the key of its request. */
export const onStatus = (listener: (status: number, used: string) => void): number => listeners.push(listener);

const points = (count: number) => count.toLocaleString('en');

/** What the last answer cost. The estimate is what was weighed before it ran, and may be more or less. */
function showCost(cost: Cost | undefined): void {
  if (!cost) {
    element('cost').textContent = '';
    return;
  }
  const estimate = cost.actual === cost.requested ? '' : `, estimated ${points(cost.requested)}`;
  element('cost').textContent = `Cost ${points(cost.actual)} points${estimate} · ${points(cost.remaining)} left`;
}

/** The headers by which a request says who asks: a key, or else the dashboard's session. */
export const credential = (used: string): Record<string, string> =>
  used ? { authorization: `Bearer ${used}` } : session ? { 'x-tidegate-dashboard': '1' } : {};

/** Sends a request with a key, or with the dashboard's session if there is none. */
function post(body: object, headers: Record<string, string> = {}, used = key): Promise<Response> {
  return fetch(setup.endpoint, {
    method: 'POST',
    headers: {
      accept: 'application/graphql-response+json, application/json',
      'content-type': 'application/json',
      ...headers,
      ...credential(used),
    },
    body: JSON.stringify(body),
  });
}

/** The last query of the page itself: the schema is read after it, so that a wrong key is sent once. */
let checked: Promise<unknown> = Promise.resolve();
/** The key that was refused last. */
let refused: string | undefined;
onStatus((status, used) => {
  if (status === 401) refused = used;
});

/** Runs a query of the page itself, for the caller's own account; null where it is refused. */
export function asked<T>(query: string): Promise<T | null> {
  const answer = answered<T>(query);
  checked = answer.catch(() => {});
  return answer;
}

async function answered<T>(query: string): Promise<T | null> {
  const response = await post({ query });
  listeners.forEach((listener) => listener(response.status, key));
  return ((await response.json()) as { data?: T }).data ?? null;
}

const behalf = (): Record<string, string> => {
  const account = stored('behalf');
  return account ? { 'on-behalf-of': account } : {};
};

/** The headers of the pane, in small letters and without the key, and the key that they name. */
export function headersOf(typed: Record<string, unknown>): { headers: Record<string, string>; used: string } {
  const headers = Object.fromEntries(Object.entries(typed).map(([name, value]) => [name.toLowerCase(), String(value)]));
  const { authorization = '', ...others } = headers;
  const written = clean(authorization);
  return { headers: { ...behalf(), ...others }, used: written === mask(key) || written === '' ? key : written };
}

/** The document of a text; undefined for a text with a fault, which the gateway explains. */
export function documentOf(query: string): DocumentNode | undefined {
  try {
    return parse(query);
  } catch {
    return undefined;
  }
}

let introspectedWith: string | undefined;

/** Runs an operation: as one answer, or as the growing list of the results of a subscription. */
export async function run(
  { query, variables, operationName }: Asked,
  typed: Record<string, unknown> = {},
): Promise<object | AsyncIterable<object>> {
  const { headers, used } = headersOf(typed);
  if (!used && !session) {
    element('welcome').scrollIntoView({ block: 'nearest' });
    element('key').focus();
    return { message: 'Paste a key above, and run this again.' };
  }
  const introspecting = operationName === 'IntrospectionQuery';
  if (introspecting) {
    introspectedWith = used;
    await checked;
    if (used === refused && !session) return { data: null, errors: [{ message: 'The key was refused.' }] };
  }
  // GraphiQL updates the name shortly after the text, so a click in between would send the name of another tab.
  const name = operationName && query.includes(operationName) ? operationName : undefined;
  const body = { query, variables, operationName: name };
  const document = documentOf(query);
  if (document && getOperationAST(document, name)?.operation === 'subscription') return subscribe(body, headers, used);
  const response = await post(body, headers, used);
  listeners.forEach((listener) => listener(response.status, used));
  const answer = await answerOf(response);
  // A `data` member, even null, stops GraphiQL from a second request, which would count a wrong key twice.
  if (introspecting) return { data: null, ...answer };
  showCost(answer.extensions?.cost);
  if (response.ok && !isKnown) enter(used);
  // After the first answer with another key from the headers pane, load the schema, by GraphiQL's keyboard shortcut.
  else if (response.ok && introspectedWith !== undefined && used !== introspectedWith)
    dispatchEvent(new KeyboardEvent('keydown', { key: 'R', ctrlKey: true }));
  return answer;
}

async function answerOf(response: Response): Promise<Answer> {
  try {
    return (await response.json()) as Answer;
  } catch {
    return { errors: [{ message: `The server answered ${response.status} without JSON.` }] };
  }
}

/**
 * Follows a subscription by server-sent events. Its iterator is no generator alone: that would end only with the next
 * result, and the connection should end at once.
 */
function subscribe(asking: Asked, headers: Record<string, string>, used: string): AsyncIterableIterator<object> {
  const shown: Received = { received: 0, results: [] };
  let position: string | undefined;
  const client = createClient({
    url: setup.endpoint,
    headers: () => ({ ...headers, ...credential(used), ...(position !== undefined && { 'last-event-id': position }) }),
    fetchFn: async (url: string, init: RequestInit) => withPositions(await fetch(url, init), (id) => (position = id)),
    retry: async (tries) => {
      element('cost').textContent = 'The connection was lost. Connecting again …';
      await new Promise((resolve) => setTimeout(resolve, 1_000 * 2 ** tries + Math.random() * 1_000));
    },
    on: {
      connected: (again) => {
        if (!again) return;
        shown.reconnected = (shown.reconnected ?? 0) + 1;
        element('cost').textContent = `Connected again${position === undefined ? '' : `, after event ${position}`}`;
      },
    },
  });
  const results = resultsOf(client, asking, used, shown);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => results.next(),
    return: async () => {
      client.dispose();
      return { done: true, value: undefined };
    },
  };
}

/**
 * A response that tells the `id` of each event which its reader gets. The library does not read these, and would begin
 * with the present after a lost connection. Nothing is read ahead, since what is would be lost with the connection.
 */
function withPositions(response: Response, tell: (id: string) => void): Response {
  if (!response.ok || !response.body) return response;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        const events = (text + decoder.decode(value, { stream: true })).split('\n\n');
        text = events.pop()!;
        for (const event of events) {
          const [, id] = /^id: ?(\d+)$/m.exec(event) ?? [];
          if (id !== undefined) tell(id);
        }
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: response.status, headers: response.headers });
}

async function* resultsOf(
  client: ReturnType<typeof createClient>,
  { query, variables, operationName }: Asked,
  used: string,
  shown: Received,
): AsyncGenerator<object, void, void> {
  showCost(undefined);
  yield { ...shown };
  const body = { query, variables: { ...variables }, ...(operationName != null && { operationName }) };
  try {
    for await (const { extensions, ...result } of client.iterate<unknown, { cost?: Cost }>(body)) {
      if (extensions?.cost) showCost(extensions.cost);
      shown.received++;
      shown.results = [result, ...shown.results].slice(0, resultsMax);
      yield { ...shown };
    }
  } catch (error) {
    const response = error instanceof NetworkError ? (error.response as Response | undefined) : undefined;
    if (!response) throw error;
    listeners.forEach((listener) => listener(response.status, used));
    yield await answerOf(response);
  }
}
