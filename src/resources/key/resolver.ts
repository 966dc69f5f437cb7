import { ArgsType, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { type AccountRow, account } from '../account/table.js';
import type { Context } from '../../operation/context.js';
import { emptyAccount } from '../../operation/input-problems.js';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { ownAccounts, related } from '../../auth/permissions.js';
import { type Problem, problem, DomainError } from '../../errors/problems.js';
import { apiKey, type ApiKeyRow, KeyPermission } from './table.js';
import { ApiKey } from './type.js';
import { Input } from '../../types/input.js';

export const apiKeyListing: Listing = {
  object: 'api_key',
  filters: { accountId: apiKey.accountId },
  byAccount: ['accountId'],
  own: apiKey.accountId,
};

const graceSecondsDefault = 24 * 3600;
const graceSecondsMax = 7 * 24 * 3600;
const expirySecondsMax = 5 * 365 * 24 * 3600;

@InputType({ description: 'Creates an API key.' })
class CreateApiKeyInput {
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
class RotateApiKeyInput {
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
class RevokeApiKeyInput {
  @Field(() => ID, { description: 'The id of the key.' })
  id: string;
}

@ArgsType()
export class ApiKeyArgs extends pageArgsOf('ApiKey') {
  @Field(() => ID, {
    nullable: true,
    description: 'Only keys of this account: the acting account, or a connected user of the platform.',
  })
  accountId?: string | null;
}

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
class CreateApiKeyPayload extends NewApiKeyPayload {}
@ObjectType({ simpleResolvers: true, description: 'The new key with its secret, which is shown only once.' })
class RotateApiKeyPayload extends NewApiKeyPayload {}
const RevokeApiKeyPayload = payloadOf('RevokeApiKey', 'apiKey', ApiKey);

/**
 * The operations on API keys. The account itself and its platform manage the keys, in the caller's own mode. Spec:
 * Authentication 6.
 */
@Resolver(() => ApiKey)
export class ApiKeyResolver {
  @Mutation(() => CreateApiKeyPayload, {
    description: "Creates a key of the caller's mode. A platform may create keys for its connected users.",
  })
  async createApiKey(@Input(() => CreateApiKeyInput) input: CreateApiKeyInput, @Ctx() context: Context) {
    const { caller } = context;
    const owner = await context.scope.one(account, input.accountId || caller.actingAccountId, 'api_key.account_id');
    if (owner.kind === 'partner')
      throw new DomainError(
        problem(
          'account_type_invalid',
          'api_key.account_id',
          'A partner cannot have API keys. Name a user or a platform.',
        ),
      );
    checkRelation(context, owner, 'api_key.account_id');
    const made = context.newKey(caller.tenantId, caller.livemode);
    const row = await context.write('create_api_key', apiKey, {
      accountId: owner.id,
      permission: input.permission ?? 'full',
      expiresInSeconds: input.expiresInSeconds ?? null,
      digest: made.digest,
      prefix: made.prefix,
      pepperId: made.pepperId,
      byKeyId: caller.keyId,
    });
    return { apiKey: row, secret: made.secret };
  }

  @Mutation(() => RotateApiKeyPayload, {
    description:
      'Creates a new key with the same permission and the same expiry. The old key stays valid for a grace period. ' +
      'A key that expires replaces only keys that expire no later.',
  })
  async rotateApiKey(@Input(() => RotateApiKeyInput) input: RotateApiKeyInput, @Ctx() context: Context) {
    const { caller } = context;
    await checkManageable(context, input.id);
    const made = context.newKey(caller.tenantId, caller.livemode);
    const row = await context.write('rotate_api_key', apiKey, {
      id: input.id,
      graceSeconds: input.graceSeconds ?? graceSecondsDefault,
      digest: made.digest,
      prefix: made.prefix,
      pepperId: made.pepperId,
      byKeyId: caller.keyId,
    });
    return { apiKey: row, secret: made.secret };
  }

  @Mutation(() => RevokeApiKeyPayload, { description: 'Revokes a key. Every gateway refuses it within a second.' })
  async revokeApiKey(@Input(() => RevokeApiKeyInput) input: RevokeApiKeyInput, @Ctx() context: Context) {
    const before = await checkManageable(context, input.id);
    const revoked = await context.write('revoke_api_key', apiKey, input);
    if (before.revokedAt === null) context.budget.charge?.ended();
    return { apiKey: revoked };
  }
}

async function checkManageable(context: Context, id: string): Promise<ApiKeyRow> {
  const row = await context.scope.one(apiKey, id);
  checkRelation(context, await context.scope.one(account, row.accountId), 'api_key.id');
  return row;
}

function checkRelation({ caller }: Context, owner: AccountRow, field: string): void {
  if (!related(caller, ownAccounts, owner)) {
    throw new DomainError(
      problem(
        'permission_denied',
        field,
        'Keys are managed by the account itself, or by its platform. Use a key of one of them.',
      ),
    );
  }
}

/** The problems of a key: a lifetime or a grace period out of bounds. */
export function apiKeyProblems({
  accountId,
  expiresInSeconds,
  graceSeconds,
}: Partial<CreateApiKeyInput & RotateApiKeyInput>): Problem[] {
  const range = (value: number | null | undefined, min: number, max: number, name: string) =>
    value != null && (value < min || value > max)
      ? [problem('parameter_invalid', `api_key.${name}`, `must be from ${min} to ${max}`)]
      : [];
  return [
    ...emptyAccount('api_key', accountId),
    ...range(expiresInSeconds, 1, expirySecondsMax, 'expires_in_seconds'),
    ...range(graceSeconds, 0, graceSecondsMax, 'grace_seconds'),
  ];
}
