import { type Problem, problem } from '../../request/problems.js';
import { eventTypes } from './catalogue.js';

export const typesMax = 100;

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

/** The patterns of LIKE for event types; null for all events. */
export function patternsOf(types: readonly string[] | null): string[] | null {
  if (types === null || types.includes('*')) return null;
  const escaped = types.map((type) => type.replaceAll('_', String.raw`\_`));
  return escaped.map((type) => (type.endsWith('.*') ? `${type.slice(0, -1)}%` : type));
}
