import { Args, Ctx, Field, FieldResolver, ID, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { account } from '../../resources/account/table.js';
import { WebhookDisabledReason } from '../../resources/webhook-endpoint/table.js';
import { DateTime, URL } from '../../types/scalars.js';
import type { OperatorContext } from '../context.js';
import { PageArgs, pageSizeOf } from '../graph/inputs.js';
import { edgesOf, one, type OperatorModule, root } from '../graph/module.js';
import { pageOf } from '../graph/page-type.js';
import { OperatorAccount, OperatorObject } from '../graph/type.js';
import type { ListPage } from '../paging.js';
import { type FailingEndpoint, listFailing } from '../webhook/failing.js';

@ObjectType('WebhookEndpoint', {
  simpleResolvers: true,
  description: "An address to which an account's events are sent, and whose deliveries fail.",
})
class OperatorWebhookEndpoint extends OperatorObject {
  @Field(() => ID, { description: 'The account whose events it gets.' })
  accountId: string;
  @Field(() => URL, { description: 'Where events are sent by POST.' })
  url: string;
  @Field(() => Boolean, { description: 'Whether new events are sent.' })
  enabled: boolean;
  @Field(() => WebhookDisabledReason, { nullable: true, description: 'Why it is disabled; null while it is enabled.' })
  disabledReason: WebhookDisabledReason | null;
  @Field(() => DateTime, { description: 'When the first of the present failures happened.' })
  failingSince: number | null;
}
const WebhookEndpointPage = pageOf(
  'WebhookEndpoint',
  () => OperatorWebhookEndpoint,
  'those that have failed the longest first',
);

/** The webhook endpoints that fail. Silent: all of it. */
@Resolver(() => OperatorWebhookEndpoint)
class OperatorWebhooks {
  @Query(() => WebhookEndpointPage, {
    description:
      'The webhook endpoints of all tenants whose deliveries fail, or that are disabled because they did, those that ' +
      'have failed the longest first. One that its account has disabled is left out.',
  })
  failingWebhookEndpoints(
    @Args(() => PageArgs) { first, after }: PageArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorWebhookEndpoint>> {
    return listFailing(operator, pageSizeOf('webhook_endpoint', first), after ?? undefined);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'Why its latest failed delivery failed, as a sentence. Null once the delivery is too old to be kept.',
  })
  lastError(@Root() { attempt }: FailingEndpoint): string | null {
    return attempt?.error ?? null;
  }

  @FieldResolver(() => Int, {
    nullable: true,
    description:
      'The HTTP status that the receiver answered to it. Null where it did not answer, or where that is not kept.',
  })
  lastStatus(@Root() { attempt }: FailingEndpoint): number | null {
    return attempt?.status ?? null;
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'When that delivery was last tried.' })
  lastTriedAt(@Root() { attempt }: FailingEndpoint): number | null {
    return attempt?.at ?? null;
  }

  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'When a delivery is tried next. Null where nothing is to be sent.',
  })
  nextAttemptAt(@Root() { enabled, due }: FailingEndpoint): number | null {
    return enabled ? due : null;
  }
}

export default {
  resolvers: [OperatorWebhooks],
  fields: { failingWebhookEndpoints: 'webhook_endpoint' },
  edges: [
    edgesOf(OperatorWebhookEndpoint, {
      root,
      account: one(OperatorAccount, account, account.id, 'accountId', 'The account whose events it gets.'),
    }),
  ],
} satisfies OperatorModule;
