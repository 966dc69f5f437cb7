import { formatAge, useTimes } from '../../format/time';
import { counted, eventWords } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import type { RowOf } from '../../graph/pages';
import { PayerFragment, payerOf } from '../../graph/payer';
import { Empty } from '../../parts/empty';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card } from '../../parts/page';
import { Pending } from '../../parts/problem';
import { nameOf, NameFragment, useSession } from '../../session';

const LatestEventsQuery = graphql(
  `
    query LatestEvents($type: [String!]) {
      events(first: 24, scope: DESCENDANTS, filter: { types: $type }) {
        nodes {
          id type created objectId object
          account { ...Name }
          subject {
            ... on Deposit {
              id ...Payer
              receivables { id invoice { referenceNumber } }
            }
          }
        }
      }
    }
  `,
  [NameFragment, PayerFragment],
);

type Event = RowOf<ResultOf<typeof LatestEventsQuery>['events']>;

/** How many objects are shown to which something has happened. */
const shown = 8;

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

/** The last event of each object, since the others are the way to it. */
const lastOfEach = (events: readonly Event[]) =>
  events.filter(({ objectId }, i) => events.findIndex((each) => each.objectId === objectId) === i).slice(0, shown);

/** What an event says: of a payment, who has made it. */
function sentenceOf({ type, object, subject }: Event): string {
  const { amount = '' } = object as Described;
  const told = eventWords(type, object);
  if (!subject || !('fromAccount' in subject) || amount.startsWith('-')) return told;
  const payer = payerOf(subject, 'An unknown payer');
  return type === 'deposit.completed' || type === 'deposit.reconciled' ? `${payer} paid` : `${told}: ${payer}`;
}

/** Towards which invoices a payment counts. */
function matchedWith({ subject }: Event): string | undefined {
  const numbers =
    subject && 'receivables' in subject ? subject.receivables.map((each) => each.invoice.referenceNumber) : [];
  if (numbers.length === 0) return undefined;
  return `matched with ${numbers.length > 2 ? counted(numbers.length, 'invoice') : numbers.join(' and ')}`;
}

/** What happened last, newest first. */
export function Events() {
  const { viewer } = useSession();
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
        {events &&
          lastOfEach(events).map((event) => {
            const { id, created, objectId, object, account } = event;
            const { name, money, page } = about(object);
            const owner = account.id === viewer.account.id || account.id === objectId ? undefined : nameOf(account);
            return (
              <li key={id}>
                <span className="event-what">
                  <ObjectLink id={page ?? objectId}>{sentenceOf(event)}</ObjectLink>
                  <span className="hint">
                    {[name, owner, matchedWith(event)].map((each) => each && `${each} · `)}
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
