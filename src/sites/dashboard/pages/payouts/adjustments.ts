import type { Client } from 'urql';
import { hundredths } from '../../format/money';
import { graphql } from '../../graph/graphql';
import { pagesOf } from '../../graph/pages';
import type { PayoutDetail } from './query';

const AvailableQuery = graphql(`
  query Available($accountId: ID!, $currency: [Currency!], $until: DateTime!, $first: Int!, $after: ID) {
    balanceTransactions(
      filter: { accountId: $accountId, category: [AVAILABLE], currency: $currency, created: { lte: $until } }
      first: $first, after: $after
    ) {
      nodes { id amount created paymentId payment { id type } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

const AdjustmentQuery = graphql(`
  query Adjustment($id: ID!) {
    payment(id: $id) { id source { __typename ...on Adjustment { reason } } }
  }
`);

/** A correction of available money by the service that a payout has paid out, or had less for. */
export interface Adjustment {
  id: string;
  created: string;
  amount: string;
  reason: string | null;
}

/** Longer than a payout is made: its money may move a second after it was created. */
const makingMilliseconds = 60_000;

/** How many balance transactions are read for a payout at most. */
const readMax = 5_000;

/**
 * The adjustments in a payout. A payout takes all that is available, so its money is what became available since the
 * payout before it; of a payout that failed or was returned in that time, also what that one had taken. Null where the
 * balance transactions do not add up to the payout to the cent, or are too many.
 */
export async function adjustmentsOf(client: Client, payout: PayoutDetail): Promise<readonly Adjustment[] | null> {
  const { account, paymentId, sourceAmount, sourceCurrency, created } = payout;
  const until = new Date(Date.parse(created) + makingMilliseconds).toISOString();
  const variables = { accountId: account.id, currency: [sourceCurrency], until };
  const pages = pagesOf(client, AvailableQuery, variables, ({ balanceTransactions }) => balanceTransactions);
  const [wanted, passed] = [new Set([paymentId]), new Set<string>()];
  const found: Omit<Adjustment, 'reason'>[] = [];
  let rest = hundredths(sourceAmount);
  let read = 0;
  let paidBy = '';
  let ended = false;
  for await (const { nodes } of pages) {
    for (const { amount, created, payment, ...entry } of nodes) {
      const ofPayout = payment?.type === 'PAYOUT';
      if (ofPayout && amount.startsWith('-')) {
        ended = passed.size === wanted.size;
        if (ended) break;
        paidBy = entry.paymentId;
        if (wanted.has(paidBy)) passed.add(paidBy);
      } else if (wanted.has(paidBy)) {
        if (ofPayout) wanted.add(entry.paymentId);
        else rest -= hundredths(amount);
        if (payment?.type === 'ADJUSTMENT') found.push({ id: payment.id, created, amount });
      }
    }
    read += nodes.length;
    if (ended || read >= readMax) break;
  }
  if (rest !== 0n) return null;
  return Promise.all(found.map(async (each) => ({ ...each, reason: await reasonOf(client, each.id) })));
}

async function reasonOf(client: Client, id: string): Promise<string | null> {
  const { data } = await client.query(AdjustmentQuery, { id });
  const source = data?.payment?.source;
  return source?.__typename === 'Adjustment' ? source.reason : null;
}
