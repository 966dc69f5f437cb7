import { Mutation, Ctx, Resolver } from 'type-graphql';
import { CreateApiKeyPayload, RotateApiKeyPayload, RevokeApiKeyPayload, ApiKey } from './type.js';
import { CreateApiKeyInput, RotateApiKeyInput, graceSecondsDefault, RevokeApiKeyInput } from './inputs.js';
import { Input } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { account } from '../account/table.js';
import { DomainError, problem } from '../../errors/problems.js';
import { checkRelation, checkManageable } from './rules.js';
import { apiKey } from './table.js';

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
