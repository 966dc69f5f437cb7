import { createContext, useContext } from 'react';
import { dashboardHeaders } from './graph/client';
import { forgetDrafts } from './graph/drafts';
import { graphql, type ResultOf } from './graph/graphql';
import { sendWhatWaits } from './graph/leaving';
import { noteSignIn } from './signed-in';

/** What names an account; see `nameOf`. */
export const NameFragment = graphql(`
  fragment Name on Account { id nickname businessDetails { legalName } }
`);

/** Who is signed in, and the account that the pages show. */
export const ViewerQuery = graphql(
  `
    query Viewer {
      viewer {
        edition mode permission sessionRole onBehalf now
        account { ...Name type status statusSince }
      }
    }
  `,
  [NameFragment],
);

export interface Session {
  viewer: ResultOf<typeof ViewerQuery>['viewer'];
  /** Acts as a user of the platform, or as the platform itself again. */
  actAs: (accountId: string | null) => void;
  /** Asks again who is signed in and what time it is, after the clock was moved. */
  refresh: () => void;
  signOut: () => Promise<void>;
}

export const SessionContext = createContext<Session | null>(null);

/** The session of the page. Only pages of a signed-in viewer may use it. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('a page of a signed-in viewer was drawn without a session');
  return session;
}

/** Whether the viewer may write at all. */
export function useMayWrite(): boolean {
  const { viewer } = useSession();
  return viewer.permission === 'FULL' && viewer.sessionRole !== 'READ';
}

/** The name of an account: its nickname, otherwise its legal name, otherwise its id. */
export function nameOf(account: ResultOf<typeof NameFragment>): string {
  return account.nickname ?? account.businessDetails.legalName ?? account.id;
}

/**
 * Signs in: the gateway answers an API key, or the code of a one-time link, with a session in a cookie that no script
 * can read. Returns the reason when it refuses.
 */
export async function signIn(credential: string): Promise<string | undefined> {
  sessionStorage.removeItem('acting-as');
  try {
    const answer = await fetch('/dashboard/session', {
      method: 'POST',
      headers: { authorization: credential, 'content-type': 'application/json' },
      body: '{}',
    });
    if (answer.ok) {
      noteSignIn((await answer.json()) as Parameters<typeof noteSignIn>[0]);
      return undefined;
    }
    const { errors } = (await answer.json()) as { errors?: { message: string }[] };
    return errors?.[0]?.message ?? 'The gateway refused the sign-in.';
  } catch {
    return 'The gateway could not be reached. Check the connection and try again.';
  }
}

/**
 * Whether the browser has a session to ask with, which no script can see: asking without one would be refused. Without
 * an answer the page goes on, and shows what its own query meets.
 */
export const hasSession = (): Promise<boolean> =>
  fetch('/dashboard/session', { headers: dashboardHeaders, signal: AbortSignal.timeout(5_000) }).then(
    ({ status }) => status !== 204,
    () => true,
  );

/** Ends the session on the gateway and removes its cookie, after what waits to be sent. */
export async function endSession(): Promise<void> {
  await sendWhatWaits();
  sessionStorage.removeItem('acting-as');
  forgetDrafts();
  const headers = { ...dashboardHeaders, 'content-type': 'application/json' };
  await fetch('/dashboard/session/end', { method: 'POST', headers, body: '{}' }).catch(() => {});
}
