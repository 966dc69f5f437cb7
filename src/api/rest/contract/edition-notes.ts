import { editions } from '../../../editions/editions.js';
import { snake } from '../../../errors/problems.js';

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
  /** Both editions require it. */
  required: boolean;
  /** The values that any edition accepts; undefined when an edition accepts all. */
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
    (sentence.startsWith('In Edition') && /[Ee]dition [12]: only/.test(own));
  return [own, ...differences.filter((sentence) => !mentioned(sentence))].filter((each) => each !== '').join(' ');
}

/** The difference of a parameter of an operation, by its path in the form of /v1. */
export function noteOfParameter(operation: string, path: string): ParameterNote {
  const difference: EditionDifference = {};
  const shown = numbers.filter((n) => !editions[n].withheld[operation]?.some((name) => isWithin(path, name)));
  if (shown.length === 1) difference.only = shown[0]!;
  const choices = (n: Number) => (editions[n].required[operation] ?? []).map((choice) => choice.split('|'));
  const required = numbers.filter((n) => choices(n).some((names) => names.length === 1 && isWithin(names[0]!, path)));
  if (required.length === 1) difference.required = required;
  for (const n of numbers) {
    const choice = choices(n).find((names) => names.length > 1 && names.includes(path));
    if (choice) difference.oneOf = { ...difference.oneOf, [n]: choice };
    const values = editions[n].values[operation]?.[path];
    if (values) difference.values = { ...difference.values, [n]: values };
  }
  const values = numbers.map((n) => difference.values?.[n]);
  const all = values.every((each) => each !== undefined) ? [...new Set(values.flat() as string[])] : undefined;
  return {
    required: required.length === 2,
    values: all,
    difference: Object.keys(difference).length > 0 ? difference : undefined,
    sentences: sentencesOf(difference, path),
  };
}

/** The difference of a key of an object, by the noun of the object and the path of the key. */
export function noteOfKey(path: string): Pick<ParameterNote, 'difference' | 'sentences'> {
  const [only, ...others] = numbers.filter((n) => editions[n].shown[path] === true);
  if (only === undefined || others.length > 0) return { difference: undefined, sentences: [] };
  return { difference: { only }, sentences: [`Edition ${only} only.`] };
}

/** A parameter of a hash belongs to what is said about the hash, and a required member requires its hash. */
const isWithin = (path: string, outer: string): boolean => path === outer || path.startsWith(`${outer}.`);

function sentencesOf({ only, required, oneOf, values }: EditionDifference, path: string): string[] {
  const own = path.split('.').at(-1)!;
  return [
    ...(only === undefined ? [] : [`Edition ${only} only.`]),
    ...(required ?? []).map((n) => `Required in Edition ${n}.`),
    ...Object.entries(oneOf ?? {}).map(([n, names]) => {
      const others = names.map((name) => name.split('.').at(-1)!).filter((name) => name !== own);
      return `Edition ${n} requires this or ${others.map((name) => `\`${snake(name)}\``).join(' or ')}.`;
    }),
    ...Object.entries(values ?? {}).map(
      ([n, each]) =>
        `In Edition ${n} ${each.length > 1 ? 'one of' : 'only'} ${each.map((v) => `\`${v}\``).join(', ')}.`,
    ),
  ];
}
