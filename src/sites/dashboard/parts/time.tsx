import { useTimes } from '../format/time';

/** A time, with the whole of it as the title. */
export function Time({ at }: { at: string }) {
  const time = useTimes();
  return (
    <time dateTime={at} title={time(at, 'full')}>
      {time(at)}
    </time>
  );
}
