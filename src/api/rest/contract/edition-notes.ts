import { editions } from '../../../editions/editions.js';
import { snake } from '../../../errors/problems.js';
import { acceptedOf } from '../../../operation/accepted.js';
import type { Operation } from '../../../operation/operation.js';
import type { Audience } from './audience.js';

type Number = 1 | 2;
const numbers = [1, 2] as const;

/** How the editions differ about one parameter, key or operation: the member `x-edition` of the contract. */
interface EditionDifference {
  /** The only edition that has it. */
  only?: Number;
  /** The editions that require it. Where both do, the contract requires it. */
  required?: Number[];
  /** The editions that require it or one of the other parameters with this list. */
  oneOf?: Partial<Record<Number, string[]>>;
  /** The values that an edition accepts, where these are fewer. */
  values?: Partial<Record<Number, readonly string[]>>;
}

/** What the editions' tables say about a parameter of an operation. */
export interface ParameterNote {
  /** All editions require it that the contract is for. */
  required: boolean;
  /** The values that are accepted; undefined when these are all values of the type. */
  values: readonly string[] | undefined;
  difference: EditionDifference | undefined;
  /** The difference in words, a sentence each. */
  sentences: string[];
}

/** A description together with the differences between the editions that it does not mention itself. */
export function withEditions(description: string, differences: readonly string[]): string {
  const own = differences.length > 0 ? description.replace(/^Edition [12]\.\s*/, '') : description;
  const mentioned = (sentence: string) =>
    own.includes(sentence.replace(/(?: only)?\.$/, '')) ||
    (sentence.startsWith('In Edition') && /[Ii]n Edition [12]:? (?:only|also)/.test(own));
  return [own, ...differences.filter((sentence) => !mentioned(sentence))].filter((each) => each !== '').join(' ');
}

/** A description without the sentences that say nothing to an audience: those about the other edition alone. */
export function inEdition(description: string, audience: Audience | undefined): string {
  if (!audience) return description;
  const other = new RegExp(`\\bEdition ${3 - audience.edition}\\b`);
  const own = new RegExp(`\\bEdition ${audience.edition}\\b`);
  const said = /^(?:(?:It is )?[Pp]art of |Required in )?Edition [12](?: only)?[.:]/;
  return description
    .split(/(?<=\.)\s+/)
    .filter((sentence) => !said.test(sentence) && (!other.test(sentence) || own.test(sentence)))
    .join(' ');
}

/**
 * What the editions say about a parameter of an operation, by its path in the form of /v1; undefined when the audience
 * does not have it.
 */
export function noteOfParameter(
  operation: Operation,
  path: string,
  audience: Audience | undefined,
): ParameterNote | undefined {
  const { name } = operation;
  const among = audience ? [audience.edition] : numbers;
  const difference: EditionDifference = {};
  const shown = among.filter((n) => !editions[n].withheld[name]?.some((each) => isWithin(path, each)));
  if (shown.length === 0) return undefined;
  if (shown.length < among.length) difference.only = shown[0]!;
  const choices = (n: Number) => (editions[n].required[name] ?? []).map((choice) => choice.split('|'));
  const required = among.filter((n) => choices(n).some((names) => names.length === 1 && isWithin(names[0]!, path)));
  if (required.length === 1) difference.required = required;
  for (const n of among) {
    const choice = choices(n).find((names) => names.length > 1 && names.includes(path));
    if (choice) difference.oneOf = { ...difference.oneOf, [n]: choice };
    const values = editions[n].values[name]?.[path];
    if (values) difference.values = { ...difference.values, [n]: values };
  }
  const each = among.map((n) => difference.values?.[n]);
  const all = each.every((values) => values !== undefined) ? [...new Set(each.flat() as string[])] : undefined;
  return {
    required: required.length === among.length,
    values: audience ? acceptedOf(operation, audience).values.get(path) : (operation.accepts?.[path] ?? all),
    difference: !audience && Object.keys(difference).length > 0 ? difference : undefined,
    sentences: audience ? choicesOf(difference, path) : sentencesOf(difference, path),
  };
}

/**
 * The difference of a key of an object, by the noun of the object and the path of the key; undefined when the audience
 * does not get it.
 */
export function noteOfKey(
  path: string,
  audience: Audience | undefined,
): (Pick<ParameterNote, 'difference' | 'sentences'> & { always: boolean }) | undefined {
  const [only, ...others] = numbers.filter((n) => editions[n].shown[path] === true);
  if (only === undefined || others.length > 0) return { difference: undefined, sentences: [], always: false };
  if (!audience) return { difference: { only }, sentences: [`Edition ${only} only.`], always: false };
  return only === audience.edition ? { difference: undefined, sentences: [], always: true } : undefined;
}

/** A parameter of a hash belongs to what is said about the hash, and a required member requires its hash. */
const isWithin = (path: string, outer: string): boolean => path === outer || path.startsWith(`${outer}.`);

/** Which parameters an audience may send in place of one that is required. */
const choicesOf = ({ oneOf = {} }: EditionDifference, path: string): string[] =>
  Object.values(oneOf).map((names) => `This or ${othersOf(names, path)} is required.`);

/** The other parameters of a choice, by their own names. */
const othersOf = (names: readonly string[], path: string): string =>
  names
    .filter((name) => name !== path)
    .map((name) => `\`${snake(name.split('.').at(-1)!)}\``)
    .join(' or ');

function sentencesOf({ only, required, oneOf, values }: EditionDifference, path: string): string[] {
  return [
    ...(only === undefined ? [] : [`Edition ${only} only.`]),
    ...(required ?? []).map((n) => `Required in Edition ${n}.`),
    ...Object.entries(oneOf ?? {}).map(([n, names]) => `Edition ${n} requires this or ${othersOf(names, path)}.`),
    ...Object.entries(values ?? {}).map(
      ([n, each]) =>
        `In Edition ${n} ${each.length > 1 ? 'one of' : 'only'} ${each.map((v) => `\`${v}\``).join(', ')}.`,
    ),
  ];
}
