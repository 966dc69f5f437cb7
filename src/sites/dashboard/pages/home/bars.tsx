import { type ScaleLinear, scaleLinear } from 'd3-scale';
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { formatMoney, formatRound, hundredths, sum } from '../../format/money';
import { formatStep } from '../../format/time';

/** The drawing has its own units; it is stretched to the width of the card. */
const [width, height] = [900, 220];
const room = { left: 4, right: 4, top: 8, bottom: 2 };

/**
 * A day of the chart, with its amounts in the order of the kinds, and that of the day of the period
 * before, if anything came in during that.
 */
export interface Day {
  start: string;
  amounts: string[];
  before: string | null;
}

interface BarsProps {
  days: Day[];
  currency: string;
  kinds: string[];
  summary: string;
}

/**
 * A bar per day, with a part per kind, and a line of the period before. The pointer and the arrow keys choose a day,
 * whose amounts are shown above. An amount becomes a number for the height of its part alone, and is never printed from
 * it.
 */
export function Bars({ days, currency, kinds, summary }: BarsProps) {
  const [at, setAt] = useState<number | null>(null);
  const heights = days.map(({ amounts }) => amounts.map(units));
  const before = days.flatMap((day) => (day.before === null ? [] : [units(day.before)]));
  const tops = heights.map((parts) => parts.reduce((all, part) => all + Math.max(part, 0), 0));
  const bottoms = heights.map((parts) => parts.reduce((all, part) => all + Math.min(part, 0), 0));
  const [highest, lowest] = [Math.max(1, ...tops, ...before), Math.min(0, ...bottoms, ...before)];
  const scale = scaleLinear([lowest, highest], [height - room.bottom, room.top]).nice(4);
  const step = (width - room.left - room.right) / days.length;

  const onKeyDown = (event: KeyboardEvent) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    setAt(Math.min(days.length - 1, Math.max(0, (at ?? days.length) + move)));
  };
  const onPointerMove = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const index = Math.floor(((event.clientX - box.left) / box.width) * days.length);
    setAt(Math.min(days.length - 1, Math.max(0, index)));
  };
  return (
    <figure className="bars">
      <Chosen day={at === null ? undefined : days[at]} kinds={kinds} currency={currency} />
      <div className="bars-drawing">
        <Axis scale={scale} currency={currency} />
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Money in by day: ${summary}. The arrow keys show single days.`}
          tabIndex={0}
          onKeyDown={onKeyDown}
          onPointerMove={onPointerMove}
          onPointerLeave={() => setAt(null)}
          onBlur={() => setAt(null)}
        >
          {at !== null && <rect className="bars-cursor" x={room.left + at * step} y={0} width={step} height={height} />}
          {heights.map((parts, i) => (
            <Bar
              key={days[i]!.start}
              parts={parts}
              x={room.left + i * step + step * 0.14}
              width={step * 0.72}
              scale={scale}
            />
          ))}
          <polyline
            className="bars-before"
            points={before.map((value, i) => `${room.left + (i + 0.5) * step},${scale(value)}`).join(' ')}
          />
        </svg>
      </div>
      <Span days={days} />
    </figure>
  );
}

/** An amount in whole units, for a height. */
const units = (amount: string): number => Number(hundredths(amount) / 100n);

function Axis({ scale, currency }: { scale: ScaleLinear<number, number>; currency: string }) {
  return (
    <ol className="bars-axis" aria-hidden="true">
      {scale.ticks(4).map((tick) => (
        <li key={tick} style={{ top: `${(scale(tick) / height) * 100}%` }}>
          <span>{formatRound(tick, currency)}</span>
        </li>
      ))}
    </ol>
  );
}

function Span({ days }: { days: Day[] }) {
  return (
    <p className="bars-span" aria-hidden="true">
      <span>{formatStep(days[0]!.start)}</span>
      <span>{formatStep(days[Math.floor(days.length / 2)]!.start)}</span>
      <span>Today</span>
    </p>
  );
}

function Bar({
  parts,
  x,
  width: wide,
  scale,
}: {
  parts: number[];
  x: number;
  width: number;
  scale: (n: number) => number;
}) {
  let [above, below] = [0, 0];
  return parts.map((part, i) => {
    if (part === 0) return null;
    const from = part > 0 ? above : below;
    if (part > 0) above += part;
    else below += part;
    const [top, bottom] = [scale(Math.max(from, from + part)), scale(Math.min(from, from + part))];
    return <rect key={i} className={`series-${i}`} x={x} y={top} width={wide} height={Math.max(bottom - top, 0.5)} />;
  });
}

function Chosen({ day, kinds, currency }: { day: Day | undefined; kinds: string[]; currency: string }) {
  const parts = day?.amounts.flatMap((amount, i) =>
    hundredths(amount) === 0n ? [] : [`${kinds[i]} ${formatMoney({ amount, currency })}`],
  );
  return (
    <figcaption className="bars-chosen" aria-live="polite">
      {day && (
        <>
          <strong>{formatStep(day.start, 'date')}</strong> {formatMoney({ amount: sum(day.amounts), currency })}
          <span className="hint">
            {parts!.length > 1 && ` · ${parts!.join(', ')}`}
            {day.before !== null && ` · before ${formatMoney({ amount: day.before, currency })}`}
          </span>
        </>
      )}
    </figcaption>
  );
}
