import { Mutation, Ctx, Resolver } from 'type-graphql';
import { CreateSessionPayload, RevokeSessionPayload, Session } from './type.js';
import { CreateSessionInput, secondsDefault, RevokeSessionInput } from './inputs.js';
import { Input } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { account } from '../account/table.js';
import { DomainError, problem } from '../../errors/problems.js';
import { checkRelation, notAdmitted } from './rules.js';
import { session } from './table.js';

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
    const { caller, gateway } = context;
    if (caller.keyId === null || !gateway) throw new Error('a session was asked for without an API key');
    const { newSessions } = gateway;
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
