import {
  type GraphQLEnumType,
  type GraphQLOutputType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import type { Columns } from '../../../resources/edges.js';
import { storedAs } from '../stored-names.js';
import { type Branch, NotCompilable } from './tree.js';

// The SQL of JSON texts: of objects, lists and the values of each type.

/** Marks around each JSON value that PostgreSQL formats: control characters, which PostgreSQL escapes inside a text. */
export const jsonBegin = '\u0001';
export const jsonEnd = '\u0002';
/** Stands in the text of an answer once for each object that PostgreSQL read for it, so that they can be counted. */
export const objectMark = '\u0003';
/** Stands there once for each point of the counts of lists. */
export const pointMark = '\u0004';
const marked = (json: string) => `chr(1) || ${json} || chr(2)`;
/** Scalars that are returned as they are stored. */
const scalarsAsStored = new Set(
  'ID String Boolean Int SafeInt Currency CountryCode EmailAddress IP LocalDate URL Metadata JSONObject'.split(' '),
);
/** Those of them whose columns contain only letters, digits and underscores, so they need no escapes. */
const scalarsWithoutEscapes = new Set(['ID', 'Currency']);

/** A member of a JSON object: its key and the SQL of its value's text. */
export type Member = [key: string, expression: string];

/** A JSON object, concatenated: PostgreSQL's own JSON functions look up the type of every value in every row. */
export function object(members: Member[]): string {
  return `${members.map(([key, json], i) => `'${i === 0 ? '{' : ','}"${key}":' || ${json}`).join(' || ')} || '}'`;
}

/** A JSON list of the rows of a sub-select, in an order and with a filter of them. */
export const list = (each: string, order: string, shown = '') =>
  `'[' || coalesce(string_agg(${each}, ','${order})${shown}, '') || ']'`;
/** A text without characters that need an escape, as a JSON string. */
export const quoted = (words: string) => `'"' || ${words} || '"'`;
/** NULL as JSON's null. */
export const orNull = (json: string) => `coalesce(${json}, 'null')`;
/** A JSON string that the statement has itself. */
export const constant = (name: string) => `'"${name}"'`;

/** Makes a sub-select return exactly one row, even when it has no aggregate or reads no row. */
export const oneRow = ' having true';

/** The place of a value: a column, or a member of an object. */
export type Place = { column: string; nullable: boolean } | { object: string; member: string };
/** Where a row has a property; undefined for a property that it does not have. */
export type PlaceOf = (property: string) => Place | undefined;

/** The places of the columns of a row. */
export function placesIn(columns: Columns, alias: string): PlaceOf {
  return (property) => {
    const found = columns[property];
    return found && { column: `${alias}."${found.name}"`, nullable: !found.notNull };
  };
}

/** A value as its type's JSON text. It is never SQL NULL, which would make the object around it NULL. */
export function value(type: GraphQLOutputType, place: Place, below: Branch[], required = false): string {
  if (isNonNullType(type)) return value(type.ofType, place, below, true);
  const stored = 'column' in place;
  const raw = stored ? place.column : `(${place.object} -> '${place.member}')`;
  const words = stored ? place.column : `(${place.object} ->> '${place.member}')`;
  const notNull = stored && !place.nullable;
  // NULL in a non-null field, or an enum value without a name: the resolvers answer.
  const nothing = required || notNull ? 'absent()' : `'null'`;
  const known = (json: string) => (notNull && !isEnumType(type) ? json : `coalesce(${json}, ${nothing})`);
  if (isListType(type)) {
    const each = isNonNullType(type.ofType) ? type.ofType.ofType : type.ofType;
    if (!isScalarType(each) || !scalarsAsStored.has(each.name)) throw new NotCompilable();
    return known(marked(`to_json(${raw})::text`));
  }
  if (isObjectType(type)) {
    const members = below.map(({ key, field, parent, node, below: parts }): Member => {
      if (!field) return [key, constant(parent.name)];
      return [key, value(field.type, { object: raw, member: storedAs(field) ?? node.name.value }, parts)];
    });
    // An object with an id counts as one, whether it is a row or a part of one.
    const mark = type.getFields().id ? 'chr(3) || ' : '';
    return `case when jsonb_typeof(${raw}) = 'object' then ${mark}${object(members)} else ${nothing} end`;
  }
  if (isEnumType(type)) return known(quoted(enumName(type, words)));
  if (type.name === 'Amount') return known(quoted(amount(stored ? raw : `${words}::bigint`)));
  if (type.name === 'DateTime') {
    const seconds = stored ? raw : `${words}::bigint`;
    return known(quoted(`to_char(to_timestamp(${seconds}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`));
  }
  if (!isScalarType(type) || !scalarsAsStored.has(type.name)) throw new NotCompilable();
  if (type.name === 'Metadata' || type.name === 'JSONObject') return known(marked(`${raw}::text`));
  if (!stored) return known(`${raw}::text`);
  if (scalarsWithoutEscapes.has(type.name)) return known(quoted(raw));
  return known(['Boolean', 'Int', 'SafeInt'].includes(type.name) ? `${raw}::text` : `to_json(${raw}::text)::text`);
}

/** The name of a stored enum value. */
function enumName(type: GraphQLEnumType, stored: string): string {
  const values = type.getValues();
  if (values.every(({ name, value: v }) => name === String(v).toUpperCase())) return `upper(${stored})`;
  return `case ${stored} ${values.map(({ name, value: v }) => `when '${v}' then '${name}'`).join(' ')} end`;
}

/** Minor units as an amount in the API's format, which always has two decimals. */
export function amount(minor: string): string {
  const cents = `lpad((abs(${minor}) % 100)::text, 2, '0')`;
  return `case when ${minor} < 0 then '-' else '' end || abs(${minor}) / 100 || '.' || ${cents}`;
}
