import {
  type GraphQLArgument,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import { isEmpty } from '../types/empty.js';

type Fields = readonly (GraphQLArgument | GraphQLInputField)[];
type Values = Record<string, unknown>;

/**
 * The arguments of a write with null for each text that is empty or has only spaces, and may be null: an empty text
 * clears an optional value, or leaves it out of a new object, in every operation. Arguments without one are the same
 * objects. The fingerprint of a request is that of the texts as they were sent. Silent: empty texts.
 */
export function withoutBlankTexts<V extends Values>(fields: Fields, values: V): V {
  let out = values;
  for (const { name, type } of fields) {
    const value = values[name];
    if (value === undefined || value === null) continue;
    const cleared = clearedValue(type, value);
    if (cleared === value) continue;
    if (out === values) out = { ...values };
    (out as Values)[name] = cleared;
  }
  return out;
}

function clearedValue(type: GraphQLInputType, value: unknown): unknown {
  if (value === null) return value;
  if (type instanceof GraphQLNonNull) return typeof value === 'string' ? value : clearedValue(type.ofType, value);
  if (typeof value === 'string') return isText(type) && isEmpty(value) ? null : value;
  if (type instanceof GraphQLInputObjectType)
    return withoutBlankTexts(Object.values(type.getFields()), value as Values);
  if (!(type instanceof GraphQLList) || !Array.isArray(value)) return value;
  const members = value.map((member) => clearedValue(type.ofType, member));
  return members.every((member, i) => member === value[i]) ? value : members;
}

const isText = (type: GraphQLInputType): boolean => 'name' in type && (type.name === 'String' || type.name === 'ID');
