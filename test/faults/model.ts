import { compartments } from '../support/bodies.js';
type Compartment = (typeof compartments)[number];
export type Funds = Record<Compartment, bigint>;

type Kind = 'platform' | 'user' | 'partner';
export interface Holder {
  id: string;
  kind: Kind;
  /** The account whose partner it is. */
  owner?: string;
  /** The aggregator to which the available money of its users goes. */
  aggregator?: string;
  /** Currencies of its payout addresses, the oldest first. */
  payoutCurrencies: string[];
  /** Whether its platform has stopped its payouts. */
  held?: boolean;
}

export type DepositStatus = 'initialized' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed';
export interface Deposit {
  id: string;
  to: string;
  currency: string;
  amount: bigint;
  feeAdvance: boolean;
  status: DepositStatus;
  /** The amount that is not reconciled yet, and what disputes have clawed back and refunds have taken. */
  rest: bigint;
  disputed: bigint;
  refunded: bigint;
  /** The deposit that it disputes, and how far that dispute has come. */
  disputes?: string;
  dispute?: 'needs_response' | 'accepted' | 'won' | 'lost';
  /** The clawed-back amount by which no lock has been reduced yet, because the locks were in payouts. */
  owed: bigint;
  /** Whether the sandbox has begun to process it. One that a test helper moved to `processing` is taken on later. */
  sandbox: boolean;
}

export interface Receivable {
  id: string;
  owner: string;
  currency: string;
  invoice: bigint;
  maximum: bigint;
  locked: bigint;
  settled: bigint;
  voided: boolean;
}

interface Lock {
  receivable: string;
  deposit: string;
  amount: bigint;
  /** The currency of its money, which changes when a payout converts it and then fails. */
  money: string;
  payout?: string | undefined;
  settled: boolean;
}

export interface Payout {
  id: string;
  account: string;
  amount: bigint;
  currency: string;
  source: string;
  status: 'processing' | 'completed' | 'failed' | 'returned';
}

export interface Refund {
  id: string;
  deposit: string;
  amount: bigint;
  /** The part that was not reconciled. */
  fromPending: bigint;
  /** The account whose available money gave the rest. */
  debited: string;
  /** What it took from locks, the oldest first. */
  freed: Share[];
  status: 'pending' | 'succeeded' | 'failed';
}

/** A domain error as an API shows it; undefined if the operation succeeds. */
export type Refused = { status: number; code: string } | undefined;
export interface Share {
  receivable: string;
  amount: bigint;
}

interface Side {
  amount: bigint;
  currency: string;
}
/** What an adjustment gives to an account, and what it takes from it. */
export interface Sides {
  credit?: Side;
  debit?: Side;
}

/** Objects by id, and in the order in which they were added. */
export class Shelf<T> extends Map<string, T> {
  readonly listed: T[] = [];

  override set(id: string, object: T): this {
    if (this.has(id)) throw new Error(`${id} is already on the shelf.`);
    this.listed.push(object);
    return super.set(id, object);
  }
}

/** Units of each currency for one dollar, in millionths: the fixed rates of test mode. */
const perDollar: Record<string, bigint> = {
  USD: 1_000_000n,
  EUR: 920_000n,
  GBP: 790_000n,
  INR: 83_000_000n,
  SGD: 1_350_000n,
  AUD: 1_520_000n,
  CAD: 1_370_000n,
  AED: 3_672_500n,
  JPY: 150_000_000n,
};

/** Converts minor units, rounded down to the cent, and to a whole unit in a currency without cents. */
function converted(amount: bigint, source: string, target: string): bigint {
  if (source === target) return amount;
  const [from, to] = [perDollar[source]!, perDollar[target]!];
  const minor = (amount * to) / from;
  return target === 'JPY' ? minor - (minor % 100n) : minor;
}

const invalid: Refused = { status: 400, code: 'status_invalid' };
const exceeds: Refused = { status: 402, code: 'amount_exceeds_reconcilable' };
const exceedsDeposit: Refused = { status: 402, code: 'amount_exceeds_deposit' };
const lesser = (a: bigint, b: bigint) => (a < b ? a : b);

export class Model {
  readonly holders = new Map<string, Holder>();
  readonly funds = new Map<string, Funds>();
  readonly deposits = new Shelf<Deposit>();
  readonly receivables = new Shelf<Receivable>();
  readonly payouts = new Shelf<Payout>();
  readonly refunds = new Shelf<Refund>();
  /** In the order of their creation. */
  readonly locks: Lock[] = [];

