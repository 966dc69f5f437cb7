import {
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLSchema,
  type GraphQLResolveInfo,
  isObjectType,
  Kind,
  type SelectionNode,
} from 'graphql';
import type { Context } from './context.js';
import type { Edition } from '../editions/edition.js';
import { writeEnvelopeOf, refuseReuse, replay } from './idempotency.js';
import { listMembersFault, listMembersMax } from '../types/pagination.js';
import { denied, type Permission } from '../auth/permissions.js';
import type { Operation } from './operation.js';
import {
  camel,
  listedValues,
  listNames,
  type Problem,
  problem,
  problemsMax,
  DomainError,
  snake,
} from '../request/problems.js';
import { isEmpty } from '../types/empty.js';

const textLengthMaxDefault = 5_000;

/**
 * Wraps the resolver of every root field with the checks of its operation, once, at boot. Throws an error that names a
 * root field which no resource declares as an operation, or an operation without a root field.
 */
export function guard(schema: GraphQLSchema, operations: ReadonlyMap<string, Operation>): void {
  const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
  for (const name of operations.keys())
    if (!fields[name]) throw new Error(`the operation ${name} is declared and is no root field`);
  for (const [name, field] of Object.entries(fields)) {
    const operation = operations.get(name);
    if (!operation) throw new Error(`the root field ${name} is declared as no operation`);
    if (!field.resolve) throw new Error(`the root field ${name} has no resolver`);
    field.resolve = guarded(operation, field.resolve, operation.access === 'write' ? field.args : []);
  }
  guardEdges(schema, operations);
}

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
      if (list === undefined || !resolve) continue;
      field.extensions = { ...field.extensions, list };
      field.resolve = (source, args, context: Context, info) => {
        checkEdge(field, args, context);
        return resolve(source, args, context, info);
      };
    }
  }
}

