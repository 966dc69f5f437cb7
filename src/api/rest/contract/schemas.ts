import {
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLScalarType,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  type GraphQLObjectType,
} from 'graphql';
import { camel, nameOnV1, snake } from '../../../errors/problems.js';
import { listMembersMax } from '../../../types/pagination.js';
import { textLengthMaxDefault } from '../../../types/text-length.js';
import type { Operation } from '../../../operation/operation.js';
import { anyStoredObject, type KeyRule, type Keys, Named, Optional, OrNull, Stated } from '../../../resources/shape.js';
import { type Audience, valuesOfKey } from './audience.js';
import { noteOfKey, noteOfParameter, type ParameterNote, withEditions } from './edition-notes.js';

/** A JSON Schema, or another part of the contract. */
export type Json = Record<string, unknown>;
type Wording = (text: string | null | undefined) => string;

/** Joins sentences, and leaves out the empty ones. */
export const sentences = (...parts: (string | undefined)[]): string => parts.filter(Boolean).join(' ');
const described = (schema: Json, ...parts: (string | undefined)[]): Json => {
  const description = sentences(...parts, schema.description as string | undefined);
  return description === '' ? schema : { ...schema, description };
};

const builtIn: Record<string, Json> = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  JSONObject: { type: 'object' },
};

/** The JSON Schema of a scalar: of the language itself, or as the scalar declares it. */
function schemaOfScalar({ name, extensions }: GraphQLScalarType, input: boolean): Json {
  const { jsonSchema, inputSchema } = extensions as { jsonSchema?: Json; inputSchema?: Json };
  const schema = (input ? (inputSchema ?? jsonSchema) : jsonSchema) ?? builtIn[name];
  if (!schema) throw new Error(`the scalar ${name} declares no jsonSchema in its extensions`);
  const { title: _, oneOf, ...rest } = schema;
  // A scalar that has several formats of one type, such as IPv4 and IPv6.
  return oneOf ? { type: (oneOf as Json[])[0]!.type, ...rest } : rest;
}

/** The same schema for a value that may also be null. */
function nullable(schema: Json): Json {
  const type = [schema.type].flat();
  if (type.includes('null')) return schema;
  const values = schema.enum as unknown[] | undefined;
  return { ...schema, type: [...type, 'null'], ...(values && { enum: [...values, null] }) };
}

/** The schemas of what /v1 answers, from the declared keys and from the types of the graph. */
export class AnswerSchemas {
  constructor(
    private readonly wording: Wording,
    /** The schema of any stored object, for events. */
    private readonly anyObject: Json,
    private readonly audience?: Audience,
  ) {}

  /** The schema of the objects with a noun. `type` is their type in the graph, if they have one. */
  object(noun: string, keys: Keys, type: GraphQLObjectType | undefined): Json {
    const description = this.wording(type?.description) || `The object \`${noun}\`.`;
    return described(this.#hash(keys, type, noun, noun), description);
  }

  #hash(keys: Keys, type: GraphQLObjectType | undefined, path: string, noun: string): Json {
    const properties: Json = {};
    const required: string[] = [];
    for (const [name, rule] of Object.entries(keys)) {
      const note = noteOfKey(`${path}.${name}`, this.audience);
      if (!note) continue;
      const schema = this.#key(rule, name, type, `${path}.${name}`, noun);
      const values = path === noun ? valuesOfKey(noun, name, this.audience) : undefined;
      properties[name] = values ? ofValues(schema, values) : schema;
      if (!(rule instanceof Optional) || note.always) required.push(name);
    }
    return { type: 'object', properties, required, additionalProperties: false };
  }

  #key(rule: KeyRule, name: string, parent: GraphQLObjectType | undefined, path: string, noun: string): Json {
    if (rule instanceof Optional) {
      const { difference, sentences: notes } = noteOfKey(path, this.audience)!;
      const schema = described(this.#key(rule.rule, name, parent, path, noun), rule.when);
      const description = withEditions((schema.description as string | undefined) ?? '', notes);
      return { ...schema, description, ...(difference && { 'x-edition': difference }) };
    }
    if (rule === anyStoredObject) return this.anyObject;
    if (rule instanceof Stated) return rule.schema;
    if (rule === 'null') return { type: 'null' };
    if (rule === 'noun') return { type: 'string', const: noun, description: 'The kind of the object.' };
    if (rule instanceof Named) return this.#value(rule.rule, parent?.getFields()[rule.field], path);
    const field = parent?.getFields()[camel(name)];
    if (typeof rule === 'string') return this.#value(rule, field, path);
    const named = field && getNamedType(field.type);
    const keys = rule instanceof OrNull ? rule.keys : rule;
    const hash = this.#hash(keys, isObjectType(named) ? named : undefined, path, noun);
    const schema = field && isListType(getNullableType(field.type)) ? { type: 'array', items: hash } : hash;
    return described(rule instanceof OrNull ? nullable(schema) : schema, this.wording(field?.description));
  }

