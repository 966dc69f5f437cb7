import type { Example, Examples } from '../../api/rest/contract/examples.js';
import type { Json } from '../../api/rest/contract/schemas.js';

/** The parts of a schema of the contract that say which keys a value has. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  discriminator?: { propertyName: string; mapping: Record<string, string> };
}

/**
 * The recorded examples with the keys that the contract has had since they were recorded: null, where it allows null.
 * So a new optional field needs no new recording. An example without a key that cannot be null stays as it is, and
 * fails a test.
 */
export function withNewKeys(contract: Json, examples: Examples): Examples {
  const at = (path: string) =>
    path
      .slice(2)
      .split('/')
      .reduce<unknown>((part, step) => (part as Json)[step], contract) as Schema;

  const completed = (named: Schema | undefined, value: unknown): unknown => {
    if (named === undefined || typeof value !== 'object' || value === null) return value;
    const { propertyName, mapping } = named.discriminator ?? {};
    const path = named.$ref ?? (propertyName && mapping![String((value as Json)[propertyName])]);
    if (path) return completed(at(path), value);
    if (Array.isArray(value)) return value.map((member) => completed(named.items, member));
    const keys = Object.entries(named.properties ?? {}).flatMap(([key, schema]) => {
      if (Object.hasOwn(value, key)) return [[key, completed(schema, (value as Json)[key])]];
      return named.required?.includes(key) && allowsNull(schema) ? [[key, null]] : [];
    });
    return { ...Object.fromEntries(keys), ...withoutKeys(value, named.properties ?? {}) };
  };

  const schemas = new Map<string, Schema | undefined>();
  for (const methods of Object.values(contract.paths as Record<string, Record<string, Answered>>))
    for (const { operationId, responses } of Object.values(methods))
      schemas.set(operationId, responses['200']?.content?.['application/json']?.schema);
  const ofOperations = (of: Examples['operations']) =>
    mapped(of, (id, each) => ({ ...each, response: completed(schemas.get(id), each.response) }) as Example);
  const ofEvents = (of: Examples['events']) =>
    mapped(of, (_, event) => completed({ $ref: '#/components/schemas/Event' }, event));
  const { others } = examples;
  return {
    ...examples,
    operations: ofOperations(examples.operations),
    events: ofEvents(examples.events),
    others: { operations: ofOperations(others.operations), events: ofEvents(others.events) },
  };
}

/** An operation of the contract with its answers. */
interface Answered {
  operationId: string;
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

const allowsNull = ({ type, enum: values }: Schema): boolean =>
  values ? values.includes(null) : [type].flat().includes('null');

const withoutKeys = (value: object, keys: object) =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !Object.hasOwn(keys, key)));

const mapped = <T, R>(of: Record<string, T>, change: (name: string, value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(name, value)]));
