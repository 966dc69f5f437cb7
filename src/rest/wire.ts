import {
  type GraphQLArgument,
  GraphQLEnumType,
  GraphQLError,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
} from 'graphql';
import { isEmpty } from '../guard.js';
import { type Problem, problem, snake } from '../problems.js';
import { epochMax, type ScalarFault } from '../scalars.js';

/** How a door spells names, enum values and scalars; the walk over the input types is the same for all. */
export interface Spelling {
  name(graphName: string): string;
  enum(type: GraphQLEnumType, raw: unknown): unknown;
  scalar(type: GraphQLScalarType, raw: unknown): unknown;
  /** Raw values of a list, where the door has more than one way to write it. */
  list(raw: unknown): unknown[];
}

const fail = (message: string): never => {
  throw new GraphQLError(message);
};

const storedValue = (type: GraphQLEnumType, raw: unknown): unknown => {
  const values = type.getValues().map((v) => v.value as unknown);
  return values.includes(raw) ? raw : fail(`must be one of ${values.join(', ')}`);
};

const epochSeconds = (raw: unknown): unknown =>
  typeof raw === 'number' && Number.isInteger(raw) && raw >= 0 && raw <= epochMax
    ? raw
    : fail('must be whole seconds since 1970-01-01 UTC');

const asList = (raw: unknown): unknown[] => (Array.isArray(raw) ? raw : [raw]);

/** Bodies of /v1: snake_case, enum values as the specification writes them, times as epoch seconds. */
export const body: Spelling = {
  name: snake,
  enum: storedValue,
  scalar: (type, raw) => {
    if (type.name === 'DateTime') return epochSeconds(raw);
    if ((type.name === 'String' || type.name === 'ID') && typeof raw !== 'string') return fail('must be a string');
    if (type.name === 'Boolean' && typeof raw !== 'boolean') return fail('must be true or false');
    if (type.name === 'Int' && !Number.isInteger(raw)) return fail('must be a whole number');
    return type.parseValue(raw);
  },
  list: (raw) => (Array.isArray(raw) ? raw : fail('must be an array')) as unknown[],
};

/** Query strings of /v1: as bodies, but every value is text, and lists may be repeated or separated by commas. */
export const query: Spelling = {
  ...body,
  scalar: (type, raw) => {
    if (Array.isArray(raw)) return fail('must be given once');
    const text = String(raw);
    if (type.name === 'Int' || type.name === 'DateTime')
      return /^-?\d{1,15}$/.test(text) ? body.scalar(type, Number(text)) : fail('must be a whole number');
    if (type.name === 'Boolean') return text === 'true' || (text === 'false' ? false : fail('must be true or false'));
    return body.scalar(type, text);
  },
  list: (raw) => asList(raw).flatMap((text) => String(text).split(',')),
};

/** The graph, as untyped values: used only to explain, with path and code, what the library has refused. */
export const graph: Spelling = {
  name: (name) => name,
  enum: (type, raw) => (type.getValue(String(raw)) ? type.getValue(String(raw))?.value : storedValue(type, miss)),
  scalar: (type, raw) => {
    if (
      (type.name === 'String' || type.name === 'ID') &&
      typeof raw !== 'string' &&
      !(type.name === 'ID' && Number.isInteger(raw))
    )
      return fail('must be a string');
    if (type.name === 'Boolean' && typeof raw !== 'boolean') return fail('must be true or false');
    if (type.name === 'Int' && !Number.isInteger(raw)) return fail('must be a whole number');
    return type.parseValue(raw);
  },
  list: asList,
};

type Fields = readonly (GraphQLArgument | GraphQLInputField)[];
const miss = Symbol('no value');

/**
 * Raw input to arguments as GraphQL would have coerced them, and every fault with its path as /v1 spells it.
 * Missing stays missing and null stays null, since null clears where absent keeps.
 */
