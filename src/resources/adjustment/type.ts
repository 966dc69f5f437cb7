import { Field, ID, ObjectType } from 'type-graphql';
import { Money } from '../balance/type.js';
import { payloadOf } from '../../types/payload.js';
import { DateTime } from '../../types/scalars.js';
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
  @Field(() => Money, { nullable: true, description: 'What the account got. Null if it only gave.' })
  credit: Money | null;
  @Field(() => Money, { nullable: true, description: 'What the account gave. Null if it only got.' })
  debit: Money | null;
  // Nullable, as that of a refund is: fragments of one selection on both would conflict otherwise.
  @Field(() => String, { nullable: true, description: 'Why, as the service says it.' })
  reason: string | null;
  @Field(() => ID, { description: 'The id of the account whose money it changed.' })
  accountId: string;
  @Field(() => ID, { nullable: true, description: 'The id of its payment, which has its balance transactions.' })
  paymentId: string | null;
}

/** An adjustment as the graph shows it. */
export function shown<R extends Sides>(row: R) {
  const { creditAmount, creditCurrency, debitAmount, debitCurrency } = row;
  return {
    ...row,
    credit: creditAmount === null ? null : { amount: creditAmount, currency: creditCurrency! },
    debit: debitAmount === null ? null : { amount: debitAmount, currency: debitCurrency! },
  };
}

type Sides = Pick<AdjustmentRow, 'creditAmount' | 'creditCurrency' | 'debitAmount' | 'debitCurrency'>;

export const CreateTestAdjustmentPayload = payloadOf('CreateTestAdjustment', 'adjustment', Adjustment);
