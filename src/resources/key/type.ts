import { registerEnumType, Field, ID, ObjectType } from 'type-graphql';
import { KeyPermission } from './table.js';
import { Node } from '../../types/relay-node.js';
import { DateTime } from '../../types/scalars.js';
import { texts } from '../../types/texts.js';
import { connectionOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';

registerEnumType(KeyPermission, {
  name: 'KeyPermission',
  description: 'What an API key may do.',
  valuesConfig: { FULL: { description: 'May read and write.' }, READ: { description: 'May only read.' } },
});

/** An API key, without its secret. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description: 'An API key. Its secret is shown once, when the key is created.',
})
export class ApiKey extends Node {
  @Field(() => DateTime, { description: texts.created })
  created: number;
  @Field(() => Boolean, { description: 'True for a key of live mode, false for a key of test mode.' })
  livemode: boolean;
  @Field(() => ID, { description: 'The id of the account whose key it is.' })
  accountId: string;
  @Field(() => KeyPermission, { description: 'What the key may do.' })
  permission: KeyPermission;
  @Field(() => String, { description: 'The beginning of the key, which identifies it without revealing it.' })
  prefix: string;
  @Field(() => DateTime, { nullable: true, description: 'When the key expires. Null if it does not expire.' })
  expiresAt: number | null;
  @Field(() => DateTime, { nullable: true, description: 'When the key was revoked. Null if it was not.' })
  revokedAt: number | null;
  @Field(() => DateTime, {
    nullable: true,
    description: 'When the key was last used, to the minute. Null if it was never used.',
  })
  lastUsedAt: number | null;
}

export const ApiKeyConnection = connectionOf('ApiKey', () => ApiKey);

@ObjectType({ simpleResolvers: true })
class NewApiKeyPayload {
  @Field(() => ApiKey, { description: 'The new key.' })
  apiKey: ApiKey;
  @Field(() => String, {
    nullable: true,
    description: 'The key itself, shown only once. Null when the response is a replay.',
  })
  secret?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'The new key with its secret, which is shown only once.' })
export class CreateApiKeyPayload extends NewApiKeyPayload {}

@ObjectType({ simpleResolvers: true, description: 'The new key with its secret, which is shown only once.' })
export class RotateApiKeyPayload extends NewApiKeyPayload {}

export const RevokeApiKeyPayload = payloadOf('RevokeApiKey', 'apiKey', ApiKey);
