import { Cancellations } from '../connect/cancellation.js';
import type { Pool, TrackQuery } from '../connect/connections.js';
import { type Found, type Read, ReadCombiner, sent } from './read-combiner.js';
import type { Statements } from './statements.js';

/** Runs attempts at a statement on a server. */
type Attempts = <T>(attempt: (track: TrackQuery) => Promise<T>) => Promise<T>;

/** The quick reads of one server, on its pipelined connections: reads of one text and tenant that wait are combined. */
export class QuickReads {
  readonly #cancellations = new Cancellations();
  readonly #combiner: ReadCombiner;

  constructor(pool: Pool, attempts: Attempts, statements: () => Statements) {
    this.#combiner = new ReadCombiner({
      alone: (read) =>
        attempts((track) => this.#cancellations.guard(read.budget, (guarded) => guarded(track(sent(pool, read))))),
      together: (text, values) => attempts((track) => track(sent(pool, { text, values, prepare: true }))),
      mayPrepare: (text) => statements().kept(`combined:${text}`, text),
    });
  }

  read(read: Read): Promise<Found> {
    return this.#combiner.read(read);
  }

  /** Forgets all statements, because the statements that PostgreSQL may keep are counted anew. */
  renew(): void {
    this.#combiner.renew();
  }
}
