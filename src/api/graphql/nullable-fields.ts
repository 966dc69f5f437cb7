import { getNamedType, getNullableType, type GraphQLSchema, isIntrospectionType, isObjectType } from 'graphql';
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

/**
 * Makes the objects in the results of mutations nullable, so that a mutation can later answer without its object: with
 * a request for another member's approval, or with refused parts of a batch. A field that is not null cannot become so
 * without breaking clients. It changes the built schema, as above: new payloads get it too, and those of the operator
 * keep their types.
 * Silent: the kind.
 */
export function nullableInPayloads(schema: GraphQLSchema): void {
  for (const { type } of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const payload = getNamedType(type);
    if (!isObjectType(payload)) continue;
    for (const field of Object.values(payload.getFields()))
      if (isObjectType(getNullableType(field.type))) field.type = getNullableType(field.type);
  }
}
