import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { isOwnOrigin, single } from '../http/request.js';

/**
 * The headers that a request with a cookie needs. A form or a link cannot send them, and a page of another origin would
 * need a preflight that allows them, which the gateway does not answer.
 */
const dashboardHeader = 'x-tidegate-dashboard';
const operatorHeader = 'x-tidegate-operator';

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
  const authorization = single(request, 'authorization');
  if (authorization !== undefined || !config.DASHBOARD) return authorization;
  const token = tokenOf(request, dashboardCookie(config), dashboardHeader);
  return token ? `Bearer ${token}` : undefined;
}

/** The name of the cookie of the operator's console. With the prefix, browsers accept it only over HTTPS. */
const operatorCookie = ({ transport }: Pick<Config, 'transport'>) =>
  transport === 'local' ? 'tidegate_operator' : '__Secure-tidegate_operator';

/** Whether a request has a cookie of the operator's console, valid or not. */
export const hasOperatorCookie = ({ headers }: FastifyRequest, config: Pick<Config, 'transport'>): boolean =>
  headers.cookie?.includes(`${operatorCookie(config)}=`) ?? false;

/**
 * The session in the cookie of the operator's console. It counts only with the console's header, and only for pages of
 * the gateway itself: also a browser without `Sec-Fetch-Site` names the origin of a page with each request that writes.
 */
export function operatorSessionOf(request: FastifyRequest, config: Config): string | undefined {
  const origin = single(request, 'origin');
  if (origin !== undefined && !isOwnOrigin(request, config, origin)) return undefined;
  return tokenOf(request, operatorCookie(config), operatorHeader);
}

/** The header that sets a cookie of the gateway, for so many seconds; none remove it. */
export function setCookie(
  reply: FastifyReply,
  { transport }: Pick<Config, 'transport'>,
  { name, path, token, seconds }: { name: string; path: string; token: string; seconds: number },
): void {
  const secure = transport === 'local' ? '' : '; Secure';
  const attributes = `Path=${path}; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
  reply.header('set-cookie', `${name}=${token}; ${attributes}`);
}

/** Sets the cookie of the operator's console, which browsers send to its own paths alone. */
export function setOperatorCookie(reply: FastifyReply, config: Config, token: string, seconds: number): void {
  setCookie(reply, config, { name: operatorCookie(config), path: '/operator', token, seconds });
}

/** The value of a cookie, if the request has the header and does not come from another origin. */
function tokenOf({ headers }: FastifyRequest, name: string, header: string): string | undefined {
  const { cookie, [header]: own, 'sec-fetch-site': site = 'same-origin' } = headers;
  if (cookie === undefined || own === undefined || site !== 'same-origin') return undefined;
  const start = `${name}=`;
  const values = cookie.split(/; */).filter((pair) => pair.startsWith(start));
  // Two cookies of one name come from different paths or hosts, so one of them is not the gateway's.
  return values.length === 1 ? values[0]!.slice(start.length) : undefined;
}
