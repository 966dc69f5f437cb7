import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Consistency } from '../read/read-source.js';
import type { Secrets } from '../../config/secrets.js';
import { lsnOf, positionOf, timelineOf } from './wal-positions.js';

/** The header by which a client gets the token of its last write, and gives it to any gateway. */
export const consistencyHeader = 'tidegate-consistency';

const cipher = 'aes-256-ecb';
const blockBytes = 16;
/**
 * It differs from the mark of tokens without a timeline, which gateways read as of unknown keys, and these as those.
 */
const mark = Buffer.from('wal2');
const timelineBytes = 4;
const pattern = /^[\w-]{22}$/;

/**
 * Makes and reads the tokens of writes. A token is one encrypted block: a mark, a timeline of the primary's log and a
 * position in it. By the mark the right key is known. A position counts the bytes that all tenants have written, which
 * is no client's business, so it is encrypted under the peppers that all gateways share.
 */
export class ConsistencyTokens {
  readonly #keys: Buffer[];

  constructor(secrets: Secrets) {
    this.#keys = secrets.derivedKeys('consistency');
  }

  write(consistency: Consistency): string {
    if (consistency === 'primary') return consistency;
    const block = Buffer.alloc(blockBytes);
    mark.copy(block);
    block.writeUInt32BE(timelineOf(consistency), mark.length);
    block.writeBigUInt64BE(lsnOf(consistency), mark.length + timelineBytes);
    const sealing = createCipheriv(cipher, this.#keys[0]!, null).setAutoPadding(false);
    return Buffer.concat([sealing.update(block), sealing.final()]).toString('base64url');
  }

  /**
   * What a token asks for; undefined when it is none. A token of unknown keys, such as of a pepper that was removed,
   * asks for the primary, which has everything.
   */
  read(token: string): Consistency | undefined {
    if (token === 'primary') return token;
    if (!pattern.test(token)) return undefined;
    const sealed = Buffer.from(token, 'base64url');
    for (const key of this.#keys) {
      const opening = createDecipheriv(cipher, key, null).setAutoPadding(false);
      const block = Buffer.concat([opening.update(sealed), opening.final()]);
      if (block.subarray(0, mark.length).equals(mark)) {
        const timeline = block.readUInt32BE(mark.length);
        const lsn = block.readBigUInt64BE(mark.length + timelineBytes);
        return positionOf(timeline, lsn);
      }
    }
    return 'primary';
  }
}
