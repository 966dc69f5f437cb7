import type { ArgumentsOf, NoOthers, TableOf, WriteEnvelope, WriteFunction } from '../db/write/write-arguments.js';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { NewToken } from '../auth/tokens.js';
import type { Checkouts } from '../resources/checkout/terms.js';

import type { Bulk } from './bulk.js';
import type { EventQueries } from './event-queries.js';
import type { Scope } from '../db/scope.js';
import type { Edition } from '../editions/edition.js';
import { RequestBudget } from '../limits/budget.js';
import type { Secrets } from '../config/secrets.js';
import type { Caller } from '../request/caller.js';
import type { Problem } from '../types/problem.js';
import { weights } from '../types/weights.js';

/** A document whose cost is asked for, and the variables with which it would run. */
export interface DryRunAsked {
  query: string;
  variables?: Record<string, unknown> | null | undefined;
  operationName?: string | null | undefined;
}

/** What a document would cost, in all and by path; or why it would be refused before it runs. */
export interface DryRunAnswer {
  requested: number | null;
  nodes: number | null;
  paths: { path: string; times: number; weight: number; cost: number }[];
  uncompiledPaths: readonly { path: string; reason: string }[];
  problems: Problem[];
}

/** What the creation of sessions needs from the gateway. */
export interface NewSessions {
  /** Makes the token of a new session. */
  newToken: (tenantId: string, livemode: boolean) => NewToken;
  /** Whether pages of an origin may use this gateway at all. */
  admits: (origin: string) => boolean;
}

/** What the context of a request has of its gateway. */
export interface GatewayServices {
  /** Whether the gateway serves this machine alone. */
  local: boolean;
  /** Whether the gateway serves the explorer, so that a link into it leads somewhere. */
  explorer: boolean;
  /** How sessions are made. */
  newSessions: NewSessions;
  /** Checks the queries of webhook endpoints. */
  eventQueries: EventQueries;
  /** Exports and imports. */
  bulk: Bulk;
  /** Says what a document would cost, without running it. */
  dryRun: (asked: DryRunAsked, context: Context) => DryRunAnswer;
}

/** What all requests of a gateway share. */
export type SharedServices = Omit<GatewayServices, 'newSessions'>;

/**
 * What every resolver receives: the caller, access to the data that the caller can see, and the rules of its edition.
 */
export class Context {
  /** The state that changes during a request. Apollo passes on a copy of the context, which shares this object. */
  private readonly state: { envelope: WriteEnvelope | null; wrote: boolean; replayed: boolean } = {
    envelope: null,
    wrote: false,
    replayed: false,
  };

  constructor(
    readonly caller: Caller,
    readonly scope: Scope,
    readonly edition: Edition,
    readonly requestId: string,
    /** The client's Idempotency-Key, if it sent one. */
    readonly idempotencyKey: string | undefined,
    /** Makes the secret of a new key. */
    readonly newKey: (tenantId: string, livemode: boolean) => NewToken,
    /** The terms of new checkouts, and where their pages are. */
    readonly checkouts: Checkouts,
    /** Hashes the parameters of a request, and encrypts parameters for storage. */
    readonly secrets: Secrets,
    readonly budget: RequestBudget = new RequestBudget(),
    /** Absent where the operator or the worker acts for an account. */
    readonly gateway?: GatewayServices,
  ) {}

  /** The envelope of the current write; the guard makes one per mutation field. */
  get envelope(): WriteEnvelope | null {
    return this.state.envelope;
  }
  set envelope(envelope: WriteEnvelope | null) {
    this.state.envelope = envelope;
  }
  /** Whether the current operation has written anything. */
  get wrote(): boolean {
    return this.state.wrote;
  }
  set wrote(wrote: boolean) {
    this.state.wrote = wrote;
  }
  /** Whether the answer is a replay of the stored answer of an idempotency key. */
  get replayed(): boolean {
    return this.state.replayed;
  }
  set replayed(replayed: boolean) {
    this.state.replayed = replayed;
  }

  /** One write of the current operation; `content` is that of a function which takes one. */
  async write<F extends WriteFunction, T extends PgTable & TableOf<F>, A extends ArgumentsOf<F>>(
    fn: F,
    table: T,
    args: A & NoOthers<A, F>,
    content?: string,
  ): Promise<T['$inferSelect']> {
    if (!this.envelope) throw new Error(`${fn} was called outside a mutation`);
    // A few operations write more than once; the weight is that of an operation.
    if (!this.wrote) this.budget.charge?.count(weights.write);
    const row = await this.scope.write(fn, table, this.envelope, args, content);
    this.wrote = true;
    return row;
  }
}
