import type { World } from './world.js';

/**
 * What the accounts of live mode hold, a line for each of their currencies with all compartments, and what the sides of
 * the ledger have that are no account, in minor units: two worlds with the same story have the same lines.
 */
export async function booksOf({ sql }: World): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select concat_ws(' ', a.type, b.currency, 'available', b.available, 'fee_advance', b.fee_advance,
      'payout_processing', b.payout_processing, 'pending', b.pending, 'processing', b.processing) as line
    from balance b join account a using (tenant_id, livemode)
    where b.livemode and a.id = b.account_id and b.version > 0
    union all
    select concat_ws(' ', c.contra, c.currency, sum(c.amount)) from contra_entry c
    where c.livemode group by c.contra, c.currency`;
  return rows.map(({ line }) => line).toSorted();
}

/**
 * The books at the end of the story in live mode, of `test/process/live-story.test.ts`: 1,000.00 USD came by the bank,
 * of which it recalled 12.50, and 2.50 were written off; 990.00 were sold for the 82,417.50 INR that were paid out. Of
 * 1,000.00 INR by a card 100.00 were refunded and 300.00 disputed.
 */
export const booksOfTheStory = [
  'acquirer INR -100000',
  'adjustment USD -250',
  'bank USD -100000',
  'dispute INR 30000',
  'dispute USD 1250',
  'fx INR -8241750',
  'fx USD 99000',
  'payout_rail INR 8241750',
  'refund INR 10000',
  'user INR available 0 fee_advance 0 payout_processing 0 pending 0 processing 0',
  'user INR available 60000 fee_advance 0 payout_processing 0 pending 0 processing 0',
  'user USD available 0 fee_advance 0 payout_processing 0 pending 0 processing 0',
];
