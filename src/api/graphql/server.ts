import { ApolloServer, type ApolloServerPlugin, type GraphQLRequest } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import {
  assertValidSchema,
  type DocumentNode,
  execute,
  type GraphQLEnumType,
  type GraphQLFormattedError,
  GraphQLObjectType,
  GraphQLSchema,
} from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { explained, flat, formatted, ownCode, type Rules } from './errors.js';
import { elsewhere, guard, permitCaller } from '../../operation/guard.js';
import { acceptedOf } from '../../operation/accepted.js';
import { inputProblems } from '../../operation/input-problems.js';
import {
  nodeTypes,
  operationOf,
  operations,
  readers,
  resolvers,
  sizes,
  weights as fieldWeights,
} from '../../resources/registry.js';
import type { QueryCompiler } from './compiler/compiler.js';
import { countWithoutRows, selectsCountOnly } from './count-only.js';
import { DocumentCache } from './document-cache.js';
import { describeEditions } from './edition-descriptions.js';
import { describeGrowth } from './growth.js';
import { checkedDocument, selectionsMax } from './dry-run.js';
import { readExportSource, withExportSource } from './export-source.js';
import { addFilters, readFilters } from './filter-argument.js';
import { type Limits, limitRule } from './limits.js';
import { pageSizeDefault, pageSizeMax } from '../../types/pagination.js';
import { pointsOf, pointsOfTotal, turnsOf } from '../../types/weights.js';
import { nullableInPayloads, nullableWhereRefused } from './nullable-fields.js';
import { isPageType, type ListSizes } from './query-parts.js';
import { NodeCounter, refuseTooMany } from './query-cost.js';
import { problem, retryAfter } from '../../errors/problems.js';
import { measure, measuredFieldResolver, type RequestBudget } from '../../limits/budget.js';
import { formatResponse } from './response.js';
import { operationLabel } from './root-fields.js';
import { readDirectly, resolveStoredNames } from './stored-names.js';
import { refuseSubscription, subscriptionType } from './subscription-type.js';

/** The sizes of the lists of the public schema. */
export const publicSizes: ListSizes = {
  page: { default: pageSizeDefault, max: pageSizeMax },
  lists: sizes,
  weights: fieldWeights,
};

/**
 * Builds the public schema, with its guards and its budget. It throws when a root field has no declared operation, or a
 * list of objects has no size.
 */
export function buildGraph(): GraphQLSchema {
  // The library's own check executes an introspection query, which takes longer than building the schema.
  const schema = inOrder(buildSchemaSync({ resolvers, validate: false, skipCheck: true }));
  assertValidSchema(schema);
  nullableWhereRefused(schema, operations);
  nullableInPayloads(schema);
  resolveStoredNames(schema);
  readDirectly(schema, readers);
  guard(schema, operations);
  readFilters(schema);
  readExportSource(schema);
  describeEditions(schema, operations);
  describeGrowth(schema);
  countWithoutRows(schema);
  const nodes = new NodeCounter(schema, publicSizes);
  const prices = {
    isPage: isPageType,
    isValues: (type: string, field: string) => publicSizes.lists[`${type}.${field}`] === 0,
    field: (type: string, field: string) => {
      const weight = type !== 'Mutation' && fieldWeights[`${type}.${field}`];
      return weight ? (args: Record<string, unknown>) => pointsOf(weight, (name) => args[name]) : undefined;
    },
    total: pointsOfTotal,
    countOnly: selectsCountOnly,
  };
  measure(schema, { counted: (type) => nodes.counts(type.name), prices });
  return schema;
}

/**
 * Sorts the schema in the order of the declarations. The decorators' order is the order in which the resource files are
 * evaluated, which depends on other imports.
 */
