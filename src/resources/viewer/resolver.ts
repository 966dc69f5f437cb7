import { Query, Ctx, Arg, ID, Resolver } from 'type-graphql';
import { Viewer, viewerOf } from './type.js';
import type { Context } from '../../operation/context.js';
import { Node } from '../../types/relay-node.js';
import { readableNode } from '../define.js';
import { DomainError, problem } from '../../errors/problems.js';

const nodesMax = 100;

/** The caller, and any visible object by its id. Silent: both. */
@Resolver(() => Viewer)
export class ViewerResolver {
  @Query(() => Viewer, { description: 'The caller: the account of the API key or session, and what it may do.' })
  viewer(@Ctx() context: Context): Viewer {
    return viewerOf(context);
  }

  @Query(() => Node, {
    nullable: true,
    description: 'An object that the caller can see, by its id; null when there is none.',
  })
  async node(
    @Arg('id', () => ID, { description: 'The id of an object of any type.' }) id: string,
    @Ctx() { scope, caller }: Context,
  ): Promise<Node | null> {
    const node = readableNode(id, caller);
    const row = node ? await scope.find(node.rows, id) : null;
    return row && node?.shown?.(row) === false ? null : (row as Node | null);
  }

  @Query(() => [Node], { nullable: 'items', description: `Up to ${nodesMax} objects, in the order of the ids.` })
  async nodes(
    @Arg('ids', () => [ID], { description: `The ids; at most ${nodesMax}.` }) ids: string[],
    @Ctx() context: Context,
  ): Promise<(Node | null)[]> {
    if (ids.length > nodesMax)
      throw new DomainError(problem('parameter_invalid', 'node.ids', `must have at most ${nodesMax} ids`));
    return Promise.all(ids.map((id) => this.node(id, context)));
  }
}
