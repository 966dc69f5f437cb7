import { Field, ID, ObjectType } from 'type-graphql';
import { Money } from '../balance/type.js';
import { payloadOf } from '../../types/payload.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import type { AdjustmentRow } from './table.js';

/** A correction of an account's available money. Silent: all fields. */
@ObjectType({
  simpleResolvers: true,
  description:
    'A correction of available money by the service, such as a fee, a write-off of a debt, or a set-off of a debt ' +
    'in one currency against money in another.',
})
export class Adjustment {
  @Field(() => ID, { description: 'The id.' })
  id: string;
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => Amount, { description: 'What the account got, or with a negative amount gave.' })
  amount: bigint;
  @Field(() => Currency, { description: texts.currencyOfAmount })
  currency: string;
  @Field(() => Money, {
    nullable: true,
    description:
      'What the account gave for it in another currency, as a negative amount, or got, as a positive one. Null if it ' +
      'is no conversion.',
  })
  counter: Money | null;
  @Field(() => String, { description: 'Why, as the service says it.' })
  reason: string;
  paymentId: string | null;
  accountId: string;
}

/** An adjustment as the graph shows it: the other side of a conversion is null for one that is none. */
export function shown<R extends Pick<AdjustmentRow, 'counterAmount' | 'counterCurrency'>>(row: R) {
  const { counterAmount: amount, counterCurrency: currency } = row;
  return { ...row, counter: amount === null ? null : { amount, currency: currency! } };
}

export const CreateTestAdjustmentPayload = payloadOf('CreateTestAdjustment', 'adjustment', Adjustment);
