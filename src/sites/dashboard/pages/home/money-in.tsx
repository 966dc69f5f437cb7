import { useState } from 'react';
import { dayBefore, dayOf } from '../../format/days';
import { currenciesOf, formatMoney, hundredths, sum } from '../../format/money';
import { formatStep } from '../../format/time';
import { counted, words } from '../../format/words';
import { Card } from '../../parts/page';
import { Bars, type Day } from './bars';

interface Total {
  start: string;
  method: string;
  currency: string;
  count: number;
  amount: string;
}

/** The methods that have a colour of their own; the others share the last one. */
const methodsMax = 4;

interface MoneyInProps {
  totals: Total[];
  /** The last day of the chart. */
  last: string;
  days: number;
  timeZone: string;
}

/** What came in day by day, by method, in one currency at a time. */
export function MoneyIn({ totals: all, last, days, timeZone }: MoneyInProps) {
  const first = dayBefore(last, 'UTC', days - 1);
  const totals = all
    .map((total) => ({ ...total, start: dayOf(total.start, timeZone) }))
    .filter(({ start }) => start >= first && start <= last);
  const currencies = currenciesOf(totals);
  const [chosen, setChosen] = useState<string>();
  const currency = chosen && currencies.includes(chosen) ? chosen : currencies[0];
  if (currency === undefined) {
    return (
      <Card title="Money in">
        <p className="hint">Nothing came in during the last {days} days.</p>
      </Card>
    );
  }
  const mine = totals.filter((total) => total.currency === currency);
  const methods = methodsOf(mine);
  const series = daysOf(mine, methods, first, days);
  const received = formatMoney({ amount: sum(mine.map(({ amount }) => amount)), currency });
  const count = mine.reduce((all, total) => all + total.count, 0);
  return (
    <Card
      title="Money in"
      action={
        currencies.length > 1 && (
          <select aria-label="Currency" value={currency} onChange={(event) => setChosen(event.target.value)}>
            {currencies.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        )
      }
    >
      <p className="chart-sum">
        <span className="balance-total">
          <span className="money">
            {received} <span className="currency">{currency}</span>
          </span>
        </span>
        <span className="hint">
          {counted(count, 'payment')} in the last {days} days
        </span>
      </p>
      <Bars days={series} currency={currency} methods={methods.map(words)} summary={`${received} in ${days} days`} />
      <Legend methods={methods} totals={mine} currency={currency} />
      <AsTable days={series} methods={methods} currency={currency} timeZone={timeZone} />
    </Card>
  );
}

/** The methods by which most money came; the others together are the last one. */
function methodsOf(totals: Total[]): string[] {
  const sums = new Map<string, bigint>();
  for (const { method, amount } of totals) sums.set(method, (sums.get(method) ?? 0n) + hundredths(amount));
  const sorted = [...sums].sort(([, m], [, n]) => (n > m ? 1 : -1)).map(([method]) => method);
  return sorted.length > methodsMax + 1 ? [...sorted.slice(0, methodsMax), 'OTHER'] : sorted;
}

const isOf = (methods: string[], method: string) => (total: Total) =>
  total.method === method || (method === 'OTHER' && !methods.includes(total.method));

function daysOf(totals: Total[], methods: string[], first: string, days: number): Day[] {
  const byDay = Map.groupBy(totals, ({ start }) => start);
  return Array.from({ length: days }, (_, i) => {
    const start = dayBefore(first, 'UTC', -i);
    const found = byDay.get(start) ?? [];
    return {
      start,
      amounts: methods.map((method) => sum(found.filter(isOf(methods, method)).map(({ amount }) => amount))),
    };
  });
}

function Legend({ methods, totals, currency }: { methods: string[]; totals: Total[]; currency: string }) {
  return (
    <ul className="legend">
      {methods.map((method, i) => (
        <li key={method}>
          <span className={`dot series-${i}`} aria-hidden="true" />
          {words(method)}
          <span className="money">
            {formatMoney({ amount: sum(totals.filter(isOf(methods, method)).map(({ amount }) => amount)), currency })}
          </span>
        </li>
      ))}
    </ul>
  );
}

interface AsTableProps {
  days: Day[];
  methods: string[];
  currency: string;
  timeZone: string;
}

function AsTable({ days, methods, currency, timeZone }: AsTableProps) {
  const [open, setOpen] = useState(false);
  return (
    <details className="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as a table</summary>
      {open && (
        <div className="scroll" tabIndex={0} role="region" aria-label="Money in by day">
          <table>
            <thead>
              <tr>
                <th scope="col">Day ({timeZone})</th>
                {methods.map((method) => (
                  <th scope="col" key={method} className="end">
                    {words(method)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.toReversed().map(({ start, amounts }) => (
                <tr key={start}>
                  <th scope="row">{formatStep(start)}</th>
                  {amounts.map((amount, i) => (
                    <td key={methods[i]} className="end money">
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
