import { createHash } from 'node:crypto';
import { and, asc, eq, sql } from 'drizzle-orm';
import { fromRow } from '../../db/read/row-mapper.js';
import { DomainError, sentenceV1 } from '../../errors/problems.js';
import { receivingAddress, recordBankNotice } from '../money/bank.js';
import { PayoutReasonCode } from '../../resources/payout/table.js';
import { endPayout, payoutOf } from '../money/payouts.js';
import type { BankNotice } from '../money/notice.js';
import { referenceProblems } from '../money/notice.js';
import { type Operator, OperatorError, refuse } from '../operator.js';
import { accountsOfOrders, isAccount } from '../payment-order/accounts.js';
import { fileOf, lineOf } from './listing.js';
import { isSame, receiptsOf, refuseBesideTransfers, takenBy } from './known.js';
import { isRecorded } from './matching.js';
import { type BankFileRow, bankLine, type BankLineRow, BankLineState, UnmatchedReason } from './table.js';

const { placeholder } = sql;
const { MATCHED, BOOKED, SEEN_BEFORE, UNMATCHED, RETURNED } = BankLineState;

/** How many lines a read gives to be booked. */
const batchMax = 100;

/** What a booking has done, and how many lines still wait for it. */
export interface Booking {
  booked: number;
  unmatched: number;
  left: number;
}

/**
 * Books the lines of a file that wait, in their order, at most `limit` of them: each by the statement of its own
 * tenant, under a key of file and line. So whoever is interrupted, or does it at the same time, books nothing twice.
 */
export async function bookLines(operator: Operator, fileId: string, limit = Number.MAX_SAFE_INTEGER): Promise<Booking> {
  refuseUnfinished(await fileOf(operator, fileId));
  const done = { booked: 0, unmatched: 0 };
  let after = 0;
  for (;;) {
    const most = Math.min(batchMax, limit - done.booked - done.unmatched);
    const lines = most > 0 ? await waiting(operator, fileId, after, most) : [];
    for (const line of lines) {
      const { row } = await bookLine(operator, line);
      if (row.state !== SEEN_BEFORE) done[row.state === BOOKED ? 'booked' : 'unmatched']++;
      after = line.number;
    }
    if (lines.length === 0) return { ...done, left: await leftOf(operator, fileId) };
  }
}

/** What an operator decides about a line that fits no address. */
export interface Assignment {
  addressId: string;
  /** In place of the reference of the bank, or where it gives none. */
  reference?: string | undefined;
  /** Of money that was taken back: the reference of its receipt. */
  originalReference?: string | undefined;
  allowCurrency?: boolean | undefined;
}

/**
 * Books a line to an address. The decision is stored first, so that of two operators one is refused; a booking that is
 * refused gives the line back to *Unmatched*.
 */
export async function assignLine(
  operator: Operator,
  id: string,
  { addressId, reference, originalReference, allowCurrency = false }: Assignment,
  by: string,
): Promise<BankLineRow> {
  const line = await decidable(operator, id);
  const field = 'bank_line.reference';
  refuse([
    ...(reference === undefined ? [] : referenceProblems(reference, field)),
    ...(originalReference === undefined ? [] : referenceProblems(originalReference, 'bank_line.original_reference')),
  ]);
  if (line.direction === 'credit' && line.isReversal) throw ofPayout();
  if (line.direction === 'debit' && originalReference === undefined) throw ofPayout();
  if (line.direction === 'credit' && originalReference !== undefined)
    throw new OperatorError(
      'The reference of a receipt goes with money that was taken back. Leave it out.',
      'parameter_invalid',
      'bank_line.original_reference',
    );
  if ((reference ?? line.reference) === null)
    throw new OperatorError('The bank gives no reference for this line. Give one.', 'parameter_missing', field);
  await refuseBesideTransfers(operator, line);
  const { tenantId, id: address } = await receivingAddress(operator, addressId);
  const changes = {
    ...{ tenant: tenantId, address_id: address, allow_currency: allowCurrency, decided_by: by },
    ...(reference !== undefined && { given_reference: reference }),
    ...(originalReference !== undefined && { original_reference: originalReference }),
  };
  // A line that is booked stays so: the same decision again changes nothing, and another one is refused.
  const to = line.state === BOOKED ? BOOKED : MATCHED;
  const { row, refusal } = await bookLine(operator, await move(operator, line, UNMATCHED, to, changes));
  if (refusal) throw refusal;
  return row;
}

/**
 * Records that the money of a line was sent back to where it came from, or has come back from where it went. It is in
 * no balance.
 */
