import { Link } from 'wouter';
import { formatAge, type Obstacle, obstacleWords, useTimes } from '../../format';
import { Card } from '../../parts';

/** When the next payout is due, or why there is none. */
export function NextPayout({ at, obstacles }: { at: string | null; obstacles: Obstacle[] }) {
  const time = useTimes();
  return (
    <Card title="Next payout" action={<Link href="/payouts">Payouts</Link>}>
      {at && (
        <p>
          <time dateTime={at} className="next-time">
            {time(at)}
          </time>
          <span className="hint"> {formatAge(at)}</span>
        </p>
      )}
      {!at && obstacles.length === 0 && <p className="hint">Money is paid out as soon as it is available.</p>}
      {obstacles.map((obstacle) => (
        <p className="hint" key={`${obstacle.currency} ${obstacle.reasonCode}`}>
          {obstacleWords(obstacle)}
        </p>
      ))}
    </Card>
  );
}
