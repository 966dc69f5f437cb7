import { formatMoney, type Money as Amount } from '../format/money';

/** An amount of money with its currency. */
export function Money({ amount, currency }: Amount) {
  return (
    <span className="money">
      {formatMoney({ amount, currency })} <span className="currency">{currency}</span>
    </span>
  );
}
