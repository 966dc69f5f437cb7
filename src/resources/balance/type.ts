import { Field, ObjectType, ID } from 'type-graphql';
import { Amount, Currency } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { object } from '../edges.js';

@ObjectType({ simpleResolvers: true, description: 'Money: an amount in a currency.' })
export class Money {
  @Field(() => Amount, { description: 'The amount.' })
  amount: bigint;
  @Field(() => Currency, { description: texts.currencyOfAmount })
  currency: string;
}

/** Funds of an account in one currency, by compartment and in all. The types that have them say of which time. */
@ObjectType({ simpleResolvers: true })
export class FundsInCurrency {
  @Field(() => Money, { description: 'The sum of all compartments.' })
  total: Money;
  @Field(() => Money, { description: 'Funds that are reconciled and not yet picked up for a payout.' })
  available: Money;
  @Field(() => Money, { description: 'Funds that were received and are not reconciled yet.' })
  pending: Money;
  @Field(() => Money, { description: 'Funds on the way from one compartment to another, as in a conversion.' })
  processing: Money;
  @Field(() => Money, { description: 'Funds that are being paid out.' })
  payoutProcessing: Money;
  @Field(() => Money, { description: 'Funds that a platform keeps in advance for fees.' })
  feeAdvance: Money;
}

/**
 * Funds of an account by compartment, one entry per currency; amounts are sums made in PostgreSQL, never numbers.
 * Refuses `resource_missing` when the account is not visible. Spec: Balance.
 */
@ObjectType({ simpleResolvers: true, description: 'Funds of an account by compartment, one entry per currency.' })
export class Balance {
  @Field(() => ID, { description: 'The id of the account whose funds these are.' })
  accountId: string;
  @Field(() => Boolean, { description: 'True for funds of live mode, false for funds of test mode.' })
  livemode: boolean;
  @Field(() => [Money], {
    description:
      'Funds that are reconciled and not yet picked up for a payout. May be negative after a dispute or a reversal.',
  })
  available: Money[];
  @Field(() => [Money], { description: 'Funds that were received and are not reconciled yet.' })
  pending: Money[];
  @Field(() => [Money], { description: 'Funds on the way from one compartment to another, as in a conversion.' })
  processing: Money[];
  @Field(() => [Money], { description: 'Funds that are being paid out.' })
  payoutProcessing: Money[];
  @Field(() => [Money], { description: 'Funds that a platform keeps in advance for fees. Empty for other accounts.' })
  feeAdvance: Money[];
}

@ObjectType({ simpleResolvers: true, description: "The pending funds of an account's partners together." })
export class BalanceAggregate {
  @Field(() => ID, { description: 'The id of the account that owns the partners.' })
  accountId: string;
  @Field(() => Boolean, { description: 'True for funds of live mode, false for funds of test mode.' })
  livemode: boolean;
  @Field(() => [Money], {
    description: 'Funds that the partners received and that are not reconciled yet, one entry per currency.',
  })
  pending: Money[];
}

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
