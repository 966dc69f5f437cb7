import { denied } from '../../../auth/permissions.js';
import { editions } from '../../../editions/editions.js';
import type { Operation } from '../../../operation/operation.js';
import type { Caller } from '../../../request/caller.js';
import { modeOf } from '../../../request/mode.js';
import { resources } from '../../../resources/define.js';
import { events, operations, restOperations, routes } from '../../../resources/registry.js';
import type { EventType } from '../../../resources/event/catalogue.js';

/** The callers for which a contract is made: all that have the same of each of these. Without it, it is everyone's. */
export interface Audience extends Pick<Caller, 'edition' | 'kind' | 'livemode' | 'permission'> {
  /** Whether they have a session in place of a key. */
  session: object | undefined;
}

/** The audience that a caller belongs to, and its name. Nothing of the account itself is in it. */
export function audienceOf({ edition, kind, livemode, permission, session }: Caller): [Audience, string] {
  // A session may have the role read, and then has the permission.
  const audience = { edition, kind, livemode, permission, session: session && {} };
  return [audience, [edition, kind, livemode, permission, session !== undefined].join(' ')];
}

/** Whether an audience may call an operation: by the rules by which the operation is refused. */
export function mayCall(audience: Audience | undefined, operation: Operation): boolean {
  if (!audience) return true;
  const { editions: only } = operation;
  return (!only || only.includes(audience.edition)) && denied(audience, operation) === undefined;
}

/** The types of events that an audience can get. */
export function eventsFor(audience: Audience | undefined): EventType[] {
  const all = [...events.values()];
  if (!audience) return all;
  const hidden = new Set(resources.flatMap(({ node, object }) => (node?.keysOnly && audience.session ? [object] : [])));
  const mode = modeOf(audience.livemode);
  return all.filter(
    ({ object, type, modes }) =>
      modes.includes(mode) &&
      [object, type.split('.')[0]!].every((noun) => isOf(audience, noun)) &&
      !hidden.has(object),
  );
}

/** Whether the edition of an audience has objects of a kind: one whose operations are all of the other has none. */
function isOf({ edition }: Audience, noun: string): boolean {
  const own = [...operations.values(), ...restOperations.values()].filter(({ object }) => object === noun);
  return own.length === 0 || own.some(({ editions: only }) => !only || only.includes(edition));
}

/**
 * The values that a key of an object has in the edition of an audience: those by which the list of these objects is
 * filtered there. Undefined where the edition does not say.
 */
export function valuesOfKey(noun: string, key: string, audience: Audience | undefined): readonly string[] | undefined {
  if (!audience) return undefined;
  const { values, subTypes } = editions[audience.edition];
  if (noun === 'account' && key === 'sub_type') return subTypes;
  const lists = routes.filter(({ answers, field }) => answers === 'list' && operations.get(field)?.object === noun);
  return lists.map(({ field }) => values[field]?.[key]).find((each) => each !== undefined);
}

/** An audience in words, such as `a test key of a platform in Edition 2`. */
export function namedAudience({ edition, kind, livemode, permission, session }: Audience): string {
  const what = `${session ? 'a session' : 'a key'} in ${modeOf(livemode)} mode`;
  const reads = permission === 'read' ? ', which may only read' : '';
  return `${what} of a ${kind.replaceAll('_', ' ')} in Edition ${edition}${reads}`;
}
