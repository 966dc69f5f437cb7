import { isLoopback } from './addresses.js';

/**
 * What is wrong with an origin in a list of allowed ones; undefined when nothing is. An origin has to be written as
 * browsers send it in the header Origin, because it is compared as a text. Plain HTTP is allowed for loopback hosts
 * alone: anyone on the network could change a page that comes over plain HTTP, and read its session token.
 */
export function originFault(origin: string): string | undefined {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.origin === 'null' || origin.includes('*'))
    return 'is not an origin, such as https://app.example.com';
  if (url.origin !== origin) return `is not an origin as browsers send it; write ${url.origin}`;
  if (url.protocol === 'http:' && !isLoopback(url.hostname.replace(/^\[(.*)\]$/, '$1')))
    return 'must begin with https://, unless its host is a loopback address';
  return undefined;
}
