import { useTimes } from '../format/time';
import { askAgain, useOutage } from '../graph/connection';

/** Says above the page that it shows what was answered last, and since when the gateway does not answer. */
export function OutageBar() {
  const outage = useOutage();
  const time = useTimes();
  return (
    <div className="outage-place" role="status">
      {outage && (
        <p className="outage-bar">
          {outage.reached ? 'The gateway is too busy to answer' : 'No connection'} since {time(outage.since, 'hour')}
          <button type="button" className="button small" onClick={askAgain}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}
