import type { BlockList } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.js';

/** The path of a request target: of an absolute one too, and with its letters decoded. */
export function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/]*/i, '').split('?', 1)[0]!;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Where payers find us: as the operator says, or as whoever asks has found us. */
export function originOf(request: FastifyRequest, config: Config): string {
  const { localAddress = '', localPort } = request.socket;
  // HTTP/1.0 need not name the host that it asks.
  const host =
    request.headers.host ?? `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
  return config.PUBLIC_URL ?? `${config.transport === 'local' ? 'http' : 'https'}://${host}`;
}

/** A header that may stand once. Node joins most repeated ones; two different keys in one request are a fault. */
export function single(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * Tells Fastify whose X-Forwarded-Proto counts, by the address of the peer. It is asked with each request, and peers are
 * few: a look into the list takes 11 µs, one into the cache less than one.
 */
export function trusting(proxies: BlockList): (address: string) => boolean {
  const peers = new LRUCache<string, boolean>({
    max: 1_000,
    memoMethod: (address) => proxies.check(address, address.includes(':') ? 'ipv6' : 'ipv4'),
  });
  return (address) => peers.memo(address);
}
