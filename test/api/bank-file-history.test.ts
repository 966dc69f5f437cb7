import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { cents } from '../support/bodies.js';
import { assignLine, bookLines, returnLine } from '../../src/operator/bank-file/booking.js';
import { storeBankFile } from '../../src/operator/bank-file/import.js';
import { idOfLine, listLines } from '../../src/operator/bank-file/listing.js';
import { bankReport } from '../../src/operator/bank-file/report.js';
import { auditLedger } from '../support/audit.js';
import { bytesOf, camt, type Entry, today } from '../support/bank-files.js';
import { scale, seedsOf } from '../support/scale.js';
import { useWorld } from '../support/world.js';
import { banksIn, pendingOf } from './bank-fixture.js';
import { type Json, mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
/** Where two operators ask. */
let gateways: string[];
beforeAll(async () => {
  gateways = [world.origin, await world.another()];
});
const assign = mutation('assignBankLine', 'AssignBankLineInput', 'line { state }');
const giveBack = mutation('returnBankLine', 'ReturnBankLineInput', 'line { state }');
const { receiver, received, recordNotice } = banksIn(world);
auditLedger(world);

/** A day some days before today. */
const dayBefore = (days: number) => new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
const signed = ({ direction, amount }: { direction: string; amount: bigint }) =>
  direction === 'credit' ? amount : -amount;

let accounts = 0;
let sent = 0;

/** The pieces of a text up to a place, where the process that reads it ends. */
async function* endingAt(text: string, place: number): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.from(text.slice(0, place));
  throw new Error('the process ends');
}

const entry = fc.record({
  reference: fc.constantFrom('A', 'A', 'B', 'B', 'C', undefined),
  amount: fc.constantFrom('1.00', '1.00', '2.50'),
  daysAgo: fc.constantFrom(0, 1, 40),
  way: fc.constantFrom('in', 'in', 'in', 'in', 'out', 'reversal', 'elsewhere'),
});
const act = fc.record({
  what: fc.constantFrom(
    ...['file', 'file', 'file', 'again', 'store', 'book', 'hand', 'assign', 'assign', 'return'],
    ...['bank', 'cut', 'ended', 'killed', 'part', 'either', 'either', 'where', 'where'],
  ),
  entries: fc.array(entry, { minLength: 1, maxLength: 5 }),
  which: fc.nat(20),
  named: fc.boolean(),
});

/**
 * Whatever files have which transfers, in whatever order they come, cut, interrupted and of another bank with the same
 * references, and whoever decides about a line at once with another operator: each line is booked, or is the same as
 * one that is known, or is on the list of what is unmatched; the ledger has each deposit of a line once, and the report
 * has it.
 */
