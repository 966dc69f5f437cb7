import { editions } from '../editions/editions.js';
import { listedValues, type MessageText } from '../errors/problems.js';
import type { Caller } from '../request/caller.js';
import type { Operation } from './operation.js';

/** A kind of caller, as far as it decides what the parameters of an operation may be. */
export type CallerKind = Pick<Caller, 'edition' | 'kind'>;

/** What an operation accepts of callers of one edition and kind, where that is less than its input types take. */
export interface Accepted {
  /** Why parameters are refused that these callers do not have, by their paths on /v1. */
  readonly withheld: ReadonlyMap<string, MessageText>;
  /** The values that parameters accept, by their paths on /v1. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

const made = new Map<string, Accepted>();

/**
 * What an operation accepts of a kind of caller. It is made once for each edition and kind, and is then always the same
 * object, so that decoders and messages that are derived from it are made once, too.
 */
export function acceptedOf(operation: Operation, { edition, kind }: CallerKind): Accepted {
  const { name, accepts = {}, scopeOfPlatforms } = operation;
  const key = `${name} ${edition} ${kind}`;
  const before = made.get(key);
  if (before) return before;
  const { number, withheld, values } = editions[edition];
  const text = withheldText(number);
  const accepted = {
    withheld: new Map((withheld[name] ?? []).map((path) => [path, text])),
    values: new Map<string, readonly string[]>([...Object.entries(accepts), ...Object.entries(values[name] ?? {})]),
  };
  if (scopeOfPlatforms && kind !== 'platform') accepted.values.set('scope', ['self']);
  made.set(key, accepted);
  return accepted;
}

/** Why a parameter that only the other edition has is refused. */
export const withheldText = (edition: 1 | 2): string => `is part of Edition ${3 - edition} only. Leave it out.`;

/** The message for a value that is none of those that are accepted. */
export const mustBeOneOf = (values: readonly string[]): MessageText =>
  listedValues(values, (listed) => `must be ${listed.length > 1 ? 'one of ' : ''}${listed.join(', ')}`);
