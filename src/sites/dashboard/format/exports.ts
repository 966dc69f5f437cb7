import { words } from './words';

/** The lists that exports are made of on pages, by their paths on /v1. */
const lists: Record<string, string> = { deposits: 'Payments' };

/** What an export is of: the end of its list's path in words. */
export function listName(path: string): string {
  const name = path.split('/').at(-1)!;
  return lists[name] ?? words(name);
}

/** The filters of an export in words, from its query on /v1; `at` writes a time, which the query has in seconds. */
export function filterWords(query: string, at: (time: string) => string): string[] {
  const said: string[] = [];
  const several = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const [filter, end] = name.replace(/\[\d*\]$/, '').split('.') as [string, string | undefined];
    const isTime = filter === 'created' && /^\d{1,12}$/.test(value);
    const text = isTime ? at(new Date(Number(value) * 1000).toISOString()) : wordsOf(filter, value);
    const key = `${words(filter)}${end ? ` ${ends[end] ?? end}` : ''}`;
    several.set(key, [...(several.get(key) ?? []), text]);
  }
  for (const [key, values] of several) said.push(`${key}: ${values.join(', ')}`);
  return said;
}

const ends: Record<string, string> = { gt: 'after', gte: 'from', lt: 'before', lte: 'to' };

const wordsOf = (filter: string, value: string) =>
  filter === 'search' || !/^[a-z_]+$/.test(value) ? value : words(value);

const units = ['bytes', 'KB', 'MB', 'GB'] as const;

/** A size in the largest unit of which it has at least one: `4.2 MB`. */
export function formatSize(bytes: number): string {
  const step = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1024)), units.length - 1);
  const size = bytes / 1024 ** step;
  const digits = step > 0 && size < 10 ? 1 : 0;
  return `${size.toLocaleString(undefined, { maximumFractionDigits: digits })} ${units[step]}`;
}
