import { Mutation, Ctx, Resolver } from 'type-graphql';
import { randomBytes } from 'node:crypto';
import type { WithSecret } from './v1.js';
import { type WebhookEndpointRow, webhookEndpoint } from './table.js';
import {
  CreateWebhookEndpointPayload,
  UpdateWebhookEndpointPayload,
  RotateWebhookSecretPayload,
  TestWebhookEndpointPayload,
  RedeliverWebhooksPayload,
  WebhookEndpoint,
} from './type.js';
import {
  CreateWebhookEndpointInput,
  UpdateWebhookEndpointInput,
  RotateWebhookSecretInput,
  TestWebhookEndpointInput,
  RedeliverWebhooksInput,
} from './inputs.js';
import { Input, type ById } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { account } from '../account/table.js';
import { checkOwner, checkUrl, checkScope, checkedQuery, managed } from './rules.js';
import { AccountScope } from '../../types/account-scope.js';

const withSecret = (row: WebhookEndpointRow, secret: string): WithSecret => ({ ...row, secret });

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

/** A new secret as receivers get it, and encrypted for the row of its endpoint. */
async function newSecret({ caller, scope, secrets }: Context, of?: string) {
  const id = of ?? (await scope.newId('webhook'));
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const { tenantId, livemode } = caller;
  return { id, secret, secretSealed: secrets.seal(secret, { tenantId, livemode, id }) };
}
