import { createHash, createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { and, eq, sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { type AccountKind, account } from '../resources/account/table.js';
import type { Database } from '../db/database.js';
import { apiKey, type KeyPermission } from '../resources/key/table.js';
import { problem, DomainError } from '../request/problems.js';
import { invalid, secretOf } from './authorization.js';
import { Turns } from '../request/turns.js';
import { Secrets } from '../db/secrets.js';
import type { Caller } from '../request/caller.js';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 32;
const checksumLength = 6;
const keyPattern = /^sk_(test|live)_([0-9a-f]{32})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** The parts of a new key. The client sees `secret` once, and it is stored nowhere. */
export interface NewKey {
  secret: string;
  digest: string;
  prefix: string;
  /** The public name of the pepper under which the digest was made. */
  pepperId: string;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let out = '';
  for (let i = 0; i < checksumLength; i++) {
    out = digits[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

/**
 * Makes a key for a tenant and mode: the tenant, 190 bits of randomness, and a checksum that identifies a
 * mistyped or leaked key without a database query. `random` returns whole numbers below its argument.
 */
export function newKey(
  pepper: string | Secrets,
  tenantId: string,
  livemode: boolean,
  random: (below: number) => number = randomInt,
): NewKey {
  const mode = livemode ? 'live' : 'test';
  const body = `sk_${mode}_${tenantId}_${Array.from({ length: secretLength }, () => digits[random(62)]).join('')}`;
  const secret = body + checksum(body);
  const secrets = Secrets.of(pepper);
  const [digest] = secrets.digests(secret);
  return { secret, digest, prefix: `sk_${mode}_…${secret.slice(-4)}`, pepperId: secrets.pepperIds[0]! };
}

/** A stream of numbers that a pepper and a name determine, so that a new seeding makes the same keys for the demo. */
export function derived(pepper: string, name: string): (below: number) => number {
  let i = 0;
  return (below) => createHmac('sha256', pepper).update(`${name}:${i++}`).digest().readUInt32BE(0) % below;
}

/** How long a key is valid without another database query, so that a revocation takes effect everywhere within 1 s. */
const freshMilliseconds = 750;
const cachedKeysMax = 10_000;

/**
 * A key with a correct form needs a look-up to be refused. Look-ups of keys that were not valid before have few turns, so
 * that a flood of invented keys does not keep the connections from the reads of valid ones.
 */
const strangerLimits = { slots: 8, perKey: 4, reserve: 0, ofKey: 100, all: 500, milliseconds: 1_000 };

interface Holder {
  keyId: string;
  accountId: string;
  kind: AccountKind;
  edition: number;
  permission: KeyPermission;
  expiresAt: number | null;
  revokedAt: number | null;
  pepperId: string | null;
  now: number;
}

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
  /** The callers that act for another account, by the key's id and that account. */
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
  readonly #strangers = new Turns(strangerLimits);

  constructor(
    private readonly database: Database,
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
  newKey(tenantId: string, livemode: boolean): NewKey {
    return newKey(this.#secrets, tenantId, livemode);
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
    const match = keyPattern.exec(secret);
    // A mistyped key is refused without a database query.
    if (!match || !same(secret.slice(-checksumLength), checksum(secret.slice(0, -checksumLength)))) throw invalid();
    const queriedAt = performance.now();
    const tenantId = match[2]!;
    const livemode = match[1] === 'live';
    const look = () => this.#holderUnder(tenantId, livemode, digests);
    const [holder, found] = wasValid ? await look() : await this.#strangers.during(tenantId, look);
    if (!holder || holder.revokedAt !== null) throw invalid();
    if (holder.expiresAt !== null && holder.expiresAt <= holder.now)
      throw invalid('The API key has expired. Create a new one.');
    const caller: Caller = {
      tenantId,
      livemode,
      edition: holder.edition as 1 | 2,
      kind: holder.kind,
      permission: holder.permission,
      keyId: holder.keyId,
      accountId: holder.accountId,
      actingAccountId: holder.accountId,
      actingAccountKind: holder.kind,
    };
    const left = holder.expiresAt === null ? Number.POSITIVE_INFINITY : (holder.expiresAt - holder.now) * 1000;
    const kept = { caller, until: queriedAt + Math.min(freshMilliseconds, left) };
    this.#fresh.set(digest, kept);
    this.#touch(caller);
    if (holder.pepperId !== this.#secrets.pepperIds[0]) this.#rehash(caller, found, digest);
    return kept;
  }

  /** The holder of a key under any of the peppers, and the digest that was found. */
  async #holderUnder(
    tenantId: string,
    livemode: boolean,
    [digest, ...older]: [string, ...string[]],
  ): Promise<[Holder | undefined, string]> {
    let [holder, found] = [await this.#holder(tenantId, livemode, digest), digest];
    for (const before of older) {
      if (holder) break;
      [holder, found] = [await this.#holder(tenantId, livemode, before), before];
    }
    // Between two of these queries another request may have hashed the key again.
    if (!holder && older.length > 0) [holder, found] = [await this.#holder(tenantId, livemode, digest), digest];
    return [holder, found];
  }

  async #holder(tenant: string, live: boolean, digest: string): Promise<Holder | undefined> {
    const p = sql.placeholder;
    const [holder] = await this.database.read<Holder>(
      'key_holder',
      (db) =>
        db
          .select({
            keyId: apiKey.id,
            accountId: account.id,
            kind: account.kind,
            edition: account.edition,
            permission: apiKey.permission,
            expiresAt: apiKey.expiresAt,
            revokedAt: apiKey.revokedAt,
            pepperId: apiKey.pepperId,
            now: sql<number>`extract(epoch from clock_timestamp())::int`,
          })
          .from(apiKey)
          .innerJoin(
            account,
            and(eq(account.tenantId, p('tenant')), eq(account.livemode, p('live')), eq(account.id, apiKey.accountId)),
          )
          .where(and(eq(apiKey.tenantId, p('tenant')), eq(apiKey.livemode, p('live')), eq(apiKey.digest, p('digest')))),
      { tenant, live, digest },
    );
    return holder;
  }

  /** The same as `actingFor`, when it was read for the same key a moment ago. */
  knownActingFor({ keyId }: Caller, id: string): Caller | undefined {
    const found = this.#acting.get(`${keyId} ${id}`);
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
              eq(account.tenantId, p('tenant')),
              eq(account.livemode, p('live')),
              eq(account.id, p('id')),
              eq(account.kind, 'connected_user'),
            ),
          ),
      { tenant: caller.tenantId, live: caller.livemode, id },
    );
    if (!user) throw new DomainError(problem('resource_missing', 'On-Behalf-Of'));
    const acting = { ...caller, actingAccountId: id, actingAccountKind: user.kind };
    this.#acting.set(`${caller.keyId} ${id}`, { caller: acting, until: performance.now() + freshMilliseconds });
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

const same = (a: string, b: string) =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
