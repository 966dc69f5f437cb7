import { Link } from 'wouter';
import { useTimes } from '../../format/time';
import { eventWords } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { Empty } from '../../parts/empty';
import { FilterBar } from '../../parts/filter-bar';
import { ClearFilters, useFilters } from '../../parts/filters';
import { Json } from '../../parts/json';
import { List } from '../../parts/list';
import { Page } from '../../parts/page';
import { TextFilter } from '../../parts/text-filter';

const EventsQuery = graphql(`
  query Events($after: ID, $type: [String!], $objectId: ID) {
    events(first: 25, after: $after, scope: DESCENDANTS, filter: { types: $type, objectId: $objectId }) {
      nodes { id created type number objectId requestId object }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

type Event = RowOf<ResultOf<typeof EventsQuery>['events']>;

/** The events with the objects that they carry, as webhooks and streams send them. */
export function Events() {
  const { params } = useFilters();
  const type = params.get('type');
  const result = useLive(
    EventsQuery,
    { after: params.get('after'), type: type ? [type] : null, objectId: params.get('object') },
    { seconds: 5 },
  );
  const page = result.data?.events;
  return (
    <Page title="Events" subtitle={<p className="subtitle">What webhooks and streams send.</p>}>
      <FilterBar>
        <TextFilter
          label="Type"
          name="type"
          placeholder="deposit.completed"
          suggestions={[...new Set(page?.nodes.map((row) => row.type))].sort()}
        />
        <TextFilter label="Object ID" name="object" placeholder="deposit_…" />
      </FilterBar>
      <List
        label="Events"
        result={result}
        page={page}
        draw={(rows) => (
          <ul className="disclosures" aria-label="Events">
            {rows.map((event) => (
              <Payload key={event.id} event={event} />
            ))}
          </ul>
        )}
        empty={
          <Empty title={params.size > 0 ? 'No event matches' : 'No events yet'}>
            <p>
              {params.size > 0
                ? 'Choose another type or object.'
                : 'Everything that happens to the objects of this account appears here.'}
            </p>
            <ClearFilters />
          </Empty>
        }
      />
    </Page>
  );
}

function Payload({ event }: { event: Event }) {
  const time = useTimes();
  const { id, type, created, number, objectId, requestId, object } = event;
  return (
    <li>
      <details>
        <summary>
          <span className="two-lines">
            <strong>{eventWords(type, object)}</strong>
            <code>{type}</code>
          </span>
          <time className="hint" dateTime={created}>
            {time(created, 'seconds')}
          </time>
        </summary>
        <p className="hint">
          Event {number} · {objectId}
          {requestId && (
            <>
              {' · '}
              <Link href={`/developers?id=${requestId}`}>the request that caused it</Link>
            </>
          )}
        </p>
        <Json value={{ id, type, created, object }} label={`The event ${number}`} />
      </details>
    </li>
  );
}
