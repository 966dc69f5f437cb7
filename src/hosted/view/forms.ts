import { html } from 'ghtml';
import type { TransactionRow } from '../../resources/transaction/table.js';
import { testCards, testVpas } from '../acquirer.js';
import type { CardField } from '../card.js';
import type { Session, State } from '../session.js';
import { brandMarks } from './icons.js';
import type { PageOptions } from './options.js';
import { payeeName, money } from './text.js';
import { mayPay } from './parts.js';

type Way = 'upi' | 'cards';
const names: Record<Way, string> = { upi: 'UPI', cards: 'Card' };

/** The forms to pay with, one at a time, or the reason why there are none. */
export function forms(session: Session, state: State, options: PageOptions): string {
  const name = payeeName(session);
  const { paymentMethods } = session.checkout;
  // Beyond the sandbox a card needs the fields of the acquirer, and a code the UPI address of the account.
  const possible = { upi: options.upi, cards: options.sandbox || options.cardFields !== undefined };
  const offered = paymentMethods.filter((way) => possible[way]);
  if (!options.takesMoney || offered.length === 0)
    return html`<div class="notice" role="note">
      <p>${name} cannot accept payments on this page yet. You have not been charged. Please ask ${name} for another way
      to pay.</p>
    </div>`;
  if (!mayPay(session, options))
    return html`<div class="notice" role="note">
      <p>This link has had too many payment attempts and cannot be used any more. Please ask ${name} for a new link.</p>
    </div>`;
  const ways = ordered(offered, options);
  const chosen = chosenOf(ways, session, state, options);
  const { cardFields } = options;
  const card = () => (cardFields ? fieldsForm(session, cardFields, options) : cardForm(session, state, options));
  const form = { upi: () => upiForm(options), cards: card };
  const without = paymentMethods.includes('upi') && !options.upi;
  const note = without ? html`<p class="hint" role="note">${noUpi}</p>` : '';
  if (ways.length === 1) return html`!${note}!${form[ways[0]!]()}`;
  return html`<fieldset class="ways">
    <legend class="unseen">Payment method</legend>
    !${ways.map(
      (way) => html`<input class="unseen" type="radio" name="way" id="way-${way}" autocomplete="off"
      !${way === chosen ? 'checked' : ''}>`,
    )}
    <div class="tabs">!${ways.map((way) => html`<label for="way-${way}">${names[way]}</label>`)}</div>
    !${ways.map((way) => html`<div class="panel ${way}">!${form[way]()}</div>`)}
  </fieldset>`;
}

/** What a page says where a code would have no payee. */
export const noUpi = 'UPI cannot be used for this payment at the moment. You have not been charged.';

/** The methods in the order of the checkout; on a phone UPI is first, because its apps are there. */
function ordered(ways: Way[], { phone }: PageOptions): Way[] {
  return phone ? ways.toSorted((one, other) => Number(other === 'upi') - Number(one === 'upi')) : ways;
}

/**
 * The method that is open: that of a form with errors or of a declined payment. A payer with an unpaid code wants the
 * other one.
 */
function chosenOf(
  ways: Way[],
  { attempts }: Session,
  state: State,
  { card, cardFieldsError, again }: PageOptions,
): Way {
  const [latest] = attempts;
  const last = latest && (latest.paymentMethod === 'card' ? 'cards' : 'upi');
  if (card || cardFieldsError) return 'cards';
  if (state.name === 'declined' && last) return ways.includes(last) ? last : ways[0]!;
  return (again && ways.find((way) => way !== last)) || ways[0]!;
}

/** Apps that have an address of their own. On iOS no other address leads to a certain app. */
export const apps = [
  { app: 'Google Pay', link: 'tez://upi/pay' },
  { app: 'PhonePe', link: 'phonepe://pay' },
  { app: 'Paytm', link: 'paytmmp://pay' },
];

function upiForm({ path, attemptKey }: PageOptions): string {
  return html`<form method="post" action="${path}/upi">
    <p class="desk">Scan a QR code with any UPI app on your phone.</p>
    <p class="phone">Pay with a UPI app on this phone.</p>
    <input type="hidden" name="attempt" value="${attemptKey}-upi">
    <button class="primary">Pay with UPI</button>
    <p class="others phone">!${apps.map(
      ({ app }) => html`<button class="app" data-app="${app}"><span class="unseen">Pay with </span>${app}</button>`,
    )}</p>
  </form>`;
}

interface FieldOptions {
  name: CardField;
  label: string;
  hint?: string;
  placeholder: string;
  autocomplete: string;
  numeric?: boolean;
  value?: string;
  maxlength: number;
  error: string | undefined;
  focus: boolean;
  /** Markup in the same box as the input. */
  inside?: string;
}

