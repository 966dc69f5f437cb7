import type { AccountRow } from '../../resources/account/table.js';
import { editions } from '../../editions/editions.js';
import type { CheckoutRow } from '../../resources/checkout/table.js';
import type { DepositPaymentMethod, DepositRow } from '../../resources/deposit/table.js';
import type { Operator } from '../../operator/operator.js';
import { DomainError } from '../../errors/problems.js';
import type { ReceivableRow } from '../../resources/receivable/table.js';
import { catchUp, passTime } from '../../operator/job/test-clock.js';
import { Disputes, openDispute } from './disputes.js';
import { listPayouts } from '../../operator/money/payouts.js';

/** A user of the demo that receives payments, with the partners that pay. */
export interface Trader {
  user: AccountRow;
  partners: AccountRow[];
}

export const historyDays = 90;
const daySeconds = 86_400;
const payoutSeconds = 60;

const methods: Record<1 | 2, readonly DepositPaymentMethod[]> = {
  1: [
    'domestic_credit',
    'domestic_credit',
    'domestic_wire',
    'global_wire',
    'domestic_debit',
    'check',
    'klarna',
    'afterpay',
    'affirm',
    'domestic_fast_credit',
  ],
  2: ['upi', 'upi', 'upi', 'card', 'card'],
};
const purposes = {
  1: [
    { purposeCode: 'P0102', transactionType: 'goods' },
    { purposeCode: 'P0802', transactionType: 'services' },
  ],
  2: [
    { purposeCode: 'P1109', transactionType: 'services' },
    { purposeCode: 'P0806', transactionType: 'services' },
  ],
} as const;

/** Pseudo-random whole numbers below a bound, the same at every seeding, so that every demo looks the same. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Creates the trade of a quarter, day by day, on a test clock that starts 90 days in the past and ends at the present:
 * invoices, deposits of all methods, checkouts, reconciliations, payouts at their intervals, and sometimes a dispute, a
 * reversal, or a deposit whose money does not arrive. The last day ends before midnight, so its deposits still wait for
 * reconciliation or payout. Everything goes through the product's own operations and jobs, so the demo's ledger is as
 * correct as the ledger of any other tenant.
 */
export async function createHistory(
  operator: Operator,
  platform: AccountRow,
  edition: 1 | 2,
  traders: Trader[],
  progress: (share: number) => void,
): Promise<void> {
  const random = sequence(edition);
  const currency = editions[edition].currency;
  const disputes = new Disputes(operator);
  let invoiceNumber = 1000;
  let reversals = 0;
  for (let day = 0; day < historyDays; day++) {
    progress(day / historyDays);
    const traded: Traded[] = await Promise.all(
      traders
        .flatMap((trader) => Array.from({ length: random(3) }, () => trader))
        .map((trader) => {
          const partner = trader.partners[random(trader.partners.length)]!;
          const invoice = BigInt(random(edition === 1 ? 900_000 : 9_000_000) + 15_000);
          const paid = random(6) === 0 ? invoice / 2n : invoice;
          return trade(operator, trader, {
            partner,
            edition,
            currency,
            invoice,
            paid,
            method: methods[edition][random(methods[edition].length)]!,
            through: edition === 2 && random(3) === 0 ? 'checkout' : 'bank',
            luck: random(8),
            reference: `INV-${invoiceNumber++}`,
            day,
          });
        }),
    );
    // The sandbox needs a second for each of its two steps.
    await passTime(operator, platform, 1);
    await passTime(operator, platform, 1);
    const open = traded.filter((t) => t.deposit !== null);
    const reconciled = open.filter(() => random(8) > 0);
    await Promise.all(
      reconciled.map(({ trader, deposit, receivable }) =>
        operator.as(trader.user, 'reconcileDeposit', {
          id: deposit!.id,
          receivables: [{ id: receivable.id, amount: deposit!.amount }],
        }),
      ),
    );
    // The payouts of the last midnight are still processing. Sometimes one fails, and is made again the next day.
    if (day % 29 === 14) {
      const filter = { status: 'processing', tenantId: platform.tenantId, limit: 1 } as const;
      const [payout] = (await listPayouts(operator, filter)).nodes;
      if (payout) await operator.as(platform, 'failTestPayout', { id: payout.id });
    }
    const disputed = open[0];
    if (disputed && day % 17 === 8) {
      const reasonCode = random(2) ? 'general' : 'incorrect_amount';
      await disputes.open(day, disputed.trader.user, disputed.deposit!, reasonCode);
    }
    await disputes.decide(day);
    // The bank reverses a deposit on the day of its arrival, before any payout of its money.
    const [, reversed] = reconciled;
    if (reversed && reversed !== disputed && day >= 30 * (reversals + 1)) {
      await operator.as(reversed.trader.user, 'reverseTestDeposit', {
        id: reversed.deposit!.id,
        reasonCode: 'general',
      });
      reversals++;
    }
    // A payout of the last midnight arrives a minute after it was made, not with the next day's work.
    await passTime(operator, platform, payoutSeconds);
    await passTime(operator, platform, daySeconds - 2 - payoutSeconds);
  }
  await catchUp(operator, platform);
  // The first trader's payment is disputed; those of the others come later, so that the newest payment is one.
  await tradeToday(operator, traders[0]!, { edition, currency, n: 0 });
  await Promise.all(traders.slice(1).map((trader, n) => tradeToday(operator, trader, { edition, currency, n: n + 1 })));
}

