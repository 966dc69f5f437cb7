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
  {
    head: 'Amount',
    cell: ({ amount }) => (
      <span className="not-narrow">
        <Money {...amount} />
      </span>
    ),
    end: true,
  },
  { head: 'Balance', cell: (movement) => <After {...movement} />, end: true },
];

/** On a phone the amount stands above the balance, because the last cell is the one that is seen first. */
function After({ amount, balanceAfter }: Movement) {
  return (
    <span className="two-lines">
      <span className="only-narrow">
        <Money {...amount} />
      </span>
      <span className="after">
        <span className="only-narrow">balance </span>
        <Money {...balanceAfter} />
      </span>
    </span>
  );
}
