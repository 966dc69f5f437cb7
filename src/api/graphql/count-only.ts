import {
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
} from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';
import { pageSizeMax } from '../../types/pagination.js';
import { isCountOnly, isPageType } from './query-parts.js';

/** Whether only the number of the whole list is selected of a page: the page costs its count, and none of its rows. */
export function selectsCountOnly(
  page: GraphQLObjectType,
  { schema, fragments, variableValues, fieldNodes }: GraphQLResolveInfo,
): boolean {
  const selected = collectSubfields(schema, fragments, variableValues, page, fieldNodes);
  return isCountOnly([...selected.values()].map(([node]) => node!.name.value));
}

/**
 * Lets a page of which only the number of its list is selected read one row. That finds the same faults of its
 * arguments as the whole page, and a size that the page refuses stays.
 */
export function countWithoutRows(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      const page = getNamedType(field.type);
      if (!resolve || !isObjectType(page) || !isPageType(page)) continue;
      field.resolve = (source, args: Record<string, unknown>, context, info) => {
        const size = args.last == null ? 'first' : 'last';
        const valid = args[size] == null || (Number(args[size]) >= 1 && Number(args[size]) <= pageSizeMax);
        // A route of /v1 has no `info`.
        const one = info !== undefined && valid && selectsCountOnly(page, info);
        return resolve(source, one ? { ...args, [size]: 1 } : args, context, info);
      };
    }
  }
}