/**
 * One more payment for each trader, at the present: half is reconciled and paid out at midnight, the rest stays open.
 * A part of the first one is disputed, and waits for an answer.
 */
async function tradeToday(
  operator: Operator,
  trader: Trader,
  { edition, currency, n }: Pick<Trade, 'edition' | 'currency'> & { n: number },
): Promise<void> {
  const amount = BigInt(edition === 1 ? 123_400 : 4_560_000) * BigInt(n + 1);
  const { deposit, receivable } = await trade(operator, trader, {
    ...{ partner: trader.partners[0]!, edition, currency, invoice: amount, paid: amount, method: methods[edition][0]! },
    ...{ through: 'bank', luck: 2, reference: `INV-${5000 + n}`, day: historyDays + 1 },
  });
  await operator.as(trader.user, 'completeTestDeposit', { id: deposit!.id }).catch(ifRefused);
  const receivables = [{ id: receivable.id, amount: amount / 2n }];
  await operator.as(trader.user, 'reconcileDeposit', { id: deposit!.id, receivables });
  if (n === 0) await openDispute(operator, trader.user, deposit!, { amount: amount / 10n, reasonCode: 'duplicate' });
}

/** Ignores a domain error: a running worker may have moved the deposit on before this call. */
function ifRefused(error: unknown): void {
  if (!(error instanceof DomainError)) throw error;
}

interface Trade {
  partner: AccountRow;
  edition: 1 | 2;
  currency: string;
  invoice: bigint;
  paid: bigint;
  method: DepositPaymentMethod;
  through: 'bank' | 'checkout';
  /**
   * From 0 to 7. 0 leaves a checkout unpaid and, every other day, a deposit without its money. 1 needs a second attempt
   * in a checkout. 7 pays a deposit to the partner's own address.
   */
  luck: number;
  reference: string;
  day: number;
}

/**
 * An invoice and the deposit that pays it; null without a deposit, or with a checkout, which locks the receivable
 * itself.
 */
interface Traded {
  trader: Trader;
  deposit: DepositRow | null;
  receivable: ReceivableRow;
}

async function trade(
  operator: Operator,
  trader: Trader,
  { partner, edition, currency, invoice, paid, method, through, luck, reference, day }: Trade,
): Promise<Traded> {
  // The user was created on the first day by the clock of the database. Never use the gateway's own clock for dates.
  const date = (offset: number) =>
    new Date((trader.user.created + (day + offset) * daySeconds) * 1000).toISOString().slice(0, 10);
  const { receivable } = await operator.as<{ receivable: ReceivableRow }>(trader.user, 'createReceivable', {
    currency,
    customerId: partner.id,
    invoice: { amount: invoice, currency, creationDate: date(0), dueDate: date(30), referenceNumber: reference },
    ...purposes[edition][Number(invoice % 2n) as 0 | 1],
    description: `${partner.businessDetails.legalName}, ${reference}`,
  });
  if (through === 'checkout') {
    const { checkout } = await operator.as<{ checkout: CheckoutRow }>(trader.user, 'createCheckout', {
      amount: paid,
      currency,
      from: { accountId: partner.id },
      paymentMethods: ['upi', 'cards'],
      receivables: [{ id: receivable.id }],
      redirectUrl: `https://shop.example/invoices/${reference}`,
    });
    const attempt = { id: checkout.id, paymentMethod: method };
    if (luck === 1) await operator.as(trader.user, 'declineTestCheckout', attempt);
    if (luck > 0) await operator.as(trader.user, 'payTestCheckout', attempt);
    return { trader, deposit: null, receivable };
  }
  const { deposit } = await operator.as<{ deposit: DepositRow }>(trader.user, 'createDeposit', {
    amount: paid,
    currency,
    from: { accountId: partner.id },
    to: { accountId: luck === 7 ? partner.id : trader.user.id },
    paymentMethod: method,
    statementDescriptor: reference,
  });
  if (luck > 0 || day % 2 === 0) return { trader, deposit, receivable };
  // The payer cancelled and owes nothing, or the bank cannot match the payment to an account. A running worker may have
  // completed the deposit before: then the money has arrived.
  const cancels = day % 4 === 1;
  const [end, reasonCode] = cancels ? ['cancelTestDeposit', 'cancelled'] : ['failTestDeposit', 'unmatched_details'];
  const ended = await operator.as(trader.user, end!, { id: deposit.id, reasonCode }).then(() => true, ifRefused);
  if (ended && cancels) await operator.as(trader.user, 'voidReceivable', { id: receivable.id });
  return { trader, deposit: ended ? null : deposit, receivable };
}
