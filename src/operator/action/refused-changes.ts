import { entryJson, type Action, type Actor, append } from './actions.js';
import type { Operator } from '../operator.js';
import { ActionOutcome } from '../table.js';

/** The most refused changes of one operator that the audit log has in this time, each with its arguments. */
export const refusedChangesMax = 50;
const windowSecondsDefault = 600;
const operatorsMax = 1_000;
const code = 'permission_denied';

/**
 * Records the changes that operators with the role `read` were refused. They may ask any number of times, and entries
 * are never deleted: so beyond a number the log has one entry with their count, when the time is over. The gateway's
 * own log has each request.
 */
export class RefusedChanges {
  readonly #counts = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(private readonly windowSeconds = windowSecondsDefault) {}

  /** Records a refusal. Throws 503 when the log cannot be written. */
  async add(operator: Operator, actor: Actor, action: Action): Promise<void> {
    const entry = entryJson({ ...action, outcome: ActionOutcome.REFUSED, code }, actor.id, operator.requestId);
    const number = await append(operator, 'append_refused_change', [
      ...[actor.name, JSON.stringify(entry), this.windowSeconds, refusedChangesMax],
    ]);
    if (number !== null) return;
    const count = this.#counts.get(actor.name);
    if (count === undefined && this.#counts.size >= operatorsMax) return;
    this.#counts.set(actor.name, (count ?? 0) + 1);
    if (count === undefined) this.#later(operator, actor);
  }

  /** Ends the timers. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #later(operator: Operator, actor: Actor): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#summarise(operator, actor);
    }, this.windowSeconds * 1_000).unref();
    this.#timers.add(timer);
  }

  /** Appends the number of the refusals that have no entry. */
  async #summarise(operator: Operator, actor: Actor): Promise<void> {
    const count = this.#counts.get(actor.name) ?? 0;
    const action = { operation: 'refusedChanges', outcome: ActionOutcome.REFUSED, code, details: { count } };
    const entry = JSON.stringify(entryJson(action, actor.id, operator.requestId));
    // One more than the others may use, so that they never keep it out.
    const values = [actor.name, entry, this.windowSeconds, refusedChangesMax + 1];
    const number = await append(operator, 'append_refused_change', values).catch(() => null);
    const left = (this.#counts.get(actor.name) ?? 0) - (number === null ? 0 : count);
    if (left > 0) {
      this.#counts.set(actor.name, left);
      this.#later(operator, actor);
    } else this.#counts.delete(actor.name);
  }
}
