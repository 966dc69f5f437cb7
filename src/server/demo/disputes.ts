import type { AccountRow } from '../../resources/account/table.js';
import type { DepositReasonCode, DepositRow } from '../../resources/deposit/table.js';
import { type DisputeRow, dispute } from '../../resources/dispute/table.js';
import type { Operator } from '../../operator/operator.js';

/** What becomes of the disputes of the demo, one after the other. */
const endings = ['winTestDispute', 'loseTestDispute', 'acceptDispute'] as const;

/** How many days after a dispute its end is known. */
const decidedDays = 6;

/** Has the payer of a deposit dispute a part of it. It can be answered for a week. */
export async function openDispute(
  operator: Operator,
  user: AccountRow,
  { id }: DepositRow,
  part: { amount: bigint; reasonCode: DepositReasonCode },
): Promise<DisputeRow> {
  const { deposit: debit } = await operator.as<{ deposit: DepositRow }>(user, 'disputeTestDeposit', { id, ...part });
  return (await operator.scope(user).findBy(dispute, dispute.debitDepositId, debit.id))!;
}

/** The disputes of a quarter: each is answered or accepted, and those that were answered are decided. */
export class Disputes {
  readonly #open: { user: AccountRow; id: string; end: (typeof endings)[number]; day: number }[] = [];
  #count = 0;

  constructor(private readonly operator: Operator) {}

  async open(day: number, user: AccountRow, deposit: DepositRow, reasonCode: DepositReasonCode): Promise<void> {
    const { id } = await openDispute(this.operator, user, deposit, { amount: deposit.amount / 4n, reasonCode });
    const end = endings[this.#count++ % endings.length]!;
    if (end !== 'acceptDispute') {
      const text = 'The goods arrived in full: the consignment note is signed by the customer.';
      await this.operator.as(user, 'respondToDispute', { id, text, fileIds: [] });
    }
    this.#open.push({ user, id, end, day });
  }

  /** Ends those whose end is known on a day. */
  async decide(day: number): Promise<void> {
    while (this.#open[0] && this.#open[0].day + decidedDays <= day) {
      const { user, id, end } = this.#open.shift()!;
      await this.operator.as(user, end, { id });
    }
  }
}
