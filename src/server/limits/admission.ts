import type { Context } from '../../operation/context.js';
import { permit } from '../../operation/guard.js';
import type { Identity } from '../identity.js';
import type { InFlight } from './in-flight.js';
import { refuseRoute } from '../http/methods.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { problem, DomainError } from '../../errors/problems.js';
import { isUnrouted } from '../http/cors.js';
import type { DashboardLinks } from '../dashboard/links.js';
import { openLink } from '../dashboard/session.js';
import { isApi, isSecure, single } from '../http/request.js';
import { refuseRepeated } from '../http/single-headers.js';

/**
 * Admits or refuses a request before its body is read, by HTTPS, its API key, the requests of its tenant in flight and
 * the permission of its route.
 */
export class Admission {
  constructor(
    private readonly config: Config,
    private readonly identity: Identity,
    private readonly inFlight: InFlight,
    private readonly links?: DashboardLinks,
  ) {}

  /** Admits a request and sets its context, or throws. Returns a promise only when it has to wait. */
  admit(request: FastifyRequest, reply: FastifyReply): undefined | Promise<void> {
    const { open, keyOptional, probe, page, operator, permission, signsIn } = request.routeOptions.config;
    if (probe) return;
    refuseRepeated(request);
    refuseHost(request);
    if (!isSecure(request, this.config)) throw new DomainError(problem('https_required'));
    if (page) this.inFlight.enterPage(request, reply);
    // A browser that opens /graphql gets the explorer; every other request to it is GraphQL and needs a key.
    if (open && (request.routeOptions.url !== '/graphql' || wantsPage(request, this.config))) return;
    if (keyOptional && request.headers.authorization === undefined) return;
    if (request.ws) {
      this.#admitSocket(request);
      return;
    }
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      throw new DomainError(problem('body_invalid', undefined, 'HTTP/1.1 requires the header Host. Send it.'));
    if (operator) return this.#admitOperator(request, reply, operator);
    // The route decides whether a key is needed. The path decides only when no route matches.
    const unrouted = isUnrouted(request);
    if (unrouted && !isApi(request.url)) throw new DomainError(problem('route_missing'));
    const enter = (context: Context) => {
      request.context = context;
      if (unrouted || Object.values((request.params ?? {}) as Record<string, string>).includes(''))
        refuseRoute(request, reply);
      if (permission) permit(context, permission);
    };
    if (signsIn) openLink(request, this.links);
    const context = this.identity.identify(request, (caller) => this.inFlight.enter(request, reply, caller));
    if (context instanceof Promise) return context.then(enter);
    enter(context);
  }

  /**
   * The caller of a WebSocket is known with its first message. Browsers open WebSockets to other origins without
   * asking, so the origin is checked here.
   */
  #admitSocket(request: FastifyRequest): void {
    const origin = single(request, 'origin');
    if (origin !== undefined && !this.identity.admits(request, origin))
      throw new DomainError(
        problem(
          'permission_denied',
          undefined,
          'Pages of this origin may not use the gateway. Ask its operator to add the origin to CORS_ORIGINS.',
        ),
      );
  }

  async #admitOperator(request: FastifyRequest, reply: FastifyReply, api: 'graph' | 'rest'): Promise<void> {
    request.operator = await this.identity.identifyOperator(request);
    if (api === 'rest' || request.method === 'POST') return;
    reply.header('allow', 'POST');
    throw new DomainError(problem('method_not_allowed'));
  }
}

/** A host as in RFC 3986: letters, digits, dots and hyphens, or an IPv6 address in brackets; then an optional port. */
const hostPattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9.])?|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * Refuses an invalid Host header, because payment links, their Link header and the logs of proxies contain the host.
 */
export function refuseHost({ headers: { host } }: FastifyRequest): void {
  if (host !== undefined && !hostPattern.test(host))
    throw new DomainError(
      problem('body_invalid', undefined, 'The header Host must be a host name or an address, with an optional port.'),
    );
}

/** Whether a browser opens /graphql and gets the explorer; every other request to it is GraphQL. */
function wantsPage(request: FastifyRequest, config: Config): boolean {
  return (
    config.EXPLORER &&
    request.method === 'GET' &&
    request.headers.authorization === undefined &&
    (request.headers.accept ?? '').includes('text/html')
  );
}
