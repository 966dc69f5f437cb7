import { Link } from 'wouter';
import { hundredths, type Money as Amount } from '../../format/money';
import { type Obstacle, obstacleWords } from '../../format/obstacles';
import { formatAge, useTimes } from '../../format/time';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { useSession } from '../../session';

interface NextPayoutProps {
  at: string | null;
  obstacles: Obstacle[];
  /** What could be paid out now. */
  available: readonly Amount[];
}

/** When the next payout is due and what it would be now, or why there is none. */
export function NextPayout({ at, obstacles, available }: NextPayoutProps) {
  const time = useTimes();
  const { status, statusSince } = useSession().viewer.account;
  // Without a currency, an obstacle stops the payouts of all.
  const stopped = (currency: string) => obstacles.some((each) => each.currency === null || each.currency === currency);
  const some = available.filter(({ amount }) => hundredths(amount) > 0n);
  const money = some.filter(({ currency }) => !stopped(currency));
  return (
    <Card title="Next payout" action={<Link href="/payouts">Payouts</Link>}>
      {at && money.length > 0 && (
        <p className="waiting-sums">
          {money.map((each) => (
            <span key={each.currency}>
              <Money {...each} /> <span className="hint">so far</span>
            </span>
          ))}
        </p>
      )}
      {at && (
        <p>
          <time dateTime={at} className={money.length === 0 ? 'next-time' : undefined}>
            {time(at)}
          </time>{' '}
          <span className="hint line">{formatAge(at)}</span>
        </p>
      )}
      {at && some.length === 0 && <p className="hint">Nothing is available for it yet.</p>}
      {!at && obstacles.length === 0 && <p className="hint">Money is paid out as soon as it is available.</p>}
      {obstacles.map((obstacle) => (
        <p className="hint" key={`${obstacle.currency} ${obstacle.reasonCode}`}>
          {obstacleWords(obstacle, { status, since: statusSince && time(statusSince, 'day') })}
        </p>
      ))}
    </Card>
  );
}
