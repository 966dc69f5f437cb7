import MiniSearch from 'minisearch';
import type { Entry } from './page.js';

/** How the search reads its entries; `assets/docs.js` loads the index with the same options. */
const options = {
  fields: ['title', 'place', 'text', 'keywords'],
  storeFields: ['address', 'title', 'place', 'rank'],
  idField: 'address',
  searchOptions: {
    prefix: true,
    fuzzy: 0.15,
    boost: { title: 4, keywords: 8, place: 1.5 },
    combineWith: 'AND' as const,
  },
};

/** Words by which readers search for a section that has others, by the address of the section. */
const keywords: Record<string, string> = {
  '/docs/rest#lists': 'pagination paginate paging cursor sort sorting filter filtering',
  '/docs/dashboards#lists': 'pagination paginate paging cursor sort sorting filter filtering',
  '/docs/dashboards#figures-over-time': 'chart group by aggregate report statistics',
  '/docs/dashboards#from-a-browser': 'token cors login authentication',
  '/docs/rest#keys': 'authentication bearer token',
  '/docs/rest#errors': 'error handling exception',
  '/docs/dashboards#errors': 'error handling exception',
  '/docs/rest#exports': 'spreadsheet excel download report',
  '/docs/rest#idempotency': 'retry retries safe',
  '/docs/rest#cost': 'throttling quota rate limit',
  '/docs/rest#platforms-and-their-users': 'connect merchant marketplace impersonate',
  '/docs/typescript': 'sdk library javascript node client',
  '/docs/concepts': 'vocabulary terms glossary',
  '/docs/concepts#payments': 'chargeback refund invoice customer merchant',
};

/** How much an entry counts: guides come before the reference, and records and measurements after both. */
const rankOf = ({ address }: Entry): number =>
  /^\/docs\/(decisions|measurements|changelog|contributing|architecture|glossary|dependencies)/.test(address)
    ? 0.3
    : address.startsWith('/docs/reference')
      ? 0.8
      : 1;

/** The words of a text once each: the index needs no more, and is a third smaller than with their repetitions. */
const wordsOf = (text: string): string => [...new Set(text.toLowerCase().split(/[\s\p{P}\p{S}]+/u))].join(' ');

/**
 * The index of the search as JSON, which the browser loads when a reader searches for the first time. It has every word
 * of every section.
 */
export function indexOf(entries: Entry[]): string {
  const index = new MiniSearch<Entry & { rank: number; keywords: string }>(options);
  const known = new Set<string>();
  for (const entry of entries) {
    if (known.has(entry.address)) continue;
    known.add(entry.address);
    index.add({
      ...{ ...entry, text: wordsOf(entry.text) },
      ...{ rank: rankOf(entry), keywords: keywords[entry.address] ?? '' },
    });
  }
  const missing = Object.keys(keywords).filter((address) => !known.has(address));
  if (missing.length > 0) throw new Error(`The search has keywords for ${missing.join(', ')}, which no page has.`);
  return JSON.stringify({ options, index });
}
