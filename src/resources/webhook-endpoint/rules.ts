import { urlLengthMax, urlFault } from './url.js';
import { typesMax, typeProblems } from '../event/type-patterns.js';
import { descriptionLengthMax, type CreateWebhookEndpointInput, type RedeliverWebhooksInput } from './inputs.js';
import type { Context } from '../../operation/context.js';
import { webhookEndpoint } from './table.js';
import { account, type AccountRow } from '../account/table.js';
import { DomainError, problem, type Problem } from '../../errors/problems.js';
import { related, ownAccounts } from '../../auth/permissions.js';
import { AccountScope, onlyOfPlatforms } from '../../types/account-scope.js';
import { readerOf } from './reader.js';

export const webhookEndpointLimits = {
  url: { maxLength: urlLengthMax },
  event_types: { minItems: 1, maxItems: typesMax },
  description: { maxLength: descriptionLengthMax },
};

export const redeliverLimits = { after_number: { minimum: 0 } };

/** The endpoint and its account, if the caller may manage it. */
export async function managed(context: Context, id: string) {
  const row = await context.scope.one(webhookEndpoint, id);
  const owner = await context.scope.one(account, row.accountId);
  checkOwner(context, owner, 'webhook_endpoint.id');
  return { row, owner };
}

/** Refuses a partner as the owner of an endpoint, and a caller that is neither the owner nor its platform. */
export function checkOwner({ caller }: Context, owner: AccountRow, field: string): void {
  if (owner.kind === 'partner')
    throw new DomainError(
      problem('account_type_invalid', field, 'A partner cannot have webhook endpoints. Name a user or a platform.'),
    );
  if (!related(caller, ownAccounts, owner))
    throw new DomainError(
      problem(
        'permission_denied',
        field,
        'Webhook endpoints are managed by the account itself, or by its platform. Use a key of one of them.',
      ),
    );
}

/** Refuses a URL to which the service does not deliver events. */
export function checkUrl({ caller, gateway }: Context, url: string): void {
  const fault = urlFault(url, caller.livemode, gateway?.local ?? false);
  if (fault) throw new DomainError(problem('parameter_invalid', 'webhook_endpoint.url', fault));
}

/** Refuses the scope of a platform for another account. */
export function checkScope(owner: AccountRow, scope: AccountScope | null | undefined): void {
  if (scope === AccountScope.DESCENDANTS && owner.kind !== 'platform')
    throw new DomainError(problem('parameter_invalid', 'webhook_endpoint.scope', onlyOfPlatforms));
}

/** A query as it is stored, with its cost. Refuses one that its account may not run. */
export function checkedQuery({ gateway }: Context, owner: AccountRow, query: string | null | undefined) {
  if (!query) return { query: null, queryCost: null };
  if (!gateway) throw new Error('an endpoint with a query was made without a gateway');
  const { cost, faults } = gateway.eventQueries.check(query, readerOf(owner));
  if (faults.length > 0)
    throw new DomainError(...faults.map((fault) => problem('parameter_invalid', 'webhook_endpoint.query', fault)));
  return { query, queryCost: cost };
}

/**
 * The problems of the parameters of an endpoint: event types that no event has, an address that no gateway takes, and a
 * description that is too long.
 */
export function webhookEndpointProblems(input: Partial<CreateWebhookEndpointInput>): Problem[] {
  const problems = typeProblems(input.eventTypes, 'webhook_endpoint.event_types');
  // A local gateway takes most addresses in test mode. What this one takes is checked with its mode.
  const urlProblem = input.url ? urlFault(input.url, false, true) : undefined;
  if (urlProblem) problems.push(problem('parameter_invalid', 'webhook_endpoint.url', urlProblem));
  if ([...(input.description ?? '')].length > descriptionLengthMax) {
    const fault = `must have at most ${descriptionLengthMax} characters`;
    problems.push(problem('parameter_invalid', 'webhook_endpoint.description', fault));
  }
  return problems;
}

/** The problems of a redelivery: neither a delivery nor a number, or both, or a negative number. */
export function redeliverProblems({ deliveryId, afterNumber }: Partial<RedeliverWebhooksInput>): Problem[] {
  const field = (name: string) => `webhook_endpoint.${name}`;
  if (deliveryId == null && afterNumber == null)
    return [
      problem(
        'parameter_missing',
        field('delivery_id'),
        'is missing. Send it, or the number after which all events are sent.',
      ),
    ];
  if (deliveryId != null && afterNumber != null)
    return [problem('parameter_invalid', field('after_number'), 'must not be sent together with the id of a delivery')];
  if (afterNumber != null && afterNumber < 0)
    return [problem('parameter_invalid', field('after_number'), 'must not be negative')];
  return [];
}
