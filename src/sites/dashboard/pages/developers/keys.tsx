import { useState } from 'react';
import { useTimes } from '../../format/time';
import { stateColumn } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { Page } from '../../parts/page';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { useMayWrite } from '../../session';
import { Create, type Key, KeysQuery, Revoke, Rotate } from './key-actions';
import { ShowWithKey, statusOf } from './with-key';

/** What is done to a key. Its dialog is no part of the row, which may change while the dialog shows the new secret. */
type Action = { kind: 'rotate' | 'revoke'; of: Key };

/** The API keys of the account. A session sees none: each action here takes a key that the viewer enters. */
export function Keys() {
  const [keys, setKeys] = useState<readonly Key[]>();
  const [action, setAction] = useState<Action>();
  const changed = (made: readonly Key[]) =>
    setKeys((known) => known && [...made, ...known.filter(({ id }) => made.every((key) => key.id !== id))]);
  const close = () => setAction(undefined);
  return (
    <Page title="API keys" actions={<Create onChange={changed} />}>
      {keys === undefined && (
        <ShowWithKey
          what="the keys"
          hint={
            'Your keys are listed to a key, not to a session; a key that may only read is enough. ' +
            'What a key has made is revoked with it.'
          }
          query={KeysQuery}
          onShown={({ apiKeys }) => setKeys(apiKeys.nodes)}
        />
      )}
      {keys?.length === 0 && (
        <Empty title="This account has no keys">
          <p>A program that calls the APIs for it needs one.</p>
        </Empty>
      )}
      {keys && keys.length > 0 && <List keys={keys} onAction={setAction} />}
      {action?.kind === 'rotate' && <Rotate of={action.of} onClose={close} onChange={changed} />}
      {action?.kind === 'revoke' && <Revoke of={action.of} onClose={close} onChange={changed} />}
    </Page>
  );
}

function List({ keys, onAction }: { keys: readonly Key[]; onAction: (action: Action) => void }) {
  const time = useTimes();
  const mayWrite = useMayWrite();
  return (
    <Table
      label="API keys"
      rows={keys}
      columns={[
        {
          head: 'Key',
          cell: ({ prefix, created }) => (
            <span className="two-lines">
              <code>{prefix}</code>
              <span className="hint">created {time(created, 'date')}</span>
            </span>
          ),
        },
        { head: 'May', cell: ({ permission }) => (permission === 'READ' ? 'Read' : 'Read and write') },
        stateColumn(statusOf),
        {
          head: 'Last used',
          cell: ({ lastUsedAt }) => (lastUsedAt ? time(lastUsedAt) : 'never'),
          line: true,
        },
        { head: 'Expires', cell: ({ expiresAt }) => (expiresAt ? time(expiresAt, 'date') : 'never'), line: true },
        {
          head: 'Actions',
          cell: (key) =>
            mayWrite && statusOf(key) === 'ACTIVE' ? (
              <span className="row-actions">
                <button
                  type="button"
                  className="button small"
                  aria-label={`Rotate ${key.prefix}`}
                  onClick={() => onAction({ kind: 'rotate', of: key })}
                >
                  Rotate
                </button>
                <button
                  type="button"
                  className="button small danger"
                  aria-label={`Revoke ${key.prefix}`}
                  onClick={() => onAction({ kind: 'revoke', of: key })}
                >
                  Revoke
                </button>
              </span>
            ) : (
              <span className="only-narrow">
                <Status value={statusOf(key)} />
              </span>
            ),
          end: true,
        },
      ]}
    />
  );
}
