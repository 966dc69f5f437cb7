import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import type { OperatorContext } from '../context.js';
import { accountAbout } from '../graph/about.js';
import { filterOf } from '../graph/filters.js';
import { edgesOf, type OperatorModule, root } from '../graph/module.js';
import { OperatorAccount } from '../graph/type.js';
import {
  OperatorUnexplained,
  RecordUnexplainedInput,
  ResolveUnexplainedInput,
  UnexplainedArgs,
  UnexplainedPage,
} from '../graph/unexplained-type.js';
import { listUnexplained, recordUnexplained, resolveUnexplained } from '../money/unexplained.js';
import type { ListPage } from '../paging.js';

const RecordUnexplainedPayload = payloadOf('RecordUnexplained', 'unexplained', OperatorUnexplained);
const ResolveUnexplainedPayload = payloadOf('ResolveUnexplained', 'unexplained', OperatorUnexplained);

/** Money of acquirers that no attempt explains. Spec: decisions, 8.14. */
@Resolver()
class OperatorUnexplainedMoney {
  @Query(() => UnexplainedPage, {
    description: 'The unexplained money of all tenants, or of one, newest first; what is OPEN is oldest first.',
  })
  unexplained(
    @Args(() => UnexplainedArgs) args: UnexplainedArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorUnexplained>> {
    return listUnexplained(operator, filterOf('unexplained', args));
  }

  @Mutation(() => RecordUnexplainedPayload, {
    description:
      'Records by hand what was taken back of a live deposit that has nothing left of it. `openDispute` and a notice ' +
      'of a bank do so themselves. It is in no balance. The same again changes nothing. Refused with 409 where ' +
      'something is left, which a dispute or a recall takes, and with 402 beyond what was paid.',
  })
  async recordUnexplained(
    @Input(() => RecordUnexplainedInput) input: RecordUnexplainedInput,
    @Ctx() { operator }: OperatorContext,
  ) {
    return { unexplained: await recordUnexplained(operator, input) };
  }

  @Mutation(() => ResolveUnexplainedPayload, {
    description: 'Records what became of unexplained money, once. It moves nothing.',
  })
  async resolveUnexplained(
    @Input(() => ResolveUnexplainedInput) { id, resolution }: ResolveUnexplainedInput,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { unexplained: await resolveUnexplained(operator, id, resolution, viewer.name) };
  }
}

/** Whose money it would be, so that people read a name. */
@Resolver(() => OperatorUnexplained)
class OperatorUnexplainedNames {
  @FieldResolver(() => OperatorAccount, {
    nullable: true,
    description: 'The account that received the deposit, or whose checkout the attempt was to pay.',
  })
  account(
    @Root() row: OperatorUnexplained,
    @Ctx() { related }: OperatorContext,
  ): Promise<OperatorAccount | null> | null {
    const id = row.depositId ?? row.transactionId;
    return id === null ? null : accountAbout(related, row, id);
  }
}

export default {
  resolvers: [OperatorUnexplainedMoney, OperatorUnexplainedNames],
  fields: { unexplained: 'unexplained', recordUnexplained: 'unexplained', resolveUnexplained: 'unexplained' },
  edges: [edgesOf(OperatorUnexplained, { root })],
} satisfies OperatorModule;
