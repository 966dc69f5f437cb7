import { and, ne, or, sql } from 'drizzle-orm';
import { type AddressRow, address, bankAccountKey } from '../../resources/address/table.js';
import type { Operator } from '../operator.js';
import { type PayoutRow, PayoutStatus } from '../../resources/payout/table.js';
import { accountsOfOrders, isAccount, listOwnAccounts } from '../payment-order/accounts.js';
import { payoutIdOf } from '../payment-order/file.js';
import { livePayouts } from '../payment-order/claims.js';
import type { OwnAccountRow } from '../payment-order/table.js';
import { type Compared, isSame, keyOf, keyOfEntry, ofOtherFiles, otherForms, receiptsOf, takenBy } from './known.js';
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

/** How many days a transfer that was recorded without a file may be from the day of its line. */
const recordedDaysMax = 10;

/**
 * Says of the lines of a file, in their order, where each belongs: to the one address whose account it names, to the
 * payout that it answers, to none, or to a transfer that was seen before by its reference, amount and day. A deposit or
 * a payout is one transfer: another line that would be the same one, of another day, is a matter for a person.
 */
export class LineMatcher {
  /** The lines of the file so far, as they are compared. */
  readonly #before = new Set<string>();
  /** The lines of the file so far that are known as a deposit, or answer a payout, by its id. */
  readonly #taken = new Map<string, Compared[]>();
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
    const [receivers, seen, payouts, forms] = await Promise.all([
      this.#receivers(lines),
      this.#seen(lines),
      this.#payouts(lines),
      otherForms(this.operator, lines, this.fileId),
    ]);
    this.#own ??= new Set((await listOwnAccounts(this.operator)).map(({ iban, number }) => iban ?? number!));
    const from = await accountsOfOrders(this.operator, [...payouts.values()]);
    const matched = lines.map((line) => {
      const fate = this.#fateOf(line, receivers, seen, payouts, from, fateByForm(line, forms));
      return { ...line, ...fate };
    });
    const recorded = await this.#recorded(matched);
    const noticeOf = (line: MatchedLine) => recorded.get(noticeKey(line.tenant, line.reference, line.addressId, line));
    const answered = matched.flatMap(({ payoutId }) => payoutId ?? []);
    const taken = await takenBy(
      this.operator,
      [...recorded.values()].map(({ id }) => id).concat(answered),
      this.fileId,
    );
    return matched.map((line) => ({ ...line, ...this.#knownFate(line, noticeOf(line), payouts, taken) }));
  }

  /** What becomes of a line that is a deposit already, or that answers a payout. Any other stays as it is. */
  #knownFate(
    line: MatchedLine,
    notice: { id: string; created: number } | undefined,
    payouts: Map<string, PayoutRow>,
    taken: Map<string, Compared[]>,
  ): Partial<Fate> {
    const isReceipt = line.direction === 'credit' && line.payoutId === null;
    const id = isReceipt ? notice?.id : (line.payoutId ?? undefined);
    if (line.state !== BankLineState.MATCHED || id === undefined) return {};
    const others = [...(taken.get(id) ?? []), ...(this.#taken.get(id) ?? [])].filter(
      ({ direction }) => direction === line.direction,
    );
    const known = { ...seenBefore, tenant: line.tenant, depositId: isReceipt ? id : null, payoutId: line.payoutId };
    let fate: Partial<Fate> = {};
    if (others.length > 0) fate = others.every((other) => isSame(other, line)) ? known : repeated;
    else if (notice) fate = isNear(line.day, notice.created) ? known : repeated;
    else if (!isReceipt && isRecorded(line, payouts.get(id)!)) fate = known;
    else if (line.direction === 'debit' && isPaid(payouts.get(id)!)) fate = repeated;
    if (fate !== repeated) this.#taken.set(id, [...(this.#taken.get(id) ?? []), line]);
    return fate;
  }

  #fateOf(
    line: FileLine,
    receivers: Map<string, Receiver[]>,
    seen: Set<string>,
    payouts: Map<string, PayoutRow>,
    from: Map<string, OwnAccountRow>,
    byForm: Fate | undefined,
  ): Fate {
    const found = [line.payee, line.account].flatMap((name) => (name === null ? [] : (receivers.get(name) ?? [])));
    const answered = isAnswer(line) ? payouts.get(payoutIdOf(line.details.endToEndId) ?? '') : undefined;
    if (found.length > 0 || answered || this.#own?.has(line.account ?? '')) this.knowsAccount = true;
    const key = line.reference === null ? undefined : keyOf(line);
    const isRepeated = key !== undefined && this.#before.has(key);
    if (key !== undefined) this.#before.add(key);
    if (key !== undefined && seen.has(key)) return seenBefore;
    if (byForm) return byForm;
    if (line.isUnclear) return unmatched(UnmatchedReason.UNCLEAR);
    if (answered && isRepeated) return repeated;
    if (answered) return fateOfAnswer(line, answered, from.get(answered.orderId ?? ''));
    // Money that left, or that came back after it had left, is that of payouts.
    if (isAnswer(line)) return unmatched(UnmatchedReason.OUTGOING);
    if (found.length === 0) return unmatched(UnmatchedReason.UNKNOWN_ACCOUNT);
    const to = theOne(found.filter(({ currency }) => currency === line.currency));
    if (to === 'none') return unmatched(UnmatchedReason.OTHER_CURRENCY);
    if (to === 'several') return unmatched(UnmatchedReason.SEVERAL_ADDRESSES);
    if (line.reference === null) return unmatched(UnmatchedReason.NO_REFERENCE);
    if (isRepeated) return repeated;
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
              ofOtherFiles,
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

  /** The deposits that lines are already by their references, and when their receipts were recorded. */
  async #recorded(lines: readonly MatchedLine[]): Promise<Map<string, { id: string; created: number }>> {
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
      rows.map(({ tenantId, reference, content, depositId, created }) => [
        noticeKey(tenantId, reference, content.toAddressId, content),
        { id: depositId!, created },
      ]),
    );
  }
}

/**
 * The fate of a line of an entry that another file has in another form. One that is all of it is not booked beside its
 * transfers. Its transfers are a matter for a person where it was booked as a whole.
 */
function fateByForm(line: FileLine, forms: Awaited<ReturnType<typeof otherForms>>): Fate | undefined {
  const entry = keyOfEntry({ ...line, entry: line.details.entry });
  if (entry === undefined) return forms.byTransfers.has(keyOf(line)) ? seenBefore : undefined;
  return forms.asWhole.has(entry) ? unmatched(UnmatchedReason.UNCLEAR) : undefined;
}

/**
 * Whether a line may answer a payout: money that has left, or that has come back as the bank says. What a payer sends
 * is neither, whatever reference the payer gives it.
 */
const isAnswer = ({ direction, isReversal, details: { returnReason } }: FileLine): boolean =>
  direction === 'debit' ? !isReversal : isReversal || returnReason !== undefined;

/**
 * An answer has the amount and the currency of its payout, and is on the account from which the order of the payout
 * pays. Anything else is a matter for a person.
 */
function fateOfAnswer(
  { amount, currency, account }: FileLine,
  answered: PayoutRow,
  from: OwnAccountRow | undefined,
): Fate {
  const { id: payoutId, tenantId: tenant } = answered;
  if (answered.currency !== currency) return unmatched(UnmatchedReason.OTHER_CURRENCY);
  if (answered.amount !== amount) return unmatched(UnmatchedReason.OTHER_AMOUNT);
  if (from && account !== null && !isAccount(from, account)) return unmatched(UnmatchedReason.OTHER_ACCOUNT);
  return { ...nowhere, state: BankLineState.MATCHED, reason: null, tenant, payoutId };
}

const nowhere = { tenant: null, addressId: null, depositId: null, payoutId: null };
const seenBefore: Fate = { state: BankLineState.SEEN_BEFORE, reason: null, ...nowhere };
const unmatched = (reason: UnmatchedReason): Fate => ({ state: BankLineState.UNMATCHED, reason, ...nowhere });
const repeated = unmatched(UnmatchedReason.REPEATED);

/** Whether a payout was recorded as paid, with a file or without one. */
const isPaid = ({ status }: PayoutRow): boolean =>
  status === PayoutStatus.COMPLETED || status === PayoutStatus.RETURNED;

/**
 * Whether what a line says of a payout was recorded without a file: the payment, unless under another reference, or the
 * return, of which there is one.
 */
export const isRecorded = (
  { direction, reference }: Pick<FileLine, 'direction' | 'reference'>,
  payout: PayoutRow,
): boolean =>
  direction === 'debit'
    ? isPaid(payout) && (payout.bankReference === null || payout.bankReference === reference)
    : payout.status === PayoutStatus.RETURNED;

/** Whether a day is close to a time in epoch seconds. */
const isNear = (day: string, created: number): boolean =>
  Math.abs(Date.parse(day) / 1_000 - created) <= recordedDaysMax * 86_400;

/** The one address of several, where those that are in use come first. */
function theOne(found: readonly Receiver[]): Receiver | 'none' | 'several' {
  const distinct = [...new Map(found.map((row) => [row.id, row])).values()];
  const inUse = distinct.filter(({ status }) => status === 'activated');
  const [one, another] = inUse.length > 0 ? inUse : distinct;
  if (!one) return 'none';
  return another ? 'several' : one;
}

const noticeKey = (
  tenant: string | null,
  reference: string | null,
  addressId: string | null,
  { amount, currency }: { amount: bigint | string; currency: string },
): string => JSON.stringify([tenant, reference, addressId, String(amount), currency]);
