import {
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
  Root,
} from 'type-graphql';
import { edgesOf, type OperatorModule, root } from '../graph/module.js';
import { OwnWork, type TenantWork } from '../../jobs/table.js';
import { work } from '../../resources/registry.js';
import { DateTime } from '../../types/scalars.js';
import type { OperatorContext } from '../context.js';
import { accountAbout } from '../graph/about.js';
import { PageArgs, pageSizeOf } from '../graph/inputs.js';
import { OperatorAccount } from '../graph/type.js';
import type { StuckWork } from '../job/jobs.js';
import type { ListPage } from '../paging.js';
import { pageOf } from '../graph/page-type.js';
import { listStuck } from '../job/jobs.js';

/** All kinds of work with what each does. */
const works = new Map<TenantWork, string>([
  [OwnWork.RUN_JOBS, 'Runs the jobs that are due.'],
  [OwnWork.POLL_STATUSES, 'Polls the acquirer for the status of attempts to pay.'],
  [OwnWork.NUMBER_EVENTS, 'Numbers events.'],
  ...[...work].map(([name, { does }]) => [name, does] as const),
]);
const names = [...works].map(([name, description]) => [name.toUpperCase(), { name, description }] as const);
const TenantWorks = Object.fromEntries(names.map(([key, { name }]) => [key, name]));
registerEnumType(TenantWorks, {
  name: 'TenantWork',
  description: 'The kinds of work that the worker does.',
  valuesConfig: Object.fromEntries(names.map(([key, { description }]) => [key, { description }])),
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
  @Field(() => TenantWorks, { description: 'What fails; RUN_JOBS for a single job.' })
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
  nextAttemptAt: number;
}
const StuckWorkPage = pageOf('StuckWork', () => OperatorStuckWork, 'by tenant, mode and id');

/** The account that the object of a job is about, so that people read its name. */
@Resolver(() => OperatorStuckWork)
class OperatorStuckWorkNames {
  @FieldResolver(() => OperatorAccount, {
    nullable: true,
    description: 'The account that the object of the job is about; null where it is about none.',
  })
  account(@Root() row: OperatorStuckWork, @Ctx() { related }: OperatorContext): Promise<OperatorAccount | null> | null {
    return row.subjectId === null ? null : accountAbout(related, row, row.subjectId);
  }
}

/** What the worker could not do. Silent: all of it. */
@Resolver()
class OperatorWork {
  @Query(() => StuckWorkPage, { description: 'The work of all tenants that fails and is tried again.' })
  async stuckWork(
    @Args(() => PageArgs) { first, after }: PageArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorStuckWork>> {
    const { nodes, next } = await listStuck(operator, after ?? undefined, pageSizeOf('job', first));
    // A gateway of another version may have stored work that has no name here.
    return { nodes: nodes.filter(({ work: name }) => works.has(name)), next };
  }
}

export default {
  resolvers: [OperatorWork, OperatorStuckWorkNames],
  fields: {
    stuckWork: 'job',
  },
  edges: [edgesOf(OperatorStuckWork, { root })],
} satisfies OperatorModule;
