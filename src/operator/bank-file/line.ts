import { currencyDigits, isCurrency } from '../../types/scalars.js';
import { lengthFault } from '../../types/text-length.js';
import { referenceLengthMax } from '../money/notice.js';
import type { Direction, LineDetails } from './table.js';

/** The most bytes, lines, statements and transfers of one entry that a bank's file may have. */
export const bankFileMax = { bytes: 128 * 1024 * 1024, lines: 100_000, statements: 10_000, details: 50_000 } as const;

/** What is wrong with a bank's file, and on which of its lines. The whole file is then refused. */
export class BankFileFault extends Error {
  constructor(
    readonly line: number,
    readonly fault: string,
  ) {
    super(`Line ${line} ${fault}.`);
  }
}

/** A transfer as a bank's file has it. Amounts are minor units with two places, as everywhere. */
export interface FileLine {
  kind: 'line';
  /** Counted from 1, in the order of the file. */
  number: number;
  /** Where the line begins in the file. */
  line: number;
  /** The number of its statement, counted from 1; null in a CSV file. */
  statement: number | null;
  /** The account of the statement, and the one that the transfer names as the payee's: without blanks, in capitals. */
  account: string | null;
  payee: string | null;
  direction: Direction;
  /** Whether it takes an earlier entry back. */
  isReversal: boolean;
  /** Whether it is an entry of several transfers whose amounts are not the entry's together. */
  isUnclear: boolean;
  amount: bigint;
  currency: string;
  /** The day of the booking, as YYYY-MM-DD. */
  day: string;
  /** The bank's own reference; null when the file has none for this transfer alone. */
  reference: string | null;
  details: LineDetails;
}

/** A statement of one account, which follows its lines. Balances are null when the bank does not say them. */
export interface FileStatement {
  kind: 'statement';
  number: number;
  line: number;
  account: string | null;
  currency: string | null;
  /** The day of the closing balance. */
  day: string | null;
  opening: bigint | null;
  closing: bigint | null;
  /** The transfers that the bank has announced and not booked. They come again once they are. */
  notBooked: number;
}

export type FilePart = FileLine | FileStatement;

/** An account as it is compared: letters and digits in capitals. */
export const accountKey = (text: string): string => text.replaceAll(/[\s-]/gu, '').toUpperCase();

/** An account from a file, as it is compared; null for none. */
export function accountOf(text: string | undefined, line: number): string | null {
  const key = accountKey(text ?? '');
  if (key === '') return null;
  if (!/^[A-Z0-9/?:().,'+_]{1,64}$/.test(key))
    throw new BankFileFault(line, 'has an account that is no account number');
  return key;
}

/** An active ISO 4217 code. */
export function currencyIn(text: string, line: number): string {
  if (!isCurrency(text)) throw new BankFileFault(line, 'has a currency that is no active ISO 4217 code');
  return text;
}

/** An amount, exact: no more decimals than its currency has, and two at most. It may be negative where `signed`. */
export function amountOf(text: string, currency: string, line: number, signed = false): bigint {
  const [, sign, units, decimals = ''] = /^([+-]?)(\d{1,18})(?:\.(\d{0,5}))?$/.exec(text) ?? [];
  if (units === undefined || (sign !== '' && !signed))
    throw new BankFileFault(line, 'has an amount that is no decimal number');
  const places = Math.min(2, currencyDigits(currency));
  const kept = decimals.padEnd(places, '0');
  if (/[^0]/.test(kept.slice(places)))
    throw new BankFileFault(
      line,
      `has an amount with more than ${places} decimals, which ${currency} cannot have here`,
    );
  const minor = BigInt(units + kept.slice(0, places)) * (places === 0 ? 100n : places === 1 ? 10n : 1n);
  if (minor >= 10n ** 15n) throw new BankFileFault(line, 'has an amount of more than 13 digits');
  return sign === '-' ? -minor : minor;
}

/** A day of the calendar, as YYYY-MM-DD. */
export function dayOf(year: string, month: string, day: string, line: number): string {
  const text = `${year}-${month}-${day}`;
  const date = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text)
    throw new BankFileFault(line, 'has a day that is not in the calendar');
  if (!year.startsWith('20')) throw new BankFileFault(line, 'has a day before the year 2000 or after 2099');
  return text;
}

/** Characters that no file of a bank has in a text: PostgreSQL cannot store some of them, and XML has none of them. */
const forbidden = /[^\P{Cc}\t\n\r\u0085]|\p{Cs}|[\uFFFE\uFFFF]/u;

/** Refuses characters that no text of a bank has. */
export function checkedText(text: string, line: number): string {
  if (forbidden.test(text)) throw new BankFileFault(line, 'has a character that no text may have');
  return text;
}

/** Values that stand for no reference. */
const none = new Set(['', 'NOTPROVIDED', 'NOTAVAILABLE', 'NONREF', 'NONE', 'N/A', 'UNKNOWN']);

/** The first reference that is one. */
export function referenceOf(line: number, ...given: (string | undefined)[]): string | null {
  const found = given.map((text) => text?.trim() ?? '').find((text) => !none.has(text.toUpperCase())) ?? null;
  if (found !== null && lengthFault(found, referenceLengthMax) !== undefined)
    throw new BankFileFault(line, `has a reference of more than ${referenceLengthMax} characters`);
  return found;
}

/** How long the reason of a return may be. */
export const returnReasonMax = 140;

const spaceOrHidden = /[\p{Cc}\p{Zs}\u2028-\u202e\u2066-\u2069]+/gu;

/**
 * A text on one line, without hidden characters; undefined when nothing is left. One that is longer is cut, and ends
 * with `…`: who looks for a number in it knows that there may have been another one.
 */
export function textOf(text: string | undefined, lengthMax: number): string | undefined {
  const bare = (text ?? '').replaceAll(spaceOrHidden, ' ').trim();
  if (bare === '') return undefined;
  const characters = [...bare];
  if (characters.length <= lengthMax) return bare;
  return `${characters
    .slice(0, lengthMax - 1)
    .join('')
    .trim()}…`;
}

/** A sum of lines in their own direction: credits less debits. */
export const signed = ({ direction, amount }: Pick<FileLine, 'direction' | 'amount'>): bigint =>
  direction === 'credit' ? amount : -amount;
