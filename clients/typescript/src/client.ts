import { Operations } from './generated/operations.js';
import { graph, type GraphAnswer, type TypedDocument } from './graph.js';
import { type CallOptions, type ConnectionOptions, Transport } from './transport.js';

export type { ErrorCode, Problem } from './error.js';
export { TidegateError } from './error.js';
export type * from './generated/types.js';
export type { GraphAnswer, TypedDocument } from './graph.js';
export type { List, Page, Position } from './list.js';
export { retrying, type RetryOptions } from './retries.js';
export type { CallOptions, ConnectionOptions } from './transport.js';
export { type Delivery, verifyWebhook, WebhookError } from './webhooks.js';

/**
 * A client of a gateway: a method for each operation of /v1, and the graph. Writes are repeated under one idempotency
 * key when their answers are lost, refusals are thrown as `TidegateError`, and lists are read page after page.
 */
export class Tidegate extends Operations {
  readonly #transport: Transport;

  constructor(options: ConnectionOptions | Transport) {
    const transport = options instanceof Transport ? options : new Transport(options);
    super(transport);
    this.#transport = transport;
  }

  /** The client acting for a user of the platform: it sees what that user sees, and what it makes is the user's. */
  as(accountId: string): Tidegate {
    return new Tidegate(this.#transport.with({ onBehalfOf: accountId }));
  }

  /**
   * Sends a document to the graph. A refused field is null, with an entry in `problems`; an answer without data is
   * thrown as `TidegateError`. A document with one mutation is repeated as a write of /v1 is; send others one by one.
   */
  graph<Result = any, Variables = Record<string, unknown>>(
    document: string | TypedDocument<Result, Variables>,
    variables?: Variables,
    options?: CallOptions,
  ): Promise<GraphAnswer<Result>> {
    return graph<Result>(this.#transport, document, variables, options);
  }
}
