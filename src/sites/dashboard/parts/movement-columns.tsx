import { Money } from './money';
import type { Column } from './table';

type Amount = { amount: string; currency: string };
interface Movement {
  created: string;
  amount: Amount;
  balanceAfter: Amount;
}

/** When money moved, how much, and what there was after it. */
export const movementColumns = (time: (created: string) => string): Column<Movement>[] => [
  { head: 'Booked', cell: ({ created }) => time(created), line: true },
  { head: 'Amount', cell: ({ amount }) => <Money {...amount} />, end: true },
  { head: 'Balance', cell: ({ balanceAfter }) => <After {...balanceAfter} />, end: true },
];

/** A sheet of a phone has no heads of columns beside its first line. */
function After(balance: Amount) {
  return (
    <span className="two-lines">
      <Money {...balance} />
      <span className="hint only-narrow">balance</span>
    </span>
  );
}
