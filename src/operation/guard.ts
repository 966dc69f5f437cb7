import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  type GraphQLResolveInfo,
  isInputObjectType,
  isObjectType,
  Kind,
  type SelectionNode,
} from 'graphql';
import type { Context } from './context.js';
import { type Defaults, writeEnvelopeOf, refuseReuse, replay } from './idempotency.js';
import { amountProblems, amountsWithoutCurrency } from './amount-problems.js';
import { withoutBlankTexts } from './blank-texts.js';
import { blankMembers, editionProblems, emptyIds, emptyRequired, inputProblems, remaining } from './input-problems.js';
import { denied, deniedToSession, type Permission } from '../auth/permissions.js';
import type { Operation } from './operation.js';
import { textProblems } from './text-problems.js';
import { type Problem, problem, DomainError, snake } from '../errors/problems.js';

/**
 * Wraps the resolver of every root field with the checks of its operation, once, at boot. Throws an error that names a
 * root field which no resource declares as an operation, an operation without a root field, or an amount whose currency
 * nothing says.
 */
export function guard(schema: GraphQLSchema, operations: ReadonlyMap<string, Operation>): void {
  const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
  for (const name of operations.keys())
    if (!fields[name])
      throw new Error(`the operation ${name} is declared, but the schema has no root field of this name`);
  for (const [name, field] of Object.entries(fields)) {
    const operation = operations.get(name);
    if (!operation) throw new Error(`the root field ${name} is not declared as an operation`);
    if (!field.resolve) throw new Error(`the root field ${name} has no resolver`);
    const declared = argumentsV1(field);
    const [amount] = operation.access === 'write' && !operation.currencyOf ? amountsWithoutCurrency(declared) : [];
    if (amount !== undefined)
      throw new Error(`the operation ${name} has no currency for ${amount}, and declares no currencyOf`);
    field.resolve = guarded(operation, field.resolve, declared);
  }
  guardEdges(schema, operations);
}

/**
 * The arguments of a root field as /v1 and its resolver have them. The graph may have an input of another shape, which
 * is brought to this one before the guard.
 */
export const argumentsV1 = ({ args, extensions }: Pick<GraphQLField<unknown, unknown>, 'args' | 'extensions'>) =>
  (extensions.argumentsV1 as readonly GraphQLArgument[] | undefined) ?? args;

/**
 * Finds the root list of each edge. An edge that returns pages of the same type as a root list has the same filters, so
 * the edition's rules for the list apply to the edge, with the same domain errors.
 */
function guardEdges(schema: GraphQLSchema, operations: ReadonlyMap<string, Operation>): void {
  const lists = new Map<string, Operation>();
  for (const { name, type } of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const page = getNamedType(type).name;
    if (page.endsWith('Connection') && !lists.has(page)) lists.set(page, operations.get(name)!);
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type === schema.getQueryType() || type === schema.getMutationType()) continue;
    for (const field of Object.values(type.getFields())) {
      const list = lists.get(getNamedType(field.type).name);
      const resolve = field.resolve as GraphQLFieldResolver<unknown, Context> | undefined;
      if (!resolve || (list === undefined && field.args.length === 0)) continue;
      if (list) field.extensions = { ...field.extensions, list };
      field.resolve = (source, args, context: Context, info) => {
        checkEdge(field, args, context);
        return resolve(source, args, context, info);
      };
    }
  }
}

/**
 * Refuses an edge to objects that a session cannot read, texts that no argument may contain, and filters that the
 * caller's edition does not have.
 */
export function checkEdge(
  { name, extensions, args: declared }: Pick<GraphQLField<unknown, unknown>, 'name' | 'extensions' | 'args'>,
  args: Record<string, unknown>,
  { caller, edition }: Pick<Context, 'caller' | 'edition'>,
): void {
  const list = extensions.list as Operation | undefined;
  const reason = list && deniedToSession(caller, list);
  if (reason !== undefined) throw new DomainError(problem('permission_denied', undefined, reason));
  const problems = list ? editionProblems(list.name, list.object, args, edition) : [];
  problems.push(...remaining(problems, textProblems(args, list?.object ?? snake(name))));
  if (list) problems.push(...blankMembers(declared, args, list.object), ...emptyIds(list.object, args));
  if (problems.length > 0) throw new DomainError(...problems);
}

/** Wraps the resolver of one operation: checks permission and input, and gives a write its idempotency key. */
export function guarded(
  operation: Operation,
  resolve: GraphQLFieldResolver<unknown, Context>,
  declared: readonly GraphQLArgument[] = [],
): GraphQLFieldResolver<unknown, Context> {
  if (operation.access === 'read')
    return (source, args, context, info) => {
      check(operation, args, context, declared);
      return resolve(source, args, context, info);
    };
  const defaults = defaultsOf(operation.object, declared);
  return async (source, args, context, info) => {
    const cleared = withoutBlankTexts(declared, args);
    check(operation, cleared, context, declared);
    if (context.idempotencyKey !== undefined && info && mutationFields(info) > 1)
      throw new DomainError(problem('idempotency_key_ambiguous', 'Idempotency-Key'));
    context.scope.stayOnPrimary();
    context.wrote = false;
    context.envelope = writeEnvelopeOf(context, operation, args, defaults);
    const answer = await answerOf(operation, context, async () => {
      await checkStored(operation, cleared, context);
      return resolve(source, cleared, context, info);
    });
    await context.scope.noteWrite();
    return answer;
  };
}

