import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../config/config.js';
import type { Context } from '../../operation/context.js';
import { run } from '../../operation/guard.js';
import { writeEnvelopeOf } from '../../operation/idempotency.js';
import { DomainError, problem } from '../../errors/problems.js';
import { operationOf } from '../../resources/registry.js';
import { SessionRole, type SessionRow, session } from '../../resources/session/table.js';
import { sessionV1 } from '../../resources/session/v1.js';
import type { DashboardLinks } from './links.js';
import { credentialOf, dashboardCookie, setCookie } from './cookie.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route makes a session of the dashboard, from an API key or from the code of a one-time link. */
    signsIn?: true;
  }
}

/** How long a session of the dashboard lasts: a working day. The key that made it may end it earlier. */
const sessionSeconds = 12 * 3_600;

/**
 * Registers signing in and out of the dashboard. The browser sends an API key once; it gets a session in a cookie that
 * no script can read. Silent: the specification has no dashboard.
 */
export function dashboardSessions(
  app: FastifyInstance,
  { config, schema }: { config: Config; schema: GraphQLSchema },
): void {
  const cookie = { name: dashboardCookie(config), path: '/' };
  const create = schema.getMutationType()!.getFields().createSession!;
  // A page asks first whether it has a session, since a browser reports each refused request as an error of the page.
  app.get('/dashboard/session', { config: { open: true } }, (request, reply) =>
    reply.code(credentialOf(request, config) === undefined ? 204 : 200).send(),
  );
  app.post('/dashboard/session', { config: { signsIn: true } }, async (request, reply) => {
    const context = request.context!;
    if (context.caller.session) throw new DomainError(problem('permission_denied', undefined, needsKey));
    const role = context.caller.permission === 'read' ? SessionRole.READ : SessionRole.OPERATE;
    const made = await run(create, { input: { role, expiresInSeconds: sessionSeconds } }, asking(context));
    const { session: row, token } = made as { session: SessionRow; token: string | null };
    // A replay has no token: the code of the link has made a session before.
    if (!token) throw new DomainError(problem('api_key_invalid', undefined, usedBefore));
    setCookie(reply, config, { ...cookie, token, seconds: sessionSeconds });
    return sessionV1(row);
  });
  app.post('/dashboard/session/end', { config: { ends: 'own session' } }, async (request, reply) => {
    const context = request.context!;
    if (context.caller.session) await revoke(context, context.caller.session.id);
    setCookie(reply, config, { ...cookie, token: '', seconds: 0 });
    return {};
  });
}

/**
 * The caller that asks for the session. A key that may only read makes no sessions for others, but one that may only
 * read is what its holder signs in with.
 */
function asking(context: Context): Context {
  if (context.caller.permission !== 'read') return context;
  const scope = context.scope.asWriter();
  // Its own idempotency key could take that of a write of the account.
  const own = { caller: scope.caller, scope, idempotencyKey: undefined };
  return Object.create(context, Object.getOwnPropertyDescriptors(own)) as Context;
}

/** Revokes the session of the request. A session may end itself, although it manages no sessions. */
async function revoke(context: Context, id: string): Promise<void> {
  context.envelope = writeEnvelopeOf(context, operationOf('revokeSession'), { input: { id } });
  context.scope.stayOnPrimary();
  await context.write('revoke_session', session, { id });
  context.budget.charge?.ended();
  await context.scope.noteWrite();
}

/** Replaces the code of a one-time link by the key of its demo, before the caller is identified. */
export function openLink(request: FastifyRequest, links: DashboardLinks | undefined): void {
  const [, code] = /^Link ([\w.-]+)$/.exec(request.headers.authorization ?? '') ?? [];
  if (code === undefined) return;
  const key = links?.keyOf(code);
  if (key === undefined) throw new DomainError(problem('api_key_invalid', undefined, links ? expired : noLinks));
  request.headers.authorization = `Bearer ${key}`;
  // The stored answer of this idempotency key lets the code make one session only, on whichever gateway.
  request.headers['idempotency-key'] = `dashboard-link-${code}`;
}

const needsKey = 'Sign in with an API key; a session cannot make another session.';
const usedBefore = 'This link was used before. Sign in with the test key that the gateway printed.';
// The start page makes a link each time it is shown, where a gateway has links at all.
const expired =
  'This link has expired. Open the start page of the gateway, at its address without a path: it has a new link.';
const noLinks = 'This gateway takes no links to its dashboard. Sign in with an API key.';