/** Refuses filters of an edge that the caller's edition does not have. */
export function checkEdge(
  { extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>,
  args: Record<string, unknown>,
  { edition }: Pick<Context, 'edition'>,
): void {
  const list = extensions.list as Operation | undefined;
  const problems = list === undefined ? [] : editionProblems(list.name, list.object, args, edition);
  if (problems.length > 0) throw new DomainError(...problems);
}

/** Wraps the resolver of one operation: checks permission and input, and gives a write its idempotency key. */
export function guarded(
  operation: Operation,
  resolve: GraphQLFieldResolver<unknown, Context>,
  required: readonly GraphQLArgument[] = [],
): GraphQLFieldResolver<unknown, Context> {
  return async (source, args, context, info) => {
    check(operation, args, context, required);
    if (operation.access === 'read') return resolve(source, args, context, info);
    if (context.idempotencyKey !== undefined && info && mutationFields(info) > 1)
      throw new DomainError(problem('idempotency_key_ambiguous', 'Idempotency-Key'));
    context.wrote = false;
    context.envelope = writeEnvelopeOf(context, operation, args);
    try {
      const answer = await resolve(source, args, context, info);
      // A mutation that changed nothing stored no answer; but an earlier request with other content may have used its
      // key.
      if (context.idempotencyKey !== undefined && !context.wrote) await refuseReuse(context, operation);
      return answer;
    } catch (error) {
      if (error instanceof DomainError) return replay(context, operation, error);
      throw error;
    }
  };
}

/** Refuses a caller without permission, and arguments that the types allow and the edition does not. */
export function check(
  operation: Operation,
  args: Record<string, unknown>,
  context: Pick<Context, 'caller' | 'edition'>,
  required: readonly GraphQLArgument[] = [],
): void {
  permitField(context, operation);
  const empty = emptyRequired(required, args, operation.object);
  const problems = [...empty, ...remaining(empty, inputProblems(operation, args, context.edition))];
  if (problems.length > 0) throw new DomainError(...problems);
}

/** Refuses a caller that may not call this operation of /v1 at all, before any check of the input. */
export function permit(context: Pick<Context, 'caller' | 'edition'>, permission: Permission): void {
  // An operation of the other edition does not exist for this caller.
  if (permission.editions && !permission.editions.includes(context.edition.number))
    throw new DomainError(problem('route_missing'));
  permitCaller(context, permission);
}

/**
 * Refuses a caller that may not call this root field. Lists exist in every edition of the graph; where /v1 has no such
 * list, the list is empty, like an edge.
 */
export function permitField(context: Pick<Context, 'caller' | 'edition'>, permission: Permission): void {
  if (permission.list) permitCaller(context, permission);
  else permit(context, permission);
}

function permitCaller(context: Pick<Context, 'caller'>, permission: Permission): void {
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

/**
 * The problems of coerced arguments that the types do not detect: parameters and values that the edition does not have,
 * text that cannot be stored, and the operation's own rules.
 */
export function inputProblems(
  { name, object, rules, textLengthMax }: Operation,
  args: object,
  edition: Edition,
): Problem[] {
  const input = ('input' in args ? args.input : args) as Record<string, unknown>;
  const problems = [...textProblems(input, object, textLengthMax), ...editionProblems(name, object, input, edition)];
  return [...problems, ...remaining(problems, rules?.(input) ?? [])];
}

/** The problems of parameters and values that the edition does not have, and of required parameters that are absent. */
export function editionProblems(
  name: string,
  object: string,
  input: Record<string, unknown>,
  edition: Edition,
): Problem[] {
  const problems: Problem[] = [];
  for (const path of edition.withheld[name] ?? []) {
    if (at(input, path) !== undefined) {
      problems.push(problem('parameter_unknown', `${object}.${path}`, 'is not a parameter of this edition'));
    }
  }
  for (const choice of edition.required[name] ?? []) {
    const paths = choice.split('|');
    const found = paths.map((path) => at(input, path));
    if (!found.every(isBlank)) continue;
    const given = found.findIndex((value) => value !== undefined);
    const oneOf = (names: string[]) => `One of ${names.join(' and ')} is required.`;
    const graphName = (path: string) => path.split('.').map(camel).join('.');
    const said = paths.length > 1 ? { v1: oneOf(paths), graph: oneOf(paths.map(graphName)) } : undefined;
    problems.push(
      problem(
        given < 0 ? 'parameter_missing' : 'parameter_invalid_empty',
        `${object}.${paths[Math.max(given, 0)]}`,
        said,
      ),
    );
  }
  for (const [path, allowed] of Object.entries(edition.values[name] ?? {})) {
    const value = at(input, path);
    const given = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
    if (given.some((v) => !allowed.includes(v)))
      problems.push(
        problem(
          'parameter_invalid',
          `${object}.${path}`,
          listedValues(
            allowed,
            (listed) => `must be ${listed.length > 1 ? 'one of ' : ''}${listed.join(', ')} in this edition`,
          ),
        ),
      );
  }
  return problems;
}

/** The problems of required values that are empty. GraphQL accepts an empty text or object as a value. */
export function emptyRequired(
  fields: readonly (GraphQLArgument | GraphQLInputField)[],
  values: Record<string, unknown>,
  path: string,
): Problem[] {
  const problems: Problem[] = [];
  for (const { name, type } of fields)
    findEmpty(name, type, values[name], name === 'input' ? () => path : () => `${path}.${snake(name)}`, problems);
  return problems;
}

/** Here and below, a path is a function, because only a problem needs the text of the path, and problems are rare. */
function findEmpty(name: string, type: GraphQLInputType, value: unknown, path: () => string, problems: Problem[]) {
  if (value === undefined || value === null) return;
  // An empty `input` is an operation without parameters.
  if (name !== 'input' && type instanceof GraphQLNonNull && isEmpty(value))
    problems.push(problem('parameter_invalid_empty', path()));
  else findEmptyWithin(type, value, path, problems);
}

/** Finds the empty required values inside an object, or inside the objects of a list. */
function findEmptyWithin(type: GraphQLInputType, value: unknown, path: () => string, problems: Problem[]): void {
  if (value === null || value === undefined) return;
  if (type instanceof GraphQLNonNull) findEmptyWithin(type.ofType as GraphQLInputType, value, path, problems);
  else if (type instanceof GraphQLList)
    for (const [i, member] of (value as unknown[]).entries())
      findEmptyWithin(type.ofType as GraphQLInputType, member, () => `${path()}[${i}]`, problems);
  else if (type instanceof GraphQLInputObjectType) {
    const fields = type.getFields();
    for (const [name, member] of Object.entries(value))
      if (fields[name]) findEmpty(name, fields[name].type, member, () => `${path()}.${snake(name)}`, problems);
  }
}

function at(input: Record<string, unknown>, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[camel(name)], input);
}

/** The further problems that are not about a parameter that a reported problem already covers. */
export function remaining(reported: readonly Problem[], more: readonly Problem[]): Problem[] {
  if (reported.length === 0 || more.length === 0) return [...more];
  const refused = reported.slice(0, problemsMax).map(({ field = '' }) => ({ field, members: `${field}.` }));
  const rest: Problem[] = [];
  for (const p of more) {
    // An error holds at most `problemsMax` problems.
    if (reported.length + rest.length >= problemsMax) break;
    const { field = '' } = p;
    const [members, entries] = [`${field}.`, `${field}[`];
    const about = refused.some(
      (one) =>
        one.field === field ||
        one.field.startsWith(members) ||
        one.field.startsWith(entries) ||
        field.startsWith(one.members),
    );
    if (!about) rest.push(p);
  }
  return rest;
}

/**
 * Joins problems with the further ones that are about other parameters. If a further problem says that a parameter is
 * missing, an empty value of that parameter gets the message for a required parameter.
 */
export function joined(reported: readonly Problem[], more: readonly Problem[]): Problem[] {
  const required = new Set(more.filter(({ code }) => code === 'parameter_missing').map(({ field }) => field));
  const named = reported.map((p) =>
    p.code === 'parameter_invalid_empty' && required.has(p.field) ? { ...problem(p.code, p.field), path: p.path } : p,
  );
  return [...named, ...remaining(reported, more)];
}

/**
 * Whether a value is empty, or is an object whose members are all blank: each member is optional, and "" unsets one.
 */
function isBlank(value: unknown): boolean {
  return isEmpty(value) || (typeof value === 'object' && Object.values(value as object).every(isBlank));
}

/**
 * The problems of text and lists that no argument may contain, whatever its type: PostgreSQL refuses NUL, UTF-8 has no
 * lone surrogates, and the limits here hold for every text and list. Without this check, PostgreSQL's error would
 * become a 500.
 */
export function textProblems(value: unknown, path: string, lengthMax = textLengthMaxDefault): Problem[] {
  const problems: Problem[] = [];
  findText(value, () => path, false, { problems, lengthMax });
  return problems;
}

/** The problems of a text so far, and the greatest length of a text. */
interface TextCheck {
  problems: Problem[];
  lengthMax: number;
}

function findText(value: unknown, path: () => string, asWritten: boolean, check: TextCheck): void {
  const { problems, lengthMax } = check;
  if (problems.length >= problemsMax) return;
  if (typeof value === 'string') {
    const fault = textFault(value, lengthMax);
    if (fault !== undefined) problems.push(problem('parameter_invalid', path(), fault));
  } else if (Array.isArray(value)) {
    if (value.length > listMembersMax) problems.push(problem('parameter_invalid', path(), listMembersFault));
    else for (const [i, member] of value.entries()) findText(member, () => `${path()}[${i}]`, asWritten, check);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      // The client chooses the keys of metadata, so they keep their spelling, and are checked like any other text.
      const within = () => `${path()}.${asWritten ? name : (listNames[name] ?? snake(name))}`;
      if (asWritten) findText(name, within, true, check);
      findText(member, within, asWritten || name === 'metadata', check);
    }
  }
}

function textFault(value: string, lengthMax: number): string | undefined {
  if (value.includes('\u0000')) return 'contains the character NUL';
  if (!value.isWellFormed()) return 'is not well-formed Unicode';
  if (value.length > lengthMax && [...value].length > lengthMax) return `is longer than ${lengthMax} characters`;
  return undefined;
}
