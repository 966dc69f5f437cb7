import { isUtf8 } from 'node:buffer';
import { bankFileMax, BankFileFault } from './line.js';

const newline = 0x0a;

/**
 * The text of a file in pieces, as UTF-8. Refuses another encoding on the line where it shows, and a file of more bytes
 * than are allowed where they end. Reads no more than that.
 */
export async function* utf8(source: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [bytes, line] = [0, 1];
  for await (const piece of source) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    if (bytes === 0 && (chunk[0] === 0xff || chunk[0] === 0xfe || chunk[0] === 0 || chunk[1] === 0))
      throw new BankFileFault(1, 'is not text in UTF-8');
    bytes += chunk.length;
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new BankFileFault(line + firstBroken(chunk), 'is not text in UTF-8');
    }
    if (bytes > bankFileMax.bytes)
      throw new BankFileFault(line, `ends behind ${bankFileMax.bytes / 1024 / 1024} MB, the most that a file may have`);
    line += newlinesIn(chunk);
    yield text;
  }
  if (bytes === 0) throw new BankFileFault(1, 'is empty: the file has nothing in it');
  try {
    decoder.decode();
  } catch {
    throw new BankFileFault(line, 'is not text in UTF-8: the file is cut');
  }
}

/** In which line of a piece, counted from 0, the text ends to be UTF-8. */
function firstBroken(chunk: Buffer): number {
  let [from, line] = [0, 0];
  // The piece may begin inside a character.
  while (from < 3 && (chunk[from]! & 0xc0) === 0x80) from++;
  for (let to = chunk.indexOf(newline, from); to >= 0; to = chunk.indexOf(newline, from), line++) {
    if (!isUtf8(chunk.subarray(from, to))) return line;
    from = to + 1;
  }
  return line;
}

function newlinesIn(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) count++;
  return count;
}
