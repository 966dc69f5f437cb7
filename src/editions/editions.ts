import type { Edition } from './edition.js';
import { first } from './first.js';
import { second } from './second.js';

/** The edition of a caller, by the number that its root account has. */
export const editions: Record<1 | 2, Edition> = { 1: first, 2: second };
