import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { PayoutBlockReason, PayoutStatus } from './table.js';

registerEnumType(PayoutStatus, { name: 'PayoutStatus', description: 'How far a payout has come.' });

registerEnumType(PayoutBlockReason, {
  name: 'PayoutBlockReason',
  description: 'Why available money could not be paid out.',
  valuesConfig: {
    ADDRESS_MISSING: { description: 'The account has no activated payout address.' },
    AMOUNT_TOO_LARGE: { description: 'The money is more than the largest payout in the currency of the address.' },
    AMOUNT_TOO_SMALL: {
      description:
        'The money is less than the smallest amount of the currency of the address. It is paid out together with later money.',
    },
    BALANCE_NEGATIVE: { description: 'The account owes money in some currency after a dispute or a reversal.' },
    RATE_MISSING: { description: 'The operator has given no rate into the currency of the address.' },
  },
});

/** Why money was not paid out when it was last due. Silent: all fields. */
@ObjectType({
  simpleResolvers: true,
  description: 'Available money in one currency that could not be paid out when it was last due, and why.',
})
export class PayoutBlock {
  @Field(() => Currency)
  currency: string;
  @Field(() => PayoutBlockReason)
  reasonCode: PayoutBlockReason;
  @Field(() => DateTime, { description: 'When this became the reason.' })
  created: number;
}

/** Funds on their way out. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'Funds on their way to a payout address, in its currency.',
})
export class Payout extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => ID)
  accountId: string;
  @Field(() => ID)
  addressId: string;
  @Field(() => Amount)
  amount: bigint;
  @Field(() => Currency)
  currency: string;
  @Field(() => PayoutStatus)
  status: PayoutStatus;
  @Field(() => ID)
  paymentId: string;
  @Field(() => Amount, { description: 'What it was converted from.' })
  sourceAmount: bigint;
  @Field(() => Currency)
  sourceCurrency: string;
  @Field(() => String, { description: 'What one unit of the source currency bought, as a decimal.' })
  rate: string;
}

export const PayoutConnection = connectionOf('Payout', () => Payout);
