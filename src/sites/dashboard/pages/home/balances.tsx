import { balanceParts } from '../../format/balance-parts';
import { currenciesOf, hundredths, sum } from '../../format/money';
import type { BalanceFragment } from '../../graph/balance';
import type { ResultOf } from '../../graph/graphql';
import { Money } from '../../parts/money';
import { Card } from '../../parts/page';
import { Shares } from '../../parts/shares';

type BalanceOf = ResultOf<typeof BalanceFragment>;

const compartments = [
  { key: 'pending', hint: 'Received, and not yet matched with receivables' },
  { key: 'available', hint: 'Reconciled; the next payout takes it' },
  { key: 'processing', hint: 'On its way into the account' },
  { key: 'payoutProcessing', hint: 'On its way to the bank account' },
] as const;

/** The funds by compartment and currency. */
export function Balances({ balance }: { balance: BalanceOf }) {
  const all = compartments.flatMap(({ key }) => balance[key]);
  const filled = all.filter(({ amount }) => hundredths(amount) !== 0n);
  const currencies = currenciesOf(filled.length > 0 ? filled : all.slice(0, 1));
  return (
    <Card title="Balances">
      {currencies.length === 0 && <p className="hint">There is no money yet. Payments that arrive are shown here.</p>}
      {currencies.map((currency) => (
        <Balance key={currency} balance={balance} currency={currency} />
      ))}
    </Card>
  );
}

function Balance({ balance, currency }: { balance: BalanceOf; currency: string }) {
  const amounts = compartments.map((compartment) => ({
    ...compartment,
    name: balanceParts[compartment.key],
    amount: balance[compartment.key].find((money) => money.currency === currency)?.amount ?? '0.00',
  }));
  return (
    <div className="balance">
      <p className="balance-total">
        <Money amount={sum(amounts.map(({ amount }) => amount))} currency={currency} />
      </p>
      <Shares shares={amounts} currency={currency} />
    </div>
  );
}
