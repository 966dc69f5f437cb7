import { type GraphQLField, getNullableType, GraphQLInputObjectType, type GraphQLSchema } from 'graphql';
import { acceptedOf } from '../../../operation/accepted.js';
import { argumentsV1 } from '../../../operation/guard.js';
import type { Operation } from '../../../operation/operation.js';
import { operationOf, restRoutes, type Route, routes } from '../../../resources/registry.js';
import { rateHeaders, refusal, refusalName, refusalsOf } from './errors.js';
import type { Examples } from './examples.js';
import { type Audience, mayCall } from './audience.js';
import { type Json, limited, ParameterSchemas, sentences } from './schemas.js';
import type { Kinds } from './objects.js';
import { pageParameters, pathParameters, withExample } from './parameters.js';
import { parentOf, pascal, summaryOf } from './wording.js';

/** What the operations of the contract are made from. */
export interface Source {
  schema: GraphQLSchema;
  kinds: Kinds;
  wording: (text: string | null | undefined) => string;
  examples: Examples;
  /** The callers whose contract it is; undefined for that of everyone. */
  audience: Audience | undefined;
}

/** An operation of the contract, whether a root field of the graph or code of its own serves it. */
interface Described {
  id: string;
  method: 'GET' | 'POST';
  path: string;
  operation: Operation;
  extension: boolean;
  summary: string;
  description: string;
  parameters: Json[];
  body?: Json;
  success: Json;
}

/** The routes that an audience may call. */
export function routesFor(audience: Audience | undefined) {
  const may = ({ field }: { field: string }) => mayCall(audience, operationOf(field));
  return { ofFields: routes.filter(may), ofCode: restRoutes.filter(may) };
}

/** The paths of the contract. The ids of operations are the names of the fields of the graph. */
export function pathsOf(source: Source): Record<string, Json> {
  const paths: Record<string, Json> = {};
  const { ofFields, ofCode } = routesFor(source.audience);
  for (const each of [
    ...ofFields.map((route) => ofRoute(route, source)),
    ...ofCode.map((route) => ofRestRoute(route, source)),
  ]) {
    const path = each.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [each.method.toLowerCase()]: operationObject(each, source) };
  }
  return paths;
}

/** Fields whose names are reserved words of the languages for which clients are generated. */
const reserved: Readonly<Record<string, string>> = { export: 'getExport', import: 'getImport' };

/** The name of the field; a second route of the same field adds the argument that is in its path. */
const idOf = ({ field, params = {} }: Route): string =>
  routes.filter((route) => route.field === field).length === 1
    ? (reserved[field] ?? field)
    : [field, ...Object.values(params).map((name) => `By${pascal(name)}`)].join('');

function ofRoute(route: Route, { schema, kinds, wording, audience }: Source): Described {
  const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
  const field = fields[route.field]!;
  const operation = operationOf(route.field);
  const schemas = new ParameterSchemas(wording, operation, audience);
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => route.params?.[name] ?? name);
  const object = { $ref: `#/components/schemas/${kinds.nameOf(route.shape)}` };
  const common = {
    id: idOf(route),
    method: route.method,
    path: route.path,
    operation,
    extension: route.extension === true,
    summary: summaryOf(route.field, route),
    description: wording(field.description),
  };
  if (route.method === 'POST')
    return {
      ...common,
      parameters: [],
      body: schemas.body(inputOf(field, [...inPath, ...(route.without ?? [])])),
      success: object,
    };
  const paged = route.answers === 'list';
  const elsewhere = new Set([...inPath, ...(paged ? pageArguments : []), ...(route.without ?? [])]);
  const own = argumentsV1(field).filter(({ name }) => !elsewhere.has(name));
  const parameters = [...(paged ? pageParameters : []), ...schemas.query(own)];
  return { ...common, parameters, success: paged ? { $ref: `${object.$ref}List` } : object };
}

const pageArguments = ['first', 'after', 'last', 'before'];
function inputOf(field: GraphQLField<unknown, unknown>, elsewhere: string[]) {
  const type = getNullableType(argumentsV1(field).find(({ name }) => name === 'input')?.type);
  if (!(type instanceof GraphQLInputObjectType)) throw new Error(`${field.name} takes no input`);
  return Object.values(type.getFields()).filter(({ name }) => !elsewhere.includes(name));
}

function ofRestRoute(
  { field, object, summary, description, ...route }: (typeof restRoutes)[number],
  { audience }: Source,
): Described {
  const { form, content, ranged, parameters = [] } = route;
  const accepted = audience && acceptedOf(operationOf(field), audience).values;
  return {
    id: field,
    ...route,
    operation: operationOf(field),
    summary,
    description,
    parameters: parameters.map(({ schema, ...parameter }) => ({
      ...parameter,
      schema: limited(schema as Json, accepted?.get(String(parameter.name))),
    })),
    ...(form && { body: form }),
    success: content ? { content, ranged } : { $ref: `#/components/schemas/${pascal(object)}` },
  };
}

