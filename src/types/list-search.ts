import { Field, InputType } from 'type-graphql';
import { type MessageText, type Problem, problem, snake } from '../errors/problems.js';
import { notServed } from './list-order.js';

@InputType({
  description:
    'Only objects with this key in their metadata, in the order of its values, and then the newest first. It ' +
    'excludes every other filter and `orderBy`.',
})
export class MetadataFilter {
  @Field(() => String, { description: 'The key, such as `order`.' })
  key: string;
  @Field(() => String, { nullable: true, description: 'Only objects whose metadata has this value for the key.' })
  value?: string | null;
}

/** The description of the argument `search`, of which a list says what it searches in. */
export const searchText = (within: string): string =>
  `Only objects with these words, one after the other, in ${within}, or at the beginning of a value of their ` +
  'metadata. ' +
  'The last word may be incomplete. Case, accents and punctuation do not count, and neither does what follows ' +
  'the first 32 characters. The objects are in the order of the text that was found, and then the newest ' +
  'first. It excludes every other filter and `orderBy`.';

/** The longest text to search for, in characters. */
export const searchLengthMax = 100;
/** The limit of the argument `search`. */
export const searchLimits = { search: { maxLength: searchLengthMax } };

/** A character that `search_text` in the database keeps: it is neither punctuation nor the accent of another one. */
const kept = new RegExp(
  String.raw`[^\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u0300-\u036f\u2000-\u206f` +
    String.raw`\u3000-\u3004\u3008-\u3020\ufe50-\ufe6b]`,
);
export const hasWord = (text: string): boolean => kept.test(text.normalize('NFKD'));

/** The argument by which a page searches, if it does. */
export function searchOf(filters: Readonly<Record<string, unknown>>): 'search' | 'metadata' | undefined {
  if ('search' in filters) return 'search';
  return 'metadata.key' in filters ? 'metadata' : undefined;
}

/** The problems of a search: what it searches for, and the arguments that exclude it. */
export function searchProblems(object: string, args: object, filters: Readonly<Record<string, unknown>>): Problem[] {
  const invalid = (name: string, text: MessageText) =>
    problem('parameter_invalid', `${object}.${name.split('.').map(snake).join('.')}`, text);
  const { metadata, orderBy } = args as { metadata?: MetadataFilter | null; orderBy?: unknown };
  if (metadata && !metadata.key) return [invalid('metadata.key', 'must not be empty')];
  const by = searchOf(filters);
  if (!by) return [];
  const text = filters.search;
  const problems: Problem[] = [];
  if (typeof text === 'string' && [...text].length > searchLengthMax)
    problems.push(invalid('search', `must have at most ${searchLengthMax} characters`));
  else if (typeof text === 'string' && !hasWord(text))
    problems.push(invalid('search', 'must contain a letter or a digit'));
  const others = Object.keys(filters).filter((name) => name !== by && name.split('.')[0] !== by);
  if (orderBy != null) others.push('orderBy');
  for (const name of others)
    problems.push(notServed(object, name, `cannot be combined with ${by}. Leave out one of them.`));
  return problems;
}
