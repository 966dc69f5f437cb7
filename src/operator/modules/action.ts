import { GraphQLJSONObject } from 'graphql-scalars';
import type { OperatorModule } from '../graph/module.js';
import {
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
  Root,
} from 'type-graphql';
import { DomainError, problem } from '../../errors/problems.js';
import { Mode } from '../../types/mode.js';
import { DateTime } from '../../types/scalars.js';
import type { ActionSeal, OperatorActionEntry } from '../action/actions.js';
import type { OperatorContext } from '../context.js';
import { viewerOf } from '../access/credential.js';
import { accountAbout } from '../graph/about.js';
import { PageArgs, pageSizeOf } from '../graph/inputs.js';
import { pageOf } from '../graph/page-type.js';
import { OperatorAccount } from '../graph/type.js';
import type { ListPage } from '../paging.js';
import { ActionOutcome, OperatorRole, type OperatorRow } from '../table.js';
import { listOperators } from '../access/operators.js';
import { listActions, verifyActions } from '../action/actions.js';

registerEnumType(OperatorRole, {
  name: 'OperatorRole',
  description: 'What an operator may do.',
  valuesConfig: {
    READ: { description: 'Read everything, and change nothing.' },
    OPERATE: { description: 'Read and change everything.' },
  },
});
registerEnumType(ActionOutcome, {
  name: 'OperatorActionOutcome',
  description: 'How an action of an operator has ended.',
  valuesConfig: {
    ATTEMPTED: {
      description:
        'It is under way, or its process has ended before the outcome was known. It may have had its effect.',
    },
    SUCCEEDED: { description: 'It has had its effect.' },
    REFUSED: { description: 'It was refused, and changed nothing.' },
    FAILED: { description: 'A fault or an outage ended it. It may have had its effect.' },
  },
});

@ObjectType('Operator', { description: 'A person who operates the service.' })
class NamedOperator implements Partial<OperatorRow> {
  @Field(() => ID, { description: 'The id.' })
  id: string;
  @Field(() => DateTime, { description: 'When it was created.' })
  created: number;
  @Field(() => String, { description: 'Who created it.' })
  createdBy: string;
  @Field(() => String, { description: 'The name, which no other operator has that is not revoked.' })
  name: string;
  @Field(() => OperatorRole, { description: 'What it may do.' })
  role: OperatorRole;
  @Field(() => String, { name: 'keyPrefix', description: 'The beginning and the end of its key.' })
  prefix: string;
  @Field(() => DateTime, { nullable: true, description: 'When its key was last used, to the minute.' })
  lastUsedAt: number | null;
  @Field(() => DateTime, { nullable: true, description: 'When it was revoked.' })
  revokedAt: number | null;
}

@ObjectType('OperatorViewer', { description: 'Who sends the request.' })
class OperatorViewer {
  @Field(() => ID, { nullable: true, description: 'The id of the operator; null for the holder of OPERATOR_KEY.' })
  id: string | null;
  @Field(() => String, { description: 'The name; `OPERATOR_KEY` for its holder.' })
  name: string;
  @Field(() => OperatorRole, { description: 'What the operator may do.' })
  role: OperatorRole;
  @Field(() => DateTime, { nullable: true, description: 'When the session in the browser ends; null without one.' })
  sessionExpires: number | null;
}

@ObjectType('OperatorAction', {
  description: 'Something that an operator has done or tried, as the audit log has it.',
})
class Action implements Partial<OperatorActionEntry> {
  @Field(() => Int, { description: 'The number of its first entry in the audit log.' })
  number: number;
  @Field(() => DateTime, { description: 'When it began.' })
  created: number;
  @Field(() => DateTime, { nullable: true, description: 'When its outcome was known.' })
  ended: number | null;
  @Field(() => String, { description: 'Who: the name of an operator, `OPERATOR_KEY`, or a user of the command line.' })
  operator: string;
  @Field(() => ID, { nullable: true, description: 'The id of the operator, if it has one.' })
  operatorId: string | null;
  @Field(() => String, { description: 'A mutation, such as `settlePayout`, or a command, such as `payout settle`.' })
  operation: string;
  @Field(() => ID, { nullable: true, description: 'The object on which it was done.' })
  objectId: string | null;
  @Field(() => ID, { nullable: true, description: 'The object that it made.' })
  resultId: string | null;
  @Field(() => ID, { nullable: true, name: 'tenantId', description: 'The tenant, if it is known.' })
  tenant: string | null;
  @Field(() => Mode, { nullable: true, description: 'The mode, if it is known.' })
  mode: Mode | null;
  @Field(() => ID, { description: 'The id of the request, which the log and the events have too.' })
  requestId: string;
  @Field(() => ActionOutcome, { description: 'How it has ended.' })
  outcome: ActionOutcome;
  @Field(() => String, { nullable: true, description: 'The error code, if it was refused or has failed.' })
  code: string | null;
  @Field(() => GraphQLJSONObject, { description: 'The arguments, shortened, and what is known of the outcome.' })
  details: Record<string, unknown>;
  @Field(() => String, { description: 'The hash of its first entry.' })
  hash: string;
}
const ActionPage = pageOf('OperatorAction', () => Action, 'newest first');

