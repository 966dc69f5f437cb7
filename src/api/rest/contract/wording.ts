import { type GraphQLSchema, isEnumType } from 'graphql';
import { snake } from '../../../errors/problems.js';
import { type Route, routes } from '../../../resources/registry.js';

/** A name as separate words: `createConnectedUser` and `balance_transaction` alike. */
export const wordsOf = (name: string): string[] => snake(name).split('_');

/** A name as a type of generated clients, such as `BalanceTransaction`. */
export const pascal = (name: string): string =>
  wordsOf(name)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const withArticle = (words: readonly string[]): string =>
  `${/^[aeio]/.test(words[0] ?? '') ? 'an' : 'a'} ${words.join(' ')}`;

/** The object whose list a path answers, such as `account` for `/v1/accounts/:id/partners`; undefined for others. */
export function parentOf(path: string): string | undefined {
  const [collection] = /[^/]+(?=s\/:id\/)/.exec(path) ?? [];
  return collection && wordsOf(collection).join(' ');
}

/** A short title of an operation from its name, such as `Create a connected user` or `List deposits`. */
export function summaryOf(
  field: string,
  { answers, method, path }: Pick<Route, 'answers' | 'method' | 'path'>,
): string {
  const words = wordsOf(field);
  const named = (object: readonly string[]) =>
    /[^s]s$/.test(object.at(-1) ?? '') ? object.join(' ') : withArticle(object);
  if (method === 'GET') {
    const parent = parentOf(path);
    if (answers === 'list') return `List ${words.join(' ')}${parent ? ` of ${withArticle([parent])}` : ''}`;
    return `Retrieve ${path.includes('/:id') ? named(words) : `the ${words.join(' ')}`}`;
  }
  const [verb = '', ...object] = words;
  return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${named(object)}`;
}

/** Converts a description of the graph to the names that /v1 has for enum values, fields and operations. */
export function wordingOf(schema: GraphQLSchema): (text: string | null | undefined) => string {
  const enums = new Set<string>();
  for (const type of Object.values(schema.getTypeMap()))
    if (isEnumType(type) && !type.name.startsWith('__')) for (const { name } of type.getValues()) enums.add(name);
  const paths = new Map(
    routes.map(({ field, method, path }) => [field, `${method} ${path.replaceAll(':id', '{id}')}`]),
  );
  return (text) =>
    (text ?? '')
      .replaceAll(/\s*(?:Spec|Silent): [^.]*\./g, '')
      // Fields of types that /v1 does not have.
      .replaceAll(/\s*See `[A-Z]\w*\.\w+`\./g, '')
      .replaceAll(/\b[A-Z][A-Z_]{3,}\b/g, (name) => (enums.has(name) ? `\`${name.toLowerCase()}\`` : name))
      .replaceAll(/``([a-z_]+)``/g, '`$1`')
      // The variables of GraphQL documents, such as `$eventId`, are the same on both APIs.
      .replaceAll(/(?<!\$)\b[a-z]+[A-Z]\w*\b/g, (name) => paths.get(name) ?? snake(name))
      .trim();
}
