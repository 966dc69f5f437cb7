import { type ClassType, Field, ObjectType } from 'type-graphql';

/** A name of a type as the name of a field. */
export const lowerFirst = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);

/** The payload type of a mutation: a class with one field, the object as the mutation left it. */
export function payloadOf<T extends object, F extends string>(
  mutation: string,
  field: F,
  type: ClassType<T>,
): ClassType<Record<F, T>> {
  @ObjectType(`${mutation}Payload`, {
    simpleResolvers: true,
    description: `The result of the mutation \`${lowerFirst(mutation)}\`.`,
  })
  class Payload {}
  Field(() => type, { description: 'The object after the mutation.' })(Payload.prototype, field);
  return Payload as ClassType<Record<F, T>>;
}
