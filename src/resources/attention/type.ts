import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import { AccountScope } from '../../types/account-scope.js';
import { Count } from '../../types/count.js';
import { DateTime } from '../../types/scalars.js';
import { Money } from '../balance/type.js';
import { AttentionAction, AttentionKind, AttentionSeverity } from './kinds.js';
import { readMax } from './waiting.js';

/** The most items that one answer has, and the number by default. */
export const itemsMax = 100;
export const itemsDefault = 20;

@ArgsType()
export class AttentionArgs {
  @Field(() => AccountScope, {
    defaultValue: AccountScope.SELF,
    description: 'Whether what waits at the accounts below the account counts, too.',
  })
  scope: AccountScope;
}

@ArgsType()
export class AttentionItemsArgs {
  @Field(() => Int, { defaultValue: itemsDefault, description: `How many items: 1 to ${itemsMax}.` })
  limit: number;
}

@ObjectType({ simpleResolvers: true, description: 'How much of one kind needs attention.' })
export class AttentionCount {
  @Field(() => AttentionKind, { description: 'What needs attention.' })
  kind: AttentionKind;
  @Field(() => AttentionSeverity, { description: 'How urgent it is.' })
  severity: AttentionSeverity;
  @Field(() => Count, { description: `The number of objects, counted up to ${readMax}.` })
  count: Count;
}

/** Everything of one kind that waits at one account. Silent: all fields. */
@ObjectType({
  simpleResolvers: true,
  description: 'What needs attention: the objects of one kind that wait at one account.',
})
export class AttentionItem {
  accountId: string;
  objectId: string;
  @Field(() => AttentionKind, { description: 'What needs attention.' })
  kind: AttentionKind;
  @Field(() => AttentionSeverity, { description: 'How urgent it is.' })
  severity: AttentionSeverity;
  @Field(() => AttentionAction, { description: 'What is to be done.' })
  nextAction: AttentionAction;
  @Field(() => Count, { description: `The number of objects, counted up to ${readMax}.` })
  count: Count;
  @Field(() => [Money], {
    nullable: true,
    description:
      'What it is about, as sums by currency: of a deposit its `pendingRest`, of a receivable its ' +
      '`amountReconcilable`, of blocked payouts the available money, of others their amount. Empty for statuses of ' +
      'accounts and for webhook endpoints. Null where `count` is not exact: a sum of some objects would be wrong.',
  })
  amounts: Money[] | null;
  @Field(() => DateTime, {
    nullable: true,
    description:
      'Since when the first of the objects waits: since a failure, a due date, an unpaid payout or a status began, ' +
      'or since a deposit or dispute was created. Null where it is not known: where payouts are disabled, and see ' +
      '`Account.statusSince`.',
  })
  since: number | null;
  @Field(() => DateTime, {
    nullable: true,
    description: 'Until when it has to be done: the first `respondBy` of disputes. Null for other kinds.',
  })
  dueBy: number | null;
}

/** What needs attention at an account. Silent: all fields. */
@ObjectType({ simpleResolvers: true, description: 'What needs attention at an account, and at those below it.' })
export class Attention {
  all: AttentionItem[];
  @Field(() => DateTime, { description: 'When it was looked up.' })
  asOf: number;
  @Field(() => [AttentionCount], {
    description: 'The kinds of which something waits, from the most urgent. Empty when nothing waits.',
  })
  counts: AttentionCount[];
}
