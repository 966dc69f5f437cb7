import { registerEnumType, Field, ID, ObjectType } from 'type-graphql';
import { CheckoutType, CheckoutPaymentMethod, CheckoutStatus } from './table.js';
import { Node } from '../../types/relay-node.js';
import { DateTime, Amount, Currency, URL } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(CheckoutType, {
  name: 'CheckoutType',
  description: 'What a checkout is for.',
  valuesConfig: { PAYMENT: { description: 'One payment.' } },
});

registerEnumType(CheckoutPaymentMethod, {
  name: 'CheckoutPaymentMethod',
  description: 'A way to pay a checkout.',
  valuesConfig: { CARDS: { description: 'Cards.' }, UPI: { description: 'UPI.' } },
});

registerEnumType(CheckoutStatus, {
  name: 'CheckoutStatus',
  description: 'How far a checkout has come.',
  valuesConfig: {
    INITIALIZED: { description: 'Ready for the partner to open.' },
    COMPLETED: { description: 'Paid in time.' },
    EXPIRED: {
      description:
        'The session has expired. A payment that arrives later is still credited; the status does not change.',
    },
    CANCELLED: { description: 'Withdrawn by its user.' },
  },
});

@ObjectType({ simpleResolvers: true, description: 'One side of a checkout.' })
export class CheckoutParty {
  @Field(() => ID, { description: 'The id of the account.' })
  accountId: string;
}

/** A payment session that a partner opens in a browser. Spec: Checkout. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description:
    'A payment session that a partner opens in a browser: at `url` of the graph, or `Link` of /v1. Edition 2.',
})
export class Checkout extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => DateTime, { description: 'When the session expires.' })
  expiresAt: number;
  @Field(() => Boolean, { description: texts.livemode })
  livemode: boolean;
  @Field(() => Amount, { description: 'The amount that is collected from the partner.' })
  amount: bigint;
  @Field(() => Amount, {
    description: 'The amount that the partner pays: the amount and the fee, if one is configured.',
  })
  grossAmount: bigint;
  @Field(() => Currency, { description: 'The currency of the amounts: INR.' })
  currency: string;
  @Field(() => [CheckoutPaymentMethod], {
    description: 'The methods with which the partner can pay.',
    deprecationReason: 'Since 0.3.0 deposits, attempts and checkouts have one enum of methods: use `methods`.',
  })
  paymentMethods: CheckoutPaymentMethod[];
  @Field(() => URL, {
    description: 'The address to which the partner is redirected afterwards, with `checkout_id` added to the query.',
  })
  redirectUrl: string;
  @Field(() => CheckoutStatus, { description: 'How far the checkout has come.' })
  status: CheckoutStatus;
  @Field(() => DateTime, {
    nullable: true,
    description:
      'When its page was last open in a browser, to the minute, while the checkout could be paid; null before that. ' +
      'The script of the page tells it, so a preview of the link in a messenger does not count.',
  })
  openedAt: number | null;
  @Field(() => DateTime, {
    nullable: true,
    description: 'When the latest attempt to pay began; null before the first.',
  })
  lastTriedAt: number | null;
}

export const CheckoutConnection = connectionOf('Checkout', () => Checkout);

export const CreateCheckoutPayload = payloadOf('CreateCheckout', 'checkout', Checkout);
export const CancelCheckoutPayload = payloadOf('CancelCheckout', 'checkout', Checkout);
export const PayTestCheckoutPayload = payloadOf('PayTestCheckout', 'checkout', Checkout);
export const DeclineTestCheckoutPayload = payloadOf('DeclineTestCheckout', 'checkout', Checkout);
export const ExpireTestCheckoutPayload = payloadOf('ExpireTestCheckout', 'checkout', Checkout);
