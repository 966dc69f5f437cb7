/** The place of a value in `Slots`. */
export interface Slot<T> {
  /** Undefined once the value was removed. */
  value: T | undefined;
}

/**
 * The values that are under way, in the order in which they were added, such as the requests whose time limits run. A
 * removed value leaves its slot, too. A Set alone would keep it: V8 gives a Set a new table whenever removals have used
 * up the old one, and the old table refers to the new one. Once a table is among the long-lived objects, all later
 * tables and their values survive each collection of young objects until the next full collection. Measured:
 * docs/decisions/cheap-requests.md.
 */
export class Slots<T> {
  readonly #slots = new Set<Slot<T>>();

  get size(): number {
    return this.#slots.size;
  }

  add(value: T): Slot<T> {
    const slot = { value };
    this.#slots.add(slot);
    return slot;
  }

  /** Removes a value; without effect when it was removed before. */
  remove(slot: Slot<T>): void {
    this.#slots.delete(slot);
    slot.value = undefined;
  }

  /** The values with their slots, the oldest first. Slots may be removed meanwhile. */
  [Symbol.iterator](): IterableIterator<Slot<T>> {
    return this.#slots.values();
  }
}
