import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';

export const AllocationStatus = {
  LOCKED: 'locked',
  PAYOUT_PROCESSING: 'payout_processing',
  SETTLED: 'settled',
} as const;
export type AllocationStatus = (typeof AllocationStatus)[keyof typeof AllocationStatus];

registerEnumType(AllocationStatus, {
  name: 'AllocationStatus',
  description: 'How far the money of an allocation has come.',
  valuesConfig: {
    LOCKED: { description: 'It counts towards the receivable and is in no payout yet.' },
    PAYOUT_PROCESSING: { description: 'It is in a payout that is under way.' },
    SETTLED: { description: 'It is paid out.' },
  },
});

/** The part of a deposit that counts towards a receivable. Silent: all fields. */
@ObjectType({
  simpleResolvers: true,
  description:
    'The part of a deposit that counts towards a receivable, from its reconciliation to its payout. An ' +
    'allocation that a dispute or a reversal took back completely is not listed.',
})
export class Allocation {
  @Field(() => DateTime, { description: 'When the deposit was reconciled with the receivable.' })
  created: number;
  @Field(() => Amount, { description: 'The amount that counts towards the receivable, such as `250.00`.' })
  amount: bigint;
  @Field(() => Currency, { description: texts.currencyOfAmount })
  currency: string;
  @Field(() => AllocationStatus, { description: 'How far the money has come.' })
  status: AllocationStatus;
  depositId: string;
  receivableId: string;
  payoutId: string | null;
}

export const AllocationConnection = connectionOf('Allocation', () => Allocation);