  fundsOf(account: string, currency: string): Funds {
    const key = `${account} ${currency}`;
    const known = this.funds.get(key);
    if (known) return known;
    const none = { available: 0n, pending: 0n, processing: 0n, payout_processing: 0n, fee_advance: 0n };
    this.funds.set(key, none);
    return none;
  }

  /** The account whose receivables a holder's money is reconciled with. */
  receiver(account: string): string {
    const holder = this.holders.get(account)!;
    return holder.kind === 'partner' ? holder.owner! : holder.id;
  }

  /** The amount that can still be reconciled with a receivable: none once it is void. */
  reconcilable(receivable: Receivable): bigint {
    return receivable.voided ? 0n : receivable.maximum - receivable.locked - receivable.settled;
  }

  statusOf(receivable: Receivable): string {
    if (receivable.voided) return 'void';
    if (receivable.settled === receivable.maximum) return 'settled';
    return this.reconcilable(receivable) === 0n ? 'locked' : 'open';
  }

  lockedDeposits(receivable: Receivable): string[] {
    const unpaid = this.locks.filter((l) => l.receivable === receivable.id && !l.settled && l.amount > 0n);
    return [...new Set(unpaid.map((l) => l.deposit))].sort();
  }

  addDeposit(deposit: Pick<Deposit, 'id' | 'to' | 'currency' | 'amount' | 'feeAdvance'>): void {
    this.deposits.set(deposit.id, {
      ...deposit,
      status: 'initialized',
      rest: 0n,
      disputed: 0n,
      refunded: 0n,
      owed: 0n,
      sandbox: false,
    });
  }

  /** Moves a deposit as a test helper does: completion credits it, and a reversal claws back what no dispute has. */
  moveDeposit(id: string, verb: 'process' | 'complete' | 'fail' | 'cancel' | 'reverse'): Refused {
    const deposit = this.deposits.get(id)!;
    const from: Record<typeof verb, DepositStatus[]> = {
      process: ['initialized'],
      complete: ['initialized', 'processing'],
      fail: ['initialized', 'processing'],
      cancel: ['initialized'],
      reverse: ['completed'],
    };
    if (!from[verb].includes(deposit.status) || (verb === 'reverse' && deposit.amount < 0n)) return invalid;
    if (verb === 'process') deposit.status = 'processing';
    if (verb === 'fail') deposit.status = 'failed';
    if (verb === 'cancel') deposit.status = 'cancelled';
    if (verb === 'complete') this.#complete(deposit);
    if (verb === 'reverse') {
      deposit.status = 'reversed';
      this.#takeBack(deposit, deposit.amount - deposit.disputed - deposit.refunded);
    }
    return undefined;
  }

  /** The two steps of the sandbox, this one and `sandboxCompletes`; each returns whether it applies. */
  sandboxProcesses(id: string): boolean {
    const deposit = this.deposits.get(id)!;
    if (deposit.status !== 'initialized') return false;
    Object.assign(deposit, { status: 'processing', sandbox: true });
    return true;
  }
  /** The sandbox finds a deposit in process that it did not begin, and completes it in its next step. */
  sandboxTakesOn(id: string): void {
    const deposit = this.deposits.get(id)!;
    if (deposit.status === 'processing') deposit.sandbox = true;
  }
  sandboxCompletes(id: string): boolean {
    const deposit = this.deposits.get(id)!;
    if (deposit.status !== 'processing') return false;
    this.#complete(deposit);
    return true;
  }

