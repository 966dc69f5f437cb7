import { type ReactNode, useState } from 'react';
import type { TypedDocumentNode } from 'urql';
import { graphql } from '../../graph/graphql';
import { useWrite } from '../../graph/write';
import { Dialog } from '../../parts/dialog';
import { Copy } from '../../parts/facts';
import { KeyForm, NewSecret } from '../../parts/key-form';

const UpdateWebhook = graphql(`
  mutation UpdateWebhook($id: ID!, $enabled: Boolean!) {
    updateWebhookEndpoint(input: { id: $id, enabled: $enabled }) {
      webhookEndpoint {
        id
        enabled
      }
    }
  }
`);

const RotateSecret = graphql(`
  mutation RotateWebhookSecret($id: ID!) {
    rotateWebhookSecret(input: { id: $id }) {
      webhookEndpoint {
        id
        secret
      }
    }
  }
`);

const TestWebhook = graphql(`
  mutation TestWebhook($id: ID!) {
    testWebhookEndpoint(input: { id: $id }) {
      webhookEndpoint {
        id
      }
    }
  }
`);

const Redeliver = graphql(`
  mutation Redeliver($id: ID!, $deliveryId: ID!) {
    redeliverWebhooks(input: { id: $id, deliveryId: $deliveryId }) {
      webhookEndpoint {
        id
      }
    }
  }
`);

/** What is done to an endpoint, or to one of its deliveries. */
export type Action =
  | { kind: 'enable' | 'rotate' | 'test' }
  | { kind: 'redeliver'; delivery: { id: string; eventType: string } };

interface ActProps {
  endpoint: { id: string; enabled: boolean };
  action: Action;
  onClose: () => void;
  onDone: () => void;
}

/** The dialog of an action on an endpoint. */
export function Act({ endpoint: { id, enabled }, action, onClose, onDone }: ActProps) {
  const close = { onClose, onDone };
  if (action.kind === 'rotate') return <Rotate id={id} onClose={onClose} />;
  if (action.kind === 'test')
    return (
      <Ask title="Send a test" mutation={TestWebhook} variables={{ id }} {...close}>
        The endpoint gets the event <code>webhook_endpoint.tested</code>, whatever its types are.
      </Ask>
    );
  if (action.kind === 'redeliver')
    return (
      <Ask title="Send again" mutation={Redeliver} variables={{ id, deliveryId: action.delivery.id }} {...close}>
        The endpoint gets <code>{action.delivery.eventType}</code> once more, with the same id.
      </Ask>
    );
  return (
    <Ask
      title={enabled ? 'Disable the endpoint' : 'Enable the endpoint'}
      danger={enabled}
      mutation={UpdateWebhook}
      variables={{ id, enabled: !enabled }}
      {...close}
    >
      {enabled ? 'It gets no events until it is enabled again.' : 'It gets new events, and those that are pending.'}
    </Ask>
  );
}

interface AskProps<Variables> {
  /** The title of the dialog, and what its button says. */
  title: string;
  danger?: boolean;
  mutation: TypedDocumentNode<unknown, Variables>;
  variables: Variables;
  onClose: () => void;
  onDone: () => void;
  children: ReactNode;
}

/** A dialog that does one thing with a key. */
function Ask<V extends object>({ title, danger, mutation, variables, onClose, onDone, children }: AskProps<V>) {
  const { write, pending, failure } = useWrite(mutation);
  const send = async (_: FormData, apiKey: string) => {
    const data = await write(variables, apiKey);
    if (data === undefined) return;
    onDone();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <KeyForm submit={title} danger={danger} pending={pending} failure={failure} onSubmit={send}>
        <p className="hint">{children}</p>
      </KeyForm>
    </Dialog>
  );
}

function Rotate({ id, onClose }: { id: string; onClose: () => void }) {
  const { write, pending, failure } = useWrite(RotateSecret);
  const [secret, setSecret] = useState<string | null>();
  const rotate = async (_: FormData, apiKey: string) => {
    const data = await write({ id }, apiKey);
    if (data) setSecret(data.rotateWebhookSecret.webhookEndpoint.secret);
  };
  return (
    <Dialog title="Rotate the secret" onClose={onClose}>
      {secret ? (
        <NewSecret label="The new secret.">
          <Copy text={secret} label="the secret" />
        </NewSecret>
      ) : (
        <KeyForm submit="Rotate the secret" pending={pending} failure={failure} onSubmit={rotate}>
          <p className="hint">For 24 hours deliveries are signed with both secrets.</p>
        </KeyForm>
      )}
    </Dialog>
  );
}
