import { type ClassType, Field, ObjectType } from 'type-graphql';

/** The payload type of a mutation: a class with one field, the object as the mutation left it. */
export function payloadOf<T extends object, F extends string>(
  mutation: string,
  field: F,
  type: ClassType<T>,
): ClassType<Record<F, T>> {
  @ObjectType(`${mutation}Payload`, { simpleResolvers: true, description: 'The object after the mutation.' })
  class Payload {}
  Field(() => type)(Payload.prototype, field);
  return Payload as ClassType<Record<F, T>>;
}
