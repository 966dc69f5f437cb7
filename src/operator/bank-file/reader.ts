import type { CsvMapping } from './table.js';
import { CamtReader } from './camt.js';
import { csvLines } from './csv.js';
import { BankFileFault, type FilePart } from './line.js';
import { utf8 } from './text.js';

/**
 * The parts of a bank's file, read piece by piece: camt.053 and camt.054, or CSV where a mapping is given. Refuses the
 * file with the first line that is wrong, so the parts before it are to be used only when the file was read to its end.
 */
export async function* fileParts(
  source: AsyncIterable<Uint8Array>,
  mapping: CsvMapping | undefined,
): AsyncGenerator<FilePart, string, void> {
  const text = utf8(source);
  if (mapping) {
    yield* csvLines(text, mapping);
    return 'csv';
  }
  const reader = new CamtReader();
  let begun = false;
  for await (const piece of text) {
    const start: string = begun ? '' : piece.trimStart();
    if (!begun && start !== '' && !start.startsWith('<'))
      throw new BankFileFault(1, 'does not begin as XML; a CSV file needs the name of its mapping');
    begun ||= start !== '';
    reader.stream.write(piece);
    yield* reader.take();
  }
  reader.stream.end();
  yield* reader.take();
  return reader.format;
}
