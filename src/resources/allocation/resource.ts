import { CursorArgs } from '../../types/pagination.js';
import { deposit } from '../deposit/table.js';
import { defineResource } from '../define.js';
import { fields, fieldsOfType, link, value } from '../edges.js';
import { payout } from '../payout/table.js';
import { receivable } from '../receivable/table.js';
import { type Allocated, allocationPages, allocationsOf } from './pages.js';
import { Allocation, AllocationConnection } from './type.js';

const allocations = (of: Allocated, description: string) =>
  value(
    () => AllocationConnection,
    ({ id }: { id: string }, { scope }, args: CursorArgs) => allocationsOf(scope, of, id, args),
    { args: CursorArgs, description, pages: allocationPages(of) },
  );

export default defineResource({
  object: 'allocation',
  fields: [
    fieldsOfType(Allocation, {
      deposit: link(deposit, 'depositId', { nullable: true, description: 'The deposit that the money came from.' }),
      receivable: link(receivable, 'receivableId', {
        nullable: true,
        description: 'The receivable that the money counts towards.',
      }),
      payout: link(payout, 'payoutId', {
        nullable: true,
        description:
          'The payout that pays the money, or has paid it. Null while the money is LOCKED, and where the caller ' +
          'cannot see the payout, such as that of an aggregator platform.',
      }),
    }),
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
