import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import type { OperatorContext } from '../context.js';
import { filterOf } from '../graph/filters.js';
import type { OperatorModule } from '../graph/module.js';
import {
  OperatorUnexplained,
  ResolveUnexplainedInput,
  UnexplainedArgs,
  UnexplainedPage,
} from '../graph/unexplained-type.js';
import { listUnexplained, resolveUnexplained } from '../money/unexplained.js';
import type { ListPage } from '../paging.js';

const ResolveUnexplainedPayload = payloadOf('ResolveUnexplained', 'unexplained', OperatorUnexplained);

/** Money of acquirers that no attempt explains. Spec: decisions, 8.14. */
@Resolver()
class OperatorUnexplainedMoney {
  @Query(() => UnexplainedPage, { description: 'The unexplained money of all tenants, or of one, oldest first.' })
  unexplained(
    @Args(() => UnexplainedArgs) args: UnexplainedArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorUnexplained>> {
    return listUnexplained(operator, filterOf('unexplained', args));
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

export default {
  resolvers: [OperatorUnexplainedMoney],
  fields: { unexplained: 'unexplained', resolveUnexplained: 'unexplained' },
} satisfies OperatorModule;
