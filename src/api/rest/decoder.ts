import {
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLError,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
} from 'graphql';
import { isEmpty } from '../../types/empty.js';
import { listMembersFault, listMembersMax } from '../../types/pagination.js';
import {
  emptyOptional,
  listedValues,
  pathOnV1,
  type Problem,
  problem,
  problemsMax,
  type MessageText,
  snake,
} from '../../errors/problems.js';
import { epochMax, type ScalarFault } from '../../types/scalars.js';

/**
 * The format in which an input writes names, enum values and scalars. All formats share one walk over the input types.
 */
export interface InputFormat {
  /** The name of a field: its name in the graph, and its path on /v1. */
  name(graphName: string, path: string): string;
  /** The stored value, or a `Wrong` for an invalid one; the scalars of libraries throw instead. */
  enum(type: GraphQLEnumType, raw: unknown): unknown;
  scalar(type: GraphQLScalarType, raw: unknown): unknown;
  /** The raw members of a list: a format may have several ways to write a list. */
  list(raw: unknown): unknown[] | Wrong;
}

/**
 * The fault of a value. It is returned and not thrown, since errors with stacks are slow when an input has many faults.
 */
class Wrong {
  constructor(readonly text: MessageText) {}
}

const wrong = (text: MessageText) => new Wrong(text);

const oneOf = (type: GraphQLEnumType): MessageText =>
  listedValues(
    type.getValues().map((v) => String(v.value)),
    (listed) => `must be one of ${listed.join(', ')}`,
  );

const storedValue = (type: GraphQLEnumType, raw: unknown): unknown =>
  type.getValues().some((v) => v.value === raw) ? raw : wrong(oneOf(type));

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
    return named ? named.value : wrong(oneOf(type));
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

type Fields = readonly (GraphQLArgument | GraphQLInputField)[];
/** The result for a value that is refused. */
const miss = Symbol('no value');

/**
 * Converts raw input to arguments as GraphQL would coerce them, and adds a problem for every fault, with its path as in
 * /v1. A missing value stays missing and null stays null, since null clears a stored value and a missing one keeps it.
 * It stops at `problemsMax` problems, which is the most that an answer contains.
 */
export function read(
  fields: Fields,
  raw: Record<string, unknown>,
  at: string,
  format: InputFormat,
  problems: Problem[],
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  const paths = fields.map(({ name }) => pathOnV1(`${at}.${snake(name)}`));
  const names = fields.map(({ name }, i) => format.name(name, paths[i]!));
  for (const key of Object.keys(raw)) {
    if (problems.length >= problemsMax) return out;
    if (!names.includes(key))
      problems.push(problem('parameter_unknown', `${at}.${format === graph ? snake(key) : key}`));
  }
  for (const [i, field] of fields.entries()) {
    if (problems.length >= problemsMax) return out;
    const key = names[i]!;
    const value = Object.hasOwn(raw, key) ? raw[key] : undefined;
    if (value === undefined && field.defaultValue !== undefined) {
      out[field.name] = field.defaultValue;
      continue;
    }
    if (value === undefined && !(field.type instanceof GraphQLNonNull)) continue;
    const path = paths[i]!;
    if (value === undefined) {
      problems.push(problem('parameter_missing', path));
      continue;
    }
    const read = valueOf(field.type, value, path, format, problems);
    if (read !== miss) out[field.name] = read;
  }
  return out;
}

