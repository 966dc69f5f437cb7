import { type ClassType, Field, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../types/scalars.js';
import { CheckoutStatus } from '../checkout/table.js';
import { DepositStatus } from '../deposit/table.js';
import { PayoutStatus } from '../payout/table.js';
import { ReceivableStatus } from '../receivable/table.js';

/** How many objects of a kind have a status. */
export interface StatusCount<S> {
  accountId: string;
  descendants: boolean;
  status: S;
  count: number;
}

/** The type of the counts of one kind of objects. */
function countOf<S extends string>(name: string, values: Record<string, S>, objects: string) {
  @ObjectType(`${name}StatusCount`, { simpleResolvers: true, description: `How many ${objects} have a status.` })
  class Count {
    accountId: string;
    descendants: boolean;
    @Field(() => values, { description: 'The status.' })
    status: S;
    @Field(() => Int, { description: 'The number of objects in this status; 0 for none.' })
    count: number;
  }
  return Count as ClassType<StatusCount<S>>;
}

/** How many objects of a kind there are, and how many have each status. */
export interface StatusCountsOf<S> {
  total: number;
  statuses: StatusCount<S>[];
}

/** The type of the counts of all statuses of one kind of objects. */
function countsOf<S extends string>(name: string, of: ClassType<StatusCount<S>>, objects: string) {
  @ObjectType(`${name}StatusCounts`, { simpleResolvers: true, description: `The numbers of ${objects} by status.` })
  class Counts {
    @Field(() => Int, { description: `The number of ${objects} of all statuses.` })
    total: number;
    @Field(() => [of], { description: 'All statuses, in the order of the enum.' })
    statuses: StatusCount<S>[];
  }
  return Counts as ClassType<StatusCountsOf<S>>;
}

export const CheckoutCount = countOf('Checkout', CheckoutStatus, 'checkouts');
export const DepositCount = countOf('Deposit', DepositStatus, 'deposits');
export const PayoutCount = countOf('Payout', PayoutStatus, 'payouts');
export const ReceivableCount = countOf('Receivable', ReceivableStatus, 'receivables');

const CheckoutCounts = countsOf('Checkout', CheckoutCount, 'checkouts');
const DepositCounts = countsOf('Deposit', DepositCount, 'deposits');
const PayoutCounts = countsOf('Payout', PayoutCount, 'payouts');
const ReceivableCounts = countsOf('Receivable', ReceivableCount, 'receivables');

/** The numbers of an account's objects by status. Silent: all fields. */
@ObjectType({
  simpleResolvers: true,
  description: 'The numbers of objects by status.',
})
export class StatusCounts {
  @Field(() => DateTime, { description: 'When they were counted.' })
  asOf: number;
  @Field(() => CheckoutCounts, { description: 'The checkouts that pay the accounts. Edition 2 only.' })
  checkouts: StatusCountsOf<CheckoutStatus>;
  @Field(() => DepositCounts, { description: 'The deposits to the accounts, disputes included.' })
  deposits: StatusCountsOf<DepositStatus>;
  @Field(() => PayoutCounts, { description: 'The payouts of the accounts.' })
  payouts: StatusCountsOf<PayoutStatus>;
  @Field(() => ReceivableCounts, { description: 'The receivables of the accounts.' })
  receivables: StatusCountsOf<ReceivableStatus>;
}
