import { Arg, Ctx, Field, Float, InputType, Int, ObjectType, Query, Resolver } from 'type-graphql';
import { GraphQLJSONObject } from 'graphql-scalars';
import type { Context } from '../../operation/context.js';
import { Problem } from '../../types/problem.js';

@InputType({ description: 'A document whose cost is computed. It is not run.' })
class DryRunInput {
  @Field(() => String, { description: 'The GraphQL document.' })
  query: string;
  @Field(() => GraphQLJSONObject, { nullable: true, description: 'The values of its variables, by name.' })
  variables?: Record<string, unknown> | null;
  @Field(() => String, { nullable: true, description: 'The operation of the document; required if it has several.' })
  operationName?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'What one path of a document could cost.' })
class PathCost {
  @Field(() => String, { description: 'The fields from the root, without aliases.' })
  path: string;
  @Field(() => Float, { description: 'How often it could be read: page sizes multiply along the path.' })
  times: number;
  @Field(() => Int, { description: 'The points each time.' })
  weight: number;
  @Field(() => Float, { description: 'The points in all.' })
  cost: number;
}

@ObjectType({ simpleResolvers: true, description: 'What a document would cost, or why it would be refused.' })
class DryRun {
  @Field(() => Float, {
    nullable: true,
    description: 'The points that a request with it could cost; null for a document that is not valid.',
  })
  requested: number | null;
  @Field(() => Float, { nullable: true, description: 'The nodes that it could touch.' })
  nodes: number | null;
  @Field(() => [PathCost], {
    description: 'The parts of the cost. Their sum, with the cost of a request, is `requested`.',
  })
  paths: PathCost[];
  @Field(() => [Problem], { description: 'Why it would be refused before it runs, 5 at most; empty if it would not.' })
  problems: Problem[];
}

@ObjectType({
  simpleResolvers: true,
  description: 'What is left of the allowance that all keys of the root account share in this mode, in points.',
})
class RateLimit {
  @Field(() => Int, { nullable: true, description: 'The most points that it holds; null if requests are not charged.' })
  limit: number | null;
  @Field(() => Int, {
    nullable: true,
    description: 'The points that are left, without those that this request could cost.',
  })
  remaining: number | null;
  @Field(() => Int, { nullable: true, description: 'The points that come back each second.' })
  restoreRate: number | null;
  @Field(() => Int, { nullable: true, description: 'The seconds until it is full, if no other request is sent.' })
  resetSeconds: number | null;
  @Field(() => DryRun, { nullable: true, description: 'The cost of the document of `dryRun`, if one is given.' })
  dryRun: DryRun | null;
}

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
      dryRun: (dryRun && context.dryRun?.(dryRun)) ?? null,
    };
  }
}
