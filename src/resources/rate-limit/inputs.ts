import { InputType, Field } from 'type-graphql';
import { GraphQLJSONObject } from 'graphql-scalars';

@InputType({ description: 'A document whose cost is computed. It is not run.' })
export class DryRunInput {
  @Field(() => String, { description: 'The GraphQL document.' })
  query: string;
  @Field(() => GraphQLJSONObject, { nullable: true, description: 'The values of its variables, by name.' })
  variables?: Record<string, unknown> | null;
  @Field(() => String, { nullable: true, description: 'The operation of the document; required if it has several.' })
  operationName?: string | null;
}
