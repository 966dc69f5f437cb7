import { useState } from 'react';
import { useTimes, words } from '../../format';
import { graphql, type ResultOf } from '../../graph';
import { ActionDialog, Empty, Page, stateColumn, Table } from '../../parts';
import { ShowWithKey } from './with-key';

const SessionsQuery = graphql(`
  query Sessions($accountId: ID!) {
    sessions(accountId: $accountId, first: 100) {
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

type Session = ResultOf<typeof SessionsQuery>['sessions']['nodes'][number];

/** The sessions of the account: of this dashboard, and of pages that the account built. */
export function Sessions() {
  const [sessions, setSessions] = useState<readonly Session[]>();
  const [revoking, setRevoking] = useState<Session>();
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
      {sessions && sessions.length > 0 && <List sessions={sessions} onRevoke={setRevoking} />}
      {revoking && (
        <Revoke
          of={revoking}
          onClose={() => setRevoking(undefined)}
          onRevoked={(revokedAt) =>
            setSessions((known) => known?.map((each) => (each.id === revoking.id ? { ...each, revokedAt } : each)))
          }
        />
      )}
    </Page>
  );
}

function List({ sessions, onRevoke }: { sessions: readonly Session[]; onRevoke: (session: Session) => void }) {
  const time = useTimes();
  return (
    <Table
      label="Sessions"
      rows={sessions}
      columns={[
        {
          head: 'Created',
          cell: ({ created, apiKey }) => (
            <span className="two-lines">
              <strong>{time(created)}</strong>
              {apiKey && <span className="hint">by the key {apiKey.prefix}</span>}
            </span>
          ),
        },
        { head: 'Role', cell: ({ role }) => words(role) },
        {
          head: 'Origins',
          cell: ({ allowedOrigins }) => allowedOrigins.join(', ') || 'all that the gateway admits',
        },
        { head: 'Expires', cell: ({ expiresAt }) => time(expiresAt) },
        stateColumn(statusOf),
        {
          head: 'Actions',
          cell: (session) =>
            statusOf(session) === 'ACTIVE' && (
              <button
                type="button"
                className="button small danger"
                aria-label={`Revoke the session of ${time(session.created)}`}
                onClick={() => onRevoke(session)}
              >
                Revoke
              </button>
            ),
          end: true,
        },
      ]}
    />
  );
}

function statusOf({ revokedAt, expiresAt }: Session): string {
  if (revokedAt) return 'REVOKED';
  return Date.parse(expiresAt) <= Date.now() ? 'EXPIRED' : 'ACTIVE';
}

interface RevokeProps {
  of: Session;
  onClose: () => void;
  onRevoked: (revokedAt: string | null) => void;
}

function Revoke({ of, onClose, onRevoked }: RevokeProps) {
  const time = useTimes();
  return (
    <ActionDialog
      title="Revoke the session"
      danger
      withKey
      mutation={RevokeSession}
      read={() => ({ id: of.id })}
      onClose={onClose}
      onDone={({ revokeSession: { session } }) => onRevoked(session.revokedAt)}
    >
      <p className="hint">The session of {time(of.created)} is refused within a second.</p>
    </ActionDialog>
  );
}
