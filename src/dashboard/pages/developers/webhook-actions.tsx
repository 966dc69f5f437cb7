import type { ReactNode } from 'react';
import type { TypedDocumentNode } from 'urql';
import { graphql } from '../../graph';
import { ActionDialog, Copy, NewSecret } from '../../parts';

const UpdateWebhook = graphql(`
  mutation UpdateWebhook($input: UpdateWebhookEndpointInput!) {
    updateWebhookEndpoint(input: $input) { webhookEndpoint { id enabled } }
  }
`);

const RotateSecret = graphql(`
  mutation RotateWebhookSecret($input: WebhookEndpointIdInput!) {
    rotateWebhookSecret(input: $input) { webhookEndpoint { id secret } }
  }
`);

const TestWebhook = graphql(`
  mutation TestWebhook($input: WebhookEndpointIdInput!) {
    testWebhookEndpoint(input: $input) { webhookEndpoint { id } }
  }
`);

const Redeliver = graphql(`
  mutation Redeliver($input: RedeliverWebhooksInput!) {
    redeliverWebhooks(input: $input) { webhookEndpoint { id } }
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
  if (action.kind === 'rotate')
    return (
      <ActionDialog
        title="Rotate the secret"
        withKey
        mutation={RotateSecret}
        read={() => ({ id })}
        onClose={onClose}
        after={({ rotateWebhookSecret: { webhookEndpoint } }) => (
          <NewSecret label="The new secret.">
            <Copy text={webhookEndpoint.secret ?? ''} label="the secret" />
          </NewSecret>
        )}
      >
        <p className="hint">For 24 hours deliveries are signed with both secrets.</p>
      </ActionDialog>
    );
  if (action.kind === 'test')
    return (
      <Ask title="Send a test" mutation={TestWebhook} input={{ id }} {...close}>
        The endpoint gets the event <code>webhook_endpoint.tested</code>, whatever its types are.
      </Ask>
    );
  if (action.kind === 'redeliver')
    return (
      <Ask title="Send again" mutation={Redeliver} input={{ id, deliveryId: action.delivery.id }} {...close}>
        The endpoint gets <code>{action.delivery.eventType}</code> once more, with the same id.
      </Ask>
    );
  return (
    <Ask
      title={enabled ? 'Disable the endpoint' : 'Enable the endpoint'}
      danger={enabled}
      mutation={UpdateWebhook}
      input={{ id, enabled: !enabled }}
      {...close}
    >
      {enabled ? 'It gets no events until it is enabled again.' : 'It gets new events, and those that are pending.'}
    </Ask>
  );
}

interface AskProps<Input> {
  title: string;
  danger?: boolean;
  mutation: TypedDocumentNode<unknown, { input: Input }>;
  input: Input;
  onClose: () => void;
  onDone: () => void;
  children: ReactNode;
}

/** A dialog that does one thing with a key, and asks for nothing else. */
function Ask<Input>({ input, danger = false, children, ...dialog }: AskProps<Input>) {
  return (
    <ActionDialog withKey danger={danger} read={() => input} {...dialog}>
      <p className="hint">{children}</p>
    </ActionDialog>
  );
}
