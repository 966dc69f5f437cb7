/** After how long without a notice of work it is looked for all the same. */
const quietMilliseconds = 30_000;

/** A time that differs by a quarter, so that several gateways do not look at the same moments. */
const about = (milliseconds: number) => milliseconds * (0.75 + Math.random() / 2);

/**
 * Says when the next poll for one kind of work begins: at once when it was woken; after the pause of this kind of work
 * when it was notified of work, or when the last poll has found some; and otherwise only after a long time. What
 * it is notified of during a poll counts for the next one.
 */
export class PollTimer {
  #notified = false;
  #woken = false;
  #ended = false;
  /** When the next poll begins if there may be work, and without a notice of it. */
  #next = { notified: 0, quiet: 0 };
  #begin: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** The argument is the shortest time between two polls, unless it is woken. */
  constructor(private readonly milliseconds: number) {}

  /** Notifies it that there is such work. */
  notify(): void {
    if (this.#notified) return;
    this.#notified = true;
    this.#arm();
  }

  /** Ends the pause before the next poll. */
  wake(): void {
    this.#woken = true;
    this.#arm();
  }

  /** Ends this wait and all further ones: the worker stops. */
  end(): void {
    this.#ended = true;
    this.#arm();
  }

  /**
   * Resolves when the next poll begins, or the worker stops. After a poll that has found work, or that has failed,
   * another one follows in any case.
   */
  async next(found: boolean): Promise<void> {
    this.#notified ||= found;
    const now = performance.now();
    this.#next = { notified: now + about(this.milliseconds), quiet: now + about(quietMilliseconds) };
    await new Promise<void>((begin) => {
      this.#begin = begin;
      this.#arm();
    });
    this.#begin = undefined;
    this.#notified = this.#woken = false;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const { notified, quiet } = this.#next;
    const left = (this.#notified ? notified : quiet) - performance.now();
    if (this.#woken || this.#ended || left <= 0) this.#begin?.();
    else if (this.#begin) this.#timer = setTimeout(this.#begin, left);
  }
}
