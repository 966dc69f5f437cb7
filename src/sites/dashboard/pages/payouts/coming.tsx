import { Link } from 'wouter';
import { dayBefore, dayOf } from '../../format/days';
import { currenciesOf, hundredths, type Money as Amount, sum } from '../../format/money';
import { type Obstacle, obstacleWords } from '../../format/obstacles';
import { useTimeZone } from '../../format/preferences';
import { formatDay, useTimes } from '../../format/time';
import { counted, words } from '../../format/words';
import { Money } from '../../parts/money';
import { ObjectLink } from '../../parts/object-link';
import { Card } from '../../parts/page';
import { Answered, Part } from '../../parts/part';
import { nameOf, useSession } from '../../session';
import { type Lists, useComing } from './coming-query';

/** Money that is to be sent or to arrive at a time. */
interface Entry {
  id: string;
  at: string;
  name: string;
  what: string;
  /** What arrives. */
  money: readonly Amount[];
  /** Whether it is converted at a rate that may change until then. */
  about: boolean;
}

/** How many days the calendar has. */
const days = 7;

/** A week of what will be paid out and what will arrive, and why other money will not be. */
export function Coming() {
  const { result, more } = useComing();
  const { data } = result;
  return (
    <Answered answer={result}>
      <Part value={data?.accounts} field="accounts" title="Coming" lines={4}>
        {(accounts) => (
          <Part value={data?.payouts} field="payouts" title="Coming" lines={4}>
            {(payouts) => (
              <Week
                accounts={[...accounts.nodes, ...(more?.nodes ?? [])]}
                payouts={payouts.nodes}
                stopped={[...(data?.stopped?.nodes ?? []), ...(data?.drafts?.nodes ?? [])]}
                moreStopped={[data?.stopped, data?.drafts].some((page) => !page || page.pageInfo.hasNextPage)}
                incomplete={!more || more.incomplete || payouts.pageInfo.hasNextPage}
                now={data?.viewer.now ?? ''}
              />
            )}
          </Part>
        )}
      </Part>
    </Answered>
  );
}

function Week({ accounts, payouts, stopped, incomplete, moreStopped, now }: Lists & { now: string }) {
  const timeZone = useTimeZone();
  const entries = entriesOf({ accounts, payouts });
  const { id: own } = useSession().viewer.account;
  const week = Array.from({ length: days }, (_, i) => dayBefore(now, timeZone, -i));
  const later = entries.filter(({ at }) => dayOf(at, timeZone) > week.at(-1)!);
  const hasMoney = (money: readonly Amount[] = []) => money.some(({ amount }) => hundredths(amount) > 0n);
  const blocked = [
    // A platform without money of its own has nothing to pay out.
    ...accounts.filter(({ type, balance }) => type !== 'PLATFORM' || hasMoney(balance?.available)),
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
          {[...Map.groupBy(later, ({ at }) => dayOf(at, timeZone))].map(([day, of]) => (
            <li key={day}>
              <span>{formatDay(day)}</span>
              <Entries entries={of} />
            </li>
          ))}
        </ul>
      )}
      {incomplete && (
        <p className="hint">
          There are more: these are of the {counted(accounts.length, 'newest account')} and the{' '}
          {counted(payouts.length, 'newest payout')} under way.
        </p>
      )}
      {blocked.map(({ account, obstacle }) => (
        <Blocked key={`${account.id} ${obstacle.reasonCode} ${obstacle.currency}`} {...{ account, obstacle }} />
      ))}
      {moreStopped && (
        <p className="hint">
          There are more accounts that are not activated: their money is on <Link href="/users">Users</Link>.
        </p>
      )}
    </Card>
  );
}

function entriesOf({ accounts, payouts }: Pick<Lists, 'accounts' | 'payouts'>): Entry[] {
  const arrivals = payouts.flatMap(({ id, amount, currency, expectedArrivalAt: at, account }) =>
    at ? [{ id, at, name: nameOf(account), what: 'Arrives', money: [{ amount, currency }], about: false }] : [],
  );
  const next = accounts.flatMap(({ nextPayoutAt: at, nextPayouts, setting, ...account }) =>
    at
      ? [
          {
            ...{ id: account.id, at, name: nameOf(account), what: `${words(setting.payouts.interval)} payout` },
            money: nextPayouts.map(({ amount }) => amount),
            about: nextPayouts.some(({ sourceAmount, amount }) => sourceAmount.currency !== amount.currency),
          },
        ]
      : [],
  );
  return [...arrivals, ...next].sort((a, b) => a.at.localeCompare(b.at));
}

/** How many entries a day shows at once; more are folded below their sums. */
const entriesMax = 3;

/** The entries of a day or of a time: some at once, many folded below their number and their sums. */
function Entries({ entries }: { entries: readonly Entry[] }) {
  if (entries.length <= entriesMax) return entries.map((entry) => <EntryLine key={entry.id} entry={entry} />);
  const filled = entries.filter(({ money }) => money.length > 0);
  const empty = entries.length - filled.length;
  const all = filled.flatMap(({ money }) => money);
  const of = (currency: string) => all.filter((each) => each.currency === currency).map(({ amount }) => amount);
  const about = filled.some((entry) => entry.about) && '≈ ';
  return (
    <details className="coming-entries">
      <summary>
        {counted(filled.length, 'payout')}
        {currenciesOf(all).map((currency) => (
          <strong key={currency}>
            {about}
            <Money amount={sum(of(currency))} currency={currency} />
          </strong>
        ))}
      </summary>
      {filled.map((entry) => (
        <EntryLine key={entry.id} entry={entry} />
      ))}
      {empty > 0 && <span className="hint">{counted(empty, 'account')} without money for it yet</span>}
    </details>
  );
}

function Day({ day, today, entries }: { day: string; today: boolean; entries: Entry[] }) {
  return (
    <li data-today={today} data-empty={entries.length === 0}>
      <p className="week-day">
        <time dateTime={day}>{formatDay(day, 'weekday')}</time>
        {today && <span className="unseen"> today</span>}
      </p>
      <Entries entries={entries} />
      {entries.length === 0 && <span className="unseen">Nothing</span>}
    </li>
  );
}

function EntryLine({ entry: { id, at, name, what, money, about } }: { entry: Entry }) {
  const time = useTimes();
  return (
    <span className="coming-entry">
      <ObjectLink id={id}>{name}</ObjectLink>
      {money.map((each) => (
        <strong key={each.currency}>
          {about && '≈ '}
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
