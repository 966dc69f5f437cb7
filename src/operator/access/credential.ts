import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { and, eq, isNull, or, sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import { isOperatorToken } from '../../auth/tokens.js';
import type { CredentialCalls } from '../../db/doors.js';
import type { Secrets } from '../../config/secrets.js';
import { problem, DomainError } from '../../errors/problems.js';
import { FairQueue } from '../../limits/fair-queue.js';
import { operator, OperatorRole, operatorSession } from '../table.js';

const delayMilliseconds = 1_000;
const delayedMax = 20;
/**
 * Look-ups of keys and tokens that were not valid before. Their holders could be anybody, so they get few turns,
 * which the addresses share: those that send many wrong keys wait for their own.
 */
const unknownLimits = { slots: 3, ofTenant: 1, ticketsOfTenant: 20, tickets: 1_000, milliseconds: 1_000 };
const touchSeconds = 60;

/** The operator that a request belongs to, by a key or by a session in a browser. */
export interface OperatorIdentity {
  /** Null for the holder of OPERATOR_KEY. */
  id: string | null;
  name: string;
  role: OperatorRole;
  /** The keyed hash of the OPERATOR_KEY; null for a named operator. */
  keyDigest: string | null;
  session: { digest: string; expiresAt: number } | null;
}

/** The viewer of a request, as the graph and the endpoint of sessions show it. */
export function viewerOf({ id, name, role, session }: OperatorIdentity) {
  return { id, name, role, sessionExpires: session?.expiresAt ?? null };
}

/** The name under which the holder of OPERATOR_KEY acts. */
export const sharedName = 'OPERATOR_KEY';

/** What a request sends: the header Authorization, or the token of a session. */
export interface OperatorCredential {
  authorization: string | undefined;
  session: string | undefined;
  /** The address of the client. */
  address: string;
}

const p = sql.placeholder;
const now = sql<number>`extract(epoch from clock_timestamp())`;

/**
 * Finds the operator of a request: by OPERATOR_KEY, by the key of a named operator, or by a session. Nothing is kept,
 * so a revocation takes effect with the next request to any gateway.
 *
 * The length of the keys makes guessing infeasible. Failed attempts lock no operator out, because anybody could then
 * lock out all of them. A request with a wrong key waits a second for its domain error; while 20 such requests wait,
 * further ones get 429 at once. A right key that was valid before waits for nothing. The first use of one at a gateway
 * waits for at most a look-up of each other address that sends unknown keys.
 */
export class Credentials {
  readonly #shared: Buffer | undefined;
  /** The keyed hashes of OPERATOR_KEY, under each pepper. */
  readonly #sharedDigests: readonly string[];
  #delayed = 0;
  readonly #valid = new LRUCache<string, true>({ max: 1_000 });
  readonly #unknown = new FairQueue('unknown_operator_keys', unknownLimits);

  constructor(
    private readonly database: CredentialCalls,
    private readonly secrets: Secrets,
    sharedKey: string | undefined,
  ) {
    this.#shared = sharedKey === undefined ? undefined : digestOf(sharedKey);
    this.#sharedDigests = sharedKey === undefined ? [] : secrets.digests(sharedKey);
  }

  /** The operator of a request. Refuses a request without a valid key or session; says so at once for a wrong key. */
  async check(
    { authorization, session, address }: OperatorCredential,
    onWrongKey = () => {},
  ): Promise<OperatorIdentity> {
    if (authorization === undefined && session !== undefined) return this.#ofSession(session, address);
    const [, given] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    if (given === undefined)
      throw new DomainError(
        problem('authentication_required', undefined, "Send an operator's key, as Authorization: Bearer <key>."),
      );
    const found = this.#ofShared(given) ?? (await this.#ofKey(given, address));
    if (found) return found;
    onWrongKey();
    if (this.#delayed >= delayedMax) throw new DomainError(problem('rate_limit_exceeded'));
    this.#delayed++;
    try {
      await sleep(delayMilliseconds);
    } finally {
      this.#delayed--;
    }
    throw new DomainError(
      problem('api_key_invalid', undefined, "This is not an operator's key. Send the key that the operator was given."),
    );
  }

  #ofShared(given: string): OperatorIdentity | undefined {
    if (!this.#shared || !timingSafeEqual(digestOf(given), this.#shared)) return undefined;
    const [keyDigest] = this.#sharedDigests;
    return { id: null, name: sharedName, role: OperatorRole.OPERATE, keyDigest: keyDigest!, session: null };
  }

  async #ofKey(given: string, address: string): Promise<OperatorIdentity | undefined> {
    if (!isOperatorToken('opk', given)) return undefined;
    const digests = this.secrets.digests(given);
    const found = await this.#looked(digests[0], address, () => this.#readKey(digests));
    if (!found) return undefined;
    const { id, name, role, digest, pepperId, stale } = found;
    const [pepper] = this.secrets.pepperIds;
    // This only records the use: if it fails, the next use tries again.
    if (stale || pepperId !== pepper)
      this.database.call('touch_operator', [id, digest, digests[0], pepper!]).catch(() => {});
    return { id, name, role, keyDigest: null, session: null };
  }

  async #readKey(digests: readonly string[]) {
    const [row] = await this.database.read<KeyOwner>(
      'operator_key_owner',
      (db) =>
        db
          .select({
            id: operator.id,
            name: operator.name,
            role: operator.role,
            digest: operator.digest,
            pepperId: operator.pepperId,
            stale: sql<boolean>`coalesce(${operator.lastUsedAt}, 0) < ${now} - ${sql.raw(String(touchSeconds))}`,
          })
          .from(operator)
          .where(and(sql`${operator.digest} = any(${p('digests')}::text[])`, isNull(operator.revokedAt))),
      { digests },
    );
    return row;
  }

  /** The operator of a session. It ends with its time, with its operator, and with the OPERATOR_KEY that made it. */
  async #ofSession(token: string, address: string): Promise<OperatorIdentity> {
    const digests = this.secrets.digests(token);
    const found = isOperatorToken('ops', token)
      ? await this.#looked(digests[0], address, () => this.#readSession(digests))
      : undefined;
    if (!found || (found.keyDigest !== null && !this.#sharedDigests.includes(found.keyDigest)))
      throw new DomainError(problem('api_key_invalid', undefined, 'The session has ended. Sign in again.'));
    const { id, name, role, keyDigest, digest, expiresAt } = found;
    return {
      ...{ id, name: name ?? sharedName, role: role ?? OperatorRole.OPERATE, keyDigest },
      session: { digest, expiresAt },
    };
  }

  async #readSession(digests: readonly string[]) {
    const [row] = await this.database.read<SessionOwner>(
      'operator_session_owner',
      (db) =>
        db
          .select({
            id: operatorSession.operatorId,
            name: operator.name,
            role: operator.role,
            keyDigest: operatorSession.keyDigest,
            digest: operatorSession.digest,
            expiresAt: operatorSession.expiresAt,
          })
          .from(operatorSession)
          .leftJoin(operator, and(eq(operator.id, operatorSession.operatorId), isNull(operator.revokedAt)))
          .where(
            and(
              sql`${operatorSession.digest} = any(${p('digests')}::text[])`,
              sql`${operatorSession.expiresAt} > ${now}`,
              or(isNull(operatorSession.operatorId), sql`${operator.id} is not null`),
            ),
          ),
      { digests },
    );
    return row;
  }

  /** Looks up a keyed hash, among few others unless it was valid before. */
  async #looked<T>(digest: string, address: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const found = await (this.#valid.has(digest) ? read() : this.#unknown.during(address, read));
    if (found) this.#valid.set(digest, true);
    else this.#valid.delete(digest);
    return found;
  }
}

interface KeyOwner {
  id: string;
  name: string;
  role: OperatorRole;
  digest: string;
  pepperId: string;
  stale: boolean;
}

interface SessionOwner extends Omit<KeyOwner, 'id' | 'name' | 'role' | 'pepperId' | 'stale'> {
  id: string | null;
  name: string | null;
  role: OperatorRole | null;
  keyDigest: string | null;
  expiresAt: number;
}

/** Digests always have the same length, so the time of the comparison does not reveal the length of the key. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
