import type { ReactNode } from 'react';
import type { TypedDocumentNode } from 'urql';
import { graphql } from '../../graph/graphql';
import { ActionButton, NewSecret } from '../../parts/action';

const UpdateWebhook = graphql(`
  mutation UpdateWebhook($input: UpdateWebhookEndpointInput!) {
    updateWebhookEndpoint(input: $input) { webhookEndpoint { id enabled } }
  }
`);

const RotateSecret = graphql(`
  mutation RotateWebhookSecret($input: RotateWebhookSecretInput!) {
    rotateWebhookSecret(input: $input) { webhookEndpoint { id secret } }
  }
`);

const TestWebhook = graphql(`
  mutation TestWebhook($input: TestWebhookEndpointInput!) {
    testWebhookEndpoint(input: $input) { webhookEndpoint { id } }
  }
`);

const Redeliver = graphql(`
  mutation Redeliver($input: RedeliverWebhooksInput!) {
    redeliverWebhooks(input: $input) { webhookEndpoint { id } }
  }
`);

interface ActProps {
  endpoint: { id: string; enabled: boolean };
  onDone: () => void;
}

/** What is done to an endpoint: each action asks for a key. */
export function Actions({ endpoint: { id, enabled }, onDone }: ActProps) {
  return (
    <>
      {enabled && (
        <Ask name="Send a test" mutation={TestWebhook} input={{ id }} onDone={onDone}>
          The endpoint gets the event <code>webhook_endpoint.tested</code>, whatever its types are.
        </Ask>
      )}
      <ActionButton
        name="Rotate the secret"
        withKey
        mutation={RotateSecret}
        read={() => ({ id })}
        after={({ rotateWebhookSecret: { webhookEndpoint } }) => (
          <NewSecret label="The new secret." name="secret" secret={webhookEndpoint.secret} />
        )}
      >
        <p className="hint">For 24 hours deliveries are signed with both secrets.</p>
      </ActionButton>
      <Ask
        name={enabled ? 'Disable' : 'Enable'}
        title={enabled ? 'Disable the endpoint' : 'Enable the endpoint'}
        danger={enabled}
        mutation={UpdateWebhook}
        input={{ id, enabled: !enabled }}
        onDone={onDone}
      >
        {enabled ? 'It gets no events until it is enabled again.' : 'It gets new events, and those that are pending.'}
      </Ask>
    </>
  );
}

interface SendAgainProps extends ActProps {
  delivery: { id: string; eventType: string };
}

/** Sends what was delivered, or failed to be, once more. */
export function SendAgain({ endpoint: { id }, delivery, onDone }: SendAgainProps) {
  return (
    <Ask name="Send again" small mutation={Redeliver} input={{ id, deliveryId: delivery.id }} onDone={onDone}>
      The endpoint gets <code>{delivery.eventType}</code> once more, with the same id.
    </Ask>
  );
}

interface AskProps<Input> {
  name: string;
  title?: string;
  danger?: boolean;
  small?: boolean;
  mutation: TypedDocumentNode<unknown, { input: Input }>;
  input: Input;
  onDone: () => void;
  children: ReactNode;
}

/** A button for one thing that takes a key, and nothing else. */
function Ask<Input>({ input, children, ...action }: AskProps<Input>) {
  return (
    <ActionButton withKey read={() => input} {...action}>
      <p className="hint">{children}</p>
    </ActionButton>
  );
}
