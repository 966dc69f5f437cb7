import { BankFileFault } from './line.js';
import type { Direction } from './table.js';
import type { XmlPart } from './xml.js';

/** What a message says of the entries of a statement together, with the entries that each is about. */
const totals = {
  TtlNtries: ['credit', 'debit'],
  TtlCdtNtries: ['credit'],
  TtlDbtNtries: ['debit'],
} as const satisfies Record<string, readonly Direction[]>;
type Total = keyof typeof totals;

interface Counted {
  direction: Direction;
  amount: bigint;
  isBooked: boolean;
}

/** Compares the number of the entries of a statement, and the sum of their amounts, with what the message says. */
export class EntryTotals {
  readonly #said: { total: Total; part: XmlPart }[] = [];
  readonly #sums = new Map<string, { entries: number; sum: bigint }>();

  /** Whether the element at a path below the statement's is one of these totals. */
  static has(path: string): boolean {
    return path.startsWith('TxsSummry/') && Object.hasOwn(totals, path.slice('TxsSummry/'.length));
  }

  say(part: XmlPart): void {
    this.#said.push({ total: part.name as Total, part });
  }

  count({ direction, amount, isBooked }: Counted): void {
    for (const kind of isBooked ? ['all', 'booked'] : ['all']) {
      const { entries, sum } = this.#of(kind, direction);
      this.#sums.set(`${kind} ${direction}`, { entries: entries + 1, sum: sum + amount });
    }
  }

  /**
   * Refuses a statement that says of its entries what is true neither of all of them nor of those that are booked:
   * banks sum up either. The sum is one of amounts, whatever their currencies.
   */
  compare(): void {
    for (const { total, part } of this.#said)
      if (!['all', 'booked'].some((kind) => this.#fits(kind, total, part)))
        throw new BankFileFault(
          part.line,
          `has a \`${total}\` that does not fit its entries: the file is cut or changed`,
        );
  }

  #fits(kind: string, total: Total, part: XmlPart): boolean {
    const counted = totals[total].map((direction) => this.#of(kind, direction));
    const [count, sum] = [part.one('NbOfNtries'), part.one('Sum')];
    return (
      (count === undefined || countIn(count) === counted.reduce((before, { entries }) => before + entries, 0)) &&
      (sum === undefined || sumIn(sum) === counted.reduce((before, each) => before + each.sum, 0n))
    );
  }

  #of(kind: string, direction: Direction) {
    return this.#sums.get(`${kind} ${direction}`) ?? { entries: 0, sum: 0n };
  }
}

/** A number of entries or transfers; undefined for a text that is none. */
export const countIn = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);

/** A sum of amounts in hundredths; undefined for a text that is none. */
function sumIn(text: string): bigint | undefined {
  const [, units, decimals = ''] = /^\+?(\d{1,18})(?:\.(\d{0,17}))?$/.exec(text) ?? [];
  if (units === undefined || /[^0]/.test(decimals.slice(2))) return undefined;
  return BigInt(units + decimals.slice(0, 2).padEnd(2, '0'));
}
