import { Query, Arg, Ctx, Resolver } from 'type-graphql';
import { RateLimit } from './type.js';
import { DryRunInput } from './inputs.js';
import type { Context } from '../../operation/context.js';

/** The allowance of the caller's root account, and the cost of a document before it is run. Silent: both. */
@Resolver(() => RateLimit)
export class RateLimitResolver {
  @Query(() => RateLimit, {
    description: 'The allowance of the root account in this mode, and what a document would cost, and why.',
  })
  rateLimit(
    @Arg('dryRun', () => DryRunInput, { nullable: true, description: 'A document whose cost is returned.' }) dryRun:
      | DryRunInput
      | undefined,
    @Ctx() context: Context,
  ): RateLimit {
    const unlimited = { limit: null, remaining: null, restoreRate: null, resetSeconds: null };
    return {
      ...(context.budget.charge?.state ?? unlimited),
      dryRun: (dryRun && context.gateway?.dryRun(dryRun, context)) ?? null,
    };
  }
}
