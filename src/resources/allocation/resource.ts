import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../operation/context.js';
import { CursorArgs } from '../../types/pagination.js';
import { type DepositRow, deposit } from '../deposit/table.js';
import { Deposit } from '../deposit/type.js';
import { defineResource } from '../define.js';
import { fields, value } from '../edges.js';
import { type PayoutRow, payout } from '../payout/table.js';
import { Payout } from '../payout/type.js';
import { type ReceivableRow, receivable } from '../receivable/table.js';
import { Receivable } from '../receivable/type.js';
import { type Allocated, allocationsOf } from './pages.js';
import { Allocation, AllocationConnection } from './type.js';

/** The edges of an allocation. Each is null where the caller cannot see the object. */
@Resolver(() => Allocation)
class AllocationResolver {
  @FieldResolver(() => Deposit, { nullable: true, description: 'The deposit that the money came from.' })
  deposit(@Root() { depositId }: Allocation, @Ctx() { scope }: Context): Promise<DepositRow | null> {
    return scope.find(deposit, depositId);
  }

  @FieldResolver(() => Receivable, { nullable: true, description: 'The receivable that the money counts towards.' })
  receivable(@Root() { receivableId }: Allocation, @Ctx() { scope }: Context): Promise<ReceivableRow | null> {
    return scope.find(receivable, receivableId);
  }

  @FieldResolver(() => Payout, {
    nullable: true,
    description:
      'The payout that pays the money, or has paid it. Null while the money is LOCKED, and where the caller ' +
      'cannot see the payout, such as that of an aggregator platform.',
  })
  payout(@Root() { payoutId }: Allocation, @Ctx() { scope }: Context): Promise<PayoutRow | null> {
    return scope.find(payout, payoutId);
  }
}

const allocations = (of: Allocated, description: string) =>
  value(
    () => AllocationConnection,
    ({ id }: { id: string }, { scope }, args: CursorArgs) => allocationsOf(scope, of, id, args),
    { args: CursorArgs, description },
  );

export default defineResource({
  object: 'allocation',
  resolvers: [AllocationResolver],
  fields: [
    fields(deposit, {
      allocations: allocations('deposit', 'What the deposit counts towards, with amounts, newest first.'),
    }),
    fields(receivable, {
      allocations: allocations('receivable', 'What counts towards the receivable, with amounts, newest first.'),
    }),
    fields(payout, {
      allocations: allocations(
        'payout',
        'What the payout pays: the receivables, with the amounts of each deposit that count towards them, ' +
          'newest first. Of an aggregator platform, those of its connected users.',
      ),
    }),
  ],
});
