import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.js';
import { single } from './request.js';

/**
 * The header that a request with the dashboard's cookie needs. A form or a link cannot send it, and a page of another
 * origin would need a preflight that allows it, which the gateway does not answer.
 */
const dashboardHeader = 'x-tidegate-dashboard';

/** The name of the cookie. With the prefix, browsers accept it only over HTTPS and from this host. */
export function dashboardCookie({ transport }: Pick<Config, 'transport'>): string {
  return transport === 'local' ? 'tidegate_session' : '__Host-tidegate_session';
}

/**
 * The credential of a request: its Authorization header, or the session in the dashboard's cookie. The cookie counts
 * only with the dashboard's header, and only where the browser does not say that another origin sent the request.
 */
export function credentialOf(
  request: FastifyRequest,
  config: Pick<Config, 'transport' | 'DASHBOARD'>,
): string | undefined {
  const { cookie, [dashboardHeader]: fromDashboard, 'sec-fetch-site': site = 'same-origin' } = request.headers;
  const authorization = single(request, 'authorization');
  if (authorization !== undefined || cookie === undefined || fromDashboard === undefined) return authorization;
  if (site !== 'same-origin' || !config.DASHBOARD) return undefined;
  const start = `${dashboardCookie(config)}=`;
  const values = cookie.split(/; */).filter((pair) => pair.startsWith(start));
  // Two cookies of one name come from different paths or hosts, so one of them is not the gateway's.
  return values.length === 1 ? `Bearer ${values[0]!.slice(start.length)}` : undefined;
}
