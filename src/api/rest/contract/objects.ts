import { getNamedType, type GraphQLField, type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';
import { camel, snake } from '../../../request/problems.js';
import { resources, type Shape } from '../../../resources/define.js';
import { events, operationOf, type Route, routes } from '../../../resources/registry.js';
import { type Keys, keysOfShape } from '../../../resources/shape.js';
import { AnswerSchemas, type Json } from './schemas.js';
import { pascal } from './wording.js';

/** A kind of objects of /v1: the function that formats them, their noun, their keys, and their type in the graph. */
interface Kind {
  noun: string;
  keys: Keys;
  type: GraphQLObjectType | undefined;
}

/** All kinds of objects of /v1, by the function that formats them: what routes answer, and what is stored. */
export class Kinds {
  readonly #kinds = new Map<Shape, Kind>();

  constructor(schema: GraphQLSchema) {
    const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
    const stored = new Map(
      resources.flatMap(({ stored = {} }) => Object.entries(stored).map(([noun, { v1 }]) => [v1, noun] as const)),
    );
    for (const route of routes) {
      const type = answeredType(route, fields[route.field]!);
      this.#add(route.shape, stored.get(route.shape) ?? snake(type?.name ?? '').slice(1), type);
    }
    for (const [shape, noun] of stored) {
      const type = schema.getType(pascal(noun));
      this.#add(shape, noun, isObjectType(type) ? type : undefined);
    }
  }

  #add(shape: Shape, noun: string, type: GraphQLObjectType | undefined): void {
    const keys = keysOfShape(shape);
    if (!keys) throw new Error(`the keys of the object ${noun} on /v1 are not declared`);
    if (!this.#kinds.has(shape)) this.#kinds.set(shape, { noun, keys, type });
  }

  /** The name of the schema of what a route answers, or of the objects of its list. */
  nameOf(shape: Shape): string {
    return pascal(this.#kinds.get(shape)!.noun);
  }

  /** The schemas of all objects and of the lists of those that are listed, by name. */
  schemas(wording: (text: string | null | undefined) => string): Record<string, Json> {
    const names = [...nounsOfEvents()].sort().map((noun) => [noun, `#/components/schemas/${pascal(noun)}`] as const);
    const anyObject = {
      description: 'The object as it was right after the event.',
      oneOf: names.map(([, $ref]) => ({ $ref })),
      discriminator: { propertyName: 'object', mapping: Object.fromEntries(names) },
    };
    const answers = new AnswerSchemas(wording, anyObject);
    const out: Record<string, Json> = {};
    for (const { noun, keys, type } of this.#kinds.values()) out[pascal(noun)] = answers.object(noun, keys, type);
    for (const { shape, answers: answer } of routes)
      if (answer === 'list') out[`${this.nameOf(shape)}List`] = listOf(this.nameOf(shape));
    return Object.fromEntries(Object.entries(out).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** The nouns of the objects that events are about: those of their types, and the further ones of a resource. */
function nounsOfEvents(): Set<string> {
  const further = resources.flatMap(({ object, stored = {} }) => Object.keys(stored).filter((noun) => noun !== object));
  return new Set([...[...events.keys()].map((type) => type.split('.')[0]!), ...further]);
}

/** The type of the object in the result of a root field. */
function answeredType(route: Route, { type }: GraphQLField<unknown, unknown>): GraphQLObjectType | undefined {
  const result = getNamedType(type);
  if (!isObjectType(result)) return undefined;
  const member = { object: undefined, list: 'nodes', payload: camel(operationOf(route.field).object) }[route.answers];
  const answered = member === undefined ? result : getNamedType(result.getFields()[member]!.type);
  return isObjectType(answered) ? answered : undefined;
}

/** The list envelope. Spec: List envelope. */
const listOf = (name: string): Json => ({
  type: 'object',
  description: 'A page of a list.',
  properties: {
    object: { type: 'string', const: 'list' },
    data: { type: 'array', description: 'The objects of the page.', items: { $ref: `#/components/schemas/${name}` } },
    has_next: { type: 'boolean', description: 'Whether there are more objects in the direction of paging.' },
  },
  required: ['object', 'data', 'has_next'],
  additionalProperties: false,
});
