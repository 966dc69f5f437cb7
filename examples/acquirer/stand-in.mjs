/**
 * A stand-in for an acquirer, for trying and testing: it holds everything in memory and moves no money. Where an
 * adapter of yours calls the interface of your acquirer, the adapter beside this file calls this one.
 */
import { randomBytes } from 'node:crypto';

/** What becomes of a payment with a card of these numbers; any other card pays. */
const outcomes = {
  4000000000000002: { state: 'refused', refusal: 'declined' },
  4000000000009995: { state: 'refused', refusal: 'insufficient_funds' },
  4000000000003220: { state: 'pending' },
};

/** An amount in hundredths. */
const cents = (amount = '0.00') => BigInt(amount.replace('.', ''));

export class StandIn {
  #tokens = new Map();
  #payments = new Map();
  #refunds = new Map();
  #disputes = new Map();
  /** Is called with each payment or refund that has been decided, and each dispute that was opened or decided. */
  decided = () => {};

  /** Keeps a card, and returns the token for it. */
  tokenize({ number, expiry }) {
    const [month, year] = expiry.split('/').map(Number);
    const token = `tok_${randomBytes(12).toString('hex')}`;
    const card = { brand: number.startsWith('4') ? 'visa' : null, last4: number.slice(-4) };
    this.#tokens.set(token, { card: { ...card, expiry_month: month, expiry_year: 2_000 + year }, number });
    return token;
  }

  card(token) {
    return this.#tokens.get(token)?.card;
  }

  /** The UPI address by which it takes money for an address of the gateway: always the same. */
  vpa(id) {
    return `${id.slice(-12)}@acquirer`;
  }

  /** Charges a card, once for each id. */
  charge(id, { amount, currency, token }) {
    const known = this.#payments.get(id);
    if (known) return known;
    const kept = this.#tokens.get(token);
    const outcome = kept ? (outcomes[kept.number] ?? { state: 'paid' }) : { state: 'refused', refusal: 'declined' };
    const payment = { amount, currency, ...(kept && { card: kept.card }), ...outcome };
    this.#payments.set(id, payment);
    if (payment.state !== 'pending') setImmediate(() => this.decided('attempt', id));
    return payment;
  }

  payment(id) {
    return this.#payments.get(id);
  }

  /** A payer pays a code, or a payment that was pending is decided, perhaps with another amount. */
  decide(id, change) {
    this.#payments.set(id, { ...this.#payments.get(id), ...change });
    this.decided('attempt', id);
  }

  /** Sends money of a payment back, once for each id and at most what was paid. It is pending until it is decided. */
  refund(id, { payment, amount, currency }) {
    const known = this.#refunds.get(id);
    if (known) return known;
    const before = [...this.#refunds.values()].filter((each) => each.payment === payment && each.state !== 'refused');
    const left = before.reduce((sum, each) => sum - cents(each.amount), cents(this.#payments.get(payment)?.amount));
    const can = this.#payments.get(payment)?.state === 'paid' && cents(amount) <= left;
    const refund = { payment, amount, currency, state: can ? 'pending' : 'refused' };
    this.#refunds.set(id, refund);
    if (!can) setImmediate(() => this.decided('refund', id));
    return refund;
  }

  refundOf(id) {
    return this.#refunds.get(id);
  }

  decideRefund(id, change) {
    this.#refunds.set(id, { ...this.#refunds.get(id), ...change });
    this.decided('refund', id);
  }

  /** A payer contests a payment (`payment`, `amount`, `currency`, `reason`), or a dispute is won or lost (`state`). */
  contest(id, change) {
    this.#disputes.set(id, { state: 'open', ...this.#disputes.get(id), ...change });
    this.decided('dispute', id);
  }

  dispute(id) {
    return this.#disputes.get(id);
  }
}

/** The page of the card fields, which answers pages of these origins alone. It is shown in a frame. */
export function fieldsPage(parents) {
  const script = `
const parents = ${JSON.stringify(parents)};
const form = document.querySelector('form');
let asker;
const answer = (message) => asker?.source.postMessage(message, asker.origin);
addEventListener('message', async (event) => {
  if (event.source !== parent || !parents.includes(event.origin) || event.data?.type !== 'tidegate:tokenize') return;
  asker = event;
  const number = form.elements.number.value.replace(/\\s/g, '');
  document.getElementById('error').textContent = number.length < 12 ? 'Enter the card number.' : '';
  if (number.length < 12) return answer({ type: 'tidegate:invalid' });
  const body = JSON.stringify({ number, expiry: form.elements.expiry.value });
  const made = await fetch('/tokens', { method: 'POST', body });
  answer({ type: 'tidegate:token', token: (await made.json()).token });
});
for (const origin of parents) parent.postMessage({ type: 'tidegate:height', height: 150 }, origin);
`;
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Card details</title>
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<style>body{margin:0;font:16px/1.5 "Segoe UI",Roboto,"Open Sans",sans-serif}
label{display:block;font-size:14px;font-weight:500}
input{box-sizing:border-box;width:100%;min-height:44px;margin:4px 0 12px;padding:8px 12px;border:1px solid #81919a}
input{border-radius:8px;font:inherit;background:transparent;color:inherit}
#error{color:#a8161f;font-size:14px}</style>
<form><label for="number">Card number</label>
<input id="number" name="number" inputmode="numeric" autocomplete="cc-number">
<label for="expiry">Expiry date</label>
<input id="expiry" name="expiry" autocomplete="cc-exp" placeholder="MM/YY"></form><div id="error" role="alert"></div>
<script>${script}</script>`;
  return { script, page };
}
