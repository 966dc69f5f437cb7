import { ObjectType, Field, Int } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { modeOf } from '../../request/mode.js';
import { Mode } from '../../types/mode.js';
import { KeyPermission } from '../key/table.js';
import { SessionRole } from '../session/table.js';

@ObjectType({
  simpleResolvers: true,
  description: 'The caller: the account of the API key or session, and what it may do.',
})
export class Viewer {
  @Field(() => Int, { description: 'The edition of the interface: 1 or 2.' })
  edition: number;
  @Field(() => Mode, { description: 'Whether the key is of test mode or of live mode.' })
  mode: Mode;
  @Field(() => KeyPermission, { description: 'What the key may do.' })
  permission: KeyPermission;
  @Field(() => SessionRole, { nullable: true, description: 'The role of the session; null when the caller has a key.' })
  sessionRole: SessionRole | null;
  @Field(() => Boolean, { description: 'Whether the request acts on behalf of a connected user.' })
  onBehalf: boolean;
  actingAccountId: string;
}

/** What is known of the caller without a look at the database. */
export const viewerOf = ({ caller, edition }: Context): Viewer => ({
  edition: edition.number,
  mode: modeOf(caller.livemode),
  permission: caller.permission,
  sessionRole: caller.session?.role ?? null,
  onBehalf: caller.actingAccountId !== caller.accountId,
  actingAccountId: caller.actingAccountId,
});
