import type { DocumentNode, ExecutionResult, GraphQLFormattedError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from '../../operation/context.js';
import type { Estimator, NodeCounter } from './query-cost.js';
import { Refusal } from '../../request/problems.js';
import type { Whole, Wholes } from './compiler/compiler.js';
import { dress } from './response.js';

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
interface Known {
  document: DocumentNode;
  asked: number;
  /** Null when resolvers have to answer it, undefined as long as nobody has looked. */
  whole: Whole | null | undefined;
  /** The estimators of the nodes of its operations, by their names. */
  estimators: Map<string, Estimator | undefined>;
}

/** How many nodes an operation may touch, and what counts them. */
export interface NodesAllowed {
  counter: NodeCounter;
  max: number;
}

/** A statement is worth making for what is asked again and again. */
const asksBeforeWhole = 2;
const documentsMax = 1_000;
/** Of all texts together: a parsed document has some 70 bytes for each of its characters, so this is some 40 MB. */
const charactersMax = 550_000;

/**
 * Documents that Apollo has parsed, held against the limits and validated in this process, by their whole text. Asked
 * again they need none of that, nor the rest of its pipeline, which costs a third of a small query: they are executed by
 * the same executor, and their answers are dressed by the same function.
 */
export class KnownDocuments {
  readonly #documents = new LRUCache<string, Known>({
    max: documentsMax,
    maxSize: charactersMax,
    sizeCalculation: (_, text) => text.length,
  });
  #run: Run | undefined;
  #nodes: NodesAllowed | undefined;

  constructor(
    private readonly wholes: Wholes,
    private readonly onFault: (error: unknown, requestId: string) => void,
  ) {}

  /** What executes them; without it none is known. */
  runBy(run: Run, nodes: NodesAllowed): void {
    this.#run = run;
    this.#nodes = nodes;
  }

  /** Called when Apollo has found a document valid. */
  learn(text: string, document: DocumentNode): void {
    this.#documents.set(text, { document, asked: 0, whole: undefined, estimators: new Map() });
  }

  /** The answer to a POST, or undefined when it is Apollo's: for unknown documents, and for requests of which nothing was run. */
  async answer(
    { query, variables, operationName, extensions }: GraphBody,
    context: Context,
  ): Promise<Answer | undefined> {
    const known = this.#documents.get(query);
    if (!known || !this.#run || extensions != null) return undefined;
    const { document } = known;
    // What could touch too many nodes is Apollo's to refuse, as the first time.
    if (!this.#allows(known, operationName, variables ?? {})) return undefined;
    const data = await this.#whole(known, operationName, variables ?? {}, context);
    if (data !== undefined)
      return {
        body: `{"data":${data},"extensions":{"requestId":${JSON.stringify(context.requestId)}}}\n`,
        headers: {},
      };
    const request = {
      ...(variables != null && { variables }),
      ...(operationName != null && { operationName }),
    };
    const result = await this.#run({ document, request, context });
    if (context.budget.ended) throw context.budget.ended;
    if (result.data === undefined) return undefined;
    const dressed = dress({ errors: result.errors?.map(formattedAsApollo), data: result.data }, context);
    return { body: `${JSON.stringify(dressed.result)}\n`, headers: dressed.headers };
  }

  /** Whether an operation may run with these variables: they decide how many nodes it could touch. */
  #allows(
    { document, estimators }: Known,
    operationName: string | null | undefined,
    variables: Record<string, unknown>,
  ): boolean {
    if (!this.#nodes) return true;
    const name = operationName ?? '';
    let estimator = estimators.get(name);
    if (!estimator) {
      estimator = this.#nodes.counter.of(document, operationName);
      // A name that no operation has is left to Apollo, and not kept.
      if (!estimator) return false;
      estimators.set(name, estimator);
    }
    return estimator(variables).nodes <= this.#nodes.max;
  }

  /** The data of a query that is asked often and needs no resolver. */
  async #whole(
    known: Known,
    operationName: string | null | undefined,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<string | undefined> {
    if (known.whole === null) return undefined;
    if (known.whole === undefined) {
      if (++known.asked < asksBeforeWhole) return undefined;
      known.whole = this.wholes.of(known.document) ?? null;
    }
    const { whole } = known;
    try {
      return await whole?.answer(operationName, variables, context);
    } catch (error) {
      if (!(error instanceof Refusal)) this.onFault(error, context.requestId);
      return undefined;
    } finally {
      if (whole?.resolved) known.whole = null;
    }
  }
}

function formattedAsApollo(error: NonNullable<ExecutionResult['errors']>[number]): GraphQLFormattedError {
  return {
    ...error.toJSON(),
    extensions: { ...error.extensions, code: error.extensions.code ?? 'INTERNAL_SERVER_ERROR' },
  };
}
