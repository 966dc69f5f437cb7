import { GraphQLError } from 'graphql';
import { catalogue, type ProblemCode } from './catalogue.js';

/** Converts a name of the graph to the form of /v1 (snake case). */
export const snake = remembered((name) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
/** Converts a name of /v1 to the form of the graph (camel case). */
export const camel = remembered((name) => name.replace(/_([a-z0-9])/g, (_, c: string) => c.toUpperCase()));

/**
 * Caches a conversion. The schema has few names, used very often; names that clients invent must not fill the cache.
 */
function remembered(convert: (name: string) => string): (name: string) => string {
  const [namesMax, lengthMax] = [2_000, 60];
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const converted = convert(name);
    if (known.size >= namesMax) known.clear();
    if (name.length <= lengthMax) known.set(name, converted);
    return converted;
  };
}

/** The names of /v1 for the page arguments of the graph. */
export const listNames: ReadonlyMap<string, string> = new Map([
  ['first', 'limit'],
  ['last', 'limit'],
  ['after', 'starting_after'],
  ['before', 'ending_before'],
]);

/** One problem of a request. `field` is the object, a dot and the parameter's path in the form of /v1. */
export interface Problem {
  code: ProblemCode;
  field?: string | undefined;
  /** The path in the graph, if `field` does not determine it: `limit` of /v1 is `first` or `last` in the graph. */
  path?: readonly (string | number)[] | undefined;
  /**
   * What is wrong, in the form of `MessageText`. Each API makes its message from it, with `sentenceV1` or
   * `sentenceOfGraph`.
   */
  text: MessageText;
  /** The seconds after which the client may retry, where they are not those of the code. */
  retryAfter?: number | undefined;
  /** Further entries of the error's metadata, such as the alternatives to a missing document. */
  metadata?: Record<string, unknown> | undefined;
  /** Set where no index serves a combination of arguments of a list: the nearest one that an index serves. */
  nearest?: Nearest | 'unknown' | undefined;
  /** The address of that list in the explorer. */
  nearestUrl?: string | undefined;
}

/** What to change of the arguments of a list, so that an index serves it. */
export interface Nearest {
  without: readonly string[];
  /** Arguments with the values that they get. */
  set: Readonly<Record<string, unknown>>;
}

/**
 * The text of a message. Text that begins with a small letter is a predicate, such as `must be greater than zero`: the
 * parameter's name is added as its subject, and a full stop at the end. Any other text is a complete sentence. Each API
 * has its own text if the text contains names of parameters or enum values, because the APIs write these differently.
 */
export type MessageText = string | { v1: string; graph: string };

/** The longest name of a parameter that an answer repeats; clients may send names of any length. */
const fieldLengthMax = 100;

/**
 * The message for an optional parameter that is present and empty. For a required one the catalogue has the message.
 */
export const emptyOptional = 'is empty. Send a value, or leave it out.';

/** The default messages of problems that name a parameter: the parameter is their subject. */
const ofParameter: Partial<Record<ProblemCode, string>> = {
  parameter_missing: 'is required. Send it and try again.',
  parameter_invalid_empty: 'is empty. Retry with a valid value.',
  parameter_unknown: 'is not a parameter of this operation. Remove it and try again.',
};

/** A problem with the given message, or with the default message: its own for a parameter, or the catalogue's. */
export function problem(
  code: ProblemCode,
  field?: string,
  text?: MessageText,
  metadata?: Record<string, unknown>,
): Problem {
  // A client's own name is repeated in a sentence only if it is one.
  const named = field !== undefined && field.length <= fieldLengthMax && /^[\w[\]-]+(\.[\w[\]-]+)*$/.test(field);
  const byDefault = (named && ofParameter[code]) || catalogue[code][1];
  return { code, field: field && cut(field), text: text ?? byDefault, metadata };
}

/** Cuts text to 100 characters; the last one is then `…`. */
export function cut(text: string): string {
  if (text.length <= fieldLengthMax) return text;
  // `length` counts UTF-16 units, and a character has one or two of them.
  const characters = [...text.slice(0, 2 * (fieldLengthMax + 1))];
  if (characters.length <= fieldLengthMax) return text;
  return `${characters.slice(0, fieldLengthMax - 1).join('')}…`.toWellFormed();
}

/** A message that lists the values of a parameter, as /v1 and the graph name them. */
export function listedValues(stored: readonly string[], say: (listed: readonly string[]) => string): MessageText {
  return { v1: say(stored), graph: say(stored.map((value) => value.toUpperCase())) };
}

/** Whether a path ends with a bound of a range, such as `created.gte`, which is named with what it bounds. */
const isBound = (path: readonly (string | number)[]): boolean =>
  path.length > 1 && ['eq', 'gt', 'gte', 'lt', 'lte'].includes(String(path.at(-1)));

/** A problem's message on /v1: its subject is the last name of the parameter's path. */
export function sentenceV1({ field, text }: Problem): string {
  const steps = (field ?? 'The request').split('.');
  const map = steps.indexOf('metadata', 1);
  const subject =
    map > 0 ? steps.slice(map).join('.').replace(/\.$/, '') : steps.slice(isBound(steps.slice(1)) ? -2 : -1).join('.');
  return sentence(subject, typeof text === 'string' ? text : text.v1);
}

