import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import type { Edition } from '../../editions/edition.js';
import { editions } from '../../editions/editions.js';
import type { Operation } from '../../operation/operation.js';
import { camel } from '../../errors/problems.js';

/** A part of the schema that has a description. */
interface Described {
  description?: string | null | undefined;
}

/**
 * Says in the descriptions what belongs to one edition alone, from the tables by which the APIs refuse it: operations
 * with the fields of the same types, types that only these return, parameters and enum values. A description that
 * names an edition itself stays as it is.
 */
export function describeEditions(schema: GraphQLSchema, operations: ReadonlyMap<string, Operation>): void {
  const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
  const subscriptions = schema.getSubscriptionType()?.getFields() ?? {};
  const returned = new Map<string, Set<number | undefined>>();
  for (const [name, operation] of operations) {
    const field = fields[name];
    if (!field) continue;
    const only = onlyEdition(operation);
    if (only !== undefined && subscriptions[name]) say(subscriptions[name], only);
    if (only !== undefined) say(field, only, operation.list && `It is empty in Edition ${3 - only}.`);
    const type = getNamedType(field.type).name;
    returned.set(type, (returned.get(type) ?? new Set()).add(only));
  }
  const types = new Map<string, number>();
  for (const [name, only] of returned) {
    const [first] = only;
    if (only.size === 1 && first !== undefined) types.set(name, first);
  }
  for (const type of Object.values(schema.getTypeMap())) {
    const only = types.get(type.name);
    if (only !== undefined) say(type, only);
    if (!isObjectType(type) || types.has(type.name)) continue;
    for (const field of Object.values(type.getFields())) {
      const ofType = types.get(getNamedType(field.type).name);
      if (ofType !== undefined) say(field, ofType);
    }
  }
  for (const edition of Object.values(editions)) describeParameters(fields, edition);
}

type RootFields = Record<string, GraphQLField<unknown, unknown>>;

function describeParameters(fields: RootFields, { number, withheld, values }: Edition): void {
  const other = 3 - number;
  for (const [name, paths] of Object.entries(withheld))
    for (const path of paths) {
      for (const at of [path, `filter.${path}`]) {
        const parameter = parameterAt(fields[name], at);
        if (parameter) say(parameter, other);
      }
    }
  for (const [name, allowed] of Object.entries(values))
    for (const path of Object.keys(allowed)) {
      const type = getNamedType(parameterAt(fields[name], path)?.type);
      if (isEnumType(type)) for (const value of others(type, accepted(values, path))) say(value, other);
    }
}

/** The values that any operation of an edition accepts for a parameter, those of the operator included. */
function accepted(values: Edition['values'], path: string): readonly string[] {
  return Object.values(values).flatMap((allowed) => allowed[path] ?? []);
}

/** The values of an enum that an edition does not have. */
function others(type: GraphQLEnumType, stored: readonly string[]): readonly GraphQLEnumValue[] {
  return type.getValues().filter(({ value }) => !stored.includes(value as string));
}

/** The argument or input field with a path of /v1. */
function parameterAt(
  field: GraphQLField<unknown, unknown> | undefined,
  path: string,
): GraphQLArgument | GraphQLInputField | undefined {
  const input = getNamedType(field?.args.find(({ name }) => name === 'input')?.type);
  const members = (type: unknown) => (isInputObjectType(type) ? Object.values(type.getFields()) : []);
  let among: readonly (GraphQLArgument | GraphQLInputField)[] = input ? members(input) : (field?.args ?? []);
  let found: GraphQLArgument | GraphQLInputField | undefined;
  for (const step of path.split('.')) {
    found = among.find(({ name }) => name === camel(step));
    if (!found) return undefined;
    among = members(getNamedType(found.type));
  }
  return found;
}

/** The only edition that has an operation; undefined when both have it. */
function onlyEdition({ editions: has }: Pick<Operation, 'editions'>): 1 | 2 | undefined {
  return has?.length === 1 ? has[0] : undefined;
}

function say(described: Described, edition: number, more?: string | false): void {
  const { description } = described;
  if (/\bEdition [12]\b/.test(description ?? '')) return;
  described.description = [description, `Part of Edition ${edition} only.`, more].filter(Boolean).join(' ');
}
