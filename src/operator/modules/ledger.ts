import { Args, ArgsType, Ctx, Field, ID, Int, ObjectType, Query, registerEnumType, Resolver } from 'type-graphql';
import { edgesOf, type OperatorModule, root } from '../graph/module.js';
import { type LedgerCheckRow, LedgerCheckStatus } from '../../resources/ledger/table.js';
import { DateTime } from '../../types/scalars.js';
import type { OperatorContext } from '../context.js';
import { filterOf } from '../graph/filters.js';
import { ListFilterArgs } from '../graph/inputs.js';
import { pageOf } from '../graph/page-type.js';
import type { ListPage } from '../paging.js';
import { LedgerAudit, LedgerChain, Violation } from '../graph/type.js';
import { auditLedger, listLedgerChecks, verifySeals } from '../money/audit.js';

registerEnumType(LedgerCheckStatus, {
  name: 'LedgerCheckStatus',
  description: 'The state and the outcome of a check of the ledger.',
  valuesConfig: {
    RUNNING: { description: 'A gateway makes the check.' },
    PASSED: { description: 'All invariants hold, and all blocks of the chain match.' },
    VIOLATED: { description: 'An invariant does not hold, or a block does not match.' },
    FAILED: { description: 'The check has no outcome: its gateway has ended, or it took too long. It is made again.' },
  },
});

@ObjectType('LedgerCheck', {
  description: 'A check of the ledger of one tenant and mode, which the gateways make by themselves.',
})
class OperatorLedgerCheck {
  @Field(() => ID, { description: 'The id of the check.' })
  id: string;
  @Field(() => ID, { description: 'The tenant: the id of its root account, without `account_`.' })
  tenantId: string;
  @Field(() => Boolean, { description: 'Whether it is of live mode.' })
  livemode: boolean;
  @Field(() => LedgerCheckStatus, { description: 'The outcome.' })
  status: LedgerCheckStatus;
  @Field(() => DateTime, { name: 'began', description: 'When it began.' })
  created: number;
  @Field(() => DateTime, { nullable: true, description: 'When it ended; null while it runs.' })
  ended: number | null;
  @Field(() => Int, { description: 'How many violations there are.' })
  violationCount: number;
  @Field(() => [Violation], { description: 'The first 20 violations.' })
  violations: Violation[];
  @Field(() => Int, { nullable: true, description: 'The first block that does not match; null when all blocks match.' })
  brokenBlock: number | null;
  @Field(() => String, { nullable: true, description: 'Why the check has no outcome.' })
  error: string | null;
}
const LedgerCheckPage = pageOf('LedgerCheck', () => OperatorLedgerCheck, 'newest first');

@ArgsType()
class LedgerChecksArgs extends ListFilterArgs {
  @Field(() => LedgerCheckStatus, { nullable: true, description: 'Only with this outcome.' })
  status?: LedgerCheckStatus | null;
}

/** The checks of the ledger. */
@Resolver()
class OperatorLedger {
  @Query(() => LedgerAudit, { description: 'Checks the invariants of the ledger for all tenants.' })
  ledgerAudit(@Ctx() { operator }: OperatorContext): Promise<LedgerAudit> {
    return auditLedger(operator);
  }

  @Query(() => LedgerCheckPage, {
    description:
      'The checks of single tenants that the gateways have made by themselves in the last 90 days, newest first.',
  })
  async ledgerChecks(
    @Args(() => LedgerChecksArgs) args: LedgerChecksArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorLedgerCheck>> {
    const { nodes, next } = await listLedgerChecks(operator, filterOf('ledger', args));
    return { nodes: nodes.map(checkOf), next };
  }

  @Query(() => [LedgerChain], { description: 'Checks the seal of the ledger, for every tenant and mode.' })
  ledgerSeal(@Ctx() { operator }: OperatorContext): Promise<LedgerChain[]> {
    return verifySeals(operator);
  }
}

function checkOf({ violations, ...row }: LedgerCheckRow): OperatorLedgerCheck {
  const { tenantId: tenant, livemode } = row;
  return { ...row, violations: violations.map((violation) => ({ ...violation, tenant, livemode })) };
}

export default {
  resolvers: [OperatorLedger],
  fields: {
    ledgerAudit: 'ledger',
    ledgerChecks: 'ledger',
    ledgerSeal: 'ledger',
  },
  edges: [edgesOf(OperatorLedgerCheck, { root })],
  sizes: { 'Query.ledgerSeal': 0, 'LedgerAudit.violations': 0, 'LedgerCheck.violations': 20 },
} satisfies OperatorModule;
