import type { Operation } from '../../../operation/operation.js';
import { limitMax } from '../../../types/pagination.js';
import type { Examples } from './examples.js';
import type { Json } from './schemas.js';
import { parentOf } from './wording.js';

/** The references to the page parameters of a list. */
export const pageParameters: Json[] = ['Limit', 'StartingAfter', 'EndingBefore'].map((name) => ({
  $ref: `#/components/parameters/${name}`,
}));

/** The page parameters of all lists. Spec: Shared list parameters. */
export const pageParameterObjects: Json = {
  Limit: {
    name: 'limit',
    in: 'query',
    description: 'The most objects of the page.',
    schema: { type: 'integer', minimum: 1, maximum: limitMax, default: limitMax },
    example: limitMax,
  },
  StartingAfter: {
    name: 'starting_after',
    in: 'query',
    description:
      'The id of the last object of a page: answers the older objects that follow. Not with `ending_before`.',
    schema: { type: 'string', minLength: 1 },
  },
  EndingBefore: {
    name: 'ending_before',
    in: 'query',
    description:
      'The id of the first object of a page: answers the nearest newer ' +
      'objects, newest first. Not with `starting_after`.',
    schema: { type: 'string', minLength: 1 },
  },
};

/** The parameters of a path, with the ids of a recorded request. */
export function pathParameters(
  { id, path, operation }: { id: string; path: string; operation: Operation },
  { operations }: Examples,
): Json[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const recorded = operations[id]?.path.split(/[/?]/) ?? [];
  return names.map((name) => {
    const value = recorded[path.split('/').indexOf(`:${name}`)];
    // What an operation answers may be below an object of another kind, such as the wallet of an account.
    const [collection] = /[^/]+(?=\/:)/.exec(path) ?? [''];
    const own = path.endsWith(`/:${name}`) || collection.startsWith(operation.object);
    const noun = own ? operation.object : parentOf(path);
    return {
      name,
      in: 'path',
      required: true,
      description: `The id of the object: ${noun?.replaceAll('_', ' ')}.`,
      schema: { type: 'string', minLength: 1 },
      ...(value && { example: value }),
    };
  });
}

/** Adds an example to a parameter: a recorded value of the same name, or one of its values. */
export function withExample(parameter: Json, id: string, { operations }: Examples): Json {
  if (parameter.$ref) return parameter;
  const schema = parameter.schema as Json;
  const item = schema.type === 'array' ? (schema.items as Json) : schema;
  const [name = ''] = String(parameter.name).split('.');
  const found = (item.enum as unknown[] | undefined)?.[0] ?? valueNamed(operations[id]?.response, name);
  const named = found ?? (item.type === 'boolean' ? true : undefined);
  const value = item.type === 'integer' && named !== undefined ? Number(named) : named;
  return value === undefined ? parameter : { ...parameter, example: schema.type === 'array' ? [value] : value };
}

/** The first value of a recorded answer that has a name. */
function valueNamed(answer: unknown, name: string): unknown {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const own = (answer as Json)[name];
  if (typeof own === 'string' || typeof own === 'number') return own;
  for (const member of Object.values(answer)) {
    const found = valueNamed(member, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
