import { Ctx, Query, Resolver } from 'type-graphql';
import type { OperatorContext } from './context.js';
import { LedgerAudit, LedgerChain } from './type.js';

/** The checks of the ledger. */
@Resolver()
export class OperatorLedger {
  @Query(() => LedgerAudit, { description: 'Checks the invariants of the ledger for all tenants.' })
  ledgerAudit(@Ctx() { operator }: OperatorContext): Promise<LedgerAudit> {
    return operator.audit();
  }

  @Query(() => [LedgerChain], { description: 'Checks the seal of the ledger, for every tenant and mode.' })
  ledgerSeal(@Ctx() { operator }: OperatorContext): Promise<LedgerChain[]> {
    return operator.verifySeals();
  }
}