@ObjectType('OperatorActionsSeal', {
  simpleResolvers: true,
  description: 'The result of checking the hash chain of the audit log.',
})
class OperatorActionsSeal implements ActionSeal {
  @Field(() => Int, { description: 'How many entries were checked. An action has two.' })
  entries: number;
  @Field(() => String, {
    description: 'The hash of the last entry. Kept elsewhere, it shows later whether an entry up to this one is gone.',
  })
  lastHash: string;
  @Field(() => Int, {
    nullable: true,
    description: 'The first entry that is missing or does not match; null when all entries match.',
  })
  firstBroken: number | null;
}

@ArgsType()
class ActionsArgs extends PageArgs {
  @Field(() => String, { nullable: true, description: 'Only of this operator, by its name.' })
  operator?: string | null;
  @Field(() => String, { nullable: true, description: 'Only this mutation or command.' })
  operation?: string | null;
  @Field(() => ID, { nullable: true, description: 'Only on this object, or that made it.' })
  objectId?: string | null;
}

@ArgsType()
class SealArgs {
  @Field(() => Int, {
    nullable: true,
    description:
      'The `entries` of an earlier check. Its last entry must still be there, and those after it are checked.',
  })
  entries?: number | null;
  @Field(() => String, { nullable: true, description: 'The `lastHash` of the earlier check.' })
  lastHash?: string | null;
}

/** The account that an object is about, and the tenant, so that people read names. */
@Resolver(() => Action)
class OperatorActionNames {
  @FieldResolver(() => OperatorAccount, {
    nullable: true,
    description:
      'The account on which it was done, or that it made; of another object, such as a payout, the account that the ' +
      'object is about. Null in no known tenant.',
  })
  account(@Root() action: Action, @Ctx() { related }: OperatorContext): Promise<OperatorAccount | null> | null {
    const ids = [action.objectId, action.resultId].filter((each) => each != null);
    const id = ids.find((each) => each.startsWith('account_')) ?? ids[0];
    return id === undefined ? null : accountOf(action, related, id);
  }

  @FieldResolver(() => OperatorAccount, {
    nullable: true,
    description: 'The root account of the tenant, if it is known.',
  })
  root(@Root() action: Action, @Ctx() { related }: OperatorContext): Promise<OperatorAccount | null> | null {
    return accountOf(action, related, `account_${action.tenant}`);
  }
}

function accountOf({ tenant, mode }: Action, related: OperatorContext['related'], id: string) {
  return tenant === null || mode === null
    ? null
    : accountAbout(related, { tenantId: tenant, livemode: mode === 'live' }, id);
}

/** The operators and what they do. Silent: all of it. */
@Resolver()
class OperatorActions {
  @Query(() => OperatorViewer, { description: 'Who sends the request.' })
  viewer(@Ctx() { viewer }: OperatorContext): OperatorViewer {
    return viewerOf(viewer);
  }

  @Query(() => [NamedOperator], {
    description: 'The operators, those that are revoked last: 200 at most. They are made and revoked by command.',
  })
  operators(@Ctx() { operator }: OperatorContext): Promise<NamedOperator[]> {
    return listOperators(operator);
  }

  @Query(() => ActionPage, { description: 'What operators have done, newest first.' })
  operatorActions(
    @Args(() => ActionsArgs) { operator: name, operation, objectId, first, after }: ActionsArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<Action>> {
    return listActions(operator, {
      ...{ operator: name ?? undefined, operation: operation ?? undefined, objectId: objectId ?? undefined },
      ...{ after: after ?? undefined, limit: pageSizeOf('operator_action', first) },
    });
  }

  @Query(() => OperatorActionsSeal, {
    description: 'Checks the hash chain of the audit log: all of it, or what came after an earlier check.',
  })
  operatorActionsSeal(
    @Args(() => SealArgs) { entries, lastHash }: SealArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<OperatorActionsSeal> {
    if (entries == null && lastHash == null) return verifyActions(operator);
    if (entries == null) throw new DomainError(problem('parameter_missing', 'operator_action.entries'));
    if (lastHash == null) throw new DomainError(problem('parameter_missing', 'operator_action.last_hash'));
    if (entries < 1)
      throw new DomainError(problem('parameter_invalid', 'operator_action.entries', 'must be greater than zero'));
    return verifyActions(operator, { entries, lastHash });
  }
}

export default {
  resolvers: [OperatorActions, OperatorActionNames],
  fields: {
    viewer: 'operator',
    operators: 'operator',
    operatorActions: 'operator_action',
    operatorActionsSeal: 'operator_action',
  },
  sizes: { 'Query.operators': 200 },
} satisfies OperatorModule;
