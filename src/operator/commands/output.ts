import Table from 'cli-table3';
import type { accountV1 } from '../../resources/account/v1.js';
import { onOneLine } from './visible.js';

/**
 * Formats a list as rows, with the option for the next page; formats other results as names and values, nested names as
 * paths.
 */
export function readable(result: object): string {
  const { next, ...members } = result as { next?: string };
  const [list] = Object.values(members) as unknown[];
  if (Object.keys(members).length === 1 && Array.isArray(list)) {
    const more = next ? `There are more. List the next page with --after ${next}\n` : '';
    return list.length === 0 ? 'None.\n' : `${rows(list.map(summary))}${more}`;
  }
  const table = new Table({ style: { head: [], border: [] } });
  for (const [name, value] of flat(result)) table.push([name, value]);
  return `${table.toString()}\n`;
}

function rows(list: Record<string, unknown>[]): string {
  const head = Object.keys(list[0]!);
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const row of list) table.push(head.map((name) => onOneLine(String(row[name] ?? ''))));
  return `${table.toString()}\n`;
}

/** The members of a list entry that fit on a line. */
function summary(entry: Record<string, unknown>): Record<string, unknown> {
  const account = entry.account as ReturnType<typeof accountV1> | undefined;
  if (!account)
    return Object.fromEntries(Object.entries(entry).filter(([, value]) => typeof value !== 'object' || value === null));
  const { id, type, status, nickname, business_details } = account;
  return {
    id,
    mode: entry.mode,
    type,
    status,
    legal_name: business_details.legal_name,
    nickname,
    persons: (entry.persons as []).length,
    files: (entry.files as []).length,
  };
}

function flat(value: object, path = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, member]): [string, string][] => {
    if (member === null || member === undefined) return [];
    if (typeof member === 'object') return flat(member, `${path}${name}.`);
    return [[onOneLine(path + name), onOneLine(String(member))]];
  });
}
