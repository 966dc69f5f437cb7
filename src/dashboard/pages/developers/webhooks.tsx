import { useState } from 'react';
import { useTimes } from '../../format';
import { graphql, useLive } from '../../graph';
import { ActionDialog, Copy, Empty, List, NewSecret, Page, stateColumn, TextField, useFilters } from '../../parts';
import { useMayWrite, useSession } from '../../session';

const WebhooksQuery = graphql(`
  query Webhooks($after: ID) {
    webhookEndpoints(first: 25, after: $after) {
      nodes { id created url eventTypes description enabled failingSince }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

const CreateWebhook = graphql(`
  mutation CreateWebhook($input: CreateWebhookEndpointInput!) {
    createWebhookEndpoint(input: $input) { webhookEndpoint { id secret } }
  }
`);

/** The addresses that events are sent to. */
export function Webhooks() {
  const { params } = useFilters();
  const result = useLive(WebhooksQuery, { after: params.get('after') }, { untold: true });
  const [creating, setCreating] = useState(false);
  const mayWrite = useMayWrite();
  const time = useTimes();
  return (
    <Page
      title="Webhooks"
      actions={
        mayWrite && (
          <button type="button" className="button primary" onClick={() => setCreating(true)}>
            Add an endpoint
          </button>
        )
      }
    >
      <List
        label="Webhook endpoints"
        result={result}
        page={result.data?.webhookEndpoints}
        href={({ id }) => `/developers/webhooks/${id}`}
        columns={[
          {
            head: 'Endpoint',
            cell: ({ url, description }) => (
              <span className="two-lines">
                <strong>{url}</strong>
                {description && <span className="hint">{description}</span>}
              </span>
            ),
          },
          { head: 'Events', cell: ({ eventTypes }) => eventTypesIn(eventTypes) },
          { head: 'Created', cell: ({ created }) => time(created, 'date'), line: true },
          stateColumn(statusOf, true),
        ]}
        empty={
          <Empty title="No endpoints yet">
            <p>An endpoint is the address of a server that gets each event by a signed request.</p>
            <a className="button" href="/docs/webhooks">
              Read about webhooks
            </a>
          </Empty>
        }
      />
      {creating && <Create onClose={() => setCreating(false)} />}
    </Page>
  );
}

/** Whether an endpoint gets events, and whether it has answered lately. */
export function statusOf({ enabled, failingSince }: { enabled: boolean; failingSince: string | null }): string {
  if (!enabled) return 'DISABLED';
  return failingSince ? 'FAILING' : 'ENABLED';
}

/** The types of events of an endpoint, in words. */
export const eventTypesIn = (types: readonly string[]) => (types.includes('*') ? 'All events' : types.join(', '));

interface Asked {
  url?: string;
  eventTypes?: string;
  description?: string;
  connected?: string;
}

function Create({ onClose }: { onClose: () => void }) {
  const { viewer } = useSession();
  return (
    <ActionDialog
      title="Add an endpoint"
      submit="Add the endpoint"
      withKey
      mutation={CreateWebhook}
      read={({ url = '', eventTypes = '', description, connected }: Asked) => ({
        ...{ accountId: viewer.account.id, url, description },
        eventTypes: eventTypes.split(/[\s,]+/).filter(Boolean),
        ...(connected && { connected: true }),
      })}
      onClose={onClose}
      after={({ createWebhookEndpoint: { webhookEndpoint } }) => (
        <NewSecret label="The secret that verifies the signatures.">
          <Copy text={webhookEndpoint.secret ?? ''} label="the secret" />
        </NewSecret>
      )}
    >
      <TextField
        name="url"
        label="Address"
        hint="HTTPS; in test mode on a local gateway also an address of this machine."
        type="url"
        placeholder="https://example.com/hooks"
        required
      />
      <TextField
        name="eventTypes"
        label="Events"
        hint="Types such as deposit.completed, deposit.* for an object, or * for all."
        defaultValue="*"
        required
        spellCheck={false}
      />
      <TextField name="description" label="Description" maxLength={200} />
      {viewer.account.type === 'PLATFORM' && (
        <label className="check">
          <input type="checkbox" name="connected" /> Also the events of connected users
        </label>
      )}
    </ActionDialog>
  );
}
