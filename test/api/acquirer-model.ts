import type { Report } from '../../src/hosted/adapter/protocol.js';
import { type Deposit, Model, type Refund, type Sides } from '../faults/model.js';

interface Money {
  amount: bigint;
  currency: string;
}

/** A payment page of one receivable, in rupees. */
export interface Checkout {
  id: string;
  amount: bigint;
  /** What the payer is asked for: the fee is in it. */
  gross: bigint;
  receivable: string;
  isPaid: boolean;
}

export interface Attempt {
  id: string;
  checkout: Checkout;
  status: 'processing' | 'succeeded' | 'duplicate' | 'declined' | 'expired';
  /** What the first success said. */
  taken?: Money;
  /** What was reported and is not carried out yet. */
  queued?: 'succeeded' | 'failed';
  /** Whether the worker still asks the acquirer about it, and whether its time is over. */
  isAsked: boolean;
  isOver: boolean;
  /** A success that does not fit what was known: what it said, if that was another amount. */
  mismatch?: { said: string | null };
}

/** The refund of the second payment of a checkout. */
interface DuplicateRefund {
  attempt: string;
  amount: bigint;
  status: Refund['status'];
}

interface Dispute {
  attempt: string;
  amount: bigint;
  beyond: bigint;
  reason: string;
  status: 'needs_response' | 'under_review' | 'won' | 'lost' | 'accepted';
}

/** Unexplained money: it is in no balance. */
interface Kept extends Money {
  reason: 'other_currency' | 'beyond_attempt' | 'duplicate' | 'beyond_deposit' | 'recorded';
  /** The attempt that took it, or whose deposit it was taken back from. */
  attempt: string;
  /** The reference of what took it back, or of the dispute whose rest it is. */
  reference?: string;
  /** Whether an operator has recorded it. */
  isByHand?: boolean;
  covered: bigint;
  isResolved: boolean;
  /** How the dispute was decided that took it. */
  decision?: 'won' | 'lost';
}

type DataOf<T extends Report['type']> = Extract<Report, { type: T }>['data'];

const minor = (amount: string) => BigInt(amount.replace('.', ''));
const lesser = (a: bigint, b: bigint) => (a < b ? a : b);
const rupees = 'INR';

/** Whether an attempt has taken money, or may be found to have: one that has expired can still have succeeded. */
const mayBePaid = ({ taken, status }: Attempt): boolean =>
  taken !== undefined || status === 'processing' || status === 'expired';

/**
 * What an acquirer takes and takes back, as plain arithmetic on what has happened, in its order. A deposit has the id
 * of its attempt here, and a deposit that takes money back the reference of what took it, with a number for each
 * further one.
 */
export class AcquirerModel extends Model {
  readonly attempts = new Map<string, Attempt>();
  /** By the id of the refund. */
  readonly duplicates = new Map<string, DuplicateRefund>();
  /** By their references. */
  readonly disputes = new Map<string, Dispute>();
  readonly kept: Kept[] = [];
  /** The outside world, by place and currency. */
  readonly outside: Record<string, bigint> = {};
  readonly #queue: Attempt[] = [];

  constructor(readonly payee: string) {
    super();
  }

  /** The status of the answer to a report, which it carries out. */
  report(given: Report): 200 | 402 | 404 | 409 | 503 {
    switch (given.type) {
      case 'attempt.decided':
        return this.#decideAttempt(given.data);
      case 'refund.decided':
        return this.#decideRefund(given.data);
      case 'dispute.opened':
        return this.#openDispute(given.data);
      case 'dispute.decided':
        return this.#decideDispute(given.data);
    }
  }

