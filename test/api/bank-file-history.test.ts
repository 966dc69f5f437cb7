import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignLine, bookLines, returnLine } from '../../src/operator/bank-file/booking.js';
import { storeBankFile } from '../../src/operator/bank-file/import.js';
import { idOfLine, listLines } from '../../src/operator/bank-file/listing.js';
import { bankReport } from '../../src/operator/bank-file/report.js';
import { auditLedger } from '../support/audit.js';
import { bytesOf, camt, type Entry, today } from '../support/bank-files.js';
import { scale, seedsOf } from '../support/scale.js';
import { useWorld } from '../support/world.js';
import { banksIn, pendingOf } from './bank-fixture.js';

type Json = any;

const world = useWorld({ worker: false });
const { receiver, received, recordNotice } = banksIn(world);
auditLedger(world);

/** A day some days before today. */
const dayBefore = (days: number) => new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
const cents = (amount: string) => BigInt(amount.replace('.', ''));
const signed = ({ direction, amount }: { direction: string; amount: bigint }) =>
  direction === 'credit' ? amount : -amount;

let accounts = 0;
let sent = 0;

const entry = fc.record({
  reference: fc.constantFrom('A', 'A', 'B', 'B', 'C', undefined),
  amount: fc.constantFrom('1.00', '1.00', '2.50'),
  daysAgo: fc.constantFrom(0, 1, 40),
  way: fc.constantFrom('in', 'in', 'in', 'in', 'out', 'reversal', 'elsewhere'),
});
const act = fc.record({
  what: fc.constantFrom('file', 'file', 'file', 'again', 'store', 'book', 'hand', 'assign', 'assign', 'return'),
  entries: fc.array(entry, { minLength: 1, maxLength: 5 }),
  which: fc.nat(20),
  named: fc.boolean(),
});

/**
 * Whatever files have which transfers, in whatever order they come: each line is booked, or is the same as one that is
 * known, or is on the list of what is unmatched; the ledger has each deposit of a line once, and the report has it.
 */
