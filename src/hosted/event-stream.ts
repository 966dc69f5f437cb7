import type { CheckoutPlace } from '../resources/checkout/link.js';
import type { ScopeSource } from '../db/doors.js';
import { payerScope, stateAt } from './session.js';

interface Subscription {
  place: CheckoutPlace;
  last: string | undefined;
  send(state: string): void;
}

const pollMilliseconds = 400;
const subscriptionsMax = 2_000;
const subscriptionsPerTenantMax = 500;
const subscriptionsPerCheckoutMax = 20;

/**
 * Polls the checkouts whose pages are open, and sends their changes to the pages. Each poll takes two statements per
 * tenant, whatever the number of open pages. It reads the database, so it also sees the writes of other processes.
 */
export class CheckoutEvents {
  readonly #subscriptions = new Set<Subscription>();
  #polling = false;

  constructor(private readonly database: ScopeSource) {}

  /**
   * Whether one more page may subscribe. The pages of one checkout, or of one tenant, must not use up the subscriptions
   * of all others.
   */
  admits({ tenantId, id }: CheckoutPlace): boolean {
    if (this.#subscriptions.size >= subscriptionsMax) return false;
    let [ofTenant, ofCheckout] = [0, 0];
    for (const { place } of this.#subscriptions)
      if (place.tenantId === tenantId) {
        ofTenant++;
        if (place.id === id) ofCheckout++;
      }
    return ofTenant < subscriptionsPerTenantMax && ofCheckout < subscriptionsPerCheckoutMax;
  }

  /** Sends the state now and after each change. The returned function ends the subscription. */
  subscribe(place: CheckoutPlace, send: (state: string) => void): () => void {
    const subscription: Subscription = { place, last: undefined, send };
    this.#subscriptions.add(subscription);
    if (!this.#polling) void this.#pollAll();
    return () => this.#subscriptions.delete(subscription);
  }

  async #pollAll(): Promise<void> {
    this.#polling = true;
    while (this.#subscriptions.size > 0) {
      const tenantsAndModes = new Map<string, Subscription[]>();
      for (const subscription of this.#subscriptions) {
        const tenantAndMode = `${subscription.place.tenantId} ${subscription.place.livemode}`;
        tenantsAndModes.set(tenantAndMode, [...(tenantsAndModes.get(tenantAndMode) ?? []), subscription]);
      }
      // The next poll makes up for a failed one.
      for (const subscriptions of tenantsAndModes.values()) await this.#pollTenant(subscriptions).catch(() => {});
      await new Promise((resume) => setTimeout(resume, pollMilliseconds));
    }
    this.#polling = false;
  }

  async #pollTenant(subscriptions: Subscription[]): Promise<void> {
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