  /** The first decision counts, but a success counts after the attempt's time as well. */
  #decideAttempt({ id, ...said }: DataOf<'attempt.decided'>): 200 | 404 {
    const attempt = this.attempts.get(id);
    if (!attempt) return 404;
    const isUndecided = attempt.taken === undefined && attempt.queued === undefined;
    const isOpen = isUndecided && ['processing', 'expired'].includes(attempt.status);
    if (said.status === 'failed') {
      if (isOpen) attempt.isAsked = false;
      if (isOpen && attempt.status === 'processing') this.#enqueue(attempt, 'failed');
      return 200;
    }
    const taken = { amount: minor(said.amount), currency: said.currency };
    if (isOpen) {
      attempt.taken = taken;
      this.#enqueue(attempt, 'succeeded');
      return 200;
    }
    const before = attempt.taken;
    const isOther = before !== undefined && (before.amount !== taken.amount || before.currency !== taken.currency);
    const asked = attempt.checkout.gross;
    if (isOther) attempt.mismatch ??= { said: `${taken.amount} ${taken.currency}` };
    else if (before === undefined)
      attempt.mismatch ??= {
        said: taken.amount === asked && taken.currency === rupees ? null : `${taken.amount} ${taken.currency}`,
      };
    return 200;
  }

  #enqueue(attempt: Attempt, queued: 'succeeded' | 'failed'): void {
    Object.assign(attempt, { queued, isAsked: false });
    this.#queue.push(attempt);
  }

  /** Carries out what was reported of attempts, in the order of the reports. */
  work(): void {
    for (const attempt of this.#queue.splice(0)) {
      const { queued, taken } = attempt;
      delete attempt.queued;
      if (queued === 'succeeded') this.#credit(attempt, taken!);
      else if (attempt.status === 'processing') attempt.status = 'declined';
    }
  }

  /** The time of an attempt is over, and nothing of it is queued. */
  expire(attempt: Attempt): void {
    attempt.isOver = true;
    if (attempt.status === 'processing') attempt.status = 'expired';
  }

  /** The worker has got the acquirer's answer about an attempt, or has heard that it is not known there. */
  answer(attempt: Attempt, said: object | undefined): void {
    if (said) this.report({ type: 'attempt.decided', data: { id: attempt.id, ...said } } as Report);
    else if (attempt.isOver) attempt.isAsked = false;
  }

  #credit(attempt: Attempt, { amount: taken, currency }: Money): void {
    const { id, checkout } = attempt;
    if (currency !== rupees) {
      this.#keep({ reason: 'other_currency', attempt: id, amount: taken, currency });
      return;
    }
    attempt.status = checkout.isPaid ? 'duplicate' : 'succeeded';
    if (checkout.isPaid) return;
    checkout.isPaid = true;
    const [amount, charged] = [lesser(taken, checkout.amount), lesser(taken, checkout.gross)];
    this.#move('acquirer', -charged);
    this.#move('fees', charged - amount);
    this.addDeposit({ id, to: this.payee, currency, amount, feeAdvance: false });
    this.moveDeposit(id, 'complete');
    if (taken > charged) this.#keep({ reason: 'beyond_attempt', attempt: id, amount: taken - charged, currency });
    const share = lesser(amount, this.reconcilable(this.receivables.get(checkout.receivable)!));
    if (share > 0n) this.reconcile(id, [{ receivable: checkout.receivable, amount: share }]);
  }

  /** The worker has made the refund of a second payment, and submits it. */
  refundDuplicate(attempt: string, id: string): void {
    const { amount } = this.attempts.get(attempt)!.taken!;
    this.duplicates.set(id, { attempt, amount, status: 'pending' });
  }

  #decideRefund({ id, status }: Pick<DataOf<'refund.decided'>, 'id' | 'status'>): 200 | 404 | 409 {
    const [duplicate, refund] = [this.duplicates.get(id), this.refunds.get(id)];
    const known = duplicate ?? refund;
    if (!known) return 404;
    if (known.status === status) return 200;
    if (known.status !== 'pending') return 409;
    if (duplicate) {
      duplicate.status = status as Refund['status'];
      const { attempt, amount } = duplicate;
      if (status === 'failed') this.#keep({ reason: 'duplicate', attempt, amount, currency: rupees });
      else this.#pass('acquirer', 'refund', amount);
    } else if (status === 'failed') {
      this.endRefund(id, 'fail');
      this.#cover(refund!);
    } else {
      this.endRefund(id, 'succeed');
      this.#move('refund', refund!.amount);
    }
    return 200;
  }

  /** What was taken back beyond a deposit comes from a refund of it that has failed. */
  #cover({ deposit, amount }: Refund): void {
    let rest = amount;
    for (const row of this.kept) {
      if (row.amount > 0n || row.attempt !== deposit || row.currency !== rupees) continue;
      if (row.decision === 'won') continue;
      const share = lesser(rest, -row.amount - row.covered);
      if (share === 0n) continue;
      this.#takeBack(deposit, share, row.reference!);
      this.#pass('dispute', 'unexplained', share);
      row.covered += share;
      if (row.covered === -row.amount) row.isResolved = true;
      rest -= share;
    }
  }

  #takeBack(deposit: string, amount: bigint, reference: string): void {
    const number = this.debitsOf(reference).length;
    this.take(deposit, amount, number === 0 ? reference : `${reference} ${number}`, 'dispute');
    this.#move('dispute', amount);
  }

  /** The deposits that have taken money back under a reference. */
  debitsOf(reference: string): Deposit[] {
    return this.deposits.listed.filter(({ id }) => id === reference || id.startsWith(`${reference} `));
  }

  /** What disputes and refunds have left of the deposit of an attempt; undefined if it was not credited. */
  leftOf(attempt: string): bigint | undefined {
    const deposit = this.deposits.get(attempt);
    return deposit && deposit.amount - deposit.disputed - deposit.refunded;
  }

  #openDispute({ id, attempt: of, amount: text, currency, reason_code: reason }: DataOf<'dispute.opened'>) {
    const [amount, attempt] = [minor(text), this.attempts.get(of)];
    if (!attempt) return 404;
    const isForeign = attempt.taken !== undefined && attempt.taken.currency !== rupees;
    const isCredited = ['succeeded', 'duplicate'].includes(attempt.status);
    // Nothing is carried out yet of what it took, or its success may still be reported.
    if (!isForeign && !isCredited && mayBePaid(attempt)) return 503;
    const known = this.disputes.get(id);
    if (known) {
      const isSame = known.attempt === of && known.reason === reason && known.amount + known.beyond === amount;
      return isSame && currency === rupees ? 200 : 409;
    }
    const row = this.recorded(id);
    if (row) return row.attempt === of && -row.amount === amount && row.currency === currency ? 200 : 409;
    const left = this.leftOf(of);
    // It has taken nothing.
    if (!attempt.taken) return 409;
    const isTooMuch = currency === attempt.taken.currency && amount > attempt.taken.amount;
    if (isTooMuch) return left === undefined && !isForeign ? 409 : 402;
    if (currency !== rupees || left === undefined || left === 0n) {
      this.#keep({ reason: 'recorded', attempt: of, amount: -amount, currency, reference: id });
      return 200;
    }
    const taken = lesser(amount, left);
    const beyond = amount - taken;
    this.#takeBack(of, taken, id);
    this.disputes.set(id, { attempt: of, amount: taken, beyond, reason, status: 'needs_response' });
    if (beyond > 0n) this.#keep({ reason: 'beyond_deposit', attempt: of, amount: -beyond, currency, reference: id });
    return 200;
  }

  #decideDispute({ id, attempt, status }: DataOf<'dispute.decided'>): 200 | 404 | 409 | 503 {
    const dispute = this.disputes.get(id);
    if (dispute?.attempt === attempt) {
      if (dispute.status === status || (dispute.status === 'accepted' && status === 'lost')) return 200;
      if (!['needs_response', 'under_review'].includes(dispute.status)) return 409;
      dispute.status = status;
      if (status === 'won') this.#giveBack(id);
      return 200;
    }
    const row = this.recorded(id);
    const known = this.attempts.get(attempt);
    if (row?.attempt !== attempt) return known && mayBePaid(known) ? 503 : 404;
    if (row.decision) return row.decision === status ? 200 : 409;
    row.decision = status;
    if (status === 'won') this.#giveBack(id);
    return 200;
  }

  /** What was taken under a reference comes back: from the deposits that took it, and what is in no balance. */
  #giveBack(reference: string): void {
    for (const debit of this.debitsOf(reference)) {
      this.endDispute(debit.id, 'win');
      this.#move('dispute', debit.amount);
    }
    for (const row of this.kept.filter((each) => each.reference === reference)) {
      this.#pass('dispute', 'unexplained', -row.amount - row.covered, row.currency);
      Object.assign(row, { decision: 'won', isResolved: true });
    }
  }

  /** Unexplained money under the reference of what took it back. */
  recorded(reference: string): Kept | undefined {
    return this.kept.find((row) => row.reason === 'recorded' && row.reference === reference);
  }

  /** An operator records what was taken back of a deposit. */
  record(attempt: string, amount: bigint, reference: string): 200 | 402 | 409 {
    if (this.disputes.has(reference)) return 409;
    const row = this.recorded(reference);
    if (row) return row.isByHand && row.attempt === attempt && row.amount === -amount ? 200 : 409;
    if (amount > this.attempts.get(attempt)!.taken!.amount) return 402;
    // A dispute takes what is left.
    if ((this.leftOf(attempt) ?? 0n) > 0n) return 409;
    this.#keep({ reason: 'recorded', attempt, amount: -amount, currency: rupees, reference, isByHand: true });
    return 200;
  }

  override adjust(account: string, sides: Sides) {
    const refused = super.adjust(account, sides);
    if (!refused) this.#move('adjustment', (sides.debit?.amount ?? 0n) - (sides.credit?.amount ?? 0n));
    return refused;
  }

  override endPayout(id: string, verb: 'settle' | 'fail' | 'return') {
    const refused = super.endPayout(id, verb);
    const { amount } = this.payouts.get(id)!;
    if (!refused && verb !== 'fail') this.#move('payout_rail', verb === 'settle' ? amount : -amount);
    return refused;
  }

  /** Keeps money as unexplained. An acquirer took it with an attempt, or something took it back: it is below zero. */
  #keep(row: Omit<Kept, 'covered' | 'isResolved'>): void {
    this.kept.push({ ...row, covered: 0n, isResolved: false });
    this.#pass(row.amount < 0n ? 'dispute' : 'acquirer', 'unexplained', row.amount, row.currency);
  }

  #pass(from: string, to: string, amount: bigint, currency = rupees): void {
    this.#move(from, -amount, currency);
    this.#move(to, amount, currency);
  }

  #move(place: string, amount: bigint, currency = rupees): void {
    const key = `${place} ${currency}`;
    this.outside[key] = (this.outside[key] ?? 0n) + amount;
  }
}
