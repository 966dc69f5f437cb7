import { formatAge, useTimes } from '../../format/time';
import { eventWords } from '../../format/words';
import { graphql } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Empty } from '../../parts/empty';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card } from '../../parts/page';
import { Pending } from '../../parts/problem';

const LatestEventsQuery = graphql(`
  query LatestEvents($type: [String!]) {
    events(first: 8, filter: { types: $type }) { nodes { id type created objectId object } }
  }
`);

/** The events about money and accounts. Those about sessions, keys and webhooks are for developers. */
const types = [
  'account.activated',
  'account.hold',
  'checkout.completed',
  'checkout.late_payment',
  'deposit.completed',
  'deposit.failed',
  'deposit.processing',
  'deposit.reconciled',
  'deposit.reversed',
  'dispute.accepted',
  'dispute.lost',
  'dispute.opened',
  'dispute.responded',
  'dispute.won',
  'payment.completed',
  'payout.blocked',
  'payout.completed',
  'payout.failed',
  'payout.processing',
  'payout.returned',
  'receivable.created',
  'receivable.voided',
  'refund.created',
  'refund.failed',
  'refund.succeeded',
];

/** The members of an object of /v1 that say which one it is. */
interface Described {
  nickname?: string | null;
  amount?: string;
  currency?: string;
  invoice?: { reference_number: string; amount: string; currency: string };
  /** Of a refund or a dispute. */
  deposit_id?: string | null;
}

interface About {
  name?: string | null | undefined;
  money?: { amount: string; currency: string };
  /** The object whose page shows it, where that is another one. */
  page?: string | null | undefined;
}

/** What an event is about: the name of an account, the number of an invoice, how much money. */
function about(object: unknown): About {
  const { nickname, amount, currency, invoice, deposit_id: page } = object as Described;
  if (invoice) return { name: invoice.reference_number, money: invoice };
  return amount && currency ? { money: { amount, currency }, page } : { name: nickname };
}

/** What happened last, newest first. */
export function Events() {
  const result = useLive(LatestEventsQuery, { type: types }, { seconds: 5 });
  const time = useTimes();
  const events = result.data?.events?.nodes;
  return (
    <Card title="Latest events">
      {!events && <Pending result={result} lines={6} />}
      {events?.length === 0 && (
        <Empty title="Nothing has happened yet">
          <p>Payments, reconciliations and payouts appear here as they happen.</p>
        </Empty>
      )}
      <ol className="events">
        {events?.map(({ id, type, created, objectId, object }) => {
          const { name, money, page } = about(object);
          return (
            <li key={id}>
              <span className="event-what">
                <ObjectLink id={page ?? objectId}>{eventWords(type, object)}</ObjectLink>
                <span className="hint">
                  {name && `${name} · `}
                  <time dateTime={created} title={time(created, 'full')}>
                    {formatAge(created)}
                  </time>
                </span>
              </span>
              {money && <Money {...money} />}
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
