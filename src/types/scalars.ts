import { code as currencyOf, codes as listedCurrencies } from 'currency-codes';
import {
  GraphQLError,
  GraphQLScalarType,
  type GraphQLScalarTypeConfig,
  Kind,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import {
  GraphQLCountryCode,
  GraphQLDateTime,
  GraphQLEmailAddress,
  GraphQLIP,
  GraphQLLocalDate,
  GraphQLSafeInt,
  GraphQLURL,
} from 'graphql-scalars';
import { problemsMax } from '../errors/problems.js';
import { lengthFault } from './text-length.js';

const rfc3339 = 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6';

/*
 * What is stored is answered as it is: it was checked when it was written, perhaps by older rules, and a check on
 * output would turn it into an error. So no scalar of a text checks on output, and the query compiler answers the same.
 */

/**
 * Refuses a text that is longer than any text may be. Each parser calls it before a pattern or library sees the text.
 */
function refuseLong(value: unknown): void {
  const fault = typeof value === 'string' ? lengthFault(value) : undefined;
  if (fault !== undefined) refuse(fault);
}

/** The configuration of a library's scalar, whose parsers see no text that is too long. */
function bounded<I, O>(scalar: GraphQLScalarType<I, O>): GraphQLScalarTypeConfig<I, O> {
  const { parseValue, parseLiteral, ...config } = scalar.toConfig();
  return {
    ...config,
    parseValue: (value) => {
      refuseLong(value);
      return parseValue(value);
    },
    parseLiteral: (node, variables) => {
      if ('value' in node) refuseLong(node.value);
      return parseLiteral(node, variables);
    },
  };
}

/** A calendar date. The library's own scalar, with the address of its specification. */
export const LocalDate = new GraphQLScalarType<string, string>({
  ...bounded(GraphQLLocalDate),
  serialize: String,
  description: 'A calendar date, as YYYY-MM-DD, such as `2026-01-31`.',
  specifiedByURL: rfc3339,
});

/**
 * A whole number that every JSON parser keeps exact, such as the number of an event. The library's own scalar, with a
 * description for clients and the schema of its bound.
 */
export const SafeInt = new GraphQLScalarType<number | string, number>({
  ...bounded(GraphQLSafeInt),
  description: 'A whole number of at most 9007199254740991 (2^53 - 1), as a JSON number.',
  extensions: { jsonSchema: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER } },
});

/** An IP address. The library's own scalar, with the address of its specification. */
export const IP = new GraphQLScalarType<string, string>({
  ...bounded(GraphQLIP),
  serialize: String,
  description: 'An IPv4 or IPv6 address, such as `203.0.113.7` or `2001:db8::7`.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc4291#section-2.2',
});

/** An e-mail address. The library's own scalar, with the address of its specification. */
export const EmailAddress = new GraphQLScalarType<string, string>({
  ...bounded(GraphQLEmailAddress),
  serialize: String,
  description: 'An e-mail address, such as `accounts@acme.example`.',
  specifiedByURL: 'https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address',
});

/** An absolute address of the web. The library's own scalar would answer another text than was stored. */
export const URL = new GraphQLScalarType<unknown, string>({
  ...bounded(GraphQLURL),
  serialize: String,
  description: 'An absolute address of the web, such as `https://shop.example/thanks`.',
  specifiedByURL: 'https://url.spec.whatwg.org/',
});

/** A fault inside a scalar that is a map, with the path below the scalar. */
export interface ScalarFault {
  path: string;
  message: string;
}

function literal<T>(parse: (value: unknown) => T) {
  return (node: ValueNode, variables?: Record<string, unknown> | null) => parse(valueFromASTUntyped(node, variables));
}

const refuse = (message: string): never => {
  throw new GraphQLError(message);
};

/** Minor units as the APIs write them, always with two decimals. The only function that converts money to text. */
export function amountText(minor: bigint | string): string {
  const units = BigInt(minor);
  const digits = (units < 0n ? -units : units).toString().padStart(3, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * Money as a decimal string with two places, such as "1250.00"; `bigint` minor units inside.
 * Numbers are refused: they lose precision. Spec: Conventions, Amounts.
 */
export const Amount = new GraphQLScalarType<bigint, string>({
  name: 'Amount',
  description:
    'A decimal string with two places, such as `"1250.00"`. `"10"` is ' +
    'accepted and means `"10.00"`; numbers are not accepted.',
  serialize: (value) => amountText(value as bigint | string),
  parseValue: parseAmount,
  parseLiteral: (node) => parseAmount(node.kind === Kind.STRING ? node.value : undefined),
  extensions: {
    jsonSchema: { type: 'string', pattern: '^-?\\d+\\.\\d{2}$' },
    inputSchema: { type: 'string', pattern: '^(0|[1-9]\\d{0,12})(\\.\\d{2})?$' },
  },
});

/** The most digits before the decimal point. */
const amountDigitsMax = 13;

function parseAmount(value: unknown): bigint {
  refuseLong(value);
  const match = typeof value === 'string' ? /^(0|[1-9]\d*)(?:\.(\d{2}))?$/.exec(value) : null;
  if (!match) return refuse('must be a decimal string with two places or none and no leading zero, such as "10.00"');
  const [, units = '', decimals = '00'] = match;
  if (units.length > amountDigitsMax) return refuse(`must be at most ${'9'.repeat(amountDigitsMax)}.99`);
  return BigInt(units + decimals);
}

/**
 * The last second that both APIs accept, in the year 5138: eleven digits. Milliseconds have more, so they are refused.
 */
export const epochMax = 99_999_999_999;

/**
 * A point in time: epoch seconds inside, ISO 8601 in the graph, in the range that /v1 accepts.
 * The library's own scalar would treat the seconds as milliseconds and print 1970.
 */
export const DateTime = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  description: 'A point in time to the second, as ISO 8601 in UTC, such as `2026-01-31T12:00:00Z`; from 1970 on.',
  specifiedByURL: rfc3339,
  serialize: (seconds) => timeText(seconds as number),
  parseValue: parseTime,
  parseLiteral: (node) => parseTime(node.kind === Kind.STRING ? node.value : undefined),
  extensions: {
    jsonSchema: { type: 'integer', minimum: 0, maximum: epochMax, description: 'Seconds since the Unix epoch.' },
  },
});

