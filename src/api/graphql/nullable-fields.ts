import { getNullableType, type GraphQLSchema, isIntrospectionType, isObjectType } from 'graphql';
import type { Operation } from '../../operation/operation.js';

/**
 * Makes each field nullable that can be refused while the rest of its answer is right: the root fields, except those
 * that are `notNull`, and below them the fields with arguments, which are pages and figures. A refused field is null
 * with an error at its path. If it were not nullable, it would take the answers of its neighbours with it, such as that
 * of a mutation that has been done. What is inside such a field keeps its types, so that a list is never null.
 *
 * It changes the built schema, and not the declarations: the operator's graph declares fields by the same decorators
 * and keeps their types. Subscriptions keep theirs, too.
 * Spec: decisions, 8.5.
 */
export function nullableWhereRefused(schema: GraphQLSchema, operations: ReadonlyMap<string, Operation>): void {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type) || type === schema.getSubscriptionType()) continue;
    for (const field of Object.values(type.getFields())) {
      const refusable = roots.includes(type) ? !operations.get(field.name)?.notNull : field.args.length > 0;
      if (refusable) field.type = getNullableType(field.type);
    }
  }
}
