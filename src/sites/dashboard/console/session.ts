import { createContext, useContext } from 'react';

/** The header that the gateway demands with the cookie of the console: a page of another origin cannot send it. */
export const operatorHeaders = { 'x-tidegate-operator': '1' };

/** Who is signed in to the console. A `read` operator changes nothing. */
export interface OperatorSession {
  name: string;
  role: string;
}

interface Session {
  operator: OperatorSession;
  signOut: () => Promise<void>;
  /** Says what was done, on the screen and to screen readers. */
  announce: (text: string) => void;
}

export const SessionContext = createContext<Session | null>(null);

/** The session of the page. Only pages of a signed-in operator may use it. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('a page of a signed-in operator was drawn without a session');
  return session;
}

/** Whether the operator may change anything. */
export const useMayAct = (): boolean => useSession().operator.role.toUpperCase() !== 'READ';

/** Asks for the session, makes it with a key, or ends it. Returns the operator, or why there is none. */
export async function session(
  method: 'GET' | 'POST' | 'DELETE',
  key?: string,
): Promise<{ operator?: OperatorSession; refusal?: string }> {
  try {
    const answer = await fetch('/operator/session', {
      method,
      headers: { ...operatorHeaders, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    });
    // There is no session, and nothing was refused.
    if (answer.status === 204) return {};
    const body = (await answer.json().catch(() => ({}))) as { errors?: { message: string }[] };
    if (answer.ok) return { operator: body as OperatorSession };
    return { refusal: body.errors?.[0]?.message ?? 'The gateway refused the sign-in.' };
  } catch {
    return { refusal: 'The gateway could not be reached. Check the connection and try again.' };
  }
}
