import { object } from '../edges.js';
import { Money } from './type.js';

/**
 * The fields with an amount and its currency together, beside each amount of a type: `amountMoney` for `amount`. The
 * query compiler reads them from the same columns.
 */
export function moneyOf<A extends string, C extends string>(amounts: Readonly<Record<A, C>>) {
  return Object.fromEntries(
    Object.entries<C>(amounts).map(([amount, currency]) => [
      `${amount}Money`,
      object(
        () => Money,
        { amount: amount as A | C, currency },
        { description: `\`${amount}\` with its currency, \`${currency}\`.` },
      ),
    ]),
  ) as Record<`${A}Money`, ReturnType<typeof object<Money, A | C>>>;
}
