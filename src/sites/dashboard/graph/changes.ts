import { createContext } from 'react';
import type { Client } from 'urql';
import { graphql } from './graphql';

const EventsSubscription = graphql(`
  subscription Changes($scope: AccountScope!) {
    events(scope: $scope) { number }
  }
`);

/** A stream of many events has a page ask again only this often. */
const calmMilliseconds = 2_000;
/** A stream that has ended is opened again after these pauses; the last one repeats. */
const pauses = [1, 5, 15, 60];

/**
 * Notifies the queries of a page when something has happened in the acting account: a subscription to its events,
 * which is open while a page listens. Pages poll while it is not.
 */
export class Changes {
  #open = false;
  #failures = 0;
  #listeners = new Set<() => void>();
  #timers = new Map<'notify' | 'open', ReturnType<typeof setTimeout>>();
  #end = () => {};

  constructor(
    private readonly client: Client,
    /** Whose events count: of a platform, those of its connected users, too. */
    private readonly scope: 'SELF' | 'DESCENDANTS',
  ) {}

  /** Whether the stream is open, as far as the browser knows. */
  get open(): boolean {
    return this.#open;
  }

  /** Calls `listener` after events and whenever the stream opens or ends; the result ends that. */
  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#after('open', 0, () => this.#follow());
    return () => {
      this.#listeners.delete(listener);
      // A page that is left and the next one share the stream.
      if (this.#listeners.size === 0) this.#after('open', calmMilliseconds, () => this.#stop());
    };
  };

  #follow(): void {
    if (this.#listeners.size === 0 || this.#open) return;
    this.#open = true;
    const ended = () => {
      if (!this.#open) return;
      this.#stop();
      this.#after('open', pauses[Math.min(this.#failures++, pauses.length - 1)]! * 1000, () => this.#follow());
      this.#notify();
    };
    const source = this.client.subscription(EventsSubscription, { scope: this.scope });
    const subscription = source.subscribe(({ data, error, hasNext }) => {
      if (data) {
        this.#failures = 0;
        if (!this.#timers.has('notify')) this.#after('notify', calmMilliseconds, () => this.#notify());
      }
      // Not at once: a stream that is cancelled while it hands over a result rejects, and nobody catches that.
      if (error ?? !hasNext) setTimeout(ended);
    });
    this.#end = () => subscription.unsubscribe();
    // What happened while the page was loaded, or while there was no stream.
    this.#after('notify', calmMilliseconds, () => this.#notify());
  }

  #stop(): void {
    this.#open = false;
    this.#end();
    this.#end = () => {};
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #after(name: 'notify' | 'open', milliseconds: number, work: () => void): void {
    clearTimeout(this.#timers.get(name));
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      work();
    }, milliseconds);
    this.#timers.set(name, timer);
  }
}

/** The changes of the acting account; null where no stream brings them. */
export const ChangesContext = createContext<Changes | null>(null);
