import fs from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions, type PeerCertificate } from 'node:tls';
import type { Connection } from './connection.js';
import { Servers, type ServerTarget } from './servers.js';

const portDefault = 5432;

interface Place {
  /** A name, an address, or the folder of a socket. */
  host: string;
  port: number;
}

/** A PostgreSQL address that cannot be parsed or requests something unsupported. The message contains no secret. */
class AddressError extends Error {}

/**
 * The driver's options for an address of PostgreSQL, in libpq's form:
 * `postgres://user:password@host:port,host:port/database?parameters`. A host is a name, an IPv4 or an IPv6 address in
 * brackets; `host` and `port` may also be parameters, and a host that begins with a slash is the folder of a socket.
 * Reads the file of `sslrootcert`. Throws an AddressError for anything that cannot be parsed or is not supported.
 *
 * Parameters, as in libpq: `host`, `port`, `user`, `password`, `dbname`, `sslmode` (disable, prefer, require,
 * verify-ca, verify-full), `sslrootcert` (a file in PEM, or `system` for the roots that Node has),
 * `target_session_attrs` (any, primary, read-write), `application_name` (ignored: the gateway's own value names the
 * pool of a connection). Other parameters are refused, because ignoring one could silently lose its purpose.
 *
 * Two differences from libpq: without `sslmode` there is no TLS; and of several hosts the gateway uses the first one
 * that accepts writes, unless `target_session_attrs` says otherwise, because a gateway must write.
 */
export function connectionOf(address: string): Connection {
  const { places, kind, candidates, secured } = parsed(address);
  if (kind === 'any') return candidates[0]!;
  return new Servers(candidates, kind, secured(places.map(({ host }) => host))).connection;
}

/** The hosts of an address, each with the driver's options for it. */
function parsed(address: string) {
  const { authority, database, parameters } = partsOf(address);
  const at = authority.lastIndexOf('@');
  const [user = '', ...secret] = at < 0 ? [''] : authority.slice(0, at).split(':');
  const { host, port, target_session_attrs: target, ...rest } = parameters;
  const places = placesOf(
    host ?? decoded(authority.slice(at + 1)),
    host === undefined ? undefined : portsOf(authority, at),
    port,
  );
  const login = {
    database: rest.dbname ?? (decoded(database) || 'postgres'),
    username: rest.user ?? (decoded(user) || 'postgres'),
    password: rest.password ?? decoded(secret.join(':')),
  };
  const kind = targetOf(target, places);
  const secured = (hosts: string[]) => securityOf(rest.sslmode, rest.sslrootcert, hosts);
  // The driver splits a host string at commas and colons, so hosts and ports are arrays.
  const candidates = places.map(({ host, port }) => {
    const path = host.startsWith('/') && { path: `${host}/.s.PGSQL.${port}` };
    // The driver takes lists of hosts and ports, and its types do not.
    return { ...login, host: [host], port: [port], ...path, ssl: secured([host]) } as unknown as Connection;
  });
  return { places, kind, candidates, secured };
}

/**
 * The driver's options for each standby of a list of addresses with spaces between them. An address has the form of
 * `connectionOf`; each of its hosts is one standby, with the same user, database and TLS. Throws an AddressError.
 */
export function replicasOf(addresses: string): Connection[] {
  const listed = addresses.split(/\s+/).filter(Boolean);
  if (listed.length === 0) throw refused('There is no address of a standby.');
  return listed.flatMap((address) => {
    const { places, kind, candidates } = parsed(address);
    if (kind !== (places.length > 1 ? 'read-write' : 'any'))
      throw refused('target_session_attrs is not for a standby: the gateway finds out what each server is.');
    return candidates;
  });
}

const known = new Set([
  ...['host', 'port', 'user', 'password', 'dbname', 'sslmode', 'sslrootcert'],
  ...['target_session_attrs', 'application_name'],
]);

const refused = (message: string) => new AddressError(message);

