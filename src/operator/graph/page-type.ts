import { type ClassType, Field, ObjectType } from 'type-graphql';

/** The page type of a list of the operator, with the cursor of the next page. */
export function pageOf<T extends object>(
  name: string,
  type: () => ClassType<T>,
  order = 'newest first, or oldest first of what waits',
) {
  @ObjectType(`${name}Page`, { simpleResolvers: true, description: `A page of a list over all tenants, ${order}.` })
  class Page {
    @Field(() => [type()], { description: 'The objects of the page.' })
    nodes: T[];
    @Field(() => String, { nullable: true, description: 'Send it as `after` for the next page; null at the end.' })
    next: string | null;
  }
  return Page;
}
