import { type ClassType, Field, Int, ObjectType } from 'type-graphql';
import { CheckoutStatus } from '../checkout/table.js';
import { DepositStatus } from '../deposit/table.js';
import { PayoutStatus } from '../payout/table.js';
import { ReceivableStatus } from '../receivable/table.js';

/** How many objects of a kind have a status. */
interface StatusCount<S> {
  status: S;
  count: number;
}

/** The type of the counts of one kind of objects. */
function countOf<S extends string>(name: string, values: Record<string, S>, objects: string) {
  @ObjectType(`${name}StatusCount`, { simpleResolvers: true, description: `How many ${objects} have a status.` })
  class Count {
    @Field(() => values, { description: 'The status.' })
    status: S;
    @Field(() => Int, { description: 'The number of objects in this status; 0 for none.' })
    count: number;
  }
  return Count as ClassType<StatusCount<S>>;
}

const CheckoutCount = countOf('Checkout', CheckoutStatus, 'checkouts');
const DepositCount = countOf('Deposit', DepositStatus, 'deposits');
const PayoutCount = countOf('Payout', PayoutStatus, 'payouts');
const ReceivableCount = countOf('Receivable', ReceivableStatus, 'receivables');

/** The numbers of an account's objects by status. Silent: all fields. */
@ObjectType({
  simpleResolvers: true,
  description: 'The numbers of objects by status. Each list has every status, in the order of the enum.',
})
export class StatusCounts {
  @Field(() => [CheckoutCount], { description: 'The checkouts that pay the accounts. Edition 2 only.' })
  checkouts: StatusCount<CheckoutStatus>[];
  @Field(() => [DepositCount], { description: 'The deposits to the accounts, disputes included.' })
  deposits: StatusCount<DepositStatus>[];
  @Field(() => [PayoutCount], { description: 'The payouts of the accounts.' })
  payouts: StatusCount<PayoutStatus>[];
  @Field(() => [ReceivableCount], { description: 'The receivables of the accounts.' })
  receivables: StatusCount<ReceivableStatus>[];
}
