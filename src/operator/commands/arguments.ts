import { InvalidArgumentError } from 'commander';
import { GraphQLEmailAddress } from 'graphql-scalars';
import { Amount, CountryCode, Currency, DateTime, LocalDate } from '../../types/scalars.js';
import { textLengthMax } from '../action/actions.js';

/** A whole number of at most twelve digits. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** The word true or false. */
export function flag(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('It must be true or false.');
  return text === 'true';
}

/** An amount with two places or none, in minor units. */
export function amount(text: string): bigint {
  try {
    return Amount.parseValue(text);
  } catch {
    throw new InvalidArgumentError('It must be a decimal with two places or none, such as 1250 or 1250.00.');
  }
}

/** Adds one receivable with its amount, written as `id=amount`. */
export function share(text: string, before: object[]): object[] {
  const [, id, value] = /^(receivable_[0-9a-f]+)=(.+)$/.exec(text) ?? [];
  if (id === undefined || value === undefined)
    throw new InvalidArgumentError('It must be a receivable and an amount, such as receivable_…=100.00.');
  return [...before, { id, amount: amount(value) }];
}

const secondsIn: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A duration such as 30d, in seconds. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('It must be a number and one of s, m, h and d, such as 30d.');
  return Number(count) * secondsIn[unit!]!;
}

/** An e-mail address, or an empty text to unset it. */
export function email(text: string): string {
  try {
    return text === '' ? text : String(GraphQLEmailAddress.parseValue(text));
  } catch {
    throw new InvalidArgumentError('It must be an e-mail address.');
  }
}

/** A text that is not empty. */
export function name(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

/** A reason that the audit log keeps whole. */
export function reasonText(text: string): string {
  if (text.length > textLengthMax) throw new InvalidArgumentError(`It must have at most ${textLengthMax} characters.`);
  return name(text);
}

/** An ISO 3166-1 code, in capitals. */
export function countryCode(text: string): string {
  try {
    return CountryCode.parseValue(text);
  } catch {
    throw new InvalidArgumentError('It must be a two-letter ISO 3166-1 country code, such as US.');
  }
}

/** An active ISO 4217 code. */
export function currencyCode(text: string): string {
  try {
    return Currency.parseValue(text);
  } catch {
    throw new InvalidArgumentError('It must be an active ISO 4217 code, such as USD.');
  }
}

/** A day of the calendar, as YYYY-MM-DD. */
export function day(text: string): string {
  try {
    return LocalDate.parseValue(text);
  } catch {
    throw new InvalidArgumentError('It must be a day, such as 2026-01-31.');
  }
}

/** A time with its zone, in seconds since 1970. */
export function dateTime(text: string): number {
  try {
    return DateTime.parseValue(text);
  } catch {
    throw new InvalidArgumentError('It must be a time in UTC, such as 2026-12-04T12:00:00Z.');
  }
}
