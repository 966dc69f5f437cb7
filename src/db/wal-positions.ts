/** A position in PostgreSQL's write-ahead log (LSN): everything before it happened before. */
export type WalPosition = bigint;

/** The position that PostgreSQL writes as two hexadecimal numbers, such as `16/B374D848`. */
export function walPositionOf(text: string): WalPosition {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export const later = (one: WalPosition, other: WalPosition): WalPosition => (one > other ? one : other);

/** What the primary said of its log when it was asked at a time of `performance.now()`. */
interface Seen {
  at: number;
  /** Up to here everything is on its disk. Standbys get no more than this. */
  flushed: WalPosition;
  /** Up to here everything is in its memory, and so every commit that a client knows. */
  inserted: WalPosition;
}

/**
 * The positions of the primary in the last seconds. By them the age of a replica is known without any server's clock:
 * a replica that has replayed a position has everything that the primary had when it was asked for that position.
 */
export class PrimaryPositions {
  #seen: Seen[] = [];

  constructor(private readonly keptMilliseconds: number) {}

  add(seen: Seen): void {
    // A primary that is behind its own past is another one: the positions before belong to another history.
    const before = this.#seen.filter(({ flushed }) => flushed <= seen.flushed);
    // One older position is kept, so that a replica that has replayed it is known to be that old.
    const first = before.findLastIndex(({ at }) => at < seen.at - this.keptMilliseconds);
    this.#seen = [...before.slice(Math.max(first, 0)), seen];
  }

  get latest(): Seen | undefined {
    return this.#seen.at(-1);
  }

  /** A time up to which a server that has replayed a position has everything; -∞ when it is not known. */
  upTo(replayed: WalPosition): number {
    return this.#seen.findLast(({ flushed }) => flushed <= replayed)?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** A position that no commit from before a time is behind, if the primary was asked since then. */
  since(time: number): WalPosition | undefined {
    return this.#seen.find(({ at }) => at > time)?.inserted;
  }
}
