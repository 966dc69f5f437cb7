import { useTimes } from '../format/time';
import { eventWords } from '../format/words';
import { graphql } from '../graph/graphql';
import { useLive } from '../graph/live';
import { Card } from './page';
import { Answered, Part } from './part';

const TimelineQuery = graphql(`
  query Timeline($objectId: ID!, $accountId: ID) {
    events(objectId: $objectId, accountId: $accountId, first: 20) { nodes { id type created } }
  }
`);

interface TimelineProps {
  objectId: string;
  /** The account that the object is about. Null where the viewer does not see it. */
  account: { id: string; type: string; owner: { id: string } | null } | null;
}

/**
 * What happened to an object, newest first. What happens to a partner is on the list of its owner. The list is named,
 * because a platform's own list has nothing of its users' partners.
 */
export function Timeline({ objectId, account }: TimelineProps) {
  const listed = account?.type === 'PARTNER' ? account.owner : account;
  const result = useLive(TimelineQuery, { objectId, accountId: listed?.id ?? null });
  const time = useTimes();
  return (
    <Answered answer={result}>
      <Card title="Timeline">
        <Part value={result.data?.events} field="events">
          {({ nodes }) => (
            <>
              {nodes.length === 0 && <p className="hint">Nothing has been recorded yet.</p>}
              <ol className="timeline">
                {nodes.map(({ id, type, created }) => (
                  <li key={id}>
                    <span>{eventWords(type)}</span>
                    <time dateTime={created} title={time(created, 'full')}>
                      {time(created)}
                    </time>
                  </li>
                ))}
              </ol>
            </>
          )}
        </Part>
      </Card>
    </Answered>
  );
}
