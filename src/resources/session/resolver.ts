import { ArgsType, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { ownAccounts, related } from '../../auth/permissions.js';
import type { Context } from '../../operation/context.js';
import { emptyAccount } from '../../operation/input-problems.js';
import { originFault } from '../../config/origins.js';
import { DomainError, type Problem, problem } from '../../errors/problems.js';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import { type AccountRow, account } from '../account/table.js';
import { SessionRole, session } from './table.js';
import { Session } from './type.js';

export const sessionListing: Listing = {
  object: 'session',
  filters: { accountId: session.accountId },
  byAccount: ['accountId'],
  own: session.accountId,
};

const secondsDefault = 15 * 60;
const secondsMax = 12 * 3600;
const originsMax = 20;
export const sessionLimits = {
  account_id: { notNull: true, minLength: 1 },
  expires_in: { minimum: 1, maximum: secondsMax },
  allowed_origins: { minItems: 1, maxItems: originsMax },
} as const;

@InputType({ description: 'Creates a session.' })
class CreateSessionInput {
  @Field(() => ID, {
    nullable: true,
    description: 'The account that the session acts as: the acting account by default, or a connected user.',
  })
  accountId?: string | null;
  @Field(() => SessionRole, { description: 'What the session may do.' })
  role: SessionRole;
  @Field(() => Int, {
    nullable: true,
    description:
      `Seconds until it expires: ${secondsDefault} by default, ${secondsMax} at most, and never later than the ` +
      'API key.',
  })
  expiresInSeconds?: number | null;
  @Field(() => [String], {
    nullable: true,
    description:
      'The origins whose pages may use the session, such as `https://app.example.com`. By default every origin ' +
      'that the gateway admits, and clients that are no browser.',
  })
  allowedOrigins?: string[] | null;
}

@InputType({ description: 'Names the session to be revoked.' })
class RevokeSessionInput {
  @Field(() => ID, { description: 'The id of the session.' })
  id: string;
}

@ArgsType()
export class SessionArgs extends pageArgsOf('Session') {
  @Field(() => ID, {
    nullable: true,
    description: 'Sessions of this account; the acting account or a connected user.',
  })
  accountId?: string | null;
}

@ObjectType({ simpleResolvers: true, description: 'The new session with its token, which is shown only once.' })
class CreateSessionPayload {
  @Field(() => Session, { description: 'The new session.' })
  session: Session;
  @Field(() => String, {
    nullable: true,
    description: 'The token itself, shown only once. Null when the response is a replay.',
  })
  token?: string | null;
}
const RevokeSessionPayload = payloadOf('RevokeSession', 'session', Session);

/** The operations on sessions, which API keys make for browsers. Silent: all of them. */
@Resolver(() => Session)
export class SessionResolver {
  @Mutation(() => CreateSessionPayload, {
    description:
      'Creates a session: a short-lived token for a browser, in place of an API key. A platform may create ' +
      'sessions of its connected users. The session ends with the API key that made it, and cannot make ' +
      "others: before it expires, the page's server makes the next one.",
  })
  async createSession(@Input(() => CreateSessionInput) input: CreateSessionInput, @Ctx() context: Context) {
    const { caller, newSessions } = context;
    if (caller.keyId === null || !newSessions) throw new Error('a session was asked for without an API key');
    const owner = await context.scope.one(account, input.accountId || caller.actingAccountId, 'session.account_id');
    if (owner.kind === 'partner')
      throw new DomainError(
        problem(
          'account_type_invalid',
          'session.account_id',
          'A partner cannot have sessions. Name a user or a platform.',
        ),
      );
    checkRelation(context, owner, 'session.account_id');
    const allowedOrigins = input.allowedOrigins ?? [];
    const closed = allowedOrigins.flatMap((origin, i) =>
      newSessions.admits(origin) ? [] : [problem('parameter_invalid', `session.allowed_origins[${i}]`, notAdmitted)],
    );
    if (closed.length > 0) throw new DomainError(...closed);
    const made = newSessions.newToken(caller.tenantId, caller.livemode);
    const row = await context.write('create_session', session, {
      accountId: owner.id,
      apiKeyId: caller.keyId,
      role: input.role,
      allowedOrigins,
      expiresIn: input.expiresInSeconds ?? secondsDefault,
      digest: made.digest,
    });
    return { session: row, token: made.secret };
  }

  @Mutation(() => RevokeSessionPayload, {
    description: 'Revokes a session. Every gateway refuses its token within a second.',
  })
  async revokeSession(@Input(() => RevokeSessionInput) input: RevokeSessionInput, @Ctx() context: Context) {
    const row = await context.scope.one(session, input.id);
    checkRelation(context, await context.scope.one(account, row.accountId), 'session.id');
    const revoked = await context.write('revoke_session', session, { id: input.id });
    if (row.revokedAt === null) context.budget.charge?.ended();
    return { session: revoked };
  }
}

const notAdmitted = 'is an origin whose pages cannot use this gateway; ask its operator to add it to CORS_ORIGINS';

function checkRelation({ caller }: Context, owner: AccountRow, field: string): void {
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
