import { randomBytes } from 'node:crypto';
import { Ctx, Field, ID, InputType, Mutation, Resolver } from 'type-graphql';
import { ownAccounts, related } from '../../auth/permissions.js';
import type { Context } from '../../operation/context.js';
import { DomainError, problem, type Problem } from '../../errors/problems.js';
import { AccountScope, onlyOfPlatforms } from '../../types/account-scope.js';
import { type ById, idInputOf, Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import { SafeInt } from '../../types/scalars.js';
import { account, type AccountRow } from '../account/table.js';
import { typeProblems, typesMax } from '../event/type-patterns.js';
import { webhookEndpoint, type WebhookEndpointRow } from './table.js';
import { WebhookEndpoint, webhookScopeText } from './type.js';
import { urlFault, urlLengthMax } from './url.js';
import { readerOf } from './reader.js';
import type { WithSecret } from './v1.js';

const descriptionLengthMax = 200;
export const webhookEndpointLimits = {
  url: { maxLength: urlLengthMax },
  event_types: { minItems: 1, maxItems: typesMax },
  description: { maxLength: descriptionLengthMax },
};
export const redeliverLimits = { after_number: { minimum: 0 } };

@InputType({ description: 'Creates a webhook endpoint.' })
class CreateWebhookEndpointInput {
  @Field(() => String, {
    description:
      'Where events are sent by POST. HTTPS; a local gateway also takes an address of its machine in test mode.',
  })
  url: string;
  @Field(() => [String], {
    description: 'Which events are sent: types such as `deposit.completed`, `deposit.*` for an object, or `*` for all.',
  })
  eventTypes: string[];
  @Field(() => String, { nullable: true, description: `What it is for; at most ${descriptionLengthMax} characters.` })
  description?: string | null;
  @Field(() => AccountScope, { nullable: true, defaultValue: AccountScope.SELF, description: webhookScopeText })
  scope?: AccountScope | null;
  @Field(() => String, {
    nullable: true,
    description:
      'A GraphQL query whose result is the body of each delivery, in place of the event. It has the variables ' +
      '`$eventId: ID!`, the id of the event, and `$objectId: ID!`, that of its object.',
  })
  query?: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      'The account whose events it gets: the acting account by default, or a connected user of the platform.',
  })
  accountId?: string | null;
}

@InputType({ description: 'Changes a webhook endpoint. Parameters that are absent stay as they are.' })
class UpdateWebhookEndpointInput {
  @Field(() => ID, { description: 'The endpoint.' })
  id: string;
  @Field(() => String, { nullable: true, description: 'Where events are sent from now on.' })
  url?: string | null;
  @Field(() => [String], { nullable: true, description: 'Which events are sent from now on.' })
  eventTypes?: string[] | null;
  @Field(() => String, { nullable: true, description: 'What it is for; null removes it.' })
  description?: string | null;
  @Field(() => AccountScope, { nullable: true, description: webhookScopeText })
  scope?: AccountScope | null;
  @Field(() => String, {
    nullable: true,
    description:
      'A GraphQL query whose result is the body of each delivery, in place of the event. It has the variables ' +
      '`$eventId: ID!`, the id of the event, and `$objectId: ID!`, that of its object. Null removes it.',
  })
  query?: string | null;
  @Field(() => Boolean, {
    nullable: true,
    description: 'False stops deliveries. True starts them again, and tries those that are pending.',
  })
  enabled?: boolean | null;
}

@InputType({
  description: 'Sends events again: one delivery, or all events since a number. Exactly one of both is given.',
})
class RedeliverWebhooksInput {
  @Field(() => ID, { description: 'The endpoint.' })
  id: string;
  @Field(() => ID, { nullable: true, description: 'The delivery to be repeated.' })
  deliveryId?: string | null;
  @Field(() => SafeInt, {
    nullable: true,
    description:
      'All events of the endpoint with a greater number are sent, but for those that have reached it; at most 5,000.',
  })
  afterNumber?: number | null;
}

const RotateWebhookSecretInput = idInputOf('RotateWebhookSecret', 'webhook endpoint');
const TestWebhookEndpointInput = idInputOf('TestWebhookEndpoint', 'webhook endpoint');
const CreateWebhookEndpointPayload = payloadOf('CreateWebhookEndpoint', 'webhookEndpoint', WebhookEndpoint);
const UpdateWebhookEndpointPayload = payloadOf('UpdateWebhookEndpoint', 'webhookEndpoint', WebhookEndpoint);
const RotateWebhookSecretPayload = payloadOf('RotateWebhookSecret', 'webhookEndpoint', WebhookEndpoint);
const TestWebhookEndpointPayload = payloadOf('TestWebhookEndpoint', 'webhookEndpoint', WebhookEndpoint);
const RedeliverWebhooksPayload = payloadOf('RedeliverWebhooks', 'webhookEndpoint', WebhookEndpoint);