function operationObject(each: Described, { examples, audience }: Source): Json {
  const { id, method, path, operation, extension, summary, body } = each;
  const only = operation.editions?.length === 1 ? operation.editions[0] : undefined;
  const own = ofPath(each, only);
  const actsForUsers = audience ? audience.kind === 'platform' : operation.callers.includes('platform');
  return {
    operationId: id,
    summary,
    description: sentences(own, ...(audience ? [] : restrictions(operation, only)), extension ? extensionSentence : ''),
    tags: [tagOf(path)],
    ...(only && !audience && { 'x-edition': { only } }),
    ...(extension && { 'x-extension': true }),
    ...(!audience && {
      'x-permission': {
        access: operation.access,
        callers: operation.callers,
        modes: operation.modes ?? ['test', 'live'],
      },
    }),
    parameters: [
      ...pathParameters(each, examples),
      ...each.parameters.map((parameter) => withExample(parameter, id, examples)),
      ...(method === 'POST' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ...(isVersioned(each) ? [{ $ref: '#/components/parameters/IfNoneMatch' }] : []),
      ...(actsForUsers && !operation.asItself ? [{ $ref: '#/components/parameters/OnBehalfOf' }] : []),
      ...(method === 'GET' ? [{ $ref: '#/components/parameters/TidegateConsistency' }] : []),
    ],
    ...(body && { requestBody: requestBody(each, body, examples) }),
    responses: responsesOf(each, examples),
  };
}

/** A description without what the graph says of editions, and with the parent whose list the path answers. */
function ofPath({ description, success, path }: Described, only: number | undefined): string {
  const parent = String(success.$ref).endsWith('List') ? parentOf(path) : undefined;
  const edition = only
    ? description.replace(/\s*Part of Edition \d only\.(\s*It is empty in Edition \d\.)?/, '')
    : description;
  return parent ? `${edition} This path answers those of one ${parent}.` : edition;
}

/** The collection that begins a path. */
export const tagOf = (path: string): string => path.split('/')[2]!;

const extensionSentence = 'This path is an extension of the specification.';

function restrictions({ callers, modes, access }: Operation, only: number | undefined): string[] {
  const kinds = callers.map((kind) => kind.replaceAll('_', ' '));
  return [
    ...(kinds.length < 3 ? [`Only a ${kinds.join(' or ')} may call it.`] : []),
    ...(modes ? [`It works with a ${modes.join(' or ')} key only.`] : []),
    ...(access === 'write' ? ['A key that may only read is refused.'] : []),
    ...(only
      ? [`It is part of Edition ${only} only: with a key of the other edition it is 404 \`route_missing\`.`]
      : []),
  ];
}

/** The error responses of all operations, by their names. */
export function refusalResponses({ examples, audience }: Source): Record<string, Json> {
  const responses: Record<string, Json> = {};
  const { ofFields, ofCode } = routesFor(audience);
  for (const { field } of [...ofFields, ...ofCode])
    for (const [status, codes] of refusalsOf(operationOf(field)))
      responses[refusalName(status, codes)] ??= refusal(status, codes, examples);
  return Object.fromEntries(Object.entries(responses).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function requestBody({ id }: Described, schema: Json, { operations }: Examples): Json {
  const form = schema.patternProperties !== undefined;
  const request = operations[id]?.request;
  return {
    required: schema.required !== undefined,
    description: form ? 'The form.' : 'The parameters. An empty body counts as `{}`.',
    content: {
      [form ? 'multipart/form-data' : 'application/json']: {
        schema,
        ...(request !== undefined && { example: request }),
      },
    },
  };
}

/** Whether the answer has an `ETag`: that to each read has one, but for a stream and for the content of a file. */
const isVersioned = ({ method, success: { content, ranged } }: Described): boolean =>
  method === 'GET' && (!content || ranged === true);

function responsesOf(each: Described, examples: Examples): Json {
  const { id, method, operation, success } = each;
  const { content, ranged } = success as { content?: readonly string[]; ranged?: true };
  const example = examples.operations[id]?.response;
  const media =
    content &&
    Object.fromEntries(content.map((type) => [type, { schema: { type: 'string', contentMediaType: type } }]));
  const linked = routes.some(({ field, link }) => field === operation.name && link);
  return {
    200: {
      description: content ? 'The content.' : 'Success.',
      headers: {
        'Request-Id': { $ref: '#/components/headers/Request-Id' },
        ...rateHeaders,
        ...(method === 'POST' && {
          'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' },
          'Tidegate-Consistency': { $ref: '#/components/headers/Tidegate-Consistency' },
        }),
        ...(isVersioned(each) && { ETag: { $ref: '#/components/headers/ETag' } }),
        ...(linked && { Link: { $ref: '#/components/headers/Link' } }),
      },
      content: media ?? { 'application/json': { schema: success, ...(example !== undefined && { example }) } },
    },
    ...(ranged && {
      206: {
        description: 'The range of the content that `Content-Range` names.',
        headers: {
          'Request-Id': { $ref: '#/components/headers/Request-Id' },
          ...rateHeaders,
          ETag: { $ref: '#/components/headers/ETag' },
          'Content-Range': { $ref: '#/components/headers/Content-Range' },
        },
        content: media,
      },
    }),
    ...(isVersioned(each) && { 304: { $ref: '#/components/responses/NotModified' } }),
    ...Object.fromEntries(
      [...refusalsOf(operation)].map(([status, codes]) => [
        String(status),
        { $ref: `#/components/responses/${refusalName(status, codes)}` },
      ]),
    ),
  };
}
