import {
  type ExecutionResult,
  type FieldNode,
  getLocation,
  GraphQLError,
  type GraphQLFormattedError,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  OperationTypeNode,
  valueFromASTUntyped,
} from 'graphql';
import type { Accepted } from '../../operation/accepted.js';
import { catalogue, helpPath } from '../../errors/catalogue.js';
import {
  argumentPath,
  itemV1,
  type Problem,
  problem,
  problemsMax,
  DomainError,
  sentenceOfGraph,
} from '../../errors/problems.js';
import type { Cost } from '../../limits/charge.js';
import { withoutLongNames } from './dry-run.js';
import { argumentProblems, asListed, decoderFor, inputOf, type RootField } from './argument-problems.js';
import { nestedFields } from './nested-fields.js';
import { type GraphOperation, operationOf, rootFieldNodes } from './root-fields.js';

/** The schema's own rules for its root fields, applied to a caller's context. */
export interface Rules<C> {
  /**
   * The noun that begins the names of the field's parameters; refuses a caller without the permission for the field.
   */
  object(field: string, context: C): string;
  /** What the caller may send to the field, where that is less than its input types take. */
  accepted?(field: string, context: C): Accepted;
  /** The problem of a field that only another edition than the caller's has. */
  elsewhere?(field: string, context: C): Problem | undefined;
  /** The problems of coerced arguments that the input types cannot express. */
  problems(field: string, args: object, context: C): Problem[];
}

/** The errors of a request that was refused before it reached Apollo, in the shape of a GraphQL response. */
export function graphErrors(problems: Problem[], requestId: string, cost?: Cost) {
  return {
    errors: problems.map((p) => formatted(p, requestId)),
    extensions: { requestId, ...(cost && { cost }) },
  };
}

/** One problem as an entry of `errors`; `field` is the root field whose arguments may contain the problem. */
export function formatted(p: Problem, requestId: string, field?: RootField): GraphQLFormattedError {
  return { message: sentenceOfGraph(p), extensions: { ...extensionsOf(p, field), requestId } };
}

/**
 * Makes one error per problem of each DomainError. Reports any other error to `onFault` and masks it as an internal
 * error.
 */
export function flat(
  result: ExecutionResult,
  requested: GraphOperation,
  onFault: (error: unknown) => void,
): ExecutionResult {
  // Nothing ran: the request itself is wrong, so the client sees its errors.
  if (!result.errors || result.data === undefined) return withInputCode(result);
  const errors = result.errors.flatMap((error) => {
    const cause = error.originalError ?? error;
    const place = {
      nodes: error.nodes ?? null,
      source: error.source ?? null,
      positions: error.positions ?? null,
      path: error.path ?? null,
    };
    // Below a root field the arguments belong to an edge, and have the names of the list's arguments.
    const field =
      error.path?.length === 1
        ? rootFields(requested).find(({ node }) => keyOf(node) === error.path?.[0])?.field
        : undefined;
    if (cause instanceof DomainError) {
      return cause.problems.map(
        (p) => new GraphQLError(sentenceOfGraph(p), { ...place, extensions: extensionsOf(p, field) }),
      );
    }
    if (!error.originalError && !error.path) return [error];
    onFault(cause);
    const fault = problem('service_fault');
    return [new GraphQLError(sentenceOfGraph(fault), { ...place, extensions: extensionsOf(fault) })];
  });
  return { ...result, errors };
}

/** The library's last error of wrong variables: it stops after 50 of them. */
const tooManyWrong = 'Too many errors processing variables';

/** The same result with the code of wrong input on the library's last error, which says that there are more. */
function withInputCode({ errors, ...result }: ExecutionResult): ExecutionResult {
  if (!errors?.at(-1)?.message.startsWith(tooManyWrong)) return { ...result, ...(errors && { errors }) };
  const text = 'The variables have further errors, which are not listed. Correct these, and try again.';
  return {
    ...result,
    errors: [...errors.slice(0, -1), new GraphQLError(text, { extensions: { code: 'BAD_USER_INPUT' } })],
  };
}

/**
 * The errors of an operation whose input the library refused, as /v1 would report them: by the same walk over the input
 * types, and with the edition's own rules. Errors that are not about arguments stay as the library reports them.
 * Undefined when no argument has an error.
 */
