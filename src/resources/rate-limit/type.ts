import { ObjectType, Field, Float, Int } from 'type-graphql';
import { Problem } from '../../types/problem.js';

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

@ObjectType({ simpleResolvers: true, description: 'A part of a document that its one statement cannot answer.' })
class UncompiledPath {
  @Field(() => String, { description: 'The fields from the root, without aliases; empty for the whole document.' })
  path: string;
  @Field(() => String, { description: 'Why, as a sentence.' })
  reason: string;
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
  @Field(() => [UncompiledPath], {
    description:
      'What keeps it from being answered by one statement of PostgreSQL, from its third request on; resolvers answer ' +
      'it then, with a statement for each edge and the same result. Empty if one statement answers it.',
  })
  uncompiledPaths: readonly UncompiledPath[];
  @Field(() => [Problem], { description: 'Why it would be refused before it runs, 5 at most; empty if it would not.' })
  problems: Problem[];
}

@ObjectType({
  simpleResolvers: true,
  description: 'What is left of the allowance that all keys of the root account share in this mode, in points.',
})
export class RateLimit {
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
