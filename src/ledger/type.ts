import { registerEnumType } from 'type-graphql';
import { Compartment } from './table.js';

registerEnumType(Compartment, {
  name: 'Compartment',
  description: 'A compartment of a balance.',
  valuesConfig: {
    AVAILABLE: { description: 'Reconciled, not yet picked up for payout.' },
    PENDING: { description: 'Received, not yet reconciled.' },
    PROCESSING: { description: 'On the way from one compartment to another, as in a conversion.' },
    PAYOUT_PROCESSING: { description: 'Being paid out.' },
    FEE_ADVANCE: { description: 'Kept by a platform in advance for fees.' },
  },
});
