import { useState } from 'react';
import { graphql, type ResultOf } from '../../graph/graphql';
import { ActionButton, ActionDialog, NewSecret } from '../../parts/action';
import { SelectField } from '../../parts/form';
import { useSession } from '../../session';

const KeyFragment = graphql(`
  fragment Key on ApiKey { id prefix permission created expiresAt revokedAt lastUsedAt }
`);

export const KeysQuery = graphql(
  `
    query Keys($accountId: ID!) {
      apiKeys(filter: { accountId: $accountId }, first: 100) { nodes { ...Key } }
    }
  `,
  [KeyFragment],
);

const CreateKey = graphql(
  `
    mutation CreateKey($input: CreateApiKeyInput!) {
      createApiKey(input: $input) { secret apiKey { ...Key } }
    }
  `,
  [KeyFragment],
);

const RotateKey = graphql(
  `
    mutation RotateKey($input: RotateApiKeyInput!) {
      rotateApiKey(input: $input) { secret apiKey { ...Key } }
    }
  `,
  [KeyFragment],
);

const RevokeKey = graphql(
  `
    mutation RevokeKey($input: RevokeApiKeyInput!) {
      revokeApiKey(input: $input) { apiKey { ...Key } }
    }
  `,
  [KeyFragment],
);

export type Key = ResultOf<typeof KeyFragment>;

const lifetimes = [
  { name: 'In 30 days', value: String(30 * 86_400) },
  { name: 'In 90 days', value: String(90 * 86_400) },
  { name: 'In a year', value: String(365 * 86_400) },
];
const graces = [
  { name: 'In a day', value: String(86_400) },
  { name: 'In an hour', value: String(3_600) },
  { name: 'Now', value: '0' },
];
const permissions = [
  { name: 'Read and write', value: 'FULL' },
  { name: 'Read', value: 'READ' },
];

interface ChangeProps {
  /** Gets the keys that are new or different. */
  onChange: (changed: readonly Key[]) => void;
}

type ActProps = ChangeProps & { of: Key; onClose: () => void };

/** The button that creates a key. */
export function Create({ onChange }: ChangeProps) {
  const { viewer } = useSession();
  return (
    <ActionButton
      name="Create a key"
      primary
      submit="Create the key"
      withKey
      mutation={CreateKey}
      read={({ permission, expires }: { permission: 'FULL' | 'READ'; expires?: string }) => ({
        ...{ accountId: viewer.account.id, permission },
        ...(expires && { expiresInSeconds: Number(expires) }),
      })}
      onDone={({ createApiKey: { apiKey } }) => onChange([apiKey])}
      after={({ createApiKey: { secret } }) => <Secret secret={secret} />}
    >
      <SelectField name="permission" label="It may" options={permissions} />
      <SelectField name="expires" label="It expires" none="Never" options={lifetimes} />
    </ActionButton>
  );
}

/** The dialog that puts a new key in the place of one. */
export function Rotate({ of, onClose, onChange }: ActProps) {
  const [grace, setGrace] = useState(graces[0]!.value);
  const graceSeconds = Number(grace);
  const expiresAt = () => new Date(Date.now() + graceSeconds * 1_000).toISOString();
  return (
    <ActionDialog
      title="Rotate the key"
      withKey
      mutation={RotateKey}
      read={() => ({ id: of.id, graceSeconds })}
      onClose={onClose}
      onDone={({ rotateApiKey: { apiKey } }) => onChange([apiKey, { ...of, expiresAt: expiresAt() }])}
      after={({ rotateApiKey: { secret } }) => <Secret secret={secret} />}
    >
      <p className="hint">
        A new key with the same permission takes the place of <code>{of.prefix}</code>
      </p>
      <SelectField name="grace" label="The old key ends" options={graces} onChange={setGrace} />
    </ActionDialog>
  );
}

/** The dialog that ends a key. */
export function Revoke({ of, onClose, onChange }: ActProps) {
  return (
    <ActionDialog
      title="Revoke the key"
      danger
      withKey
      mutation={RevokeKey}
      read={() => ({ id: of.id })}
      onClose={onClose}
      onDone={({ revokeApiKey: { apiKey } }) => onChange([apiKey])}
    >
      <p className="hint">
        <code>{of.prefix}</code> and the sessions that it made are refused within a second. This cannot be undone.
      </p>
    </ActionDialog>
  );
}

function Secret({ secret }: { secret: string | null }) {
  return <NewSecret label="The new key." name="key" secret={secret} />;
}
