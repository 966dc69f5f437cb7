import { secondsMax, originsMax, type CreateSessionInput } from './inputs.js';
import type { Context } from '../../operation/context.js';
import type { AccountRow } from '../account/table.js';
import { related, ownAccounts } from '../../auth/permissions.js';
import { DomainError, problem, type Problem } from '../../errors/problems.js';
import { emptyAccount } from '../../operation/input-problems.js';
import { originFault } from '../../config/origins.js';

export const sessionLimits = {
  account_id: { notNull: true, minLength: 1 },
  expires_in: { minimum: 1, maximum: secondsMax },
  allowed_origins: { minItems: 1, maxItems: originsMax },
} as const;

/** The fault of an origin whose pages get no answers from this gateway. */
export const notAdmitted =
  'is an origin whose pages cannot use this gateway; ask its operator to add it to CORS_ORIGINS';

/** Refuses a caller that is neither the account of a session nor its platform. */
export function checkRelation({ caller }: Context, owner: AccountRow, field: string): void {
  if (!related(caller, ownAccounts, owner))
    throw new DomainError(
      problem(
        'permission_denied',
        field,
        'Sessions are managed by the account itself, or by its platform. Use a key of one of them.',
      ),
    );
}

/** The problems of a session: a lifetime out of bounds, or allowed origins that are none. */
export function sessionProblems({
  accountId,
  expiresInSeconds,
  allowedOrigins,
}: Partial<CreateSessionInput>): Problem[] {
  const problems: Problem[] = emptyAccount('session', accountId);
  if (expiresInSeconds != null && (expiresInSeconds < 1 || expiresInSeconds > secondsMax))
    problems.push(problem('parameter_invalid', 'session.expires_in', `must be from 1 to ${secondsMax}`));
  if (!Array.isArray(allowedOrigins)) return problems;
  const field = 'session.allowed_origins';
  // An empty list would allow every origin, which the client certainly did not mean.
  if (allowedOrigins.length === 0)
    problems.push(problem('parameter_invalid_empty', field, 'is empty. Send an origin, or leave it out.'));
  if (allowedOrigins.length > originsMax)
    problems.push(problem('parameter_invalid', field, `must have at most ${originsMax} origins`));
  for (const [i, origin] of allowedOrigins.slice(0, originsMax).entries()) {
    if (typeof origin !== 'string' || originFault(origin) === undefined) continue;
    const rule = 'must be an origin as browsers send it, such as https://app.example.com; plain HTTP is for loopback';
    problems.push(problem('parameter_invalid', `${field}[${i}]`, rule));
  }
  return problems;
}
