import type { DocumentNode, ExecutionResult, GraphQLFormattedError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from '../../operation/context.js';
import type { Estimator, NodeCounter } from './query-cost.js';
import { DomainError } from '../../request/problems.js';
import type { CompiledQuery, QueryCompiler } from './compiler/compiler.js';
import { formatResponse } from './response.js';

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

/** A document with what was learned about it. */
interface CachedDocument {
  document: DocumentNode;
  asked: number;
  /** Null when resolvers have to answer it, undefined as long as nobody has looked. */
  compiled: CompiledQuery | null | undefined;
  /** The estimators of the nodes of its operations, by their names. */
  estimators: Map<string, Estimator | undefined>;
}

/** How many nodes an operation may touch, and what counts them. */
export interface NodesAllowed {
  counter: NodeCounter;
  max: number;
}

/** A statement is worth making for what is asked again and again. */
const asksBeforeCompiling = 2;
const documentsMax = 1_000;
/** Of all texts together: a parsed document has some 70 bytes for each of its characters, so this is some 40 MB. */
const charactersMax = 550_000;

/**
 * Documents that Apollo has parsed, held against the limits and validated in this process, by their whole text. Asked
 * again they need none of that, nor the rest of its pipeline, which costs a third of a small query: they are executed by
 * the same executor, and their answers are formatted by the same function.
 */
export class DocumentCache {
  readonly #documents = new LRUCache<string, CachedDocument>({
    max: documentsMax,
    maxSize: charactersMax,
    sizeCalculation: (_, text) => text.length,
  });

  constructor(
    private readonly compiler: QueryCompiler,
    /** Executes documents that are not compiled. */
    private readonly run: Run,
    private readonly nodes: NodesAllowed,
    private readonly onFault: (error: unknown, requestId: string) => void,
  ) {}

  /** Called when Apollo has found a document valid. */
  learn(text: string, document: DocumentNode): void {
    this.#documents.set(text, { document, asked: 0, compiled: undefined, estimators: new Map() });
  }

  /** The answer to a POST, or undefined when it is Apollo's: for unknown documents, and for requests of which nothing was run. */
  async answer(
    { query, variables, operationName, extensions }: GraphBody,
    context: Context,
  ): Promise<Answer | undefined> {
    const cached = this.#documents.get(query);
    if (!cached || extensions != null) return undefined;
    const { document } = cached;
    // What could touch too many nodes is Apollo's to refuse, as the first time.
    if (!this.#allows(cached, operationName, variables ?? {})) return undefined;
    const data = await this.#compiled(cached, operationName, variables ?? {}, context);
    if (data !== undefined)
      return {
        body: `{"data":${data},"extensions":{"requestId":${JSON.stringify(context.requestId)}}}\n`,
        headers: {},
      };
    const request = {
      ...(variables != null && { variables }),
      ...(operationName != null && { operationName }),
    };
    const result = await this.run({ document, request, context });
    if (context.budget.ended) throw context.budget.ended;
    if (result.data === undefined) return undefined;
    const errors = result.errors && { errors: result.errors.map(formattedAsApollo) };
    const response = formatResponse({ ...errors, data: result.data }, context);
    return { body: `${JSON.stringify(response.result)}\n`, headers: response.headers };
  }

  /** Whether an operation may run with these variables: they decide how many nodes it could touch. */
  #allows(
    { document, estimators }: CachedDocument,
    operationName: string | null | undefined,
    variables: Record<string, unknown>,
  ): boolean {
    const name = operationName ?? '';
    let estimator = estimators.get(name);
    if (!estimator) {
      estimator = this.nodes.counter.of(document, operationName);
      // A name that no operation has is left to Apollo, and not kept.
      if (!estimator) return false;
      estimators.set(name, estimator);
    }
    return estimator(variables).nodes <= this.nodes.max;
  }

  /** The data of a query that is asked often and needs no resolver. */
  async #compiled(
    cached: CachedDocument,
    operationName: string | null | undefined,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<string | undefined> {
    if (cached.compiled === null) return undefined;
    if (cached.compiled === undefined) {
      if (++cached.asked < asksBeforeCompiling) return undefined;
      cached.compiled = this.compiler.of(cached.document) ?? null;
    }
    const { compiled } = cached;
    try {
      return await compiled?.answer(operationName, variables, context);
    } catch (error) {
      if (!(error instanceof DomainError)) this.onFault(error, context.requestId);
      return undefined;
    } finally {
      if (compiled?.resolved) cached.compiled = null;
    }
  }
}

function formattedAsApollo(error: NonNullable<ExecutionResult['errors']>[number]): GraphQLFormattedError {
  return {
    ...error.toJSON(),
    extensions: { ...error.extensions, code: error.extensions.code ?? 'INTERNAL_SERVER_ERROR' },
  };
}
