import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Query,
  Resolver,
  registerEnumType,
  Root,
} from 'type-graphql';
import type { PgTable } from 'drizzle-orm/pg-core';
import { account } from '../../resources/account/table.js';
import { Account } from '../../resources/account/type.js';
import { accountSetting } from '../../resources/account-setting/table.js';
import { address } from '../../resources/address/table.js';
import { checkoutNow } from '../../resources/checkout/now.js';
import type { Context } from '../../operation/context.js';
import { deposit } from '../../resources/deposit/table.js';
import type { Rows } from '../../db/list-statement.js';
import { type EventRow, event } from '../../resources/event/table.js';
import { file } from '../../resources/file/table.js';
import { KeyPermission } from '../../resources/key/table.js';
import { apiKey } from '../../resources/key/table.js';
import { entry } from '../../resources/ledger/table.js';
import { Node, prefixOf } from '../../types/relay-node.js';
import { payment } from '../../resources/payment/table.js';
import { payout } from '../../resources/payout/table.js';
import { person } from '../../resources/person/table.js';
import { receivable } from '../../resources/receivable/table.js';
import { transaction } from '../../resources/transaction/table.js';
import { problem, DomainError } from '../../request/problems.js';

export const Mode = { TEST: 'test', LIVE: 'live' } as const;
registerEnumType(Mode, { name: 'Mode', description: 'Test mode touches neither live data nor financial networks.' });

/** The table of each resource by the prefix of its ids. */
const tables: Record<string, PgTable & Rows> = {
  account,
  account_setting: accountSetting,
  address,
  file,
  key: apiKey,
  person,
  bt: entry,
  checkout: checkoutNow,
  deposit,
  event,
  payment,
  payout,
  receivable,
  transaction,
};

const nodesMax = 100;

@ObjectType({
  simpleResolvers: true,
  description: 'Whoever asks: the account of the API key, and what the key may do.',
})
class Viewer {
  @Field(() => Int, { description: 'The edition of the interface: 1 or 2.' })
  edition: number;
  @Field(() => Mode)
  mode: 'test' | 'live';
  @Field(() => KeyPermission)
  permission: KeyPermission;
  @Field(() => Boolean, { description: 'Whether the request acts on behalf of a connected user.' })
  onBehalf: boolean;
}

/** Who asks, and anything by its id. Silent: both. */
@Resolver(() => Viewer)
export class ViewerResolver {
  @Query(() => Viewer, { description: 'Who asks: the account of the API key, and what the key may do.' })
  viewer(@Ctx() { caller, edition }: Context): Viewer {
    return {
      edition: edition.number,
      mode: caller.livemode ? 'live' : 'test',
      permission: caller.permission,
      onBehalf: caller.actingAccountId !== caller.accountId,
    };
  }

  @FieldResolver(() => Account, {
    description: "The account whose context applies: the one acted for, else the API key's own.",
  })
  async account(@Root() _: Viewer, @Ctx() { scope, caller }: Context): Promise<Account | null> {
    return scope.find(account, caller.actingAccountId);
  }

  @Query(() => Node, { nullable: true, description: 'Anything within reach by its id; null when there is none.' })
  async node(@Arg('id', () => ID) id: string, @Ctx() { scope }: Context): Promise<Node | null> {
    const prefix = prefixOf(id);
    const table = Object.hasOwn(tables, prefix) ? tables[prefix] : undefined;
    const row = table ? await scope.find(table, id) : null;
    // An event is there once it has its number, as everywhere.
    if (table === event && (row as EventRow | null)?.number === null) return null;
    return row as unknown as Node | null;
  }

  @Query(() => [Node], { nullable: 'items', description: `Up to ${nodesMax} of them, in the order asked for.` })
  async nodes(@Arg('ids', () => [ID]) ids: string[], @Ctx() context: Context): Promise<(Node | null)[]> {
    if (ids.length > nodesMax)
      throw new DomainError(problem('parameter_invalid', 'node.ids', `has more than ${nodesMax} ids`));
    return Promise.all(ids.map((id) => this.node(id, context)));
  }
}
