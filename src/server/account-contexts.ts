import type { Callers } from '../auth/api-keys.js';
import type { Config } from '../config/config.js';
import type { Secrets } from '../config/secrets.js';
import type { ScopeSource } from '../db/doors.js';
import { Scope } from '../db/scope.js';
import { editions } from '../editions/editions.js';
import { type Acquirers, acquirerOf } from '../hosted/acquirer.js';
import { submitsRefunds } from '../hosted/status-poll.js';
import type { RequestBudget } from '../limits/budget.js';
import { Context } from '../operation/context.js';
import type { Caller } from '../request/caller.js';
import { tokenOf } from '../resources/checkout/link.js';
import type { Checkouts, CheckoutTerms } from '../resources/checkout/terms.js';
import { ownOriginOf } from './http/request.js';

/** The parts from which every context is built. */
export interface ContextParts {
  config: Config;
  database: ScopeSource;
  secrets: Secrets;
  callers: Callers;
  terms: CheckoutTerms;
  acquirers: Acquirers;
}

/** Makes the contexts in which the worker reads and writes for accounts, without a request. They make no sessions. */
export class AccountContexts {
  constructor(private readonly parts: ContextParts) {}

  contextOf(
    owner: Caller,
    budget: RequestBudget,
    requestId: string,
    { key, kind = Scope }: { key?: string; kind?: typeof Scope } = {},
  ): Context {
    const { config, database, secrets, callers } = this.parts;
    const scope = new kind(owner, database, budget);
    const checkouts = checkoutsOf(this.parts, () => ownOriginOf(config));
    return new Context(
      owner,
      scope,
      editions[owner.edition],
      requestId,
      key,
      callers.newKey,
      checkouts,
      secrets,
      budget,
    );
  }
}

/** The terms of new checkouts, and where their pages are below an origin. */
export function checkoutsOf({ secrets, terms, acquirers }: ContextParts, origin: () => string): Checkouts {
  return {
    terms,
    payable: (livemode) => acquirerOf(livemode, acquirers) !== undefined,
    refundable: (livemode) => submitsRefunds(livemode, acquirers),
    urlOf: (place) => `${origin()}/checkout/${tokenOf(secrets, place)}`,
  };
}
