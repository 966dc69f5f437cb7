import type { ResultOf } from '../../graph/graphql';
import { graphql } from '../graphql';

/** At most as many are read of a queue. */
const readMax = 50;

// A request has at most ten fields at its root.
/** What waits for operators, and since when. */
export const WaitingQuery = graphql(`
  query Waiting {
    accounts(status: VERIFYING, first: 50) { nodes { created statusSince } }
    changeRequests(status: OPEN, first: 50) { nodes { created } }
    payouts(status: PROCESSING, mode: LIVE, first: 50) { nodes { created amount currency } }
    paymentOrders(status: PROPOSED, first: 50) { nodes { created } }
    waitingBankNotices { created }
    bankLines(state: UNMATCHED, first: 50) { nodes { day } }
    adjustments(status: PROPOSED, first: 50) { nodes { created } }
    transactionMismatches { created }
    stuckWork(first: 50) { nodes { since } }
    failingWebhookEndpoints(first: 50) { nodes { failingSince } }
  }
`);

/** What waits on its way back to payers. */
export const ReturningQuery = graphql(`
  query Returning {
    refunds(status: PENDING, mode: LIVE, first: 50) { nodes { created } }
    disputes(status: UNDER_REVIEW, mode: LIVE, first: 50) { nodes { submittedAt created } }
    unexplained(status: OPEN, mode: LIVE, first: 50) { nodes { created } }
    pendingTransactions(first: 50) { nodes { expiresAt } }
  }
`);

export type Waiting = Partial<ResultOf<typeof WaitingQuery> & ResultOf<typeof ReturningQuery>>;

/** A queue of the console: how much waits in it, and since when the oldest does. */
export interface Queue {
  path: string;
  name: string;
  /** What its rows are, of one and of several. */
  what: readonly [one: string, several: string];
  /** The times since when each waits; undefined until it is known. */
  times: string[] | undefined;
}

type Words = Queue['what'];

/** The queues in the order of the navigation. */
const queues: readonly (readonly [path: string, name: string, ...Words])[] = [
  ['/verification', 'Verification', 'account waits for a verdict', 'accounts wait for a verdict'],
  ['/change-requests', 'Changes', 'change to accept or decline', 'changes to accept or decline'],
  ['/payouts', 'Payouts', 'live payout under way', 'live payouts under way'],
  ['/payment-orders', 'Payment orders', 'order to approve', 'orders to approve'],
  ['/bank', 'Bank notices', 'reversal without its payment', 'reversals without their payments'],
  ['/bank-files', 'Bank files', 'transfer that fits no address', 'transfers that fit no address'],
  ['/adjustments', 'Adjustments', 'adjustment to approve', 'adjustments to approve'],
  ['/refunds', 'Refunds', 'live refund to send', 'live refunds to send'],
  ['/disputes', 'Disputes', 'answer to send on', 'answers to send on'],
  ['/attempts', 'Attempts', 'attempt without an outcome', 'attempts without an outcome'],
  ['/unexplained', 'Unexplained', 'amount to explain', 'amounts to explain'],
  ['/mismatches', 'Mismatches', 'success to clear with the acquirer', 'successes to clear with the acquirer'],
  ['/work', 'Work', 'piece of work that fails', 'pieces of work that fail'],
  ['/webhooks', 'Webhooks', 'endpoint that fails', 'endpoints that fail'],
];

/** The queues with what waits in each. */
export function queuesOf(data: Waiting): Queue[] {
  const created = (row: { created: string }) => row.created;
  const times: Readonly<Record<string, string[] | undefined>> = {
    '/verification': data.accounts?.nodes.map((row) => row.statusSince ?? row.created),
    '/change-requests': data.changeRequests?.nodes.map(created),
    '/payouts': data.payouts?.nodes.map(created),
    '/payment-orders': data.paymentOrders?.nodes.map(created),
    '/bank': data.waitingBankNotices?.map(created),
    '/bank-files': data.bankLines?.nodes.map(({ day }) => `${day}T00:00:00Z`),
    '/adjustments': data.adjustments?.nodes.map(created),
    '/refunds': data.refunds?.nodes.map(created),
    '/disputes': data.disputes?.nodes.map((row) => row.submittedAt ?? row.created),
    '/attempts': data.pendingTransactions?.nodes.map(({ expiresAt }) => expiresAt),
    '/unexplained': data.unexplained?.nodes.map(created),
    '/mismatches': data.transactionMismatches?.map(created),
    '/work': data.stuckWork?.nodes.map(({ since }) => since),
    '/webhooks': data.failingWebhookEndpoints?.nodes.map(({ failingSince }) => failingSince),
  };
  return queues.map(([path, name, one, several]) => ({ path, name, what: [one, several], times: times[path] }));
}

/** How many wait, in words; undefined until it is known. */
export const countOf = ({ times }: Queue): string | undefined =>
  times && (times.length < readMax ? String(times.length) : `${readMax}+`);

/** Since when the oldest waits. */
export const oldestOf = ({ times = [] }: Queue): string | undefined =>
  times.toSorted((one, other) => Date.parse(one) - Date.parse(other))[0];
