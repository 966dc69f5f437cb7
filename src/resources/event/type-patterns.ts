import { type Problem, problem } from '../../errors/problems.js';
import { eventTypes } from './catalogue.js';

export const typesMax = 100;

/** The description of event types as a parameter. */
export const typesText = 'Only events of these types, such as `deposit.completed`, or `deposit.*` for an object.';

/** The problems of a list of event types: types such as `deposit.completed`, `deposit.*` for an object, or `*`. */
export function typeProblems(given: readonly string[] | null | undefined, field: string): Problem[] {
  if (!given) return [];
  if (given.length === 0) return [problem('parameter_invalid_empty', field, 'must have at least one type')];
  if (given.length > typesMax) return [problem('parameter_invalid', field, `must have at most ${typesMax} types`)];
  const known = new Set(eventTypes);
  const objects = new Set([...known].map((type) => `${type.split('.')[0]}.*`));
  return given.flatMap((type, i) =>
    type === '*' || known.has(type) || objects.has(type)
      ? []
      : [
          problem(
            'parameter_invalid',
            `${field}[${i}]`,
            'must be a type of events, such as deposit.completed or deposit.*',
          ),
        ],
  );
}

/**
 * The filters of a list of events with the types that `types` or `type` names. Adds the problems of both, and refuses
 * both together.
 */
export function readTypes(filters: Record<string, unknown>, problems: Problem[]): Record<string, unknown> {
  const { type, types, ...others } = filters as { type?: string[]; types?: string[] };
  problems.push(...typeProblems(type, 'event.type'), ...typeProblems(types, 'event.types'));
  if (type && types)
    problems.push(problem('parameter_invalid', 'event.types', 'cannot be combined with type. Leave out one of them.'));
  const given = types ?? type;
  if (!given || given.includes('*')) return others;
  const objects = given.flatMap((each) => (each.endsWith('.*') ? [each.slice(0, -1)] : []));
  const meant = eventTypes.filter((each) => given.includes(each) || objects.some((object) => each.startsWith(object)));
  return { ...others, type: meant };
}

/** The patterns of LIKE for event types; null for all events. */
export function patternsOf(types: readonly string[] | null): string[] | null {
  if (types === null || types.includes('*')) return null;
  const escaped = types.map((type) => type.replaceAll('_', String.raw`\_`));
  return escaped.map((type) => (type.endsWith('.*') ? `${type.slice(0, -1)}%` : type));
}
