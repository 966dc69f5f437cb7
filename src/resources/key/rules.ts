import type { Context } from '../../operation/context.js';
import { type ApiKeyRow, apiKey } from './table.js';
import { account, type AccountRow } from '../account/table.js';
import { related, ownAccounts } from '../../auth/permissions.js';
import { DomainError, problem, type Problem } from '../../errors/problems.js';
import { type CreateApiKeyInput, type RotateApiKeyInput, expirySecondsMax, graceSecondsMax } from './inputs.js';
import { emptyAccount } from '../../operation/input-problems.js';

/** A key that the caller may manage. Refuses another. */
export async function checkManageable(context: Context, id: string): Promise<ApiKeyRow> {
  const row = await context.scope.one(apiKey, id);
  checkRelation(context, await context.scope.one(account, row.accountId), 'api_key.id');
  return row;
}

/** Refuses a caller that is neither the account of a key nor its platform. */
export function checkRelation({ caller }: Context, owner: AccountRow, field: string): void {
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
