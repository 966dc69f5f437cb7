import {
  type GraphQLArgument,
  type GraphQLInputField,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import type { Edition } from '../editions/edition.js';
import type { Operation } from './operation.js';
import { argumentPath, camel, emptyOptional, type Problem, problem, problemsMax, snake } from '../errors/problems.js';
import { editions } from '../editions/editions.js';
import { type CallerKind, mustBeOneOf, withheldText } from './accepted.js';
import { amountProblems } from './amount-problems.js';
import { textProblems } from './text-problems.js';
import { AccountScope, onlyOfPlatforms } from '../types/account-scope.js';
import { isBlank, isEmpty } from '../types/empty.js';

/**
 * The problems of coerced arguments that the types do not detect: parameters and values that the edition does not have,
 * text that cannot be stored, and the operation's own rules.
 */
export function inputProblems(operation: Operation, args: object, caller: CallerKind): Problem[] {
  const { name, object, access, rules, scopeOfPlatforms, textLengthMax } = operation;
  const input = ('input' in args ? args.input : args) as Record<string, unknown>;
  const problems = editionProblems(name, object, input, editions[caller.edition]);
  if (scopeOfPlatforms && caller.kind !== 'platform' && input.scope === AccountScope.DESCENDANTS)
    problems.push(problem('parameter_invalid', `${object}.scope`, onlyOfPlatforms));
  // Of a parameter that the edition does not have, nothing else is judged.
  problems.push(...remaining(problems, textProblems(input, object, textLengthMax)));
  problems.push(...remaining(problems, nullProblems(operation, input)));
  problems.push(...remaining(problems, access === 'read' ? emptyIds(object, input) : amountProblems(input, object)));
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
      problems.push(problem('parameter_unknown', `${object}.${path}`, withheldText(edition.number)));
    }
  }
  for (const choice of edition.required[name] ?? []) {
    const paths = choice.split('|');
    const found = paths.map((path) => at(input, path));
    if (!found.every(isBlank)) continue;
    const given = found.findIndex((value) => value !== undefined);
    const oneOf = (names: string[]) => `One of ${names.join(' and ')} is required.`;
    const graphName = (path: string) => path.split('.').map(camel).join('.');
    const message = paths.length > 1 ? { v1: oneOf(paths), graph: oneOf(paths.map(graphName)) } : undefined;
    problems.push(
      problem(
        given < 0 ? 'parameter_missing' : 'parameter_invalid_empty',
        `${object}.${paths[Math.max(given, 0)]}`,
        message,
      ),
    );
  }
  for (const [path, allowed] of Object.entries(edition.values[name] ?? {})) {
    const value = at(input, path);
    const given = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
    if (given.some((v) => !allowed.includes(v)))
      problems.push(problem('parameter_invalid', `${object}.${path}`, mustBeOneOf(allowed)));
  }
  return problems;
}

/** The problems of parameters that may be absent and neither null nor empty: nothing could be stored for them. */
function nullProblems({ object, limits = {} }: Operation, input: Record<string, unknown>): Problem[] {
  return Object.entries(limits).flatMap(([path, { notNull }]) => {
    const value = notNull ? at(input, path) : undefined;
    return value === null || (typeof value === 'string' && isEmpty(value))
      ? [problem('parameter_invalid_empty', `${object}.${path}`, emptyOptional)]
      : [];
  });
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

/**
 * The problems of blank members of lists among the arguments of a list, under their names of /v1, which have no index.
 */
export function blankMembers(fields: readonly GraphQLArgument[], values: Record<string, unknown>, object: string) {
  const problems: Problem[] = [];
  for (const { name, type } of fields)
    if (Array.isArray(values[name])) findEmptyWithin(type, values[name], () => `${object}.${snake(name)}`, problems);
  return problems.map((p) => ({ ...p, field: p.field?.replace(/\[\d+\]$/, ''), path: argumentPath(p.field) }));
}

/**
 * The problems of ids that are empty. Without an id, a list has the objects of all accounts; a client that failed to
 * find the id of an account would get them.
 */
export function emptyIds(object: string, args: Record<string, unknown>): Problem[] {
  return Object.entries(args).flatMap(([name, value]) =>
    /Ids?$/.test(name) && [value].flat().includes('')
      ? [problem('parameter_invalid_empty', `${object}.${snake(name)}`, emptyOptional)]
      : [],
  );
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
      findEmpty('', type.ofType as GraphQLInputType, member, () => `${path()}[${i}]`, problems);
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
 * The problem of an account that is named by nothing. Without a name the acting account is meant; a client that failed
 * to find the name of a user would get what sees all users of its platform.
 */
export function emptyAccount(object: string, accountId: string | null | undefined): Problem[] {
  const problems = accountId === '' || accountId === null;
  return problems ? [problem('parameter_invalid_empty', `${object}.account_id`)] : [];
}
