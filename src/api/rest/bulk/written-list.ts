import { stringify } from 'csv-stringify/sync';
import { getNamedType, getNullableType, type GraphQLObjectType, isListType, isObjectType } from 'graphql';
import type { AskedList } from '../../../operation/bulk.js';
import { harmless } from '../../../types/csv-cell.js';
import { camel } from '../../../errors/problems.js';
import { type KeyRule, type Keys, Optional, OrNull } from '../../../resources/shape.js';

/** A column of a CSV file: the path of its value in an object of /v1. */
type Column = readonly string[];

/** How the objects of a list are written in a format. */
export function writing(
  format: AskedList['format'],
  keys: Keys,
  type: GraphQLObjectType | undefined,
): { header: string; write: (objects: readonly object[]) => string } {
  if (format === 'jsonl')
    return { header: '', write: (objects) => objects.map((object) => `${JSON.stringify(object)}\n`).join('') };
  const columns = columnsOf(keys, type);
  return {
    header: lines([columns.map((path) => path.join('.'))]),
    write: (objects) => lines(objects.map((object) => columns.map((path) => cellOf(path, object)))),
  };
}

const lines = (rows: (string | null)[][]): string => stringify(rows, { record_delimiter: '\r\n' });

/**
 * The columns of the declared keys: all that any object of the kind has, so that every file of a list has the same
 * ones. A list, and a map whose keys clients choose, is one cell of JSON.
 */
function columnsOf(keys: Keys, type: GraphQLObjectType | undefined, at: Column = []): Column[] {
  return Object.entries(keys).flatMap(([name, rule]) => {
    const path = [...at, name];
    const inner = hashOf(rule);
    const field = type?.getFields()[camel(name)];
    if (!inner || (field && isListType(getNullableType(field.type)))) return [path];
    const named = field && getNamedType(field.type);
    return columnsOf(inner, isObjectType(named) ? named : undefined, path);
  });
}

/** The keys of a hash; undefined for a value. */
function hashOf(rule: KeyRule): Keys | undefined {
  if (rule instanceof Optional) return hashOf(rule.rule);
  if (rule instanceof OrNull) return rule.keys;
  return typeof rule === 'object' && Object.getPrototypeOf(rule) === Object.prototype ? (rule as Keys) : undefined;
}

/** The cell of a value. Null and an absent value are empty. */
function cellOf(path: Column, object: object): string | null {
  let value: unknown = object;
  for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name];
  if (value === null || value === undefined) return null;
  if (typeof value === 'object') return harmless(JSON.stringify(value));
  return typeof value === 'string' ? harmless(value) : String(value);
}
