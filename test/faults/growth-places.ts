import {
  getNamedType,
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isCompositeType,
  isObjectType,
} from 'graphql';
import { contract, resolved } from '../support/contract.js';

type Json = any;

/** A place of a GraphQL operation where a client can write a text. */
export interface GraphPlace {
  name: string;
  /** The document, with the text as the variable `t`. */
  variable: string;
  /** The document with a literal in place of the variable. */
  literal(text: string): string;
}

const samples: Record<string, string> = {
  ...{ Amount: '"10.00"', Boolean: 'true', CountryCode: '"US"', Currency: '"USD"', DateTime: '"2026-01-31T12:00:00Z"' },
  ...{ EmailAddress: '"a@b.example"', Float: '1', ID: '"x"', Int: '1', IP: '"203.0.113.7"', LocalDate: '"2026-01-31"' },
  ...{ Metadata: '{ a: "b" }', String: '"x"', URL: '"https://a.example"' },
};

/** A literal that the type accepts. */
function sample(type: GraphQLInputType): string {
  if (type instanceof GraphQLNonNull) return sample(type.ofType as GraphQLInputType);
  if (type instanceof GraphQLList) return `[${sample(type.ofType as GraphQLInputType)}]`;
  if (type instanceof GraphQLEnumType) return type.getValues()[0]!.name;
  if (type instanceof GraphQLInputObjectType) return `{ ${required(Object.values(type.getFields()))} }`;
  return samples[type.name] ?? '"x"';
}

/** Literals for the required fields or arguments, but for one. */
function required(fields: readonly (GraphQLArgument | GraphQLInputField)[], besides?: string): string {
  const needed = fields.filter((f) => f.type instanceof GraphQLNonNull && f.defaultValue === undefined);
  return needed.flatMap(({ name, type }) => (name === besides ? [] : [`${name}: ${sample(type)}`])).join(', ');
}

type Leaf = { name: string; type: string; literal(value: string): string };

/** The leaves of a type: where a single value is written. */
function leaves(type: GraphQLInputType, name: string, above: readonly string[] = []): Leaf[] {
  if (type instanceof GraphQLNonNull) return leaves(type.ofType as GraphQLInputType, name, above);
  if (type instanceof GraphQLList)
    return leaves(type.ofType as GraphQLInputType, name, above).map((leaf) => ({
      ...leaf,
      literal: (value) => `[${leaf.literal(value)}]`,
    }));
  if (!(type instanceof GraphQLInputObjectType)) return [{ name, type: type.name, literal: (value) => value }];
  if (above.includes(type.name)) return [];
  const fields = Object.values(type.getFields());
  return fields.flatMap((field) =>
    leaves(field.type, `${name}.${field.name}`, [...above, type.name]).map((leaf) => ({
      ...leaf,
      literal: (value: string) => `{ ${field.name}: ${leaf.literal(value)}, ${required(fields, field.name)} }`,
    })),
  );
}

const selection = (type: GraphQLOutputType): string => (isCompositeType(getNamedType(type)) ? '{ __typename }' : '');

/** Each leaf of each argument of a type's fields; `within` makes the operation of a selection. */
function placesOf(parent: GraphQLObjectType, keyword: string, within: (selection: string) => string): GraphPlace[] {
  return Object.values(parent.getFields()).flatMap((field) =>
    field.args.flatMap((argument) =>
      leaves(argument.type, `${parent.name}.${field.name}(${argument.name})`).map(({ name, type, literal }) => {
        const call = (value: string) => {
          const others = required(field.args, argument.name);
          return within(`${field.name}(${argument.name}: ${literal(value)}, ${others}) ${selection(field.type)}`);
        };
        return {
          name,
          variable: `${keyword}($t: ${type}!) ${call('$t')}`,
          literal: (text) => `${keyword} ${call(JSON.stringify(text))}`,
        };
      }),
    ),
  );
}

