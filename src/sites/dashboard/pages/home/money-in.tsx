import { useMemo, useState } from 'react';
import { dayBefore, dayOf } from '../../format/days';
import { kindOf } from '../../format/methods';
import { currenciesOf, formatMoney, hundredths, sum } from '../../format/money';
import { useTimeZone } from '../../format/preferences';
import { formatStep } from '../../format/time';
import { counted } from '../../format/words';
import { nameOfZone } from '../../format/zones';
import { graphql, type ResultOf } from '../../graph/graphql';
import { useLive } from '../../graph/live';
import { useFilters } from '../../parts/filters';
import { Card } from '../../parts/page';
import { Answered, Part } from '../../parts/part';
import { useSession } from '../../session';
import { Bars, type Day } from './bars';
import { daysFrom, type Period, periodNames, periodOf, periods } from './period';

const MoneyInQuery = graphql(`
  query MoneyIn($from: DateTime!, $to: DateTime!, $timeZone: String!) {
    viewer {
      account {
        id
        depositTotals(from: $from, to: $to, interval: DAY, scope: DESCENDANTS, timeZone: $timeZone) {
          start method currency count amount
        }
      }
    }
  }
`);

type Total = NonNullable<ResultOf<typeof MoneyInQuery>['viewer']['account']['depositTotals']>[number];

/** What came in during a period that the viewer chooses, and during the one before. */
export function MoneyIn() {
  const { viewer } = useSession();
  const { one } = useFilters();
  const timeZone = useTimeZone();
  const last = dayBefore(viewer.now, timeZone, 0);
  const chosen = one('period', periods) ?? '90';
  const period = useMemo(() => periodOf(chosen, last), [chosen, last]);
  // Days begin at other times in other zones, so the range is a day longer at both ends than the chart.
  const at = (day: string) => `${day}T00:00:00Z`;
  const result = useLive(
    MoneyInQuery,
    useMemo(
      () => ({ from: at(daysFrom(period.before, -1)), to: at(daysFrom(last, 2)), timeZone }),
      [period, last, timeZone],
    ),
  );
  return (
    <Answered answer={result}>
      <Part
        value={result.data?.viewer.account.depositTotals}
        field="viewer.account.depositTotals"
        title="Money in"
        lines={16}
      >
        {(totals) => <InOneCurrency totals={inDays(totals, timeZone)} period={period} timeZone={timeZone} />}
      </Part>
    </Answered>
  );
}

/** The totals with the days of the viewer's time zone as their beginnings. */
const inDays = (totals: readonly Total[], timeZone: string): Total[] =>
  totals.map((total) => ({ ...total, start: dayOf(total.start, timeZone) }));

interface ChartProps {
  totals: Total[];
  period: Period;
  timeZone: string;
}

