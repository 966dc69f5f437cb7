import type { DocumentNode, ExecutionResult, GraphQLFormattedError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from '../../operation/context.js';
import type { Estimate, Estimator, NodeCounter } from './query-cost.js';
import { DomainError } from '../../errors/problems.js';
import type { CompiledAnswer, CompiledQuery, QueryCompiler } from './compiler/compiler.js';
import { formatResponse } from './response.js';
import { turnsOf } from '../../types/weights.js';
import { operationLabel } from './root-fields.js';
import { isSubscription } from './subscription-type.js';

/** The body of a GraphQL request after the check of its shape. */
export interface GraphBody {
  query: string;
  variables?: Record<string, unknown> | null;
  operationName?: string | null;
  extensions?: unknown;
}

/** Executes a validated document. */
export type Run = (operation: {
  document: DocumentNode;
  request: { operationName?: string; variables?: Record<string, unknown> };
  context: Context;
}) => Promise<ExecutionResult>;

/** An answer with status 200, ready to send. */
export interface Answer {
  body: string;
  headers: Record<string, string>;
}

/** A validated document with the cached results of its analysis. */
interface CachedDocument {
  document: DocumentNode;
  /** Whether it has a subscription. The cache answers no operation of such a document, and keeps it for streams. */
  subscribes: boolean;
  requests: number;
  /** The compiled query; null when resolvers have to answer, undefined before the first attempt to compile. */
  compiled: CompiledQuery | null | undefined;
  /** The node estimators of its operations, by the operations' names. */
  estimators: Map<string, Estimator | undefined>;
  /** How metrics name its operations, by the operations' names. */
  labels: Map<string, string>;
}

/** The most nodes that an operation may touch, and the counter of nodes. */
interface NodesAllowed {
  counter: NodeCounter;
  max: number;
}

/** What else a cache of documents needs. */
interface CacheParts {
  nodes: NodesAllowed;
  /** The texts of the documents that the operator trusts. */
  trusted?: ReadonlySet<string>;
  /** Parses and checks a document like that of a request; throws what is refused. */
  checked: (text: string) => DocumentNode;
  /** Called with an internal error, to log it with the request's id. */
  onFault: (error: unknown, requestId: string) => void;
}

/**
 * The number of the request at which a document is compiled: only repeated documents are worth a statement. A document
 * that a request names by its hash, or that the operator trusts, is one of a program, which repeats it.
 */
const requestsBeforeCompiling = 2;
const documentsMax = 1_000;
/**
 * The most characters of all texts together. A parsed document has some 70 bytes per character, so this is some 40 MB.
 */
const charactersMax = 550_000;

/**
 * A cache of the documents that Apollo has parsed, checked against the limits and validated in this process, by their
 * complete text. A repeated request skips these steps and the rest of Apollo's pipeline, which costs a third of a small
 * query. It uses the same executor and the same function to format the response.
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
    private readonly rest: CacheParts,
  ) {}

  /** Whether a document is in the cache. */
  has(text: string): boolean {
    return this.#documents.has(text);
  }

  /** The document of a text, if it is in the cache. */
  documentOf(text: string): DocumentNode | undefined {
    return this.#documents.get(text)?.document;
  }

  /** Adds a document that has been validated. */
  learn(text: string, document: DocumentNode): void {
    const subscribes = document.definitions.some(isSubscription);
    const requests = this.rest.trusted?.has(text) ? requestsBeforeCompiling : 0;
    const analysis = { requests, compiled: undefined, estimators: new Map(), labels: new Map() };
    this.#documents.set(text, { document, subscribes, ...analysis });
  }

  /**
   * The answer to a POST, or undefined when Apollo has to answer: for unknown documents, and for requests that ran
   * nothing. `named` says that the request named the document by its hash.
   */
  async answer(
    { query, variables, operationName, extensions }: GraphBody,
    context: Context,
    named = false,
  ): Promise<Answer | undefined> {
    const cached = this.#documents.get(query) ?? this.#trusted(query);
    if (!cached || cached.subscribes || extensions != null) return undefined;
    const { document } = cached;
    // Apollo refuses an operation that could touch too many nodes, as at its first request.
    const estimate = this.#estimated(cached, operationName, variables ?? {});
    if (!estimate || estimate.nodes > this.rest.nodes.max) return undefined;
    const { charge, report } = context.budget;
    context.budget.ticket?.weigh(turnsOf(estimate.nodes));
    report.operation = this.#label(cached, operationName);
    const waiting = charge?.take(estimate.points, estimate.pointsUsual);
    if (waiting) await waiting;
    charge?.count(estimate.introspection);
    if (named) cached.requests = requestsBeforeCompiling;
    const compiled = await this.#compiled(cached, operationName, variables ?? {}, context);
    report.answeredBy = compiled === undefined ? 'resolvers' : 'compiled';
    if (compiled !== undefined) {
      charge?.countObjects(compiled.objects);
      charge?.count(compiled.points);
      const cost = charge ? `,"cost":${JSON.stringify(context.budget.cost)}` : '';
      return {
        body: `{"data":${compiled.data},"extensions":{"requestId":${JSON.stringify(context.requestId)}${cost}}}\n`,
        headers: {},
      };
    }
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

  /** A trusted document at its first request. What Apollo would refuse is left to it. */
  #trusted(text: string): CachedDocument | undefined {
    if (!this.rest.trusted?.has(text)) return undefined;
    try {
      this.learn(text, this.rest.checked(text));
    } catch {
      return undefined;
    }
    return this.#documents.get(text);
  }

  #label({ document, labels }: CachedDocument, operationName: string | null | undefined): string {
    const name = operationName ?? '';
    const label = labels.get(name) ?? operationLabel(document, operationName);
    labels.set(name, label);
    return label;
  }

  /** What an operation could touch and cost with these variables; undefined when the document has no such operation. */
  #estimated(
    { document, estimators }: CachedDocument,
    operationName: string | null | undefined,
    variables: Record<string, unknown>,
  ): Estimate | undefined {
    const name = operationName ?? '';
    let estimator = estimators.get(name);
    if (!estimator) {
      estimator = this.rest.nodes.counter.of(document, operationName);
      // Apollo answers a name that no operation has. The name is not cached.
      if (!estimator) return undefined;
      estimators.set(name, estimator);
    }
    return estimator(variables);
  }

  /** The answer to a repeated query that needs no resolver; undefined when resolvers have to answer. */
  async #compiled(
    cached: CachedDocument,
    operationName: string | null | undefined,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<CompiledAnswer | undefined> {
    if (cached.compiled === null) return undefined;
    if (cached.compiled === undefined) {
      if (++cached.requests < requestsBeforeCompiling) return undefined;
      cached.compiled = this.compiler.of(cached.document) ?? null;
    }
    const { compiled } = cached;
    try {
      return await compiled?.answer(operationName, variables, context);
    } catch (error) {
      if (!(error instanceof DomainError)) this.rest.onFault(error, context.requestId);
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
