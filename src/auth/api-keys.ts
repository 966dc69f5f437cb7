import { and, eq, sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { type AccountKind, account } from '../resources/account/table.js';
import type { CredentialCalls } from '../db/doors.js';
import { problem, DomainError } from '../errors/problems.js';
import { invalid, secretOf } from './authorization.js';
import { type KeyOwner, ownerOf } from './owners.js';
import { invalidSession, newKey, newSessionToken, type NewToken, partsOf, type TokenParts } from './tokens.js';
import { FairQueue } from '../limits/fair-queue.js';
import { Secrets } from '../config/secrets.js';
import type { Caller } from '../request/caller.js';

/** How long a key is valid without another database query, so that a revocation takes effect everywhere within 1 s. */
const freshMilliseconds = 750;
const cachedKeysMax = 10_000;

/**
 * A key with a correct form needs a look-up to be refused. Look-ups of keys that were not valid before have few turns,
 * so that a flood of invented keys does not keep the connections from the reads of valid ones.
 */
const unknownLimits = { slots: 8, ofTenant: 4, ticketsOfTenant: 100, tickets: 500, milliseconds: 1_000 };

/** The caller of a key at the last database query, and until when this result is used. */
interface Found {
  caller: Caller;
  until: number;
}

/**
 * A proxy may send many keys over one connection. Beyond this number the gateway forgets them and hashes them again.
 */
const keysPerConnectionMax = 16;

/** Finds the caller of a request by its headers. */
export class Callers {
  readonly #fresh = new LRUCache<string, Found>({ max: cachedKeysMax });
  /** The look-ups that run, by the digest of their key. */
  readonly #looking = new Map<string, Promise<Found>>();
  /** The callers that act for another account, by the id of the key or session, and that account. */
  readonly #acting = new LRUCache<string, Found>({ max: cachedKeysMax });
  /**
   * The keys of each connection, by the Authorization header. A secret stays in memory only as long as its connection.
   */
  readonly #ofConnection = new WeakMap<object, Map<string, Found>>();
  /**
   * The keys that were hashed again within the last minute. During a roll-out, processes may have the peppers in
   * different orders; without this limit they would undo each other's hash at every use of a key.
   */
  readonly #rehashed = new LRUCache<string, true>({ max: cachedKeysMax, ttl: 60_000 });
  readonly #touched = new LRUCache<string, true>({ max: cachedKeysMax, ttl: 60_000 });

  readonly #secrets: Secrets;
  /** The look-ups of keys that were not valid before, shared between the tenants that the keys name. */
  readonly #unknown = new FairQueue('unknown_keys', unknownLimits);

  constructor(
    private readonly database: CredentialCalls,
    pepper: string | Secrets,
  ) {
    this.#secrets = Secrets.of(pepper);
  }

  /**
   * The caller of a key, or a domain error. The error is the same for an unknown key and a revoked one. For an expired
   * key it says so, because only a client with the complete key can get that message.
   */
  find(connection: object, authorization: string | undefined): Caller | Promise<Caller> {
    return this.known(connection, authorization) ?? this.#byHeader(connection, authorization);
  }

  /** Makes a key with this deployment's pepper. */
  readonly newKey = (tenantId: string, livemode: boolean): NewToken => newKey(this.#secrets, tenantId, livemode);

  /** Makes a session token with this deployment's pepper. */
  newSessionToken(tenantId: string, livemode: boolean): NewToken {
    return newSessionToken(this.#secrets, tenantId, livemode);
  }

  /**
   * The caller of a key that this connection sent before, while the result is valid. This avoids hashing the key again.
   */
  known(connection: object, authorization = ''): Caller | undefined {
    const found = this.#ofConnection.get(connection)?.get(authorization);
    return found && found.until > performance.now() ? found.caller : undefined;
  }

  async #byHeader(connection: object, authorization: string | undefined): Promise<Caller> {
    const found = await this.#byKey(secretOf(authorization));
    let known = this.#ofConnection.get(connection);
    if (!known) this.#ofConnection.set(connection, (known = new Map()));
    if (known.size >= keysPerConnectionMax) known.clear();
    known.set(authorization!, found);
    return found.caller;
  }

  /** The caller of a key. Requests that need the same key at the same time share one look-up. */
  async #byKey(secret: string): Promise<Found> {
    const digests = this.#secrets.digests(secret);
    const [digest] = digests;
    const cached = this.#fresh.get(digest);
    if (cached && cached.until > performance.now()) return cached;
    let looking = this.#looking.get(digest);
    if (!looking) {
      looking = this.#look(secret, digests, cached !== undefined).finally(() => this.#looking.delete(digest));
      this.#looking.set(digest, looking);
    }
    return looking;
  }

  async #look(secret: string, digests: [string, ...string[]], wasValid: boolean): Promise<Found> {
    const [digest] = digests;
    const parts = partsOf(secret);
    const queriedAt = performance.now();
    const look = () => this.#ownerUnder(parts, digests);
    const [owner, found] = wasValid ? await look() : await this.#unknown.during(parts.tenantId, look);
    const caller = callerOf(parts, owner);
    const { expiresAt, now, pepperId } = owner!;
    const left = expiresAt === null ? Number.POSITIVE_INFINITY : (expiresAt - now) * 1000;
    const kept = { caller, until: queriedAt + Math.min(freshMilliseconds, left) };
    this.#fresh.set(digest, kept);
    // A session is too short to be hashed again, and its uses are not uses of its key.
    if (caller.session) return kept;
    this.#touch(caller);
    if (pepperId !== this.#secrets.pepperIds[0]) this.#rehash(caller, found, digest);
    return kept;
  }

  /** The owner of a token under any of the peppers, and the digest that was found. */
  async #ownerUnder(
    parts: TokenParts,
    [digest, ...older]: [string, ...string[]],
  ): Promise<[KeyOwner | undefined, string]> {
    let [owner, found] = [await ownerOf(this.database, parts, digest), digest];
    for (const before of older) {
      if (owner) break;
      [owner, found] = [await ownerOf(this.database, parts, before), before];
    }
    // Between two of these queries another request may have hashed the key again.
    if (!owner && older.length > 0) [owner, found] = [await ownerOf(this.database, parts, digest), digest];
    return [owner, found];
  }

  /** The same as `actingFor`, when it was read for the same key a moment ago. */
  knownActingFor(caller: Caller, id: string): Caller | undefined {
    const found = this.#acting.get(actingName(caller, id));
    return found && found.until > performance.now() ? found.caller : undefined;
  }

  /** A platform may act as one of its connected users. The error does not reveal if another platform's user exists. */
  async actingFor(caller: Caller, id: string): Promise<Caller> {
    if (caller.kind !== 'platform')
      throw new DomainError(
        problem('permission_denied', 'On-Behalf-Of', 'Only a platform may act on behalf of an account.'),
      );
    const p = sql.placeholder;
    const [user] = await this.database.read<{ kind: AccountKind }>(
      'acting_for',
      (db) =>
        db
          .select({ kind: account.kind })
          .from(account)
          .where(
            and(
              eq(account.tenantId, p('tenantId')),
              eq(account.livemode, p('livemode')),
              eq(account.id, p('id')),
              eq(account.kind, 'connected_user'),
            ),
          ),
      { tenantId: caller.tenantId, livemode: caller.livemode, id },
    );
    if (!user) throw new DomainError(problem('resource_missing', 'On-Behalf-Of'));
    const acting = { ...caller, actingAccountId: id, actingAccountKind: user.kind };
    this.#acting.set(actingName(caller, id), { caller: acting, until: performance.now() + freshMilliseconds });
    return acting;
  }

  /** Hashes a key under the pepper for new values. If this fails, the next use of the key tries again. */
  #rehash({ keyId, tenantId, livemode }: Caller, before: string, digest: string): void {
    if (keyId === null || this.#rehashed.has(keyId)) return;
    this.#rehashed.set(keyId, true);
    this.database
      .call('rehash_api_key', [tenantId, livemode, keyId, before, digest, this.#secrets.pepperIds[0]!])
      .catch(() => this.#rehashed.delete(keyId));
  }

  #touch(caller: Caller): void {
    const { keyId, tenantId, livemode } = caller;
    if (keyId === null || this.#touched.has(keyId)) return;
    this.#touched.set(keyId, true);
    // This only records the last use: if it fails, the next use of the key tries again.
    this.database.call('touch_api_key', [tenantId, livemode, keyId]).catch(() => this.#touched.delete(keyId));
  }
}

/** A session may do less than the key that made it, so the two have results of their own. */
const actingName = ({ keyId, session }: Caller, id: string) => `${session?.id ?? keyId} ${id}`;

/** The caller of a key or session that was found; refuses one that has ended. */
function callerOf({ kind, tenantId, livemode }: TokenParts, owner: KeyOwner | undefined): Caller {
  if (!owner || owner.revokedAt !== null) throw kind === 'session' ? invalidSession() : invalid();
  const { session, expiresAt, now, accountId, keyId } = owner;
  if (expiresAt !== null && expiresAt <= now)
    throw invalid(
      session
        ? 'The session has expired. Make another one, by an API key on your server.'
        : 'The API key has expired. Create a new one.',
    );
  return {
    tenantId,
    livemode,
    edition: owner.edition as 1 | 2,
    kind: owner.kind,
    permission: session?.role === 'read' ? 'read' : owner.permission,
    keyId,
    ...(session && { session }),
    accountId,
    actingAccountId: accountId,
    actingAccountKind: owner.kind,
  };
}