export function read(
  fields: Fields,
  raw: Record<string, unknown>,
  at: string,
  spelling: Spelling,
  problems: Problem[],
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(raw))
    if (!fields.some((field) => spelling.name(field.name) === key))
      problems.push(problem('parameter_unknown', `${at}.${spelling === graph ? snake(key) : key}`));
  for (const field of fields) {
    const key = spelling.name(field.name);
    const value = Object.hasOwn(raw, key) ? raw[key] : undefined;
    if (value === undefined && !(field.type instanceof GraphQLNonNull)) continue;
    const path = `${at}.${snake(field.name)}`;
    if (value === undefined) {
      problems.push(problem('parameter_missing', path));
      continue;
    }
    const read = valueOf(field.type, value, path, spelling, problems);
    if (read !== miss) out[field.name] = read;
  }
  return out;
}

function valueOf(type: GraphQLInputType, raw: unknown, path: string, spelling: Spelling, problems: Problem[]): unknown {
  const refuse = (fault: Problem) => {
    problems.push(fault);
    return miss;
  };
  if (type instanceof GraphQLNonNull) {
    return isEmpty(raw)
      ? refuse(problem('parameter_invalid_empty', path))
      : valueOf(type.ofType, raw, path, spelling, problems);
  }
  if (raw === null) return null;
  if (raw === '' && !takesEmptyText(type)) return refuse(problem('parameter_invalid_empty', path));
  try {
    if (type instanceof GraphQLList) {
      const values = spelling.list(raw);
      const indexed = spelling !== query;
      return values.map((value, i) =>
        valueOf(type.ofType, value, indexed ? `${path}[${i}]` : path, spelling, problems),
      );
    }
    if (type instanceof GraphQLInputObjectType) {
      if (typeof raw !== 'object' || Array.isArray(raw)) return fail('must be a hash');
      return read(Object.values(type.getFields()), raw as Record<string, unknown>, path, spelling, problems);
    }
    return type instanceof GraphQLEnumType ? spelling.enum(type, raw) : spelling.scalar(type, raw);
  } catch (error) {
    const faults = (error as GraphQLError).extensions?.faults as ScalarFault[] | undefined;
    for (const fault of faults ?? [])
      problems.push(problem('parameter_invalid', `${path}.${fault.path}`, fault.message));
    return faults ? miss : refuse(problem('parameter_invalid', path, safeMessage(type, error)));
  }
}

/** Messages of the libraries' scalars repeat the value: ours alone are passed on. */
function safeMessage(type: GraphQLInputType, error: unknown): string {
  const message = (error as Error).message;
  return message.startsWith('must ') ? message : `must be a valid ${String(type)}`;
}

/** Text may be empty, to unset; everything else that is "" is empty. */
function takesEmptyText(type: GraphQLInputType): boolean {
  return type instanceof GraphQLScalarType && ['String', 'ID', 'Metadata'].includes(type.name);
}

/**
 * The query string of a list as nested raw input. Dotted names are literal (`created.gte`), and the nested
 * bracket form means the same (`created[gte]`); `status[]` is a list. A single value given twice is a list here,
 * and the walk refuses it. Spec: Shared list parameters. Silent: the encoding of arrays.
 */
export function parseQuery(search: string): Record<string, unknown> {
  const out: Record<string, unknown> = Object.create(null);
  if (search === '') return out;
  for (const [name, value] of new URLSearchParams(search)) {
    const path = name
      .replace(/\[\]$/, '')
      .replaceAll(/\[([^\]]*)\]/g, '.$1')
      .split('.');
    let at = out;
    for (const step of path.slice(0, -1)) {
      const next = Object.hasOwn(at, step) ? at[step] : undefined;
      if (typeof next === 'object' && next !== null && !Array.isArray(next)) {
        at = next as Record<string, unknown>;
        continue;
      }
      // A value and a hash under one name are two things: the walk refuses the list of both.
      const nested: Record<string, unknown> = Object.create(null);
      at[step] = next === undefined ? nested : [...asList(next), nested];
      at = nested;
    }
    const last = path.at(-1)!;
    at[last] = Object.hasOwn(at, last) ? [...asList(at[last]), value] : value;
  }
  return out;
}
