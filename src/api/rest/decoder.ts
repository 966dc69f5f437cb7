import {
  getNamedType,
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLError,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  isEnumType,
  isInputObjectType,
} from 'graphql';
import { type Accepted, mustBeOneOf } from '../../operation/accepted.js';
import { isEmpty } from '../../types/empty.js';
import { listMembersFault, listMembersMax } from '../../types/pagination.js';
import {
  emptyOptional,
  filterOnV1,
  pathOnV1,
  type Problem,
  problem,
  problemsMax,
  type MessageText,
  snake,
} from '../../errors/problems.js';
import type { ScalarFault } from '../../types/scalars.js';
import { graph, type InputFormat, miss, notObject, query, Wrong } from './input-format.js';

type Fields = readonly (GraphQLArgument | GraphQLInputField)[];

/** Reads raw input to arguments, and adds the problems of it. */
export type Decoder = (raw: Record<string, unknown>, problems: Problem[]) => Record<string, unknown>;

/** What a decoder is made from besides the fields. */
interface Decoded {
  format: InputFormat;
  accepted: Accepted | undefined;
}

/** A parameter as a decoder reads it. */
interface Parameter {
  field: Fields[number];
  /** Its name in the input. */
  key: string;
  /** Its name on /v1. */
  name: string;
  /** Why it is refused, if the callers of the decoder do not have it. */
  withheld: MessageText | undefined;
  /** The message for a value that its enum does not have. */
  values: MessageText | undefined;
  /** The parameters of its input object. They are made when the first input has one. */
  members: () => readonly Parameter[];
}

/**
 * Makes a decoder, which converts raw input to arguments as GraphQL would coerce them, and adds a problem for every
 * fault, with its path as in /v1. A missing value stays missing and null stays null, since null clears a stored value
 * and a missing one keeps it. It stops at `problemsMax` problems, which is the most that an answer contains.
 * Its messages list what `accepted` says, and a parameter that its callers do not have is refused as a whole. Make it
 * once for the requests that it reads: names, paths and messages are made with it.
 */
export function decoderOf(fields: Fields, object: string, format: InputFormat, accepted?: Accepted): Decoder {
  const parameters = parametersOf(fields, object, '', { format, accepted });
  return (raw, problems) => readAll(parameters, raw, object, format, problems);
}

function parametersOf(fields: Fields, object: string, within: string, decoded: Decoded): readonly Parameter[] {
  const { format, accepted } = decoded;
  return fields.map((field) => {
    const full = pathOnV1(`${object}.${within}${snake(field.name)}`);
    const path = full.slice(object.length + 1);
    const onV1 = filterOnV1(path);
    const type = getNamedType(field.type);
    const stored = isEnumType(type) ? type.getValues().map(({ value }) => String(value)) : undefined;
    let members: readonly Parameter[] | undefined;
    return {
      field,
      key: format.name(field.name, full),
      name: path.slice(path.lastIndexOf('.') + 1),
      withheld: accepted?.withheld.get(onV1),
      values: stored && mustBeOneOf(accepted?.values.get(onV1) ?? stored),
      members: () =>
        (members ??= isInputObjectType(type)
          ? parametersOf(Object.values(type.getFields()), object, `${path}.`, decoded)
          : []),
    };
  });
}

function readAll(
  parameters: readonly Parameter[],
  raw: Record<string, unknown>,
  at: string,
  format: InputFormat,
  problems: Problem[],
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(raw)) {
    if (problems.length >= problemsMax) return out;
    if (!parameters.some((parameter) => parameter.key === key))
      problems.push(problem('parameter_unknown', `${at}.${format === graph ? snake(key) : key}`));
  }
  for (const { field, key, name, ...parameter } of parameters) {
    if (problems.length >= problemsMax) return out;
    const value = Object.hasOwn(raw, key) ? raw[key] : undefined;
    if (value === undefined && field.defaultValue !== undefined) {
      out[field.name] = field.defaultValue;
      continue;
    }
    if (value === undefined && !(field.type instanceof GraphQLNonNull)) continue;
    const path = `${at}.${name}`;
    if (value === undefined) {
      problems.push(problem('parameter_missing', path));
      continue;
    }
    const isWithheld = parameter.withheld !== undefined;
    if (isWithheld) problems.push(problem('parameter_unknown', path, parameter.withheld));
    // What is in it is not judged. It is still an argument: the input is not empty, as it is not in the graph.
    const read = valueOf(field.type, value, path, { ...parameter, format, problems: isWithheld ? [] : problems });
    if (read !== miss) out[field.name] = read;
  }
  return out;
}

/** What the values of one parameter are read with. */
interface Reading extends Pick<Parameter, 'values' | 'members'> {
  format: InputFormat;
  problems: Problem[];
}

function valueOf(type: GraphQLInputType, raw: unknown, path: string, reading: Reading): unknown {
  const { format, problems, values, members } = reading;
  const refuse = (fault: Problem) => {
    problems.push(fault);
    return miss;
  };
  if (type instanceof GraphQLNonNull) {
    return isEmpty(raw) ? refuse(problem('parameter_invalid_empty', path)) : valueOf(type.ofType, raw, path, reading);
  }
  if (raw === null) return null;
  if (raw === '' && !takesEmptyText(type)) return refuse(problem('parameter_invalid_empty', path, emptyOptional));
  if (type instanceof GraphQLList) return listOf(type.ofType, raw, path, reading, refuse);
  if (type instanceof GraphQLInputObjectType) {
    if (typeof raw !== 'object' || Array.isArray(raw)) return refuse(problem('parameter_invalid', path, notObject));
    const given = Object.keys(raw);
    if (type.isOneOf && (given.length !== 1 || (raw as Record<string, unknown>)[given[0]!] === null))
      return refuse(problem('parameter_invalid', path, 'must have exactly one member'));
    return readAll(members(), raw as Record<string, unknown>, path, format, problems);
  }
  if (type instanceof GraphQLEnumType) {
    const stored = format.enum(type, raw);
    return stored === miss ? refuse(problem('parameter_invalid', path, values)) : stored;
  }
  try {
    const value = format.scalar(type, raw);
    return value instanceof Wrong ? refuse(problem('parameter_invalid', path, value.text)) : value;
  } catch (error) {
    const faults = (error as GraphQLError).extensions?.faults as ScalarFault[] | undefined;
    for (const fault of faults ?? [])
      problems.push(problem('parameter_invalid', `${path}.${fault.path}`, fault.message));
    return faults ? miss : refuse(problem('parameter_invalid', path, faultOf(type, error)));
  }
}

function listOf(
  member: GraphQLInputType,
  raw: unknown,
  path: string,
  reading: Reading,
  refuse: (fault: Problem) => symbol,
): unknown {
  const { format, problems } = reading;
  const members = format.list(raw);
  if (members instanceof Wrong) return refuse(problem('parameter_invalid', path, members.text));
  if (members.length > listMembersMax) return refuse(problem('parameter_invalid', path, listMembersFault));
  const isIndexed = format !== query;
  const out: unknown[] = [];
  for (const [i, each] of members.entries()) {
    if (problems.length >= problemsMax) break;
    out.push(valueOf(member, each, isIndexed ? `${path}[${i}]` : path, reading));
  }
  return out;
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