function inOrder(schema: GraphQLSchema): GraphQLSchema {
  const declared = [...operations.keys()];
  addFilters(schema, declared);
  const root = (type: GraphQLObjectType | null | undefined, description: string) => {
    if (!type) return null;
    const config = type.toConfig();
    const fields = Object.entries(config.fields).sort(([a], [b]) => declared.indexOf(a) - declared.indexOf(b));
    return new GraphQLObjectType({ ...config, description, fields: Object.fromEntries(fields) });
  };
  const types = nodeTypes.flatMap((name) => schema.getType(name) ?? []);
  const query = root(schema.getQueryType(), 'Reads: single objects by their ids, lists and figures.');
  const mutation = root(
    withExportSource(schema.getMutationType()!, query!),
    'Writes. Send the header `Idempotency-Key` with each, so that it can be repeated safely.',
  );
  const event = schema.getType('Event') as GraphQLObjectType;
  const [scope, eventType] = ['AccountScope', 'EventType'].map((name) => schema.getType(name) as GraphQLEnumType);
  const subscription = subscriptionType(query!, event, scope!, eventType!);
  return new GraphQLSchema({ ...schema.toConfig(), query, mutation, subscription, types });
}

/** The rules of the public schema: the permissions, and the rules of the caller's edition. */
export const graphRules: Rules<Context> = {
  object: (field, context) => {
    const operation = operationOf(field);
    // An operation of another edition is refused after all other problems, whatever the key may do.
    if (!elsewhere(context, operation)) permitCaller(context, operation);
    return operation.object;
  },
  accepted: (field, { caller }) => acceptedOf(operationOf(field), caller),
  elsewhere: (field, context) => elsewhere(context, operationOf(field)),
  problems: (field, args, { caller }) => inputProblems(operationOf(field), args, caller),
};

/** The part of a request's context that the server itself needs, for every schema. */
export interface ServerContext {
  requestId: string;
  replayed: boolean;
  budget: RequestBudget;
}

/** The settings of a server. */
export interface GraphSettings {
  introspection: boolean;
  limits: Limits;
  tokensMax: number;
  /** The most nodes that an operation may touch, and what counts them. */
  nodesMax: number;
  nodes: NodeCounter;
  /** Whether errors suggest names of the schema. */
  suggestions: boolean;
  /** Compiles repeated queries; without it, each request goes through Apollo's complete pipeline. */
  compiler?: QueryCompiler;
  trusted?: ReadonlySet<string>;
  /** Called with an internal error, to log it with the request's id. The client does not see its details. */
  onFault: (error: unknown, requestId: string) => void;
}

/** A server for a schema, and the cache in front of it, which answers the documents that the server has validated. */
export interface GraphServer<C extends ServerContext> {
  apollo: ApolloServer<C>;
  documents: DocumentCache | undefined;
}

/**
 * Builds Apollo with our executor in its gateway hook. The executor makes one error per problem of a domain error.
 * Cache control is off, because it alone costs almost half of the throughput.
 */
export function buildApollo<C extends ServerContext>(
  schema: GraphQLSchema,
  rules: Rules<C>,
  settings: GraphSettings,
): GraphServer<C> {
  const run = executor<C>(schema, settings);
  const { nodes } = settings;
  const checked = (text: string) => checkedDocument(schema, settings, text);
  const parts = { ...settings, nodes: { counter: nodes, max: settings.nodesMax }, checked };
  const documents = settings.compiler && new DocumentCache(settings.compiler, run, parts);
  const apollo = new ApolloServer<C>({
    gateway: {
      onSchemaLoadOrUpdate: (callback) => {
        callback({ apiSchema: schema, coreSupergraphSdl: '' });
        return () => {};
      },
      // Apollo's type of a result knows only its own extensions.
      load: async () => ({ executor: (rc) => run(rc) as never }),
      stop: async () => {},
    },
    introspection: settings.introspection,
    includeStacktraceInErrorResponses: false,
    hideSchemaDetailsFromClientErrors: !settings.suggestions,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    // An Authorization header makes a browser send a preflight request; no request is authenticated by a cookie.
    csrfPrevention: { requestHeaders: ['authorization', 'x-apollo-operation-name', 'apollo-require-preflight'] },
    // Apollo's type leaves out the option for the limit of tokens, and passes it on to the parser.
    parseOptions: { maxLexicalTokens: settings.tokensMax } as never,
    maxRecursiveSelections: selectionsMax,
    validationRules: [limitRule(settings.limits)],
    validationOptions: { maxErrors: 5 },
    formatError: ownCode,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      answering(schema, rules, nodes, settings.nodesMax, documents),
    ],
  });
  return { apollo, documents };
}

