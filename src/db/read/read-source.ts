import type { Caller } from '../../request/caller.js';
import { causeOf } from '../connect/outage.js';
import type { Found, Read } from './read-combiner.js';
import type { Replica } from '../replicas/replica.js';
import type { Replicas } from '../replicas/replicas.js';
import { type ReadClass, ExpensiveReadError } from './read-class.js';
import { later, type WalPosition } from '../replicas/wal-positions.js';

/** What a client asks for with its token: a position that its reads must have, or the primary. */
export type Consistency = WalPosition | 'primary';

/** A read of a tenant, and where its request may read; without a source it reads on the primary. */
export type TenantReadClass = ReadClass & { tenantId: string; source: ReadSource | undefined };

/**
 * Where one request reads. Statements that may lag go to one replica, the same for the whole request, so that time does
 * not run backwards in it. What that replica does not have, and what fails there, is asked again on the primary, and so
 * is everything after it. A request that writes reads on the primary from its beginning.
 */
export class ReadSource {
  readonly #accounts: readonly string[];
  #replica: Replica | undefined;
  #stays = false;
  #ready: Promise<void> | undefined;
  /** The token of the last write of this request; undefined when it has written nothing. */
  wrote: Consistency | undefined;

  constructor(
    private readonly replicas: Replicas,
    { tenantId, livemode, accountId, actingAccountId }: Caller,
    private readonly asked: Consistency | undefined,
  ) {
    const names = accountId === actingAccountId ? [accountId] : [accountId, actingAccountId];
    this.#accounts = names.map((account) => `${tenantId} ${livemode} ${account}`);
    this.#stays = asked === 'primary';
  }

  /** Resolves when the primary has what the client's token asks for; undefined when nothing is to be waited for. */
  ready(): Promise<void> | undefined {
    if (typeof this.asked !== 'bigint') return undefined;
    this.#ready ??= this.replicas.reach(this.asked);
    return this.#ready;
  }

  /** All further statements of the request read on the primary. */
  stay(): void {
    this.#stays = true;
  }

  /** Call this after a write of the request has committed. */
  async noteWrite(): Promise<void> {
    this.wrote = (await this.replicas.ownWrites.wrote(this.#accounts)) ?? 'primary';
  }

  /** What the replica of the request finds; undefined when the primary has to be asked. */
  async find({ budget }: Pick<Read, 'budget'>, read: (replica: Replica) => Promise<Found>): Promise<Found | undefined> {
    const replica = this.#chosen();
    if (!replica) {
      this.replicas.onPrimary++;
      return undefined;
    }
    try {
      const found = await read(replica);
      replica.answered(found.rows.length > 0);
      if (found.rows.length > 0) return found;
      // The object of a cursor, or the list of an account, may be newer than the replica's data.
    } catch (error) {
      if (budget?.ended || error instanceof ExpensiveReadError) throw error;
      replica.failed(causeOf(error));
    }
    this.stay();
    return undefined;
  }

  #chosen(): Replica | undefined {
    if (this.#stays) return undefined;
    const own = this.replicas.ownWrites.required(this.#accounts);
    if (own === undefined) return undefined;
    const required = typeof this.asked === 'bigint' ? later(own, this.asked) : own;
    if (!this.#replica) this.#replica = this.replicas.choose(required);
    else if (!this.#replica.serves(required)) this.#replica = undefined;
    if (!this.#replica) this.stay();
    return this.#replica;
  }
}