export async function returnLine(operator: Operator, id: string, reason: string, by: string): Promise<BankLineRow> {
  const line = await decidable(operator, id);
  return move(operator, line, UNMATCHED, RETURNED, { note: reason, decided_by: by });
}

const ofPayout = () =>
  new OperatorError(
    'This line is money that has left, or that came back after it. Give the reference of the receipt that it takes ' +
      'back; record what has become of a payout with the payout.',
    'parameter_missing',
    'bank_line.original_reference',
  );

/** The line that an operator decides about. The lines of an import that was interrupted wait for its end. */
async function decidable(operator: Operator, id: string): Promise<BankLineRow> {
  const line = await lineOf(operator, id);
  refuseUnfinished(await fileOf(operator, line.fileId));
  return line;
}

function refuseUnfinished({ storedAt }: BankFileRow): void {
  if (storedAt === null)
    throw new OperatorError(
      'The import of this file was interrupted before all its lines were stored. Import it again.',
      'status_invalid',
      'bank_file.id',
    );
}

/** Books a line that has an address. What its tenant refuses goes back to *Unmatched*, with the refusal. */
async function bookLine(operator: Operator, line: BankLineRow): Promise<{ row: BankLineRow; refusal?: DomainError }> {
  if (line.state === BOOKED) return { row: line };
  const release = (reason: UnmatchedReason, note?: string) =>
    move(operator, line, MATCHED, UNMATCHED, { reason, note });
  const notice = line.payoutId === null ? noticeOf(line) : undefined;
  // Without its receipt, a reversal under a wrong reference would wait for ever.
  if (notice?.event === 'reversed' && !(await isReceived(operator, line, notice)))
    return { row: await release(UnmatchedReason.REVERSAL) };
  const own = operator.under(keyOf(line));
  let booked: { depositId?: string } = {};
  try {
    if (notice) {
      const { deposit, unexplained } = await recordBankNotice(own, notice);
      if (unexplained) return { row: await move(operator, line, MATCHED, RETURNED, { note: beyond(unexplained.id) }) };
      booked = { depositId: deposit!.id };
    } else await answerPayout(own, line);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // A person has recorded it since the file was matched.
    if (line.payoutId !== null && isRecorded(line, await payoutOf(operator, line.payoutId)))
      return { row: await move(operator, line, MATCHED, SEEN_BEFORE, {}) };
    const row = await release(UnmatchedReason.REFUSED, error.problems.map(sentenceV1).join(' '));
    return { row, refusal: error };
  } finally {
    operator.place = own.place;
  }
  const changes = booked.depositId === undefined ? {} : { deposit_id: booked.depositId };
  try {
    return { row: await move(operator, line, MATCHED, BOOKED, changes) };
  } catch (error) {
    if (!(error instanceof DomainError) || error.problems[0]?.code !== 'state_conflict') throw error;
    const { depositId, payoutId } = { ...line, ...booked };
    const others = (await takenBy(operator, [depositId ?? payoutId!], line.fileId)).get(depositId ?? payoutId!) ?? [];
    // Two files with the line were imported at once.
    if (others.some((other) => other.direction === line.direction && isSame(other, line)))
      return { row: await move(operator, line, MATCHED, SEEN_BEFORE, changes) };
    return { row: await release(UnmatchedReason.REPEATED), refusal: error };
  }
}

/** What is noted of a recall that no deposit has: like what was sent back, it is in no balance. */
const beyond = (id: string) => `Refunds and disputes had left nothing of its receipt. The money is ${id}.`;

/** The key of a booking: that of the file and the line, and of what an operator has decided about it. */
function keyOf({ fileId, number, decidedBy, addressId, givenReference, originalReference }: BankLineRow): `§${string}` {
  const decided = JSON.stringify([addressId, givenReference, originalReference]);
  const decision = decidedBy === null ? '' : `:${createHash('sha256').update(decided).digest('hex').slice(0, 32)}`;
  return `§bank:${fileId}:${number}${decision}`;
}

/** Ends the payout that a line answers: it has arrived, has failed, or has come back after it had arrived. */
async function answerPayout(operator: Operator, line: BankLineRow): Promise<void> {
  const { payoutId, direction, reference, details } = line;
  const answered = await payoutOf(operator, payoutId!);
  const { status, orderId } = answered;
  // Since the file was matched, the payout may have come into the order of another account.
  const from = orderId === null ? undefined : (await accountsOfOrders(operator, [answered])).get(orderId);
  if (from && line.account !== null && !isAccount(from, line.account)) throw onOtherAccount();
  const bankReference = reference ?? undefined;
  if (direction === 'debit') {
    await endPayout(operator, payoutId!, 'completed', { bankReference }, 'bank');
    return;
  }
  // A booking that was interrupted finds what it has done before.
  const to = status === 'processing' || status === 'failed' ? 'failed' : 'returned';
  await endPayout(operator, payoutId!, to, { bankReference, reasonCode: reasonOf(details.returnReason) }, 'bank');
}

