import { createHash, createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Secrets } from '../config/secrets.js';
import { invalid } from './authorization.js';
import { modeOf } from '../request/mode.js';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 32;
const checksumLength = 6;
const operatorPattern = /^(opk|ops)_[0-9A-Za-z]{38}$/;
const tokenPattern = /^(sk|ses)_(test|live)_([0-9a-f]{32})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** The parts of a new API key or session token. The client sees `secret` once, and it is stored nowhere. */
export interface NewToken {
  secret: string;
  digest: string;
  prefix: string;
  /** The public name of the pepper under which the digest was made. */
  pepperId: string;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let out = '';
  for (let i = 0; i < checksumLength; i++) {
    out = digits[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

/**
 * Makes a key for a tenant and mode: the tenant, 190 bits of randomness, and a checksum that identifies a
 * mistyped or leaked key without a database query. `random` returns whole numbers below its argument.
 */
export function newKey(
  pepper: string | Secrets,
  tenantId: string,
  livemode: boolean,
  random: (below: number) => number = randomInt,
): NewToken {
  return newToken('sk', pepper, tenantId, livemode, random);
}

/** Makes a session token, which has the same parts as a key. */
export function newSessionToken(pepper: string | Secrets, tenantId: string, livemode: boolean): NewToken {
  return newToken('ses', pepper, tenantId, livemode, randomInt);
}

function newToken(
  kind: 'sk' | 'ses',
  pepper: string | Secrets,
  tenantId: string,
  livemode: boolean,
  random: (below: number) => number,
): NewToken {
  const mode = `${kind}_${modeOf(livemode)}`;
  return finished(`${mode}_${tenantId}_${randomness(random)}`, mode, pepper);
}

/** Makes an operator's key (`opk_…`), or the token of an operator's session in a browser (`ops_…`). */
export function newOperatorToken(kind: 'opk' | 'ops', pepper: string | Secrets): NewToken {
  return finished(`${kind}_${randomness(randomInt)}`, kind, pepper);
}

/** Whether a text has the form of an operator's key or session token, so that it is worth a look-up. */
export function isOperatorToken(kind: 'opk' | 'ops', secret: string): boolean {
  return operatorPattern.exec(secret)?.[1] === kind && hasChecksum(secret);
}

const randomness = (random: (below: number) => number) =>
  Array.from({ length: secretLength }, () => digits[random(62)]).join('');

function finished(body: string, start: string, pepper: string | Secrets): NewToken {
  const secret = body + checksum(body);
  const secrets = Secrets.of(pepper);
  const [digest] = secrets.digests(secret);
  return { secret, digest, prefix: `${start}_…${secret.slice(-4)}`, pepperId: secrets.pepperIds[0]! };
}

const hasChecksum = (secret: string) => same(secret.slice(-checksumLength), checksum(secret.slice(0, -checksumLength)));

/** What a token says of itself. */
export interface TokenParts {
  kind: 'key' | 'session';
  tenantId: string;
  livemode: boolean;
}

/** The parts of a key or session token. Refuses a mistyped one, without a database query. */
export function partsOf(secret: string): TokenParts {
  const match = tokenPattern.exec(secret);
  if (!match || !hasChecksum(secret)) throw isSessionToken(secret) ? invalidSession() : invalid();
  return { kind: match[1] === 'ses' ? 'session' : 'key', tenantId: match[3]!, livemode: match[2] === 'live' };
}

/** Whether a secret is meant as a session token. */
const isSessionToken = (secret: string): boolean => secret.startsWith('ses_');

/** The refusal of a session token: the same for one that is unknown, mistyped or revoked, or whose key has ended. */
export const invalidSession = () =>
  invalid('The session is not valid. Make another one, by an API key on your server.');

/** A stream of numbers that a pepper and a name determine, so that a new seeding makes the same keys for the demo. */
export function derived(pepper: string, name: string): (below: number) => number {
  let i = 0;
  return (below) => createHmac('sha256', pepper).update(`${name}:${i++}`).digest().readUInt32BE(0) % below;
}

const same = (a: string, b: string) =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
