import type { CreateCheckoutInput, PayTestCheckoutInput } from './inputs.js';
import { type Problem, problem } from '../../errors/problems.js';
import { amountText } from '../../types/scalars.js';
import type { ReceivableRow } from '../receivable/table.js';
import type { AccountRow } from '../account/table.js';

const amountMin = 100n;
const receivablesMax = 50;
const redirectLengthMax = 2_048;
const expirySeconds = { min: 1_800, max: 2_592_000 };

export const checkoutLimits = {
  receivables: { maxItems: receivablesMax },
  redirect_url: { maxLength: redirectLengthMax },
  expires_in_seconds: { minimum: expirySeconds.min, maximum: expirySeconds.max },
};

// The functions of checkouts say the same about a change that they find.
const closed = 'This receivable is not open, so it cannot be paid. Leave it out, or name one that is open.';

const mayNotPay = 'A partner in this status cannot pay. Name another partner, or read the account to see its status.';

/** The problems of a checkout that its parameters alone show. */
export function checkoutProblems({
  amount,
  paymentMethods,
  receivables,
  redirectUrl,
  expiresInSeconds: seconds,
}: Partial<CreateCheckoutInput>): Problem[] {
  const problems: Problem[] = [];
  if (amount !== undefined && amount < amountMin)
    problems.push(problem('parameter_invalid', 'checkout.amount', `must be at least ${amountText(amountMin)}`));
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
  const { min, max } = expirySeconds;
  if (seconds != null && (seconds < min || seconds > max))
    problems.push(problem('parameter_invalid', 'checkout.expires_in_seconds', `must be from ${min} to ${max}`));
  return problems;
}

/** The problems of what a test helper says that the acquirer takes. */
export function takenProblems({ amount }: Partial<PayTestCheckoutInput>): Problem[] {
  if (amount == null || amount > 0n) return [];
  return [problem('parameter_invalid', 'checkout.amount', 'must be greater than zero')];
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
export function receivablesProblems(receivables: ReceivableRow[], to: AccountRow, currency: string): Problem[] {
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
export function partnerProblems(from: AccountRow, to: AccountRow): Problem[] {
  const field = 'checkout.from.account_id';
  if (from.kind !== 'partner' || from.ownerId !== to.id)
    return [problem('parameter_invalid', field, 'must be a partner of the account whose receivables are paid')];
  const mayPay = from.livemode ? from.status === 'activated' : from.status !== 'hold' && from.status !== 'deactivated';
  return mayPay ? [] : [problem('status_invalid', field, mayNotPay)];
}
