import { Args, Ctx, Field, ID, Int, ObjectType, Query, registerEnumType, Resolver } from 'type-graphql';
import type { OperatorPart } from '../part.js';
import { TenantWork } from '../../jobs/table.js';
import { DateTime } from '../../types/scalars.js';
import type { OperatorContext } from '../context.js';
import { PageArgs, pageSizeOf } from '../inputs.js';
import type { StuckWork } from '../jobs.js';
import type { ListPage } from '../paging.js';
import { pageOf } from '../page-type.js';

registerEnumType(TenantWork, {
  name: 'TenantWork',
  description: 'The kinds of work that the worker does.',
  valuesConfig: {
    RUN_JOBS: { description: 'Runs the jobs that are due.' },
    POLL_STATUSES: { description: 'Polls the acquirer for the status of attempts to pay.' },
    NUMBER_EVENTS: { description: 'Numbers events.' },
    SEAL_POSTINGS: { description: 'Adds postings to the hash chain.' },
    DELETE_OLD_ANSWERS: { description: 'Deletes old responses to idempotency keys.' },
    SUM_DEPOSITS: { description: 'Sums deposits for the totals of accounts.' },
    DELETE_OLD_EVENTS: { description: 'Deletes old events.' },
    DELETE_OLD_DELIVERIES: { description: 'Deletes old deliveries of webhooks.' },
    DELETE_OLD_REQUESTS: { description: 'Deletes old requests of the request log.' },
  },
});

@ObjectType('StuckWork', {
  simpleResolvers: true,
  description: 'A job that has failed, or the work of a tenant that fails as a whole. It is tried again by itself.',
})
class OperatorStuckWork implements Omit<StuckWork, 'id'> {
  @Field(() => ID, { description: 'The tenant: the id of its root account, without `account_`.' })
  tenantId: string;
  @Field(() => Boolean, { description: 'Whether it is of live mode.' })
  livemode: boolean;
  @Field(() => TenantWork, { description: 'What fails; RUN_JOBS for a single job.' })
  work: TenantWork;
  @Field(() => ID, { nullable: true, description: 'The job; null for the work of the whole tenant.' })
  jobId: string | null;
  @Field(() => String, { nullable: true, description: 'The kind of the job.' })
  jobKind: string | null;
  @Field(() => ID, { nullable: true, description: 'The object that the job is about.' })
  subjectId: string | null;
  @Field(() => String, { description: 'The error of the last attempt.' })
  error: string;
  @Field(() => DateTime, { description: 'When it failed first.' })
  since: number;
  @Field(() => Int, { description: 'How many attempts have failed.' })
  attempts: number;
  @Field(() => DateTime, { description: 'When it is tried again.' })
  nextAttempt: number;
}
const StuckWorkPage = pageOf('StuckWork', () => OperatorStuckWork, 'by tenant, mode and id');

/** What the worker could not do. Silent: all of it. */
@Resolver()
class OperatorWork {
  @Query(() => StuckWorkPage, { description: 'The work of all tenants that fails and is tried again.' })
  stuckWork(
    @Args(() => PageArgs) { first, after }: PageArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorStuckWork>> {
    return operator.stuckWork(after ?? undefined, pageSizeOf('job', first));
  }
}

export default {
  resolvers: [OperatorWork],
  fields: {
    stuckWork: 'job',
  },
} satisfies OperatorPart;
