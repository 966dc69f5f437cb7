import { Ctx, Mutation, Resolver } from 'type-graphql';
import { type AccountRow, account } from '../account/table.js';
import type { Context } from '../../operation/context.js';
import type { Edition } from '../../editions/edition.js';
import type { Link } from '../../db/list/statement.js';
import type { Listing } from '../../types/pagination.js';
import { payloadOf } from '../../types/payload.js';
import { type Problem, problem, DomainError } from '../../errors/problems.js';
import { type ReceivableRow, receivable } from '../receivable/table.js';
import { amountText } from '../../types/scalars.js';
import { CreateCheckoutInput, DeclineTestCheckoutInput, PayTestCheckoutInput } from './inputs.js';
import { checkoutNow, presentTime } from './now.js';
import { checkout, checkoutReceivable } from './table.js';
import { grossOf } from './terms.js';
import { Checkout } from './type.js';
import { type ById, idInputOf, Input } from '../../types/input.js';

/** How checkouts are listed. A filter by account finds the payer's and the payee's. */
export const checkoutListing: Listing = {
  object: 'checkout',
  filters: {
    accountId: { either: [checkoutNow.toAccountId, checkoutNow.fromAccountId] },
    status: {
      derived: checkoutNow.status,
      ending: {
        stored: checkoutNow.storedStatus,
        at: checkoutNow.expiresAt,
        from: 'initialized',
        to: 'expired',
        now: presentTime,
      },
    },
  },
  byAccount: ['accountId'],
  parents: [checkoutNow.toAccountId, checkoutNow.fromAccountId],
};

/** The link from receivables to their checkouts. */
export const ofReceivable: Link = {
  links: checkoutReceivable,
  parent: checkoutReceivable.receivableId,
  child: checkoutReceivable.checkoutId,
};

const amountMin = 100n;
const receivablesMax = 50;
const redirectLengthMax = 2_048;
export const checkoutLimits = {
  receivables: { maxItems: receivablesMax },
  redirect_url: { maxLength: redirectLengthMax },
};

// The functions of checkouts say the same about a change that they find.
const closed = 'This receivable is not open, so it cannot be paid. Leave it out, or name one that is open.';
const mayNotPay = 'A partner in this status cannot pay. Name another partner, or read the account to see its status.';

const CancelCheckoutInput = idInputOf('CancelCheckout', 'checkout');
const ExpireTestCheckoutInput = idInputOf('ExpireTestCheckout', 'checkout');
const CreateCheckoutPayload = payloadOf('CreateCheckout', 'checkout', Checkout);
const CancelCheckoutPayload = payloadOf('CancelCheckout', 'checkout', Checkout);
const PayTestCheckoutPayload = payloadOf('PayTestCheckout', 'checkout', Checkout);
const DeclineTestCheckoutPayload = payloadOf('DeclineTestCheckout', 'checkout', Checkout);
const ExpireTestCheckoutPayload = payloadOf('ExpireTestCheckout', 'checkout', Checkout);

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
      seconds: checkouts.terms.seconds,
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

/** The problems of a checkout that its parameters alone show. Its currency is that of the edition. */
export function checkoutProblems(
  { amount, currency, paymentMethods, receivables, redirectUrl }: Partial<CreateCheckoutInput>,
  edition: Pick<Edition, 'currency'>,
): Problem[] {
  const problems: Problem[] = [];
  if (amount !== undefined && amount < amountMin)
    problems.push(problem('parameter_invalid', 'checkout.amount', `must be at least ${amountText(amountMin)}`));
  if (currency !== undefined && currency !== edition.currency)
    problems.push(problem('parameter_invalid', 'checkout.currency', `must be ${edition.currency}`));
  if (paymentMethods && new Set(paymentMethods).size < paymentMethods.length)
    problems.push(problem('parameter_invalid', 'checkout.payment_methods', 'must name each method once'));
  if (receivables && receivables.length > receivablesMax)
    problems.push(
      problem('parameter_invalid', 'checkout.receivables', `must have at most ${receivablesMax} receivables`),
    );
  if (receivables && new Set(receivables.map((r) => r?.id)).size < receivables.length)
    problems.push(problem('parameter_invalid', 'checkout.receivables', 'must name each receivable once'));
  if (redirectUrl) {
    const message = redirectFault(redirectUrl);
    if (message) problems.push(problem('parameter_invalid', 'checkout.redirect_url', message));
  }
  return problems;
}

/**
 * The problem of a redirect address in any mode. A URL parser tolerates white space, backslashes and missing slashes.
 * Those are refused, because browsers get the stored text and tolerate other errors.
 */
function redirectFault(text: string): string | undefined {
  if (text.length > redirectLengthMax && [...text].length > redirectLengthMax)
    return `must have at most ${redirectLengthMax} characters`;
  if (!/^https?:\/\/[^\s\\\p{Cc}]+$/iu.test(text) || !URL.canParse(text)) return 'must be an https address';
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) return 'must not carry a username or password';
  return protocol === 'https:' || loopback(hostname) ? undefined : 'must be https; http is for loopback in test mode';
}

/** Whether a host is the developer's own machine: plain http is allowed only there. */
function loopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** The receivables must be open, in the currency of checkouts, and of one user. */
function receivablesProblems(receivables: ReceivableRow[], to: AccountRow, currency: string): Problem[] {
  return receivables.flatMap((r, i) => {
    const field = `checkout.receivables[${i}].id`;
    if (r.accountId !== to.id) return [problem('parameter_invalid', field, 'must belong to the account of the first')];
    if (!['direct_user', 'connected_user'].includes(to.kind))
      return [
        problem(
          'account_type_invalid',
          field,
          'A checkout pays the receivables of a user. Name receivables of a user.',
        ),
      ];
    if (r.currency !== currency) return [problem('parameter_invalid', field, `must be in ${currency}`)];
    return r.status === 'open' ? [] : [problem('status_invalid', field, closed)];
  });
}

/** The payer must be a partner of the user that is paid, in a status that allows payments. */
function partnerProblems(from: AccountRow, to: AccountRow): Problem[] {
  const field = 'checkout.from.account_id';
  if (from.kind !== 'partner' || from.ownerId !== to.id)
    return [problem('parameter_invalid', field, 'must be a partner of the account whose receivables are paid')];
  const mayPay = from.livemode ? from.status === 'activated' : from.status !== 'hold' && from.status !== 'deactivated';
  return mayPay ? [] : [problem('status_invalid', field, mayNotPay)];
}

async function ended(context: Context, { id }: ById, to: 'cancelled' | 'expired') {
  const { status } = await context.scope.one(checkoutNow, id, 'checkout.id');
  // A checkout past its time has expired, even before a worker marks it.
  if (status === 'expired') throw new DomainError(problem('status_invalid', 'checkout.status'));
  return { checkout: await context.write('end_checkout', checkout, { id, to }) };
}

async function attempted(context: Context, input: DeclineTestCheckoutInput, status: 'succeeded' | 'failed') {
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
    }),
  };
}
