import { describe, expect, it } from 'vitest';
import { BankFileFault, bankFileMax } from '../../src/operator/bank-file/line.js';
import { fileParts } from '../../src/operator/bank-file/reader.js';
import { camt } from '../support/bank-files.js';

/** How many parts a file has before its fault, and the fault. */
async function readUntilFault(source: AsyncIterable<Uint8Array>): Promise<{ parts: number; fault: string }> {
  let parts = 0;
  try {
    for await (const _ of fileParts(source, undefined)) parts++;
  } catch (error) {
    if (error instanceof BankFileFault) return { parts, fault: `${error.line}: ${error.fault}` };
    throw error;
  }
  throw new Error('the file was not refused');
}

const [beginning, entry] = camt([{ account: 'XX771', entries: [{}] }])
  .replace('</Stmt></BkToCstmrStmt></Document>', '')
  .trimEnd()
  .split(/\n(?=<Ntry>)/);

describe('a file of a bank that is too large', () => {
  it('is refused where the bytes end that are read, and read no further', async () => {
    const comment = Buffer.from(`\n<!-- ${'x'.repeat(60_000)} -->`);
    let given = 0;
    async function* source(): AsyncGenerator<Uint8Array, void, void> {
      yield Buffer.from(beginning!);
      for (; given < 200 * 1024 * 1024; given += comment.length) yield comment;
    }
    expect(await readUntilFault(source())).toMatchObject({
      fault: expect.stringMatching(/^\d{4}: ends behind 128 MB/),
    });
    expect(given).toBeLessThan(bankFileMax.bytes + 2 * comment.length);
  });

  it('is refused at the first transfer beyond those that are read', async () => {
    async function* source(): AsyncGenerator<Uint8Array, void, void> {
      yield Buffer.from(beginning!);
      for (let i = 0; i <= bankFileMax.lines / 100; i++) yield Buffer.from(`\n${entry}`.repeat(100));
    }
    expect(await readUntilFault(source())).toEqual({
      parts: bankFileMax.lines - (bankFileMax.lines % 100),
      fault: `${bankFileMax.lines + 3}: is beyond 100000 transfers, the most that a file may have`,
    });
  });
});