/** The parts of an address. The class URL cannot parse several hosts, nor a user without a host. */
function partsOf(address: string): { authority: string; database: string; parameters: Record<string, string> } {
  const found = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(address);
  if (!found) throw refused('The address cannot be read. Write it as postgres://user:password@host:port/database.');
  const [, authority = '', database = '', query = ''] = found;
  const parameters: Record<string, string> = {};
  // As in libpq, a plus sign means itself and not a space.
  for (const [name, value] of query
    .split('&')
    .filter(Boolean)
    .map((pair) => pair.split(/=(.*)/s).map(decoded))) {
    if (!known.has(name!))
      throw refused(`A parameter of the address is not supported. Supported are ${[...known].join(', ')}.`);
    if (name! in parameters) throw refused('A parameter of the address is given twice.');
    parameters[name!] = value ?? '';
  }
  return { authority, database, parameters };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refused('The address has a percent sign that encodes no character. Write a percent sign itself as %25.');
  }
}

/** The port of the authority, if it has one; used when the parameter `host` overrides the authority's hosts. */
function portsOf(authority: string, at: number): string | undefined {
  return /:(\d+)$/.exec(authority.slice(at + 1))?.[1];
}

/** The hosts in their order, each with its port. */
function placesOf(hosts: string, inherited: string | undefined, ports: string | undefined): Place[] {
  const listed = (ports ?? inherited)?.split(',') ?? [];
  const entries = hosts.split(',');
  if (listed.length > 1 && listed.length !== entries.length)
    throw refused(`There are ${entries.length} hosts and ${listed.length} ports. Give one port, or one for each host.`);
  return entries.map((entry, i) => {
    const found = /^(?:\[([^\]]*)\]|(\/.*)|([^:/]*))(?::(\d*))?$/.exec(entry) ?? /^([0-9a-fA-F:.]+)$/.exec(entry);
    if (!found) throw refused('A host cannot be read. Write an IPv6 address in brackets, as [::1]:5432.');
    const host = found[1] ?? found[2] ?? found[3] ?? '';
    const port = Number(found[4] || listed[listed.length > 1 ? i : 0] || portDefault);
    if (!(port >= 1 && port <= 65_535)) throw refused('A port must be a number from 1 to 65535.');
    return { host: host || 'localhost', port };
  });
}

function securityOf(mode: string | undefined, root: string | undefined, hosts: string[]): Connection['ssl'] {
  const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];
  if (mode !== undefined && !modes.includes(mode))
    throw refused(`sslmode must be ${modes.slice(0, -1).join(', ')} or ${modes.at(-1)}.`);
  if (root === 'system' && mode !== 'verify-full')
    throw refused(
      'sslrootcert=system needs sslmode=verify-full, because every host can get a certificate of a public authority.',
    );
  if (mode === 'verify-ca' && root === undefined)
    throw refused('sslmode=verify-ca needs sslrootcert, the file with the certificate of the authority.');
  const ca = root === undefined || root === 'system' ? undefined : certificatesOf(root);
  // PostgreSQL supports no TLS over a Unix socket.
  if (mode === undefined || mode === 'disable' || hosts.every((host) => host.startsWith('/'))) return false;
  const security: ConnectionOptions = { ...(ca && { ca }), rejectUnauthorized: true };
  if (mode === 'verify-full')
    return { ...security, checkServerIdentity: (name: string, peer: PeerCertificate) => mismatch(name, peer, hosts) };
  // As in libpq: with an authority's certificate given, `require` verifies that it signed the server's certificate.
  if (mode === 'verify-ca' || (mode === 'require' && ca)) return { ...security, checkServerIdentity: () => undefined };
  return mode as 'require' | 'prefer';
}

/**
 * Why a certificate does not belong to a host; undefined if it does. When the host is an IP address, the driver makes
 * Node look for `localhost` in the certificate, so this function checks the certificate for the IP address instead.
 */
function mismatch(name: string, peer: PeerCertificate, hosts: string[]): Error | undefined {
  const faults = (hosts.includes(name) ? [name] : hosts.filter(isIP)).map((host) => checkServerIdentity(host, peer));
  return faults.includes(undefined) ? undefined : (faults[0] ?? new Error('The certificate names no host.'));
}

function certificatesOf(file: string): string {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw refused(`The file of sslrootcert cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw refused('The file of sslrootcert has no certificate in PEM.');
  return text;
}

function targetOf(target: string | undefined, places: Place[]): ServerTarget {
  if (target === undefined) return places.length > 1 ? 'read-write' : 'any';
  if (target === 'primary' || target === 'read-write') return target;
  if (target !== 'any' || places.length > 1)
    throw refused(
      `target_session_attrs must be primary or read-write${places.length > 1 ? '' : ' or any'}, since the ` +
        'gateway writes.',
    );
  return target;
}