/**
 * Refuses amounts that the currency of the stored object cannot have. The resolver reads the same object, so this costs
 * no statement; it also refuses an object that is missing.
 */
async function checkStored(
  { currencyOf, object }: Operation,
  { input }: Record<string, unknown>,
  { scope }: Context,
): Promise<void> {
  for (const [parameter, table] of Object.entries(currencyOf ?? {})) {
    const row = await scope.find(table, (input as Record<string, string | null | undefined>)[parameter]);
    const problems = row ? amountProblems(input, object, (row as { currency: string }).currency) : [];
    if (problems.length > 0) throw new DomainError(...problems);
  }
}

/** The answer of a write, or the one that is stored under its idempotency key. */
async function answerOf(operation: Operation, context: Context, write: () => Promise<unknown>): Promise<unknown> {
  try {
    const answer = await write();
    // A mutation that changed nothing stored no answer; but an earlier request with other content may have used its
    // key.
    if (context.idempotencyKey !== undefined && !context.wrote) await refuseReuse(context, operation);
    return answer;
  } catch (error) {
    if (error instanceof DomainError) return replay(context, operation, error);
    throw error;
  }
}

/** The default values that the input of a mutation declares, by the paths of the parameters. */
function defaultsOf(object: string, args: readonly GraphQLArgument[]): Defaults {
  const inputs = args.flatMap(({ type }) => {
    const named = getNamedType(type);
    return isInputObjectType(named) ? Object.values(named.getFields()) : [];
  });
  return Object.fromEntries(
    inputs.flatMap(({ name, defaultValue }) =>
      defaultValue === undefined ? [] : [[`${object}.${snake(name)}`, defaultValue]],
    ),
  );
}

/**
 * Runs the guarded resolver of a root field without a GraphQL document, as /v1 and the operator do. Throws an error for
 * a field without a resolver.
 */
export function run(
  { name, resolve }: Pick<GraphQLField<unknown, Context>, 'name' | 'resolve'>,
  args: object,
  context: Context,
): unknown {
  if (!resolve) throw new Error(`the root field ${name} has no resolver`);
  // Resolvers of root fields do not read the document, and the guard reads it only where there is one.
  return resolve(undefined, args, context, undefined as never);
}

/** Refuses a caller without permission, and arguments that the types allow and the edition does not. */
export function check(
  operation: Operation,
  args: Record<string, unknown>,
  context: Pick<Context, 'caller' | 'edition'>,
  declared: readonly GraphQLArgument[] = [],
): void {
  permitField(context, operation);
  const { access, object } = operation;
  const empty = access === 'write' ? emptyRequired(declared, args, object) : blankMembers(declared, args, object);
  const problems = [...empty, ...remaining(empty, inputProblems(operation, args, context.caller))];
  if (problems.length > 0) throw new DomainError(...problems);
}

/** Refuses a caller that may not call this operation of /v1 at all, before any check of the input. */
export function permit(context: Pick<Context, 'caller' | 'edition'>, permission: Permission): void {
  // The path of an operation of the other edition does not exist for this caller.
  if (permission.editions && !permission.editions.includes(context.edition.number))
    throw new DomainError(problem('route_missing', undefined, ofOtherEdition(permission)));
  permitCaller(context, permission);
}

/** The problem of a root field that only the other edition has; undefined for a list, which is empty there. */
export function elsewhere(
  { edition }: Pick<Context, 'edition'>,
  operation: Pick<Operation, 'name' | 'object' | 'editions' | 'list'>,
): Problem | undefined {
  const { list, editions } = operation;
  if (list || !editions || editions.includes(edition.number)) return undefined;
  return problem('route_missing', undefined, ofOtherEdition(operation));
}

/** The refusal of an operation that only other editions have. */
function ofOtherEdition({ name, object, editions = [] }: Pick<Operation, 'object' | 'editions'> & { name?: string }) {
  const only = `part of Edition ${editions.join(', ')} only.`;
  const objects = `${object.charAt(0).toUpperCase()}${object.slice(1).replaceAll('_', ' ')}s`;
  const v1 = `${objects} are ${only} Use a key of an account of it.`;
  return name === undefined ? v1 : { v1, graph: `\`${name}\` is ${only}` };
}

/**
 * Refuses a caller that may not call this root field. Lists exist in every edition of the graph; where /v1 has no such
 * list, the list is empty, like an edge.
 */
function permitField(context: Pick<Context, 'caller' | 'edition'>, permission: Permission): void {
  if (permission.list) permitCaller(context, permission);
  else permit(context, permission);
}

/** Refuses a caller whose account, mode, key or session may not call an operation. */
export function permitCaller(context: Pick<Context, 'caller'>, permission: Permission): void {
  const reason = denied(context.caller, permission);
  if (reason !== undefined) throw new DomainError(problem('permission_denied', undefined, reason));
}

/** How many mutation fields an operation selects, also through fragments; `__typename` does not count. */
export function mutationFields({ operation, fragments }: Pick<GraphQLResolveInfo, 'operation' | 'fragments'>): number {
  const count = (selections: readonly SelectionNode[]): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + (selection.name.value === '__typename' ? 0 : 1);
      const inner = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection;
      return sum + (inner ? count(inner.selectionSet.selections) : 0);
    }, 0);
  return count(operation.selectionSet.selections);
}
