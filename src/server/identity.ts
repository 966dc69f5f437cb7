import type { FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { consistencyHeader, ConsistencyTokens } from '../db/replicas/consistency-token.js';
import type { Consistency } from '../db/read/read-source.js';
import type { CrossTenantReads, ScopeSource } from '../db/doors.js';
import { Scope } from '../db/scope.js';
import { editions } from '../editions/editions.js';
import { Context, type NewSessions, type SharedServices } from '../operation/context.js';
import { idempotencyKey } from '../operation/idempotency.js';
import { OperatorContext } from '../operator/context.js';
import { Credentials } from '../operator/access/credential.js';
import { Operator } from '../operator/operator.js';
import type { RefusedChanges } from '../operator/action/refused-changes.js';
import type { WrongKeys } from '../operator/access/wrong-keys.js';
import type { Caller } from '../request/caller.js';
import { DomainError, problem } from '../errors/problems.js';
import { checkoutsOf, type ContextParts } from './account-contexts.js';
import { credentialOf, operatorSessionOf } from './dashboard/cookie.js';
import { isOwnOrigin, originOf, single } from './http/request.js';

/** The parts from which a request's context is built. */
export interface IdentityParts extends ContextParts {
  database: CrossTenantReads & ScopeSource;
  schema: GraphQLSchema;
  services: SharedServices;
  wrongKeys: WrongKeys;
  refusedChanges: RefusedChanges;
}

/**
 * Identifies the sender of a request, the caller of its API key or session, or the operator, and builds the context for
 * resolvers.
 */
export class Identity {
  readonly #credentials: Credentials;
  readonly #tokens: ConsistencyTokens;

  constructor(private readonly parts: IdentityParts) {
    const { config, database, secrets } = parts;
    this.#credentials = new Credentials(database, secrets, config.OPERATOR_KEY);
    this.#tokens = new ConsistencyTokens(secrets);
  }

  /**
   * The context of the caller whose key the request has; no promise when the key is cached. Refuses an unknown key.
   * `known` is called as soon as the key is known, and may refuse the request before anything else is read for it.
   */
  identify(request: FastifyRequest, known?: (caller: Caller) => void): Context | Promise<Context> {
    const caller = this.parts.callers.find(request.socket, credentialOf(request, this.parts.config));
    return caller instanceof Promise
      ? caller.then((found) => this.#identified(request, found, known))
      : this.#identified(request, caller, known);
  }

  #identified(request: FastifyRequest, caller: Caller, known?: (caller: Caller) => void): Context | Promise<Context> {
    this.#checkOrigin(request, caller);
    known?.(caller);
    const account = single(request, 'on-behalf-of');
    return account === undefined ? this.#contextOf(request, caller) : this.#actingFor(request, caller, account);
  }

  /** Refuses a session on a page of an origin that it is not for. */
  #checkOrigin(request: FastifyRequest, { session }: Caller): void {
    if (!session) return;
    const origin = single(request, 'origin');
    const { allowedOrigins: allowed } = session;
    if (origin === undefined) {
      if (allowed.length > 0) throw new DomainError(problem('permission_denied', undefined, withoutOrigin));
    } else if (!(allowed.length > 0 ? allowed.includes(origin) : this.#admitsSession(request, origin)))
      throw new DomainError(problem('permission_denied', undefined, otherOrigin));
  }

  /**
   * Whether pages of an origin may use a session. The one in the cookie of the dashboard is for the gateway's own
   * pages: a browser without `Sec-Fetch-Site` says by `Origin` alone that another page sends it.
   */
  #admitsSession(request: FastifyRequest, origin: string): boolean {
    if (single(request, 'authorization') !== undefined) return this.admits(request, origin);
    return isOwnOrigin(request, this.parts.config, origin);
  }

  /** Whether pages of an origin may use the gateway: those of CORS_ORIGINS, and those of the gateway itself. */
  admits(request: FastifyRequest, origin: string): boolean {
    const { config } = this.parts;
    return config.CORS_ORIGINS.includes(origin) || origin === originOf(request, config);
  }

  async #actingFor(request: FastifyRequest, caller: Caller, account: string): Promise<Context> {
    const acting =
      this.parts.callers.knownActingFor(caller, account) ??
      (await inTurn(request, () => this.parts.callers.actingFor(caller, account)));
    return this.#contextOf(request, acting);
  }

  /** The operator's context. Refuses a request without a valid key or session of an operator. */
  async identifyOperator(request: FastifyRequest): Promise<OperatorContext> {
    const { config, database, schema, secrets, terms } = this.parts;
    const session = operatorSessionOf(request, config);
    const credential = { authorization: single(request, 'authorization'), session, address: request.ip };
    const viewer = await this.#credentials.check(credential, () => this.parts.wrongKeys.add(request.id));
    const asking = { requestId: request.id, idempotencyKey: idempotencyKey(single(request, 'idempotency-key')) };
    const acting = new Operator(database, schema, secrets, asking, terms, () => config.tls?.cert);
    const { requestId, idempotencyKey: key } = asking;
    const budget = request.budget ?? undefined;
    return new OperatorContext(acting, viewer, requestId, key, budget, this.parts.refusedChanges);
  }

  #contextOf(request: FastifyRequest, caller: Caller): Context {
    const { config, database, secrets, callers, services } = this.parts;
    const key = request.method === 'POST' ? idempotencyKey(single(request, 'idempotency-key')) : undefined;
    const budget = request.budget ?? undefined;
    const source = database.sourceOf(caller, this.#consistencyOf(request));
    const scope = new Scope(caller, database, budget, source);
    const checkouts = checkoutsOf(this.parts, () => originOf(request, config));
    const edition = editions[caller.edition];
    const newSessions: NewSessions = {
      newToken: (tenantId, livemode) => callers.newSessionToken(tenantId, livemode),
      admits: (origin) => this.admits(request, origin),
    };
    const { newKey } = callers;
    const gateway = { ...services, newSessions };
    return new Context(caller, scope, edition, request.id, key, newKey, checkouts, secrets, budget, gateway);
  }

  /** What the client asks for with the token of a write. */
  #consistencyOf(request: FastifyRequest): Consistency | undefined {
    const token = single(request, consistencyHeader);
    const asked = token === undefined ? undefined : this.#tokens.read(token);
    if (token !== undefined && asked === undefined)
      throw new DomainError(
        problem('parameter_invalid', 'Tidegate-Consistency', 'must be a value that a response had, or `primary`'),
      );
    return asked;
  }

  /** The token of what the request has written; undefined when it wrote nothing, or without replicas. */
  consistencyTokenOf({ context }: FastifyRequest): string | undefined {
    const wrote = context?.scope.wrote;
    return wrote === undefined ? undefined : this.#tokens.write(wrote);
  }
}

const withoutOrigin =
  'This session is for pages of its allowed origins, and the request has no header Origin. Send it from such a page.';
const otherOrigin = {
  v1: 'This session is not for pages of this origin. Make one with this origin in allowed_origins.',
  graph: 'This session is not for pages of this origin. Make one with this origin in allowedOrigins.',
};

/** Reads something for a request in a turn of its own, before the body of the request is read. */
async function inTurn<T>({ ticket }: FastifyRequest, read: () => Promise<T>): Promise<T> {
  await ticket?.begun();
  try {
    return await read();
  } finally {
    ticket?.release();
  }
}
