import { makePgArray } from 'drizzle-orm/pg-core';
import { parse } from 'postgres-array';

/** Converts lists of text. Drizzle's own parser of such lists loses backslashes. */
export const texts = {
  to: 1009,
  from: [1009],
  serialize: (list: string[] | string) => (typeof list === 'string' ? list : makePgArray(list)),
  parse: (list: string) => parse(list),
};

/** JSON as the driver reads it, and text as it is written. */
export const json = {
  to: 114,
  from: [114, 3802],
  serialize: (text: string) => text,
  parse: (text: string) => JSON.parse(text),
};
