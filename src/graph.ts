import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  type FieldNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  valueFromASTUntyped,
} from 'graphql';
import { buildSchemaSync, type NonEmptyArray } from 'type-graphql';
import { AccountResolver } from './account/resolver.js';
import { AccountSettingOfAccount, AccountSettingResolver } from './account-setting/resolver.js';
import { ActivationResolver } from './activation/resolver.js';
import { AddressesOfAccount, AddressResolver } from './address/resolver.js';
import { HistoryOfAccount } from './balance/history.js';
import { BalanceOfAccount, BalanceResolver } from './balance/resolver.js';
import {
  BalanceTransactionResolver,
  BalanceTransactionsOfAccount,
  BalanceTransactionsOfPayment,
} from './balance-transaction/resolver.js';
import { ClockResolver } from './clock/resolver.js';
import type { Context } from './context.js';
import { DepositOfPayment, DepositResolver, DepositsOfAccount } from './deposit/resolver.js';
import { EventResolver } from './event/resolver.js';
import { FileResolver, FilesOfAccount } from './file/resolver.js';
import { guard, inputProblems, permissionOf, permit, remaining } from './guard.js';
import { ApiKeyResolver, ApiKeysOfAccount } from './key/resolver.js';
import { type Limits, limitRule } from './limits.js';
import { PaymentResolver, PaymentsOfAccount } from './payment/resolver.js';
import { PayoutResolver, PayoutsOfAccount, PayoutsOfAddress } from './payout/resolver.js';
import { PersonResolver, PersonsOfAccount } from './person/resolver.js';
import { camel, catalogue, itemV1, type Problem, problem, Refusal } from './problems.js';
import { ReceivableResolver, ReceivablesOfAccount, ReceivablesOfDeposit } from './receivable/resolver.js';
import { graph as graphSpelling, read } from './rest/wire.js';
import { ViewerResolver } from './viewer.js';

/** The slices, in their order: types and resolvers import only earlier ones. */
const resolvers: NonEmptyArray<Function> = [
  ViewerResolver,
  AccountResolver,
  AccountSettingResolver,
  AccountSettingOfAccount,
  FileResolver,
  FilesOfAccount,
  PersonResolver,
  PersonsOfAccount,
  AddressResolver,
  AddressesOfAccount,
  ApiKeyResolver,
  ApiKeysOfAccount,
  ActivationResolver,
  BalanceResolver,
  BalanceOfAccount,
  HistoryOfAccount,
  PaymentResolver,
  PaymentsOfAccount,
  BalanceTransactionResolver,
  BalanceTransactionsOfAccount,
  BalanceTransactionsOfPayment,
  DepositResolver,
  DepositsOfAccount,
  DepositOfPayment,
  ReceivableResolver,
  ReceivablesOfAccount,
  ReceivablesOfDeposit,
  PayoutResolver,
  PayoutsOfAccount,
  PayoutsOfAddress,
  ClockResolver,
  EventResolver,
];

/** The public schema, guarded: building it fails when a root field has no permission. */
export function buildGraph(): GraphQLSchema {
  const schema = buildSchemaSync({ resolvers, validate: false });
  guard(schema);
  return schema;
}

/** What of a server the operator may set. */
export interface GraphSettings {
  introspection: boolean;
  limits: Limits;
  tokensMax: number;
  production: boolean;
  /** Called with a fault of ours, to be logged with the request's id; the client is told nothing of it. */
  onFault(error: unknown, requestId: string): void;
}

/**
 * Apollo with our executor behind its gateway hook: Refusals become one entry per problem there.
 * Cache control is off: it alone costs almost half of the throughput.
 */
