import { useState } from 'react';
import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import type { RowOf } from '../../graph/pages';
import { ActionButton } from '../../parts/action';
import { stateColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Page } from '../../parts/page';
import { type Column, Table } from '../../parts/table';
import { ShowWithKey, statusOf } from './with-key';

const SessionsQuery = graphql(`
  query Sessions($accountId: ID!) {
    sessions(filter: { accountId: $accountId }, first: 100) {
      nodes {
        id created role allowedOrigins expiresAt revokedAt
        apiKey { id prefix }
      }
    }
  }
`);

const RevokeSession = graphql(`
  mutation RevokeSession($input: RevokeSessionInput!) {
    revokeSession(input: $input) { session { id revokedAt } }
  }
`);

type Session = RowOf<ResultOf<typeof SessionsQuery>['sessions']>;

/** The sessions of the account: of this dashboard, and of pages that the account built. */
export function Sessions() {
  const [sessions, setSessions] = useState<readonly Session[]>();
  const onRevoked = (revoked: Pick<Session, 'id' | 'revokedAt'>) =>
    setSessions((known) => known?.map((each) => (each.id === revoked.id ? { ...each, ...revoked } : each)));
  const columns = useColumns(onRevoked);
  return (
    <Page title="Sessions">
      {sessions === undefined && (
        <ShowWithKey
          what="the sessions"
          hint="A session lasts 12 hours at most, and ends with the key that made it. Signing out ends this one."
          query={SessionsQuery}
          onShown={({ sessions: page }) => setSessions(page.nodes)}
        />
      )}
      {sessions?.length === 0 && <Empty title="This account has no sessions" />}
      {sessions && sessions.length > 0 && <Table label="Sessions" rows={sessions} columns={columns} />}
    </Page>
  );
}

function useColumns(onRevoked: (revoked: Pick<Session, 'id' | 'revokedAt'>) => void): Column<Session>[] {
  const time = useTimes();
  return [
    {
      head: 'Created',
      cell: ({ created, apiKey }) => <Two hint={apiKey && `by the key ${apiKey.prefix}`}>{time(created)}</Two>,
    },
    { head: 'Role', cell: ({ role }) => words(role) },
    { head: 'Origins', cell: ({ allowedOrigins }) => allowedOrigins.join(', ') || 'all that the gateway admits' },
    { head: 'Expires', cell: ({ expiresAt }) => time(expiresAt), line: true },
    stateColumn(statusOf),
    {
      head: 'Actions',
      end: true,
      cell: (session) =>
        statusOf(session) === 'ACTIVE' && (
          <ActionButton
            name="Revoke"
            about={`the session of ${time(session.created)}`}
            title="Revoke the session"
            small
            danger
            withKey
            mutation={RevokeSession}
            read={() => ({ id: session.id })}
            onDone={({ revokeSession }) => onRevoked(revokeSession.session)}
          >
            <p className="hint">The session of {time(session.created)} is refused within a second.</p>
          </ActionButton>
        ),
    },
  ];
}
