import type { DocumentNode, ExecutionResult, GraphQLFormattedError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from './context.js';
import { type ProblemCode, problem, retryAfter } from './problems.js';

/** The body of a GraphQL request, as far as its shape has been looked at. */
export interface GraphBody {
  query: string;
  variables?: Record<string, unknown> | null;
  operationName?: string | null;
  extensions?: unknown;
}

/** Executes a document that is valid. */
export type Run = (asked: {
  document: DocumentNode;
  request: { operationName?: string; variables?: Record<string, unknown> };
  context: Context;
}) => Promise<ExecutionResult>;

/** An answer whose status is 200, ready to be sent. */
export interface Answer {
  body: string;
  headers: Record<string, string>;
}

const documentsMax = 1_000;
const charactersMax = 4_000_000;

/**
 * Documents that Apollo has parsed, held against the limits and validated in this process, by their whole text. Asked
 * again they need none of that, nor the rest of its pipeline, which costs a third of a small query: they are executed by
 * the same executor, and their answers are dressed by the same function.
 */
export class KnownDocuments {
  readonly #documents = new LRUCache<string, DocumentNode>({
    max: documentsMax,
    maxSize: charactersMax,
    sizeCalculation: (_, text) => text.length,
  });
  #run: Run | undefined;

  /** What executes them; without it none is known. */
  runBy(run: Run): void {
    this.#run = run;
  }

  /** Called when Apollo has found a document valid. */
  learn(text: string, document: DocumentNode): void {
    this.#documents.set(text, document);
  }

  /** The answer to a POST, or undefined when it is Apollo's: for unknown documents, and for requests of which nothing was run. */
  async answer(
    { query, variables, operationName, extensions }: GraphBody,
    context: Context,
  ): Promise<Answer | undefined> {
    const document = this.#documents.get(query);
    if (!document || !this.#run || extensions != null) return undefined;
    const request = {
      ...(variables != null && { variables }),
      ...(operationName != null && { operationName }),
    };
    const { data, errors } = await this.#run({ document, request, context });
    if (data === undefined) return undefined;
    const dressed = dress({ errors: errors?.map(formattedAsApollo), data }, context);
    return { body: `${JSON.stringify(dressed.result)}\n`, headers: dressed.headers };
  }
}

/** What leaves: the request's id everywhere, and the headers that tell what an answer alone does not. */
export function dress(
  { errors, data, extensions }: { errors?: readonly GraphQLFormattedError[]; data?: unknown; extensions?: object },
  { requestId, replayed }: Pick<Context, 'requestId' | 'replayed'>,
) {
  const wait = errors?.map(waitOf).find((seconds) => seconds !== undefined);
  return {
    result: {
      errors: errors?.map((e) => ({ ...e, extensions: { ...e.extensions, requestId } })),
      data,
      extensions: { ...extensions, requestId },
    },
    headers: {
      ...(wait !== undefined && { 'retry-after': String(wait) }),
      ...(replayed && { 'idempotent-replayed': 'true' }),
    } as Record<string, string>,
  };
}

function formattedAsApollo(error: NonNullable<ExecutionResult['errors']>[number]): GraphQLFormattedError {
  return {
    ...error.toJSON(),
    extensions: { ...error.extensions, code: error.extensions.code ?? 'INTERNAL_SERVER_ERROR' },
  };
}

/** After how many seconds to try again, for an error that invites it. */
function waitOf(error: GraphQLFormattedError): number | undefined {
  const code = (error.extensions?.error as { code?: ProblemCode } | undefined)?.code;
  return code && retryAfter([problem(code)]);
}
