import { dayBefore, dayOf } from '../../format/days';
import { hundredths, type Money as Amount } from '../../format/money';
import { type Obstacle, obstacleWords } from '../../format/obstacles';
import { useTimeZone } from '../../format/preferences';
import { formatDay, useTimes } from '../../format/time';
import { words } from '../../format/words';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card } from '../../parts/page';
import { Answered, Part } from '../../parts/part';
import { nameOf, NameFragment } from '../../session';

const ComingQuery = graphql(
  `
    query ComingPayouts {
      viewer { now }
      accounts(filter: { type: [USER, PLATFORM], status: [ACTIVATED] }, first: 25) {
        nodes {
          id type ...Name nextPayoutAt
          payoutsBlockedBy { reasonCode currency }
          setting { id payouts { interval } }
          balance { available { amount currency } }
        }
        pageInfo { hasNextPage }
      }
      payouts(filter: { status: [PROCESSING] }, first: 25) {
        nodes {
          id amount currency expectedArrivalAt
          account { ...Name }
        }
      }
    }
  `,
  [NameFragment],
);

type Answer = ResultOf<typeof ComingQuery>;

/** The lists from which the week is made. */
interface Lists {
  accounts: NonNullable<Answer['accounts']>;
  payouts: NonNullable<Answer['payouts']>;
}

/** Money that is to be sent or to arrive at a time. */
interface Entry {
  id: string;
  at: string;
  name: string;
  what: string;
  money: readonly Amount[];
}

/** How many days the calendar has. */
const days = 7;

/** A week of what will be paid out and what will arrive, and why other money will not be. */
export function Coming() {
  const result = useLive(ComingQuery, {});
  const { data } = result;
  return (
    <Answered answer={result}>
      <Part value={data?.accounts} field="accounts" title="Coming" lines={4}>
        {(accounts) => (
          <Part value={data?.payouts} field="payouts" title="Coming" lines={4}>
            {(payouts) => <Week accounts={accounts} payouts={payouts} now={data?.viewer.now ?? ''} />}
          </Part>
        )}
      </Part>
    </Answered>
  );
}

function Week({ accounts, payouts, now }: Lists & { now: string }) {
  const timeZone = useTimeZone();
  const entries = entriesOf({ accounts, payouts });
  const week = Array.from({ length: days }, (_, i) => dayBefore(now, timeZone, -i));
  const later = entries.filter(({ at }) => dayOf(at, timeZone) > week.at(-1)!);
  const blocked = accounts.nodes
    // A platform without money of its own has nothing to pay out.
    .filter(
      ({ type, balance }) => type !== 'PLATFORM' || balance?.available.some(({ amount }) => hundredths(amount) > 0n),
    )
    .flatMap((account) => account.payoutsBlockedBy.map((obstacle) => ({ account, obstacle })));
  return (
    <Card title="Coming" className="coming">
      <ol className="week">
        {week.map((day, i) => (
          <Day key={day} day={day} today={i === 0} entries={entries.filter(({ at }) => dayOf(at, timeZone) === day)} />
        ))}
      </ol>
      {later.length > 0 && (
        <ul className="coming-later">
          {later.map((entry) => (
            <li key={entry.id}>
              <span>{formatDay(dayOf(entry.at, timeZone))}</span>
              <EntryLine entry={entry} />
            </li>
          ))}
        </ul>
      )}
      {accounts.pageInfo.hasNextPage && <p className="hint">The next payouts of the 25 newest accounts are shown.</p>}
      {blocked.map(({ account, obstacle }) => (
        <Blocked key={`${account.id} ${obstacle.reasonCode} ${obstacle.currency}`} {...{ account, obstacle }} />
      ))}
    </Card>
  );
}

function entriesOf({ accounts, payouts }: Lists): Entry[] {
  const arrivals = payouts.nodes.flatMap(({ id, amount, currency, expectedArrivalAt, account }) =>
    expectedArrivalAt
      ? [{ id, at: expectedArrivalAt, name: nameOf(account), what: 'Arrives', money: [{ amount, currency }] }]
      : [],
  );
  const next = accounts.nodes.flatMap(({ nextPayoutAt, balance, setting, ...account }) =>
    nextPayoutAt
      ? [
          {
            id: account.id,
            at: nextPayoutAt,
            name: nameOf(account),
            what: `${words(setting.payouts.interval)} payout`,
            money: balance?.available.filter(({ amount }) => hundredths(amount) > 0n) ?? [],
          },
        ]
      : [],
  );
  return [...arrivals, ...next].sort((a, b) => a.at.localeCompare(b.at));
}

function Day({ day, today, entries }: { day: string; today: boolean; entries: Entry[] }) {
  return (
    <li data-today={today} data-empty={entries.length === 0}>
      <p className="week-day">
        <time dateTime={day}>{formatDay(day, 'weekday')}</time>
        {today && <span className="unseen"> today</span>}
      </p>
      {entries.map((entry) => (
        <EntryLine key={entry.id} entry={entry} />
      ))}
      {entries.length === 0 && <span className="unseen">Nothing</span>}
    </li>
  );
}

function EntryLine({ entry: { id, at, name, what, money } }: { entry: Entry }) {
  const time = useTimes();
  return (
    <span className="coming-entry">
      <ObjectLink id={id}>{name}</ObjectLink>
      {money.map((each) => (
        <strong key={each.currency}>
          <Money {...each} />
        </strong>
      ))}
      <span className="hint">
        {what}
        {money.length === 0 && ' of what is available then'}, <span className="line">{time(at, 'hour')}</span>
      </span>
    </span>
  );
}

function Blocked({ account, obstacle }: { account: Parameters<typeof nameOf>[0]; obstacle: Obstacle }) {
  return (
    <p className="note">
      <ObjectLink id={account.id}>{nameOf(account)}</ObjectLink>: {obstacleWords(obstacle)}
    </p>
  );
}
