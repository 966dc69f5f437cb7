import { makePgArray } from 'drizzle-orm/pg-core';

// The statement that runs another one for several lists of values of one tenant.

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

/** A statement, as it is combined. */
export interface Form {
  types: readonly number[];
  /** The places of the parameters that are the tenant, which is the same for all that are combined. */
  tenantAt: ReadonlySet<number>;
}

/** The form of a read; undefined when it cannot be combined: arrays carry only parameters of the types above. */
export function formOf(types: readonly number[], values: readonly unknown[], tenant: string): Form | undefined {
  const tenantAt = new Set(values.flatMap((value, i) => (value === tenant ? [i] : [])));
  const others = types.filter((_, i) => !tenantAt.has(i));
  return tenantAt.size > 0 && others.length > 0 && others.every((type) => castOf.has(type))
    ? { types, tenantAt }
    : undefined;
}

/** Whether a read of a tenant has this form: of another one, a parameter could be equal to the tenant by chance. */
export const hasForm = ({ tenantAt }: Form, values: readonly unknown[], tenant: string): boolean =>
  values.every((value, i) => (value === tenant) === tenantAt.has(i));

/**
 * The statement that runs a text once for each number of its arrays, and returns the number as the last column. The
 * tenant stays a parameter of its own. Each array comes from a subquery, so PostgreSQL never plans for its length,
 * finds the kept plan no dearer than a new one, and plans the statement only five times on a connection. Measured:
 * docs/decisions/equal-reads-are-read-once.md.
 */
export function combinedOf(text: string, { types, tenantAt }: Form): string {
  const inner = text.replace(/\$(\d+)/g, (parameter, number: string) =>
    tenantAt.has(Number(number) - 1) ? parameter : `member.p${number}::${castOf.get(types[Number(number) - 1]!)}`,
  );
  const others = types.map((_, i) => i).filter((i) => !tenantAt.has(i));
  const arrays = others.map((i) => `(select $${i + 1}::text[])`).join(', ');
  const names = others.map((i) => `p${i + 1}`).join(', ');
  return (
    `select x.*, member.n::int4 from unnest(${arrays}) with ordinality member(${names}, n) cross join lateral ` +
    `(${inner}) x`
  );
}

/** A value as PostgreSQL reads it from text; null stays null. */
const asText = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** The values of a statement's parameters as texts. */
export const textsOf = (values: readonly unknown[]): Texts => values.map(asText);

/** The values of the combined statement for these lists of values: the tenant, and arrays of the others. */
export const combinedValues = ({ tenantAt }: Form, lists: readonly Texts[]): string[] =>
  lists[0]!.map((tenant, i) => (tenantAt.has(i) ? tenant! : makePgArray(lists.map((texts) => texts[i]))));

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