export function buildApollo(schema: GraphQLSchema, settings: GraphSettings): ApolloServer<Context> {
  const executor = async (request: {
    document: DocumentNode;
    contextValue: Context;
    operationName?: string | null;
    variables: Record<string, unknown>;
  }) =>
    flat(
      await execute({
        schema,
        document: request.document,
        operationName: request.operationName,
        variableValues: request.variables,
        contextValue: request.contextValue,
        hideSuggestions: settings.production,
      }),
      request.contextValue,
      mutates(request.document, request.operationName),
      settings,
    );
  return new ApolloServer<Context>({
    gateway: {
      onSchemaLoadOrUpdate: (callback) => {
        callback({ apiSchema: schema, coreSupergraphSdl: '' });
        return () => {};
      },
      load: async () => ({
        executor: (rc) =>
          executor({
            document: rc.document,
            contextValue: rc.context as Context,
            operationName: rc.request.operationName,
            variables: rc.request.variables ?? {},
          }) as never,
      }),
      stop: async () => {},
    },
    introspection: settings.introspection,
    includeStacktraceInErrorResponses: false,
    hideSchemaDetailsFromClientErrors: settings.production,
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
      answering(schema),
    ],
  });
}

/** Apollo gives every validation error its own code; those of our limits keep theirs. */
function ownCode(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const original = error instanceof GraphQLError ? error.originalError : undefined;
  const own =
    formatted.extensions?.code === 'GRAPHQL_VALIDATION_FAILED' && original instanceof GraphQLError
      ? original.extensions.code
      : undefined;
  return own ? { ...formatted, extensions: { ...formatted.extensions, code: own } } : formatted;
}

/** What leaves: the request id everywhere, and input that the library refused explained as /v1 would. */
function answering(schema: GraphQLSchema): ApolloServerPlugin<Context> {
  return {
    async requestDidStart() {
      return {
        async willSendResponse({ response, document, request, contextValue, operationName }) {
          if (response.body.kind !== 'single') return;
          const result = response.body.singleResult;
          const { requestId } = contextValue;
          if (response.http.status === 405) result.errors = [formatted(problem('method_not_allowed'), requestId)];
          if (result.data === undefined && document && result.errors?.every(isInputError)) {
            const problems = explain(
              schema,
              document,
              operationName ?? request.operationName,
              request.variables ?? {},
              contextValue,
            );
            if (problems.length > 0) {
              const others = result.errors.filter((e) => notAboutArguments.test(e.message));
              result.errors = [
                ...problems.map((p) => formatted(p, requestId, mutates(document, operationName))),
                ...others,
              ];
              response.http.status = catalogue[problems[0]!.code][0];
            }
          }
          result.errors = result.errors?.map((e) => ({ ...e, extensions: { ...e.extensions, requestId } }));
          result.extensions = { ...result.extensions, requestId };
          if (contextValue.replayed) response.http.headers.set('idempotent-replayed', 'true');
        },
      };
    },
  };
}

/** What is wrong with a document besides its arguments, by how the library says it. */
const notAboutArguments =
  /^(Cannot query field|Unknown (fragment|type|directive)|Fragment |Field "\w+" (must not have|of type "[^"]+" must have) a selection|Variable "\$\w+" is (not defined|never used))/;

function isInputError(error: GraphQLFormattedError): boolean {
  return error.extensions?.code === 'GRAPHQL_VALIDATION_FAILED' || error.extensions?.code === 'BAD_USER_INPUT';
}

/** One entry per problem of every Refusal; anything else is our fault, logged with its cause and masked. */
function flat(
  result: ExecutionResult,
  context: Context,
  inInput: boolean,
  { onFault }: GraphSettings,
): ExecutionResult {
  // Nothing ran: the request itself is wrong, and its errors are the client's to read.
  if (!result.errors || result.data === undefined) return result;
  const errors = result.errors.flatMap((error) => {
    const cause = error.originalError ?? error;
    const place = { nodes: error.nodes, source: error.source, positions: error.positions, path: error.path };
    if (cause instanceof Refusal) {
      return cause.problems.map((p) => new GraphQLError(p.message, { ...place, extensions: extensionsOf(p, inInput) }));
    }
    // Errors of the library itself, such as a variable of a wrong type, are the client's to read.
    if (!error.originalError && !error.path) return [error];
    onFault(cause, context.requestId);
    const fault = problem('service_fault');
    return [new GraphQLError(fault.message, { ...place, extensions: extensionsOf(fault, inInput) })];
  });
  return { ...result, errors };
}

function extensionsOf(p: Problem, inInput: boolean) {
  const path = p.path ?? argumentPath(p.field);
  return {
    code: p.code.toUpperCase(),
    httpStatus: catalogue[p.code][0],
    ...(path.length > 0 && { argumentPath: inInput ? ['input', ...path] : path }),
    error: itemV1(p),
  };
}

function formatted(p: Problem, requestId: string, inInput = false): GraphQLFormattedError {
  return { message: p.message, extensions: { ...extensionsOf(p, inInput), requestId } };
}

const spelledV1: Record<string, string> = {
  first: 'limit',
  last: 'limit',
  after: 'starting_after',
  before: 'ending_before',
};

/** A problem of the graph's own arguments under the name that /v1 has for them. */
function asV1(p: Problem, object: string): Problem {
  const field = (p.field ?? '').replace(/^\.(input\b\.?)?/, `${object}.`).replace(/\.$/, '');
  const name = field.slice(object.length + 1);
  return spelledV1[name] ? { ...p, field: `${object}.${spelledV1[name]}`, path: [name] } : { ...p, field };
}

function operationOf(document: DocumentNode, name: string | null | undefined): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter(
    (d): d is OperationDefinitionNode => d.kind === Kind.OPERATION_DEFINITION,
  );
  return name ? operations.find((d) => d.name?.value === name) : operations[0];
}

