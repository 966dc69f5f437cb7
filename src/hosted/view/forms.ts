import { html } from 'ghtml';
import type { TransactionRow } from '../../resources/transaction/table.js';
import { testCards, testVpas } from '../acquirer.js';
import type { CardField } from '../card.js';
import type { Session } from '../session.js';
import type { PageOptions } from './options.js';
import { payeeName, money } from './text.js';
import { mayPay } from './parts.js';

/** The forms to pay with, or the reason why there are none. */
export function forms(session: Session, options: PageOptions): string {
  const { paymentMethods } = session.checkout;
  const name = payeeName(session);
  if (!options.takesMoney)
    return html`<div class="notice" role="note">
      <p>${name} cannot accept payments on this page yet. You have not been charged. Please ask ${name} for another way to pay.</p>
    </div>`;
  if (!mayPay(session, options))
    return html`<div class="notice" role="note">
      <p>This link has had too many payment attempts and cannot be used any more. Please ask ${name} for a new link.</p>
    </div>`;
  const ways = paymentMethods.map((way) => (way === 'upi' ? upiForm(options) : cardForm(session, options)));
  return html`!${ways.join(html`<p class="or"><span>or</span></p>`)}`;
}

function upiForm({ path, attemptKey }: PageOptions): string {
  return html`<form method="post" action="${path}/upi">
    <h2>UPI</h2>
    <p class="hint desk">Scan a QR code with any UPI app on your phone.</p>
    <p class="hint phone">Pay with a UPI app on this phone.</p>
    <input type="hidden" name="attempt" value="${attemptKey}-upi">
    <button class="primary">Pay with UPI</button>
  </form>`;
}

interface FieldOptions {
  name: CardField;
  label: string;
  hint?: string;
  autocomplete: string;
  numeric?: boolean;
  value?: string;
  maxlength: number;
  error: string | undefined;
  focus: boolean;
}

function field({ name, label, hint, autocomplete, numeric, value, maxlength, error, focus }: FieldOptions): string {
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
    <label for="${name}">${label}</label>
    !${hint ? html`<span class="hint" id="${name}-hint">${hint}</span>` : ''}
    !${error ? html`<span class="error" id="${name}-error"><span class="unseen">Error: </span>${error}</span>` : ''}
    <input id="${name}" name="${name}" type="text" autocomplete="${autocomplete}" maxlength="${maxlength}" value="${value ?? ''}" required
      !${numeric ? 'inputmode="numeric"' : 'autocapitalize="words"'} !${described ? html`aria-describedby="${described}"` : ''}
      !${error ? 'aria-invalid="true"' : ''} !${focus ? 'autofocus' : ''} spellcheck="false">
  </div>`;
}

function cardForm({ checkout }: Session, { path, attemptKey, card }: PageOptions): string {
  const errors = card?.errors ?? {};
  const [first] = Object.keys(errors);
  const of = (name: CardField) => ({ name, error: errors[name], focus: first === name });
  return html`<form method="post" action="${path}/card" novalidate>
    <h2>Card</h2>
    !${first ? html`<div class="notice bad" role="alert"><p>Please check the fields marked below. You have not been charged.</p></div>` : ''}
    <input type="hidden" name="attempt" value="${attemptKey}-card">
    !${field({ ...of('number'), label: 'Card number', autocomplete: 'cc-number', numeric: true, maxlength: 23 })}
    <div class="pair">
      !${field({ ...of('expiry'), label: 'Expiry date', hint: 'MM/YY', autocomplete: 'cc-exp', numeric: true, maxlength: 9, value: card?.expiry ?? '' })}
      !${field({ ...of('code'), label: 'Security code', hint: '3 or 4 digits', autocomplete: 'cc-csc', numeric: true, maxlength: 4 })}
    </div>
    !${field({ ...of('name'), label: 'Name on the card', autocomplete: 'cc-name', maxlength: 100, value: card?.name ?? '' })}
    <button class="primary">Pay ${money(checkout.grossAmount)}</button>
    !${checkout.livemode ? '' : testCardsHint()}
  </form>`;
}

function testCardsHint(): string {
  const outcomes = Object.entries(testCards).map(([number, decision]) => {
    const outcome = decision.afterExpiry
      ? 'succeeds late'
      : (decision.reasonCode?.replaceAll('_', ' ') ?? decision.status);
    return html`<li><code>${number.replaceAll(/(\d{4})(?=\d)/g, '$1 ')}</code> ${outcome}</li>`;
  });
  return html`<details class="test"><summary>Test cards</summary><p>With any date to come, any code and any name:</p><ul>!${outcomes}</ul></details>`;
}

/** The form that acts as the payer's app in test mode, where no bank reads the code. */
export function sandboxForm(attempt: TransactionRow, { path, vpaError }: PageOptions): string {
  return html`<form class="test" method="post" action="${path}/upi/${attempt.id}" novalidate>
    <h2>Test mode: act as the UPI app</h2>
    <div class="field">
      <label for="vpa">UPI ID</label>
      <span class="hint" id="vpa-hint">${Object.keys(testVpas).join(', ')}</span>
      !${vpaError ? html`<span class="error" id="vpa-error"><span class="unseen">Error: </span>${vpaError}</span>` : ''}
      <input id="vpa" name="vpa" type="text" value="success@test" autocomplete="off" inputmode="email" spellcheck="false" maxlength="100" required
        aria-describedby="vpa-hint${vpaError ? ' vpa-error' : ''}" !${vpaError ? 'aria-invalid="true" autofocus' : ''}>
    </div>
    <button>Pay this code</button>
  </form>`;
}
