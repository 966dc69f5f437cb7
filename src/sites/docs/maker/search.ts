import MiniSearch from 'minisearch';
import type { Entry } from './page.js';

/** How the search reads its entries; `assets/docs.js` loads the index with the same options. */
const options = { fields: ['title', 'place', 'text'], storeFields: ['address', 'title', 'place'], idField: 'address' };

/**
 * The longest text of an entry that the index has: longer ones make the index larger, and hardly the results better.
 */
const textMax = 600;

/** The index of the search as JSON, which the browser loads when a reader searches for the first time. */
export function indexOf(entries: Entry[]): string {
  const index = new MiniSearch<Entry>(options);
  const known = new Set<string>();
  for (const entry of entries) {
    if (known.has(entry.address)) continue;
    known.add(entry.address);
    index.add({ ...entry, text: entry.text.trim().slice(0, textMax) });
  }
  return JSON.stringify({ options, index });
}
