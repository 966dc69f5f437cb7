import { type GraphQLField, type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';

/** The name under which the value of a field is stored, where the field has another name; see `resolveStoredNames`. */
export const storedAs = (field: Pick<GraphQLField<unknown, unknown>, 'extensions'>): string | undefined =>
  field.extensions.storedAs as string | undefined;

/**
 * Lets each field that declares `@Extensions({ storedAs })` read the member with that name: a better name or type for
 * a value that another field already shows. The query compiler reads the same member.
 */
export function resolveStoredNames(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const name = storedAs(field);
      if (name !== undefined) field.resolve = (source: Record<string, unknown>) => source[name];
    }
  }
}

/**
 * Lets root fields call their readers. The library's way to them goes through a method of a class: it looks for the
 * metadata of the arguments, copies them into instances, and makes some promises, for each request.
 */
export function readDirectly(schema: GraphQLSchema, readers: ReadonlyMap<string, unknown>): void {
  const fields = schema.getQueryType()!.getFields();
  for (const [name, reader] of readers) fields[name]!.resolve = reader as GraphQLFieldResolver<unknown, unknown>;
}
