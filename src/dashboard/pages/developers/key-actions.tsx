import { useState } from 'react';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useWrite } from '../../graph/write';
import { Dialog } from '../../parts/dialog';
import { Copy } from '../../parts/facts';
import { Field } from '../../parts/field';
import { KeyForm, NewSecret } from '../../parts/key-form';
import { useSession } from '../../session';

const CreateKey = graphql(`
  mutation CreateKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      secret
      apiKey {
        id
        prefix
        permission
        created
        expiresAt
        revokedAt
        lastUsedAt
      }
    }
  }
`);

const RotateKey = graphql(`
  mutation RotateKey($input: RotateApiKeyInput!) {
    rotateApiKey(input: $input) {
      secret
      apiKey {
        id
        prefix
        permission
        created
        expiresAt
        revokedAt
        lastUsedAt
      }
    }
  }
`);

const RevokeKey = graphql(`
  mutation RevokeKey($input: RevokeApiKeyInput!) {
    revokeApiKey(input: $input) {
      apiKey {
        id
        revokedAt
      }
    }
  }
`);

export type Key = ResultOf<typeof CreateKey>['createApiKey']['apiKey'];

/** What is done to a key, or its creation. */
export type Action = { kind: 'create' } | { kind: 'rotate' | 'revoke'; of: Key };

const lifetimes = [
  ['Never', ''],
  ['In 30 days', String(30 * 86_400)],
  ['In 90 days', String(90 * 86_400)],
  ['In a year', String(365 * 86_400)],
] as const;
const graces = [
  ['In a day', String(86_400)],
  ['In an hour', String(3_600)],
  ['Now', '0'],
] as const;

interface ActProps {
  action: Action;
  onClose: () => void;
  /** The keys that are new or different. */
  onChange: (changed: readonly Key[]) => void;
}

/** The dialog of an action on keys. */
export function Act({ action, onClose, onChange }: ActProps) {
  if (action.kind === 'create') return <Create onClose={onClose} onChange={onChange} />;
  const { of } = action;
  return action.kind === 'rotate' ? (
    <Rotate of={of} onClose={onClose} onChange={onChange} />
  ) : (
    <Revoke of={of} onClose={onClose} onChange={onChange} />
  );
}

function Create({ onClose, onChange }: Omit<ActProps, 'action'>) {
  const { viewer } = useSession();
  const { write, pending, failure } = useWrite(CreateKey);
  const [secret, setSecret] = useState<string | null>();
  const create = async (form: FormData, apiKey: string) => {
    const seconds = String(form.get('expires'));
    const permission = form.get('permission') === 'READ' ? 'READ' : 'FULL';
    const expires = seconds === '' ? {} : { expiresInSeconds: Number(seconds) };
    const data = await write({ input: { accountId: viewer.account.id, permission, ...expires } }, apiKey);
    if (!data) return;
    onChange([data.createApiKey.apiKey]);
    setSecret(data.createApiKey.secret);
  };
  return (
    <Dialog title="Create a key" onClose={onClose}>
      {secret ? (
        <Secret secret={secret} onClose={onClose} />
      ) : (
        <KeyForm submit="Create the key" pending={pending} failure={failure} onSubmit={create}>
          <Field label="It may">
            {(input) => (
              <select {...input} name="permission">
                <option value="FULL">Read and write</option>
                <option value="READ">Read</option>
              </select>
            )}
          </Field>
          <Choice label="It expires" name="expires" options={lifetimes} />
        </KeyForm>
      )}
    </Dialog>
  );
}

function Rotate({ of, onClose, onChange }: { of: Key } & Omit<ActProps, 'action'>) {
  const { write, pending, failure } = useWrite(RotateKey);
  const [secret, setSecret] = useState<string | null>();
  const rotate = async (form: FormData, apiKey: string) => {
    const graceSeconds = Number(form.get('grace'));
    const data = await write({ input: { id: of.id, graceSeconds } }, apiKey);
    if (!data) return;
    const expiresAt = new Date(Date.now() + graceSeconds * 1_000).toISOString();
    onChange([data.rotateApiKey.apiKey, { ...of, expiresAt }]);
    setSecret(data.rotateApiKey.secret);
  };
  return (
    <Dialog title="Rotate the key" onClose={onClose}>
      {secret ? (
        <Secret secret={secret} onClose={onClose} />
      ) : (
        <KeyForm submit="Rotate the key" pending={pending} failure={failure} onSubmit={rotate}>
          <p className="hint">
            A new key with the same permission takes the place of <code>{of.prefix}</code>
          </p>
          <Choice label="The old key ends" name="grace" options={graces} />
        </KeyForm>
      )}
    </Dialog>
  );
}

function Revoke({ of, onClose, onChange }: { of: Key } & Omit<ActProps, 'action'>) {
  const { write, pending, failure } = useWrite(RevokeKey);
  const revoke = async (_: FormData, apiKey: string) => {
    const data = await write({ input: { id: of.id } }, apiKey);
    if (!data) return;
    onChange([{ ...of, ...data.revokeApiKey.apiKey }]);
    onClose();
  };
  return (
    <Dialog title="Revoke the key" onClose={onClose}>
      <KeyForm submit="Revoke the key" danger pending={pending} failure={failure} onSubmit={revoke}>
        <p className="hint">
          <code>{of.prefix}</code> and the sessions that it made are refused within a second. This cannot be undone.
        </p>
      </KeyForm>
    </Dialog>
  );
}

function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <>
      <NewSecret label="The new key.">
        <Copy text={secret} label="the key" />
      </NewSecret>
      <button type="button" className="button" onClick={onClose}>
        Done
      </button>
    </>
  );
}

interface ChoiceProps {
  label: string;
  name: string;
  options: readonly (readonly [string, string])[];
}

function Choice({ label, name, options }: ChoiceProps) {
  return (
    <Field label={label}>
      {(input) => (
        <select {...input} name={name}>
          {options.map(([text, value]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
