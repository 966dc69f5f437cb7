import { and, eq, ne, or, sql } from 'drizzle-orm';
import { type AddressRow, address, bankAccountKey } from '../../resources/address/table.js';
import type { Operator } from '../operator.js';
import { type PayoutRow, PayoutStatus } from '../../resources/payout/table.js';
import { listOwnAccounts } from '../payment-order/accounts.js';
import { payoutIdOf } from '../payment-order/file.js';
import { livePayouts } from '../payment-order/claims.js';
import { bankNotice, type BankNoticeRow } from '../table.js';
import type { FileLine } from './line.js';
import { bankLine, type BankLineRow, BankLineState, UnmatchedReason } from './table.js';

/** A line with what is to become of it. */
export interface MatchedLine extends FileLine {
  state: BankLineState;
  reason: UnmatchedReason | null;
  tenant: string | null;
  addressId: string | null;
  /** The deposit of a transfer that was recorded without a file. */
  depositId: string | null;
  /** The payout that it answers. */
  payoutId: string | null;
}

type Fate = Pick<MatchedLine, 'state' | 'reason' | 'tenant' | 'addressId' | 'depositId' | 'payoutId'>;
type Receiver = Pick<AddressRow, 'tenantId' | 'id' | 'currency' | 'status'> & { iban: string; number: string };

const { placeholder } = sql;
const texts = (name: string) => sql`${placeholder(name)}::text[]`;

/**
 * Says of the lines of a file, in their order, where each belongs: to the one address whose account it names, to the
 * payout that it answers, to none, or to a transfer that was seen before by its reference, amount and day.
 */
export class LineMatcher {
  /** The lines of the file so far, as they are compared. */
  readonly #before = new Set<string>();
  /** Whether any line names an account of the service, or answers a payout. */
  knowsAccount = false;
  /** The operator's own accounts, as they are compared. */
  #own: Set<string> | undefined;

  constructor(
    private readonly operator: Operator,
    /** The file, if it is stored: its own lines were not seen before. */
    private readonly fileId: string,
  ) {}

  async match(lines: readonly FileLine[]): Promise<MatchedLine[]> {
    const [receivers, seen, payouts] = await Promise.all([
      this.#receivers(lines),
      this.#seen(lines),
      this.#payouts(lines),
    ]);
    this.#own ??= new Set((await listOwnAccounts(this.operator)).map(({ iban, number }) => iban ?? number!));
    const matched = lines.map((line) => ({ ...line, ...this.#fateOf(line, receivers, seen, payouts) }));
    const recorded = await this.#recorded(matched);
    return matched.map((line) => {
      const depositId = recorded.get(noticeKey(line.tenant, line.reference, line.addressId, line));
      if (line.direction !== 'credit' || depositId === undefined) return line;
      return { ...line, state: BankLineState.SEEN_BEFORE, depositId };
    });
  }

  #fateOf(
    line: FileLine,
    receivers: Map<string, Receiver[]>,
    seen: Set<string>,
    payouts: Map<string, PayoutRow>,
  ): Fate {
    const found = [line.payee, line.account].flatMap((name) => (name === null ? [] : (receivers.get(name) ?? [])));
    const answered = isAnswer(line) ? payouts.get(payoutIdOf(line.details.endToEndId) ?? '') : undefined;
    if (found.length > 0 || answered || this.#own?.has(line.account ?? '')) this.knowsAccount = true;
    const key = line.reference === null ? undefined : keyOf(line);
    const isRepeated = key !== undefined && this.#before.has(key);
    if (key !== undefined) this.#before.add(key);
    if (key !== undefined && seen.has(key)) return seenBefore;
    if (line.isUnclear) return unmatched(UnmatchedReason.UNCLEAR);
    if (answered) return fateOfAnswer(line, answered);
    // Money that left, or that came back after it had left, is that of payouts.
    if ((line.direction === 'debit') !== line.isReversal) return unmatched(UnmatchedReason.OUTGOING);
    if (found.length === 0) return unmatched(UnmatchedReason.UNKNOWN_ACCOUNT);
    const to = theOne(found.filter(({ currency }) => currency === line.currency));
    if (to === 'none') return unmatched(UnmatchedReason.OTHER_CURRENCY);
    if (to === 'several') return unmatched(UnmatchedReason.SEVERAL_ADDRESSES);
    if (line.reference === null) return unmatched(UnmatchedReason.NO_REFERENCE);
    if (isRepeated) return unmatched(UnmatchedReason.REPEATED);
    return { ...nowhere, state: BankLineState.MATCHED, reason: null, tenant: to.tenantId, addressId: to.id };
  }

  /** The receiving addresses by the accounts that lines name. */
  async #receivers(lines: readonly FileLine[]): Promise<Map<string, Receiver[]>> {
    const names = new Set(lines.flatMap(({ account, payee }) => [account, payee]).filter((name) => name !== null));
    const [iban, number] = [bankAccountKey(address, 'iban'), bankAccountKey(address, 'number')];
    const rows = await this.operator.read<Receiver>(
      'operator_addresses_of_accounts',
      (db) =>
        db
          .select({
            ...{ tenantId: address.tenantId, id: address.id, currency: address.currency, status: address.status },
            ...{ iban: sql<string>`coalesce(${iban}, '')`.as('iban'), number: sql<string>`coalesce(${number}, '')` },
          })
          .from(address)
          .where(
            and(
              sql`livemode and category in ('service_receive', 'service_fee_advance')`,
              or(sql`${iban} = any(${texts('names')})`, sql`${number} = any(${texts('names')})`),
            ),
          ),
      { names: [...names] },
    );
    const found = new Map<string, Receiver[]>();
    for (const row of rows)
      for (const name of new Set([row.iban, row.number]))
        if (names.has(name)) found.set(name, [...(found.get(name) ?? []), row]);
    return found;
  }

  /** The live payouts that lines may answer, by id. */
  async #payouts(lines: readonly FileLine[]): Promise<Map<string, PayoutRow>> {
    const ids = lines.flatMap((line) => (isAnswer(line) ? (payoutIdOf(line.details.endToEndId) ?? []) : []));
    return new Map((await livePayouts(this.operator, ids)).map((row) => [row.id, row]));
  }

  /** Which lines other files have, as they are compared. */
  async #seen(lines: readonly FileLine[]): Promise<Set<string>> {
    const with_ = lines.filter(({ reference }) => reference !== null);
    if (with_.length === 0) return new Set();
    const columns = ['references', 'amounts', 'days'].map((name) => texts(name));
    const rows = await this.operator.read<BankLineRow>(
      'operator_bank_lines_seen',
      (db) =>
        db
          .select()
          .from(bankLine)
          .where(
            and(
              sql`(${bankLine.reference}, ${bankLine.amount}::text, ${bankLine.day}) in
                (select * from unnest(${sql.join(columns, sql`, `)}))`,
              sql`${bankLine.reference} = any(${texts('references')})`,
              ne(bankLine.state, BankLineState.SEEN_BEFORE),
              ne(bankLine.fileId, placeholder('fileId')),
            ),
          ),
      {
        fileId: this.fileId,
        references: with_.map(({ reference }) => reference!),
        amounts: with_.map(({ amount }) => String(amount)),
        days: with_.map(({ day }) => day),
      },
    );
    return new Set(rows.map(keyOf));
  }

