import type { Counted } from '../../db/list/statement.js';
import type { Scope } from '../../db/scope.js';
import type { CursorArgs } from '../../types/pagination.js';
import { countedListing } from '../deposit/listing.js';
import { deposit } from '../deposit/table.js';

/** What a figure of deposits counts: those of an account in a currency and a range of time. */
export interface CountedRange {
  accountId: string;
  /** Whether those of the accounts below the account count, too. */
  descendants: boolean;
  currency: string;
  start: number;
  end: number;
}

const countedBy = (descendants: boolean): Counted => ({
  figure: 'counted_deposits',
  counted: deposit.toAccountId,
  descendants,
  key: 'currency',
});

/** A page of the deposits that a figure counts. One statement reads the pages of all steps and accounts of one tick. */
export const countedDepositsOf = (
  { accountId, descendants, currency, start, end }: CountedRange,
  { scope }: { scope: Scope },
  args: CursorArgs,
) => scope.edge(deposit, countedListing, countedBy(descendants), `${accountId}/${currency}/${start}/${end}`, args);
