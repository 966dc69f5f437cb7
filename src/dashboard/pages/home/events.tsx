import { eventWords, formatAge, useTimes } from '../../format';
import { graphql, useLive } from '../../graph';
import { Card, Empty, ObjectLink, Pending } from '../../parts';

const LatestEventsQuery = graphql(`
  query LatestEvents($type: [String!]) {
    events(first: 8, type: $type) { nodes { id type created objectId } }
  }
`);

/** The events about money and accounts. Those about sessions, keys and webhooks are for developers. */
const types = [
  'account.activated',
  'account.hold',
  'checkout.completed',
  'checkout.late_payment',
  'deposit.completed',
  'deposit.disputed',
  'deposit.failed',
  'deposit.processing',
  'deposit.reconciled',
  'deposit.reversed',
  'payout.blocked',
  'payout.completed',
  'payout.failed',
  'payout.processing',
  'receivable.created',
  'receivable.voided',
];

/** What happened last, newest first. */
export function Events() {
  const result = useLive(LatestEventsQuery, { type: types }, { seconds: 5 });
  const time = useTimes();
  const events = result.data?.events.nodes;
  return (
    <Card title="Latest events">
      {!events && <Pending result={result} lines={6} />}
      {events?.length === 0 && (
        <Empty title="Nothing has happened yet">
          <p>Payments, reconciliations and payouts appear here as they happen.</p>
        </Empty>
      )}
      <ol className="events">
        {events?.map(({ id, type, created, objectId }) => (
          <li key={id}>
            <ObjectLink id={objectId}>{eventWords(type)}</ObjectLink>
            <time dateTime={created} title={time(created, 'full')}>
              {formatAge(created)}
            </time>
          </li>
        ))}
      </ol>
    </Card>
  );
}
