import {
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { edgesOf, one, type OperatorModule, root } from '../graph/module.js';
import type { JobRow } from '../../jobs/table.js';
import { account } from '../../resources/account/table.js';
import { deposit } from '../../resources/deposit/table.js';
import type { FileRow } from '../../resources/file/table.js';
import { Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import { DateTime } from '../../types/scalars.js';
import type { GatewayProcess } from '../console.js';
import type { OperatorContext } from '../context.js';
import { PageArgs, pageSizeOf } from '../graph/inputs.js';
import { noticeOf } from './money.js';
import { pageOf } from '../graph/page-type.js';
import type { ListPage } from '../paging.js';
import { OperatorBankNotice } from '../graph/bank-type.js';
import { OperatorAccount, OperatorFile, OperatorSetting } from '../graph/type.js';
import { modeOf } from '../../request/mode.js';
import { listGateways, listHolds, listNotices } from '../console.js';
import { retryJob } from '../job/jobs.js';

const NoticePage = pageOf('BankNotice', () => OperatorBankNotice, 'newest first');
const HoldPage = pageOf('AccountSetting', () => OperatorSetting, 'newest first');

@ObjectType('GatewayProcess', { simpleResolvers: true, description: 'A process of a gateway.' })
class Gateway implements GatewayProcess {
  @Field(() => ID, { description: 'The id, which is new with each start.' })
  id: string;
  @Field(() => String, { description: 'The name of its machine or container.' })
  host: string;
  @Field(() => Int, { description: 'The number of the process there.' })
  process: number;
  @Field(() => String, { description: 'The version of the program.' })
  version: string;
  @Field(() => DateTime, { description: 'When it started.' })
  startedAt: number;
  @Field(() => DateTime, { description: 'When it was last seen.' })
  seenAt: number;
  @Field(() => Boolean, {
    description: 'Whether it was seen in the last 30 seconds. Otherwise it has crashed, or cannot reach the database.',
  })
  alive: boolean;
}

@ObjectType('Job', { simpleResolvers: true, description: 'Work that a gateway does later.' })
class OperatorJob implements Partial<JobRow> {
  @Field(() => ID, { description: 'The id.' })
  id: string;
  @Field(() => ID, { description: 'The tenant: the id of its root account, without `account_`.' })
  tenantId: string;
  @Field(() => Boolean, { description: 'Whether it is of live mode.' })
  livemode: boolean;
  @Field(() => String, { description: 'What it does.' })
  kind: string;
  @Field(() => ID, { description: 'The object that it is about.' })
  subjectId: string;
  @Field(() => Int, { description: 'How many attempts have failed.' })
  attempts: number;
  @Field(() => String, { nullable: true, description: 'The error of the last attempt.' })
  error: string | null;
  @Field(() => DateTime, { description: 'When it is tried next.' })
  due: number;
}
const RetryJobPayload = payloadOf('RetryJob', 'job', OperatorJob);

@InputType({ description: 'Names a job.' })
class RetryJobInput {
  @Field(() => ID, { description: 'The job.' })
  id: string;
}

@ArgsType()
class BankNoticesArgs extends PageArgs {
  @Field(() => String, {
    nullable: true,
    description: 'Only those with this reference of a bank, as it is or in capitals.',
  })
  reference?: string | null;
}

/** What the operator's console shows besides the queues: notices, holds, gateways, and jobs to retry. */
@Resolver()
class OperatorConsole {
  @Query(() => NoticePage, {
    description: 'The notices of banks, of all tenants, newest first: all of them, or those with a reference.',
  })
  async bankNotices(
    @Args(() => BankNoticesArgs) { reference, first, after }: BankNoticesArgs,
    @Ctx() { operator, related }: OperatorContext,
  ): Promise<ListPage<OperatorBankNotice>> {
    const limit = pageSizeOf('deposit', first);
    const { nodes, next } = await listNotices(operator, limit, after ?? undefined, reference ?? undefined);
    const shown = nodes.map(async (row) => {
      const found = row.depositId === null ? null : await related.one(deposit, deposit.id, row, row.depositId);
      return noticeOf(row, found);
    });
    return { nodes: await Promise.all(shown), next };
  }

  @Query(() => HoldPage, {
    description: 'The payout settings with a service hold, of all tenants, the newest accounts first.',
  })
  serviceHolds(
    @Args(() => PageArgs) { first, after }: PageArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorSetting>> {
    return listHolds(operator, pageSizeOf('account_setting', first), after ?? undefined);
  }

  @Query(() => [Gateway], {
    description: 'The processes of the gateways that were seen in the last day, the latest first: 200 at most.',
  })
  gateways(@Ctx() { operator }: OperatorContext): Promise<Gateway[]> {
    return listGateways(operator);
  }

  @Mutation(() => RetryJobPayload, { description: 'Makes a job due now, instead of when it would be tried again.' })
  async retryJob(@Input(() => RetryJobInput) { id }: RetryJobInput, @Ctx() { operator }: OperatorContext) {
    return { job: await retryJob(operator, id) };
  }
}

@Resolver(() => OperatorFile)
class OperatorFiles {
  @FieldResolver(() => String, {
    description: 'The address of its content below the origin of the gateway. Each download is in the audit log.',
  })
  contentPath(@Root() { id, tenantId, livemode }: FileRow): string {
    return `/operator/files/${id}?tenant_id=${tenantId}&mode=${modeOf(livemode)}`;
  }
}

export default {
  resolvers: [OperatorConsole, OperatorFiles],
  fields: {
    bankNotices: 'deposit',
    serviceHolds: 'account_setting',
    gateways: 'gateway',
    retryJob: 'job',
  },
  edges: [
    edgesOf(OperatorSetting, {
      root,
      account: one(OperatorAccount, account, account.id, 'accountId', 'The account that it belongs to.'),
    }),
  ],
  sizes: { 'Query.gateways': 200 },
} satisfies OperatorModule;