  #complete(deposit: Deposit): void {
    deposit.status = 'completed';
    if (!deposit.feeAdvance) deposit.rest = deposit.amount;
    this.fundsOf(deposit.to, deposit.currency)[deposit.feeAdvance ? 'fee_advance' : 'pending'] += deposit.amount;
  }

  /**
   * The amount that a dispute claws back: the given one, or all that is undisputed, as far as refunds have left it; or
   * else the domain error.
   */
  disputable(id: string, amount: bigint | undefined): bigint | Refused {
    const deposit = this.deposits.get(id)!;
    if (deposit.status !== 'completed' || deposit.amount < 0n) return invalid;
    const undisputed = deposit.amount - deposit.disputed;
    const left = undisputed - deposit.refunded;
    const wanted = amount ?? left;
    return wanted <= 0n || left <= 0n || wanted > undisputed ? exceedsDeposit : lesser(wanted, left);
  }

  /**
   * Takes money of a deposit by a separate one with a negative amount, which is completed from the start. A dispute can
   * be answered, the recall of a bank cannot.
   */
  take(id: string, amount: bigint, debitId: string, by: 'dispute' | 'recall'): void {
    const deposit = this.deposits.get(id)!;
    this.#takeBack(deposit, amount);
    deposit.disputed += amount;
    this.deposits.set(debitId, {
      ...{ id: debitId, to: deposit.to, currency: deposit.currency, feeAdvance: deposit.feeAdvance },
      ...{ disputes: id, amount: -amount, status: 'completed', rest: 0n, disputed: 0n, refunded: 0n, owed: 0n },
      ...{ sandbox: false, ...(by === 'dispute' && { dispute: 'needs_response' as const }) },
    });
  }

  /**
   * Ends the dispute that took money by a deposit. The money of a won one is unreconciled again, except as far as locks
   * in payouts exceed what is reconciled: that part is available. A deposit that was reversed meanwhile gives it back.
   */
  endDispute(id: string, verb: 'accept' | 'win' | 'lose'): Refused {
    const debit = this.deposits.get(id)!;
    if (debit.dispute !== 'needs_response') return invalid;
    debit.dispute = ({ accept: 'accepted', win: 'won', lose: 'lost' } as const)[verb];
    if (verb !== 'win') return undefined;
    debit.status = 'reversed';
    const amount = -debit.amount;
    const deposit = this.deposits.get(debit.disputes!)!;
    const funds = this.fundsOf(deposit.to, deposit.currency);
    deposit.disputed -= amount;
    const held = deposit.feeAdvance || deposit.status === 'reversed' ? 0n : lesser(amount, deposit.owed);
    deposit.owed -= held;
    funds[deposit.feeAdvance ? 'fee_advance' : 'pending'] += amount - held;
    if (!deposit.feeAdvance) deposit.rest += amount - held;
    if (deposit.status === 'reversed') this.#takeBack(deposit, amount);
    else this.#receive(deposit, held);
    return undefined;
  }

  /**
   * Claws back the unreconciled amount first, then the receiver's available money, even below zero; what a user of an
   * aggregator is then below zero is the aggregator's. Then reduces unpaid locks, the newest first.
   */
  #takeBack(deposit: Deposit, amount: bigint): void {
    const funds = this.fundsOf(deposit.to, deposit.currency);
    if (deposit.feeAdvance) {
      funds.fee_advance -= amount;
      return;
    }
    const unreconciled = lesser(deposit.rest, amount);
    const reconciled = amount - unreconciled;
    deposit.rest -= unreconciled;
    funds.pending -= unreconciled;
    const receiver = this.receiver(deposit.to);
    const received = this.fundsOf(receiver, deposit.currency);
    received.available -= reconciled;
    const { aggregator } = this.holders.get(receiver)!;
    if (aggregator !== undefined && received.available < 0n) {
      this.fundsOf(aggregator, deposit.currency).available += received.available;
      received.available = 0n;
    }
    deposit.owed += reconciled;
    this.#shrink(deposit);
  }

  /**
   * Reduces the locks of a deposit that are in no payout by the amount that it owes, the newest first. Returns by how
   * much, the oldest first.
   */
  #shrink(deposit: Deposit): Share[] {
    const freed: Share[] = [];
    for (const lock of this.locks.filter((l) => l.deposit === deposit.id && l.payout === undefined).reverse()) {
      const shrink = lesser(lock.amount, deposit.owed);
      lock.amount -= shrink;
      this.receivables.get(lock.receivable)!.locked -= shrink;
      deposit.owed -= shrink;
      if (shrink > 0n) freed.unshift({ receivable: lock.receivable, amount: shrink });
    }
    return freed;
  }

  /**
   * Refunds a deposit: the unreconciled amount first, then available money of the receiver, or of its aggregator. All
   * of it is in `processing` meanwhile. By default it is what disputes and other refunds have left.
   */
  refund(id: string, given: bigint | undefined, refundId: string): Refused {
    const deposit = this.deposits.get(id)!;
    if (deposit.status !== 'completed' || deposit.amount < 0n) return invalid;
    const left = deposit.amount - deposit.disputed - deposit.refunded;
    const amount = given ?? left;
    if (amount <= 0n || amount > left) return exceedsDeposit;
    const receiver = this.receiver(deposit.to);
    const debited = this.holders.get(receiver)!.aggregator ?? receiver;
    const fromPending = deposit.feeAdvance ? amount : lesser(deposit.rest, amount);
    const reconciled = amount - fromPending;
    const [funds, others] = [this.fundsOf(deposit.to, deposit.currency), this.fundsOf(debited, deposit.currency)];
    if (reconciled > 0n && others.available < reconciled) return { status: 402, code: 'balance_insufficient' };
    funds[deposit.feeAdvance ? 'fee_advance' : 'pending'] -= fromPending;
    funds.processing += fromPending;
    others.available -= reconciled;
    others.processing += reconciled;
    if (!deposit.feeAdvance) deposit.rest -= fromPending;
    deposit.refunded += amount;
    deposit.owed += reconciled;
    const freed = reconciled > 0n ? this.#shrink(deposit) : [];
    this.refunds.set(refundId, { id: refundId, deposit: id, amount, fromPending, debited, freed, status: 'pending' });
    return undefined;
  }

  /**
   * Ends a refund. One that fails gives its money back. What it had taken from locks is reconciled with the same
   * receivables, as far as they can take it, and otherwise unreconciled. A reversal takes all of it.
   */
  endRefund(id: string, verb: 'succeed' | 'fail'): Refused {
    const refund = this.refunds.get(id)!;
    if (refund.status !== 'pending') return invalid;
    const deposit = this.deposits.get(refund.deposit)!;
    const { amount, fromPending, debited, freed } = refund;
    const [funds, others] = [this.fundsOf(deposit.to, deposit.currency), this.fundsOf(debited, deposit.currency)];
    const reconciled = amount - fromPending;
    funds.processing -= fromPending;
    others.processing -= reconciled;
    refund.status = verb === 'succeed' ? 'succeeded' : 'failed';
    if (verb === 'succeed') return undefined;
    deposit.refunded -= amount;
    if (deposit.feeAdvance) {
      funds.fee_advance += amount;
      if (deposit.status === 'reversed') this.#takeBack(deposit, amount);
      return undefined;
    }
    const reversed = deposit.status === 'reversed';
    const locked = reversed ? reconciled : lesser(deposit.owed, reconciled);
    const unlocked = reconciled - locked;
    deposit.owed -= locked;
    others.available += locked;
    funds.pending += fromPending + unlocked;
    deposit.rest += fromPending + unlocked;
    if (reversed) this.#takeBack(deposit, amount);
    else this.#lockAgain(deposit, freed, unlocked);
    return undefined;
  }

  #lockAgain(deposit: Deposit, freed: readonly Share[], amount: bigint): void {
    let rest = amount;
    for (const { receivable: name, amount: most } of freed) {
      const receivable = this.receivables.get(name)!;
      const share = [most, rest, this.reconcilable(receivable)].reduce(lesser);
      if (share > 0n) this.#count(deposit, receivable, share);
      rest -= share;
    }
    this.#makeAvailable(deposit, amount - rest);
  }

  /** Locks a receivable for a part of a deposit. */
  #count(deposit: Deposit, receivable: Receivable, amount: bigint): void {
    receivable.locked += amount;
    const lock = { receivable: receivable.id, deposit: deposit.id, amount, money: deposit.currency, settled: false };
    this.locks.push(lock);
  }

  /** Makes an unreconciled part of a deposit available to its receiver, or to the aggregator. */
  #makeAvailable(deposit: Deposit, amount: bigint): void {
    deposit.rest -= amount;
    this.fundsOf(deposit.to, deposit.currency).pending -= amount;
    this.#receive(deposit, amount);
  }

  /** Gives available money of a deposit to its receiver, or to the aggregator. */
  #receive(deposit: Deposit, amount: bigint): void {
    if (amount === 0n) return;
    const receiver = this.receiver(deposit.to);
    const funds = this.fundsOf(receiver, deposit.currency);
    funds.available += amount;
    const { aggregator } = this.holders.get(receiver)!;
    if (aggregator !== undefined && funds.available > 0n) {
      this.fundsOf(aggregator, deposit.currency).available += funds.available;
      funds.available = 0n;
    }
  }

  /** The domain error for a new receivable with this maximum; undefined if it is valid. */
  receivableRefused(invoice: bigint, maximum: bigint): Refused {
    if (maximum <= 0n) return { status: 400, code: 'parameter_invalid' };
    return maximum > invoice ? exceeds : undefined;
  }

  addReceivable(receivable: Pick<Receivable, 'id' | 'owner' | 'currency' | 'invoice' | 'maximum'>): void {
    this.receivables.set(receivable.id, { ...receivable, locked: 0n, settled: 0n, voided: false });
  }

  limitReceivable(id: string, maximum: bigint): Refused {
    const receivable = this.receivables.get(id)!;
    if (maximum <= 0n) return { status: 400, code: 'parameter_invalid' };
    if (receivable.voided) return invalid;
    if (maximum > receivable.invoice || maximum < receivable.locked + receivable.settled) return exceeds;
    receivable.maximum = maximum;
    return undefined;
  }

  voidReceivable(id: string): Refused {
    const receivable = this.receivables.get(id)!;
    if (receivable.voided || receivable.locked > 0n || receivable.settled > 0n) return invalid;
    receivable.voided = true;
    return undefined;
  }

  /**
   * Reconciles a deposit with receivables; the user's available money moves to its aggregator at once.
   */
  reconcile(id: string, shares: readonly Share[]): Refused {
    const deposit = this.deposits.get(id)!;
    const receiver = this.receiver(deposit.to);
    const amounts = new Map<string, bigint>();
    for (const { receivable, amount } of shares) amounts.set(receivable, (amounts.get(receivable) ?? 0n) + amount);
    if (shares.some(({ amount }) => amount <= 0n)) return { status: 400, code: 'parameter_invalid' };
    const named = [...amounts].map(([name, amount]) => ({ receivable: this.receivables.get(name)!, amount }));
    if (named.some(({ receivable: r }) => r.owner !== receiver || r.currency !== deposit.currency))
      return { status: 400, code: 'parameter_invalid' };
    if (deposit.status !== 'completed' || deposit.amount < 0n) return invalid;
    if (named.some(({ receivable }) => receivable.voided)) return invalid;
    if (named.some(({ receivable, amount }) => amount > this.reconcilable(receivable))) return exceeds;
    const total = named.reduce((sum, { amount }) => sum + amount, 0n);
    if (total > deposit.rest) return exceeds;
    for (const { receivable, amount } of named) this.#count(deposit, receivable, amount);
    this.#makeAvailable(deposit, total);
    return undefined;
  }

  /** Adjusts available money: a debit takes at most what is there, and only accounts that are paid out have it. */
  adjust(account: string, { credit, debit }: Sides): Refused {
    const holder = this.holders.get(account)!;
    if (holder.kind === 'partner' || holder.aggregator !== undefined) return { status: 400, code: 'parameter_invalid' };
    if (debit && this.fundsOf(account, debit.currency).available < debit.amount)
      return { status: 402, code: 'balance_insufficient' };
    if (credit) this.fundsOf(account, credit.currency).available += credit.amount;
    if (debit) this.fundsOf(account, debit.currency).available -= debit.amount;
    return undefined;
  }

  /** The payout that is due for an account's money in a currency; undefined if none is. */
  payable(account: string, source: string): { amount: bigint; currency: string } | undefined {
    const holder = this.holders.get(account)!;
    const { available } = this.fundsOf(account, source);
    const target = holder.payoutCurrencies.includes(source) ? source : holder.payoutCurrencies.at(-1);
    if (holder.kind === 'partner' || holder.aggregator !== undefined || holder.held || !target) return undefined;
    const owes = [...this.funds].some(([key, funds]) => key.startsWith(`${account} `) && funds.available < 0n);
    if (available <= 0n || owes) return undefined;
    const amount = converted(available, source, target);
    return amount > 0n ? { amount, currency: target } : undefined;
  }

  /**
   * Pays out all available money in a currency, with every unpaid lock of that money: the account's, or those of an
   * aggregator's users.
   */
  pay(account: string, source: string, id: string): void {
    const { amount, currency } = this.payable(account, source)!;
    this.fundsOf(account, source).available = 0n;
    this.fundsOf(account, currency).payout_processing += amount;
    this.payouts.set(id, { id, account, amount, currency, source, status: 'processing' });
    for (const lock of this.locks) {
      const owner = this.receivables.get(lock.receivable)!.owner;
      const whose = this.holders.get(owner)!.aggregator ?? owner;
      if (whose === account && lock.money === source && lock.payout === undefined && lock.amount > 0n) lock.payout = id;
    }
  }

  endPayout(id: string, verb: 'settle' | 'fail' | 'return'): Refused {
    const payout = this.payouts.get(id)!;
    if (payout.status !== (verb === 'return' ? 'completed' : 'processing')) return invalid;
    const funds = this.fundsOf(payout.account, payout.currency);
    if (verb !== 'return') funds.payout_processing -= payout.amount;
    payout.status = ({ settle: 'completed', fail: 'failed', return: 'returned' } as const)[verb];
    if (verb !== 'settle') funds.available += payout.amount;
    for (const lock of this.locks.filter((l) => l.payout === id)) {
      const receivable = this.receivables.get(lock.receivable)!;
      const settled = verb === 'settle' ? lock.amount : lock.settled ? -lock.amount : 0n;
      receivable.locked -= settled;
      receivable.settled += settled;
      lock.settled = verb === 'settle';
      if (verb !== 'settle') Object.assign(lock, { payout: undefined, money: payout.currency });
    }
    if (verb !== 'settle') for (const deposit of this.deposits.listed) this.#shrink(deposit);
    return undefined;
  }
}
