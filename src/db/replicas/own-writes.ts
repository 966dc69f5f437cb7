import { LRUCache } from 'lru-cache';
import { later, type PrimaryPositions, type WalPosition } from './wal-positions.js';

/** How many accounts a process remembers. What it forgets counts for all accounts. */
const accountsMax = 10_000;

/**
 * The last write of each account through this process, as a position in the log of the primary that is not before its
 * commit. An account reads on a replica only when that has replayed this position, so that it finds its own writes.
 */
export class OwnWrites {
  readonly #last = new LRUCache<string, WalPosition>({
    max: accountsMax,
    dispose: (position, _, reason) => {
      if (reason === 'evict') this.#ofAll = later(this.#ofAll, position);
    },
  });
  #ofAll: WalPosition = 0n;
  /** When a position could not be read last; no account reads on a replica until the primary was asked after that. */
  #unknownSince: number | undefined;
  #asking: Promise<WalPosition | undefined> | undefined;
  #next: Promise<WalPosition | undefined> | undefined;

  constructor(
    private readonly positions: PrimaryPositions,
    /** Asks the primary for its present position. */
    private readonly ask: () => Promise<WalPosition>,
  ) {}

  /**
   * Call this after a write has committed: remembers it for its accounts. Returns a position not before the commit, or
   * undefined when the primary does not say one in time; the write is stored all the same.
   */
  async wrote(accounts: readonly string[]): Promise<WalPosition | undefined> {
    const position = await this.present();
    if (position === undefined) this.#unknownSince = performance.now();
    else for (const account of accounts) this.#last.set(account, later(position, this.#last.get(account) ?? 0n));
    return position;
  }

  /** The position that a replica must have replayed for these accounts; undefined when only the primary will do. */
  required(accounts: readonly string[]): WalPosition | undefined {
    if (this.#unknownSince !== undefined) {
      const position = this.positions.since(this.#unknownSince);
      if (position === undefined) return undefined;
      this.#ofAll = later(this.#ofAll, position);
      this.#unknownSince = undefined;
    }
    return accounts.reduce((all, account) => later(all, this.#last.get(account) ?? 0n), this.#ofAll);
  }

  /**
   * The present position of the primary. One question serves all writes that committed before it was sent; the writes
   * that commit while it is under way share the next one.
   */
  present(): Promise<WalPosition | undefined> {
    if (!this.#asking) return this.#asked();
    this.#next ??= this.#asking.then(() => {
      this.#next = undefined;
      return this.#asked();
    });
    return this.#next;
  }

  #asked(): Promise<WalPosition | undefined> {
    const asking = async () => {
      try {
        return await this.ask();
      } catch {
        return undefined;
      } finally {
        this.#asking = undefined;
      }
    };
    this.#asking = asking();
    return this.#asking;
  }
}