describe.each(seedsOf('api/bank-file-history'))('histories of files of a bank, seed %i', (seed) => {
  it('lose no transfer, and credit none twice', async () => {
    const history = fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 14 }), async (acts) => {
      const account = `88${String(++accounts).padStart(8, '0')}`;
      const to = await receiver(1, account);
      const own = (reference: string | undefined) => reference && `${reference}-${account}`;
      const files: string[] = [];
      const texts: string[] = [];
      const byHand = new Set<string>();
      const lines = async (): Promise<Json[]> =>
        (await Promise.all(files.map(async (fileId) => (await listLines(world.operator, { fileId })).nodes))).flat();
      const store = async (text: string) => {
        const given = { name: 'bank.xml', open: () => bytesOf(text), mapping: undefined, allowUnknown: true };
        const { file } = await storeBankFile(world.operator, given, 'Ann');
        if (!files.includes(file.id)) files.push(file.id);
        return file.id;
      };
      const textOf = (entries: (typeof acts)[number]['entries']) => {
        const all = entries.map(({ reference, amount, daysAgo, way }): Entry => {
          const day = dayBefore(daysAgo);
          const of = { amount, reference: own(reference), day, payee: way === 'elsewhere' ? 'NOBODY' : undefined };
          if (way === 'out') return { ...of, direction: 'DBIT' };
          return way === 'reversal' ? { ...of, direction: 'DBIT', isReversal: true } : of;
        });
        // Two files with equal lines are two files.
        return camt([{ account: `${account}`, entries: all }]).replace('<MsgId>M1<', `<MsgId>M${++sent}<`);
      };
      for (const { what, entries, which, named } of acts) {
        const unmatched = (await lines()).filter(({ state }) => state === 'unmatched');
        const line = unmatched[which % Math.max(1, unmatched.length)];
        if (what === 'file') await bookLines(world.operator, await store((texts[texts.length] = textOf(entries))));
        else if (what === 'store') await store((texts[texts.length] = textOf(entries)));
        else if (what === 'again' && texts.length > 0)
          await bookLines(world.operator, await store(texts[which % texts.length]!));
        else if (what === 'book' && files.length > 0) await bookLines(world.operator, files[which % files.length]!);
        else if (what === 'hand') {
          const { amount, reference = 'C' } = entries[0]!;
          const notice = received(to, { reference: own(reference)!, amount: cents(amount) });
          // Another amount or a line that was booked has the reference: the notice is refused, or the same.
          await recordNotice(notice).then(
            ({ deposit }) => byHand.add(deposit!.id),
            () => undefined,
          );
        } else if (what === 'assign' && line) {
          const reference = named ? `N${++sent}-${account}` : undefined;
          await assignLine(world.operator, idOfLine(line), { addressId: to.addressId, reference }, 'Ann').catch(
            () => {},
          );
        } else if (what === 'return' && line) await returnLine(world.operator, idOfLine(line), 'x', 'Ann');
      }
      for (const id of files) await bookLines(world.operator, id);

      const all = await lines();
      const keyOf = ({ fileId: _f, number: _n, line: _l, ...of }: Json) =>
        JSON.stringify([of.reference, String(of.amount), of.day, of.account, of.direction, of.isReversal]);
      const booked = all.filter(({ state }) => state === 'booked');
      // No line waits, and no two are one deposit the same way.
      expect(all.filter(({ state }) => state === 'matched')).toEqual([]);
      const taken = booked.map(({ depositId, direction }) => `${depositId} ${direction}`);
      expect(new Set(taken).size).toBe(taken.length);
      // What was seen before is a line that is told otherwise, or a transfer that was recorded by hand.
      const known = new Set(all.filter(({ state }) => state !== 'seen_before').map(keyOf));
      for (const each of all.filter(({ state }) => state === 'seen_before'))
        expect(known.has(keyOf(each)) || byHand.has(each.depositId)).toBe(true);
      // The ledger has each receipt once, less what a reversal took back.
      const credits = new Set(
        booked.filter(({ direction }) => direction === 'credit').map(({ depositId }) => depositId),
      );
      const rows = await world.sql`select id, amount, status from deposit where to_account_id = ${to.row.id}`;
      expect(rows.map(({ id }) => id).toSorted()).toEqual([...new Set([...credits, ...byHand])].toSorted());
      const held = rows.filter(({ status }) => status === 'completed').map(({ amount }) => BigInt(amount as string));
      const [pending] = (await pendingOf(to.live)) as [Json];
      expect(cents(pending?.amount ?? '0.00')).toBe(held.reduce((sum, amount) => sum + amount, 0n));

      // A statement of each day, with all distinct transfers of it: what differs is what the report names.
      for (const day of [0, 1, 40].map(dayBefore)) {
        const ofDay = all.filter((each) => each.day === day && each.state !== 'seen_before');
        const sum = ofDay.reduce((before, each) => before + signed(each), 0n);
        const hand = new Set(
          all.filter((each) => each.day === day && each.state === 'seen_before').map(({ depositId }) => depositId),
        );
        const extra = rows
          .filter(({ id }) => hand.has(id as string) && !credits.has(id as string))
          .reduce((before, { amount }) => before + BigInt(amount as string), 0n);
        const closing = sum + extra;
        const text = `${closing < 0n ? '-' : ''}${String(closing < 0n ? -closing : closing).padStart(3, '0')}`;
        await store(
          camt([
            { account, day, opening: '0.00', closing: `${text.slice(0, -2)}.${text.slice(-2)}`, entries: [] },
          ]).replace('<MsgId>M1<', `<MsgId>M${++sent}<`),
        );
        const report = (await bankReport(world.operator, day)).statements.find((row) => row.account === account)!;
        expect([day, report.lines, report.difference]).toEqual([
          ...[day, closing, report.waiting + report.unmatched + report.returned],
        ]);
      }
    });
    // The report has 200 statements of a day at most.
    await fc.assert(history, { seed, numRuns: Math.max(6, Math.min(40, scale.histories.runs)), endOnFailure: true });
  });
});
