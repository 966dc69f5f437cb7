import type { GraphQLFieldResolver } from 'graphql';
import { DomainError, problem } from '../../errors/problems.js';
import { detailsOf, type Done, logged } from './actions.js';
import type { OperatorContext } from '../context.js';
import { OperatorRole } from '../table.js';

type Values = Record<string, unknown>;

/** The members of an input that name the object of a mutation, the most specific first. */
const naming = ['id', 'accountId', 'addressId'];

/**
 * The resolver of a mutation, which only an operator with the role `operate` may call, with entries in the audit log
 * before it and after it.
 */
export function audited(
  operation: string,
  resolve: GraphQLFieldResolver<unknown, OperatorContext>,
): GraphQLFieldResolver<unknown, OperatorContext> {
  return async (source, args: { input: Values }, context, info) => {
    const { operator, viewer } = context;
    const { input } = args;
    const objectId = naming.map((name) => input[name]).find((value) => typeof value === 'string');
    const action = { operation, objectId, details: detailsOf(input) as Values };
    if (viewer.role !== OperatorRole.OPERATE) {
      await context.refusedChanges.add(operator, viewer, action);
      throw new DomainError(problem('permission_denied', undefined, readOnly));
    }
    const { replays } = operator;
    return logged(
      operator,
      viewer,
      action,
      async () => resolve(source, args, context, info),
      (payload) => ({
        ...doneBy(payload as Values),
        details: operator.replays > replays ? { replayed: true } : {},
      }),
    );
  };
}

/** The object that a mutation has changed or made, from its payload. */
function doneBy(payload: Values): Done {
  const objects = Object.values(payload) as ({ id?: string; deposit?: { id: string } | null } | null)[];
  return { objectId: objects.map((object) => object?.id ?? object?.deposit?.id).find(Boolean) };
}

const readOnly =
  'Your role is READ: you may look at everything and change nothing. Ask for an operator with the role OPERATE.';