export function explained<C extends { requestId: string }>(
  requested: GraphOperation,
  variables: Record<string, unknown>,
  errors: readonly GraphQLFormattedError[],
  context: C,
  rules: Rules<C>,
) {
  const operation = operationOf(requested.document, requested.operationName);
  const defaults = (operation?.variableDefinitions ?? []).flatMap((v) =>
    v.defaultValue ? [[v.variable.name.value, valueFromASTUntyped(v.defaultValue)] as const] : [],
  );
  const values = { ...Object.fromEntries(defaults), ...variables };
  const found: { p: Problem; field: RootField; node?: FieldNode }[] = [];
  const elsewhere: GraphQLFormattedError[] = [];
  for (const { node, field } of rootFields(requested)) {
    if (found.length >= problemsMax) break;
    let object: string;
    try {
      object = rules.object(field.name, context);
    } catch (error) {
      if (error instanceof DomainError)
        return { status: error.status, errors: error.problems.map((p) => formatted(p, context.requestId, field)) };
      throw error;
    }
    const refusal = rules.elsewhere?.(field.name, context);
    if (refusal) elsewhere.push({ ...formatted(refusal, context.requestId, field), ...placeOf(node) });
    const more = (args: object) => rules.problems(field.name, args, context);
    // Only pages have arguments with other names in /v1.
    const named = operation?.operation === OperationTypeNode.SUBSCRIPTION ? undefined : asListed;
    const decoder = decoderFor(field, object, rules.accepted?.(field.name, context));
    found.push(...argumentProblems(node, field, values, object, { decoder, more, named }).map((p) => ({ p, field })));
  }
  const roots = rootFields(requested).map(({ field }) => field);
  for (const { node, field, object, named } of nestedFields(requested, roots)) {
    if (found.length >= problemsMax) break;
    const decoder = decoderFor(field, object, undefined);
    const problems = argumentProblems(node, field, values, object, { decoder, more: () => [], named });
    found.push(...problems.map((p) => ({ p, field, node })));
  }
  const first = found[0];
  // A typing error comes before what the caller's edition does not have, so that it is never hidden.
  if (!first) return elsewhere.length > 0 ? { status: 400, errors: [...errors, ...elsewhere] } : undefined;
  const others = errors.filter((e) => notAboutArguments.test(e.message));
  const unknown = errors.filter((e) => aboutUnknown.test(e.message));
  const told = new Set<string>();
  const own = found.slice(0, problemsMax).flatMap(({ p, field, node }) => {
    // An argument below the root has the place of its field, which tells it from others of the same name.
    const named = { ...formatted(p, context.requestId, field), ...(node && placeOf(node)) };
    const error = located(named, p, unknown);
    const key = JSON.stringify(error);
    return told.has(key) ? [] : (told.add(key), [error]);
  });
  return { status: catalogue[first.p.code][0], errors: [...own, ...others, ...elsewhere] };
}

/** Matches the library's messages for arguments and members of an input that do not exist; the name is in quotes. */
const aboutUnknown = /(?:^Unknown argument |\bField )"([^"]*)" (?:on field|is not defined by type) /;

/** An error of an unknown parameter with the place and the suggestion of the library's error for it, once each. */
function located(
  error: GraphQLFormattedError,
  { code, field }: Problem,
  unknown: GraphQLFormattedError[],
): GraphQLFormattedError {
  if (code !== 'parameter_unknown') return error;
  const i = unknown.findIndex(({ message }) => field?.endsWith(`.${aboutUnknown.exec(message)?.[1]}`));
  if (i < 0) return error;
  const [{ locations, message }] = unknown.splice(i, 1) as [GraphQLFormattedError];
  const suggestionAt = message.lastIndexOf(' Did you mean ');
  const suggestion = suggestionAt < 0 ? '' : message.slice(suggestionAt);
  return { ...error, message: error.message + suggestion, ...(locations && { locations }) };
}

/** Where a field is in its document. */
function placeOf({ loc }: FieldNode): Pick<GraphQLFormattedError, 'locations'> {
  if (!loc) return {};
  const { line, column } = getLocation(loc.source, loc.start);
  return { locations: [{ line, column }] };
}

/** Matches the library's messages for errors of a document that are not about arguments. */
const notAboutArguments = new RegExp(
  '^(Cannot query field|Unknown (fragment|type|directive)|Fragment |' +
    'Field "\\w+" (must not have|of type "[^"]+" must have) a selection|' +
    'Variable "\\$\\w+" is (not defined|never used))',
);

function extensionsOf(p: Problem, field?: RootField) {
  const path: readonly (string | number)[] = p.path ?? argumentPath(p.field);
  const type = field && inputOf(field);
  // A problem of the object's state may name a member that is no parameter.
  const isArgument =
    p.code === 'parameter_unknown' ||
    !field ||
    (type ? takes(type, path) : field.args.some(({ name }) => name === path[0]));
  return {
    code: p.code.toUpperCase(),
    httpStatus: catalogue[p.code][0],
    ...(path.length > 0 && isArgument && { argumentPath: type ? ['input', ...path] : path }),
    error: itemV1(p),
    docUrl: helpPath(p.code),
    ...(p.nearestUrl !== undefined && { nearestUrl: p.nearestUrl }),
  };
}

/** Whether an input type has the parameter at a path; below a scalar, such as metadata, every key is allowed. */
function takes(type: GraphQLInputType, path: readonly (string | number)[]): boolean {
  const [name, ...below] = path;
  if (name === undefined) return true;
  if (type instanceof GraphQLNonNull) return takes(type.ofType, path);
  if (type instanceof GraphQLList) return takes(type.ofType, typeof name === 'number' ? below : path);
  if (!(type instanceof GraphQLInputObjectType)) return true;
  const member = type.getFields()[name];
  return member !== undefined && takes(member.type, below);
}

const keyOf = (node: FieldNode): string => node.alias?.value ?? node.name.value;

/** The root fields that an operation selects, directly or through fragments. */
function rootFields(requested: GraphOperation): { node: FieldNode; field: RootField }[] {
  const { schema, document, operationName } = requested;
  const type = schema.getRootType(operationOf(document, operationName)?.operation ?? OperationTypeNode.QUERY);
  return rootFieldNodes(document, operationName).flatMap((node) => {
    const field = type?.getFields()[node.name.value];
    return field ? [{ node, field }] : [];
  });
}

/**
 * Restores our code of a limit error, which Apollo replaces by its own code for validation errors. Also cuts long names
 * and values, like the names of parameters.
 */
export function ownCode(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const original = error instanceof GraphQLError ? error.originalError : undefined;
  const own =
    formatted.extensions?.code === 'GRAPHQL_VALIDATION_FAILED' && original instanceof GraphQLError
      ? original.extensions.code
      : undefined;
  return {
    ...formatted,
    message: withoutLongNames(formatted.message),
    ...(own !== undefined && { extensions: { ...formatted.extensions, code: own } }),
  };
}