  /** The receipts of lines that were recorded without a file. */
  async #recorded(lines: readonly MatchedLine[]): Promise<Map<string, string>> {
    const asked = lines.filter(
      ({ state, direction, payoutId }) =>
        state === BankLineState.MATCHED && direction === 'credit' && payoutId === null,
    );
    if (asked.length === 0) return new Map();
    const rows = await receiptsOf(
      this.operator,
      asked.map(({ tenant, reference }) => ({ tenant: tenant!, reference: reference! })),
    );
    return new Map(
      rows.map(({ tenantId, reference, content, depositId }) => [
        noticeKey(tenantId, reference, content.toAddressId, content),
        depositId!,
      ]),
    );
  }
}

/** The notices of received money that tenants have under these references, in live mode. */
export function receiptsOf(
  operator: Operator,
  asked: readonly { tenant: string; reference: string }[],
): Promise<BankNoticeRow[]> {
  return operator.read<BankNoticeRow>(
    'operator_bank_receipts',
    (db) =>
      db
        .select()
        .from(bankNotice)
        .where(
          and(
            sql`(${bankNotice.tenantId}, ${bankNotice.reference}) in
              (select * from unnest(${texts('tenants')}, ${texts('references')}))`,
            eq(bankNotice.livemode, sql`true`),
            sql`${bankNotice.event} = 'received'`,
          ),
        ),
    { tenants: asked.map(({ tenant }) => tenant), references: asked.map(({ reference }) => reference) },
  );
}

/**
 * Whether a line may answer a payout: money that has left, or that has come back as the bank says. What a payer sends
 * is neither, whatever reference the payer gives it.
 */
const isAnswer = ({ direction, isReversal, details: { returnReason } }: FileLine): boolean =>
  direction === 'debit' ? !isReversal : isReversal || returnReason !== undefined;

/** A debit pays its payout once, in two files too. Another amount is a matter for a person. */
function fateOfAnswer({ direction, amount, currency }: FileLine, answered: PayoutRow): Fate {
  const { id: payoutId, tenantId: tenant, status } = answered;
  if (answered.amount !== amount || answered.currency !== currency) return unmatched(UnmatchedReason.OUTGOING);
  if (direction === 'debit' && status !== PayoutStatus.PROCESSING && status !== PayoutStatus.FAILED)
    return { ...seenBefore, tenant, payoutId };
  return { ...nowhere, state: BankLineState.MATCHED, reason: null, tenant, payoutId };
}

const nowhere = { tenant: null, addressId: null, depositId: null, payoutId: null };
const seenBefore: Fate = { state: BankLineState.SEEN_BEFORE, reason: null, ...nowhere };
const unmatched = (reason: UnmatchedReason): Fate => ({ state: BankLineState.UNMATCHED, reason, ...nowhere });

/** The one address of several, where those that are in use come first. */
function theOne(found: readonly Receiver[]): Receiver | 'none' | 'several' {
  const distinct = [...new Map(found.map((row) => [row.id, row])).values()];
  const inUse = distinct.filter(({ status }) => status === 'activated');
  const [one, another] = inUse.length > 0 ? inUse : distinct;
  if (!one) return 'none';
  return another ? 'several' : one;
}

type Compared = Pick<FileLine, 'reference' | 'amount' | 'currency' | 'day' | 'account' | 'direction' | 'isReversal'>;

/** What makes two lines one transfer. */
const keyOf = (line: Compared): string =>
  JSON.stringify([
    ...[line.reference, String(line.amount), line.currency, line.day, line.account, line.direction, line.isReversal],
  ]);

const noticeKey = (
  tenant: string | null,
  reference: string | null,
  addressId: string | null,
  { amount, currency }: { amount: bigint | string; currency: string },
): string => JSON.stringify([tenant, reference, addressId, String(amount), currency]);
