import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes } from 'node:crypto';

/** The row that a sealed value belongs to: the value can be decrypted for this row only. */
export interface SealedPlace {
  tenantId: string;
  livemode: boolean;
  id: string;
}

/** A secret and its short public name. Stored data contain the name of the secret that they were made with. */
interface Named {
  id: string;
  key: Buffer | string;
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const idLength = 8;

/**
 * The secrets of a deployment: the peppers, which hash API keys and sign payment links, and the keys that encrypt
 * stored data. There may be several, separated by commas: the first one makes new values, and each one still
 * recognises the values that it made before.
 */
export class Secrets {
  readonly #peppers: Named[];
  readonly #fingerprints: { id: string; key: Buffer }[];
  readonly #ciphers: { id: string; key: Buffer }[];

  private constructor(pepper: string, encryptionKey: string | undefined) {
    this.#peppers = listed(pepper).map((key) => ({ id: nameOf(key), key }));
    this.#fingerprints = listed(pepper).map((key) => ({ id: nameOf(key), key: derive(key, 'fingerprint') }));
    // Without a configured encryption key, the peppers give derived ones. Derived keys always stay in the list, so that
    // they can still open what they sealed.
    const own = encryptionKey === undefined ? [] : listed(encryptionKey).map((key) => derive(key, 'own'));
    const ciphers = [...own, ...listed(pepper).map((key) => derive(key, 'encryption'))];
    this.#ciphers = ciphers.map((key) => ({ id: nameOf(key), key }));
  }

  /**
   * The secrets of a pepper, or of several separated by commas. Returns an argument that is already `Secrets`
   * unchanged.
   */
  static of(pepper: string | Secrets, encryptionKey?: string): Secrets {
    return typeof pepper === 'string' ? new Secrets(pepper, encryptionKey) : pepper;
  }

  /** The public name of each pepper. The first is the one that makes new values. */
  get pepperIds(): string[] {
    return this.#peppers.map(({ id }) => id);
  }

  /** The public name of each encryption key. The first one encrypts; the last ones are derived, one per pepper. */
  get encryptionIds(): string[] {
    return this.#ciphers.map(({ id }) => id);
  }

  /**
   * The keyed hash of a secret under each pepper. Without the pepper, a stolen table is useless. It is never a slow
   * password hash, because attackers could use that to overload the gateway.
   */
  digests(secret: string): [string, ...string[]] {
    return this.macs((mac) => mac.update(secret).digest('hex'));
  }

  /** A message's authentication code under each pepper, first under the one that signs. */
  macs<T>(finish: (mac: ReturnType<typeof createHmac>) => T): [T, ...T[]] {
    return this.#peppers.map(({ key }) => finish(createHmac('sha256', key))) as [T, ...T[]];
  }

  /** A key for one purpose from each pepper, first from the one that makes new values. */
  derivedKeys(purpose: string): Buffer[] {
    return this.#peppers.map(({ key }) => derive(String(key), purpose));
  }

  /**
   * The keyed hash of one parameter of a request, with the name of its key: `name:hash`. Equal values have equal
   * hashes.
   */
  fingerprint(value: string, id: string = this.#fingerprints[0]!.id): string | undefined {
    const found = this.#fingerprints.find((one) => one.id === id);
    return found && `${id}:${createHmac('sha256', found.key).update(value).digest('base64url').slice(0, 22)}`;
  }

  /** A text encrypted for one row, as `v1.<name of the key>.<nonce, text and tag in base64url>`. */
  seal(text: string, place: SealedPlace): string {
    const { id, key } = this.#ciphers[0]!;
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(bytesOf(place));
    const bytes = Buffer.concat([nonce, sealing.update(text, 'utf8'), sealing.final(), sealing.getAuthTag()]);
    return `v1.${id}.${bytes.toString('base64url')}`;
  }

  /**
   * The text that was sealed for this row; undefined when its key is not configured. Throws when the sealed value was
   * altered, or moved to another row.
   */
  open(sealed: string, place: SealedPlace): string | undefined {
    const [version, id, content = ''] = sealed.split('.');
    const found = this.#ciphers.find((one) => one.id === id);
    if (version !== 'v1' || !found) return undefined;
    const bytes = Buffer.from(content, 'base64url');
    const opening = createDecipheriv(cipher, found.key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    opening.setAAD(bytesOf(place)).setAuthTag(bytes.subarray(-tagBytes));
    return Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()]).toString('utf8');
  }

  /** As `open`, and undefined also when the sealed value was altered. */
  readable(sealed: string, place: SealedPlace): string | undefined {
    try {
      return this.open(sealed, place);
    } catch {
      return undefined;
    }
  }

  /** Whether a value was altered that was sealed under a key that is configured. */
  altered(sealed: string, place: SealedPlace): boolean {
    const [, name] = sealed.split('.');
    return this.encryptionIds.some((id) => id === name) && this.readable(sealed, place) === undefined;
  }
}

/** Fails when the sealed values of some objects were altered: each start of a gateway then says so in its log. */
export function refuseAltered(what: string, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const shown = [...new Set(ids)].slice(0, 10).join(', ');
  throw new Error(`The ${what} of these were altered in the database, and cannot be decrypted: ${shown}.`);
}

/** The hash of a parameter without a key, as older rows store it. Needed for comparison as long as such rows exist. */
export function unkeyedFingerprint(value: string): string {
  return hash('sha256', value, 'base64url').slice(0, 22);
}

// A single secret keeps its leading and trailing white space, because stored keys were hashed under it.
const listed = (secrets: string) => secrets.split(/\s*,\s*/);
const derive = (secret: string, purpose: string) =>
  Buffer.from(hkdfSync('sha256', secret, '', `tidegate ${purpose}`, 32));
const nameOf = (key: Buffer | string) =>
  createHmac('sha256', key).update('tidegate name').digest('hex').slice(0, idLength);
const bytesOf = ({ tenantId, livemode, id }: SealedPlace) => Buffer.from(JSON.stringify([tenantId, livemode, id]));
