import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  execute,
  getOperationAST,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  print,
  type SelectionNode,
} from 'graphql';
import type { Context } from '../../operation/context.js';
import { measuredFieldResolver } from '../../limits/budget.js';
import { DomainError } from '../../errors/problems.js';
import type { DocumentCache } from './document-cache.js';
import { checkedDocument, type DocumentLimits, RefusedDocument, withoutLongNames } from './dry-run.js';
import { explained, flat, type Rules } from './errors.js';
import { type NodeCounter, refuseTooMany } from './query-cost.js';
import { formatResponse } from './response.js';
import { rootFieldNodes } from './root-fields.js';
import { type Following, liveFields, type SubscriptionRoot } from './subscription-type.js';

/** A request for a subscription, after the check of its shape. */
export interface SubscriptionAsked {
  query: string;
  variables?: Record<string, unknown> | null | undefined;
  operationName?: string | null | undefined;
}

/** One result, as clients get it. */
export interface SubscriptionResult {
  data?: unknown;
  errors?: readonly GraphQLFormattedError[] | undefined;
  extensions?: object;
}

/** A subscription that was refused before it began. */
export class SubscriptionRefused extends Error {
  constructor(
    readonly status: number,
    readonly errors: readonly GraphQLFormattedError[],
  ) {
    super('The subscription was refused.');
  }
}

/** A subscription that was parsed, validated and estimated. */
export interface Subscription {
  /** The points that a result could cost at most, and usually. */
  points: number;
  pointsUsual: number;
  /** Whether it sends an object at once and whenever it has changed. */
  live: boolean;
  /** What its results are made from. Refuses arguments and callers. */
  source: (following: Following, context: Context) => Promise<AsyncIterable<SubscriptionRoot | undefined>>;
  /** Makes a result. `again` says that an outage is the reason for its errors, so that it has to be made again. */
  execute: (root: SubscriptionRoot, context: Context) => Promise<{ result: SubscriptionResult; again: boolean }>;
}

/** Reads a request for a subscription; undefined when it asks for a query or a mutation. */
export type SubscriptionReader = (asked: SubscriptionAsked, context: Context) => Subscription | undefined;

/** What the reader needs from the endpoint of queries. */
export interface SubscriptionSettings extends DocumentLimits {
  rules: Rules<Context>;
  nodes: NodeCounter;
  documents: DocumentCache | undefined;
  onFault: (error: unknown, requestId: string) => void;
}

/** Reads subscriptions by the rules of all operations: the same limits, validation, nodes and points. */
export function subscriptionReader(schema: GraphQLSchema, settings: SubscriptionSettings): SubscriptionReader {
  return (asked, context) => {
    const document = validated(schema, settings, asked, context);
    const operation = getOperationAST(document, asked.operationName);
    if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) return undefined;
    const estimate = settings.nodes.of(document, operation.name?.value)!(asked.variables ?? {});
    try {
      if (isConditional(document, operation.selectionSet.selections))
        throw new GraphQLError('The field of a subscription cannot be left out: it has no @skip or @include.');
      refuseTooMany(estimate, settings.nodesMax);
    } catch (error) {
      throw refusal([(error as GraphQLError).toJSON()], context);
    }
    const [field] = rootFieldNodes(document, asked.operationName);
    const live = liveFields.has(field!.name.value);
    const parts = { schema, settings, asked, document };
    return {
      points: estimate.points,
      pointsUsual: estimate.pointsUsual,
      live,
      source: (following, own) => sourceOf(parts, following, own),
      execute: live ? answerOf(parts) : (root, own) => resultOf(parts, document, root, own),
    };
  };
}

interface Parts {
  schema: GraphQLSchema;
  settings: SubscriptionSettings;
  asked: SubscriptionAsked;
  document: DocumentNode;
}

async function sourceOf({ schema, settings, asked, document }: Parts, following: Following, context: Context) {
  const { operationName, variables } = asked;
  const operation = { schema, document, operationName: operationName ?? undefined };
  const source = await createSourceEventStream({
    ...{ schema, document, operationName, variableValues: variables, rootValue: following },
    contextValue: context,
  });
  if (Symbol.asyncIterator in source) return source as AsyncIterable<SubscriptionRoot | undefined>;
  const errors = source.errors!;
  if (errors.every(isOfInput)) throw explainedRefusal({ schema, settings, asked, document }, errors, context);
  const shown = flat({ data: null, errors }, operation, (error) => settings.onFault(error, context.requestId));
  const cause = errors[0]!.originalError;
  const formatted = shown.errors!.map((error) => error.toJSON());
  throw new SubscriptionRefused(cause instanceof DomainError ? cause.status : 500, shownErrors(formatted, context));
}

/** Whether the library has refused variables or arguments. It wraps what the scalar of a variable says. */
const isOfInput = ({ originalError: cause }: GraphQLError): boolean =>
  !cause || (cause instanceof GraphQLError && !(cause instanceof DomainError));

