import { eventWords, useTimes } from '../format';
import { graphql, useLive } from '../graph';
import { Card } from './page';
import { Problem } from './problem';
import { Lines } from './skeleton';

const TimelineQuery = graphql(`
  query Timeline($objectId: ID!) {
    events(objectId: $objectId, first: 20) { nodes { id type created } }
  }
`);

/** What happened to an object, newest first. */
export function Timeline({ objectId }: { objectId: string }) {
  const { data, error } = useLive(TimelineQuery, { objectId });
  const time = useTimes();
  return (
    <Card title="Timeline">
      {error && !data && <Problem error={error} />}
      {!data && !error && <Lines />}
      {data?.events.nodes.length === 0 && <p className="hint">Nothing has been recorded yet.</p>}
      <ol className="timeline">
        {data?.events.nodes.map(({ id, type, created }) => (
          <li key={id}>
            <span>{eventWords(type)}</span>
            <time dateTime={created} title={time(created, 'full')}>
              {time(created)}
            </time>
          </li>
        ))}
      </ol>
    </Card>
  );
}
