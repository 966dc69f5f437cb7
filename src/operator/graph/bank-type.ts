import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { livemode, OperatorDeposit, tenantId } from './type.js';

export const BankNoticeEvent = { RECEIVED: 'received', REVERSED: 'reversed', RECALLED: 'recalled' } as const;
registerEnumType(BankNoticeEvent, {
  name: 'BankNoticeEvent',
  description: 'What a bank reports about a transfer.',
  valuesConfig: {
    RECEIVED: { description: 'The money has arrived.' },
    REVERSED: { description: 'The money was taken back. This notice may arrive before RECEIVED.' },
    RECALLED: { description: 'A part of the money was taken back, or all of it, under a reference of its own.' },
  },
});

@ObjectType('BankNotice', { simpleResolvers: true, description: 'A notice of a bank, as it was recorded.' })
export class OperatorBankNotice {
  @Field(() => ID, { description: tenantId })
  tenantId: string;
  @Field(() => Boolean, { description: livemode })
  livemode: boolean;
  @Field(() => DateTime, { description: 'When it was recorded.' })
  created: number;
  @Field(() => ID, { description: 'The account that receives money at the address.' })
  accountId: string;
  @Field(() => ID, { description: 'The receiving address.' })
  addressId: string;
  @Field(() => Amount, { description: 'The amount that arrived or was taken back.' })
  amount: bigint;
  @Field(() => Currency, { description: 'Of the amount.' })
  currency: string;
  @Field(() => String, { description: "The bank's own reference." })
  reference: string;
  @Field(() => BankNoticeEvent, { description: 'What happened.' })
  event: 'received' | 'reversed' | 'recalled';
  @Field(() => OperatorDeposit, {
    nullable: true,
    description: 'The deposit; of a recall that with the negative amount. Null while a reversal waits for it.',
  })
  deposit: OperatorDeposit | null;
}
