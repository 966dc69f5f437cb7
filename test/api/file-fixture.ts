import { createHash } from 'node:crypto';
import { type Speaker, type World } from '../support/world.js';

export const purposes = ['additional_verification', 'identity_document', 'tax_document', 'invoice', 'logo'] as const;
export const bytes = (text: string, encoding: BufferEncoding = 'latin1') => new Uint8Array(Buffer.from(text, encoding));
export const jpegHead = 'ffd8ffe000104a46494600010100000100010000';
/** A frame header of a JPEG: 8 bits, height, width, one component. */
export const frame = (marker: string, width: number, height: number) =>
  `ff${marker}000b08${height.toString(16).padStart(4, '0')}${width.toString(16).padStart(4, '0')}01011100`;
export const jpeg = bytes(`${jpegHead}${frame('c0', 1, 1)}ffda`, 'hex');

export const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

/** The content of files as clients download it. */
export function filesIn(world: World) {
  async function download(speaker: Speaker, id: string) {
    const response = await fetch(`${world.origin}/v1/files/${id}/content`, {
      headers: { authorization: `Bearer ${speaker.key}` },
    });
    return {
      status: response.status,
      headers: response.headers,
      content: new Uint8Array(await response.arrayBuffer()),
    };
  }
  return { download };
}
