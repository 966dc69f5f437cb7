/** What stands beside an empty field that has to have a value. */
export const required = 'This is required.';

/**
 * The refusals that people meet the most, by their codes: how the gateway's sentence for programs begins, and what is
 * said to people. Where the gateway says another sentence of its own, that is closer to the point, and is said.
 */
export const refusals: Readonly<Record<string, readonly [ofGateway: string, words: string]>> = {
  parameter_missing: ['', required],
  parameter_invalid_empty: ['', required],
  parameter_unknown: ['', 'This cannot be given here.'],
  request_too_expensive: ['The request costs more', 'This asks for too much at once. Choose less.'],
  answer_too_large: ['The answer is too large', 'This asks for too much at once. Choose less.'],
  idempotency_key_reused: ['This Idempotency-Key', 'This was sent before with other values. Reload the page.'],
  idempotency_key_in_use: ['The first request', 'This is still being done. Try again in a moment.'],
  account_not_updatable: ['Only a connected user', 'Only a user who is not activated yet can be changed.'],
  status_invalid: ['The status of the object', 'This is not possible any more, or not yet. Look at its status.'],
  authentication_required: ['Send an API key', 'You are signed out. Sign in again.'],
  balance_insufficient: ['The available funds', 'There is not enough available money.'],
  amount_exceeds_reconcilable: ['The amount is more than can be', 'This is more than is still open.'],
  amount_exceeds_deposit: ['The amount is more than the', 'This is more than is left of the payment.'],
  address_unusable: [
    'The account has no usable receiving',
    'This account cannot receive money yet. It can once it is activated.',
  ],
  acquirer_unavailable: [
    'No acquirer is configured',
    'Payments in live mode are not connected yet. Ask the operator of the service.',
  ],
  permission_denied: [
    'The API key lacks permission',
    'You may not do this. Ask the person who set up Tidegate for you.',
  ],
  resource_missing: ['There is no such object', 'This does not exist, or you may not see it.'],
  nickname_taken: ['Another account has this nickname', 'Another account has this name. Choose another one.'],
  state_conflict: ['Another request changed', 'This has changed meanwhile. Look at it again before you try again.'],
  rate_limit_exceeded: ['You sent too many', 'This was too much at once. Try again in a moment.'],
  request_timeout: ['The request did not arrive', 'The connection was too slow. Try again.'],
  service_fault: ['The service failed', 'Something went wrong on our side. Try again in a moment.'],
  service_unavailable: ['The service is busy', 'Tidegate is busy. Try again in a moment.'],
};

/** Sentences of the gateway for one case of a code, as people meet them. */
const cases: Readonly<Record<string, string>> = {
  'receivables must not include a receivable that is void.': 'This invoice is void.',
  'amount must be at most what the receivable can still take.': 'This is more than is still open on the invoice.',
  'amount must be at most what is still pending of the deposit.': 'This is more than is left of the payment.',
};

/** How the gateway refuses a text of any field, after the name of its parameter, and what is said to people. */
const forms: readonly (readonly [ofGateway: string, words: string])[] = [
  ['must be a decimal string with two places', 'This is not an amount, such as 10.00.'],
  ['must be an active ISO 4217 currency code', 'This is not a currency, such as USD.'],
];

/** A refusal in words: those of its code, or the gateway's sentence, with the names of the graph as words. */
export function refusalWords(code: string | undefined, message: string): string {
  const [start, told] = refusals[code ?? ''] ?? [];
  if (told !== undefined && message.startsWith(start!)) return told;
  if (message in cases) return cases[message]!;
  const form = forms.find(([ofGateway]) => message.replace(/^[\w.]+ /, '').startsWith(ofGateway));
  if (form) return form[1];
  // A sentence that begins with a small letter has the name of a parameter as its subject.
  if (!/^[a-z]/.test(message)) return message;
  const text = message.replaceAll(/[a-z][A-Z]/g, ([a, b]) => `${a} ${b!.toLowerCase()}`);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
