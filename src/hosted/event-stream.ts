import type { CheckoutPlace } from '../resources/checkout/link.js';
import type { Database } from '../db/database.js';
import { payerScope, stateAt } from './session.js';

interface Subscription {
  place: CheckoutPlace;
  last: string | undefined;
  send(state: string): void;
}

const lookMilliseconds = 400;
const subscriptionsMax = 2_000;
const subscriptionsPerCheckoutMax = 20;

/**
 * Looks at the checkouts whose pages are open, and tells their changes: two statements per tenant and look, however many
 * pages are open. What another process has written is seen like one's own.
 */
export class CheckoutEvents {
  readonly #subscriptions = new Set<Subscription>();
  #looking = false;

  constructor(private readonly database: Database) {}

  /** Whether one more page may watch: one checkout's pages must not take the places of all others'. */
  admits({ id }: CheckoutPlace): boolean {
    if (this.#subscriptions.size >= subscriptionsMax) return false;
    let same = 0;
    for (const { place } of this.#subscriptions) if (place.id === id) same++;
    return same < subscriptionsPerCheckoutMax;
  }

  /** Tells the state now and whenever it changes, until the function that it answers is called. */
  subscribe(place: CheckoutPlace, send: (state: string) => void): () => void {
    const subscription: Subscription = { place, last: undefined, send };
    this.#subscriptions.add(subscription);
    if (!this.#looking) void this.#look();
    return () => this.#subscriptions.delete(subscription);
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#subscriptions.size > 0) {
      const tenantsAndModes = new Map<string, Subscription[]>();
      for (const subscription of this.#subscriptions) {
        const tenantAndMode = `${subscription.place.tenantId} ${subscription.place.livemode}`;
        tenantsAndModes.set(tenantAndMode, [...(tenantsAndModes.get(tenantAndMode) ?? []), subscription]);
      }
      // A look that fails is made up for by the next one.
      for (const subscriptions of tenantsAndModes.values()) await this.#ask(subscriptions).catch(() => {});
      await new Promise((resume) => setTimeout(resume, lookMilliseconds));
    }
    this.#looking = false;
  }

  async #ask(subscriptions: Subscription[]): Promise<void> {
    const scope = payerScope(this.database, subscriptions[0]!.place);
    await Promise.all(
      subscriptions.map(async (subscription) => {
        const state = await stateAt(scope, subscription.place.id);
        if (state === undefined || state === subscription.last) return;
        subscription.last = state;
        subscription.send(state);
      }),
    );
  }
}