/** What came in day by day, by kind, in one currency at a time. */
function InOneCurrency({ totals: all, period, timeZone }: ChartProps) {
  const { first, days, before } = period;
  const last = daysFrom(first, days - 1);
  const totals = all.filter(({ start }) => start >= first && start <= last);
  const currencies = currenciesOf(totals);
  const [chosen, setChosen] = useState<string>();
  const currency = chosen && currencies.includes(chosen) ? chosen : currencies[0];
  const choices = (
    <div className="card-choices">
      {currencies.length > 1 && (
        <select aria-label="Currency" value={currency} onChange={(event) => setChosen(event.target.value)}>
          {currencies.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      )}
      <PeriodChoice />
    </div>
  );
  if (currency === undefined) {
    return (
      <Card title="Money in" action={choices}>
        <p className="hint">Nothing came in during {period.name}.</p>
      </Card>
    );
  }
  const mine = totals.filter((total) => total.currency === currency);
  const earlier = all.filter(
    ({ start, ...total }) => total.currency === currency && start >= before && start < daysFrom(before, days),
  );
  const kinds = kindsOf(mine);
  const series = daysOf(mine, earlier, kinds, period);
  const received = formatMoney({ amount: sumOf(mine), currency });
  return (
    <Card title="Money in" action={choices}>
      <p className="chart-sum">
        <span className="balance-total">
          <span className="money">
            {received} <span className="currency">{currency}</span>
          </span>
        </span>
        <span className="hint">
          {counted(
            mine.reduce((sum, { count }) => sum + count, 0),
            'payment',
          )}{' '}
          in {period.name}
        </span>
        <Compared now={sumOf(mine)} before={sumOf(earlier)} currency={currency} beforeName={period.beforeName} />
      </p>
      <Bars days={series} currency={currency} kinds={kinds} summary={`${received} in ${period.name}`} />
      <Legend kinds={kinds} totals={mine} currency={currency} before={earlier.length > 0} />
      <AsTable days={series} kinds={kinds} currency={currency} timeZone={timeZone} />
    </Card>
  );
}

/** The period of the chart, which is part of the address. */
function PeriodChoice() {
  const { params, set } = useFilters();
  return (
    <select
      aria-label="Period"
      value={params.get('period') ?? '90'}
      onChange={(event) => set({ period: event.target.value === '90' ? null : event.target.value })}
    >
      {periods.map((period) => (
        <option key={period} value={period}>
          {periodNames[period]}
        </option>
      ))}
    </select>
  );
}

interface ComparedProps {
  now: string;
  before: string;
  currency: string;
  beforeName: string;
}

/** What came in before, and by how much more or less it is now, in whole percent. */
function Compared({ now, before, currency, beforeName }: ComparedProps) {
  const [amount, earlier] = [hundredths(now), hundredths(before)];
  const change = amount - earlier;
  // Of nothing, or nearly nothing, a percentage says nothing.
  if (earlier <= 0n || change >= 10n * earlier)
    return <span className="hint">{`${formatMoney({ amount: before, currency })} in ${beforeName}`}</span>;
  // Half a percent is added before the division cuts the rest off.
  const percent = (change * 200n + (change < 0n ? -earlier : earlier)) / (2n * earlier);
  const sign = percent > 0n ? '+' : percent < 0n ? '−' : '±';
  const size = (percent < 0n ? -percent : percent).toLocaleString();
  return (
    <span className="hint">{`${sign}${size} % on ${formatMoney({ amount: before, currency })} in ${beforeName}`}</span>
  );
}

const sumOf = (totals: readonly Total[]): string => sum(totals.map(({ amount }) => amount));

/** The kinds by which money came, that with most first. */
function kindsOf(totals: readonly Total[]): string[] {
  const sums = new Map<string, bigint>();
  for (const { method, amount } of totals)
    sums.set(kindOf(method), (sums.get(kindOf(method)) ?? 0n) + hundredths(amount));
  return [...sums].sort(([, m], [, n]) => (n > m ? 1 : -1)).map(([kind]) => kind);
}

const ofKind = (totals: readonly Total[], kind: string) =>
  sumOf(totals.filter(({ method }) => kindOf(method) === kind));

function daysOf(totals: Total[], earlier: Total[], kinds: string[], { first, days, before }: Period): Day[] {
  const [byDay, byEarlierDay] = [totals, earlier].map((each) => Map.groupBy(each, ({ start }) => start));
  return Array.from({ length: days }, (_, i) => {
    const start = daysFrom(first, i);
    const found = byDay!.get(start) ?? [];
    return {
      start,
      amounts: kinds.map((kind) => ofKind(found, kind)),
      before: earlier.length > 0 ? sumOf(byEarlierDay!.get(daysFrom(before, i)) ?? []) : null,
    };
  });
}

interface LegendProps {
  kinds: string[];
  totals: Total[];
  currency: string;
  /** Whether the chart has a line of the period before. */
  before: boolean;
}

function Legend({ kinds, totals, currency, before }: LegendProps) {
  return (
    <ul className="legend">
      {kinds.map((kind, i) => (
        <li key={kind}>
          <span className={`dot series-${i}`} aria-hidden="true" />
          {kind}
          <span className="money">{formatMoney({ amount: ofKind(totals, kind), currency })}</span>
        </li>
      ))}
      {before && (
        <li>
          <span className="dot line-before" aria-hidden="true" />
          the period before
        </li>
      )}
    </ul>
  );
}

interface AsTableProps {
  days: Day[];
  kinds: string[];
  currency: string;
  timeZone: string;
}

function AsTable({ days, kinds, currency, timeZone }: AsTableProps) {
  const [open, setOpen] = useState(false);
  return (
    <details className="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {open && (
        <div className="scroll" tabIndex={0} role="region" aria-label="Money in by day">
          <table>
            <thead>
              <tr>
                <th scope="col">Day ({nameOfZone(timeZone)})</th>
                {[...kinds, ...(days[0]!.before === null ? [] : ['Period before'])].map((kind) => (
                  <th scope="col" key={kind} className="end">
                    {kind}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.toReversed().map(({ start, amounts, before }) => (
                <tr key={start}>
                  <th scope="row">{formatStep(start)}</th>
                  {[...amounts, ...(before === null ? [] : [before])].map((amount, i) => (
                    <td key={kinds[i] ?? ''} className="end money">
                      {formatMoney({ amount, currency })}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
