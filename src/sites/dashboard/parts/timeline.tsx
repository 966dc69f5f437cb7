import { changeWords } from '../format/changes';
import { useTimes } from '../format/time';
import { matchedWords } from '../format/words';
import { graphql, type ResultOf } from '../graph/graphql';
import { useLive } from '../graph/live';
import type { RowOf } from '../graph/pages';
import { nameOf, NameFragment } from '../session';
import { Card } from './page';
import { Answered, Part } from './part';

const TimelineQuery = graphql(
  `
    query Timeline($objectId: ID!, $accountId: ID) {
      events(filter: { objectId: $objectId, accountId: $accountId }, first: 21) {
        nodes { id type created object matchReasons customer { ...Name } }
      }
    }
  `,
  [NameFragment],
);
type Event = RowOf<ResultOf<typeof TimelineQuery>['events']>;

/** How many events are shown. */
const shown = 20;

/** Something that happened to an object, in words. */
export interface Happening {
  id: string;
  text: string;
  created: string;
}

interface TimelineProps {
  objectId: string;
  /** The account that the object is about. Null where the viewer does not see it. */
  account: { id: string; type: string; owner: { id: string } | null } | null;
  /** What happened to objects that belong to it. */
  more?: readonly Happening[];
}

/**
 * What happened to an object, newest first. What happens to a partner is on the list of its owner. The list is named,
 * because a platform's own list has nothing of its users' partners.
 */
export function Timeline({ objectId, account, more = [] }: TimelineProps) {
  const listed = account?.type === 'PARTNER' ? account.owner : account;
  const result = useLive(TimelineQuery, { objectId, accountId: listed?.id ?? null });
  const time = useTimes();
  return (
    <Answered answer={result}>
      <Card title="Timeline">
        <Part value={result.data?.events} field="events">
          {({ nodes }) => {
            const events = nodes
              // Each event but the first of an object says what changed since the one before it.
              .map((event, i) => ({ ...event, before: nodes[i + 1] }))
              .slice(0, shown)
              // The dispute of the same second says it with its amount.
              .filter(
                ({ type, created }) => type !== 'deposit.disputed' || more.every((each) => each.created !== created),
              )
              .map((event) => ({ id: event.id, text: textOf(event, event.before), created: event.created }));
            const all = [...more, ...events].sort((one, other) => Date.parse(other.created) - Date.parse(one.created));
            return (
              <>
                {all.length === 0 && <p className="hint">Nothing has been recorded yet.</p>}
                <ol className="timeline">
                  {all.map(({ id, text, created }) => (
                    <li key={id}>
                      <span>{text}</span>
                      <time dateTime={created} title={time(created, 'full')}>
                        {time(created)}
                      </time>
                    </li>
                  ))}
                </ol>
              </>
            );
          }}
        </Part>
      </Card>
    </Answered>
  );
}

/** What an event says, beside the event before it of the same object. */
function textOf({ type, object, matchReasons, customer }: Event, before: Event | undefined): string {
  if (matchReasons) return matchedWords(matchReasons);
  const customers = { now: partyOf(customer), past: partyOf(before?.customer) };
  return changeWords(type, object, before?.object, customers);
}

const partyOf = (account: Event['customer'] | undefined) =>
  account ? { id: account.id, name: nameOf(account) } : null;
