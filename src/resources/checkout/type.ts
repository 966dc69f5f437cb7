import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { Amount, Currency, DateTime } from '../../types/scalars.js';
import { CheckoutPaymentMethod, CheckoutStatus, CheckoutType } from './table.js';

registerEnumType(CheckoutType, { name: 'CheckoutType', description: 'What a checkout is for.' });
registerEnumType(CheckoutPaymentMethod, { name: 'CheckoutPaymentMethod', description: 'A way to pay a checkout.' });
registerEnumType(CheckoutStatus, {
  name: 'CheckoutStatus',
  description: 'How far a checkout has come.',
  valuesConfig: {
    INITIALIZED: { description: 'Ready to be opened by the partner.' },
    COMPLETED: { description: 'Paid in time.' },
    EXPIRED: { description: 'Its time is over. A payment that comes late is credited all the same; the status stays.' },
    CANCELLED: { description: 'Withdrawn by its user.' },
  },
});

@ObjectType({ simpleResolvers: true, description: 'One side of a checkout.' })
export class CheckoutParty {
  @Field(() => ID)
  accountId: string;
}

/** A payment session that a partner opens in a browser. Spec: Checkout. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'A payment session that a partner opens in a browser, at `url`. Edition 2.',
})
export class Checkout extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => DateTime, { description: 'When the session expires.' })
  expiresAt: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => Amount, { description: 'Collected from the partner.' })
  amount: bigint;
  @Field(() => Amount, { description: 'Payable by the partner: the amount and the fee, if one is configured.' })
  grossAmount: bigint;
  @Field(() => Currency)
  currency: string;
  @Field(() => [CheckoutPaymentMethod])
  paymentMethods: CheckoutPaymentMethod[];
  @Field(() => String, { description: 'Where the partner goes afterwards, with `checkout_id` added to the query.' })
  redirectUrl: string;
  @Field(() => CheckoutStatus)
  status: CheckoutStatus;
}

export const CheckoutConnection = connectionOf('Checkout', () => Checkout);
