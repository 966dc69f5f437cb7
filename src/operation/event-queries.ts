import type { Caller } from '../request/caller.js';

/** What a document for the deliveries of a webhook endpoint would cost, or why it is refused. */
export interface EventQueryCheck {
  /** The points that it could cost for each delivery; null for a document that is refused. */
  cost: number | null;
  /** Why it is refused, each with its place in the document; empty if it is not. */
  faults: string[];
}

/** An event whose delivery has the result of a query as its body. */
export interface QueriedEvent {
  id: string;
  objectId: string;
}

/**
 * What a query has led to: the body of the delivery; a `fault` because of which nothing can be sent now, so that the
 * attempt has failed; or `later`, the seconds after which there may be a turn and enough allowance.
 */
export type EventQueryResult = { body: string } | { fault: string } | { later: number };

/** The GraphQL queries of webhook endpoints. The gateway makes one for the resolvers and the worker. */
export interface EventQueries {
  /** Checks a document before it is stored, for the account whose events it gets. */
  check(text: string, owner: Caller): EventQueryCheck;
  /** Runs a document for an event, with what the account can see now. */
  run(text: string, owner: Caller, event: QueriedEvent): Promise<EventQueryResult>;
}
