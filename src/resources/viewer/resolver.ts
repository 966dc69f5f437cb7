import { Query, Ctx, FieldResolver, Root, Arg, ID, Resolver } from 'type-graphql';
import { Viewer } from './type.js';
import type { Context } from '../../operation/context.js';
import { modeOf } from '../../request/mode.js';
import { Account } from '../account/type.js';
import { account } from '../account/table.js';
import { DateTime } from '../../types/scalars.js';
import { readNow } from '../clock/now.js';
import { ApiKey } from '../key/type.js';
import { apiKey } from '../key/table.js';
import { Node } from '../../types/relay-node.js';
import { readableNode } from '../define.js';
import { DomainError, problem } from '../../errors/problems.js';

const nodesMax = 100;

/** The caller, and any visible object by its id. Silent: both. */
@Resolver(() => Viewer)
export class ViewerResolver {
  @Query(() => Viewer, { description: 'The caller: the account of the API key or session, and what it may do.' })
  viewer(@Ctx() { caller, edition }: Context): Viewer {
    return {
      edition: edition.number,
      mode: modeOf(caller.livemode),
      permission: caller.permission,
      sessionRole: caller.session?.role ?? null,
      onBehalf: caller.actingAccountId !== caller.accountId,
    };
  }

  @FieldResolver(() => Account, {
    description:
      'The acting account: the account named by On-Behalf-Of, or otherwise the account of the API key or session.',
  })
  async account(@Root() _: Viewer, @Ctx() { scope, caller }: Context): Promise<Account | null> {
    return scope.find(account, caller.actingAccountId);
  }

  @FieldResolver(() => DateTime, {
    description:
      'The time by which objects of this mode are created and become due: the clock of the database, and in ' +
      'test mode the test clock.',
  })
  now(@Root() _: Viewer, @Ctx() { scope }: Context): Promise<number> {
    return readNow(scope);
  }

  @FieldResolver(() => ApiKey, {
    nullable: true,
    description:
      'The API key of the request; null for a session, and for a request on behalf of a connected user, which sees ' +
      'no keys of the platform.',
  })
  async apiKey(@Root() _: Viewer, @Ctx() { scope, caller }: Context): Promise<ApiKey | null> {
    return caller.session ? null : scope.find(apiKey, caller.keyId);
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
