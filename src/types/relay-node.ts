import { Field, ID, InterfaceType } from 'type-graphql';

/** The graph type of each resource, by the prefix of its ids. Each resource adds its own. */
const typeNames = new Map<string, string>();

/** The prefix of an id: everything before its last underscore. */
export const prefixOf = (id: string): string => id.slice(0, Math.max(id.lastIndexOf('_'), 0));

/** Registers the graph type of the ids with a prefix. */
export function nodeType(prefix: string, typeName: string): void {
  typeNames.set(prefix, typeName);
}

/** Everything that has an id; the resource id of /v1 is the node id of Relay. */
@InterfaceType({
  description: 'An object with an id, which is the same as on /v1.',
  resolveType: (value: { id: string }) => typeNames.get(prefixOf(value.id)),
})
export abstract class Node {
  @Field(() => ID, {
    description:
      'The id: a prefix that names the type of the object, and further characters. The same id is used on /v1.',
  })
  id: string;
}