const onOtherAccount = () =>
  new OperatorError(
    'The line is on another account than the one from which the payment order of the payout pays.',
    'state_conflict',
    'bank_line.account',
  );

/** Why a payout came back, by the codes of ISO 20022 for reasons of returns. */
function reasonOf(code: string | undefined): PayoutReasonCode {
  const [found] =
    Object.entries(reasonsOfReturns).find(([, codes]) => code !== undefined && codes.includes(code)) ?? [];
  return (found as PayoutReasonCode | undefined) ?? PayoutReasonCode.BANK_REJECTED;
}

const reasonsOfReturns: Partial<Record<PayoutReasonCode, readonly string[]>> = {
  account_closed: ['AC04', 'AC07'],
  account_invalid: ['AC01', 'AC02', 'AC03', 'AC06', 'AC13', 'AC14', 'RC01', 'RC04', 'RC07', 'RC08'],
  limit_exceeded: ['AM02', 'AM13', 'AM14', 'AM21'],
  name_mismatch: ['BE01', 'BE06', 'BE08', 'BE22', 'BE23'],
  regulatory: ['AG01', 'RR01', 'RR02', 'RR03', 'RR04', 'RR09', 'RR10'],
};

/** What a line says to its tenant. */
function noticeOf(line: BankLineRow): BankNotice {
  const { reference, givenReference, originalReference, addressId, amount, currency, details } = line;
  const of = { reference: (givenReference ?? reference)!, addressId: addressId!, amount, currency };
  if (originalReference !== null) return { ...of, event: 'recalled', originalReference };
  if (line.direction === 'debit') return { ...of, event: 'reversed' };
  const { payerName: name, payerLines: addressLines, payerCountry: country, text } = details;
  const hasPayer = name !== undefined || addressLines !== undefined || country !== undefined;
  return {
    ...{ ...of, event: 'received', allowCurrency: line.allowCurrency },
    ...(hasPayer && { payer: { name, addressLines, country } }),
    text,
  };
}

/** Whether the receipt that a line takes back is recorded, to the same address and with the same amount. */
async function isReceived(operator: Operator, { tenant }: BankLineRow, notice: BankNotice): Promise<boolean> {
  const found = await receiptsOf(operator, [{ tenant: tenant!, reference: notice.reference }]);
  return found.some(
    ({ content }) =>
      content.toAddressId === notice.addressId &&
      content.amount === String(notice.amount) &&
      content.currency === notice.currency,
  );
}

/** Refusals that another attempt would meet, too. A key in use means that another process books the same line. */
const isRefusal = (error: unknown): error is DomainError =>
  error instanceof DomainError &&
  error.status < 500 &&
  error.problems.every(({ code }) => !code.startsWith('idempotency_key'));

async function move(
  operator: Operator,
  { fileId, number }: BankLineRow,
  from: BankLineState,
  to: BankLineState,
  changes: Record<string, unknown>,
): Promise<BankLineRow> {
  const [row] = await operator.call('move_bank_line', [fileId, number, from, to, JSON.stringify(changes)]);
  return fromRow(bankLine, row!);
}

function waiting(operator: Operator, fileId: string, after: number, limit: number): Promise<BankLineRow[]> {
  return operator.read<BankLineRow>(
    'operator_bank_lines_waiting',
    (db) =>
      db
        .select()
        .from(bankLine)
        .where(
          and(
            eq(bankLine.fileId, placeholder('fileId')),
            eq(bankLine.state, sql`'matched'`),
            sql`${bankLine.number} > ${placeholder('after')}::int`,
          ),
        )
        .orderBy(asc(bankLine.number))
        .limit(placeholder('limit')),
    { fileId, after, limit },
  );
}

async function leftOf(operator: Operator, fileId: string): Promise<number> {
  const [row] = await operator.read<{ left: number }>(
    'operator_bank_lines_left',
    (db) =>
      db
        .select({ left: sql<number>`count(*)::int` })
        .from(bankLine)
        .where(and(eq(bankLine.fileId, placeholder('fileId')), eq(bankLine.state, sql`'matched'`))),
    { fileId },
  );
  return row!.left;
}
