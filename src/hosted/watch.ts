import type { CheckoutPlace } from '../checkout/link.js';
import { checkoutNow } from '../checkout/now.js';
import type { Database } from '../db/database.js';
import { transaction } from '../transaction/table.js';
import { payerScope, stateKey, stateOf } from './session.js';

interface Watch {
  place: CheckoutPlace;
  last: string | undefined;
  tell(state: string): void;
}

const lookMilliseconds = 400;

/**
 * Looks at the checkouts whose pages are open, and tells their changes: two statements per tenant and look, however many
 * pages are open. What another process has written is seen like one's own.
 */
export class Watcher {
  readonly #watches = new Set<Watch>();
  #looking = false;

  constructor(private readonly database: Database) {}

  get size(): number {
    return this.#watches.size;
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
        const { id } = watch.place;
        const [checkout, attempts] = await Promise.all([
          scope.find(checkoutNow, id),
          scope.all(transaction, transaction.checkoutId, id),
        ]);
        if (!checkout) return;
        const state = stateKey(stateOf(checkout, attempts));
        if (state === watch.last) return;
        watch.last = state;
        watch.tell(state);
      }),
    );
  }
}
