import type { GraphQLEnumType, GraphQLScalarType } from 'graphql';
import type { MessageText } from '../../errors/problems.js';
import { epochMax } from '../../types/scalars.js';

/**
 * The format in which an input writes names, enum values and scalars. All formats share one walk over the input types.
 */
export interface InputFormat {
  /** The name of a field: its name in the graph, and its path on /v1. */
  name(graphName: string, path: string): string;
  /** The stored value, or `miss` for one that the enum does not have. */
  enum(type: GraphQLEnumType, raw: unknown): unknown;
  /** The stored value, or a `Wrong` for an invalid one; the scalars of libraries throw instead. */
  scalar(type: GraphQLScalarType, raw: unknown): unknown;
  /** The raw members of a list: a format may have several ways to write a list. */
  list(raw: unknown): unknown[] | Wrong;
}

/**
 * The fault of a value. It is returned and not thrown, since errors with stacks are slow when an input has many faults.
 */
export class Wrong {
  constructor(readonly text: MessageText) {}
}

/** The result for a value that is refused. */
export const miss = Symbol('no value');

const wrong = (text: MessageText) => new Wrong(text);

const storedValue = (type: GraphQLEnumType, raw: unknown): unknown =>
  type.getValues().some((v) => v.value === raw) ? raw : miss;

const secondsFault = 'must be whole seconds since 1970-01-01 UTC';
const epochSeconds = (raw: unknown): unknown =>
  typeof raw === 'number' && Number.isInteger(raw) && raw >= 0 && raw <= epochMax ? raw : wrong(secondsFault);

const asList = (raw: unknown): unknown[] => (Array.isArray(raw) ? raw : [raw]);

/** The fault of a value that is not an input object where one is required. */
export const notObject: MessageText = { v1: 'must be a hash', graph: 'must be an input object' };

const isWhole = ({ name }: GraphQLScalarType) => name === 'Int' || name === 'SafeInt';

/** The fault of a value of another JSON type. JSON and GraphQL both have these types, so no scalar may convert them. */
function jsonScalar(type: GraphQLScalarType, raw: unknown): Wrong | undefined {
  if ((type.name === 'String' || type.name === 'ID') && typeof raw !== 'string') return wrong('must be a string');
  if (type.name === 'Boolean' && typeof raw !== 'boolean') return wrong('must be true or false');
  if (isWhole(type) && !Number.isInteger(raw)) return wrong('must be a whole number');
  return undefined;
}

/** The format of bodies of /v1: snake_case, enum values as in the specification, times as epoch seconds. */
export const body: InputFormat = {
  name: (_, path) => path.slice(path.lastIndexOf('.') + 1),
  enum: storedValue,
  scalar: (type, raw) =>
    type.name === 'DateTime' ? epochSeconds(raw) : (jsonScalar(type, raw) ?? type.parseValue(raw)),
  list: (raw) => (Array.isArray(raw) ? raw : wrong('must be an array')),
};

/**
 * The format of query strings of /v1: like bodies, but every value is text, and a list repeats its parameter or
 * separates its values by commas, or gives each an index. Whole numbers have the form of JSON: no plus, no leading
 * zero, no exponent.
 */
export const query: InputFormat = {
  ...body,
  scalar: (type, raw) => {
    if (Array.isArray(raw)) return wrong('must be given once');
    if (typeof raw !== 'string') return wrong('must be one value');
    if (isWhole(type) || type.name === 'DateTime')
      return /^(?:0|-?[1-9]\d{0,15})$/.test(raw) ? body.scalar(type, Number(raw)) : wrong('must be a whole number');
    if (type.name === 'Boolean') return raw === 'true' || (raw === 'false' ? false : wrong('must be true or false'));
    return body.scalar(type, raw);
  },
  list: (raw) =>
    asList(raw)
      .flatMap(indexed)
      .flatMap((member) => (typeof member === 'string' ? member.split(',') : [member])),
};

/** The values of an object whose keys are all indices of an array, as in `status[0]=draft`, in the order of these. */
function indexed(raw: unknown): unknown[] {
  const isArray = typeof raw === 'object' && raw !== null && Object.keys(raw).every((key) => /^\d{1,5}$/.test(key));
  return isArray ? Object.values(raw).flatMap(asList) : [raw];
}

/**
 * The format of GraphQL, as untyped values. It only explains, with path and code, an input that the library refused.
 */
export const graph: InputFormat = {
  name: (name) => name,
  enum: (type, raw) => {
    const named = typeof raw === 'string' ? type.getValue(raw) : undefined;
    return named ? named.value : miss;
  },
  scalar: (type, raw) => {
    if (type.name === 'ID' && Number.isInteger(raw)) return type.parseValue(raw);
    if (type.name === 'DateTime') return timeOf(type, raw);
    return jsonScalar(type, raw) ?? type.parseValue(raw);
  },
  list: asList,
};

/** A time in GraphQL. Its fault has one text for each API, because the two APIs format times differently. */
function timeOf(type: GraphQLScalarType, raw: unknown): unknown {
  try {
    return type.parseValue(raw);
  } catch (error) {
    return wrong({ v1: secondsFault, graph: (error as Error).message });
  }
}
