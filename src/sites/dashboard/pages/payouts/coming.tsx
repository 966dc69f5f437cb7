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
import { nameOf, NameFragment, useSession } from '../../session';

const ComingQuery = graphql(
  `
    query ComingPayouts {
      viewer { now }
      accounts(filter: { type: [USER, PLATFORM], status: [ACTIVATED] }, first: 25) {
        nodes {
          id type status statusSince ...Name nextPayoutAt
          payoutsBlockedBy { reasonCode currency }
          setting { id payouts { interval } }
          balance { available { amount currency } }
        }
        pageInfo { hasNextPage }
      }
      stopped: accounts(filter: { type: [USER, PLATFORM], status: [DRAFT, VERIFYING, HOLD, DEACTIVATED] }, first: 25) {
        nodes {
          id type status statusSince ...Name
          payoutsBlockedBy { reasonCode currency }
          balance { available { amount currency } pending { amount currency } }
        }
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
  /** Accounts that are paid nothing because of their status. */
  stopped: NonNullable<Answer['stopped']>['nodes'];
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
            {(payouts) => (
              <Week {...{ accounts, payouts, stopped: data?.stopped?.nodes ?? [], now: data?.viewer.now ?? '' }} />
            )}
          </Part>
        )}
      </Part>
    </Answered>
  );
}

function Week({ accounts, payouts, stopped, now }: Lists & { now: string }) {
  const timeZone = useTimeZone();
  const entries = entriesOf({ accounts, payouts });
  const { id: own } = useSession().viewer.account;
  const week = Array.from({ length: days }, (_, i) => dayBefore(now, timeZone, -i));
  const later = entries.filter(({ at }) => dayOf(at, timeZone) > week.at(-1)!);
  const hasMoney = (money: readonly Amount[] = []) => money.some(({ amount }) => hundredths(amount) > 0n);
  const blocked = [
    // A platform without money of its own has nothing to pay out.
    ...accounts.nodes.filter(({ type, balance }) => type !== 'PLATFORM' || hasMoney(balance?.available)),
    ...stopped.filter(({ id, balance }) => id === own || hasMoney(balance?.available) || hasMoney(balance?.pending)),
  ].flatMap((account) => account.payoutsBlockedBy.map((obstacle) => ({ account, obstacle })));
  return (
    <Card title="Coming" className="coming">
      <ol className="week">
        {week.map((day, i) => (
          <Day key={day} day={day} today={i === 0} entries={entries.filter(({ at }) => dayOf(at, timeZone) === day)} />
        ))}
      </ol>
      {entries.length === later.length && <p className="hint week-note">Nothing is due in these seven days.</p>}
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

function entriesOf({ accounts, payouts }: Pick<Lists, 'accounts' | 'payouts'>): Entry[] {
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

interface BlockedProps {
  account: Parameters<typeof nameOf>[0] & { status: string; statusSince: string | null };
  obstacle: Obstacle;
}

function Blocked({ account, obstacle }: BlockedProps) {
  const time = useTimes();
  const { status, statusSince } = account;
  return (
    <p className="note">
      <ObjectLink id={account.id}>{nameOf(account)}</ObjectLink>:{' '}
      {obstacleWords(obstacle, { status, since: statusSince && time(statusSince, 'day') })}
    </p>
  );
}
