import { Link } from 'wouter';
import { formatMoney, formatRate, hundredths, type Money as Amount } from '../../format/money';
import { type Obstacle, obstacleWords } from '../../format/obstacles';
import { formatAge, useTimes } from '../../format/time';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { useSession } from '../../session';

/** A payout as it would be now. */
interface Expected {
  sourceAmount: Amount;
  amount: Amount;
  rate: string;
  rateSetAt: string | null;
}

interface NextPayoutProps {
  at: string | null;
  payouts: readonly Expected[];
  obstacles: Obstacle[];
  /** What could be paid out now. */
  available: readonly Amount[];
}

/** When the next payout is due and what would arrive by it now, or why there is none. */
export function NextPayout({ at, payouts, obstacles, available }: NextPayoutProps) {
  const time = useTimes();
  const { status, statusSince } = useSession().viewer.account;
  const some = available.filter(({ amount }) => hundredths(amount) > 0n);
  const money = at ? payouts : [];
  return (
    <Card title="Next payout" action={<Link href="/payouts">Payouts</Link>}>
      {money.map((each) => (
        <Arriving key={each.sourceAmount.currency} {...each} />
      ))}
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

/** What would arrive, and of a conversion from what and at which rate. */
function Arriving({ sourceAmount, amount, rate, rateSetAt }: Expected) {
  const time = useTimes();
  const converted = sourceAmount.currency !== amount.currency;
  return (
    <div>
      <strong className="next-time">
        {converted && '≈ '}
        <Money {...amount} />
      </strong>{' '}
      <span className="hint">
        {converted
          ? `from ${formatMoney(sourceAmount)} ${sourceAmount.currency} at ${formatRate(rate)}` +
            (rateSetAt ? `, the rate of ${time(rateSetAt)}` : '')
          : 'so far'}
      </span>
    </div>
  );
}