/** The operations on webhook endpoints. The account itself and its platform manage them. Silent: all. */
@Resolver(() => WebhookEndpoint)
export class WebhookEndpointResolver {
  @Mutation(() => CreateWebhookEndpointPayload, {
    description:
      'Creates an endpoint that gets the events from now on. An account has at most 16 enabled endpoints in a mode.',
  })
  async createWebhookEndpoint(
    @Input(() => CreateWebhookEndpointInput) input: CreateWebhookEndpointInput,
    @Ctx() context: Context,
  ) {
    const owner = await context.scope.one(
      account,
      input.accountId || context.caller.actingAccountId,
      'webhook_endpoint.account_id',
    );
    checkOwner(context, owner, 'webhook_endpoint.account_id');
    checkUrl(context, input.url);
    checkScope(owner, input.scope);
    const { id, secret, secretSealed } = await newSecret(context);
    const row = await context.write('create_webhook_endpoint', webhookEndpoint, {
      id,
      accountId: owner.id,
      url: input.url,
      eventTypes: [...new Set(input.eventTypes)],
      description: input.description || null,
      connected: input.scope === AccountScope.DESCENDANTS,
      ...checkedQuery(context, owner, input.query),
      secretSealed,
    });
    return { webhookEndpoint: withSecret(row, secret) };
  }

  @Mutation(() => UpdateWebhookEndpointPayload, { description: 'Changes an endpoint, or disables or enables it.' })
  async updateWebhookEndpoint(
    @Input(() => UpdateWebhookEndpointInput) input: UpdateWebhookEndpointInput,
    @Ctx() context: Context,
  ) {
    const { row, owner } = await managed(context, input.id);
    if (input.url != null) checkUrl(context, input.url);
    checkScope(owner, input.scope);
    const { id, url, eventTypes, description, scope, enabled, query } = input;
    const changes = {
      ...(url != null && { url }),
      ...(eventTypes != null && { eventTypes: [...new Set(eventTypes)] }),
      ...(description !== undefined && { description }),
      ...(scope != null && { connected: scope === AccountScope.DESCENDANTS }),
      ...(query !== undefined && checkedQuery(context, owner, query)),
      ...(enabled != null && { enabled }),
    };
    if (Object.keys(changes).length === 0) return { webhookEndpoint: row };
    return { webhookEndpoint: await context.write('update_webhook_endpoint', webhookEndpoint, { id, ...changes }) };
  }

  @Mutation(() => RotateWebhookSecretPayload, {
    description:
      'Makes a new secret, which only this answer shows. For 24 hours deliveries are signed with both secrets.',
  })
  async rotateWebhookSecret(@Input(() => RotateWebhookSecretInput) { id }: ById, @Ctx() context: Context) {
    await managed(context, id);
    const { secret, secretSealed } = await newSecret(context, id);
    const row = await context.write('rotate_webhook_secret', webhookEndpoint, { id, secretSealed });
    return { webhookEndpoint: withSecret(row, secret) };
  }

  @Mutation(() => TestWebhookEndpointPayload, {
    description: 'Sends the event `webhook_endpoint.tested` to an enabled endpoint, whatever its types are.',
  })
  async testWebhookEndpoint(@Input(() => TestWebhookEndpointInput) { id }: ById, @Ctx() context: Context) {
    await managed(context, id);
    return { webhookEndpoint: await context.write('test_webhook_endpoint', webhookEndpoint, { id }) };
  }

  @Mutation(() => RedeliverWebhooksPayload, {
    description:
      'Sends one event again, or all events since a number, such as the last one that a receiver has stored.',
  })
  async redeliverWebhooks(@Input(() => RedeliverWebhooksInput) input: RedeliverWebhooksInput, @Ctx() context: Context) {
    await managed(context, input.id);
    const { id, deliveryId, afterNumber } = input;
    const row = await context.write('redeliver_webhooks', webhookEndpoint, {
      id,
      deliveryId: deliveryId || null,
      afterNumber: afterNumber ?? null,
    });
    return { webhookEndpoint: row };
  }
}

const withSecret = (row: WebhookEndpointRow, secret: string): WithSecret => ({ ...row, secret });

/** A new secret as receivers get it, and encrypted for the row of its endpoint. */
async function newSecret({ caller, scope, secrets }: Context, of?: string) {
  const id = of ?? (await scope.newId('webhook'));
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const { tenantId, livemode } = caller;
  return { id, secret, secretSealed: secrets.seal(secret, { tenantId, livemode, id }) };
}

/** The endpoint and its account, if the caller may manage it. */
async function managed(context: Context, id: string) {
  const row = await context.scope.one(webhookEndpoint, id);
  const owner = await context.scope.one(account, row.accountId);
  checkOwner(context, owner, 'webhook_endpoint.id');
  return { row, owner };
}

function checkOwner({ caller }: Context, owner: AccountRow, field: string): void {
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

function checkUrl({ caller, local }: Context, url: string): void {
  const fault = urlFault(url, caller.livemode, local);
  if (fault) throw new DomainError(problem('parameter_invalid', 'webhook_endpoint.url', fault));
}

function checkScope(owner: AccountRow, scope: AccountScope | null | undefined): void {
  if (scope === AccountScope.DESCENDANTS && owner.kind !== 'platform')
    throw new DomainError(problem('parameter_invalid', 'webhook_endpoint.scope', onlyOfPlatforms));
}

/** A query as it is stored, with its cost. Refuses one that its account may not run. */
function checkedQuery({ eventQueries }: Context, owner: AccountRow, query: string | null | undefined) {
  if (!query) return { query: null, queryCost: null };
  if (!eventQueries) throw new Error('an endpoint with a query was made without a gateway');
  const { cost, faults } = eventQueries.check(query, readerOf(owner));
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
