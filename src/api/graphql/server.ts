import { ApolloServer, type ApolloServerPlugin, type GraphQLRequest } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  execute,
  GraphQLError,
  type GraphQLFormattedError,
  GraphQLObjectType,
  GraphQLSchema,
} from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { explained, flat, formatted, type Rules } from './errors.js';
import { guard, inputProblems, permitField } from '../../operation/guard.js';
import { nodeTypes, operationOf, operations, resolvers, sizes } from '../../resources/registry.js';
import type { QueryCompiler } from './compiler/compiler.js';
import { DocumentCache } from './document-cache.js';
import { type Limits, limitRule } from './limits.js';
import { pageSizeDefault, pageSizeMax } from '../../types/pagination.js';
import type { ListSizes } from './query-parts.js';
import { NodeCounter, refuseTooMany } from './query-cost.js';
import { cut, problem } from '../../request/problems.js';
import { measure, measuredFieldResolver, type RequestBudget } from '../../request/budget.js';
import { formatResponse } from './response.js';

/** How the lists of the public schema are bounded. */
export const publicSizes: ListSizes = { page: { default: pageSizeDefault, max: pageSizeMax }, lists: sizes };

/**
 * The public schema, guarded and measured: building it fails when a root field is declared as no operation, or a list of
 * objects has no size.
 */
export function buildGraph(): GraphQLSchema {
  const schema = inOrder(buildSchemaSync({ resolvers, validate: false }));
  guard(schema, operations);
  const nodes = new NodeCounter(schema, publicSizes);
  measure(schema, (type) => nodes.counts(type));
  return schema;
}

/**
 * The schema in the order of the declarations. Decorators give it the order in which the files of the resources happen to be
 * evaluated, which depends on what else is imported.
 */
function inOrder(schema: GraphQLSchema): GraphQLSchema {
  const declared = [...operations.keys()];
  const root = (type: GraphQLObjectType | null | undefined) => {
    if (!type) return null;
    const config = type.toConfig();
    const fields = Object.entries(config.fields).sort(([a], [b]) => declared.indexOf(a) - declared.indexOf(b));
    return new GraphQLObjectType({ ...config, fields: Object.fromEntries(fields) });
  };
  const types = nodeTypes.flatMap((name) => schema.getType(name) ?? []);
  const [query, mutation] = [root(schema.getQueryType()), root(schema.getMutationType())];
  return new GraphQLSchema({ ...schema.toConfig(), query, mutation, types });
}

/** The rules of the public schema: the permissions, and the edition of whoever asks. */
export const graphRules: Rules<Context> = {
  object: (field, context) => {
    const operation = operationOf(field);
    permitField(context, operation);
    return operation.object;
  },
  problems: (field, args, { edition }) => inputProblems(operationOf(field), args, edition),
};

/** What of a request's context the server itself needs, whatever the schema. */
export interface Asker {
  requestId: string;
  replayed: boolean;
  budget: RequestBudget;
}

/** What of a server the operator may set. */
export interface GraphSettings {
  introspection: boolean;
  limits: Limits;
  tokensMax: number;
  /** The most nodes that an operation may touch, and how the lists of the schema are bounded. */
  nodesMax: number;
  sizes: ListSizes;
  /** Whether errors suggest names of the schema. */
  suggestions: boolean;
  /** Compiles the queries that are asked again; without it, each request goes through all of Apollo. */
  compiler?: QueryCompiler;
  /** Called with a fault of ours, to be logged with the request's id; the client is told nothing of it. */
  onFault: (error: unknown, requestId: string) => void;
}

/** A server over a schema, and the cache in front of it, which answers the documents that the server has found valid. */
export interface GraphServer<C extends Asker> {
  apollo: ApolloServer<C>;
  documents: DocumentCache | undefined;
}

/**
 * Apollo with our executor behind its gateway hook: domain errors become one entry per problem there.
 * Cache control is off: it alone costs almost half of the throughput.
 */
