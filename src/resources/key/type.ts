import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { connectionOf } from '../../types/pagination.js';
import { Node } from '../../types/relay-node.js';
import { DateTime } from '../../types/scalars.js';
import { KeyPermission } from './table.js';

registerEnumType(KeyPermission, {
  name: 'KeyPermission',
  description: 'What an API key may do.',
  valuesConfig: { FULL: { description: 'May read and write.' }, READ: { description: 'May only read.' } },
});

const optional = { nullable: true } as const;

/** An API key, without its secret. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'An API key. Its secret is shown once, when the key is created.',
})
export class ApiKey extends Node {
  @Field(() => DateTime)
  created: number;
  @Field(() => Boolean)
  livemode: boolean;
  @Field(() => ID)
  accountId: string;
  @Field(() => KeyPermission)
  permission: KeyPermission;
  @Field(() => String, { description: 'The beginning of the key, which identifies it without revealing it.' })
  prefix: string;
  @Field(() => DateTime, optional)
  expiresAt: number | null;
  @Field(() => DateTime, optional)
  revokedAt: number | null;
  @Field(() => DateTime, { nullable: true, description: 'To the minute.' })
  lastUsedAt: number | null;
}

export const ApiKeyConnection = connectionOf('ApiKey', () => ApiKey);
