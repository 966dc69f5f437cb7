import { Mutation, Ctx, Resolver } from 'type-graphql';
import {
  CreateCheckoutPayload,
  CancelCheckoutPayload,
  PayTestCheckoutPayload,
  DeclineTestCheckoutPayload,
  ExpireTestCheckoutPayload,
  Checkout,
} from './type.js';
import {
  CreateCheckoutInput,
  CancelCheckoutInput,
  PayTestCheckoutInput,
  DeclineTestCheckoutInput,
  ExpireTestCheckoutInput,
} from './inputs.js';
import { Input, type ById } from '../../types/input.js';
import type { Context } from '../../operation/context.js';
import { DomainError, problem, type Problem } from '../../errors/problems.js';
import { account, type AccountRow } from '../account/table.js';
import { receivable, type ReceivableRow } from '../receivable/table.js';
import { receivablesProblems, partnerProblems } from './rules.js';
import { checkout } from './table.js';
import { grossOf } from './terms.js';
import { checkoutNow } from './now.js';

@Resolver(() => Checkout)
export class CheckoutResolver {
  /** Creates a checkout. Reserves nothing: the payment locks the receivables. Spec: Create a Checkout. */
  @Mutation(() => CreateCheckoutPayload, {
    description:
      'Creates a payment session for a partner. The address of its page is `url` in the graph, and in the header ' +
      '`Link` on /v1. It reserves nothing. Live mode needs an acquirer.',
  })
  async createCheckout(@Input(() => CreateCheckoutInput) input: CreateCheckoutInput, @Ctx() context: Context) {
    const { scope, checkouts } = context;
    if (context.caller.livemode && new URL(input.redirectUrl).protocol !== 'https:')
      throw new DomainError(problem('parameter_invalid', 'checkout.redirect_url', 'must be https in live mode'));
    const found = await Promise.allSettled([
      scope.one(account, input.from.accountId, 'checkout.from.account_id'),
      ...input.receivables.map(({ id }, i) => scope.one(receivable, id, `checkout.receivables[${i}].id`)),
    ]);
    const missing = found.flatMap((f) => (f.status === 'rejected' ? [f.reason as unknown] : []));
    const fault = missing.find((reason) => !(reason instanceof DomainError));
    if (fault) throw fault;
    if (missing.length > 0) throw new DomainError(...missing.flatMap((reason) => (reason as DomainError).problems));
    const [from, ...receivables] = found.map((f) => (f as PromiseFulfilledResult<unknown>).value) as [
      AccountRow,
      ...ReceivableRow[],
    ];
    const to = await scope.one(account, receivables[0]!.accountId, 'checkout.receivables[0].id');
    const refused = [...receivablesProblems(receivables, to, context.edition.currency), ...partnerProblems(from, to)];
    if (refused.length > 0) throw new DomainError(...refused);
    const reconcilable = receivables.reduce((sum, r) => sum + r.amountReconcilable, 0n);
    const problems: Problem[] = [];
    if (!checkouts.payable(context.caller.livemode)) problems.push(problem('acquirer_unavailable'));
    if (input.amount > reconcilable)
      problems.push(
        problem(
          'amount_exceeds_reconcilable',
          'checkout.amount',
          'is more than the receivables can still take. Send a smaller amount, or name further receivables.',
        ),
      );
    if (problems.length > 0) throw new DomainError(...problems);
    const row = await context.write('create_checkout', checkout, {
      amount: input.amount,
      grossAmount: grossOf(input.amount, checkouts.terms),
      currency: input.currency,
      fromAccountId: from.id,
      toAccountId: to.id,
      paymentMethods: input.paymentMethods,
      receivableIds: receivables.map((r) => r.id),
      redirectUrl: input.redirectUrl,
      metadata: input.metadata,
      seconds: input.expiresInSeconds ?? checkouts.terms.seconds,
    });
    return { checkout: row };
  }

  @Mutation(() => CancelCheckoutPayload, {
    description: 'Withdraws a checkout that is not paid. The money of an attempt in progress is still credited.',
  })
  async cancelCheckout(@Input(() => CancelCheckoutInput) input: ById, @Ctx() context: Context) {
    return ended(context, input, 'cancelled');
  }

  @Mutation(() => PayTestCheckoutPayload, {
    description:
      'Test helper: an attempt succeeds now. The payment is late if the checkout has expired or was cancelled, ' +
      'and a duplicate if it is paid.',
  })
  async payTestCheckout(@Input(() => PayTestCheckoutInput) input: PayTestCheckoutInput, @Ctx() context: Context) {
    return attempted(context, input, 'succeeded');
  }

  @Mutation(() => DeclineTestCheckoutPayload, { description: 'Test helper: an attempt fails now.' })
  async declineTestCheckout(
    @Input(() => DeclineTestCheckoutInput) input: DeclineTestCheckoutInput,
    @Ctx() context: Context,
  ) {
    return attempted(context, input, 'failed');
  }

  @Mutation(() => ExpireTestCheckoutPayload, { description: 'Test helper: expires a checkout.' })
  async expireTestCheckout(@Input(() => ExpireTestCheckoutInput) input: ById, @Ctx() context: Context) {
    return ended(context, input, 'expired');
  }
}

async function attempted(
  context: Context,
  input: DeclineTestCheckoutInput & Partial<PayTestCheckoutInput>,
  status: 'succeeded' | 'failed',
) {
  const row = await context.scope.one(checkoutNow, input.id, 'checkout.id');
  const method = input.paymentMethod ?? (row.paymentMethods[0] === 'cards' ? 'card' : 'upi');
  if (!row.paymentMethods.includes(method === 'card' ? 'cards' : 'upi'))
    throw new DomainError(
      problem('parameter_invalid', 'checkout.payment_method', 'must be one that the checkout takes'),
    );
  const details =
    method === 'card'
      ? { card: { brand: 'visa', last4: '4242', expiry_month: 12, expiry_year: 2099 } }
      : { upi: { vpa: 'payer@sandbox' } };
  return {
    checkout: await context.write('pay_test_checkout', checkout, {
      id: row.id,
      status,
      reasonCode: status === 'failed' ? (input.reasonCode ?? 'declined') : null,
      paymentMethod: method,
      details,
      seconds: context.checkouts.terms.attemptSeconds,
      ...(input.amount != null && { amount: input.amount }),
      ...(input.currency != null && { currency: input.currency }),
    }),
  };
}

async function ended(context: Context, { id }: ById, to: 'cancelled' | 'expired') {
  const { status } = await context.scope.one(checkoutNow, id, 'checkout.id');
  // A checkout past its time has expired, even before a worker marks it.
  if (status === 'expired') throw new DomainError(problem('status_invalid', 'checkout.status'));
  return { checkout: await context.write('end_checkout', checkout, { id, to }) };
}
