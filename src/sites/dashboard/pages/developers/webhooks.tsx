import { useTimes } from '../../format/time';
import { graphql } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { sent } from '../../graph/sent';
import { ActionButton, NewSecret } from '../../parts/action';
import { stateColumn, Two } from '../../parts/cells';
import { Empty } from '../../parts/empty';
import { useFilters } from '../../parts/filters';
import { TextField } from '../../parts/form';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import { useSession } from '../../session';

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
  const result = useLive(WebhooksQuery, { after: params.get('after') }, { withoutEvents: true });
  const time = useTimes();
  return (
    <Page title="Webhooks" actions={<Create />}>
      <List
        label="Webhook endpoints"
        result={result}
        page={result.data?.webhookEndpoints}
        href={({ id }) => `/developers/webhooks/${id}`}
        columns={[
          {
            head: 'Endpoint',
            cell: ({ url, description }) => <Two hint={description}>{url}</Two>,
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

function Create() {
  const { viewer } = useSession();
  return (
    <ActionButton
      name="Add an endpoint"
      primary
      submit="Add the endpoint"
      withKey
      mutation={CreateWebhook}
      read={({ url = '', eventTypes = '', description, connected }: Asked) => ({
        ...sent({ accountId: viewer.account.id, url, description }),
        eventTypes: eventTypes.split(/[\s,]+/).filter(Boolean),
        ...(connected && { scope: 'DESCENDANTS' as const }),
      })}
      after={({ createWebhookEndpoint: { webhookEndpoint } }) => (
        <NewSecret label="The secret that verifies the signatures." name="secret" secret={webhookEndpoint.secret} />
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
    </ActionButton>
  );
}
