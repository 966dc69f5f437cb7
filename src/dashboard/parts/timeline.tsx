import { eventWords, useTimes } from '../format';
import { graphql, useLive } from '../graph';
import { Card } from './page';
import { Pending } from './problem';

const TimelineQuery = graphql(`
  query Timeline($objectId: ID!) {
    events(objectId: $objectId, first: 20) { nodes { id type created } }
  }
`);

/** What happened to an object, newest first. */
export function Timeline({ objectId }: { objectId: string }) {
  const result = useLive(TimelineQuery, { objectId });
  const { data } = result;
  const time = useTimes();
  return (
    <Card title="Timeline">
      {!data && <Pending result={result} lines={3} />}
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
