import type { FastifyInstance } from 'fastify';
import { viewerOf } from '../../operator/access/credential.js';
import type { Config } from '../../config/config.js';
import { logged } from '../../operator/action/actions.js';
import type { OperatorContext } from '../../operator/context.js';
import { createSession, endSession, sessionSeconds } from '../../operator/access/operators.js';
import { DomainError, errorV1, problem } from '../../errors/problems.js';
import { problemsOf } from '../http/refusal.js';
import { operatorFiles, orderFiles } from './operator-files.js';
import { hasOperatorCookie, setOperatorCookie } from './cookie.js';

/** Registers the operators' routes besides their graph. */
export function operatorRoutes(app: FastifyInstance, config: Config, logs: readonly { close(): void }[]): void {
  app.addHook('onClose', async () => {
    for (const log of logs) log.close();
  });
  operatorSessions(app, config);
  operatorFiles(app);
  orderFiles(app);
}

/**
 * Registers signing in and out of the operator's console. The browser sends an operator's key once, in the header
 * Authorization; it gets a session in a cookie that no script can read. Silent: the specification has no console.
 */
function operatorSessions(app: FastifyInstance, config: Config): void {
  const route = { url: '/operator/session', config: { operator: 'rest' } } as const;
  app.route({
    ...route,
    method: 'POST',
    handler: async (request, reply) => {
      const { operator, viewer } = request.operator!;
      if (viewer.session) throw new DomainError(problem('permission_denied', undefined, needsKey));
      const made = () => createSession(operator, viewer);
      const { token, expiresAt } = await logged(operator, viewer, { operation: 'signIn' }, made);
      setOperatorCookie(reply, config, token, sessionSeconds);
      return sessionOf(request.operator!, expiresAt);
    },
  });
  app.route({
    ...route,
    method: 'GET',
    handler: async (request) => sessionOf(request.operator!),
    // The console asks whether it has a session, and a browser reports each refused request as an error of the page.
    errorHandler: (error, request, reply) => {
      const none = request.headers.authorization === undefined && !hasOperatorCookie(request, config);
      if (none && errorV1(problemsOf(error)).http_status_code === 401) return void reply.code(204).send();
      app.errorHandler(error, request, reply);
    },
  });
  app.route({
    ...route,
    method: 'DELETE',
    handler: async (request, reply) => {
      const { operator, viewer } = request.operator!;
      const { session } = viewer;
      if (session) await logged(operator, viewer, { operation: 'signOut' }, () => endSession(operator, session.digest));
      setOperatorCookie(reply, config, '', 0);
      return {};
    },
  });
}

/** The operator of a session and when it ends. */
function sessionOf({ viewer }: OperatorContext, expiresAt?: number) {
  const { id, name, role, sessionExpires } = viewerOf(viewer);
  return { object: 'operator_session', operator_id: id, name, role, expires_at: expiresAt ?? sessionExpires };
}

const needsKey = "Sign in with an operator's key; a session cannot make another session.";