describe.each(seedsOf('api/bank-file-history'))('histories of files of a bank, seed %i', (seed) => {
  it('lose no transfer, and credit none twice', async () => {
    const history = fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: 14 }), async (acts) => {
      const account = `88${String(++accounts).padStart(8, '0')}`;
      const [to, another] = [await receiver(1, account), await receiver(1, `77${account.slice(2)}`)];
      const elsewhere = `99${account.slice(2)}`;
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
      const textOf = (entries: (typeof acts)[number]['entries'], of = account) => {
        const all = entries.map(({ reference, amount, daysAgo, way }): Entry => {
          const day = dayBefore(daysAgo);
          const payee = way === 'elsewhere' ? 'NOBODY' : of === account ? undefined : account;
          const made = { amount, reference: own(reference), day, payee };
          if (way === 'out') return { ...made, direction: 'DBIT' };
          return way === 'reversal' ? { ...made, direction: 'DBIT', isReversal: true } : made;
        });
        // Two files with equal lines are two files.
        return camt([{ account: of, entries: all }]).replace('<MsgId>M1<', `<MsgId>M${++sent}<`);
      };
      /** An import that ends before all of a file is stored; the file is imported again later, or never. */
      const broken = async (text: string, open: (nth: number) => AsyncIterable<Uint8Array>, fault: RegExp) => {
        texts.push(text);
        let opened = 0;
        const given = { name: 'bank.xml', open: () => open(++opened), mapping: undefined, allowUnknown: true };
        await expect(storeBankFile(world.operator, given, 'Ann')).rejects.toThrow(fault);
      };
      /** Two operators decide about a line at once, at a gateway each: at most one does, and the other one is told. */
      const decided = async (line: Json, decisions: [query: string, input: object][]) => {
        const id = idOfLine(line);
        const replies = await Promise.all(
          decisions.map(([query, input], i) =>
            operatorIn({ ...world, origin: gateways[i]! }).ask(query, { input: { id, ...input } }),
          ),
        );
        const done = replies.flatMap(({ body }) => Object.values<Json>(body.data ?? {}).flatMap((each) => each ?? []));
        expect([0, 1]).toContain(done.length);
        // An assignment may be refused for itself, also while the other decision is tried.
        for (const [i, { codes }] of replies.entries())
          if (codes.length > 0 && decisions[i]![0] === giveBack) expect(codes).toEqual(['status_invalid']);
          else for (const code of codes) expect(code).toMatch(/^(status_invalid|state_conflict|parameter_missing)$/);
        const now = (await lines()).find((each) => idOfLine(each) === id)!;
        expect(now.state).toBe(done[0]?.line.state.toLowerCase() ?? 'unmatched');
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
        else if (what === 'bank') await bookLines(world.operator, await store(textOf(entries, elsewhere)));
        else if (what === 'cut') {
          const text = textOf(entries);
          const cut = text.slice(0, Math.floor((text.length * (which + 1)) / 22));
          await broken(text, () => bytesOf(cut), /cannot be read: line \d+ /);
        } else if (what === 'ended') {
          const text = textOf(entries);
          const place = Math.floor((text.length * which) / 21);
          await broken(text, (nth) => (nth === 1 ? bytesOf(text) : endingAt(text, place)), /the process ends/);
        } else if (what === 'killed') {
          // What is there of a file whose process was killed between two batches of lines.
          const id = await store((texts[texts.length] = textOf(entries)));
          files.splice(files.indexOf(id), 1);
          await world.sql`delete from bank_line where file_id = ${id} and number > ${1 + (which % 5)}`;
          await world.sql`update bank_file set stored_at = null where id = ${id}`;
        } else if (what === 'part') {
          // The file of the morning, and then that of the day, which has its lines and the rest.
          await bookLines(world.operator, await store(textOf(entries.slice(0, 1 + (which % 3)))));
          await bookLines(world.operator, await store(textOf(entries)));
        } else if (what === 'either' && line)
          await decided(line, [
            [assign, { addressId: to.addressId, reference: `N${++sent}-${account}` }],
            [giveBack, { reason: 'x' }],
          ]);
        else if (what === 'where' && line) {
          const reference = named ? `N${++sent}-${account}` : undefined;
          await decided(
            line,
            [to, another].map(({ addressId }) => [assign, { addressId, reference }]),
          );
        }
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
      const rows = await world.sql`select id, amount, status from deposit 
        where to_account_id in ${world.sql([to.row.id, another.row.id])}`;
      expect(rows.map(({ id }) => id).toSorted()).toEqual([...new Set([...credits, ...byHand])].toSorted());
      const held = rows.filter(({ status }) => status === 'completed').map(({ amount }) => BigInt(amount as string));
      const pending = (await Promise.all([to, another].map(({ live }) => pendingOf(live)))).flat();
      expect(pending.reduce((sum: bigint, { amount }: Json) => sum + cents(amount), 0n)).toBe(
        held.reduce((sum, amount) => sum + amount, 0n),
      );

      // A statement of each day, with all distinct transfers of it: what differs is what the report names.
      for (const day of [0, 1, 40].map(dayBefore)) {
        const ofAccount = all.filter((each) => each.day === day && each.account === account);
        const ofDay = ofAccount.filter(({ state }) => state !== 'seen_before');
        const sum = ofDay.reduce((before, each) => before + signed(each), 0n);
        const hand = new Set(
          ofAccount.filter(({ state }) => state === 'seen_before').map(({ depositId }) => depositId),
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