const timeText = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

function parseTime(value: unknown): number {
  refuseLong(value);
  const seconds = secondsOf(value);
  if (seconds < 0 || seconds > epochMax) return refuse(`must be from ${timeText(0)} to ${timeText(epochMax)}`);
  return seconds;
}

function secondsOf(value: unknown): number {
  try {
    return Math.floor((GraphQLDateTime.parseValue(value) as Date).getTime() / 1000);
  } catch {
    return refuse('must be a time in ISO 8601, such as 2026-01-31T12:00:00Z');
  }
}

/** The library's list is from 2024. Since then Bulgaria has joined the euro, and XCG has replaced ANG. */
const currencies = new Set(listedCurrencies());
for (const gone of ['BGN', 'ANG', 'XXX', 'XTS']) currencies.delete(gone);
currencies.add('XCG');

/**
 * A two-letter country code of ISO 3166-1, in capitals inside and out. The library's own scalar also accepts small
 * letters, and would keep them.
 * Spec: Account, `business_details.physical_address`. Silent: how small letters are answered.
 */
export const CountryCode = new GraphQLScalarType<string, string>({
  name: 'CountryCode',
  description: 'A two-letter country code of ISO 3166-1, such as `US`; small letters are accepted and mean the same.',
  specifiedByURL: 'https://www.iso.org/iso-3166-country-codes.html',
  serialize: String,
  parseValue: parseCountry,
  parseLiteral: literal(parseCountry),
  extensions: {
    jsonSchema: { type: 'string', pattern: '^[A-Z]{2}$' },
    inputSchema: { type: 'string', pattern: '^[A-Za-z]{2}$' },
  },
});

function parseCountry(value: unknown): string {
  refuseLong(value);
  return String(GraphQLCountryCode.parseValue(value)).toUpperCase();
}

/** How many decimals a currency really has. Every amount shows two. */
export const currencyDigits = (currency: string | undefined): number =>
  (currency ? currencyOf(currency)?.digits : undefined) ?? 2;

/** An active ISO 4217 code in capitals. Spec: Conventions, Amounts. */
export const Currency = new GraphQLScalarType<string, string>({
  name: 'Currency',
  description: 'An active ISO 4217 currency code, such as `USD` or `INR`.',
  specifiedByURL: 'https://www.iso.org/iso-4217-currency-codes.html',
  serialize: String,
  parseValue: parseCurrency,
  parseLiteral: literal(parseCurrency),
  extensions: { jsonSchema: { type: 'string', pattern: '^[A-Z]{3}$' } },
});

/** Whether a text is an active ISO 4217 code in capitals. */
export const isCurrency = (text: string): boolean => currencies.has(text);

function parseCurrency(value: unknown): string {
  refuseLong(value);
  if (typeof value !== 'string' || !isCurrency(value))
    return refuse('must be an active ISO 4217 currency code, such as USD');
  return value;
}

export const metadataKeysMax = 10;
const metadataKeyLengthMax = 40;
const metadataValueLengthMax = 500;

const metadataInputSchema = {
  type: ['object', 'string', 'null'],
  maxLength: 0,
  propertyNames: { minLength: 1, maxLength: metadataKeyLengthMax },
  additionalProperties: { type: ['string', 'null'], maxLength: metadataValueLengthMax },
};

/**
 * Strings by key. In an update, null or "" as a value unsets that key, and null or "" instead of the map unsets all
 * keys. Lengths count Unicode code points. The number of keys is checked on the merged result.
 * Spec: Metadata.
 */
export const Metadata = new GraphQLScalarType<Record<string, string | null> | null, Record<string, string>>({
  name: 'Metadata',
  description:
    'A map of string keys to string values: at most 10 keys of 40 characters, values of 500. In an update it ' +
    'merges key by key; `""` or null unsets a key.',
  serialize: (map) => map as Record<string, string>,
  parseValue: parseMetadata,
  parseLiteral: literal(parseMetadata),
  extensions: {
    jsonSchema: { type: 'object', maxProperties: metadataKeysMax, additionalProperties: { type: 'string' } },
    inputSchema: metadataInputSchema,
  },
});

function parseMetadata(value: unknown): Record<string, string | null> | null {
  if (value === '' || value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value)) return refuse('must be a map of strings');
  const faults: ScalarFault[] = [];
  for (const [key, text] of Object.entries(value as object)) {
    if (faults.length >= problemsMax) break;
    if (key === '') faults.push({ path: key, message: 'has an empty key' });
    else if ([...key].length > metadataKeyLengthMax)
      faults.push({ path: key, message: `has a key of more than ${metadataKeyLengthMax} characters` });
    if (text !== null && typeof text !== 'string') faults.push({ path: key, message: 'must be a string' });
    else if (text !== null && [...text].length > metadataValueLengthMax)
      faults.push({ path: key, message: `must have at most ${metadataValueLengthMax} characters` });
  }
  if (faults.length === 0 && Object.values(value as object).filter(Boolean).length > metadataKeysMax) {
    return refuse(`must have at most ${metadataKeysMax} keys`);
  }
  if (faults.length > 0)
    throw new GraphQLError('must be a map of strings within the limits', { extensions: { faults } });
  return value as Record<string, string | null>;
}
