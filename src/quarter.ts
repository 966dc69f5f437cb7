import type { AccountRow } from './account/table.js';
import type { CheckoutRow } from './checkout/table.js';
import type { DepositPaymentMethod, DepositRow } from './deposit/table.js';
import type { Operator } from './operator/operator.js';
import { Refusal } from './problems.js';
import type { ReceivableRow } from './receivable/table.js';

/** A user of the demo that gets paid, with the partners that pay. */
export interface Trader {
  user: AccountRow;
  partners: AccountRow[];
}

export const quarterDays = 90;
const daySeconds = 86_400;

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
const purposes = { 1: ['P0802', 'goods', 'P0102'], 2: ['P1109', 'services', 'P0806'] } as const;

/** Whole numbers below a bound, the same at every seeding: a demo should look alike everywhere. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Trades for a quarter, day by day, on a test clock that starts a quarter back and ends at the present: invoices, deposits of
 * all methods, checkouts, reconciliations, payouts by their intervals, and now and then a dispute, or money that does not arrive. Everything goes through the
 * product's own operations and jobs, so the books are as right as anybody's.
 */
export async function tradeForAQuarter(
  operator: Operator,
  platform: AccountRow,
  edition: 1 | 2,
  traders: Trader[],
  progress: (share: number) => void,
): Promise<void> {
  const random = sequence(edition);
  const currency = edition === 1 ? 'USD' : 'INR';
  let invoiceNumber = 1000;
  for (let day = 0; day < quarterDays; day++) {
    progress(day / quarterDays);
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
    await operator.passTime(platform, 1);
    await operator.passTime(platform, 1);
    const open = traded.filter((t) => t.deposit !== null);
    const settled = open.filter(() => random(8) > 0);
    await Promise.all(
      settled.map(({ trader, deposit, receivable }) =>
        operator.as(trader.user, 'reconcileDeposit', {
          id: deposit!.id,
          receivables: [{ id: receivable.id, amount: deposit!.amount }],
        }),
      ),
    );
    // Last midnight's payouts are still under way: now and then one comes back, and is made again the next day.
    if (day % 29 === 14) {
      const sought = { status: 'processing', tenantId: platform.tenantId, limit: 1 } as const;
      const [payout] = (await operator.payouts(sought)).nodes;
      if (payout) await operator.as(platform, 'failTestPayout', { id: payout.id });
    }
    const disputed = open[0];
    if (disputed && day % 17 === 8) {
      await operator.as(disputed.trader.user, 'disputeTestDeposit', {
        id: disputed.deposit!.id,
        amount: disputed.deposit!.amount / 4n,
        reasonCode: random(2) ? 'general' : 'incorrect_amount',
      });
    }
    await operator.passTime(platform, daySeconds - 2);
  }
  await operator.catchUp(platform);
}

interface Trade {
  partner: AccountRow;
  edition: 1 | 2;
  currency: string;
  invoice: bigint;
  paid: bigint;
  method: DepositPaymentMethod;
  through: 'bank' | 'checkout';
  /** From 0 to 7: the worst leaves a checkout unpaid and, every other day, a deposit without its money; the next needs a second attempt. */
  luck: number;
  reference: string;
  day: number;
}

/** An invoice and the deposit that pays it, unless none does or a checkout: that one locks the receivable by itself. */
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
  const date = (offset: number) =>
    new Date(Date.now() + (day - quarterDays + offset) * daySeconds * 1000).toISOString().slice(0, 10);
  const [software, kind, other] = purposes[edition];
  const { receivable } = await operator.as<{ receivable: ReceivableRow }>(trader.user, 'createReceivable', {
    currency,
    invoice: { amount: invoice, currency, creationDate: date(0), dueDate: date(30), referenceNumber: reference },
    purposeCode: Number(invoice % 2n) === 0 ? software : other,
    transactionType: kind === 'goods' ? 'goods' : 'services',
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
    to: { accountId: trader.user.id },
    paymentMethod: method,
    statementDescriptor: reference,
  });
  if (luck > 0 || day % 2 === 0) return { trader, deposit, receivable };
  // The payer has thought better of it, or the bank cannot tell whom it is for. A worker that runs may have been faster: then the money is there.
  const [end, reasonCode] =
    day % 4 === 1 ? ['cancelTestDeposit', 'cancelled'] : ['failTestDeposit', 'unmatched_details'];
  const ended = await operator.as(trader.user, end!, { id: deposit.id, reasonCode }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal) return false;
      throw error;
    },
  );
  return { trader, deposit: ended ? null : deposit, receivable };
}