/** Each place of a schema's queries, edges and mutations where a client can write a text. */
export function graphPlaces(schema: GraphQLSchema): GraphPlace[] {
  const query = schema.getQueryType()!;
  const mutation = schema.getMutationType();
  const found = placesOf(query, 'query', (inner) => `{ ${inner} }`);
  if (mutation) found.push(...placesOf(mutation, 'mutation', (inner) => `{ ${inner} }`));
  // The way to each type of objects with the fewest fields.
  const seen = new Set<string>([query.name]);
  const open: { type: GraphQLObjectType; within(inner: string): string }[] = [
    { type: query, within: (inner) => `{ ${inner} }` },
  ];
  for (const { type, within } of open)
    for (const field of Object.values(type.getFields())) {
      const next = getNamedType(field.type);
      if (!isObjectType(next) || seen.has(next.name) || next.name.startsWith('__')) continue;
      seen.add(next.name);
      const given = required(field.args);
      const to = (inner: string) => within(`${field.name}${given && `(${given})`} { ${inner} }`);
      open.push({ type: next, within: to });
      found.push(...placesOf(next, 'query', to));
    }
  return found;
}

/** A place of a request of /v1 where a client can write a text. */
export interface RestPlace {
  name: string;
  method: string;
  request(text: string): { path: string; body?: Json; headers?: Record<string, string> };
}

/** A value that a schema accepts, with the text at one place of it. */
function valueOf(schema: Json): Json {
  const type = [schema.type].flat().find((each: string) => each !== 'null');
  if (schema.enum) return schema.enum[0];
  if (type === 'array') return [valueOf(schema.items)];
  if (type === 'object')
    return Object.fromEntries((schema.required ?? []).map((name: string) => [name, valueOf(schema.properties[name])]));
  if (type === 'boolean') return true;
  if (type === 'integer') return schema.minimum ?? 1;
  return schema.pattern === undefined ? 'x' : '10.00';
}

/** The leaves of a body, each with the body that has a text there. */
function bodies(schema: Json, name: string): { name: string; body(text: string): Json }[] {
  const type = [schema.type].flat().find((each: string) => each !== 'null');
  if (type === 'array')
    return bodies(schema.items, `${name}[]`).map((leaf) => ({ ...leaf, body: (text: string) => [leaf.body(text)] }));
  if (type !== 'object') return [{ name, body: (text: string) => text }];
  const own = Object.entries<Json>(schema.properties ?? {}).flatMap(([key, member]) =>
    bodies(member, `${name}.${key}`).map((leaf) => ({
      ...leaf,
      body: (text: string) => ({ ...valueOf(schema), [key]: leaf.body(text) }),
    })),
  );
  // Also the name of a member, and the key and the value of a map.
  return [
    ...own,
    { name: `${name}.*`, body: (text: string) => ({ ...valueOf(schema), [text]: text }) },
    ...(schema.additionalProperties ? [{ name: `${name}.a`, body: (text: string) => ({ a: text }) }] : []),
  ];
}

/** Each parameter of a path, a query and a body of the contract. */
export function restPlaces(): RestPlace[] {
  return Object.entries<Json>(contract.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).flatMap(([method, { parameters = [], requestBody }]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const filled = path.replaceAll(/\{\w+\}/g, 'x');
      const own: RestPlace[] = parameters.map(resolved).flatMap((parameter: Json) => {
        const each = { name: `${name} ${parameter.in} ${parameter.name}`, method: method.toUpperCase() };
        const encoded = encodeURIComponent;
        if (parameter.in === 'query')
          return [
            { ...each, request: (text: string) => ({ path: `${filled}?${parameter.name}=${encoded(text)}` }) },
            { ...each, request: (text: string) => ({ path: `${filled}?${parameter.name}${encoded(text)}=1` }) },
          ];
        if (parameter.in === 'path')
          return [{ ...each, request: (text: string) => ({ path: path.replaceAll(/\{\w+\}/g, encoded(text)) }) }];
        return [{ ...each, request: (text: string) => ({ path: filled, headers: { [parameter.name]: text } }) }];
      });
      const schema = requestBody?.content['application/json']?.schema;
      if (schema)
        for (const { name: leaf, body } of bodies(resolved(schema), ''))
          own.push({
            name: `${name} body ${leaf}`,
            method: method.toUpperCase(),
            request: (text) => ({ path: filled, body: body(text) }),
          });
      return own;
    }),
  );
}