/** A mutation takes all its parameters in `input`; a query takes them as arguments. */
function mutates(document: DocumentNode, name: string | null | undefined): boolean {
  return operationOf(document, name)?.operation === 'mutation';
}

/** Errors of a request that was refused before Apollo saw it, in the shape of a GraphQL answer. */
export function graphErrors(problems: Problem[], requestId: string) {
  return { errors: problems.map((p) => formatted(p, requestId)), extensions: { requestId } };
}

const renamed: Record<string, string> = { starting_after: 'after', ending_before: 'before', limit: 'first' };

/** The path of an argument in the graph, from a field name of /v1: without the object, and with the keys of metadata untouched. */
function argumentPath(field: string | undefined): string[] {
  const [, ...path] = field?.split('.') ?? [];
  const map = path.indexOf('metadata');
  const names = map < 0 ? path : path.slice(0, map + 1);
  const key = map < 0 ? [] : path.slice(map + 1);
  return [...names.map((name) => renamed[name] ?? camel(name)), ...(key.length > 0 ? [key.join('.')] : [])];
}

/**
 * What is wrong with the arguments of an operation that the library refused, by the same walk that /v1 uses.
 * Nothing, when the fault is elsewhere in the document: then the library's own errors stand.
 */
function explain(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Record<string, unknown>,
  context: Context,
): Problem[] {
  const operation = operationOf(document, operationName);
  if (!operation) return [];
  const root =
    (operation.operation === 'mutation' ? schema.getMutationType() : schema.getQueryType())?.getFields() ?? {};
  const defaults = (operation.variableDefinitions ?? []).flatMap((v) =>
    v.defaultValue ? [[v.variable.name.value, valueFromASTUntyped(v.defaultValue)] as const] : [],
  );
  const values = { ...Object.fromEntries(defaults), ...variables };
  const problems: Problem[] = [];
  for (const selection of operation.selectionSet.selections) {
    const field = selection.kind === Kind.FIELD ? root[(selection as FieldNode).name.value] : undefined;
    if (!field || selection.kind !== Kind.FIELD) continue;
    const permission = permissionOf(field.name);
    try {
      permit(context, permission);
    } catch (error) {
      if (error instanceof Refusal) return error.problems;
      throw error;
    }
    const given = (selection.arguments ?? [])
      .map((a) => [a.name.value, valueFromASTUntyped(a.value, values)] as const)
      .filter(([, value]) => value !== undefined);
    const raw = Object.fromEntries(given) as Record<string, unknown>;
    // The members of `input` are what /v1 calls parameters; so a mutation is read one level deeper.
    const input = field.args.find(({ name }) => name === 'input');
    const found: Problem[] = [];
    const args = read(field.args, raw, input ? '' : permission.object, graphSpelling, found);
    const told = found.map((p) => asV1(p, permission.object));
    problems.push(...told, ...remaining(told, inputProblems(field.name, permission.object, args, context.edition)));
  }
  return problems;
}
