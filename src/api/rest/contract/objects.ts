import { getNamedType, type GraphQLField, type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';
import { camel, snake } from '../../../errors/problems.js';
import { resources, type Shape } from '../../../resources/define.js';
import { operationOf, type Route, routes } from '../../../resources/registry.js';
import { type Keys, keysOfShape } from '../../../resources/shape.js';
import { type Audience, eventsFor } from './audience.js';
import { AnswerSchemas, type Json } from './schemas.js';
import { pascal } from './wording.js';

/** A kind of objects of /v1: the function that formats them, their noun, their keys, and their type in the graph. */
interface Kind {
  /** The name of its schema. */
  name: string;
  noun: string;
  keys: Keys;
  type: GraphQLObjectType | undefined;
}

/** All kinds of objects of /v1, by the function that formats them: what routes answer, and what is stored. */
export class Kinds {
  readonly #kinds = new Map<Shape, Kind>();

  constructor(
    schema: GraphQLSchema,
    private readonly audience?: Audience,
  ) {
    const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
    const stored = new Map<Shape, string>(
      resources.flatMap(({ stored = {} }) => Object.entries(stored).map(([noun, { v1 }]) => [v1, noun] as const)),
    );
    const ofStored = (route: Route) => Number(stored.has(route.shape));
    for (const route of routes.toSorted((one, other) => ofStored(other) - ofStored(one))) {
      const type = answeredType(route, fields[route.field]!);
      this.#add(route.shape, stored.get(route.shape) ?? snake(type?.name ?? '').slice(1), type, route.field);
    }
    for (const [shape, noun] of stored) {
      const type = schema.getType(pascal(noun));
      this.#add(shape, noun, isObjectType(type) ? type : undefined, noun);
    }
  }

  /** Two kinds may have one noun: a session, and a new session with its token, which is named after its operation. */
  #add(shape: Shape, noun: string, type: GraphQLObjectType | undefined, operation: string): void {
    if (this.#kinds.has(shape)) return;
    const keys = keysOfShape(shape);
    const taken = [...this.#kinds.values()].some((kind) => kind.noun === noun);
    this.#kinds.set(shape, { name: taken ? `${pascal(operation)}Answer` : pascal(noun), noun, keys, type });
  }

  /** The name of the schema of what a route answers, or of the objects of its list. */
  nameOf(shape: Shape): string {
    return this.#kinds.get(shape)!.name;
  }

  /** The schemas of all objects and of the lists of those that are listed, by name. */
  schemas(wording: (text: string | null | undefined) => string): Record<string, Json> {
    const nouns = new Set(eventsFor(this.audience).map(({ object }) => object));
    const names = [...nouns].sort().map((noun) => [noun, `#/components/schemas/${pascal(noun)}`] as const);
    const anyObject = {
      description: 'The object as it was right after the event.',
      oneOf: names.map(([, $ref]) => ({ $ref })),
      discriminator: { propertyName: 'object', mapping: Object.fromEntries(names) },
    };
    const answers = new AnswerSchemas(wording, anyObject, this.audience);
    const out: Record<string, Json> = {};
    for (const { name, noun, keys, type } of this.#kinds.values()) out[name] = answers.object(noun, keys, type);
    for (const { shape, answers: answer } of routes)
      if (answer === 'list') out[`${this.nameOf(shape)}List`] = listOf(this.nameOf(shape));
    return Object.fromEntries(Object.entries(out).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** The type of the object in the result of a root field. */
function answeredType(route: Route, { type }: GraphQLField<unknown, unknown>): GraphQLObjectType | undefined {
  const result = getNamedType(type);
  if (!isObjectType(result)) return undefined;
  const member = route.answers === 'list' ? 'nodes' : camel(operationOf(route.field).object);
  // The result is a page, a payload with the object as a member, or the object itself.
  const of = route.answers === 'list' || route.method === 'POST' ? result.getFields()[member]?.type : undefined;
  const answered = of === undefined ? result : getNamedType(of);
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
