import type { WriteEnvelope } from '../db/write/write-arguments.js';
import { randomUUID } from 'node:crypto';
import type { Context } from './context.js';
import type { Operation } from './operation.js';

import { text } from '../db/write/write-arguments.js';
import { camel, type Problem, pathOnV1, problem, DomainError, snake } from '../errors/problems.js';
import { type Secrets, unkeyedFingerprint } from '../config/secrets.js';

type StoredFor = Pick<WriteEnvelope, 'operation' | 'request'>;

const unknownPepper =
  'was used before, and its request can no longer be compared with this one. Look up the object before you ' +
  'send the request with another key.';

const keyPattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** The client's key, if the header is valid: 1 to 255 printable ASCII characters. */
export function idempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (!keyPattern.test(header))
    throw new DomainError(
      problem('parameter_invalid', 'Idempotency-Key', 'must be 1 to 255 printable ASCII characters'),
    );
  return header;
}

/** The write envelope of one mutation. Without a client's key the gateway makes one, to retry an unknown outcome. */
export function writeEnvelopeOf(
  context: Context,
  { name, object }: Operation,
  args: object,
  defaults: Defaults = {},
): WriteEnvelope {
  return {
    account: context.caller.actingAccountId,
    key: context.idempotencyKey ?? randomUUID(),
    sent: context.idempotencyKey !== undefined,
    operation: name,
    ...fingerprints(context.secrets, object, args, defaults),
    requestId: context.requestId,
  };
}

/** The default values of parameters that the schema declares, by their paths. */
export type Defaults = Readonly<Record<string, unknown>>;

/**
 * The hashes of a request's parameters, as they are stored, and as the hash key of an earlier request would give them.
 */
export function fingerprints(
  secrets: Secrets,
  object: string,
  args: object,
  defaults: Defaults = {},
): Required<Pick<WriteEnvelope, 'request' | 'requestLike'>> {
  return {
    request: fingerprint(object, args, (value) => secrets.fingerprint(value)!, defaults),
    requestLike: (before) => {
      const others = absentIn(before, defaults);
      const [example = ''] = Object.values(before);
      if (!example.includes(':')) return fingerprint(object, args, hashOfBefore(before), others);
      const [id = ''] = example.split(':');
      if (secrets.fingerprint('', id) === undefined) return undefined;
      return fingerprint(object, args, (value) => secrets.fingerprint(value, id)!, others);
    },
  };
}

/** The defaults of the parameters that an earlier request did not store. */
function absentIn(before: Record<string, string>, defaults: Defaults): Defaults {
  return Object.fromEntries(Object.entries(defaults).filter(([path]) => !Object.hasOwn(before, path)));
}

/**
 * The hashes without a key, as older rows store them. A country was then hashed as the client sent it, perhaps in small
 * letters; now it is converted to capitals first. So the hash of the small letters matches the same country.
 */
function hashOfBefore(before: Record<string, string>): (value: string, path: string) => string {
  return (value, path) => {
    const small = unkeyedFingerprint(value.toLowerCase());
    return countryPath.test(path) && before[path] === small ? small : unkeyedFingerprint(value);
  };
}

const countryPath = /\.(physical_address|billing_details)\.country$/;

/**
 * A hash per parameter of the coerced arguments, which does not depend on format, order or API. The hash is keyed, so
 * that a reader of the table cannot confirm a guessed value. A parameter with its default value has no hash: a request
 * that names the default and one that leaves it out are the same request, also for a gateway whose schema has no such
 * default.
 */
function fingerprint(
  object: string,
  args: object,
  hash: (value: string, path: string) => string,
  defaults: Defaults,
): Record<string, string> {
  const out: Record<string, string> = {};
  const walk = (value: unknown, path: string, nameOf: (name: string) => string): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
      for (const [name, member] of Object.entries(value)) {
        if (member !== undefined) walk(member, `${path}.${nameOf(name)}`, name === 'metadata' ? (key) => key : nameOf);
      }
    } else if (!Object.hasOwn(defaults, path) || defaults[path] !== value) {
      out[pathOnV1(path)] = hash(text({ value }), path);
    }
  };
  walk('input' in args ? args.input : args, object, snake);
  return out;
}

/** The stored answer for a refused write's key, if it answers the same request; otherwise throws a domain error. */
export function replayOf<B extends StoredFor>(
  before: B | undefined,
  envelope: WriteEnvelope,
  domainError: DomainError,
): B {
  if (!before) {
    // The row's lock was not free. If the client sent the key, its own first attempt most likely holds the lock.
    const locked = domainError.problems[0]?.code === 'state_conflict' && domainError.problems[0].field === undefined;
    throw locked && envelope.sent ? new DomainError(problem('idempotency_key_in_use')) : domainError;
  }
  refuseOther(before, envelope);
  return before;
}

/**
 * After a domain error: returns the stored answer of this key, if there is one, in the shape of the operation's
 * payload. Refuses when the key was used for another request, and names the parameters that differ. Without a
 * client's key, or with a new key, throws the domain error itself.
 */
export async function replay(
  context: Context,
  { object, answers: table }: Operation,
  domainError: DomainError,
): Promise<Record<string, unknown>> {
  const { envelope } = context;
  if (!envelope || !table) throw domainError;
  const before = replayOf(await context.scope.storedResponse(table, envelope.key), envelope, domainError);
  // The answer to an earlier attempt of this same request is not a replay for the client.
  context.replayed = before.requestId !== envelope.requestId;
  return { [camel(object)]: before.row };
}

/** Refuses a key that was used for another request. The current request has changed nothing. */
export async function refuseReuse({ envelope, scope }: Context, { answers: table }: Operation): Promise<void> {
  if (!envelope || !table) return;
  const before = await scope.storedResponse(table, envelope.key);
  if (before) refuseOther(before, envelope);
}

function refuseOther(before: StoredFor, envelope: WriteEnvelope): void {
  if (before.operation !== envelope.operation)
    throw new DomainError(problem('idempotency_key_reused', 'Idempotency-Key'));
  const request = envelope.requestLike ? envelope.requestLike(before.request) : envelope.request;
  if (!request) throw new DomainError(problem('idempotency_key_reused', 'Idempotency-Key', unknownPepper));
  const differing = differences(before.request, request);
  if (differing.length > 0) throw new DomainError(...differing);
}

function differences(was: Record<string, string>, is: Record<string, string>): Problem[] {
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].filter((name) => was[name] !== is[name]).map((name) => problem('idempotency_key_reused', name));
}
