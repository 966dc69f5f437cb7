import type { AgeWork, RowWork } from '../operation/work.js';
import { work } from '../resources/registry.js';

/** The declared work that there is while a table has rows of it, by its name. */
export const rowWork: ReadonlyMap<string, RowWork> = new Map(
  [...work].flatMap(([name, each]) => (each.of === 'rows' ? [[name, each] as const] : [])),
);
/** The declared deletions of old rows, by their names. */
export const ageWork: ReadonlyMap<string, AgeWork> = new Map(
  [...work].flatMap(([name, each]) => (each.of === 'age' ? [[name, each] as const] : [])),
);