/** A problem's message on GraphQL: its subject is the last name in the path of arguments and input fields. */
export function sentenceOfGraph({ field, text, path = argumentPath(field) }: Problem): string {
  const last = path.findLastIndex((step) => typeof step === 'string');
  const places = path.slice(last + 1).map((place) => `[${place}]`);
  const name = path[last - 1] === 'metadata' || isBound(path) ? `${path[last - 1]}.${path[last]}` : path[last];
  // Without a path in the graph, the subject is the argument `input`, or the header with its own name.
  const subject = last < 0 ? (field && !/^[a-z_]+$/.test(field) ? field : 'input') : `${name}${places.join('')}`;
  return sentence(subject, typeof text === 'string' ? text : text.graph);
}

/** Parameters that the graph names otherwise than /v1 in camelCase: the path of the graph's name, and that of /v1. */
const otherNames: readonly (readonly [graph: string, v1: string])[] = [
  ['session.expires_in_seconds', 'session.expires_in'],
];
const pathsOnV1 = new Map(otherNames);
const pathsOfGraph = new Map(otherNames.map(([graph, v1]) => [v1, graph]));

/** The path of a parameter on /v1, from the names that it has in the graph, in snake_case. */
export const pathOnV1 = (path: string): string => pathsOnV1.get(path) ?? path;
/** The name of a parameter on /v1, from the path of the names that it has in the graph. */
export const nameOnV1 = (path: string): string => pathOnV1(path).split('.').at(-1)!;

/**
 * Members of the graph's `filter` that take what a field of the objects shows, by the filter whose values they are: an
 * enum, where /v1 and the older filter have their own. A list has one where its objects have such a field.
 */
export const shownFilters: ReadonlyMap<string, string> = new Map([
  ['method', 'paymentMethod'],
  ['eventType', 'types'],
]);

/** The path of a list's parameter on /v1, which has the members of `filter` as parameters, from that in the graph. */
export function filterOnV1(path: string): string {
  const [, name, rest = ''] = /^filter\.(\w+)(.*)$/s.exec(path) ?? [];
  if (name === undefined) return path;
  const shown = shownFilters.get(camel(name));
  return `${shown === undefined ? name : snake(shown)}${rest}`;
}

const graphNames: ReadonlyMap<string, string> = new Map([
  ['starting_after', 'after'],
  ['ending_before', 'before'],
  ['limit', 'first'],
]);

/**
 * The path of an argument in the graph, from a field name of /v1. The path omits the object, has list indexes as
 * numbers, and keeps the keys of metadata unchanged.
 */
export function argumentPath(field: string | undefined): (string | number)[] {
  const [, ...path] = (pathsOfGraph.get(field ?? '') ?? field)?.split('.') ?? [];
  const map = path.indexOf('metadata');
  const names = map < 0 ? path : path.slice(0, map + 1);
  const key = map < 0 ? [] : path.slice(map + 1);
  const steps = names.flatMap((name) => {
    const [step = '', ...places] = name.split(/[[\]]+/).filter((part) => part !== '');
    return [graphNames.get(step) ?? camel(step), ...places.map(Number)];
  });
  return [...steps, ...(key.length > 0 ? [key.join('.')] : [])];
}

function sentence(subject: string, text: string): string {
  if (!/^\p{Ll}/u.test(text)) return text;
  return `${subject} ${text}${text.endsWith('.') ? '' : '.'}`;
}

/** The most problems of one error: an answer must not be many times larger than its request, and no one reads more. */
export const problemsMax = 100;

/** The problems without those that say the same of the same parameter, such as of two empty values of a list. */
function distinct(problems: Problem[]): Problem[] {
  if (problems.length < 2) return problems;
  const told = new Map(problems.map((p) => [JSON.stringify([p.code, p.field, p.path, p.text, p.metadata]), p]));
  return told.size === problems.length ? problems : [...told.values()];
}

/**
 * The only error that the code throws on purpose. It contains all problems of one step, at most the first 100.
 * Its status is that of its first code. Spec: Errors.
 */
export class DomainError extends GraphQLError {
  readonly problems: Problem[];
  constructor(...problems: Problem[]) {
    const first = problems[0] ?? problem('service_fault');
    super(sentenceV1(first), { extensions: { code: first.code.toUpperCase() } });
    this.problems = distinct(problems).slice(0, problemsMax);
  }
  get status(): number {
    return catalogue[this.problems[0]?.code ?? 'service_fault'][0];
  }
}

/** The error object of /v1. Spec: Error object. */
export function errorV1(problems: Problem[]) {
  return {
    object: 'error',
    http_status_code: catalogue[problems[0]?.code ?? 'service_fault'][0],
    errors: problems.map(itemV1),
  };
}

/** One entry of the error object; the graph carries the same in `extensions.error`. */
export function itemV1(p: Problem) {
  const { code, field, metadata } = p;
  return {
    code,
    message: sentenceV1(p),
    metadata: { ...(field === undefined ? {} : { field_name: field }), ...metadata },
  };
}

/** How long a client should wait before it retries, in seconds, for the codes that allow a retry. */
export function retryAfter(problems: Problem[]): number | undefined {
  const [first] = problems;
  if (first?.retryAfter !== undefined) return first.retryAfter;
  const code = first?.code;
  return code === 'idempotency_key_in_use' || code === 'service_unavailable' || code === 'rate_limit_exceeded'
    ? 1
    : undefined;
}
