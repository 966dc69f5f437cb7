/**
 * A position in PostgreSQL's write-ahead log: the timeline, which each promotion raises, above the 64 bits of the
 * position in it (LSN). Of two positions of one timeline the lower happened before. What an older timeline has behind a
 * promotion is no part of the newer one, so a client needs none of it, and each position of the newer one is later.
 */
export type WalPosition = bigint;

const lsnBits = 64;

/** The position on a timeline that PostgreSQL writes as two hexadecimal numbers, such as `16/B374D848`. */
export function walPositionOf(timeline: number, text: string): WalPosition {
  const [high = '', low = ''] = text.split('/');
  return positionOf(timeline, (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`));
}

export const positionOf = (timeline: number, lsn: bigint): WalPosition => (BigInt(timeline) << BigInt(lsnBits)) | lsn;

/** The timeline that the name of a file of the log begins with. */
export const timelineOfFile = (name: string): number => Number.parseInt(name.slice(0, 8), 16);

export const timelineOf = (position: WalPosition): number => Number(position >> BigInt(lsnBits));

/** The position in its timeline. */
export const lsnOf = (position: WalPosition): bigint => BigInt.asUintN(lsnBits, position);

export const later = (one: WalPosition, other: WalPosition): WalPosition => (one > other ? one : other);

/** What the primary said of its log when it was asked at a time of `performance.now()`. */
interface Seen {
  at: number;
  /** Up to here everything is on its disk. Standbys get no more than this. */
  flushed: WalPosition;
  /** Up to here everything is in its memory, and so every commit that a client knows. */
  inserted: WalPosition;
}

/** Of older positions so many are kept that the age of a replica is known to this part of it. */
const precision = 1 / 8;

/**
 * The positions of the primary since the start: all of the last seconds, and fewer of those before, the older the
 * fewer (some hundred of ten days). By them the age of a replica is known without any server's clock:
 * a replica that has replayed a position has everything that the primary had when it was asked for that position.
 */
export class PrimaryPositions {
  #seen: Seen[] = [];

  constructor(private readonly keptMilliseconds: number) {}

  add(seen: Seen): void {
    // A primary of another timeline, or behind its own past, is another one, and the positions before are not its own.
    const before = this.#seen.filter(
      ({ flushed }) => flushed <= seen.flushed && timelineOf(flushed) === timelineOf(seen.flushed),
    );
    const kept: Seen[] = [];
    for (const [i, one] of before.entries()) {
      const [last, next] = [kept.at(-1), before[i + 1]];
      const age = seen.at - one.at;
      const spare = last && next && age > this.keptMilliseconds && next.at - last.at < age * precision;
      if (!spare) kept.push(one);
    }
    this.#seen = [...kept, seen];
  }

  get length(): number {
    return this.#seen.length;
  }

  get latest(): Seen | undefined {
    return this.#seen.at(-1);
  }

  /** A time up to which a server that has replayed a position has everything; -∞ when it is not known. */
  upTo(replayed: WalPosition): number {
    if (this.latest && timelineOf(this.latest.flushed) !== timelineOf(replayed)) return Number.NEGATIVE_INFINITY;
    return this.#seen.findLast(({ flushed }) => flushed <= replayed)?.at ?? Number.NEGATIVE_INFINITY;
  }

  /** A position that no commit from before a time is behind, if the primary was asked since then. */
  since(time: number): WalPosition | undefined {
    return this.#seen.find(({ at }) => at > time)?.inserted;
  }
}