export function buildApollo<C extends Asker>(
  schema: GraphQLSchema,
  rules: Rules<C>,
  settings: GraphSettings,
): GraphServer<C> {
  const run = executor<C>(schema, settings);
  const nodes = new NodeCounter(schema, settings.sizes);
  const documents =
    settings.compiler &&
    new DocumentCache(settings.compiler, run, { counter: nodes, max: settings.nodesMax }, settings.onFault);
  const apollo = new ApolloServer<C>({
    gateway: {
      onSchemaLoadOrUpdate: (callback) => {
        callback({ apiSchema: schema, coreSupergraphSdl: '' });
        return () => {};
      },
      load: async () => ({ executor: (rc) => run(rc) as never }),
      stop: async () => {},
    },
    introspection: settings.introspection,
    includeStacktraceInErrorResponses: false,
    hideSchemaDetailsFromClientErrors: !settings.suggestions,
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    // An Authorization header makes a browser ask first; nothing here is authenticated by a cookie.
    csrfPrevention: { requestHeaders: ['authorization', 'x-apollo-operation-name', 'apollo-require-preflight'] },
    parseOptions: { maxLexicalTokens: settings.tokensMax } as never,
    maxRecursiveSelections: 1_000,
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

/** A document to execute, for whom, and with which variables. */
interface Execution {
  document: DocumentNode;
  request: Pick<GraphQLRequest, 'operationName' | 'variables'>;
  context: unknown;
}

/** Executes documents over a schema; a request that has ended meanwhile gets nothing but the reason. */
function executor<C extends Asker>(schema: GraphQLSchema, { suggestions, onFault }: GraphSettings) {
  return async ({ document, request, context }: Execution) => {
    const { requestId, budget } = context as C;
    const result = await execute({
      schema,
      document,
      // The name that was asked for, not the one that was found: none found must run nothing.
      operationName: request.operationName,
      variableValues: request.variables,
      contextValue: context,
      fieldResolver: measuredFieldResolver as never,
      hideSuggestions: !suggestions,
    });
    // What was resolved until then is no answer.
    if (budget.ended) return { data: null, errors: [budget.ended] };
    return flat(result, { schema, document, operationName: request.operationName }, (error) =>
      onFault(error, requestId),
    );
  };
}

/** Apollo gives every validation error its own code; those of our limits keep theirs. Names and values are cut as the names of parameters are. */
function ownCode(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const original = error instanceof GraphQLError ? error.originalError : undefined;
  const own =
    formatted.extensions?.code === 'GRAPHQL_VALIDATION_FAILED' && original instanceof GraphQLError
      ? original.extensions.code
      : undefined;
  const message = formatted.message.replaceAll(/[\w$]{101,}|(?<=")[^"]{101,}(?=")/g, cut);
  return { ...formatted, message, ...(own !== undefined && { extensions: { ...formatted.extensions, code: own } }) };
}

/** What leaves: the request id everywhere, and input that the library refused explained as /v1 would. */
function answering<C extends Asker>(
  schema: GraphQLSchema,
  rules: Rules<C>,
  nodes: NodeCounter,
  nodesMax: number,
  documents: DocumentCache | undefined,
): ApolloServerPlugin<C> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ source, document, request }) {
          documents?.learn(source, document);
          const estimate = nodes.of(document, request.operationName);
          if (estimate) refuseTooMany(estimate(request.variables ?? {}), nodesMax);
        },
        async willSendResponse({ response, document, request, contextValue }) {
          if (response.body.kind !== 'single') return;
          const result = response.body.singleResult;
          const { requestId, budget } = contextValue;
          if (budget.ended) {
            delete result.data;
            result.errors = budget.ended.problems.map((p) => formatted(p, requestId));
            response.http.status = budget.ended.status;
          }
          if (response.http.status === 405) result.errors = [formatted(problem('method_not_allowed'), requestId)];
          if (result.data === undefined && document && result.errors?.some(isInputError)) {
            const asked = { schema, document, operationName: request.operationName };
            const told = explained(asked, request.variables ?? {}, result.errors, contextValue, rules);
            if (told) {
              result.errors = told.errors;
              response.http.status = told.status;
            }
          }
          const dressed = formatResponse(result, contextValue);
          Object.assign(result, dressed.result);
          for (const [name, value] of Object.entries(dressed.headers)) response.http.headers.set(name, value);
        },
      };
    },
  };
}

/** Errors that the library has for input, which we explain in our own words. */
function isInputError(error: GraphQLFormattedError): boolean {
  return error.extensions?.code === 'GRAPHQL_VALIDATION_FAILED' || error.extensions?.code === 'BAD_USER_INPUT';
}
