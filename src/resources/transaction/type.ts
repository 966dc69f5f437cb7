import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { TransactionPaymentMethod, TransactionReasonCode, TransactionStatus } from './table.js';
import { texts } from '../../types/texts.js';
import { methodTexts } from '../payment/method.js';

registerEnumType(TransactionStatus, {
  name: 'TransactionStatus',
  description: 'How an attempt to pay has ended, if it has.',
  valuesConfig: {
    PROCESSING: { description: 'Under way.' },
    SUCCEEDED: { description: 'Paid.' },
    FAILED: { description: 'Not paid, as the reason code says.' },
  },
});
registerEnumType(TransactionPaymentMethod, {
  name: 'TransactionPaymentMethod',
  description: 'How an attempt pays.',
  valuesConfig: { CARD: { description: 'A card.' }, UPI: { description: 'UPI.' } },
});
registerEnumType(TransactionReasonCode, {
  name: 'TransactionReasonCode',
  description: 'Why an attempt failed.',
  valuesConfig: {
    DECLINED: { description: "The payer's bank or the payer declined the attempt." },
    DUPLICATE: { description: 'The checkout was already paid; the money is returned.' },
    EXPIRED: {
      description: 'The attempt was not paid in time. If the money arrives later, the attempt still succeeds.',
    },
    INSUFFICIENT_FUNDS: { description: 'The payer lacks the funds.' },
  },
});

/** One attempt to pay a checkout. Silent: all fields. */
@ObjectType({ implements: Node, simpleResolvers: true, description: 'One attempt to pay a checkout.' })
export class Transaction extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => ID, { description: 'The id of the checkout.' })
  checkoutId: string;
  @Field(() => TransactionPaymentMethod, {
    description: 'How the attempt pays.',
    deprecationReason: methodTexts.deprecated,
  })
  paymentMethod: TransactionPaymentMethod;
  @Field(() => Amount, { description: 'The gross amount of the checkout.' })
  amount: bigint;
  @Field(() => Currency, { description: texts.currencyOfAmount })
  currency: string;
  @Field(() => TransactionStatus, { description: 'Whether the attempt is under way, has succeeded or has failed.' })
  status: TransactionStatus;
  @Field(() => TransactionReasonCode, {
    nullable: true,
    description: 'Why the attempt failed; null unless it is FAILED.',
  })
  reasonCode: TransactionReasonCode | null;
  @Field(() => ID, {
    nullable: true,
    description: 'The id of the payment that the attempt became; null unless it succeeded.',
  })
  paymentId: string | null;
  @Field(() => DateTime, { description: 'When the attempt fails, unless it is paid before.' })
  expiresAt: number;
}

export const TransactionConnection = connectionOf('Transaction', () => Transaction);
