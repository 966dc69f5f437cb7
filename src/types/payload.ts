import { type ClassType, Field, ObjectType } from 'type-graphql';

/** A name of a type as the name of a field. */
export const lowerFirst = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);

/** What a payload may have instead of its object, or beside it. */
interface OtherMembers {
  /** Whether there may be no object, and one of the others is in its place. */
  nullable?: boolean;
  others?: Record<string, { type: () => ClassType; description: string }>;
}

/**
 * The payload type of a mutation: a class with one field, the object as the mutation left it, and its other members.
 */
export function payloadOf<T extends object, F extends string>(
  mutation: string,
  field: F,
  type: ClassType<T>,
  { nullable = false, others = {} }: OtherMembers = {},
): ClassType<Record<F, T>> {
  @ObjectType(`${mutation}Payload`, {
    simpleResolvers: true,
    description: `The result of the mutation \`${lowerFirst(mutation)}\`.`,
  })
  class Payload {}
  Field(() => type, { nullable, description: 'The object after the mutation.' })(Payload.prototype, field);
  for (const [name, other] of Object.entries(others))
    Field(other.type, { nullable: true, description: other.description })(Payload.prototype, name);
  return Payload as ClassType<Record<F, T>>;
}
