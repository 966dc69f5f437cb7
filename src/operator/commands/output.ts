import type { accountV1 } from '../../resources/account/v1.js';
import { modeOf } from '../../request/mode.js';
import { lines, noColours, plain, Table, type Terminal, tableOf } from './rows.js';
import { onOneLine } from './visible.js';

/** The last time that ISO 8601 can write with four digits of the year, in seconds. */
const secondsMax = 253_402_300_799;

/**
 * The columns of lists whose entries have more members than fit on a line, by the name of the list. JSON has all
 * members.
 */
const columns: Readonly<Record<string, readonly string[]>> = {
  payouts: ['id', 'mode', 'account_id', 'account_name', 'amount', 'currency', 'status', 'created', 'expected_arrival'],
  keys: ['id', 'mode', 'permission', 'prefix', 'created', 'expires_at', 'revoked_at', 'last_used_at'],
  notices: ['reference', 'event', 'mode', 'account_name', 'address_id', 'amount', 'currency', 'created'],
  lines: ['id', 'day', 'account', 'payee', 'direction', 'amount', 'currency', 'reference', 'state', 'reason'],
  adjustments: ['id', 'mode', 'account_id', 'account_name', 'credit', 'debit', 'status', 'reason', 'created'],
  refunds: ['id', 'mode', 'account_id', 'account_name', 'deposit_id', 'amount', 'currency', 'status', 'created'],
  change_requests: ['id', 'mode', 'account_id', 'account_name', 'status', 'reason', 'created'],
  unexplained: ['id', 'mode', 'tenant', 'tenant_name', 'amount', 'covered', 'currency', 'reason', 'status', 'created'],
  disputes: [
    ...['id', 'mode', 'account_id', 'account_name', 'deposit_id', 'amount', 'currency', 'status', 'reason_code'],
    'respond_by',
  ],
  health: ['level', 'check', 'finding', 'command'],
  actions: ['number', 'created', 'operator', 'operation', 'object', 'account_name', 'mode', 'outcome', 'code'],
};

/**
 * Formats a list as rows, with the option for the next page; formats other results as names and values, nested names as
 * paths. The mode is a word. Without a terminal, as with `--wide`, nothing is cut and times are in ISO 8601.
 */
export function readable(result: object, terminal?: Terminal): string {
  const { next, ...members } = result as { next?: string };
  const [[name, list] = ['', undefined]] = Object.entries(members) as [string, unknown][];
  if (Object.keys(members).length === 1 && Array.isArray(list)) {
    const more = next ? `There are more. List the next page with --after ${next}\n` : '';
    if (list.length === 0) return 'None.\n';
    const shownRows = list.map((entry) => summary(entry, terminal?.now));
    return `${tableOf(shownRows, columns[name] ?? Object.keys(shownRows[0]!), terminal)}${more}`;
  }
  const table = new Table({ ...plain, style: noColours });
  for (const [name, value] of flat(result)) table.push([onOneLine(name), onOneLine(value)]);
  return lines(table.toString());
}

/** The members of a list entry that fit on a line. */
function summary(entry: Record<string, unknown>, now?: number): Record<string, unknown> {
  // A line of a bank has the number of an account there.
  const account = entry.account as ReturnType<typeof accountV1> | string | null | undefined;
  if (!account || typeof account === 'string') {
    const { object: _, ...members } = entry;
    const simple = Object.entries(members).filter(([, value]) => typeof value !== 'object' || value === null);
    return Object.fromEntries(simple.map(([name, value]) => shown(name, value, now)));
  }
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
    const [label, text] = shown(name, member);
    return [[path + label, String(text)]];
  });
}

/** A time as the jobs of an operator have it. */
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** A member as a reader wants it: the mode as a word, a time in ISO 8601 or as an age instead of the seconds of /v1. */
function shown(name: string, value: unknown, now?: number): [string, unknown] {
  if (name === 'livemode' && typeof value === 'boolean') return ['mode', modeOf(value)];
  if (
    typeof value === 'number' &&
    Math.abs(value) <= secondsMax &&
    /^(created|expected_arrival|respond_by|time)$|_at$/.test(name)
  )
    return [name, now === undefined ? new Date(value * 1000).toISOString() : ageOf(value, now)];
  if (now !== undefined && typeof value === 'string' && isoTime.test(value))
    return [name, ageOf(Date.parse(value) / 1000, now)];
  return [name, value];
}

/** How long ago a time was, or how far it is, in its greatest unit. */
function ageOf(time: number, now: number): string {
  const seconds = Math.abs(now - time);
  const [unit, length] = (
    [
      ['d', 86_400],
      ['h', 3_600],
      ['min', 60],
      ['s', 1],
    ] as const
  ).find(([unit, length]) => seconds >= length || unit === 's')!;
  const age = `${Math.floor(seconds / length)} ${unit}`;
  return time > now ? `in ${age}` : age;
}
