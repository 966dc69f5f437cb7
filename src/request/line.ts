/** A member of a line, which is in no other line. */
export class Linked<T> {
  before: T | undefined;
  after: T | undefined;
}

/**
 * Members in the order in which they joined, of which any may leave. A `Set` or `Map` would have them, too, but it keeps
 * members in memory after they have left: a table that it has outgrown refers to the next one, and to the members that
 * it had then. As soon as one of these tables is old, each collection of young objects keeps all that follow it, until
 * the next complete collection. So it fits members that stay, and not the requests and statements of each moment.
 * Measured: docs/decisions/cheap-requests.md.
 */
export class Line<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;

  get first(): T | undefined {
    return this.#first;
  }

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  join(member: T): void {
    member.before = this.#last;
    if (this.#last) this.#last.after = member;
    else this.#first = member;
    this.#last = member;
  }

  /** Removes a member. Returns false when it is not in the line. */
  leave(member: T): boolean {
    const { before, after } = member;
    if (!before && this.#first !== member) return false;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    member.before = undefined;
    member.after = undefined;
    return true;
  }

  /** The members of now, in their order. */
  get members(): T[] {
    const all: T[] = [];
    for (let member = this.#first; member; member = member.after) all.push(member);
    return all;
  }
}
