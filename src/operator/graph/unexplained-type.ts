import { ArgsType, Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { UnexplainedDecision, UnexplainedReason, UnexplainedStatus } from '../table.js';
import { ListFilterArgs, tenantOfDeposit } from './inputs.js';
import { pageOf } from './page-type.js';
import { livemode, tenantId } from './type.js';

registerEnumType(UnexplainedStatus, {
  name: 'UnexplainedStatus',
  description: 'Whether it is known what became of unexplained money.',
  valuesConfig: {
    OPEN: { description: 'It waits for an operator.' },
    RESOLVED: { description: 'It is recorded what became of it.' },
  },
});
registerEnumType(UnexplainedDecision, {
  name: 'UnexplainedDecision',
  description: 'How a dispute was decided whose money is unexplained.',
  valuesConfig: {
    WON: { description: 'For the account: the money has come back, what an account had paid of it to the account.' },
    LOST: { description: 'For the payer, who keeps the money.' },
  },
});
registerEnumType(UnexplainedReason, {
  name: 'UnexplainedReason',
  description: 'Why money is unexplained.',
  valuesConfig: {
    BEYOND_ATTEMPT: { description: 'The acquirer took more than the payer was asked for. This is what is beyond it.' },
    BEYOND_DEPOSIT: {
      description:
        'A bank or an acquirer took more back than was left of the deposit, or a fee beside it. The amount is ' +
        'negative.',
    },
    DUPLICATE: { description: 'A checkout was paid twice, and the acquirer could not send the second payment back.' },
    RECORDED: {
      description:
        'It was taken back of a deposit of which refunds and disputes had left nothing, or in another currency, or ' +
        'of an attempt that was taken in another currency. A ' +
        'report of an acquirer, a notice of a bank or an operator has recorded it under its reference. The amount is ' +
        'negative.',
    },
    OTHER_CURRENCY: { description: 'The acquirer took another currency. Nothing of it was credited.' },
  },
});

@ObjectType('Unexplained', {
  simpleResolvers: true,
  description:
    'Money that an acquirer took, or that was taken back, and that no object of an account explains. It is in no ' +
    'balance. Clear it with the acquirer or the bank.',
})
export class OperatorUnexplained {
  @Field(() => ID, { description: 'The id.' })
  id: string;
  @Field(() => DateTime, { description: 'When it was booked.' })
  created: number;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => ID, { description: tenantId })
  tenantId: string;
  @Field(() => ID, {
    nullable: true,
    description:
      'The attempt with which it was taken, or of which it was taken back because no deposit has what it took in ' +
      'another currency.',
  })
  transactionId: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      'The deposit beyond which it was taken back: one with a negative amount, one that a bank reversed, or one that ' +
      'had nothing left.',
  })
  depositId: string | null;
  @Field(() => Amount, { description: 'How much; negative if it was taken back.' })
  amount: bigint;
  @Field(() => Amount, {
    description: 'What of a negative amount was taken from the account since, because a refund had failed.',
  })
  covered: bigint;
  @Field(() => Currency, { description: 'The currency of the amount.' })
  currency: string;
  @Field(() => UnexplainedReason, { description: 'Why it is unexplained.' })
  reason: UnexplainedReason;
  @Field(() => UnexplainedStatus, { description: 'Whether it is known what became of it.' })
  status: UnexplainedStatus;
  @Field(() => String, {
    nullable: true,
    description: 'The reference of the bank or the acquirer, if the reason is RECORDED.',
  })
  reference: string | null;
  @Field(() => String, { nullable: true, description: 'What is known of it, if the reason is RECORDED.' })
  note: string | null;
  @Field(() => UnexplainedDecision, {
    nullable: true,
    description: 'How the dispute that took it back was decided; null until then, and for other money.',
  })
  decision: UnexplainedDecision | null;
  @Field(() => String, { nullable: true, description: 'What became of it.' })
  resolution: string | null;
  @Field(() => String, { nullable: true, description: 'Who recorded that; `tidegate` if it did so by itself.' })
  resolvedBy: string | null;
  @Field(() => DateTime, { nullable: true, description: 'When it was recorded.' })
  resolvedAt: number | null;
}

/** What the payload of a mutation has beside its object: what was taken back where nothing was left. */
export const unexplainedMember = {
  unexplained: {
    type: () => OperatorUnexplained,
    description:
      'What was taken back where nothing was left of the deposit, and is unexplained. Null when the deposit had it.',
  },
};

export const UnexplainedPage = pageOf('Unexplained', () => OperatorUnexplained);

@ArgsType()
export class UnexplainedArgs extends ListFilterArgs {
  @Field(() => UnexplainedStatus, { nullable: true, description: 'Only in this status.' })
  status?: UnexplainedStatus | null;
}

@InputType({ description: 'What a bank or an acquirer has taken back of a deposit that has nothing left of it.' })
export class RecordUnexplainedInput {
  @Field(() => ID, { description: 'The live deposit.' })
  depositId: string;
  @Field(() => ID, { nullable: true, description: tenantOfDeposit })
  tenantId?: string | null;
  @Field(() => Amount, { description: 'How much was taken back, in the currency of the deposit.' })
  amount: bigint;
  @Field(() => String, { description: 'The reference of the bank or the acquirer, at most 255 characters.' })
  reference: string;
  @Field(() => String, { description: 'What is known of it, such as who bears it: at most 1,000 characters.' })
  note: string;
}

@InputType({ description: 'Says what became of unexplained money.' })
export class ResolveUnexplainedInput {
  @Field(() => ID, { description: 'The unexplained money.' })
  id: string;
  @Field(() => String, {
    description: 'What became of it, such as that the acquirer refunded it: at most 1,000 characters.',
  })
  resolution: string;
}
