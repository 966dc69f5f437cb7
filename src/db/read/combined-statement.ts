import { makePgArray } from 'drizzle-orm/pg-core';

// The statement that runs another one for several lists of values.

/** The values of a statement's parameters as PostgreSQL reads them from text. */
export type Texts = readonly (string | null)[];

/** The types of parameters that a text can carry, by PostgreSQL's OID: the others are not combined. */
const castOf = new Map([
  [16, 'bool'],
  [20, 'int8'],
  [23, 'int4'],
  [25, 'text'],
  [1043, 'text'],
]);

/** Whether arrays of text can carry the parameters of a statement: it has some, and all are of the types above. */
export const canCombine = (types: readonly number[]) => types.length > 0 && types.every((type) => castOf.has(type));

/**
 * The statement that runs a text once for each number of its arrays, and returns the number as the last column. Each
 * array comes from a subquery, so PostgreSQL never plans for its length, finds the kept plan no dearer than a new one,
 * and plans the statement only five times on a connection. Measured: docs/decisions/waiting-reads-are-combined.md.
 */
export function combinedOf(text: string, types: readonly number[]): string {
  const inner = text.replace(
    /\$(\d+)/g,
    (_, number: string) => `member.p${number}::${castOf.get(types[Number(number) - 1]!)}`,
  );
  const arrays = types.map((_, i) => `(select $${i + 1}::text[])`).join(', ');
  const names = types.map((_, i) => `p${i + 1}`).join(', ');
  return (
    `select x.*, member.n::int4 from unnest(${arrays}) with ordinality member(${names}, n) cross join lateral ` +
    `(${inner}) x`
  );
}

/** A value as PostgreSQL reads it from text; null stays null. */
const asText = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** The values of a statement's parameters as texts. */
export const textsOf = (values: readonly unknown[]): Texts => values.map(asText);

/** The arrays of the combined statement, one for each parameter, for these lists of values. */
export const combinedValues = (lists: readonly Texts[]): string[] =>
  lists[0]!.map((_, i) => makePgArray(lists.map((texts) => texts[i])));

/**
 * The values of a statement as one text, which is the same only for the same values: the places of those that are null,
 * then all values, each after a null character. PostgreSQL refuses a value that contains this character, and such a
 * value can make the text equal only to that of other values that are refused.
 */
export function keyOf(texts: Texts): string {
  let nulls = '';
  for (const [i, text] of texts.entries()) if (text === null) nulls += `${i},`;
  return `${nulls}\0${texts.join('\0')}`;
}