function field({ name, label, hint, autocomplete, numeric, value, maxlength, error, ...more }: FieldOptions): string {
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(' ');
  return html`<div class="field ${name}">
    <label for="${name}">${label}</label>
    !${hint ? html`<span class="unseen" id="${name}-hint">${hint}</span>` : ''}
    !${error ? html`<span class="error" id="${name}-error"><span class="unseen">Error: </span>${error}</span>` : ''}
    <span class="box"><input id="${name}" name="${name}" type="text" autocomplete="${autocomplete}"
    maxlength="${maxlength}" value="${value ?? ''}" required
      placeholder="${more.placeholder}" !${numeric ? 'inputmode="numeric"' : 'autocapitalize="words"'}
      !${described ? html`aria-describedby="${described}"` : ''}
      !${error ? 'aria-invalid="true"' : ''} !${more.focus ? 'autofocus' : ''}
      spellcheck="false">!${more.inside ?? ''}</span>
  </div>`;
}

function cardForm({ checkout }: Session, state: State, { path, attemptKey, card, sandbox }: PageOptions): string {
  const errors = card?.errors ?? {};
  const [first] = Object.keys(errors);
  const of = (name: CardField) => ({ name, error: errors[name], focus: first === name });
  return html`<form method="post" action="${path}/card" novalidate>
    !${
      first
        ? html`<div class="notice bad" role="alert"><p>Please check the fields marked below. You have not been
      charged.</p></div>`
        : ''
    }
    <input type="hidden" name="attempt" value="${attemptKey}-card">
    !${field({
      ...of('number'),
      label: 'Card number',
      placeholder: '1234 1234 1234 1234',
      autocomplete: 'cc-number',
      numeric: true,
      maxlength: 23,
      inside: brandMarks(),
    })}
    <div class="pair">
      !${field({
        ...of('expiry'),
        label: 'Expiry date',
        hint: 'Month and year, as MM/YY',
        placeholder: 'MM/YY',
        autocomplete: 'cc-exp',
        numeric: true,
        maxlength: 9,
        value: card?.expiry ?? expiryOf(state),
      })}
      !${field({
        ...of('code'),
        label: 'Security code',
        hint: '3 or 4 digits',
        placeholder: 'CVC',
        autocomplete: 'cc-csc',
        numeric: true,
        maxlength: 4,
      })}
    </div>
    !${field({
      ...of('name'),
      label: 'Name on the card',
      placeholder: 'As printed on the card',
      autocomplete: 'cc-name',
      maxlength: 100,
      value: card?.name ?? '',
    })}
    <button class="primary">Pay ${money(checkout.grossAmount)}</button>
    !${sandbox ? testCardsHint() : ''}
  </form>`;
}

/**
 * The acquirer's card fields in a frame. The script asks them for a token, and sends only that. The frame needs
 * scripts, and so does this form; the script loads the frame when it can hear it.
 */
function fieldsForm({ checkout }: Session, url: string, { path, attemptKey, cardFieldsError }: PageOptions): string {
  return html`<form method="post" action="${path}/card" data-fields="${new URL(url).origin}">
    <input type="hidden" name="attempt" value="${attemptKey}-card">
    <input type="hidden" name="token" value="">
    <div class="notice bad" role="alert" data-fields-error
    !${cardFieldsError ? '' : 'hidden'}><p>${cardFieldsError ?? ''}</p></div>
    <iframe data-src="${url}" title="Card details" height="248" referrerpolicy="no-referrer"></iframe>
    <noscript><p>Paying by card needs JavaScript.</p></noscript>
    <button class="primary" data-needs-script hidden>Pay ${money(checkout.grossAmount)}</button>
  </form>`;
}

/** The expiry of the card that was declined. The gateway stores no name, so only the script keeps that. */
function expiryOf(state: State): string {
  const card = state.name === 'declined' ? state.attempt.paymentMethodDetails?.card : undefined;
  if (!card) return '';
  return `${String(card.expiry_month).padStart(2, '0')}/${String(card.expiry_year).slice(-2)}`;
}

function testCardsHint(): string {
  const outcomes = Object.entries(testCards).map(([number, decision]) => {
    const outcome = decision.afterExpiry
      ? 'succeeds late'
      : (decision.reasonCode?.replaceAll('_', ' ') ?? decision.status);
    return html`<li><code>${number.replaceAll(/(\d{4})(?=\d)/g, '$1 ')}</code> ${outcome}</li>`;
  });
  return html`<details class="test"><summary>Test cards</summary><p>With any date to come, any code and any
    name:</p><ul>!${outcomes}</ul></details>`;
}

/** The form that acts as the payer's app in test mode, where no bank reads the code. */
export function sandboxForm(attempt: TransactionRow, { path, vpaError }: PageOptions): string {
  return html`<form class="test" method="post" action="${path}/upi/${attempt.id}" novalidate>
    <h2>Test mode: act as the UPI app</h2>
    <label for="vpa">UPI ID</label>
    <span class="hint" id="vpa-hint">${Object.keys(testVpas).join(', ')}</span>
    !${vpaError ? html`<span class="error" id="vpa-error"><span class="unseen">Error: </span>${vpaError}</span>` : ''}
    <div class="row">
      <input id="vpa" name="vpa" type="text" value="success@test" autocomplete="off" inputmode="email"
      spellcheck="false" maxlength="100" required
        aria-describedby="vpa-hint${vpaError ? ' vpa-error' : ''}" !${vpaError ? 'aria-invalid="true" autofocus' : ''}>
      <button>Pay this code</button>
    </div>
  </form>`;
}
