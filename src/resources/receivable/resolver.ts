import { sql } from 'drizzle-orm';
import { ArgsType, Ctx, Field, ID, Mutation, Resolver } from 'type-graphql';
import { account } from '../account/table.js';
import type { Context } from '../../operation/context.js';
import { checkFiles } from '../file/reference.js';
import { AmountFilter, DateFilter } from '../../types/range-filters.js';
import { MetadataFilter, searchText } from '../../types/list-search.js';
import { type Listing, pageArgsOf } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { problem, DomainError } from '../../errors/problems.js';
import { Currency } from '../../types/scalars.js';
import { checkCustomer } from './customer.js';
import { CreateReceivableInput, UpdateReceivableInput, VoidReceivableInput } from './inputs.js';
import {
  amountOf,
  dueDateOf,
  isOverdue,
  type ReceivableRow,
  ReceivableStatus,
  receivable,
  ReceivableTransactionType,
} from './table.js';
import { Receivable } from './type.js';
import { Input } from '../../types/input.js';

export const receivableListing: Listing = {
  object: 'receivable',
  filters: {
    accountId: receivable.accountId,
    status: receivable.status,
    currency: receivable.currency,
    transactionType: receivable.transactionType,
  },
  byAccount: ['accountId'],
  parents: [receivable.accountId],
  own: receivable.accountId,
  orders: {
    dueDate: {
      by: (name) => dueDateOf({ invoice: name(receivable.invoice) }),
      type: 'text',
      valueOf: ({ invoice }: ReceivableRow) => invoice.dueDate,
      key: 'status',
      all: Object.values(ReceivableStatus),
      parents: [receivable.accountId],
    },
    amount: {
      by: (name) => amountOf({ invoice: name(receivable.invoice) }),
      type: 'bigint',
      valueOf: ({ invoice }: ReceivableRow) => BigInt(invoice.amount),
      key: 'currency',
      because: ', since amounts of several currencies have no common order',
      parents: [receivable.accountId],
    },
  },
  search: {
    object: 'receivable',
    texts: (name) => sql`array[${name(receivable.invoice)} ->> 'referenceNumber']`,
    metadata: (name) => name(receivable.metadata),
  },
  conditions: { overdue: { order: 'dueDate', value: ReceivableStatus.OPEN, where: isOverdue } },
};

const byDueDateOrAmount =
  'The order of the list; the newest first by default. An order by due date has no other filters than `dueDate`, ' +
  '`overdue` and `status`. An order by the amount of the invoice needs one `currency`, and has no other filters than ' +
  '`amount`.';

@ArgsType()
export class ReceivableOfAccountArgs extends pageArgsOf('Receivable', byDueDateOrAmount) {
  @Field(() => AmountFilter, {
    nullable: true,
    description: 'Only invoices with amounts within this range. It needs an order by amount.',
  })
  amount?: AmountFilter | null;
  @Field(() => DateFilter, {
    nullable: true,
    description: 'Only invoices that are due within this range. It needs an order by due date.',
  })
  dueDate?: DateFilter | null;
  @Field(() => Boolean, {
    nullable: true,
    description:
      'Only receivables that are open after their due date; a day ends at midnight in UTC. It needs an order ' +
      'by due date. It must be true.',
  })
  overdue?: boolean | null;
  @Field(() => [ReceivableStatus], { nullable: true, description: 'Only in these statuses.' })
  status?: ReceivableStatus[] | null;
  @Field(() => [Currency], { nullable: true, description: 'Only in these currencies.' })
  currency?: string[] | null;
  @Field(() => [ReceivableTransactionType], { nullable: true, description: 'Only of these types.' })
  transactionType?: ReceivableTransactionType[] | null;
}

@ArgsType()
export class ReceivableArgs extends ReceivableOfAccountArgs {
  @Field(() => String, { nullable: true, description: searchText('the reference number of the invoice') })
  search?: string | null;
  @Field(() => MetadataFilter, { nullable: true, description: 'Only objects with this key in their metadata.' })
  metadata?: MetadataFilter | null;
  @Field(() => ID, {
    nullable: true,
    description: 'Only receivables of this account. It may be any account that the caller can see.',
  })
  accountId?: string | null;
}

const CreateReceivablePayload = payloadOf('CreateReceivable', 'receivable', Receivable);
const UpdateReceivablePayload = payloadOf('UpdateReceivable', 'receivable', Receivable);
const VoidReceivablePayload = payloadOf('VoidReceivable', 'receivable', Receivable);

const ofPartner =
  'A partner has no receivables. Name the partner that is billed as the ' +
  'customer; the account is the one that the money is owed to.';

@Resolver(() => Receivable)
export class ReceivableResolver {
  /** Creates a receivable. Silent: the operation and its required parameters. */
  @Mutation(() => CreateReceivablePayload, {
    description: 'Creates a receivable from an invoice. In live mode the account must be activated.',
  })
  async createReceivable(@Input(() => CreateReceivableInput) input: CreateReceivableInput, @Ctx() context: Context) {
    const { scope, caller } = context;
    const { invoice } = input;
    const maximum = input.amountMaximumReconcilable ?? invoice.amount;
    const owner = await scope.one(account, input.accountId || caller.actingAccountId, 'receivable.account_id');
    if (owner.kind === 'partner')
      throw new DomainError(problem('account_type_invalid', 'receivable.account_id', ofPartner));
    if (owner.livemode && owner.status !== 'activated')
      throw new DomainError(
        problem(
          'status_invalid',
          'receivable.account_id',
          'Only an activated account can create live receivables. Activate the account first.',
        ),
      );
    await checkCustomer(scope, input.customerId, owner.id);
    await checkFiles(scope, [{ id: invoice.document, field: 'receivable.invoice.document', purposes: ['invoice'] }]);
    if (maximum > invoice.amount)
      throw new DomainError(
        problem(
          'amount_exceeds_reconcilable',
          'receivable.amount_maximum_reconcilable',
          'must be at most the amount of the invoice',
        ),
      );
    const row = await context.write('create_receivable', receivable, {
      ...input,
      customerId: input.customerId ?? null,
      accountId: owner.id,
      amountMaximumReconcilable: maximum,
      invoice: { ...invoice, document: invoice.document ?? null },
    });
    return { receivable: row };
  }

  /** Changes a receivable. Spec: Endpoints, POST /v1/receivables/:id. */
  @Mutation(() => UpdateReceivablePayload, {
    description: 'Changes the maximum, the description or the metadata of a receivable.',
  })
  async updateReceivable(@Input(() => UpdateReceivableInput) input: UpdateReceivableInput, @Ctx() context: Context) {
    const before = await context.scope.one(receivable, input.id);
    const { id: _, ...changes } = input;
    await checkCustomer(context.scope, input.customerId, before.accountId);
    if (Object.values(changes).every((value) => value === undefined)) return { receivable: before };
    return {
      receivable: await context.write('update_receivable', receivable, input),
    };
  }

  @Mutation(() => VoidReceivablePayload, {
    description: 'Withdraws a receivable if nothing of it is locked or settled.',
  })
  async voidReceivable(@Input(() => VoidReceivableInput) input: VoidReceivableInput, @Ctx() context: Context) {
    await context.scope.one(receivable, input.id);
    return { receivable: await context.write('void_receivable', receivable, input) };
  }
}