function valueOf(
  type: GraphQLInputType,
  raw: unknown,
  path: string,
  format: InputFormat,
  problems: Problem[],
): unknown {
  const refuse = (fault: Problem) => {
    problems.push(fault);
    return miss;
  };
  if (type instanceof GraphQLNonNull) {
    return isEmpty(raw)
      ? refuse(problem('parameter_invalid_empty', path))
      : valueOf(type.ofType, raw, path, format, problems);
  }
  if (raw === null) return null;
  if (raw === '' && !takesEmptyText(type)) return refuse(problem('parameter_invalid_empty', path, emptyOptional));
  if (type instanceof GraphQLList) {
    const members = format.list(raw);
    if (members instanceof Wrong) return refuse(problem('parameter_invalid', path, members.text));
    if (members.length > listMembersMax) return refuse(problem('parameter_invalid', path, listMembersFault));
    const indexed = format !== query;
    const out: unknown[] = [];
    for (const [i, member] of members.entries()) {
      if (problems.length >= problemsMax) break;
      out.push(valueOf(type.ofType, member, indexed ? `${path}[${i}]` : path, format, problems));
    }
    return out;
  }
  if (type instanceof GraphQLInputObjectType) {
    if (typeof raw !== 'object' || Array.isArray(raw)) return refuse(problem('parameter_invalid', path, notObject));
    const members = Object.keys(raw);
    if (type.isOneOf && (members.length !== 1 || (raw as Record<string, unknown>)[members[0]!] === null))
      return refuse(problem('parameter_invalid', path, 'must have exactly one member'));
    return read(Object.values(type.getFields()), raw as Record<string, unknown>, path, format, problems);
  }
  try {
    const value = type instanceof GraphQLEnumType ? format.enum(type, raw) : format.scalar(type, raw);
    return value instanceof Wrong ? refuse(problem('parameter_invalid', path, value.text)) : value;
  } catch (error) {
    const faults = (error as GraphQLError).extensions?.faults as ScalarFault[] | undefined;
    for (const fault of faults ?? [])
      problems.push(problem('parameter_invalid', `${path}.${fault.path}`, fault.message));
    return faults ? miss : refuse(problem('parameter_invalid', path, faultOf(type, error)));
  }
}

/** Our messages for the scalars of libraries, whose own messages repeat the value and name internal types. */
const libraryFaults: Record<string, string> = {
  CountryCode: 'must be a two-letter ISO 3166-1 country code, such as US',
  EmailAddress: 'must be an email address',
  IP: 'must be an IPv4 or IPv6 address',
  Int: 'must be a whole number from -2147483648 to 2147483647',
  LocalDate: 'must be a date, as YYYY-MM-DD',
  SafeInt: 'must be a whole number from -9007199254740991 to 9007199254740991',
};

function faultOf(type: GraphQLInputType, error: unknown): string {
  const { message } = error as Error;
  return message.startsWith('must ') ? message : (libraryFaults[String(type)] ?? 'is not valid');
}

/** Whether "" is a value of the type: a text may be empty, to clear it. For every other type "" is a missing value. */
function takesEmptyText(type: GraphQLInputType): boolean {
  return type instanceof GraphQLScalarType && ['String', 'ID', 'Metadata'].includes(type.name);
}

/**
 * Parses the query string of a list into nested raw input. The dotted form (`created.gte`) and the bracket form
 * (`created[gte]`) mean the same; `status[]` is a list, and `status[0]` a member of one, which `query` reads. A single
 * value that is given twice is a list here, and `read` refuses it. Spec: Shared list parameters. Silent: the encoding
 * of arrays.
 */
export function parseQuery(search: string): Record<string, unknown> {
  const out: Record<string, unknown> = Object.create(null);
  if (search === '') return out;
  for (const [name, value] of new URLSearchParams(search)) {
    const path = name
      .replace(/\[\]$/, '')
      .replaceAll(/\[([^[\]]*)\]/g, '.$1')
      .split('.');
    let at = out;
    for (const step of path.slice(0, -1)) {
      const next = Object.hasOwn(at, step) ? at[step] : undefined;
      if (typeof next === 'object' && next !== null && !Array.isArray(next)) {
        at = next as Record<string, unknown>;
        continue;
      }
      // A value and an object under one name become a list of both, which `read` refuses.
      const nested: Record<string, unknown> = Object.create(null);
      at[step] = next === undefined ? nested : added(next, nested);
      at = nested;
    }
    const last = path.at(-1)!;
    at[last] = Object.hasOwn(at, last) ? added(at[last], value) : value;
  }
  return out;
}

/** Adds a value to a name. It extends a list in place: copies for thousands of values would take seconds. */
function added(before: unknown, value: unknown): unknown[] {
  if (!Array.isArray(before)) return [before, value];
  before.push(value);
  return before;
}
