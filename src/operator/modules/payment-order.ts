import { Args, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type ById, Input } from '../../types/input.js';
import { payloadOf } from '../../types/payload.js';
import { approvalsLeft, approvalsLeftText } from '../access/approvals.js';
import type { OperatorContext } from '../context.js';
import { pageSizeOf } from '../graph/inputs.js';
import type { OperatorModule } from '../graph/module.js';
import {
  AddOwnAccountInput,
  ApprovePaymentOrderInput,
  CloseOwnAccountInput,
  CreatePaymentOrderInput,
  OperatorOwnAccount,
  OperatorPaymentOrder,
  OrderedPayoutPage,
  OrderedPayoutsArgs,
  PaymentOrderPage,
  PaymentOrdersArgs,
  RejectPaymentOrderInput,
  SendPaymentOrderInput,
} from '../graph/payment-order-type.js';
import type { OperatorPayout } from '../graph/type.js';
import type { ListPage } from '../paging.js';
import { addOwnAccount, closeOwnAccount, listOwnAccounts } from '../payment-order/accounts.js';
import {
  approvePaymentOrder,
  createPaymentOrder,
  listOrders,
  orderedPayouts,
  rejectPaymentOrder,
  sendPaymentOrder,
} from '../payment-order/orders.js';
import { leftOutMax, type PaymentOrderRow } from '../payment-order/table.js';

const AddOwnAccountPayload = payloadOf('AddOwnAccount', 'ownAccount', OperatorOwnAccount);
const CloseOwnAccountPayload = payloadOf('CloseOwnAccount', 'ownAccount', OperatorOwnAccount);
const CreatePaymentOrderPayload = payloadOf('CreatePaymentOrder', 'order', OperatorPaymentOrder);
const ApprovePaymentOrderPayload = payloadOf('ApprovePaymentOrder', 'order', OperatorPaymentOrder);
const RejectPaymentOrderPayload = payloadOf('RejectPaymentOrder', 'order', OperatorPaymentOrder);
const SendPaymentOrderPayload = payloadOf('SendPaymentOrder', 'order', OperatorPaymentOrder);

/** Of how many tenants one request gathers payouts, so that it ends in its time. The command gathers those of all. */
const tenantsPerRequest = 1_000;

/** The orders by which banks pay payouts. Spec: decisions, 8.15. Silent: all else. */
@Resolver()
class OperatorPaymentOrders {
  @Query(() => [OperatorOwnAccount], { description: 'Your accounts at banks, those in use first: 200 at most.' })
  ownAccounts(@Ctx() { operator }: OperatorContext): Promise<OperatorOwnAccount[]> {
    return listOwnAccounts(operator);
  }

  @Query(() => PaymentOrderPage, { description: 'The payment orders, the newest first.' })
  paymentOrders(
    @Args(() => PaymentOrdersArgs) { status, first, after }: PaymentOrdersArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorPaymentOrder>> {
    return listOrders(operator, {
      ...{ status: status ?? undefined, after: after ?? undefined },
      limit: pageSizeOf('payment_order', first),
    });
  }

  @Query(() => OrderedPayoutPage, { description: 'The payouts of a payment order, in the order of its file.' })
  orderedPayouts(
    @Args(() => OrderedPayoutsArgs) { id, first, after }: OrderedPayoutsArgs,
    @Ctx() { operator }: OperatorContext,
  ): Promise<ListPage<OperatorPayout>> {
    return orderedPayouts(operator, id, { after: after ?? undefined, limit: pageSizeOf('payout', first) });
  }

  @Mutation(() => AddOwnAccountPayload, { description: 'Adds an account at a bank, from which payouts are paid.' })
  async addOwnAccount(
    @Input(() => AddOwnAccountInput) input: AddOwnAccountInput,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { ownAccount: await addOwnAccount(operator, input, viewer.name) };
  }

  @Mutation(() => CloseOwnAccountPayload, {
    description: 'Closes an account of yours: no order is made from it any more. Its orders stay as they are.',
  })
  async closeOwnAccount(@Input(() => CloseOwnAccountInput) { id }: ById, @Ctx() { operator }: OperatorContext) {
    return { ownAccount: await closeOwnAccount(operator, id) };
  }

  @Mutation(() => CreatePaymentOrderPayload, {
    description:
      'Gathers the live payouts under way in the currency of an account that are in no order yet: 10,000 at most, of ' +
      `${tenantsPerRequest.toLocaleString('en')} tenants. It pays nothing until another operator approves it. ` +
      'What no file can pay is left out.',
  })
  async createPaymentOrder(
    @Input(() => CreatePaymentOrderInput) input: CreatePaymentOrderInput,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { order: await createPaymentOrder(operator, input, viewer, tenantsPerRequest) };
  }

  @Mutation(() => ApprovePaymentOrderPayload, {
    description:
      'Approves an order that another named operator has proposed, so that its file can be made. Only an ' +
      'operator with a name and a key of their own can. One that `OPERATOR_KEY` or a command has begun needs ' +
      'two of them: of the first it is the proposal from then on, stays PROPOSED, and has one of ' +
      '`approvalsLeft`.',
  })
  async approvePaymentOrder(
    @Input(() => ApprovePaymentOrderInput) { id }: ById,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { order: await approvePaymentOrder(operator, id, viewer) };
  }

  @Mutation(() => RejectPaymentOrderPayload, {
    description:
      'Rejects an order and gives its payouts back. ' +
      'After its approval it says that the bank has not carried it out, and only a named operator can say so who ' +
      'has not proposed, approved or sent it and has never had its file.',
  })
  async rejectPaymentOrder(
    @Input(() => RejectPaymentOrderInput) { id, reason }: RejectPaymentOrderInput,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { order: await rejectPaymentOrder(operator, id, reason, viewer) };
  }

  @Mutation(() => SendPaymentOrderPayload, {
    description: 'Records that the file of an approved order was given to the bank.',
  })
  async sendPaymentOrder(
    @Input(() => SendPaymentOrderInput) { id }: ById,
    @Ctx() { operator, viewer }: OperatorContext,
  ) {
    return { order: await sendPaymentOrder(operator, id, viewer) };
  }
}

/** What the rows of orders do not have as they are. */
@Resolver(() => OperatorPaymentOrder)
class FieldsOfPaymentOrder {
  @FieldResolver(() => Int, { description: approvalsLeftText })
  approvalsLeft(@Root() { status, createdById }: PaymentOrderRow): number {
    return approvalsLeft(status, createdById);
  }
}

export default {
  resolvers: [OperatorPaymentOrders, FieldsOfPaymentOrder],
  fields: {
    ownAccounts: 'own_account',
    paymentOrders: 'payment_order',
    orderedPayouts: 'payout',
    addOwnAccount: 'own_account',
    closeOwnAccount: 'own_account',
    createPaymentOrder: 'payment_order',
    approvePaymentOrder: 'payment_order',
    rejectPaymentOrder: 'payment_order',
    sendPaymentOrder: 'payment_order',
  },
  sizes: { 'Query.ownAccounts': 200, 'PaymentOrder.leftOut': leftOutMax },
} satisfies OperatorModule;
