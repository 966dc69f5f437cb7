import type { Edition } from './edition.js';
import { first } from './first.js';
import { second } from './second.js';

/** The rules of each edition. The number is that of the caller's root account. */
export const editions: Record<1 | 2, Edition> = { 1: first, 2: second };