  #value(rule: string, field: GraphQLField<unknown, unknown> | undefined, path: string): Json {
    if (!field) throw new Error(`the graph has no field for the key ${path}, and the key states no schema`);
    const schema = rule.startsWith('text') ? builtIn.String! : valueOf(getNullableType(field.type));
    return described(rule.endsWith(' or null') ? nullable(schema) : schema, this.wording(field.description));
  }
}

/** The schema of a value in the graph that /v1 shows as it is. */
function valueOf(type: GraphQLOutputType): Json {
  if (type instanceof GraphQLNonNull) return valueOf(type.ofType);
  if (type instanceof GraphQLList) return { type: 'array', items: valueOf(type.ofType) };
  if (type instanceof GraphQLEnumType) return { type: 'string', enum: type.getValues().map(({ value }) => value) };
  if (isObjectType(type)) throw new Error(`${type.name} is a hash on /v1, and its keys are not declared`);
  return schemaOfScalar(type as GraphQLScalarType, false);
}

type Field = GraphQLArgument | GraphQLInputField;

/** The schemas of what an operation of /v1 takes, from its input types and the editions' tables. */
export class ParameterSchemas {
  constructor(
    private readonly wording: Wording,
    private readonly operation: Operation,
    private readonly audience?: Audience,
  ) {}

  /** The schema of a JSON body with these fields. */
  body(fields: readonly Field[], path = ''): Json {
    const properties: Json = {};
    const required: string[] = [];
    for (const field of fields) {
      const name = this.#nameOf(field, path);
      const note = noteOfParameter(this.operation, path + name, this.audience);
      if (!note) continue;
      properties[name] = this.#property(field, path + name, note);
      if (field.type instanceof GraphQLNonNull || note.required) required.push(name);
    }
    return {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    };
  }

  #nameOf({ name }: Field, path: string): string {
    return nameOnV1(`${this.operation.object}.${path}${snake(name)}`);
  }

  #property(field: Field, path: string, note: ParameterNote): Json {
    const must = field.type instanceof GraphQLNonNull || note.required;
    const { notNull, ...limits } = this.operation.limits?.[path] ?? {};
    const type = getNullableType(field.type) as GraphQLInputType;
    const plain = { ...limited(this.#valueOf(type, path), note.values), ...limits };
    const schema = must ? notEmpty(plain) : notNull ? plain : nullable(plain);
    return { ...described(schema, this.#about(field, note)), ...(note.difference && { 'x-edition': note.difference }) };
  }

  #about({ description }: Field, note: ParameterNote): string {
    return withEditions(this.wording(description), note.sentences);
  }

  #valueOf(type: GraphQLInputType, path: string): Json {
    if (type instanceof GraphQLNonNull) return notEmpty(this.#valueOf(type.ofType, path));
    if (type instanceof GraphQLList)
      return { type: 'array', items: this.#valueOf(type.ofType, path), maxItems: listMembersMax };
    if (type instanceof GraphQLInputObjectType)
      return described(this.body(Object.values(type.getFields()), `${path}.`), this.wording(type.description));
    if (type instanceof GraphQLEnumType) return { type: 'string', enum: type.getValues().map(({ value }) => value) };
    const schema = schemaOfScalar(type, true);
    return type.name === 'String' ? { ...schema, maxLength: textLengthMaxDefault } : schema;
  }

  /** The query parameters for these arguments. Hashes become dotted names, and lists repeat their name. */
  query(args: readonly Field[], path = ''): Json[] {
    return args.flatMap((field) => {
      const name = path + this.#nameOf(field, path);
      const type = getNullableType(field.type) as GraphQLInputType;
      if (type instanceof GraphQLInputObjectType) return this.query(Object.values(type.getFields()), `${name}.`);
      const note = noteOfParameter(this.operation, name, this.audience);
      if (!note) return [];
      const schema: Json = { ...limited(this.#valueOf(type, name), note.values), ...this.operation.limits?.[name] };
      const list = schema.type === 'array';
      const description =
        this.#about(field, note) || `Only objects whose \`${name}\` ${list ? 'is one of these' : 'has this value'}.`;
      return [
        {
          name,
          in: 'query',
          description,
          ...(note.difference && { 'x-edition': note.difference }),
          ...(list && { style: 'form', explode: true }),
          schema: notEmpty(schema),
        },
      ];
    });
  }
}

/** The schema of a value of an answer, of which fewer values occur. */
function ofValues(schema: Json, values: readonly string[]): Json {
  const isNullable = [schema.type].flat().includes('null');
  if (values.length === 0) return { type: 'null', description: schema.description };
  return { ...schema, enum: isNullable ? [...values, null] : values };
}

/** The schema of a required value: an empty one is refused. */
function notEmpty(schema: Json): Json {
  if (schema.type === 'array') return { ...schema, minItems: 1 };
  return schema.type === 'string' && !schema.enum && !schema.pattern ? { ...schema, minLength: 1 } : schema;
}

/** The schema of a value, or of the members of a list, of which fewer values are accepted. */
export function limited(schema: Json, values: readonly string[] | undefined): Json {
  if (!values) return schema;
  if (schema.type === 'array') return { ...schema, items: { ...(schema.items as Json), enum: values } };
  const { pattern: _, ...rest } = schema;
  return { ...rest, enum: values };
}
