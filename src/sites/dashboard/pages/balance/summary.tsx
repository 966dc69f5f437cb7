import { balanceParts } from '../../format/balance-parts';
import { hundredths } from '../../format/money';
import { useTimes } from '../../format/time';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { Part } from '../../parts/part';
import { Shares } from '../../parts/shares';
import { useSession } from '../../session';
import type { Funds, Statement } from './query';
import { linesOf } from './words';

interface SummaryProps {
  statement: Statement;
  currency: string;
  title: string;
  /** Whether the month is over. */
  ended: boolean;
}

/** What there was at the beginning of a month, what came in and went out, and what there is at its end. */
export function Summary({ statement, currency, title, ended }: SummaryProps) {
  const { viewer } = useSession();
  const time = useTimes();
  const { opening, closing, totals, asOf } = statement;
  return (
    <Card title={title} action={!ended && <span className="hint">so far, {time(asOf)}</span>}>
      <dl className="sums">
        <Sum name="Opening balance" amount={opening.total.amount} currency={currency} strong />
        <Part value={totals} field="viewer.account.balanceStatement.totals">
          {(known) =>
            linesOf(known, viewer.account.type === 'PLATFORM').map(({ name, amount }) => (
              <Sum key={name} {...{ name, amount, currency }} />
            ))
          }
        </Part>
        <Sum name="Closing balance" amount={closing.total.amount} currency={currency} strong />
      </dl>
      <Places funds={closing} currency={currency} />
      <p className="hint">Money that arrived at the bank details of a customer is part of it once it is reconciled.</p>
    </Card>
  );
}

function Sum({ name, amount, currency, strong }: { name: string; amount: string; currency: string; strong?: true }) {
  const money = <Money amount={amount} currency={currency} />;
  return (
    <div className={strong && 'strong'}>
      <dt>{name}</dt>
      <dd>{strong ? <strong>{money}</strong> : money}</dd>
    </div>
  );
}

const places = Object.keys(balanceParts) as (keyof typeof balanceParts)[];

/** Where the money is at the end of the month. */
function Places({ funds, currency }: { funds: Funds; currency: string }) {
  const filled = places.filter((key) => hundredths(funds[key].amount) !== 0n);
  if (filled.length === 0) return null;
  const shares = filled.map((key) => ({ key, name: balanceParts[key], amount: funds[key].amount }));
  return (
    <div className="balance">
      <Shares shares={shares} currency={currency} />
    </div>
  );
}
