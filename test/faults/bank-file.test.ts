import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { single } from '../../src/db/connect/driver/connection.js';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import { BankFileFault, bankFileMax } from '../../src/operator/bank-file/line.js';
import { fileParts } from '../../src/operator/bank-file/reader.js';
import { camt, today } from '../support/bank-files.js';
import { useChildren } from '../support/child.js';

const children = useChildren();

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

describe('an import that is killed', () => {
  it('books each line once in the end, whoever goes on with it', async () => {
    const environment = await children.database({ migrated: true });
    const sql = single(connectionOf(environment.DATABASE_URL), 'a test');
    const run = async (...args: string[]) => {
      const { code, out, errors } = await children.quickCommand(environment, ...args, '--json');
      expect([code, errors]).toEqual([0, '']);
      return JSON.parse(out);
    };
    const receivers = await Promise.all(
      ['7700110011', '7700220022'].map(async (number) => {
        const created = await run('account', 'create', '--type=user', '--edition=1', `--legal-name=Exporter ${number}`);
        const { id } = created.account;
        await run('account', 'verify', id, '--mode=live', '--outcome=activated');
        await run('address', 'issue', '--account', id, '--currency=USD', `--number=${number}`);
        return number;
      }),
    );
    const entries = Array.from({ length: 120 }, (_, i) => ({
      ...{ reference: `K${i}`, amount: `${i + 1}.25`, payee: receivers[i % 2]! },
    }));
    const file = path.join(children.folder(), 'bank.xml');
    fs.writeFileSync(file, camt([{ account: 'POOL', entries }]));
    const booked = async () => (await sql`select count(*)::int as n from bank_line where state = 'booked'`)[0]!.n;
    for (let i = 1; i <= 4; i++) {
      const before = await booked();
      const child = children.startCommand(environment, 'bank', 'import', file);
      while (!child.over && (await booked()) < before + 7);
      child.signal('SIGKILL');
      await child.ended;
    }

    await Promise.all([run('bank', 'import', file), children.command(environment, 'bank', 'import', file)]);
    const { booking } = await run('bank', 'import', file);

    expect(booking).toEqual({ booked: 0, unmatched: 0, left: 0 });
    expect(await booked()).toBe(entries.length);
    const [sums] = await sql`
      select count(*)::int as deposits, sum(amount)::int as amount,
        count(distinct bank_details ->> 'reference')::int as refs
      from deposit`;
    const amount = entries.reduce((sum, _, i) => sum + (i + 1) * 100 + 25, 0);
    expect(sums).toEqual({ deposits: entries.length, amount, refs: entries.length });
    expect((await run('ledger', 'audit')).violations).toEqual([]);

    // The other commands, on what was imported.
    const trial = await run('bank', 'import', file, '--dry-run');
    expect(trial).toMatchObject({ dry_run: true, lines: entries.length, new: 0, seen_before: entries.length });
    const [{ id }] = (await run('bank', 'files')).files;
    const { lines } = await run('bank', 'lines', id, '--state=booked');
    expect(lines).toHaveLength(entries.length);
    expect(lines[0]).toMatchObject({ id: `${id}.1`, amount: '1.25', reference: 'K0', state: 'booked' });
    expect(await run('bank', 'report', `--day=${today}`)).toEqual({ statements: [] });
    const columns = ['--column', 'reference=UTR', 'day=Date', 'amount=Amount', '--currency=USD', '--account=ELSEWHERE'];
    expect(await run('bank', 'map', 'simple', ...columns)).toMatchObject({ name: 'simple', currency: 'USD' });
    expect((await run('bank', 'mappings')).mappings).toMatchObject([{ columns: { reference: 'UTR' } }]);
    fs.writeFileSync(file, 'Date,UTR,Amount\n2026-11-27,X1,3.00\n2026-11-27,X2,4.00\n');
    const csv = ['bank', 'import', file, '--mapping=simple'];
    expect((await children.quickCommand(environment, ...csv)).code).toBe(1);
    expect(await run(...csv, '--allow-unknown')).toMatchObject({ format: 'csv', booking: { booked: 0, left: 0 } });
    const [one, other] = (await run('bank', 'lines')).lines;
    const [receiving] =
      await sql`select id as address from address where livemode and bank_account is not null limit 1`;
    expect(await run('bank', 'assign', one.id, `--address=${receiving!.address}`)).toMatchObject({ state: 'booked' });
    expect(await run('bank', 'return', other.id, '--reason=Payer unknown')).toMatchObject({ state: 'returned' });
    expect(await run('bank', 'lines')).toEqual({ lines: [] });
    await sql.end();
  });
});
