import { InputType, Field, ID, Int } from 'type-graphql';
import { KeyPermission } from './table.js';

export const graceSecondsDefault = 24 * 3600;
export const graceSecondsMax = 7 * 24 * 3600;
export const expirySecondsMax = 5 * 365 * 24 * 3600;

@InputType({ description: 'Creates an API key.' })
export class CreateApiKeyInput {
  @Field(() => ID, {
    nullable: true,
    description: 'The id of the owner of the key: the acting account by default, or a connected user of the platform.',
  })
  accountId?: string | null;
  @Field(() => KeyPermission, { nullable: true, defaultValue: 'full', description: 'What the key may do.' })
  permission?: KeyPermission | null;
  @Field(() => Int, {
    nullable: true,
    description:
      'After how many seconds the key expires. Without it, the key does not expire. A key that expires creates only ' +
      'keys that expire no later.',
  })
  expiresInSeconds?: number | null;
}

@InputType({ description: 'Names the API key to be replaced.' })
export class RotateApiKeyInput {
  @Field(() => ID, { description: 'The id of the key that the new one replaces.' })
  id: string;
  @Field(() => Int, {
    nullable: true,
    defaultValue: graceSecondsDefault,
    description: `For how many seconds the old key stays valid; ${graceSecondsMax} at most.`,
  })
  graceSeconds?: number | null;
}

@InputType({ description: 'Names the API key to be revoked.' })
export class RevokeApiKeyInput {
  @Field(() => ID, { description: 'The id of the key.' })
  id: string;
}