/** Executes an operation of a document. */
async function resultOf(
  { schema, settings, asked: { operationName, variables } }: Parts,
  document: DocumentNode,
  rootValue: SubscriptionRoot,
  context: Context,
) {
  const onFault = (error: unknown) => settings.onFault(error, context.requestId);
  const executed: ExecutionResult = await execute({
    ...{ schema, document, operationName, variableValues: variables, rootValue },
    contextValue: context,
    fieldResolver: measuredFieldResolver,
    hideSuggestions: !settings.suggestions,
  });
  context.budget.refused(executed.errors?.length ?? 0);
  const { ended } = context.budget;
  const complete = ended ? { data: null, errors: [new GraphQLError('', { originalError: ended })] } : executed;
  const shown = flat(complete, { schema, document, operationName: operationName ?? undefined }, onFault);
  const errors = shown.errors?.map((error) => error.toJSON());
  const response = formatResponse({ ...(errors && { errors }), data: shown.data }, context);
  return { result: response.result, again: 'retry-after' in response.headers };
}

/**
 * Answers the query with the selection set of a subscription, as if a client had sent it: by a compiled query if that
 * is possible, and by resolvers otherwise.
 */
function answerOf(parts: Parts): Subscription['execute'] {
  const { asked, settings } = parts;
  const { document, query } = asQuery(parts.document);
  return async (root, context) => {
    const { documents } = settings;
    const body = { ...asked, query, variables: asked.variables ?? null, operationName: asked.operationName ?? null };
    if (!documents?.has(query)) documents?.learn(query, document);
    const answer = await documents?.answer(body, context);
    if (!answer) return resultOf(parts, document, root, context);
    return { result: JSON.parse(answer.body) as SubscriptionResult, again: 'retry-after' in answer.headers };
  };
}

/** The same selections as queries, and their text. */
function asQuery(subscription: DocumentNode): { document: DocumentNode; query: string } {
  let known = queries.get(subscription);
  if (!known) {
    const definitions = subscription.definitions.map((each) =>
      each.kind === Kind.OPERATION_DEFINITION ? { ...each, operation: OperationTypeNode.QUERY } : each,
    );
    const document = { ...subscription, definitions };
    known = { document, query: print(document) };
    queries.set(subscription, known);
  }
  return known;
}

/** The queries of the subscriptions that the cache of documents keeps. */
const queries = new WeakMap<DocumentNode, ReturnType<typeof asQuery>>();

/** The document of a request: from the cache, or parsed and validated. Refuses one that is not valid. */
function validated(
  schema: GraphQLSchema,
  settings: SubscriptionSettings,
  asked: SubscriptionAsked,
  context: Context,
): DocumentNode {
  const known = settings.documents?.documentOf(asked.query);
  if (known) return known;
  try {
    const document = checkedDocument(schema, settings, asked.query);
    settings.documents?.learn(asked.query, document);
    return document;
  } catch (error) {
    if (error instanceof RefusedDocument) {
      const { document } = error;
      throw explainedRefusal({ schema, settings, asked, document }, error.errors, context);
    }
    if (!(error instanceof GraphQLError)) throw error;
    // All but the errors of the parser have a code.
    throw refusal([{ ...error.toJSON(), extensions: { code: 'GRAPHQL_PARSE_FAILED', ...error.extensions } }], context);
  }
}

/** The refusal of input that the library refused, explained as for the other operations. */
function explainedRefusal(parts: Parts, errors: readonly GraphQLError[], context: Context): SubscriptionRefused {
  const { schema, settings, asked, document } = parts;
  const formatted = errors.map((error) => error.toJSON());
  const operation = { schema, document, operationName: asked.operationName ?? undefined };
  const explanation = explained(operation, asked.variables ?? {}, formatted, context, settings.rules);
  if (explanation) return new SubscriptionRefused(explanation.status, shownErrors(explanation.errors, context));
  return refusal(formatted, context);
}

function refusal(errors: readonly GraphQLFormattedError[], context: Context): SubscriptionRefused {
  const named = errors.map(({ message, locations, extensions }) => ({
    message: withoutLongNames(message),
    ...(locations && { locations }),
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', ...extensions },
  }));
  return new SubscriptionRefused(400, shownErrors(named, context));
}

/** The errors of a refusal as those of queries are: with the addresses of their codes, and in the log of requests. */
const shownErrors = (errors: readonly GraphQLFormattedError[], context: Context): readonly GraphQLFormattedError[] =>
  formatResponse({ errors }, context).result.errors!;

/** Whether a directive can leave out a field at the root. Fragments are followed once each: there are no cycles. */
function isConditional({ definitions }: DocumentNode, selections: readonly SelectionNode[]): boolean {
  const seen = new Set<string>();
  const any = (among: readonly SelectionNode[]): boolean =>
    among.some((selection) => {
      if (selection.directives?.some(({ name: { value } }) => value === 'skip' || value === 'include')) return true;
      if (selection.kind === Kind.FIELD) return false;
      if (selection.kind === Kind.INLINE_FRAGMENT) return any(selection.selectionSet.selections);
      const { value } = selection.name;
      if (seen.has(value)) return false;
      seen.add(value);
      const fragment = definitions.find((each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === value);
      return fragment?.kind === Kind.FRAGMENT_DEFINITION && any(fragment.selectionSet.selections);
    });
  return any(selections);
}
