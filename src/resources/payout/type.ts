import { registerEnumType, Field, ObjectType, ID } from 'type-graphql';
import { PayoutStatus, PayoutBlockReason, PayoutReasonCode } from './table.js';
import { Currency, DateTime, Amount } from '../../types/scalars.js';
import { Node } from '../../types/relay-node.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(PayoutStatus, {
  name: 'PayoutStatus',
  description: 'How far a payout has come.',
  valuesConfig: {
    PROCESSING: { description: 'On its way.' },
    COMPLETED: { description: 'Arrived.' },
    FAILED: { description: 'Not arrived; its money is available again.' },
    RETURNED: { description: 'Sent back by the bank after it had arrived; its money is available again.' },
  },
});

registerEnumType(PayoutReasonCode, {
  name: 'PayoutReasonCode',
  description: 'Why a payout did not arrive, or came back.',
  valuesConfig: {
    ACCOUNT_CLOSED: { description: 'The bank account is closed or blocked.' },
    ACCOUNT_INVALID: { description: 'The bank does not know the number or the routing code of the account.' },
    BANK_REJECTED: { description: 'The bank rejected it for a reason of its own.' },
    GENERAL: { description: 'Another reason, or none was given.' },
    LIMIT_EXCEEDED: { description: 'The amount is more than the bank or the account takes.' },
    NAME_MISMATCH: { description: 'The bank account belongs to another name.' },
    REGULATORY: { description: 'A rule of law or of the bank about such payments.' },
  },
});

registerEnumType(PayoutBlockReason, {
  name: 'PayoutBlockReason',
  description: 'Why available money could not be paid out.',
  valuesConfig: {
    ADDRESS_MISSING: { description: 'The account has no activated payout address.' },
    AMOUNT_TOO_LARGE: { description: 'The money is more than the largest payout in the currency of the address.' },
    AMOUNT_TOO_SMALL: {
      description:
        'The money is less than the smallest amount of the currency of the ' +
        'address. It is paid out together with later money.',
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
  @Field(() => Currency, { description: 'The currency of the money that could not be paid out.' })
  currency: string;
  @Field(() => PayoutBlockReason, { description: 'Why the money could not be paid out.' })
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
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The id of the account that is paid out.' })
  accountId: string;
  @Field(() => ID, { description: 'The id of the address to which the money is sent.' })
  addressId: string;
  @Field(() => Amount, { description: 'The amount that is sent, after a conversion.' })
  amount: bigint;
  @Field(() => Currency, { description: 'The currency of the address and of the amount.' })
  currency: string;
  @Field(() => PayoutStatus, { description: 'How far the payout has come.' })
  status: PayoutStatus;
  @Field(() => ID, { description: 'The id of the payment of this payout.' })
  paymentId: string;
  @Field(() => Amount, { description: 'The amount before a conversion.' })
  sourceAmount: bigint;
  @Field(() => Currency, { description: 'The currency before a conversion.' })
  sourceCurrency: string;
  @Field(() => String, {
    description: 'What one unit of the source currency bought, as a decimal, such as `83.25`. 1 without a conversion.',
  })
  rate: string;
  @Field(() => PayoutReasonCode, {
    nullable: true,
    description: 'Why it failed or was returned. Null for other payouts, and for those that failed before 0.4.0.',
  })
  reasonCode: PayoutReasonCode | null;
  @Field(() => String, {
    nullable: true,
    description: "The bank's own reference of the transfer, such as a UTR, once it is known.",
  })
  bankReference: string | null;
}

export const PayoutConnection = connectionOf('Payout', () => Payout, {
  AMOUNT_DESC: 'The greatest amount first, in one currency.',
  AMOUNT_ASC: 'The smallest amount first, in one currency.',
});

export const SettleTestPayoutPayload = payloadOf('SettleTestPayout', 'payout', Payout);
export const FailTestPayoutPayload = payloadOf('FailTestPayout', 'payout', Payout);
export const ReturnTestPayoutPayload = payloadOf('ReturnTestPayout', 'payout', Payout);