/** A document to execute, with its variables and the caller's context. */
interface Execution {
  document: DocumentNode;
  request: Pick<GraphQLRequest, 'operationName' | 'variables'>;
  context: unknown;
}

/** Executes documents over a schema. A request that ended during the execution gets only the reason. */
function executor<C extends ServerContext>(schema: GraphQLSchema, { suggestions, onFault }: GraphSettings) {
  return async ({ document, request, context }: Execution) => {
    const { requestId, budget } = context as C;
    const result = await execute({
      schema,
      document,
      // Use the requested name: when no operation has it, nothing may run.
      operationName: request.operationName,
      variableValues: request.variables,
      contextValue: context,
      fieldResolver: measuredFieldResolver,
      hideSuggestions: !suggestions,
    });
    budget.refused(result.errors?.length ?? 0);
    // Discard the partial result of a request that has ended.
    if (budget.ended) return { data: null, errors: [budget.ended] };
    return flat(result, { schema, document, operationName: request.operationName }, (error) =>
      onFault(error, requestId),
    );
  };
}

/**
 * The plugin that fills the document cache, checks the nodes and formats responses. It explains refused input like /v1.
 */
function answering<C extends ServerContext>(
  schema: GraphQLSchema,
  rules: Rules<C>,
  nodes: NodeCounter,
  nodesMax: number,
  documents: DocumentCache | undefined,
): ApolloServerPlugin<C> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ source, document, request, contextValue }) {
          refuseSubscription(document, request.operationName);
          documents?.learn(source, document);
          const estimate = nodes.of(document, request.operationName)?.(request.variables ?? {});
          if (!estimate) return;
          const { charge, report } = contextValue.budget;
          report.operation = operationLabel(document, request.operationName);
          report.answeredBy = 'resolvers';
          refuseTooMany(estimate, nodesMax);
          contextValue.budget.ticket?.weigh(turnsOf(estimate.nodes));
          await charge?.take(estimate.points, estimate.pointsUsual);
          charge?.count(estimate.introspection);
        },
        async willSendResponse({ response, document, request, contextValue }) {
          if (response.body.kind !== 'single') return;
          const result = response.body.singleResult;
          const { requestId, budget } = contextValue;
          const refusal = budget.ended ?? budget.charge?.refusal;
          if (refusal) {
            delete result.data;
            result.errors = refusal.problems.map((p) => formatted(p, requestId));
            response.http.status = refusal.status;
            const wait = retryAfter(refusal.problems);
            if (wait !== undefined) response.http.headers.set('retry-after', String(wait));
          }
          if (response.http.status === 405) result.errors = [formatted(problem('method_not_allowed'), requestId)];
          if (result.data === undefined && document && result.errors?.some(isInputError)) {
            const operation = { schema, document, operationName: request.operationName };
            const explanation = explained(operation, request.variables ?? {}, result.errors, contextValue, rules);
            if (explanation) {
              result.errors = explanation.errors;
              response.http.status = explanation.status;
            }
          }
          const formattedResponse = formatResponse(result, contextValue);
          Object.assign(result, formattedResponse.result);
          for (const [name, value] of Object.entries(formattedResponse.headers))
            if (!response.http.headers.has(name)) response.http.headers.set(name, value);
        },
      };
    },
  };
}

/** Whether the library refused the input; such an error gets a message of our own. */
function isInputError(error: GraphQLFormattedError): boolean {
  return error.extensions?.code === 'GRAPHQL_VALIDATION_FAILED' || error.extensions?.code === 'BAD_USER_INPUT';
}
