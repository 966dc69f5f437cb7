import type { GraphQLFormattedError } from 'graphql';
import type { Context } from '../../operation/context.js';
import { helpPath, type ProblemCode } from '../../errors/catalogue.js';
import { type GraphCode, graphCatalogue } from '../../errors/graph-codes.js';
import { problem, retryAfter } from '../../errors/problems.js';

/**
 * Formats a response: adds the request's id to it and to each error, the address of the error's code in the
 * documentation, and the cost, and sets the Retry-After and replay headers.
 */
export function formatResponse(
  { errors, data, extensions }: { errors?: readonly GraphQLFormattedError[]; data?: unknown; extensions?: object },
  { requestId, replayed, budget }: Pick<Context, 'requestId' | 'replayed' | 'budget'>,
) {
  const { cost } = budget;
  for (const error of errors ?? []) budget.report.codes.push(codeOf(error));
  const wait = errors?.map(waitOf).find((seconds) => seconds !== undefined);
  return {
    result: {
      errors: errors?.map((e) => ({ ...e, extensions: { ...e.extensions, ...helpOf(e), requestId } })),
      data,
      extensions: { requestId, ...(cost && { cost }), ...extensions },
    },
    headers: {
      ...(wait !== undefined && { 'retry-after': String(wait) }),
      ...(replayed && { 'idempotent-replayed': 'true' }),
    } as Record<string, string>,
  };
}

/** The code of an error: ours, or that of GraphQL for a request that it refuses. */
function codeOf({ extensions }: GraphQLFormattedError): string {
  const { code } = (extensions?.error ?? {}) as { code?: ProblemCode };
  return code ?? String(extensions?.code ?? 'none');
}

/** The seconds after which the client may retry; undefined for an error that does not allow it. */
function waitOf(error: GraphQLFormattedError): number | undefined {
  const code = (error.extensions?.error as { code?: ProblemCode } | undefined)?.code;
  return code && retryAfter([problem(code)]);
}

/** The address of a code that only GraphQL has; the other codes have got theirs with the error. */
function helpOf({ extensions }: GraphQLFormattedError): { docUrl?: string } {
  const code = String(extensions?.code);
  return Object.hasOwn(graphCatalogue, code) ? { docUrl: helpPath(code as GraphCode) } : {};
}
