import { retrying } from 'tidegate-client/retries';

interface Session {
  token: string;
  expires_at: number;
  gateway: string;
}

let session: Promise<Session> | undefined;

async function newSession(): Promise<Session> {
  const answer = await fetch('/session', { method: 'POST' });
  if (!answer.ok) throw new Error(`No session: ${answer.status}`);
  return answer.json();
}

/** The session of this page: another one shortly before it expires, or after a failure. */
export function currentSession(): Promise<Session> {
  const isFresh = ({ expires_at }: Session) => expires_at - 60 > Date.now() / 1000;
  session = session?.then((known) => (isFresh(known) ? known : newSession()), newSession) ?? newSession();
  return session;
}

/** Has the next request get another session, because this one was revoked. */
export function forgetSession(): void {
  session = undefined;
}

/** Whose request it is: of the session, or of a user for which it acts. */
export async function identity(user: string | undefined): Promise<Record<string, string>> {
  const { token } = await currentSession();
  return { authorization: `Bearer ${token}`, ...(user && { 'on-behalf-of': user }) };
}

/**
 * A `fetch` for a client of the graph that acts for a user. Each request gets an `Idempotency-Key` before it is sent
 * for the first time, so a mutation whose answer was lost is repeated and done once.
 */
export const fetchFor = (user: string | undefined): typeof fetch => {
  const send = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const used = currentSession();
    for (const [name, value] of Object.entries(await identity(user))) request.headers.set(name, value);
    const answer = await fetch(request.clone());
    if (answer.status !== 401) return answer;
    if ((await used).token === (await session)?.token) forgetSession();
    request.headers.set('authorization', (await identity(user))['authorization']!);
    return fetch(request);
  };
  return retrying({ fetch: send });
};
