import ipaddr from 'ipaddr.js';
import { isLoopback } from '../../config/addresses.js';

export const urlLengthMax = 2_048;
/** The public addresses of IPv6. Others, such as `::7f00:1`, count as unicast, too. */
const publicAddresses = ipaddr.IPv6.parseCIDR('2000::/3');

const isPublic = (host: string): boolean => {
  const address = ipaddr.parse(host);
  return address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(publicAddresses));
};

/**
 * Why events must not be sent to a URL; undefined when they may. Only the name is looked at here: which address it has
 * is checked at each connection, because that may change at any time. Silent: all rules.
 */
export function urlFault(text: string, livemode: boolean, local: boolean): string | undefined {
  if (text.length > urlLengthMax) return `must have at most ${urlLengthMax} characters`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || /\s/.test(text))
    return 'must be a complete web address, such as https://example.com/hooks';
  if (url.username || url.password) return 'must not contain a user name or a password';
  if (url.hash) return 'must not contain a fragment';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const onThisMachine = host === 'localhost' || host.endsWith('.localhost') || isLoopback(host);
  if (onThisMachine)
    return !livemode && local
      ? undefined
      : 'must not be an address of this machine; test mode of a local gateway alone allows it';
  if (url.protocol !== 'https:') return 'must begin with https://';
  if (ipaddr.isValid(host)) return isPublic(host) ? undefined : 'must be a public address';
  if (!/\.[^.]/.test(host)) return 'must have a complete host name';
  return undefined;
}
