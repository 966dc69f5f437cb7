import type { CheckoutPlace } from '../resources/checkout/link.js';
import type { Database } from '../db/database.js';
import { payerScope, stateAt } from './session.js';

interface Watch {
  place: CheckoutPlace;
  last: string | undefined;
  tell(state: string): void;
}

const lookMilliseconds = 400;
const watchesMax = 2_000;
const watchesOfOneMax = 20;

/**
 * Looks at the checkouts whose pages are open, and tells their changes: two statements per tenant and look, however many
 * pages are open. What another process has written is seen like one's own.
 */
export class Watcher {
  readonly #watches = new Set<Watch>();
  #looking = false;

  constructor(private readonly database: Database) {}

  /** Whether one more page may watch: one checkout's pages must not take the places of all others'. */
  admits({ id }: CheckoutPlace): boolean {
    if (this.#watches.size >= watchesMax) return false;
    let same = 0;
    for (const { place } of this.#watches) if (place.id === id) same++;
    return same < watchesOfOneMax;
  }

  /** Tells the state now and whenever it changes, until the function that it answers is called. */
  watch(place: CheckoutPlace, tell: (state: string) => void): () => void {
    const watch: Watch = { place, last: undefined, tell };
    this.#watches.add(watch);
    if (!this.#looking) void this.#look();
    return () => this.#watches.delete(watch);
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#watches.size > 0) {
      const realms = new Map<string, Watch[]>();
      for (const watch of this.#watches) {
        const realm = `${watch.place.tenantId} ${watch.place.livemode}`;
        realms.set(realm, [...(realms.get(realm) ?? []), watch]);
      }
      // A look that fails is made up for by the next one.
      for (const watches of realms.values()) await this.#ask(watches).catch(() => {});
      await new Promise((resume) => setTimeout(resume, lookMilliseconds));
    }
    this.#looking = false;
  }

  async #ask(watches: Watch[]): Promise<void> {
    const scope = payerScope(this.database, watches[0]!.place);
    await Promise.all(
      watches.map(async (watch) => {
        const state = await stateAt(scope, watch.place.id);
        if (state === undefined || state === watch.last) return;
        watch.last = state;
        watch.tell(state);
      }),
    );
  }
}
