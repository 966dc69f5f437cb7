import { useState } from 'react';
import { useTimes } from '../../format/time';
import { graphql } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { useWrite } from '../../graph/write';
import { Dialog } from '../../parts/dialog';
import { Empty } from '../../parts/empty';
import { Copy } from '../../parts/facts';
import { Field } from '../../parts/field';
import { Pager, useFilters } from '../../parts/filters';
import { KeyForm, NewSecret } from '../../parts/key-form';
import { Page } from '../../parts/page';
import { Problem } from '../../parts/problem';
import { Lines } from '../../parts/skeleton';
import { Status } from '../../parts/status';
import { Table } from '../../parts/table';
import { useMayWrite, useSession } from '../../session';

const WebhooksQuery = graphql(`
  query Webhooks($after: ID) {
    webhookEndpoints(first: 25, after: $after) {
      nodes {
        id
        created
        url
        eventTypes
        description
        enabled
        failingSince
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const CreateWebhook = graphql(`
  mutation CreateWebhook($input: CreateWebhookEndpointInput!) {
    createWebhookEndpoint(input: $input) {
      webhookEndpoint {
        id
        secret
      }
    }
  }
`);

/** The addresses that events are sent to. */
export function Webhooks() {
  const { params } = useFilters();
  const { data, error, ask } = useLive(WebhooksQuery, { after: params.get('after') }, { untold: true });
  const [creating, setCreating] = useState(false);
  const mayWrite = useMayWrite();
  const time = useTimes();
  const rows = data?.webhookEndpoints.nodes;
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
      {error && !data && <Problem error={error} onRetry={ask} />}
      {!rows && !error && <Lines count={6} />}
      {rows && rows.length > 0 && (
        <Table
          label="Webhook endpoints"
          rows={rows}
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
            { head: 'Created', cell: ({ created }) => time(created, 'date') },
            { head: 'Status', cell: (endpoint) => <Status value={statusOf(endpoint)} />, end: true },
          ]}
        />
      )}
      {rows?.length === 0 && (
        <Empty title="No endpoints yet">
          <p>Add the address of your server, and it gets each event by a signed request.</p>
          <a className="button" href="/docs/webhooks">
            Read about webhooks
          </a>
        </Empty>
      )}
      {data && <Pager pageInfo={data.webhookEndpoints.pageInfo} />}
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

function Create({ onClose }: { onClose: () => void }) {
  const { viewer } = useSession();
  const { write, pending, failure } = useWrite(CreateWebhook);
  const [secret, setSecret] = useState<string | null>();
  const create = async (form: FormData, apiKey: string) => {
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const eventTypes = text('types')
      .split(/[\s,]+/)
      .filter(Boolean);
    const input = {
      accountId: viewer.account.id,
      url: text('url'),
      eventTypes,
      description: text('description') || null,
      ...(form.has('connected') && { connected: true }),
    };
    const data = await write({ input }, apiKey);
    if (data) setSecret(data.createWebhookEndpoint.webhookEndpoint.secret);
  };
  return (
    <Dialog title="Add an endpoint" onClose={onClose}>
      {secret ? (
        <>
          <NewSecret label="The secret that verifies the signatures.">
            <Copy text={secret} label="the secret" />
          </NewSecret>
          <button type="button" className="button" onClick={onClose}>
            Done
          </button>
        </>
      ) : (
        <KeyForm submit="Add the endpoint" pending={pending} failure={failure} onSubmit={create}>
          <Field label="Address" hint="HTTPS; in test mode on a local gateway also an address of this machine.">
            {(input) => <input {...input} name="url" type="url" placeholder="https://example.com/hooks" autoFocus />}
          </Field>
          <Field label="Events" hint="Types such as deposit.completed, deposit.* for an object, or * for all.">
            {(input) => <input {...input} name="types" defaultValue="*" spellCheck={false} />}
          </Field>
          <Field label="Description">{(input) => <input {...input} name="description" maxLength={200} />}</Field>
          {viewer.account.type === 'PLATFORM' && (
            <label className="check">
              <input type="checkbox" name="connected" /> Also the events of connected users
            </label>
          )}
        </KeyForm>
      )}
    </Dialog>
  );
}
