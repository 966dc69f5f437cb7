import { useTimes } from '../../format/time';
import { words } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { sent } from '../../graph/sent';
import { Empty } from '../../parts/empty';
import { Copy, Facts } from '../../parts/facts';
import { Choice } from '../../parts/chips';
import { useFilters } from '../../parts/filters';
import { Pager } from '../../parts/pager';
import { Loaded } from '../../parts/loaded';
import { Card, Page } from '../../parts/page';
import { Part } from '../../parts/part';
import { Status } from '../../parts/status';
import { Actions, SendAgain } from './webhook-actions';
import { eventTypesIn, statusOf } from './webhooks';

const WebhookQuery = graphql(`
  query Webhook($id: ID!, $after: ID, $status: [WebhookDeliveryStatus!]) {
    webhookEndpoint(id: $id) {
      id created url eventTypes description scope enabled disabledReason failingSince
      deliveries(first: 15, after: $after, filter: { status: $status }) {
        nodes {
          id created eventId eventType status nextAttemptAt
          attempts { startedAt durationMilliseconds status error response }
        }
        pageInfo { hasNextPage endCursor }
      }
      unanswered: deliveries(first: 5, filter: { status: [PENDING, FAILED] }) {
        nodes { nextAttemptAt attempts { startedAt status error } }
      }
    }
  }
`);

type Endpoint = NonNullable<ResultOf<typeof WebhookQuery>['webhookEndpoint']>;
type Delivery = RowOf<Endpoint['deliveries']>;

const statuses = ['PENDING', 'SUCCEEDED', 'FAILED'] as const;

/** One endpoint, with what was sent to it. */
export function Webhook({ params }: { params: { id: string } }) {
  const { params: filters, one } = useFilters();
  const status = one('status', statuses);
  const result = useLive(
    WebhookQuery,
    sent({ id: params.id, after: filters.get('after'), status: status && [status] }),
    { seconds: 3, withoutEvents: true },
  );
  return (
    <Loaded result={result} of={({ webhookEndpoint }) => webhookEndpoint}>
      {(endpoint) => <WebhookPage endpoint={endpoint} ask={result.ask} />}
    </Loaded>
  );
}

function WebhookPage({ endpoint, ask }: { endpoint: Endpoint; ask: () => void }) {
  return (
    <Page
      title={endpoint.url}
      back={{ href: '/developers/webhooks', name: 'Webhooks' }}
      subtitle={
        <p className="amount-line">
          <Status value={statusOf(endpoint)} />
        </p>
      }
      actions={<Actions endpoint={endpoint} onDone={ask} />}
    >
      <Failing endpoint={endpoint} />
      <div className="detail">
        <Card title="Deliveries" action={<Choice label="Status" name="status" values={statuses} />}>
          <Part value={endpoint.deliveries} field="webhookEndpoint.deliveries">
            {({ nodes, pageInfo }) => (
              <>
                <Deliveries endpoint={endpoint} rows={nodes} onDone={endpoint.enabled ? ask : undefined} />
                <Pager pageInfo={pageInfo} />
              </>
            )}
          </Part>
        </Card>
        <About endpoint={endpoint} />
      </div>
    </Page>
  );
}

/** Why the deliveries of an endpoint fail: the newest attempt that did, and when it is tried again. */
function Failing({ endpoint: { failingSince, unanswered } }: { endpoint: Endpoint }) {
  const time = useTimes();
  const failed = unanswered?.nodes.flatMap(({ nextAttemptAt, attempts }) =>
    attempts.flatMap(({ error, ...attempt }) => (error === null ? [] : [{ ...attempt, error, nextAttemptAt }])),
  );
  const last = failed?.toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))[0];
  if (!failingSince || !last) return null;
  const { startedAt, status, error, nextAttemptAt } = last;
  return (
    <p className="note failing">
      Deliveries have failed since {time(failingSince)}. The last one, {time(startedAt, 'seconds')}:{' '}
      <strong>{error}</strong>
      {status !== null && ` (${status})`}.{nextAttemptAt && ` Next attempt ${time(nextAttemptAt, 'seconds')}.`}
    </p>
  );
}

function About({ endpoint }: { endpoint: Endpoint }) {
  const time = useTimes();
  const { id, created, eventTypes, description, scope, disabledReason, failingSince } = endpoint;
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['Events', eventTypesIn(eventTypes)],
          ['Connected users', scope === 'DESCENDANTS' ? 'Their events, too' : null],
          ['Description', description],
          ['Disabled', disabledReason && words(disabledReason)],
          ['Failing since', failingSince && time(failingSince)],
          ['Created', <time dateTime={created}>{time(created)}</time>],
          ['ID', <Copy text={id} label="the id" />],
        ]}
      />
    </Card>
  );
}

interface DeliveriesProps {
  endpoint: Endpoint;
  rows: readonly Delivery[];
  /** Called when one was sent again; without it none can be. */
  onDone: (() => void) | undefined;
}

function Deliveries({ endpoint, rows, onDone }: DeliveriesProps) {
  const time = useTimes();
  if (rows.length === 0) {
    return (
      <Empty title="Nothing was sent">
        <p>What is sent appears here: each event, and each test.</p>
      </Empty>
    );
  }
  return (
    <ul className="disclosures" aria-label="Deliveries">
      {rows.map((delivery) => (
        <li key={delivery.id}>
          <details>
            <summary>
              <span className="two-lines">
                <code>{delivery.eventType}</code>
                <time className="hint" dateTime={delivery.created}>
                  {time(delivery.created, 'seconds')}
                </time>
              </span>
              <Status value={delivery.status} />
            </summary>
            <Attempts delivery={delivery} />
            {onDone && <SendAgain {...{ endpoint, delivery, onDone }} />}
          </details>
        </li>
      ))}
    </ul>
  );
}

function Attempts({ delivery: { attempts, nextAttemptAt, eventId } }: { delivery: Delivery }) {
  const time = useTimes();
  return (
    <>
      <p className="hint">
        {eventId}
        {nextAttemptAt && ` · next attempt ${time(nextAttemptAt, 'seconds')}`}
      </p>
      <ol className="attempts">
        {attempts.map(({ startedAt, durationMilliseconds, status, error, response }, i) => (
          <li key={i}>
            <p>
              <Status value={error === null ? 'SUCCEEDED' : 'FAILED'} /> {status !== null && <code>{status}</code>}{' '}
              <span className="hint">
                {time(startedAt, 'seconds')} · {durationMilliseconds.toLocaleString()} ms
              </span>
            </p>
            {error !== null && <p className="field-error">{error}</p>}
            {response && <pre>{response}</pre>}
          </li>
        ))}
      </ol>
    </>
  );
}
