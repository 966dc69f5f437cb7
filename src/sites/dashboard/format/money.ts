/** An amount of money: a decimal string with two places, and its currency. */
export interface Money {
  amount: string;
  currency: string;
}

/** The hundredths of an amount. Amounts are never numbers, which could not hold them exactly. */
export function hundredths(amount: string): bigint {
  const [, sign, whole = '0', part = ''] = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(amount) ?? [];
  const value = BigInt(whole) * 100n + BigInt(part.padEnd(2, '0'));
  return sign ? -value : value;
}

/** An amount as the gateway writes it, such as `1250.00`. */
export function decimal(value: bigint): `${number}` {
  const digits = (value < 0n ? -value : value).toString().padStart(3, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}` as `${number}`;
}

/**
 * An amount as people write and copy it, as the gateway takes it: `₹1,25,000` is `125000.00`. Where a text has both
 * separators, the last one is that of the decimals; one of them alone is what it is in the viewer's locale. A text that
 * is no amount or not surely one stays as it is, and the gateway refuses it.
 */
export function typedAmount(text: string, separator = decimalSeparator()): string {
  if (text.length > amountLengthMax) return text;
  const bare = text.replace(/[\s'’\p{Sc}]/gu, '').replace(/^[A-Za-z]{3}|[A-Za-z]{3}$/, '');
  const [sign, digits] = bare.startsWith('-') || bare.startsWith('−') ? ['-', bare.slice(1)] : ['', bare];
  const marks = digits.replace(/\d/g, '');
  const last = marks.at(-1);
  const isDecimal =
    last !== undefined && marks.indexOf(last) === marks.length - 1 && (marks.length > 1 || last === separator);
  const at = isDecimal ? digits.lastIndexOf(last) : digits.length;
  const [whole, part] = [digits.slice(0, at), digits.slice(at + 1)];
  const groups = whole.split(isDecimal ? (last === ',' ? '.' : ',') : (last ?? ','));
  if (!/^\d{0,2}$/.test(part) || !areGroups(groups)) return text;
  return `${sign}${groups.join('').replace(/^0+(?=\d)/, '')}.${part.padEnd(2, '0')}`;
}

/** A typed amount in the viewer's locale, or the text that is none. */
export function readAmount(text: string): string {
  const amount = typedAmount(text.trim());
  if (!/^-?\d+\.\d\d$/.test(amount)) return text;
  return new Intl.NumberFormat(undefined, { minimumFractionDigits: 2 }).format(decimal(hundredths(amount)));
}

const amountLengthMax = 60;

/** Whether digits stand in groups as somewhere in the world: in threes, or in twos before the last three. */
function areGroups(groups: readonly string[]): boolean {
  const [first, ...rest] = groups;
  if (rest.length === 0) return /^\d+$/.test(first!);
  const [end, middle] = [rest.at(-1)!, rest.slice(0, -1)];
  const isOf = (length: number) => middle.every((each) => each.length === length) && first!.length <= length;
  return groups.every((each) => /^\d+$/.test(each)) && end.length === 3 && (isOf(3) || isOf(2));
}

/** The sign between whole units and decimals in the viewer's locale. */
const decimalSeparator = (): string =>
  new Intl.NumberFormat().formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';

const formats = new Map<string, Intl.NumberFormat>();

/** An amount in the viewer's locale, with two places as the gateway has it. Intl formats the text exactly. */
export function formatMoney({ amount, currency }: Money): string {
  let format = formats.get(currency);
  if (!format) {
    const places = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
    format = new Intl.NumberFormat(undefined, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      ...places,
    });
    formats.set(currency, format);
  }
  return format.format(decimal(hundredths(amount)));
}

/** A rate of exchange with all its decimals, at least two. Intl formats the text exactly. */
export const formatRate = (rate: string): string =>
  new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 20 }).format(rate as `${number}`);

/** A round amount for the axis of a chart, such as `$20K`. */
export function formatRound(units: number, currency: string): string {
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    notation: 'compact',
    maximumFractionDigits: 1,
  }).format(units);
}

/** The sum of amounts of one currency. */
export function sum(amounts: readonly string[]): string {
  return decimal(amounts.reduce((total, amount) => total + hundredths(amount), 0n));
}

/** The currencies of some amounts, each once, those with most amounts first. */
export function currenciesOf(amounts: readonly { currency: string }[]): string[] {
  const counts = new Map<string, number>();
  for (const { currency } of amounts) counts.set(currency, (counts.get(currency) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b)).map(([currency]) => currency);
}

/** The currencies that lists are filtered by. */
export const currencies = ['USD', 'INR', 'EUR', 'GBP'] as const;

/** The currency of each edition, as in the gateway's src/editions: a test compares them. */
const editionCurrencies: Readonly<Record<number, string>> = { 1: 'USD', 2: 'INR' };

/** The currency in which an edition collects money: where pages offer a choice, the one they begin with. */
export const currencyOf = (edition: number): string => editionCurrencies[edition]!;

/** The most that an amount may be as far as a page knows, and the sentence that says so. */
export interface Most {
  amount: string;
  words: string;
}

/** Whether what was sent is an amount, and more than another one. */
export const isMoreThan = (sent: unknown, most: string): boolean =>
  typeof sent === 'string' && /^\d{1,20}(\.\d{1,2})?$/.test(sent) && hundredths(sent) > hundredths(most);
